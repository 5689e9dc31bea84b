// Uses the driver API and the runtime API, as vectorAddDrv, matrixMulDrv and simpleDrvRuntime of the CUDA samples do.
// Loads a fat binary from a file and from memory, passes arguments in both forms, and uses memory with both APIs.
// usage: driver saxpy.fatbin
#include "mistakes.h"
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <vector>

#define FINE(x)                                                                                                        \
    do {                                                                                                               \
        CUresult r_ = (x);                                                                                             \
        const char *name_ = "";                                                                                        \
        if (r_ != CUDA_SUCCESS && cuGetErrorName(r_, &name_) == CUDA_SUCCESS)                                          \
            printf("line %d: %s: %s\n", __LINE__, #x, name_), mistakes++;                                              \
    } while (0)

__global__ void doubled(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context, current;
    CUmodule from_file, from_memory;
    CUfunction saxpy, again;
    char name[100];
    int major = 0, minor = 0, n = 100, count = 0;
    if (argc < 2)
        return printf("usage: driver saxpy.fatbin\n"), 2;
    FINE(cuInit(0));
    FINE(cuDeviceGetCount(&count));
    FINE(cuDeviceGet(&device, 0));
    FINE(cuDeviceGetName(name, sizeof name, device));
    FINE(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    FINE(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    WANT(count == 1 && name[0] && major >= 2);
    FINE(cuDevicePrimaryCtxRetain(&context, device));
    FINE(cuCtxSetCurrent(context));
    FINE(cuCtxGetCurrent(&current));
    WANT(current == context);
    FINE(cuModuleLoad(&from_file, argv[1]));
    FILE *f = fopen(argv[1], "rb");
    std::vector<char> bytes(1 << 20);
    bytes.resize(f ? fread(bytes.data(), 1, bytes.size(), f) : 0);
    if (f)
        fclose(f);
    FINE(cuModuleLoadFatBinary(&from_memory, bytes.data()));
    FINE(cuModuleGetFunction(&saxpy, from_file, "_Z5saxpyifPKfPf"));
    FINE(cuModuleGetFunction(&again, from_memory, "_Z5saxpyifPKfPf"));
    WANT(cuModuleGetFunction(&again, from_memory, "nothing") == CUDA_ERROR_NOT_FOUND);
    WANT(cuModuleLoad(&from_memory, "/no/such/file") == CUDA_ERROR_FILE_NOT_FOUND);
    CUdeviceptr x, y;
    std::vector<float> hx(n), hy(n), seen(n);
    for (int i = 0; i < n; i++) {
        hx[i] = i;
        hy[i] = 1;
    }
    FINE(cuMemAlloc(&x, n * 4));
    float *ry; // allocated by the runtime API, for a kernel of the driver API
    OK(cudaMalloc(&ry, n * 4));
    y = (CUdeviceptr)ry;
    FINE(cuMemcpyHtoD(x, hx.data(), n * 4));
    OK(cudaMemcpy(ry, hy.data(), n * 4, cudaMemcpyHostToDevice));
    float a = 3;
    void *args[] = {&n, &a, &x, &y};
    CUstream stream;
    CUevent begin, end;
    FINE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    FINE(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    FINE(cuEventCreate(&end, CU_EVENT_DEFAULT));
    FINE(cuEventRecord(begin, stream));
    FINE(cuLaunchKernel(saxpy, 4, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    FINE(cuEventRecord(end, stream));
    FINE(cuEventSynchronize(end));
    float ms = 0;
    FINE(cuEventElapsedTime(&ms, begin, end));
    WANT(ms > 0);
    // launches again with packed parameters: int at 0, float at 4, pointers at 8 and 16
    char packed[24];
    size_t size = sizeof packed;
    memcpy(packed, &n, 4);
    memcpy(packed + 4, &a, 4);
    memcpy(packed + 8, &x, 8);
    memcpy(packed + 16, &y, 8);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    FINE(cuLaunchKernel(saxpy, 4, 1, 1, 32, 1, 1, 0, (CUstream)cudaStreamLegacy, NULL, extra));
    doubled<<<4, 32, 0, (cudaStream_t)stream>>>((float *)x, n);
    FINE(cuCtxSynchronize());
    FINE(cuMemcpyDtoH(seen.data(), y, n * 4));
    for (int i = 0; i < n; i++)
        WANT(seen[i] == 1 + 6 * i);
    FINE(cuMemcpyDtoHAsync(seen.data(), x, n * 4, stream));
    FINE(cuStreamSynchronize(stream));
    WANT(seen[7] == 14);
    int value = 0, blocks = 0;
    FINE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, saxpy));
    WANT(value == 1024);
    FINE(cuFuncSetAttribute(saxpy, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
    FINE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 128, 0));
    WANT(blocks >= 1);
    unsigned kind = 0;
    FINE(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x));
    WANT(kind == CU_MEMORYTYPE_DEVICE);
    CUfunction symbol; // handle of a kernel of the runtime API for the driver API
    OK(cudaGetFuncBySymbol(&symbol, (const void *)doubled));
    int ten = 10;
    void *two[] = {&x, &ten};
    FINE(cuLaunchKernel(symbol, 1, 1, 1, 32, 1, 1, 0, NULL, two, NULL));
    FINE(cuMemcpyDtoH(seen.data(), x, n * 4));
    WANT(seen[9] == 36 && seen[10] == 20);
    FINE(cuMemFree(x));
    OK(cudaFree(ry));
    FINE(cuEventDestroy(begin));
    FINE(cuEventDestroy(end));
    FINE(cuStreamDestroy(stream));
    FINE(cuModuleUnload(from_file));
    FINE(cuModuleUnload(from_memory));
    FINE(cuDevicePrimaryCtxRelease(device));
    return done();
}
