// spmv: y = A x, A sparse in compressed rows (CSR). One thread a row.
// From: Parboil, spmv, which keeps rows transposed and sorted by length (JDS); CSR with one thread a row is the scalar
//   kernel of SHOC, spmv, and has the same control flow.
// Divergence: an if without else (ragged end of the grid) around a loop whose trip count is the row's length: with
//   rows of power-law lengths a warp waits for its longest row, and most lanes are idle. Nesting: 2.
// Instructions after reconvergence: after the loop 4 instructions (address, store), after the if none.
// Barriers: none. Block: 192 x 1 (Parboil 256 on newer, 32 and 192 on older devices). Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
extern "C" __global__ void spmv(const int *first, const int *column, const float *value, const float *x, float *y,
                                int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
#pragma unroll 1
        for (int i = first[row]; i < first[row + 1]; i++)
            sum = fmaf(value[i], x[column[i]], sum);
        y[row] = sum;
    }
}
