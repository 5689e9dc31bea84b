// Loads libraries of kernels at run time (CUDA 12) with the runtime API and the driver API, from PTX text and from a
// fat binary. Also tests wrong calls. usage: libraries saxpy.fatbin
#include "mistakes.h"
#include <cstring>
#include <cuda.h>
#include <string>
#include <vector>

static const char text[] = R"(
.version 6.4
.target sm_52
.address_size 64
.global .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .attribute(.managed) .align 8 .u64 shared_word;
.visible .entry from_table(.param .u64 to, .param .u32 times)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [times];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    mov.u64 %rd3, table;
    add.s64 %rd4, %rd3, %rd2;
    ld.global.u32 %r3, [%rd4];
    mul.lo.s32 %r4, %r3, %r1;
    add.s64 %rd5, %rd1, %rd2;
    st.global.u32 [%rd5], %r4;
    ret;
}
.visible .entry large(.param .align 4 .b8 five[20])
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    .shared .align 4 .b8 room[4096];
    ld.param.u32 %r1, [five+16];
    cvt.u64.u32 %rd1, %r1;
    st.global.u64 [shared_word], %rd1;
    st.shared.u32 [room], %r1;
    ret;
}
)";

__global__ void own(int *p) { *p = 7; }

static void runtimes(const char *fatbin) {
    cudaLibrary_t library, other;
    cudaKernel_t kernel, all[4] = {}, none;
    unsigned n = 0;
    OK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&n, library));
    WANT(n == 2);
    OK(cudaLibraryEnumerateKernels(all, 4, library));
    OK(cudaLibraryGetKernel(&kernel, library, "from_table"));
    WANT((all[0] == kernel) != (all[1] == kernel) && !all[2]);
    int *p, seen[4];
    unsigned times = 3;
    OK(cudaMalloc(&p, sizeof seen));
    void *args[] = {&p, &times};
    OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(4), args, 0, 0));
    OK(cudaMemcpy(seen, p, sizeof seen, cudaMemcpyDeviceToHost));
    WANT(seen[0] == 30 && seen[3] == 120);
    // the library's variables, which the host writes and the kernel reads
    void *table;
    size_t bytes;
    unsigned five = 5;
    OK(cudaLibraryGetGlobal(&table, &bytes, library, "table"));
    WANT(bytes == 16);
    OK(cudaMemcpy((char *)table + 4, &five, 4, cudaMemcpyHostToDevice));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(4);
    OK(cudaLaunchKernelExC(&config, (const void *)kernel, args));
    OK(cudaMemcpy(seen, p, sizeof seen, cudaMemcpyDeviceToHost));
    WANT(seen[1] == 15 && seen[2] == 90);
    unsigned long long *word;
    OK(cudaLibraryGetManaged((void **)&word, &bytes, library, "shared_word"));
    WANT(bytes == 8 && *word == 0);
    cudaPointerAttributes about;
    OK(cudaPointerGetAttributes(&about, word));
    WANT(about.type == cudaMemoryTypeManaged && about.hostPointer == word);
    int list[5] = {1, 2, 3, 4, 55};
    void *by_value[] = {list};
    OK(cudaLibraryGetKernel(&all[2], library, "large"));
    OK(cudaLaunchKernel((const void *)all[2], dim3(1), dim3(1), by_value, 0, 0));
    OK(cudaDeviceSynchronize());
    WANT(*word == 55);
    FAILS(cudaErrorSymbolNotFound, cudaLibraryGetManaged((void **)&word, &bytes, library, "table"));
    FAILS(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(&table, &bytes, library, "nothing"));
    FAILS(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&none, library, "nothing"));
    FAILS(cudaErrorSymbolNotFound, cudaLibraryGetUnifiedFunction(&table, library, "large"));
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, (const void *)all[2]));
    WANT(a.sharedSizeBytes == 4096);
    OK(cudaKernelSetAttributeForDevice(all[2], cudaFuncAttributeMaxDynamicSharedMemorySize, 50000, 0));
    FAILS(cudaErrorInvalidDevice,
          cudaKernelSetAttributeForDevice(all[2], cudaFuncAttributeMaxDynamicSharedMemorySize, 50000, 1));
    OK(cudaFuncGetAttributes(&a, (const void *)all[2]));
    WANT(a.maxDynamicSharedSizeBytes == 50000);
    // a file with PTX for several architectures
    OK(cudaLibraryLoadFromFile(&other, fatbin, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, other, "_Z5saxpyifPKfPf"));
    FAILS(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&none, other, "from_table"));
    FAILS(cudaErrorFileNotFound, cudaLibraryLoadFromFile(&other, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    FAILS(cudaErrorInvalidValue, cudaLibraryLoadData(NULL, text, NULL, NULL, 0, NULL, NULL, 0));
    FAILS(cudaErrorInvalidPtx,
          cudaLibraryLoadData(&library, ".version 6.4\n.target sm_52\nnonsense", NULL, NULL, 0, NULL, NULL, 0));
    // a kernel of the program itself, and a kernel of an unloaded library
    OK(cudaGetKernel(&kernel, (const void *)own));
    void *one[] = {&p};
    OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), one, 0, 0));
    OK(cudaMemcpy(seen, p, 4, cudaMemcpyDeviceToHost));
    WANT(seen[0] == 7);
    OK(cudaLibraryUnload(library));
    FAILS(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));
    FAILS(cudaErrorInvalidResourceHandle, cudaLibraryGetKernelCount(&n, library));
    FAILS(cudaErrorInvalidResourceHandle, cudaLibraryUnload((cudaLibrary_t)p));
    WANT(cudaLaunchKernel((const void *)all[2], dim3(1), dim3(1), by_value, 0, 0) != cudaSuccess);
    WANT(cudaGetLastError() != cudaSuccess);
    OK(cudaFree(p));
}

