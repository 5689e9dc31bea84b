/* Tests host/cuda/driver/driver_memory.c: allocation, copies and fills of memory. */
#include "driver.h"
#include <sys/mman.h>
#ifndef WITH_HEADER
typedef struct {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *);
#endif

void memory(void) {
    CUdeviceptr p, q, begin;
    size_t pitch, bytes, unused, before;
    int host[N], type = 0;
    OK(cuMemGetInfo(&before, &bytes));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemGetInfo(&unused, &bytes));
    WANT(unused <= before - sizeof host && unused <= bytes);
    OK(cuMemGetAddressRange(&begin, &bytes, p + 40));
    WANT(begin == p && bytes == sizeof host);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    WANT(type == CU_MEMORYTYPE_DEVICE);
    IS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host));
    OK(cuMemsetD32(p, 0x01020304, N));
    OK(cuMemsetD16(p + 4, 0x0506, 1));
    OK(cuMemsetD8(p + 7, 9, 1));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(host[0] == 0x01020304 && host[1] == 0x09020506 && host[N - 1] == 0x01020304);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 1, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p, sizeof host + 4096));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&q, 0));
    /* copies 3 rows of 5 bytes, which begin at byte 2 of row 1; the source has rows of 10 bytes */
    char from[40], to[15];
    for (int i = 0; i < 40; i++)
        from[i] = (char)i;
    OK(cuMemAllocPitch(&q, &pitch, 5, 3, 4));
    CUDA_MEMCPY2D c = {.srcXInBytes = 2,
                       .srcY = 1,
                       .srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = 10,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = q,
                       .dstPitch = pitch,
                       .WidthInBytes = 5,
                       .Height = 3};
    OK(cuMemcpy2D(&c));
    CUDA_MEMCPY2D d = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = q,
                       .srcPitch = pitch,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = to,
                       .dstPitch = 5,
                       .WidthInBytes = 5,
                       .Height = 3};
    OK(cuMemcpy2D(&d));
    WANT(to[0] == 12 && to[4] == 16 && to[5] == 22 && to[14] == 36);
    OK(cuMemFree(q));
    /* copies two planes of two rows of 4 bytes, within one context; the source has planes of 3 rows of 8 bytes */
    CUcontext now;
    OK(cuCtxGetCurrent(&now));
    CUDA_MEMCPY3D_PEER b = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = p,
                            .srcContext = now,
                            .srcPitch = 8,
                            .srcHeight = 3,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = p + 200,
                            .dstContext = now,
                            .dstPitch = 4,
                            .dstHeight = 2,
                            .WidthInBytes = 4,
                            .Height = 2,
                            .Depth = 2};
    for (int i = 0; i < N; i++)
        host[i] = i;
    OK(cuMemcpyHtoD(p, host, sizeof host));
    OK(cuMemcpy3DPeer(&b));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(host[50] == 0 && host[51] == 2 && host[52] == 6 && host[53] == 8 && host[54] == 54);
    OK(cuMemFree(p));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}

/* Checks that host memory in the first 256 MiB has another address for kernels, because the device's windows are at
 * these addresses. */
void low_memory(CUmodule m) {
    CUfunction f;
    CUdeviceptr p = 0;
    int n = N, *host = mmap((void *)0x7000000, 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    WANT(host == (void *)0x7000000);
    host += 25; /* at no page's beginning */
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemHostRegister(host, N * sizeof *host, 0));
    WANT(cuMemHostRegister(host, N * sizeof *host, 0) != CUDA_SUCCESS);
    OK(cuMemHostGetDevicePointer(&p, host, 0));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    OK(cuCtxSynchronize());
    WANT(sum(host) == 100 * 5);
    OK(cuMemHostGetDevicePointer(&p, host + 99, 0));
    n = 1;
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    WANT(host[98] == 5 && host[99] == 10);
    OK(cuMemHostUnregister(host));
    WANT(cuMemHostUnregister(host) != CUDA_SUCCESS);
    munmap((void *)0x7000000, 4096);
}
