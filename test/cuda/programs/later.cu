// Work of streams behind a kernel that waits for the host: the calls return first, and the work follows in order. With
// --default-stream per-thread, stream 0 is a stream of each thread. "later stuck" waits for a value that nobody writes;
// with "fault", a kernel faults meanwhile.
#include "mistakes.h"
#include <chrono>
#include <cstring>
#include <cuda.h>
#include <thread>

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static const bool own_streams = true;
#else
static const bool own_streams = false;
#endif
enum { N = 64 };

// Waits for `go`, then sets all elements of `a` to `value`.
__global__ void set_all(volatile int *go, int *a, int value) {
    while (!*go)
        ;
    a[threadIdx.x] = value;
}
__global__ void add(int *a, int value) { a[threadIdx.x] += value; }

// Nothing is freed, because cudaFree() waits for all kernels.
struct ready {
    cudaStream_t s;
    int *go, *a, *got; // go: the host writes it; a: of the device; got: pinned memory of the host
    ready(cudaStream_t of) : s(of) {
        OK(cudaHostAlloc(&go, sizeof *go, cudaHostAllocMapped));
        OK(cudaHostAlloc(&got, N * sizeof *got, 0));
        OK(cudaMalloc(&a, N * sizeof *a));
        *go = 0;
        for (int i = 0; i < N; i++)
            got[i] = -1;
    }
    void wait(int value) { set_all<<<1, N, 0, s>>>(go, a, value); }
    void release() { *(volatile int *)go = 1; }
    int mistakes(int value) const {
        int n = 0;
        for (int i = 0; i < N; i++)
            n += got[i] != value;
        return n;
    }
};

static void CUDART_CB count(void *n) { ++*(int *)n; }
static void CUDART_CB call_back(cudaStream_t, cudaError_t e, void *n) { *(int *)n += e == cudaSuccess ? 10 : 0; }

