// stencil: Jacobi's iteration of a 7-point stencil in 3-D; the border stays as it was. A block of 32 x 4 threads walks
// up a tile of 64 x 4 columns, two for each thread. The layers below and above are in registers, the current layer in
// shared memory, cells beyond the tile in global memory.
// From: Parboil, stencil (block2D_hybrid_coarsen_x).
// Divergence: in a uniform loop over layers, for each of the two columns: an if without else for the layer above, and
//   one around three ifs with else (a neighbour from global memory at the tile's edge, otherwise from shared memory).
//   Nesting: 3.
// Instructions after reconvergence: 2, 2 and 13 after the three ifs with else, 1 after the if around them.
// Barriers: 2 a layer and 2. Block: 32 x 4. Shared memory: 1 KiB, dynamic.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))
extern __shared__ float stencil_tile[];

extern "C" __global__ void stencil(float c0, float c1, const float *in, float *out, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x * 2 + threadIdx.x, i2 = i + blockDim.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int own = threadIdx.x + threadIdx.y * blockDim.x * 2, own2 = own + blockDim.x, row = 2 * blockDim.x;
    float *tile = stencil_tile;
    tile[own] = 0;
    tile[own2] = 0;
    __syncthreads();
    bool inner = i > 0 && j > 0 && i < nx - 1 && j < ny - 1, inner2 = j > 0 && i2 < nx - 1 && j < ny - 1;
    bool left = threadIdx.x == 0, right = threadIdx.x + blockDim.x == row - 1;
    bool first = threadIdx.y == 0, last = threadIdx.y == blockDim.y - 1;
    float below = 0, below2 = 0, above = 0, above2 = 0;
    if (i < nx && j < ny) {
        below = in[AT(i, j, 0)];
        tile[own] = in[AT(i, j, 1)];
    }
    if (i2 < nx && j < ny) {
        below2 = in[AT(i2, j, 0)];
        tile[own2] = in[AT(i2, j, 1)];
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 1; k < nz - 1; k++) {
        float side, south, north;
        if (i < nx && j < ny)
            above = in[AT(i, j, k + 1)];
        if (inner) {
            side = left ? in[AT(i - 1, j, k)] : tile[own - 1];
            south = first ? in[AT(i, j - 1, k)] : tile[own - row];
            north = last ? in[AT(i, j + 1, k)] : tile[own + row];
            out[AT(i, j, k)] = fmaf(side + tile[own + 1] + north + south + above + below, c1, -(tile[own] * c0));
        }
        if (i2 < nx && j < ny)
            above2 = in[AT(i2, j, k + 1)];
        if (inner2) {
            side = right ? in[AT(i2 + 1, j, k)] : tile[own2 + 1];
            south = first ? in[AT(i2, j - 1, k)] : tile[own2 - row];
            north = last ? in[AT(i2, j + 1, k)] : tile[own2 + row];
            out[AT(i2, j, k)] = fmaf(side + tile[own2 - 1] + north + south + above2 + below2, c1, -(tile[own2] * c0));
        }
        __syncthreads();
        below = tile[own];
        tile[own] = above;
        below2 = tile[own2];
        tile[own2] = above2;
        __syncthreads();
    }
}
