// mvt: x1 += A y1 and x2 += A' y2 for an n x n row-major matrix, a launch each.
// From: PolyBench-GPU, MVT.
// Divergence: an if without else at the grid's ragged end; the loop inside is uniform. Nesting: 2. The first kernel's
//   lanes read a row each (a cache line a lane), the second's a column each (coalesced). As in the original, each
//   step of a loop loads and stores the sum.
// Instructions after reconvergence: none.
// Barriers: none. Block: 256 x 1. Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
extern "C" __global__ void mvt_rows(const float *a, float *x1, const float *y1, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
#pragma unroll 1
        for (int j = 0; j < n; j++)
            x1[i] = fmaf(a[i * n + j], y1[j], x1[i]);
}

extern "C" __global__ void mvt_columns(const float *a, float *x2, const float *y2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
#pragma unroll 1
        for (int j = 0; j < n; j++)
            x2[i] = fmaf(a[j * n + i], y2[j], x2[i]);
}
