/* Tests host/cuda/driver/driver_old.c: the launch functions of CUDA 3. Block shape and parameters of a kernel stay set
 * for later launches. */
#include "driver.h"
CUresult cuFuncSetBlockShape(CUfunction, int, int, int), cuFuncSetSharedSize(CUfunction, unsigned);
CUresult cuParamSetSize(CUfunction, unsigned), cuParamSeti(CUfunction, int, unsigned);
CUresult cuParamSetv(CUfunction, int, void *, unsigned);
CUresult cuLaunch(CUfunction), cuLaunchGrid(CUfunction, int, int), cuLaunchGridAsync(CUfunction, int, int, CUstream);

void old_launches(CUmodule m) {
    CUfunction f;
    CUdeviceptr p, step;
    size_t bytes;
    int host[N];
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuModuleGetGlobal(&step, &bytes, m, "step"));
    OK(cuMemsetD32(step, 2, 1));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemsetD32(p, 0, N));
    OK(cuFuncSetBlockShape(f, 32, 1, 1));
    OK(cuFuncSetSharedSize(f, 0));
    OK(cuParamSetv(f, 0, &p, sizeof p));
    OK(cuParamSeti(f, 8, N));
    OK(cuParamSetSize(f, 12));
    OK(cuLaunchGrid(f, 4, 1));
    OK(cuLaunchGridAsync(f, 4, 1, NULL));
    OK(cuLaunch(f)); /* one block, which adds to the first 32 elements */
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(sum(host) == 2 * 2 * N + 2 * 32 && host[31] == 6 && host[32] == 4);
    OK(cuParamSeti(f, 8, 1));
    OK(cuLaunchGrid(f, 4, 1));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(host[0] == 8 && host[1] == 6);
    OK(cuParamSetSize(f, 8));
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(f, 4, 1)); /* the parameter n is missing */
    IS(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(f, 0, 1, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuParamSeti(f, 4094, 1)); /* the parameters have at most 4096 bytes */
    IS(CUDA_ERROR_INVALID_HANDLE, cuLaunch(NULL));
    OK(cuMemsetD32(step, 5, 1));
    OK(cuMemFree(p));
}
