/* Tests host/cuda/driver/driver.c: contexts, errors, functions found by name, and child processes of fork(). */
#include "driver.h"
#include <sys/wait.h>
#include <unistd.h>

/* Checks what needs no current context: memory and modules are freed, pools belong to the device, streams and events
 * belong to a context, but default streams do not. */
static void without_context(CUcontext primary, CUdevice device) {
    CUcontext now;
    CUdeviceptr p, pooled;
    void *pinned;
    CUmodule m;
    CUfunction add;
    CUstream s;
    CUevent before, after;
    CUmemoryPool pool;
    float time = -1;
    unsigned word = 0, one = 1;
    unsigned long long used = 9;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemHostAlloc(&pinned, 4, 0));
    OK(cuModuleLoadData(&m, text));
    OK(cuModuleGetFunction(&add, m, "add"));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&before, 0));
    OK(cuEventCreate(&after, 0));
    OK(cuCtxPopCurrent(&now));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAllocAsync(&pooled, 4, NULL));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuMemsetD32Async(p, 5, 1, NULL));
    OK(cuMemFree(p));
    OK(cuMemFreeHost(pinned));
    OK(cuMemAllocAsync(&pooled, 4, s));
    OK(cuEventRecord(before, s));
    OK(cuMemsetD32Async(pooled, 5, 1, s));
    OK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, s, (void *[]){&pooled, &one}, NULL)); /* adds 3 to one word */
    IS(CUDA_ERROR_INVALID_CONTEXT, cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&pooled, &one}, NULL));
    OK(cuMemcpyDtoHAsync(&word, pooled, 4, s));
    OK(cuEventRecord(after, s));
    OK(cuStreamWaitEvent(s, after, 0));
    OK(cuStreamSynchronize(s));
    OK(cuEventSynchronize(after));
    OK(cuEventElapsedTime(&time, before, after));
    WANT(word == 8 && time >= 0);
    OK(cuMemFreeAsync(pooled, s));
    OK(cuEventDestroy(before));
    OK(cuEventDestroy(after));
    OK(cuStreamDestroy(s));
    OK(cuModuleUnload(m));
    OK(cuDeviceGetDefaultMemPool(&pool, device));
    OK(cuDeviceSetMemPool(device, pool));
    OK(cuDeviceGetMemPool(&pool, device));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    WANT(used == 0);
    OK(cuCtxSetCurrent(primary));
}

/* Checks that memory and streams belong to the context that was current when they were made. */
static void owners(CUcontext primary, CUdevice device) {
    CUcontext other, now, of = NULL;
    CUdeviceptr first, second;
    void *pinned;
    CUstream s;
    OK(cuMemAlloc(&first, 4));
    OK(cuCtxCreate_v2(&other, 0, device));
    OK(cuMemAlloc(&second, 8));
    OK(cuMemHostAlloc(&pinned, 4, 0));
    OK(cuStreamCreate(&s, 0));
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, first));
    WANT(of == primary);
    OK(cuCtxPopCurrent(&now));
    OK(cuCtxPopCurrent(&now));
    WANT(now == primary);
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, second + 4)); /* needs no current context */
    WANT(of == other);
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, first));
    WANT(of == primary);
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)pinned));
    WANT(of == other);
    of = NULL;
    OK(cuStreamGetCtx(s, &of));
    WANT(of == other);
    OK(cuStreamDestroy(s));
    OK(cuMemFree(first));
    OK(cuMemFree(second));
    OK(cuMemFreeHost(pinned));
    OK(cuCtxSetCurrent(primary));
    OK(cuMemAlloc(&first, 8)); /* often the address of `second` */
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, first));
    WANT(of == primary);
    OK(cuMemFree(first));
    OK(cuCtxDestroy(other));
}

void contexts(CUdevice device) {
    CUcontext primary, other, now;
    OK(cuCtxGetCurrent(&now));
    WANT(now == NULL);
    CUdeviceptr p;
    IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    OK(cuCtxCreate_v2(&other, 0, device));
    OK(cuCtxGetCurrent(&now));
    WANT(now == other);
    OK(cuDevicePrimaryCtxRetain(&primary, device));
    OK(cuCtxPushCurrent(primary));
    OK(cuCtxPopCurrent(&now));
    WANT(now == primary);
    OK(cuCtxGetCurrent(&now));
    WANT(now == other);
    OK(cuCtxDestroy(other));
    OK(cuCtxGetCurrent(&now));
    WANT(now == NULL);
    OK(cuCtxSetCurrent(primary));
    CUdevice of = 7;
    OK(cuCtxGetDevice(&of));
    WANT(of == device);
    without_context(primary, device);
    owners(primary, device);
    OK(cuDevicePrimaryCtxReset(device)); /* does not change the number of retains */
    OK(cuDevicePrimaryCtxRelease(device));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
}

/* Checks that a child of fork() has no GPU: a child has none of the threads of its parent. */
void forked(CUdevice device) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr p;
        int was = mistakes;
        IS(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
        IS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
        IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
        fflush(stdout);
        _exit(mistakes != was);
    }
    int status = 1;
    WANT(waitpid(child, &status, 0) == child && status == 0);
}

void errors(void) {
    int value;
    CUmodule m;
    char log[400] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    IS(CUDA_ERROR_INVALID_PTX,
       cuModuleLoadDataEx(&m, ".version 6.0\n.target sm_20\n.entry k() { bad bad }\n", 2, names, values));
    WANT(strstr(log, "bad") && (size_t)values[1] == strlen(log));
    const char *name = NULL, *text_of = NULL;
    OK(cuGetErrorName((CUresult)CUDA_ERROR_NOT_FOUND, &name));
    WANT(strcmp(name, "CUDA_ERROR_NOT_FOUND") == 0);
    OK(cuGetErrorString((CUresult)CUDA_ERROR_NOT_FOUND, &text_of));
    WANT(strcmp(text_of, "named symbol not found") == 0);
    IS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &name));
    IS(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)1, 0, 0));
    IS(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)1, 0, 0));
}

void entries(void) {
    CUresult (*init)(unsigned) = NULL, (*alloc)(CUdeviceptr *, size_t) = NULL;
    CUdeviceptr p = 0;
    OK(cuGetProcAddress_v2("cuInit", (void **)&init, 12000, 0, NULL));
    OK(init(0));
    OK(cuGetProcAddress_v2("cuMemAlloc", (void **)&alloc, 12000, 0, NULL));
    OK(alloc(&p, 1 << 20));
    WANT(p > 0);
    OK(cuMemFree(p));
    IS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2("cuNothing", (void **)&init, 12000, 0, NULL));
}
