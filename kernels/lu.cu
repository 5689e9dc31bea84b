// lu: LU decomposition without pivoting of an n x n row-major matrix, n a multiple of 16, in place, step by step along
// the diagonal's blocks of 16 x 16: lu_diagonal factors the block at (at, at), lu_perimeter the blocks right of it and
// below it, and lu_internal subtracts their product from each remaining block. The program of lud, here compiled by
// nvcc: loops of known length are fully unrolled, others four times, so that sums are chains.
// From: Rodinia, lud (lud_diagonal, lud_perimeter, lud_internal).
// Divergence: lu_diagonal: in a loop an if without else for the threads below the pivot, around a loop, and one
//   right of it. lu_perimeter: an if and else of equal weight over the halves of the warp to load, to compute and
//   to store. lu_internal: none. Nesting: 2, 1 and 0.
// Instructions after reconvergence: 2 and 3 (barrier, test) in lu_diagonal, 4 (barrier, test) after the first two of
//   lu_perimeter, none after its third.
// Barriers: 2 a step in lu_diagonal, 1; 2; 1. Block: 16 x 1, 32 x 1, 16 x 16. Shared memory: 1, 3 and 2 KiB.
// Contraction: left to nvcc.
enum { BLOCK = 16 };

extern "C" __global__ void lu_diagonal(float *a, int n, int at) {
    __shared__ float own[BLOCK][BLOCK];
    int t = threadIdx.x;
    float *corner = a + at * n + at;
    for (int i = 0; i < BLOCK; i++)
        own[i][t] = corner[i * n + t];
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < BLOCK - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++)
                own[t][i] -= own[t][j] * own[j][i];
            own[t][i] /= own[i][i];
        }
        __syncthreads();
        if (t > i)
            for (int j = 0; j < i + 1; j++)
                own[i + 1][t] -= own[i + 1][j] * own[j][t];
        __syncthreads();
    }
    for (int i = 1; i < BLOCK; i++)
        corner[i * n + t] = own[i][t];
}

extern "C" __global__ void lu_perimeter(float *a, int n, int at) {
    __shared__ float pivot[BLOCK][BLOCK], right[BLOCK][BLOCK], below[BLOCK][BLOCK];
    int t = threadIdx.x, lane = t % BLOCK;
    float *corner = a + at * n + at, *row = corner + (blockIdx.x + 1) * BLOCK;
    float *column = corner + (blockIdx.x + 1) * BLOCK * n;
    if (t < BLOCK) {
        for (int i = 0; i < BLOCK / 2; i++)
            pivot[i][lane] = corner[i * n + lane];
        for (int i = 0; i < BLOCK; i++)
            right[i][lane] = row[i * n + lane];
    } else {
        for (int i = BLOCK / 2; i < BLOCK; i++)
            pivot[i][lane] = corner[i * n + lane];
        for (int i = 0; i < BLOCK; i++)
            below[i][lane] = column[i * n + lane];
    }
    __syncthreads();
    if (t < BLOCK) {
        for (int i = 1; i < BLOCK; i++)
            for (int j = 0; j < i; j++)
                right[i][lane] -= pivot[i][j] * right[j][lane];
    } else {
        for (int i = 0; i < BLOCK; i++) {
            for (int j = 0; j < i; j++)
                below[lane][i] -= below[lane][j] * pivot[j][i];
            below[lane][i] /= pivot[i][i];
        }
    }
    __syncthreads();
    if (t < BLOCK) {
        for (int i = 1; i < BLOCK; i++)
            row[i * n + lane] = right[i][lane];
    } else {
        for (int i = 0; i < BLOCK; i++)
            column[i * n + lane] = below[i][lane];
    }
}

extern "C" __global__ void lu_internal(float *a, int n, int at) {
    __shared__ float right[BLOCK][BLOCK], below[BLOCK][BLOCK];
    int x = threadIdx.x, y = threadIdx.y;
    float *corner = a + at * n + at, *row = corner + (blockIdx.x + 1) * BLOCK;
    float *column = corner + (blockIdx.y + 1) * BLOCK * n;
    right[y][x] = row[y * n + x];
    below[y][x] = column[y * n + x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += below[y][i] * right[i][x];
    column[(blockIdx.x + 1) * BLOCK + y * n + x] -= sum;
}
