/* Uses each part of the CUDA runtime that programs use. Prints each wrong result, and the number of mistakes. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
static int wrong;
#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            printf("line %d: %s\n", __LINE__, #x);                                                                     \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)
#define FINE(x)                                                                                                        \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_) {                                                                                                      \
            printf("line %d: %s: %s\n", __LINE__, #x, cudaGetErrorName(e_));                                           \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)
__constant__ int factors[4] = {1, 2, 3, 4};
__device__ int counter;
__managed__ int managed_counter = 5;
template <typename T> __global__ void scale(T *p, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= by * factors[i & 3];
}
__global__ void count(int by) {
    atomicAdd(&counter, by);
    if (threadIdx.x == 0)
        managed_counter += 1;
}
__global__ void fill(int *p, size_t pitch, int w, int h) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < w && y < h)
        *((int *)((char *)p + y * pitch) + x) = 100 * y + x;
}
extern __shared__ int dyn[];
__global__ void reverse(int *p) {
    dyn[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = dyn[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(int *p) { p[threadIdx.x] = 1; }
struct big {
    int a[20];
    float f;
};
__global__ void by_value(big b, int *p, char c) { p[0] = b.a[7] + (int)b.f + c; }
static void host_call(void *p) { ++*(int *)p; }
static void stream_call(cudaStream_t, cudaError_t e, void *p) { *(int *)p += e == cudaSuccess; }

static void memory() {
    int h[64], r[64], *d, *d2;
    for (int i = 0; i < 64; i++)
        h[i] = i;
    FINE(cudaMalloc(&d, sizeof h));
    FINE(cudaMalloc(&d2, sizeof h));
    FINE(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    scale<int><<<2, 32>>>(d, 2, 64);
    FINE(cudaGetLastError());
    FINE(cudaMemcpy(d2, d, sizeof h, cudaMemcpyDeviceToDevice));
    FINE(cudaMemcpy(r, d2, sizeof h, cudaMemcpyDefault));
    for (int i = 0; i < 64; i++)
        CHECK(r[i] == i * 2 * ((i & 3) + 1));
    FINE(cudaMemset(d, 0x11, 16));
    FINE(cudaMemset(d + 4, 0, 16));
    FINE(cudaMemcpy(r, d, 36, cudaMemcpyDeviceToHost));
    CHECK(r[0] == 0x11111111 && r[3] == 0x11111111 && r[4] == 0 && r[7] == 0 && r[8] == 8 * 2);
    int f[4] = {5, 6, 7, 8}, g[4];
    FINE(cudaMemcpyToSymbol(factors, f, 8, 8));
    FINE(cudaMemcpyFromSymbol(g, factors, 16));
    CHECK(g[0] == 1 && g[1] == 2 && g[2] == 5 && g[3] == 6);
    void *at;
    size_t size;
    FINE(cudaGetSymbolAddress(&at, factors));
    FINE(cudaGetSymbolSize(&size, factors));
    CHECK(size == 16);
    FINE(cudaMemcpy(g, at, 16, cudaMemcpyDeviceToHost));
    CHECK(g[2] == 5);
    CHECK(cudaMemcpyToSymbol(factors, f, 8, 12) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    int *p;
    size_t pitch;
    FINE(cudaMallocPitch(&p, &pitch, 20 * 4, 5));
    CHECK(pitch >= 80 && pitch % 32 == 0);
    fill<<<5, 32>>>(p, pitch, 20, 5);
    int q[5][20];
    FINE(cudaMemcpy2D(q, 80, p, pitch, 80, 5, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 20; x++)
            CHECK(q[y][x] == 100 * y + x);
    FINE(cudaMemset2D(p, pitch, 0, 8, 5));
    FINE(cudaMemcpy2D(q, 80, p, pitch, 80, 5, cudaMemcpyDeviceToHost));
    CHECK(q[4][1] == 0 && q[4][2] == 402);
    cudaPitchedPtr v;
    FINE(cudaMalloc3D(&v, make_cudaExtent(40, 3, 2)));
    char src[2][3][40], dst[2][3][40];
    for (int i = 0; i < 240; i++)
        ((char *)src)[i] = (char)i;
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(src, 40, 40, 3);
    c.dstPtr = v;
    c.extent = make_cudaExtent(40, 3, 2);
    c.kind = cudaMemcpyHostToDevice;
    FINE(cudaMemcpy3D(&c));
    cudaMemcpy3DParms b = {};
    b.srcPtr = v;
    b.dstPtr = make_cudaPitchedPtr(dst, 40, 40, 3);
    b.extent = c.extent;
    b.kind = cudaMemcpyDeviceToHost;
    FINE(cudaMemcpy3D(&b));
    CHECK(memcmp(src, dst, 240) == 0);
    FINE(cudaFree(d));
    FINE(cudaFree(d2));
    FINE(cudaFree(p));
    FINE(cudaFree(v.ptr));
    FINE(cudaFree(0));
    size_t unused, all;
    FINE(cudaMemGetInfo(&unused, &all));
    CHECK(unused > 0 && unused <= all);
    CHECK(cudaMalloc(&d, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    cudaGetLastError();
}
static void host_memory() {
    int *m, *a, *dev, own[64] = {};
    FINE(cudaMallocManaged(&m, 256));
    FINE(cudaHostAlloc(&a, 256, cudaHostAllocMapped));
    for (int i = 0; i < 64; i++) {
        m[i] = i;
        a[i] = 2 * i;
    }
    FINE(cudaHostGetDevicePointer(&dev, a, 0));
    reverse<<<1, 64, 256>>>(m);
    reverse<<<1, 64, 256>>>(dev);
    FINE(cudaDeviceSynchronize());
    CHECK(m[0] == 63 && m[63] == 0 && a[0] == 126);
    cudaPointerAttributes w;
    FINE(cudaPointerGetAttributes(&w, m));
    CHECK(w.type == cudaMemoryTypeManaged);
    FINE(cudaPointerGetAttributes(&w, a));
    CHECK(w.type == cudaMemoryTypeHost);
    FINE(cudaPointerGetAttributes(&w, own));
    CHECK(w.type == cudaMemoryTypeUnregistered);
    FINE(cudaHostRegister(own, sizeof own, cudaHostRegisterMapped));
    FINE(cudaHostGetDevicePointer(&dev, own, 0));
    bounded<<<1, 64>>>(dev);
    FINE(cudaDeviceSynchronize());
    CHECK(own[0] == 1 && own[63] == 1);
    FINE(cudaHostUnregister(own));
    CHECK(cudaHostUnregister(own) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    int *pin;
    FINE(cudaMallocHost(&pin, 64));
    pin[3] = 4;
    FINE(cudaFreeHost(pin));
    FINE(cudaFree(m));
    FINE(cudaFreeHost(a));
    managed_counter = 10;
    count<<<1, 32>>>(3);
    FINE(cudaDeviceSynchronize());
    int n;
    FINE(cudaMemcpyFromSymbol(&n, counter, 4));
    CHECK(n == 96 && managed_counter == 11);
}
static void launches() {
    int *p, r = 0;
    FINE(cudaMalloc(&p, 1024));
    big b = {};
    b.a[7] = 40;
    b.f = 2;
    char c = 1;
    void *args[] = {&b, &p, &c};
    by_value<<<1, 1>>>(b, p, c);
    FINE(cudaMemcpy(&r, p, 4, cudaMemcpyDeviceToHost));
    CHECK(r == 43);
    b.a[7] = 50;
    FINE(cudaLaunchKernel((void *)by_value, dim3(1), dim3(1), args, 0, 0));
    FINE(cudaMemcpy(&r, p, 4, cudaMemcpyDeviceToHost));
    CHECK(r == 53);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    c = 2;
    FINE(cudaLaunchKernelEx(&config, by_value, b, p, c));
    FINE(cudaMemcpy(&r, p, 4, cudaMemcpyDeviceToHost));
    CHECK(r == 54);
    bounded<<<1, 2048>>>(p);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    FINE(cudaDeviceSynchronize());
    cudaFuncAttributes a;
    FINE(cudaFuncGetAttributes(&a, bounded));
    CHECK(a.maxThreadsPerBlock == 128 && a.numRegs > 0);
    int blocks, size, least;
    FINE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    CHECK(blocks > 0);
    FINE(cudaOccupancyMaxPotentialBlockSize(&least, &size, scale<int>));
    CHECK(least > 0 && size > 0 && size % 32 == 0);
    FINE(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096));
    FINE(cudaFuncSetCacheConfig(reverse, cudaFuncCachePreferL1));
    FINE(cudaFree(p));
}
static void streams() {
    cudaStream_t s, t;
    cudaEvent_t e, f;
    float ms = -1;
    int *p, calls = 0;
    FINE(cudaMalloc(&p, 4096));
    FINE(cudaStreamCreate(&s));
    FINE(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    FINE(cudaEventCreate(&e));
    FINE(cudaEventCreateWithFlags(&f, cudaEventDefault));
    CHECK(cudaEventElapsedTime(&ms, e, f) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    FINE(cudaEventRecord(e, s));
    FINE(cudaMemsetAsync(p, 1, 4096, s));
    scale<int><<<8, 128, 0, s>>>(p, 1, 1024);
    FINE(cudaEventRecord(f, s));
    FINE(cudaStreamWaitEvent(t, f, 0));
    FINE(cudaEventSynchronize(f));
    FINE(cudaEventElapsedTime(&ms, e, f));
    CHECK(ms > 0 && ms < 1000);
    FINE(cudaLaunchHostFunc(s, host_call, &calls));
    FINE(cudaStreamAddCallback(s, stream_call, &calls, 0));
    FINE(cudaStreamSynchronize(s));
    CHECK(calls == 2);
    FINE(cudaStreamQuery(s));
    FINE(cudaEventQuery(f));
    FINE(cudaStreamDestroy(s));
    FINE(cudaStreamDestroy(t));
    FINE(cudaEventDestroy(e));
    FINE(cudaEventDestroy(f));
    FINE(cudaFree(p));
}
static void device() {
    int n = 0, v = 0;
    cudaDeviceProp p;
    FINE(cudaGetDeviceCount(&n));
    CHECK(n == 1);
    FINE(cudaSetDevice(0));
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    cudaGetLastError();
    FINE(cudaGetDeviceProperties(&p, 0));
    CHECK(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.maxGridSize[0] == 2147483647 &&
          p.multiProcessorCount > 0 && p.major == 7 && p.minor == 5);
    CHECK(p.maxBlocksPerMultiProcessor == 16 && p.regsPerMultiprocessor == 65536 && p.managedMemory == 1 &&
          p.hostRegisterSupported == 1 && p.l2CacheSize >= 0);
    FINE(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0));
    CHECK(v == p.multiProcessorCount);
    FINE(cudaDeviceGetAttribute(&v, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(v == 7);
    FINE(cudaRuntimeGetVersion(&v));
    CHECK(v / 1000 == CUDART_VERSION / 1000);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0 &&
          strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0 &&
          strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
    FINE(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    FINE(cudaDeviceCanAccessPeer(&v, 0, 0));
    CHECK(v == 0);
    CHECK(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrPerformanceRank, 0, 0) == cudaErrorNotSupported);
    CHECK(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrPerformanceRank, 0, 0) == cudaErrorNotSupported);
    cudaGetLastError();
}
int main(int argc, char **argv) {
    device();
    memory();
    host_memory();
    launches();
    streams();
    printf("%d mistakes, %d arguments\n", wrong, argc - 1);
    FINE(cudaDeviceReset());
    return wrong != 0;
}
