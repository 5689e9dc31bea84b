// The example of "Decoupled Affine Computation for SIMT GPUs", Figure 4.
extern "C" __global__ void example(const int *A, int *B, int dim, int num) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < dim; i++) {
        int tmp = A[i * num + tid];
        B[i * num + tid] = tmp + 1;
    }
}
