// nw: Needleman-Wunsch, the best global alignment of two sequences: each cell of a matrix is the maximum over its
// three neighbours up and left. Tiles of 16 x 16 cells, a block of 16 threads each, one launch for each diagonal of
// tiles; in a tile the threads follow its diagonals. nw_down is for launches up to the longest diagonal, nw_up for the
// remaining ones.
// From: Rodinia, nw (needle_cuda_shared_1, needle_cuda_shared_2).
// Divergence: in each of 16 + 15 steps an if without else: thread 0 alone at first, all in the middle, one at the
//   end; the other half of the warp does not exist. An if for thread 0 at the start. Nesting: 2.
// Instructions after reconvergence: 1 (barrier) in the loops, 63 after the first if.
// Barriers: one a step, 4 or 3 more. Block: 16 x 1. Shared memory: 2.1 KiB.
enum { TILE = 16 };

static __device__ int best(int a, int b, int c) {
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}

static __device__ void tile_of(const int *score, int *matrix, int columns, int penalty, int tile_x, int tile_y) {
    __shared__ int temp[TILE + 1][TILE + 1];
    __shared__ int ref[TILE][TILE];
    int t = threadIdx.x;
    int inside = columns * TILE * tile_y + TILE * tile_x + t + columns + 1;
    int north = inside - columns, west = columns * TILE * tile_y + TILE * tile_x + columns;
    int corner = columns * TILE * tile_y + TILE * tile_x;
    if (t == 0)
        temp[t][0] = matrix[corner];
    for (int y = 0; y < TILE; y++)
        ref[y][t] = score[inside + columns * y];
    __syncthreads();
    temp[t + 1][0] = matrix[west + columns * t];
    __syncthreads();
    temp[0][t + 1] = matrix[north];
    __syncthreads();
#pragma unroll 1
    for (int m = 0; m < TILE; m++) {
        if (t <= m) {
            int x = t + 1, y = m - t + 1;
            int diagonal = temp[y - 1][x - 1] + ref[y - 1][x - 1];
            temp[y][x] = best(diagonal, temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
#pragma unroll 1
    for (int m = TILE - 2; m >= 0; m--) {
        if (t <= m) {
            int x = t + TILE - m, y = TILE - t;
            int diagonal = temp[y - 1][x - 1] + ref[y - 1][x - 1];
            temp[y][x] = best(diagonal, temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++)
        matrix[inside + columns * y] = temp[y + 1][t + 1];
}

// Diagonal `i`, from 1 to the number of tiles in a row: i blocks.
extern "C" __global__ void nw_down(const int *score, int *matrix, int columns, int penalty, int i, int tiles) {
    tile_of(score, matrix, columns, penalty, blockIdx.x, i - 1 - blockIdx.x);
}

// Later diagonals, i from the number of tiles - 1 down to 1: i blocks.
extern "C" __global__ void nw_up(const int *score, int *matrix, int columns, int penalty, int i, int tiles) {
    tile_of(score, matrix, columns, penalty, blockIdx.x + tiles - i, tiles - blockIdx.x - 1);
}
