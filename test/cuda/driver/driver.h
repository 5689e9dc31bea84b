#ifndef DRIVER_H
#define DRIVER_H
/* A program that tests the driver API and prints each wrong result. It has a file for each file of host/cuda/driver. It
 * is compiled with the toolkit's cuda.h (-DWITH_HEADER), and without any header of CUDA. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef WITH_HEADER
#include <cuda.h>
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice); /* CUDA 13 has it in the library, not in the header */
#else
typedef int CUresult, CUdevice;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct pool *CUmemoryPool;
typedef struct link_state *CUlinkState;
typedef struct graph *CUgraph;
typedef struct graph_exec *CUgraphExec;
typedef unsigned long long CUdeviceptr;
typedef int CUjit_option, CUjitInputType, CUdevice_attribute, CUfunction_attribute, CUdevice_P2PAttribute;
typedef struct {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE };
enum { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6, CU_JIT_INPUT_PTX = 1 };
enum { CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2 };
enum { CU_POINTER_ATTRIBUTE_CONTEXT = 1 };
enum { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_INVALID_DEVICE = 101 };
enum { CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_INVALID_PTX = 218, CUDA_ERROR_INVALID_HANDLE = 400 };
enum { CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_ILLEGAL_ADDRESS = 700, CUDA_ERROR_NOT_SUPPORTED = 801 };
enum { CU_STREAM_CAPTURE_MODE_GLOBAL, CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7 };
#define CU_LAUNCH_PARAM_END            ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)
#define cuMemAlloc                     cuMemAlloc_v2
#define cuMemAllocPitch                cuMemAllocPitch_v2
#define cuMemFree                      cuMemFree_v2
#define cuMemGetInfo                   cuMemGetInfo_v2
#define cuMemHostRegister              cuMemHostRegister_v2
#define cuMemHostGetDevicePointer      cuMemHostGetDevicePointer_v2
#define cuMemcpyHtoD                   cuMemcpyHtoD_v2
#define cuMemcpyDtoH                   cuMemcpyDtoH_v2
#define cuMemcpyHtoDAsync              cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync              cuMemcpyDtoHAsync_v2
#define cuMemcpy2D                     cuMemcpy2D_v2
#define cuMemsetD8                     cuMemsetD8_v2
#define cuMemsetD16                    cuMemsetD16_v2
#define cuMemsetD32                    cuMemsetD32_v2
#define cuMemGetAddressRange           cuMemGetAddressRange_v2
#define cuModuleGetGlobal              cuModuleGetGlobal_v2
#define cuCtxPushCurrent               cuCtxPushCurrent_v2
#define cuCtxPopCurrent                cuCtxPopCurrent_v2
#define cuCtxDestroy                   cuCtxDestroy_v2
#define cuDevicePrimaryCtxRelease      cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset        cuDevicePrimaryCtxReset_v2
#define cuStreamDestroy                cuStreamDestroy_v2
#define cuEventDestroy                 cuEventDestroy_v2
#define cuLinkCreate                   cuLinkCreate_v2
#define cuLinkAddData                  cuLinkAddData_v2
#define cuLinkAddFile                  cuLinkAddFile_v2
#define cuStreamBeginCapture           cuStreamBeginCapture_v2
CUresult cuInit(unsigned), cuDriverGetVersion(int *), cuDeviceGet(CUdevice *, int), cuDeviceGetCount(int *);
CUresult cuDeviceGetName(char *, int, CUdevice), cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice), cuDevicePrimaryCtxRelease(CUdevice);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuCtxDestroy(CUcontext), cuCtxSynchronize(void);
CUresult cuCtxPushCurrent(CUcontext), cuCtxPopCurrent(CUcontext *), cuCtxSetCurrent(CUcontext);
CUresult cuCtxGetCurrent(CUcontext *), cuCtxGetDevice(CUdevice *);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleUnload(CUmodule);
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, CUjit_option *, void **);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuModuleGetGlobal(CUdeviceptr *, size_t *, CUmodule, const char *);
CUresult cuLinkCreate(unsigned, CUjit_option *, void **, CUlinkState *), cuLinkDestroy(CUlinkState);
CUresult cuLinkAddData(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *, void **);
CUresult cuLinkComplete(CUlinkState, void **, size_t *);
CUresult cuLinkAddFile(CUlinkState, CUjitInputType, const char *, unsigned, CUjit_option *, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   CUstream, void **);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuMemAlloc(CUdeviceptr *, size_t), cuMemFree(CUdeviceptr), cuMemGetInfo(size_t *, size_t *);
CUresult cuMemAllocPitch(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream), cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice), cuDeviceGetMemPool(CUmemoryPool *, CUdevice);
CUresult cuDeviceSetMemPool(CUdevice, CUmemoryPool), cuMemPoolGetAttribute(CUmemoryPool, int, void *);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned), cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemHostRegister(void *, size_t, unsigned), cuMemHostUnregister(void *);
CUresult cuStreamGetCtx(CUstream, CUcontext *);
CUresult cuMemHostGetDevicePointer(CUdeviceptr *, void *, unsigned);
CUresult cuMemFreeHost(void *), cuMemGetAddressRange(CUdeviceptr *, size_t *, CUdeviceptr);
CUresult cuMemcpyHtoD(CUdeviceptr, const void *, size_t), cuMemcpyDtoH(void *, CUdeviceptr, size_t);
CUresult cuMemcpyHtoDAsync(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoHAsync(void *, CUdeviceptr, size_t, CUstream), cuMemcpy2D(const CUDA_MEMCPY2D *);
CUresult cuMemsetD8(CUdeviceptr, unsigned char, size_t), cuMemsetD16(CUdeviceptr, unsigned short, size_t);
CUresult cuMemsetD32(CUdeviceptr, unsigned, size_t), cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamDestroy(CUstream), cuStreamSynchronize(CUstream);
CUresult cuStreamBeginCapture(CUstream, int), cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long), cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec), cuGraphDestroy(CUgraph);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned), cuDevicePrimaryCtxReset(CUdevice);
CUresult cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream), cuEventSynchronize(CUevent);
CUresult cuEventElapsedTime(float *, CUevent, CUevent), cuEventDestroy(CUevent);
CUresult cuFuncGetAttribute(int *, CUfunction_attribute, CUfunction);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t);
CUresult cuGetErrorName(CUresult, const char **), cuGetErrorString(CUresult, const char **);
CUresult cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
CUresult cuDeviceGetP2PAttribute(int *, CUdevice_P2PAttribute, CUdevice, CUdevice);
#endif
CUresult cuStreamGetCaptureInfo_v2(CUstream, int *, unsigned long long *, CUgraph *, const void **, size_t *);

