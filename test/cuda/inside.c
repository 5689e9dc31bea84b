/* Replaces libcudart_static.a in programs that the tests compile. The functions have the names of the runtime's
 * functions and must never run. RUNTIME is the major version of the runtime that this file replaces. */
#include <stdio.h>
#include <unistd.h>

#define INSIDE(name)                                                                                                   \
    __attribute__((visibility("hidden"))) int name(void);                                                              \
    int name(void) {                                                                                                   \
        __asm__ volatile(".skip 64, 0x90");                                                                            \
        dprintf(1, "%s of the program's own runtime was called\n", #name);                                             \
        _exit(99);                                                                                                     \
    }
INSIDE(libcudart_static_0)
INSIDE(__cudaRegisterFatBinary)
INSIDE(__cudaRegisterFatBinaryEnd)
INSIDE(__cudaUnregisterFatBinary)
INSIDE(__cudaRegisterFunction)
INSIDE(__cudaRegisterVar)
INSIDE(__cudaRegisterManagedVar)
INSIDE(__cudaPushCallConfiguration)
INSIDE(__cudaPopCallConfiguration)
INSIDE(cudaLaunchKernel)
INSIDE(__cudaGetKernel)
INSIDE(__cudaLaunchKernel)
INSIDE(cudaMalloc)
INSIDE(cudaMemset)
INSIDE(cudaMemcpy)
INSIDE(cudaMemcpyFromSymbol)
INSIDE(cudaGetSymbolAddress)
INSIDE(cudaDeviceSynchronize)
INSIDE(cudaGetDeviceProperties)
INSIDE(cudaRuntimeGetVersion)
INSIDE(cudaGetErrorName)
INSIDE(cudaGetLastError)
INSIDE(cudaOfTheFuture)
INSIDE(__cudaRegisterTexture)
INSIDE(cudaBindTexture) /* CUDA 12 and 13 lack this function; for them, the tests define another name */
INSIDE(cudaBindTextureToArray)
INSIDE(cudaUnbindTexture)
INSIDE(cudaMallocArray)
INSIDE(cudaMemcpy2DToArray)
#if RUNTIME == 12
INSIDE(cudaGetDeviceProperties_v2)
#endif
INSIDE(libcudart_static_1)
