// Kernels for the passes of PEPSC: loops of all kinds for the pipeliner, shared values for chains, branches around a few
// operations for predication, sums for the tree. Each thread has 64 words of out and 64 words of in; blocks have at most
// 96 threads, in whole warps. test/random/random_compiled.c runs the kernels, compiled by
//   nvcc -O3 -arch=sm_75 -ptx -o loops_nvcc.ptx loops.cu
//   nvcc -Xcicc -O1 -arch=sm_75 -ptx -o loops_nvcc_o1.ptx loops.cu
//   clang++ -O1 -fdeclspec -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -nocudainc -nocudalib \
//       -Xclang -target-feature -Xclang +ptx70 -S -o loops_clang.ptx loops.cu
#ifdef __clang__ // without CUDA's headers
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
struct tid_t {
    static __device__ int x_() { return __nvvm_read_ptx_sreg_tid_x(); }
    __declspec(property(get = x_)) int x;
};
struct bid_t {
    static __device__ int x_() { return __nvvm_read_ptx_sreg_ctaid_x(); }
    __declspec(property(get = x_)) int x;
};
struct bdim_t {
    static __device__ int x_() { return __nvvm_read_ptx_sreg_ntid_x(); }
    __declspec(property(get = x_)) int x;
};
extern const __device__ tid_t threadIdx;
extern const __device__ bid_t blockIdx;
extern const __device__ bdim_t blockDim;
#define __syncthreads() __syncthreads_impl()
static inline __device__ void __syncthreads_impl() { __nvvm_bar_sync(0); }
static inline __device__ float __shfl_down_sync(unsigned m, float v, int d) {
    return __nvvm_shfl_sync_down_f32(m, v, d, 31);
}
static inline __device__ float __shfl_xor_sync(unsigned m, float v, int d) {
    return __nvvm_shfl_sync_bfly_f32(m, v, d, 31);
}
static inline __device__ unsigned __float_as_uint(float f) {
    union {
        float f;
        unsigned u;
    } x;
    x.f = f;
    return x.u;
}
static inline __device__ float __uint_as_float(unsigned f) {
    union {
        float f;
        unsigned u;
    } x;
    x.u = f;
    return x.f;
}
static inline __device__ float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
#endif

#define KERNEL(name) extern "C" __global__ void name(float *out, const float *in, int n)
#define OWN                                                                                                            \
    int t = blockIdx.x * blockDim.x + threadIdx.x;                                                                     \
    float *o = out + 64 * t;
