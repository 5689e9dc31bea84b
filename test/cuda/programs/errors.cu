// Tests wrong calls: each returns its error, and cudaGetLastError() returns it again. With an argument, also tests a
// fault of a kernel, after which every call fails until the device is reset.
#include "mistakes.h"
#include <cstdlib>
#include <cstring>

__global__ void ok(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void __launch_bounds__(64) small(int *p) { *p = 1; }
__global__ void much(int *p) {
    __shared__ int a[10000];
    a[threadIdx.x] = 1;
    __syncthreads();
    p[threadIdx.x] = a[threadIdx.x ^ 1];
}
__global__ void stray(int *p, long i, int n) { p[i + threadIdx.x] = n; }
__global__ void far_call(void (*f)(int *), int *p) { f(p); }
__global__ void odd(char *p) { *(int *)(p + 1) = 5; }
__global__ void stop() { __trap(); }
__constant__ int fixed[4];

static void configurations() {
    int *p;
    OK(cudaMalloc(&p, 4096));
    ok<<<0, 32>>>(p);
    FAILS(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    ok<<<1, 1025>>>(p);
    FAILS(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    ok<<<1, dim3(1, 1, 65)>>>(p);
    FAILS(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    ok<<<dim3(1, 65536), 1>>>(p);
    FAILS(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    ok<<<1, 32, 1 << 20>>>(p);
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
    much<<<1, 32, 20000>>>(p); // the kernel has 40000 bytes of static shared memory, and the default limit is 49152
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
    small<<<1, 128>>>(p);
    WANT(cudaGetLastError() != cudaSuccess);
    WANT(cudaDeviceSynchronize() == cudaSuccess); // none of these launches has begun
    int unknown;
    FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&unknown, 1, 1, NULL, 0, 0));
    cudaFuncAttributes a;
    FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, (const void *)&unknown));
    FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol((const void *)&unknown, &a, 4));
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(fixed, &a, 20));
    ok<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
}

static void memory() {
    int *p, *q = NULL, here[16];
    size_t pitch;
    OK(cudaMalloc(&p, 64));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(here, p, 68, cudaMemcpyDeviceToHost)); // beyond the end
    FAILS(cudaErrorInvalidValue, cudaMemcpy(p + 8, here, 64, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(here, here + 1, 4, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(here, p, 4, (cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaMemset(p, 0, 65));
    FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(here, 4, p, 8, 8, 1, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMalloc((void **)NULL, 4));
    FAILS(cudaErrorInvalidValue, cudaMallocPitch((void **)NULL, &pitch, 4, 4));
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&q, (size_t)1 << 50));
    WANT(q == NULL);
    OK(cudaMalloc(&q, 0));
    WANT(q == NULL);
    FAILS(cudaErrorInvalidValue, cudaFree(p + 1)); // inside
    OK(cudaFree(p));
    FAILS(cudaErrorInvalidValue, cudaFree(p)); // twice
    FAILS(cudaErrorInvalidValue, cudaFree(here));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(here));
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    OK(cudaMemcpy(here, here + 8, 0, cudaMemcpyDeviceToHost)); // nothing
    OK(cudaHostRegister(here, sizeof here, 0));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(here, sizeof here, 0));
    OK(cudaHostUnregister(here));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(here));
}

static void handles() {
    cudaStream_t s;
    cudaEvent_t e, f;
    float ms;
    int n;
    OK(cudaEventCreate(&e));
    OK(cudaEventCreate(&f));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, f)); // the events are not recorded yet
    OK(cudaEventQuery(e));
    OK(cudaEventDestroy(e));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventDestroy(NULL));
    OK(cudaEventDestroy(f));
    FAILS(cudaErrorInvalidValue, cudaStreamCreate(NULL));
    FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&s, 99));
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(3));
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    FAILS(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
    FAILS(cudaErrorInvalidValue, cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0));
    cudaTextureObject_t t;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    int *p;
    OK(cudaMalloc(&p, 4096));
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {p, cudaCreateChannelDesc<int>(), 4096};
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaDestroyTextureObject(t));
    r.res.linear.sizeInBytes = 4100; // more bytes than the allocation has
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, NULL));
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = {p, cudaCreateChannelDesc<int>(), 16, 8, 512};
    OK(cudaCreateTextureObject(&t, &r, &d, NULL)); // 8 rows of 512 bytes are 4096 bytes
    OK(cudaDestroyTextureObject(t));
    r.res.pitch2D.height = 9;
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, NULL));
    r.res.pitch2D.height = 8;
    r.res.pitch2D.width = 129; // a row is wider than the pitch
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaFree(p));
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, NULL)); // the memory was freed
    OK(cudaMalloc(&p, 100)); // the allocation may occupy more than 100 bytes, but these do not belong to it
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {p, cudaCreateChannelDesc<int>(), 104};
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaFree(p));
    OK(cudaMallocManaged(&p, 4096));
    r.res.linear = {p, cudaCreateChannelDesc<int>(), 8192};
    FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaFree(p));
    cudaArray_t a;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    FAILS(cudaErrorInvalidValue, cudaMallocArray(&a, &c, 0, 0));
    OK(cudaMallocArray(&a, &c, 8, 4));
    FAILS(cudaErrorInvalidValue, cudaMemcpy2DToArray(a, 0, 0, &ms, 40, 40, 1, cudaMemcpyHostToDevice));
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(NULL));
}

// Tests one kind of fault: later calls return its error. After a reset, the device works again.
static void fault(const char *which) {
    int *p;
    cudaError_t e = cudaErrorIllegalAddress;
    OK(cudaMalloc(&p, 4096));
    if (strcmp(which, "null") == 0)
        stray<<<1, 32>>>(NULL, 0, 1);
    else if (strcmp(which, "beyond") == 0)
        stray<<<1, 32>>>(p, 1 << 20, 1);
    else if (strcmp(which, "odd") == 0)
        odd<<<1, 32>>>((char *)p), e = cudaErrorMisalignedAddress;
    else if (strcmp(which, "trap") == 0)
        stop<<<1, 32>>>(), e = cudaErrorLaunchFailure;
    else
        WANT(!"a fault of this name");
    WANT(cudaDeviceSynchronize() == e);
    WANT(cudaGetLastError() == e);
    WANT(cudaGetLastError() == e); // the error stays
    WANT(cudaMalloc(&p, 4) == e);
    ok<<<1, 32>>>(p);
    WANT(cudaGetLastError() == e);
    OK(cudaDeviceReset());
    OK(cudaMalloc(&p, 4096));
    ok<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
    configurations();
    memory();
    handles();
    for (int i = 1; i < argc; i++)
        fault(argv[i]);
    return done();
}