// Copies, a fill, functions of the host and a free follow the kernel in its stream.
static int in_order(cudaStream_t s) {
    ready r(s);
    int calls = 0, n = 0, *more, *rows;
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, 16 * sizeof(int), 4));
    OK(cudaMallocAsync(&more, N * sizeof *more, s));
    r.wait(5);
    OK(cudaMemcpyAsync(more, r.a, N * sizeof *more, cudaMemcpyDeviceToDevice, s)); // 5
    OK(cudaMemsetAsync(r.a, 0, N * sizeof *r.a, s));
    add<<<1, N, 0, s>>>(more, 2); // 7
    OK(cudaMemcpy2DAsync(rows, pitch, more, 64, 64, 4, cudaMemcpyDeviceToDevice, s));
    OK(cudaMemcpy2DAsync(r.got, 64, rows, pitch, 64, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaLaunchHostFunc(s, count, &calls));
    OK(cudaStreamAddCallback(s, call_back, &calls, 0));
    OK(cudaFreeAsync(more, s));
    n += cudaStreamQuery(s) != cudaErrorNotReady || calls != 0 || r.got[0] != -1;
    r.release();
    OK(cudaStreamSynchronize(s));
    n += r.mistakes(7) + (calls != 11);
    OK(cudaMemcpy(r.got, r.a, N * sizeof *r.a, cudaMemcpyDeviceToHost));
    return n + r.mistakes(0);
}
// A copy to pageable memory has ended when its call returns.
static int pageable(cudaStream_t s) {
    ready r(s);
    int to[N] = {0}, n = 0;
    r.wait(9);
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        r.release();
    });
    OK(cudaMemcpyAsync(to, r.a, sizeof to, cudaMemcpyDeviceToHost, s));
    for (int i = 0; i < N; i++)
        n += to[i] != 9;
    other.join();
    return n;
}
// Two launches of a graph with a kernel that waits, and an event after them.
static int graph(cudaStream_t s) {
    ready r(s);
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaEvent_t e;
    int calls = 0, n = 0;
    OK(cudaEventCreate(&e));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    r.wait(3);
    add<<<1, N, 0, s>>>(r.a, 1);
    OK(cudaMemcpyAsync(r.got, r.a, N * sizeof *r.a, cudaMemcpyDeviceToHost, s));
    OK(cudaLaunchHostFunc(s, count, &calls));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, s));
    OK(cudaGraphLaunch(x, s));
    OK(cudaEventRecord(e, s));
    n += cudaEventQuery(e) != cudaErrorNotReady || calls != 0;
    r.release();
    OK(cudaEventSynchronize(e));
    n += r.mistakes(4) + (calls != 2);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(e));
    return n;
}
// A stream waits for a value of the host, another one for a value of this stream.
static int values(void) {
    cudaStream_t a, b;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    int n = 0;
    {
        ready r(b);
        unsigned *word;
        OK(cudaHostAlloc(&word, 2 * sizeof *word, cudaHostAllocMapped));
        word[0] = word[1] = 0;
        r.release();
        n += cuStreamWaitValue32(b, (CUdeviceptr)&word[1], 8, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS;
        r.wait(6);
        OK(cudaMemcpyAsync(r.got, r.a, N * sizeof *r.a, cudaMemcpyDeviceToHost, b));
        n += cuStreamWaitValue32(a, (CUdeviceptr)&word[0], 4, CU_STREAM_WAIT_VALUE_EQ) != CUDA_SUCCESS;
        n += cuStreamWriteValue32(a, (CUdeviceptr)&word[1], 9, 0) != CUDA_SUCCESS;
        n += cudaStreamQuery(b) != cudaErrorNotReady || word[1] != 0;
        *(volatile unsigned *)word = 4;
        OK(cudaStreamSynchronize(b));
        n += r.mistakes(6) + (word[1] != 9);
    }
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    return n;
}
// Functions of the driver in stream 0, which is the thread's own: fills, copies and launches.
static int driver(void) {
    enum { ROW = 64 };
    CUdeviceptr a, b;
    cudaFunction_t kernel;
    int got[N], n = 0, more = 4;
    void *args[] = {&a, &more};
    const auto fine = [&](CUresult e) { n += e != CUDA_SUCCESS; };
    OK(cudaGetFuncBySymbol(&kernel, (const void *)add));
    fine(cuMemAlloc(&a, N * sizeof(int)));
    fine(cuMemAlloc(&b, N * sizeof(int)));
    for (int i = 0; i < N; i++)
        got[i] = 2;
    fine(cuMemsetD8(b, 1, N * sizeof(int)));
    fine(cuMemsetD16(b, 1, 2 * N));
    fine(cuMemsetD2D8(b, ROW, 2, ROW, 4));
    fine(cuMemsetD2D16(b, ROW, 2, ROW / 2, 4));
    fine(cuMemsetD2D32(b, ROW, 5, ROW / 4, 4));
    fine(cuMemsetD32(b, 6, N / 2)); // 6 and 5
    fine(cuMemcpyHtoD(a, got, sizeof got));
    fine(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, N, 1, 1, 0, 0, args, NULL)); // 6
    CUlaunchConfig c = {};
    c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimY = c.blockDimZ = 1;
    c.blockDimX = N;
    fine(cuLaunchKernelEx(&c, (CUfunction)kernel, args, NULL)); // 10
    fine(cuMemcpyDtoD(a + N * 2, b + N * 2, N * 2));            // 10 and 5
    fine(cuMemcpy(b + N, a + N, N));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = a, copy.dstDevice = b;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = ROW;
    copy.Height = 1;
    fine(cuMemcpy2D(&copy));
    fine(cuMemcpy2DUnaligned(&copy));
    fine(cuMemcpyDtoH(got, b, sizeof got));
    for (int i = 0; i < N; i++)
        n += got[i] != (i < N / 2 ? 10 : 5);
    return n;
}
// While a kernel waits in the stream of one thread, another thread works in its own stream 0.
static int threads(void) {
    int n = 0;
    ready r(0);
    cudaEvent_t begun;
    OK(cudaEventCreate(&begun));
    r.wait(2);
    OK(cudaEventRecord(begun, 0));
    std::thread([&] {
        ready other(0);
        other.release();
        OK(cudaMemset(other.a, 0, N * sizeof *other.a));
        add<<<1, N>>>(other.a, 4);
        OK(cudaMemcpy(other.got, other.a, N * sizeof *other.a, cudaMemcpyDeviceToHost));
        n += other.mistakes(4);
        n += in_order(0) + graph(0) + driver();
        n += cudaEventQuery(begun) != cudaErrorNotReady;
        r.release();
    }).join();
    OK(cudaMemcpy(r.got, r.a, N * sizeof *r.a, cudaMemcpyDeviceToHost));
    return n + r.mistakes(2);
}

int main(int argc, char **argv) {
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    if (argc > 1) {
        unsigned *word;
        OK(cudaHostAlloc(&word, sizeof *word, cudaHostAllocMapped));
        *word = 0;
        WANT(cuStreamWaitValue32(s, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
        if (!strcmp(argv[1], "fault"))
            add<<<1, N>>>(NULL, 1);
        WANT(cudaStreamSynchronize(s) == (argv[1][0] == 'f' ? cudaErrorIllegalAddress : cudaErrorLaunchTimeout));
        return done();
    }
    WANT(in_order(s) == 0);
    WANT(pageable(s) == 0);
    WANT(graph(s) == 0);
    WANT(values() == 0);
    WANT(in_order(cudaStreamPerThread) == 0);
    WANT(pageable(cudaStreamPerThread) == 0);
    WANT(graph(cudaStreamPerThread) == 0);
    if (own_streams) {
        WANT(in_order(0) == 0);
        WANT(pageable(0) == 0);
        WANT(graph(0) == 0);
        WANT(threads() == 0);
    }
    OK(cudaStreamDestroy(s));
    return done();
}
