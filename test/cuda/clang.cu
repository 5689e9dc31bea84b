// A program for clang, without any header of CUDA. It tests the functions that clang's generated code calls.
typedef __SIZE_TYPE__ size_t;
#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __host__     __attribute__((host))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef struct CUstream_st *cudaStream_t;
typedef int cudaError_t;
extern "C" {
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMemcpy(void *, const void *, size_t, int);
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
cudaError_t cudaGetLastError();
int printf(const char *, ...);
}

__constant__ float factors[2] = {2, 3};
__device__ int more = 4;

template <class T> __global__ void reversed(T *p, int n) {
    __shared__ T kept[128];
    int i = __nvvm_read_ptx_sreg_tid_x();
    kept[i] = p[i];
    __syncthreads();
    if (i < n)
        p[i] = kept[n - 1 - i] * factors[0] + factors[1] + more;
    __syncthreads();
    if (i == 0)
        more = 11;
}

// The kernel reverses the numbers 0 to 99 and computes 2 x + 5 + 4 from each number x. So the first result is 207.
int main() {
    float *p, numbers[100], other[2] = {2, 5};
    int seen = 0;
    for (int i = 0; i < 100; i++)
        numbers[i] = i;
    cudaMalloc((void **)&p, sizeof numbers);
    cudaMemcpy(p, numbers, sizeof numbers, 1);
    cudaMemcpyToSymbol(factors, other, sizeof other, 0, 1);
    reversed<<<1, 100>>>(p, 100);
    cudaError_t e = cudaGetLastError();
    cudaMemcpy(numbers, p, sizeof numbers, 2);
    cudaMemcpyFromSymbol(&seen, &more, sizeof seen, 0, 2);
    printf("%d: %g %g %d\n", e, numbers[0], numbers[99], seen);
}
