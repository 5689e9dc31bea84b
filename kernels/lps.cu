// lps: one step of Jacobi's iteration for Laplace's equation on a box of cells: each cell becomes the mean of its six
// neighbours; cells on the faces stay. A block walks up a column of 32 x 4 cells with three layers in shared memory:
// its own cells, and a ring of one cell around them, which the first 76 threads load.
// From: laplace3d by Giles, LPS in the programs that came with GPGPU-Sim's first paper (GPU_laplace3d).
// Divergence: an if and else over the rows of the block selects which thread loads which cell of the ring, inside an
//   if for the 76 threads (its else loads nothing); in the uniform loop over layers, an if without else for own cells,
//   with one for the last layer in it, the same for the ring's cells, and after the barrier one around an if and else:
//   a cell on a face, a cell inside. Nesting: 4.
// Instructions after reconvergence: 15 after the if and else over rows, 17 after that around it; in the loop 1, 2
//   (barrier), and after the if and else on faces 3 (store) and 6 (barrier, loop).
// Barriers: 2 a layer. Block: 32 x 4. Shared memory: 2.4 KiB.
// Contraction: left to nvcc; there is nothing to contract.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { WIDTH = 32, DEPTH = 4, ROW = WIDTH + 2, LAYER = ROW * (DEPTH + 2), RING = 2 * (WIDTH + DEPTH + 2) };

extern "C" __global__ void lps(const float *from, float *to, int nx, int ny, int nz) {
    __shared__ float near[3 * LAYER];
    int t = threadIdx.x + threadIdx.y * WIDTH, ring = 0, ring_at = 0;
    bool brings = t < RING;
    if (brings) {
        int i, j;
        if (threadIdx.y < 2) { // rows in front of and behind the block
            i = threadIdx.x;
            j = threadIdx.y * (DEPTH + 1) - 1;
        } else { // its two sides
            i = t % 2 * (WIDTH + 1) - 1;
            j = t / 2 - WIDTH - 1;
        }
        ring = i + 1 + (j + 1) * ROW + LAYER;
        i += blockIdx.x * WIDTH;
        j += blockIdx.y * DEPTH;
        ring_at = i + j * nx;
        brings = i >= 0 && i < nx && j >= 0 && j < ny;
    }
    int own = threadIdx.x + 1 + (threadIdx.y + 1) * ROW + LAYER;
    int i = threadIdx.x + blockIdx.x * WIDTH, j = threadIdx.y + blockIdx.y * DEPTH, at = i + j * nx;
    bool active = i < nx && j < ny;
    if (active) {
        near[own] = 0; // moves down before the first layer is loaded: no cell is below it
        near[own + LAYER] = from[at];
    }
    if (brings) {
        near[ring] = 0;
        near[ring + LAYER] = from[ring_at];
    }
#pragma unroll 1
    for (int k = 0; k < nz; k++) {
        int here = at;
        if (active) {
            at += nx * ny;
            near[own - LAYER] = near[own];
            near[own] = near[own + LAYER];
            if (k < nz - 1)
                near[own + LAYER] = from[at];
        }
        if (brings) {
            ring_at += nx * ny;
            near[ring - LAYER] = near[ring];
            near[ring] = near[ring + LAYER];
            if (k < nz - 1)
                near[ring + LAYER] = from[ring_at];
        }
        __syncthreads();
        if (active) {
            float next;
            if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1)
                next = near[own];
            else
                next = (near[own - 1] + near[own + 1] + near[own - ROW] + near[own + ROW] + near[own - LAYER] +
                        near[own + LAYER]) *
                       (1 / 6.0f);
            to[here] = next;
        }
        __syncthreads();
    }
}
