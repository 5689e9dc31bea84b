// Kernels of the kinds that kernels.cu and kinds.cu lack: wide types, large code, contention, uneven work, doubles.
// All buffers are zero-filled: what varies is hashed from indices, so contents never change the work.
#define K extern "C" __global__ void
#define REP4(s) s s s s
#define REP8(s) s s s s s s s s
__device__ __forceinline__ unsigned h32(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Loads of 16 bytes a lane at an odd stride, stores of 8 bytes.
K wide_odd(const double2 *a, double *o, int n, int stride) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double2 v = a[(unsigned)(i * stride) % (unsigned)n];
        o[i] = v.x + v.y;
    }
}

// Two nested loops whose lengths differ by lane, with a load in the inner one.
K ragged(const unsigned *a, unsigned *o, int most, unsigned mask) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, x = h32(t), s = 0, outer = x % most;
    for (unsigned i = 0; i < outer; i++) {
        unsigned inner = (x >> i) & 7;
        for (unsigned j = 0; j < inner; j++)
            s += a[(t + i * 64 + j) & mask];
        if (s & 1)
            break;
    }
    o[t] = s + x;
}

// Doubles in shared memory, at a stride.
K shm64(double *o, int n, int stride) {
    __shared__ double s[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    unsigned p = threadIdx.x * stride & 2047;
    double v = 0;
    for (int i = 0; i < n; i++) {
        REP4(v = s[p]; p = (p + 1 + (unsigned)v) & 2047; s[p] = v;)
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// Atomics of all threads on a few words, whose results are used.
K atom_few(unsigned *o, unsigned *r, int n, unsigned words) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int i = 0; i < n; i++)
        s += atomicAdd(&o[h32(t + i) % words], 1u) & 1;
    r[t] = s;
}

// Straight code that is larger than the instruction caches, run twice.
K big_code(unsigned *o, int n) {
    unsigned a = threadIdx.x, b = a + 1;
    for (int i = 0; i < n; i++) {
        REP8(REP8(REP8(asm volatile("add.u32 %0, %0, %1;\n xor.b32 %1, %1, %0;\n add.u32 %1, %1, %2;"
                                    : "+r"(a), "+r"(b) : "r"(n));)))
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

// One warp a CTA, with little work: the start of CTAs dominates.
K tiny(const unsigned *a, unsigned *o) {
    unsigned t = blockIdx.x * 32 + threadIdx.x;
    o[t] = a[t] + t * 3;
}

// Each round, a CTA writes its lines, and then reads what other warps wrote.
K exchange(unsigned *x, int rounds) {
    unsigned *mine = x + blockIdx.x * 512;
    unsigned s = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        mine[threadIdx.x] = s;
        __syncthreads();
        s += mine[(threadIdx.x + 64) & 255] + mine[(threadIdx.x + 128) & 255];
        __syncthreads();
        mine[256 + threadIdx.x] = s;
    }
}

// A column a warp: each load is of another DRAM row.
K columns(const unsigned *a, unsigned *o, int pitch, int rows) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int r = 0; r < rows; r++)
        s += a[(unsigned)(r * pitch) + t];
    o[t] = s;
}

// Polynomials in doubles, and a division.
K horner(double *o, int n, double x) {
    double s = threadIdx.x, q = blockIdx.x;
    for (int i = 0; i < n; i++) {
        s = s * x + 1.0;
        q = q * x + s;
        s = s * q - 0.5;
        q = q + 2.0;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s / (q + 3.0);
}

// Chains of special functions beside additions.
K waves(float *o, int n) {
    float a = threadIdx.x, b = blockIdx.x, c = 1;
    for (int i = 0; i < n; i++) {
        REP4(asm volatile("sin.approx.f32 %0, %0;\n lg2.approx.f32 %1, %1;\n add.f32 %2, %2, %0;\n rcp.approx.f32 %1, %1;\n"
                          "rsqrt.approx.f32 %0, %2;" : "+f"(a), "+f"(b), "+f"(c));)
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}

// Small frames in local memory: each lane sorts eight numbers by insertion.
K frames(unsigned *o, int n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, f[8], s = 0;
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 8; i++)
            f[i] = h32(t * 8 + i + r) & 255;
        for (int i = 1; i < 8; i++) {
            unsigned v = f[i];
            int j = i;
            while (j > 0 && f[j - 1] > v) {
                f[j] = f[j - 1];
                j--;
            }
            f[j] = v;
        }
        s += f[h32(r) & 7];
    }
    o[t] = s;
}

// A filter over bytes: three rows of bytes, a byte a lane.
K blur(const unsigned char *a, unsigned char *o, int w, int h) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    unsigned s = 0;
    for (int d = -1; d <= 1; d++)
        s += a[(y + d) * w + x - 1] + 2 * a[(y + d) * w + x] + a[(y + d) * w + x + 1];
    o[y * w + x] = s >> 4;
}

// Few huge CTAs: a bitonic sort of 1,024 keys.
K bitonic(unsigned *o) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    s[t] = h32(blockIdx.x * 1024 + t);
    __syncthreads();
    for (unsigned k = 2; k <= 1024; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned u = t ^ j;
            if (u > t) {
                unsigned p = s[t], q = s[u];
                if ((p > q) == ((t & k) == 0)) {
                    s[t] = q;
                    s[u] = p;
                }
            }
            __syncthreads();
        }
    o[blockIdx.x * 1024 + t] = s[t];
}

// Barriers between uneven work: another warp works in each round.
K uneven(unsigned *o, int rounds, int most) {
    unsigned t = threadIdx.x, w = t / 32, a = t;
    for (int r = 0; r < rounds; r++) {
        int n = (w + r) % (blockDim.x / 32) == 0 ? most : 2;
        for (int i = 0; i < n; i++)
            a = a * 5 + (a >> 3);
        __syncthreads();
    }
    o[blockIdx.x * blockDim.x + t] = a;
}

__constant__ unsigned words[4096];
// Constants at addresses that differ by lane, then by warp.
K look_up(unsigned *o, int n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int i = 0; i < n; i++)
        s += words[(h32(t) + i) & 63] + words[(t / 32 * 64 + i * 16) & 4095];
    o[t] = s;
}

// Vectors of 16 bytes through shared memory: reads are of other rows than writes.
K turn4(const float4 *a, float4 *o, int n) {
    __shared__ float4 s[8][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float4 v = a[y * n + x];
    s[threadIdx.y][threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
    __syncthreads();
    o[y * n + x] = s[7 - threadIdx.y][31 - threadIdx.x];
}
