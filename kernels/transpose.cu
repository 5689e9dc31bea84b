// transpose: of a matrix of floats whose sides are multiples of 32, in three ways: naive (columns written one word a
// row), through a square tile in shared memory (columns of the tile lie in one bank), and through one with a column
// of padding.
// From: CUDA samples, transpose.
// Divergence: none; the loops over the tile's rows are unrolled. Nesting: 0.
// Instructions after reconvergence: reconvergence only happens at the barriers.
// Barriers: 0, 1 and 1. Block: 32 x 8, four rows a thread. Shared memory: 0, 4 KiB, 4.1 KiB.
enum { TILE = 32, ROWS = 8 };

extern "C" __global__ void transpose_naive(float *out, const float *in, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        out[x * height + y + i] = in[x + (y + i) * width];
}

extern "C" __global__ void transpose_tiled(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = in[x + (y + i) * width];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        out[x + (y + i) * height] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void transpose_padded(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = in[x + (y + i) * width];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        out[x + (y + i) * height] = tile[threadIdx.x][threadIdx.y + i];
}
