// fwt: the fast Walsh (Hadamard) transform in natural order, not normalised, and the dyadic convolution of two arrays:
// the transform of the product of their transforms. fwt_far does two levels at once between elements far apart,
// fwt_near does all levels of up to 2048 neighbours in shared memory, and fwt_product multiplies two transforms and
// scales the result.
// From: CUDA samples, fastWalshTransform (fwtBatch2Kernel, fwtBatch1Kernel, modulateKernel).
// Divergence: within warps, at most in the last iterations of loops that stride by the block; an if without else,
//   uniform, where the number of levels is odd. Nesting: 2.
// Instructions after reconvergence: 2 after the load's loop, 2 (barrier, the store's loop) after the odd level.
// Barriers: 1 for two levels, 3 more in fwt_near. Block: 512 x 1 (a quarter of the elements) in fwt_near, 256 x 1.
// Shared memory: 8 KiB, dynamic.
// Contraction: left to nvcc; there is nothing to contract.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
extern __shared__ float fwt_tile[];

static __device__ void four(float *a, float *b, float *c, float *d) {
    float w = *a, x = *b, y = *c, z = *d, t;
    t = w;
    w = w + y;
    y = t - y;
    t = x;
    x = x + z;
    z = t - z;
    t = w;
    *a = w + x;
    *b = t - x;
    t = y;
    *c = y + z;
    *d = t - z;
}

// A thread transforms four elements that are `stride` apart in a run of 4 * stride elements of `in`.
extern "C" __global__ void fwt_far(float *out, const float *in, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = i & (stride - 1), at = ((i - low) << 2) + low;
    float a = in[at], b = in[at + stride], c = in[at + 2 * stride], d = in[at + 3 * stride];
    four(&a, &b, &c, &d);
    out[at] = a;
    out[at + stride] = b;
    out[at + 2 * stride] = c;
    out[at + 3 * stride] = d;
}

// Each block transforms its own 2^levels elements.
extern "C" __global__ void fwt_near(float *out, const float *in, int levels) {
    int n = 1 << levels, t = threadIdx.x, threads = blockDim.x;
    in += blockIdx.x << levels;
    out += blockIdx.x << levels;
#pragma unroll 1
    for (int i = t; i < n; i += threads)
        fwt_tile[i] = in[i];
#pragma unroll 1
    for (int stride = n >> 2; stride > 0; stride >>= 2) {
        int low = t & (stride - 1), at = ((t - low) << 2) + low;
        __syncthreads();
        four(&fwt_tile[at], &fwt_tile[at + stride], &fwt_tile[at + 2 * stride], &fwt_tile[at + 3 * stride]);
    }
    if (levels & 1) {
        __syncthreads();
#pragma unroll 1
        for (int i = t; i < n / 2; i += threads) {
            float a = fwt_tile[2 * i], b = fwt_tile[2 * i + 1];
            fwt_tile[2 * i] = a + b;
            fwt_tile[2 * i + 1] = a - b;
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = t; i < n; i += threads)
        out[i] = fwt_tile[i];
}

extern "C" __global__ void fwt_product(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
    float scale = 1.0f / n;
#pragma unroll 1
    for (; i < n; i += step)
        a[i] = a[i] * (b[i] * scale);
}