extern int mistakes;
void want(int right, const char *what, int line, const char *file);
#define WANT(x)  want(x, #x, __LINE__, __FILE__)
#define OK(x)    WANT((x) == CUDA_SUCCESS)
#define IS(e, x) WANT((x) == (e))

enum { N = 100 };
int sum(const int *p);    /* of N */
extern const char text[]; /* PTX of a module with the variable `step`, initially 3, and the kernel add(p, n) */

/* These tests are in driver.c and driver_device.c. */
void contexts(CUdevice device);
void forked(CUdevice device);
void errors(void);
void entries(void);
void devices(CUdevice device);
/* These tests are in driver_memory.c. `m` is the module with `text`. */
void memory(void);
void low_memory(CUmodule m);
/* These tests are in driver_module.c. `folder` is the folder of the fixtures. */
void linking(void);
void fewer_registers(void);
void grids(void);
void libraries(const char *folder);
/* These tests are in driver_launch.c and driver_old.c. kernels() sets the variable `step` to 5. */
void kernels(CUmodule m);
void fault(CUmodule m);
void old_launches(CUmodule m);
/* These tests are in driver_stream.c. */
void captures(CUmodule m);
void capture_abandoned(CUmodule m);
void times(CUmodule m);
/* These tests are in driver_array.c and driver_texture.c. */
void arrays(void);
void textures(void);
#endif
