// gaussian: forward elimination of an n x n system, two launches a column: gaussian_ratio divides the column below the
// pivot by the pivot; gaussian_subtract subtracts multiples of the pivot's row from each row below, and from the
// right-hand side.
// From: Rodinia, gaussian (Fan1, Fan2).
// Divergence: early returns at the ends of both grids (one and two, if without else), which leave more and more of the
//   grid idle, since the grid keeps its size while the remaining matrix shrinks; then the column of threads that also
//   changes the right-hand side (if without else). Nesting: 1.
// Instructions after reconvergence: none.
// Barriers: none. Blocks: 512 x 1 and 4 x 4 (half a warp). Shared memory: none.
extern "C" __global__ void gaussian_ratio(float *m, const float *a, int n, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1 - t)
        return;
    m[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}

extern "C" __global__ void gaussian_subtract(const float *m, float *a, float *b, int n, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n - 1 - t)
        return;
    if (y >= n - t)
        return;
    a[n * (x + 1 + t) + y + t] = fmaf(-m[n * (x + 1 + t) + t], a[n * t + y + t], a[n * (x + 1 + t) + y + t]);
    if (y == 0)
        b[x + 1 + t] = fmaf(-m[n * (x + 1 + t) + t], b[t], b[x + 1 + t]);
}
