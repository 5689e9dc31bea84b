// bicg: q = A p and s = A' r for an nx x ny row-major matrix, the two products of the biconjugate gradient method.
// From: PolyBench-GPU, BICG.
// Divergence: an if without else at the grid's ragged end; the loop inside is uniform. Nesting: 2. q's lanes read a
//   row each (a cache line a lane), s's a column each (coalesced). As in the original, each step loads and stores the
//   sum.
// Instructions after reconvergence: none.
// Barriers: none. Block: 256 x 1. Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
extern "C" __global__ void bicg_q(const float *a, const float *p, float *q, int nx, int ny) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        q[i] = 0;
#pragma unroll 1
        for (int j = 0; j < ny; j++)
            q[i] = fmaf(a[i * ny + j], p[j], q[i]);
    }
}

extern "C" __global__ void bicg_s(const float *a, const float *r, float *s, int nx, int ny) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        s[j] = 0;
#pragma unroll 1
        for (int i = 0; i < nx; i++)
            s[j] = fmaf(a[i * ny + j], r[i], s[j]);
    }
}
