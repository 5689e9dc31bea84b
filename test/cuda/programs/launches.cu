// Tests all forms of launches, and attributes, names, parameter sizes and occupancy of kernels.
#include "mistakes.h"
#include <cstring>
#include <cuda_profiler_api.h>

struct alignas(16) wide {
    double d[9];
    char c;
    float4 f;
};
struct empty {};
namespace space {
template <typename A, typename B> __global__ void mixed(A a, empty, wide w, B b, bool flag, int3 v, double *out) {
    out[threadIdx.x] = a + w.d[8] + w.c + w.f.w + b + (flag ? v.x + v.y + v.z : 0);
}
} // namespace space
__global__ void three(int3 *out) {
    int i = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y * blockDim.z +
            (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[i] = make_int3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                       blockIdx.z * blockDim.z + threadIdx.z);
}
__global__ void __launch_bounds__(256, 2) bounded(float *p) { p[threadIdx.x] *= 2; }
__global__ void stored(int *p) {
    __shared__ int here[512];
    here[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = here[blockDim.x - 1 - threadIdx.x];
}

static void forms() {
    wide w = {};
    double *out, seen = 0;
    w.d[8] = 8;
    w.c = 3;
    w.f.w = 0.5f;
    OK(cudaMalloc(&out, 64 * 8));
    space::mixed<short, float><<<1, 32>>>(7, empty(), w, 0.25f, true, make_int3(100, 200, 300), out);
    OK(cudaMemcpy(&seen, out + 31, 8, cudaMemcpyDeviceToHost));
    WANT(seen == 7 + 8 + 3 + 0.5 + 0.25 + 600);
    auto kernel = space::mixed<long long, double>;
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[3] = {};
    c.gridDim = 2;
    c.blockDim = 32;
    c.attrs = a;
    c.numAttrs = 0;
    OK(cudaLaunchKernelEx(&c, kernel, -70LL, empty(), w, 1.0, false, make_int3(1, 2, 3), out));
    OK(cudaMemcpy(&seen, out, 8, cudaMemcpyDeviceToHost));
    WANT(seen == -70 + 11.5 + 1);
    // attributes that the machine need not support
    a[0].id = cudaLaunchAttributePriority;
    a[0].val.priority = 0;
    a[1].id = cudaLaunchAttributeCooperative;
    a[1].val.cooperative = 1;
    a[2].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[2].val.programmaticStreamSerializationAllowed = 1;
    c.numAttrs = 3;
    OK(cudaLaunchKernelEx(&c, kernel, 70LL, empty(), w, 1.0, false, make_int3(1, 2, 3), out));
    OK(cudaMemcpy(&seen, out, 8, cudaMemcpyDeviceToHost));
    WANT(seen == 70 + 11.5 + 1);
    int3 *where, here[3 * 2 * 2 * 2 * 3 * 2];
    OK(cudaMalloc(&where, sizeof here));
    dim3 grid(3, 2, 2), block(2, 3, 2);
    void *args[] = {&where};
    OK(cudaLaunchKernel((const void *)three, grid, block, args, 0, cudaStreamPerThread));
    OK(cudaMemcpy(here, where, sizeof here, cudaMemcpyDeviceToHost));
    int last = 3 * 2 * 2 * 2 * 3 * 2 - 1;
    WANT(here[0].x == 0 && here[1].x == 1 && here[last].x == 5 && here[last].y == 5 && here[last].z == 3);
    WANT(here[12].x == 2 && here[12].y == 0 && here[36].x == 0 && here[36].y == 3);
    OK(cudaFree(where));
    OK(cudaFree(out));
}

static void attributes() {
    cudaFuncAttributes a;
    int blocks = 0, more = 0, least = 0, size = 0;
    OK(cudaFuncGetAttributes(&a, bounded));
    WANT(a.maxThreadsPerBlock == 256 && a.sharedSizeBytes == 0 && a.numRegs > 0 && a.binaryVersion > 0 &&
         a.ptxVersion == 75);
    OK(cudaFuncGetAttributes(&a, stored));
    WANT(a.sharedSizeBytes == 2048 && a.maxThreadsPerBlock == 1024 && a.localSizeBytes == 0 && a.constSizeBytes == 0);
    OK(cudaFuncSetCacheConfig(stored, cudaFuncCachePreferShared));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stored, 64, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&more, stored, 512, 0));
    WANT(blocks >= more && more >= 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&more, stored, 64, 20000));
    WANT(more <= blocks && more >= 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&more, stored, 64, 0,
                                                              cudaOccupancyDisableCachingOverride));
    WANT(more == blocks);
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, bounded, 0, 0));
    WANT(size == 256 && least >= 1);
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, stored, 0, 128));
    WANT(size == 128);
    cudaFunction_t f;
    OK(cudaGetFuncBySymbol(&f, (const void *)stored));
    WANT(f != NULL);
#if CUDART_VERSION >= 12030
    const char *name = NULL;
    OK(cudaFuncGetName(&name, (const void *)stored));
    WANT(name && strstr(name, "stored"));
#endif
#if CUDART_VERSION >= 12040
    size_t offset = 99, bytes = 0;
    OK(cudaFuncGetParamInfo((const void *)three, 0, &offset, &bytes));
    WANT(offset == 0 && bytes == 8);
    WANT(cudaFuncGetParamInfo((const void *)three, 1, &offset, &bytes) == cudaErrorInvalidValue);
    cudaGetLastError();
#endif
}

static void device() {
    cudaDeviceProp p, wanted = {};
    int d = -1, v = 0, driver = 0, runtime = 0, chosen = -1;
    char id[32] = "";
    size_t available = 0, all = 0, limit = 0;
    OK(cudaGetDevice(&d));
    WANT(d == 0);
    OK(cudaGetDeviceProperties(&p, 0));
    WANT(p.name[0] && p.totalGlobalMem > 0 && p.sharedMemPerBlock == 49152 && p.warpSize == 32 &&
         p.totalConstMem == 65536);
    WANT(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[2] == 64 && p.unifiedAddressing && p.canMapHostMemory);
    wanted.major = 1;
    OK(cudaChooseDevice(&chosen, &wanted));
    WANT(chosen == 0);
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    WANT(driver >= runtime && runtime >= 11000);
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    OK(cudaDeviceGetByPCIBusId(&d, id));
    WANT(d == 0);
    for (const char *form : {"0:0:0.0", "0000:00:00", "00:0.0"}) {
        d = 7;
        OK(cudaDeviceGetByPCIBusId(&d, form));
        WANT(d == 0);
    }
    for (const char *other : {"0:0:1", "0:1:0.0", "1:0:0.0", "0:0.1", "0:0", "0:0:0.0g", "0:0:0:", ""})
        FAILS(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&d, other));
    OK(cudaMemGetInfo(&available, &all));
    WANT(available <= all && all == p.totalGlobalMem);
    OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    WANT(limit > 0);
    OK(cudaDeviceGetAttribute(&v, cudaDevAttrClockRate, 0));
    WANT(v > 0);
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    cudaFuncCache config;
    OK(cudaDeviceGetCacheConfig(&config));
    WANT(config == cudaFuncCachePreferL1);
    FAILS(cudaErrorInvalidValue, cudaDeviceSetCacheConfig((cudaFuncCache)4));
    OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
}

int main() {
    device();
    forms();
    attributes();
    return done();
}