static void drivers(void) {
    CUlibrary library, found;
    CUkernel kernel, all[2];
    CUfunction function;
    CUmodule module;
    CUdeviceptr p, at;
    size_t bytes, offset;
    unsigned n = 0, times = 2;
    int value, seen[4];
    const char *name;
    char log[400] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
    void *values[] = {log, (void *)sizeof log, (void *)16};
    std::string wrong(text);
    wrong.replace(wrong.find(".entry"), 6, ".entri");
    WANT(cuLibraryLoadData(&library, wrong.c_str(), options, values, 2, NULL, NULL, 0) == CUDA_ERROR_INVALID_PTX);
    WANT(strstr(log, "entri") != NULL);
    values[1] = (void *)sizeof log;
    CUlibraryOption keep[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
    void *yes[] = {(void *)1};
    WANT(cuLibraryLoadData(&library, text, options, values, 3, keep, yes, 1) == CUDA_SUCCESS);
    WANT(cuLibraryLoadData(&library, text, options, values, 3, NULL, NULL, 1) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuLibraryGetKernelCount(&n, library) == CUDA_SUCCESS && n == 2);
    WANT(cuLibraryEnumerateKernels(all, 2, library) == CUDA_SUCCESS);
    WANT(cuLibraryGetKernel(&kernel, library, "from_table") == CUDA_SUCCESS);
    WANT(cuLibraryGetKernel(&kernel, library, "table") == CUDA_ERROR_NOT_FOUND);
    WANT(cuKernelGetLibrary(&found, kernel) == CUDA_SUCCESS && found == library);
    WANT(cuKernelGetName(&name, kernel) == CUDA_SUCCESS && strcmp(name, "from_table") == 0);
    WANT(cuKernelGetParamInfo(kernel, 1, &offset, &bytes) == CUDA_SUCCESS && offset == 8 && bytes == 4);
    WANT(cuKernelGetParamInfo(kernel, 2, &offset, &bytes) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0) == CUDA_SUCCESS);
    WANT(value == 1024);
    WANT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0) == CUDA_SUCCESS && value <= 16);
    WANT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 3) == CUDA_ERROR_INVALID_DEVICE);
    WANT(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, 0) == CUDA_SUCCESS);
    WANT(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 10, kernel, 0) == CUDA_ERROR_INVALID_VALUE);
    WANT(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0) == CUDA_SUCCESS);
    WANT(cuMemAlloc(&p, 16) == CUDA_SUCCESS);
    void *args[] = {&p, &times};
    // launches a CUkernel in place of a CUfunction, and then the function of this CUkernel
    WANT(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 4, 1, 1, 0, NULL, args, NULL) == CUDA_SUCCESS);
    WANT(cuMemcpyDtoH(seen, p, 16) == CUDA_SUCCESS && seen[1] == 40 && seen[3] == 80);
    times = 4;
    WANT(cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS);
    WANT(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 60000, NULL, args, NULL) == CUDA_SUCCESS);
    WANT(cuMemcpyDtoH(seen, p, 16) == CUDA_SUCCESS && seen[1] == 80);
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 2;
    times = 5;
    WANT(cuLaunchKernelEx(&config, (CUfunction)kernel, args, NULL) == CUDA_SUCCESS);
    WANT(cuMemcpyDtoH(seen, p, 16) == CUDA_SUCCESS && seen[1] == 100 && seen[3] == 160);
    WANT(cuLibraryGetGlobal(&at, &bytes, library, "table") == CUDA_SUCCESS && bytes == 16);
    WANT(cuLibraryGetManaged(&at, NULL, library, "shared_word") == CUDA_SUCCESS);
    WANT(cuLibraryGetManaged(NULL, NULL, library, "shared_word") == CUDA_ERROR_INVALID_VALUE);
    WANT(cuLibraryGetModule(&module, library) == CUDA_SUCCESS);
    WANT(cuModuleGetFunction(&function, module, "large") == CUDA_SUCCESS);
    WANT(cuModuleGetFunctionCount(&n, module) == CUDA_SUCCESS && n == 2);
    CUfunction both[2] = {};
    WANT(cuModuleEnumerateFunctions(both, 2, module) == CUDA_SUCCESS && both[0] && both[1] && both[0] != both[1]);
    WANT(cuModuleUnload(module) == CUDA_ERROR_NOT_PERMITTED);
    WANT(cuLibraryUnload(library) == CUDA_SUCCESS);
    WANT(cuLibraryGetModule(&module, library) == CUDA_ERROR_INVALID_HANDLE);
    WANT(cuModuleEnumerateFunctions(both, 2, module) == CUDA_ERROR_INVALID_HANDLE);
    WANT(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 4, 1, 1, 0, NULL, args, NULL) == CUDA_ERROR_INVALID_HANDLE);
    // the module of a kernel of the program itself
    OK(cudaGetFuncBySymbol(&function, (const void *)own));
    WANT(cuFuncGetModule(&module, function) == CUDA_SUCCESS);
    WANT(cuModuleGetFunction(&both[0], module, "_Z3ownPi") == CUDA_SUCCESS && both[0] == function);
    WANT(cuModuleUnload(module) == CUDA_ERROR_NOT_PERMITTED);
    WANT(cuMemFree(p) == CUDA_SUCCESS);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return printf("usage: libraries saxpy.fatbin\n"), 2;
    runtimes(argv[1]);
    drivers();
    return done();
}
