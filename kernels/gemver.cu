// gemver: A += u1 v1' + u2 v2', then x = beta A' y + z, then w = alpha A x, for an n x n row-major matrix.
// From: PolyBench-GPU, GEMVER (its three kernels).
// Divergence: an if without else at the grid's ragged end; the loops over a row or column are uniform inside it.
//   Nesting: 2. gemver_x walks down columns (coalesced), gemver_w along rows (a cache line a lane).
// Instructions after reconvergence: after the loops 6 and 1.
// Barriers: none. Blocks: 32 x 8 and 256 x 1. Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
extern "C" __global__ void gemver_rank2(float *a, const float *u1, const float *v1, const float *u2, const float *v2,
                                        int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] = fmaf(u2[i], v2[j], fmaf(u1[i], v1[j], a[i * n + j]));
}

extern "C" __global__ void gemver_x(const float *a, float *x, const float *y, const float *z, float beta, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = x[i];
#pragma unroll 1
        for (int j = 0; j < n; j++)
            sum = fmaf(beta * a[j * n + i], y[j], sum);
        x[i] = sum + z[i];
    }
}

extern "C" __global__ void gemver_w(const float *a, const float *x, float *w, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = w[i];
#pragma unroll 1
        for (int j = 0; j < n; j++)
            sum = fmaf(alpha * a[i * n + j], x[j], sum);
        w[i] = sum;
    }
}