#define MINE OWN const float *x = in + 64 * t;
KERNEL(recurrence) {
    MINE float a = x[0], b = 0.5f;
    for (int i = 0; i < n; i++) {
        a = a * b + x[i & 63];
        b = b * 0.99f + 0.001f;
    }
    o[0] = a;
    o[1] = b;
}
KERNEL(trips) {
    MINE int m = (n + 5 * t) % 23;
    float s = 0, p = 1;
    for (int i = 0; i < m; i++) {
        s += x[i];
        p = p * 0.75f + x[i];
    }
    o[0] = s;
    o[1] = p;
    o[2] = m;
}
KERNEL(nested) {
    MINE float s = 0;
    for (int i = 0; i < (n & 7); i++) {
        float r = x[i];
        for (int j = 0; j < ((t + i) & 7); j++)
            r = r * 0.5f + x[8 * i + j];
        s += r;
        o[i] = r;
    }
    o[63] = s;
}
KERNEL(early) {
    MINE float s = 0;
    int i;
    for (i = 0; i < 64; i++) {
        s += x[i] * 0.25f;
        if (s > 2.0f)
            break;
    }
    o[0] = s;
    o[1] = i;
}
KERNEL(alias) {
    MINE for (int i = 0; i < 60; i++) {
        float v = o[i];
        o[i + 1] = v * 0.5f + x[i];
        o[i + 3] = v - o[i + 2];
    }
}
KERNEL(overlap) {
    OWN float *p = o + (n & 3), *q = o;
    for (int i = 0; i < 50; i++) {
        p[i + 1] = q[i] * 0.5f + 1.0f;
        q[i + 7] = p[i] - 0.25f;
    }
}
KERNEL(predicated) {
    MINE float s = 0, m = -1;
    int k = 0;
    for (int i = 0; i < n; i++) {
        float v = x[i & 63];
        if (v > 0)
            s += v;
        else
            s -= v * 0.5f;
        if (v > m) {
            m = v;
            k = i;
        }
        o[i & 31] = s;
    }
    o[40] = m;
    o[41] = k;
}
KERNEL(doubles) {
    MINE double s = 0, c = 1;
    for (int i = 0; i < n; i++) {
        double v = x[i & 63];
        s = s + v * c;
        c = c * 0.875 + 0.125;
    }
    o[0] = (float)s;
    o[1] = (float)c;
}
KERNEL(shared_values) {
    MINE for (int i = 0; i < n; i++) {
        float a = x[i & 63], b = x[(i + 1) & 63], d = a - b, e = d * d, f = e + a, g = e * b, h = f * g - d;
        o[i & 63] = h + e * f;
    }
}
KERNEL(figure8) {
    MINE float p = 0, w = 1, v = 2;
    float y = x[1], z = 5.0f, tt = x[2], u = x[3], q = x[4], r = x[5];
    for (int i = 0; i < (n & 31); i++) {
        float c1 = x[6 + i], c2 = x[7 + i];
        if (c1 > 0) {
            v = y + z;
            if (c2 > 0)
                w = tt + u;
            else
                w = tt - u;
            p = q + r;
        } else
            v = y - z;
        v = v + 1.0f;
        y = y * 0.5f + v;
        q = q + w;
        o[i] = v + w + p;
    }
    o[60] = v;
    o[61] = w;
    o[62] = p;
}
KERNEL(sides) {
    MINE float a = x[0], b = x[1], c = 0, d = 0;
    for (int i = 0; i < n; i++) {
        if ((t + i) & 1) {
            c = a + b;
            c = c * a;
        } else {
            d = a - b;
            d = d * b;
        }
        a = a * 0.5f + d;
        b = b * 0.25f + c;
    }
    o[0] = a;
    o[1] = b;
    o[2] = c;
    o[3] = d;
}
KERNEL(clamp) {
    MINE for (int i = 0; i < n; i++) {
        float v = x[i & 63] * 3.0f;
        if (v > 1.0f)
            v = 1.0f;
        else if (v < -1.0f)
            v = -1.0f - v;
        o[i & 63] = v;
    }
}
KERNEL(hash) {
    MINE unsigned h = 2166136261u;
    unsigned long long l = t;
    for (int i = 0; i < n; i++) {
        h = (h ^ __float_as_uint(x[i & 63])) * 16777619u;
        l = l * 6364136223846793005ull + h;
    }
    o[0] = __uint_as_float(h & 0x3fffffff);
    o[1] = (float)(l >> 40);
}
KERNEL(special) {
    MINE float s = 0;
    for (int i = 0; i < (n & 15); i++) {
        float v = x[i];
        s += sqrtf(v * v + 1.0f) / (v * v + 0.5f);
    }
    o[0] = s;
}
KERNEL(ladder) {
    MINE float s = x[0];
    for (int k = 0; k < (n & 3) + 1; k++) {
        float v = x[k + 1];
        for (int d = 16; d; d >>= 1)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if ((threadIdx.x & 31) == 0)
            o[k] = v;
        float b = x[k];
        for (int d = 1; d < 32; d <<= 1)
            b += __shfl_xor_sync(0xffffffffu, b, d);
        s += b;
    }
    o[10] = s;
}
KERNEL(serial) {
    MINE __shared__ float s[96];
    s[threadIdx.x] = x[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        float a = 0, b = 0;
        for (int i = 0; i < 32; i++)
            a += s[i];
        for (int i = 0; i < n % 60; i++)
            b += s[i];
        o[0] = a;
        o[1] = b;
    }
}
KERNEL(blockwide) {
    MINE __shared__ float s[96];
    int l = threadIdx.x;
    for (int i = 0; i < (n & 7); i++) {
        s[l] = x[i];
        __syncthreads();
        float v = s[l] + s[(l + 1) % blockDim.x] * 0.5f;
        __syncthreads();
        o[i] = v;
    }
}
KERNEL(twoway) {
    MINE float a[4] = {1, 2, 3, 4};
    for (int i = 0; i < n; i++) {
        a[0] += x[i & 63];
        a[1] = a[0] * a[3];
        a[2] -= a[1];
        a[3] = a[2] * 0.001f;
    }
    for (int i = 0; i < 4; i++)
        o[i] = a[i];
}
KERNEL(switched) {
    MINE float s = 0;
    for (int i = 0; i < n; i++) {
        float v = x[i & 63];
        switch ((t + i) & 3) {
        case 0:
            s += v;
            break;
        case 1:
            s -= v * 2;
            break;
        case 2:
            s = s * 0.5f;
            break;
        default:
            o[i & 31] = s;
        }
    }
    o[40] = s;
}
KERNEL(stencil) {
    MINE for (int k = 0; k < (n & 3); k++) for (int i = 1; i < 62; i++) o[i] =
        (k ? o[i] : x[i]) * 0.5f + (x[i - 1] + x[i + 1]) * 0.25f;
}
KERNEL(down) {
    MINE float s = 0;
    for (int i = n & 63; i > 0; i -= 3) {
        s = s * 0.9f + x[i];
        o[i] = s;
    }
    o[0] = s;
}
KERNEL(halves) {
    OWN unsigned char *b = (unsigned char *)o;
    for (int i = 0; i < n; i++) {
        b[(i * 7) & 255] = (unsigned char)(b[(i * 3) & 255] + i);
        ((unsigned short *)o)[(i * 5) & 127] += 3;
    }
}
