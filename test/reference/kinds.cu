// Kernels of the kinds that kernels.cu lacks: stores, integer multiplication, reuse of the L1, more of each pipe.
// All buffers are zero-filled: what varies is hashed from indices, so contents never change the work.
#define K extern "C" __global__ void
#define REP8(s) s s s s s s s s
__device__ __forceinline__ unsigned h32(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Stores alone: a word a thread, in order.
K fill(unsigned *o, int n, unsigned v) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        o[i] = v + i;
}

// Stores of 16 bytes a thread.
K fill4(uint4 *o, int n, unsigned v) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        o[i] = make_uint4(v, i, v, i);
}

// Stores of a byte a thread.
K fill1(unsigned char *o, int n, int v) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        o[i] = v;
}

// Each lane stores to another line.
K scatter(unsigned *o, int n, unsigned mask) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        o[h32(i) & mask] = i;
}

// Each lane loads another line.
K gather(const unsigned *a, unsigned *o, int n, unsigned mask) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        o[i] = a[h32(i) & mask];
}

// Transposition without shared memory: a store of a warp has 32 lines.
K transcol(const float *a, float *b, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    b[x * n + y] = a[y * n + x];
}

// Temperatures of a chip: a tile of 16 x 16 with its halo, and two steps in shared memory.
K hotspot(const float *t, const float *p, float *o, int n, int steps) {
    __shared__ float s[16][16], q[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, in = 16 - 2 * steps;
    int x = (int)blockIdx.x * in + tx - steps, y = (int)blockIdx.y * in + ty - steps;
    bool there = x >= 0 && y >= 0 && x < n && y < n;
    int at = y * n + x;
    if (there) {
        s[ty][tx] = t[at];
        q[ty][tx] = p[at];
    }
    __syncthreads();
    int up = ty > 0 ? ty - 1 : 0, down = ty < 15 ? ty + 1 : 15, left = tx > 0 ? tx - 1 : 0, right = tx < 15 ? tx + 1 : 15;
    bool mine = false;
    for (int i = 0; i < steps; i++) {
        mine = there && tx > i && tx < 15 - i && ty > i && ty < 15 - i;
        float v = 0;
        if (mine)
            v = s[ty][tx] + 0.1f * (q[ty][tx] + (s[down][tx] + s[up][tx] - 2.0f * s[ty][tx]) * 0.3f +
                                    (s[ty][right] + s[ty][left] - 2.0f * s[ty][tx]) * 0.2f + (80.0f - s[ty][tx]) * 0.7f);
        __syncthreads();
        if (mine)
            s[ty][tx] = v;
        __syncthreads();
    }
    if (mine)
        o[at] = s[ty][tx];
}

// Reads, writes back to the same place, reads again: the write drops the line from the L1.
K inplace(float *x, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        x[i] = x[i] * 0.5f + 1.0f;
}

K saxpy(const float *x, float *y, int n, float a) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

K lat_imul(unsigned *o, int n) {
    unsigned a = threadIdx.x + 1;
    for (int i = 0; i < n; i++) {
        REP8(asm volatile("mul.lo.u32 %0, %0, %1;" : "+r"(a) : "r"(n));)
    }
    o[threadIdx.x] = a;
}

K tp_imul(unsigned *o, int n) {
    unsigned a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < n; i++) {
        REP8(asm volatile("mul.lo.u32 %0, %0, %4;\n mul.lo.u32 %1, %1, %4;\n mul.lo.u32 %2, %2, %4;\n"
                          "mul.lo.u32 %3, %3, %4;" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(n));)
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

K tp_imad(unsigned *o, int n) {
    unsigned a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < n; i++) {
        REP8(asm volatile("mad.lo.u32 %0, %0, %4, %1;\n mad.lo.u32 %1, %1, %4, %2;\n mad.lo.u32 %2, %2, %4, %3;\n"
                          "mad.lo.u32 %3, %3, %4, %0;" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(n));)
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

// A hash of each index, over and over: multiplications between shifts and exclusive ors.
K hashes(unsigned *o, int n) {
    unsigned a = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++)
        a = h32(a + i);
    o[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

K minmax(int *o, int n) {
    int a = threadIdx.x, b = a * 7, c = a ^ 21;
    for (int i = 0; i < n; i++) {
        REP8(asm volatile("min.s32 %0, %0, %1;\n max.s32 %1, %1, %2;\n min.s32 %2, %2, %3;"
                          : "+r"(a), "+r"(b), "+r"(c) : "r"(n));)
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}

// Integer and float division, and square roots.
K divide(unsigned *o, float *f, int n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, a = h32(t);
    float x = a;
    for (int i = 0; i < n; i++) {
        a = a % (unsigned)(i + 3) + a / (unsigned)(2 * i + 5) + 77777;
        asm volatile("div.full.f32 %0, %0, %1;\n sqrt.approx.f32 %0, %0;" : "+f"(x) : "f"((float)(i + 2)));
    }
    o[t] = a;
    f[t] = x;
}

// All CTAs read one table; with 40 KB of shared memory an SM has one CTA at a time.
K table_alone(const float *a, float *o, int n) {
    __shared__ float big[10240];
    float s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += a[i];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += a[n - 1 - i];
    big[threadIdx.x * 40] = s;
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = big[(threadIdx.x ^ 1) * 40];
}

// The same table, with as many CTAs on an SM as there is room for.
K table_many(const float *a, float *o, int n) {
    float s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += a[i];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += a[n - 1 - i];
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

// A row a thread: lines stay in the L1 for 32 steps, or do not.
K rows(const float *a, const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int c = 0; c < columns; c++)
        s += a[r * columns + c] * x[c];
    y[r] = s;
}

// Sum of each CTA in shared memory, then one atomic.
K reduce(const float *a, float *o, int n) {
    __shared__ float s[256];
    float v = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        v += a[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(o, s[0]);
}

// Prefix sums of each CTA (Hillis and Steele).
K scan(const unsigned *a, unsigned *o) {
    __shared__ unsigned s[2][256];
    int t = threadIdx.x, from = 0;
    s[0][t] = a[blockIdx.x * 256 + t] + t;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        s[1 - from][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    o[blockIdx.x * 256 + t] = s[from][t];
}

// Loops of different lengths in the lanes of a warp.
K trips(unsigned *o, int most) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, a = h32(t), n = a % most;
    for (unsigned i = 0; i < n; i++)
        a = a & 1 ? a * 3 + 1 : a >> 1;
    o[t] = a;
}

__constant__ float weights[1024];
// A filter whose weights are in constant memory.
K filter(const float *a, float *o, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < taps; k++)
        s += a[(i + k) & (n - 1)] * weights[k];
    o[i] = s;
}

// An array of each thread in local memory.
K local(unsigned *o, int n) {
    unsigned a[32], t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int i = 0; i < 32; i++)
        a[i] = t + i;
    for (int i = 0; i < n; i++) {
        unsigned k = (h32(i) ^ t) & 31;
        a[k] += s + i;
        s += a[(k + 5) & 31];
    }
    o[t] = s;
}

K daxpy(const double *x, double *y, int n, double a) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}
