/* Tests host/cuda/driver/driver_launch.c: launches, attributes of kernels, and occupancy. */
#include "driver.h"

void kernels(CUmodule m) {
    CUfunction f, none;
    CUdeviceptr p, step;
    size_t bytes;
    int host[N] = {0}, n = N, value = -1;
    OK(cuModuleGetFunction(&f, m, "add"));
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, m, "sub"));
    OK(cuModuleGetGlobal(&step, &bytes, m, "step"));
    WANT(bytes == 4);
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, &bytes, m, "stop"));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemcpyHtoD(p, host, sizeof host));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    struct {
        CUdeviceptr p;
        int n;
    } block = {p, 10};
    size_t size = sizeof block;
    OK(cuMemsetD32(step, 5, 1));
    OK(cuLaunchKernel(
        f, 4, 1, 1, 32, 1, 1, 0, NULL, NULL,
        (void *[]){CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END}));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(sum(host) == 100 * 3 + 10 * 5);
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 4096, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    OK(cuFuncGetAttribute(&value, 0, f));
    WANT(value == 1024);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 1024, 0));
    WANT(value == 1); /* an SM of turing holds 32 warps */
    OK(cuMemFree(p));
}

/* Checks that a fault of a kernel is the error of the next calls. */
void fault(CUmodule m) {
    CUfunction f;
    CUdeviceptr p, null = 0;
    int n = N;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&p, 4 * N));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&null, &n}, NULL));
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree(p));
}
