/* Tests host/cuda/driver/driver_stream.c: streams, captures and events. */
#include "driver.h"

void captures(CUmodule m) {
    CUfunction f;
    CUdeviceptr p;
    int host[N], n = N;
    for (int i = 0; i < N; i++)
        host[i] = i % 2 ? 0 : 7;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemcpyHtoD(p, host, sizeof host));
    /* work for a captured stream does not run; then the graph is launched twice */
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    WANT(cuStreamSynchronize(s) != CUDA_SUCCESS); /* this call makes the capture invalid */
    WANT(cuStreamEndCapture(s, &g) != CUDA_SUCCESS);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, s, (void *[]){&p, &n}, NULL));
    OK(cuMemcpyDtoHAsync(host, p, sizeof host, s));
    OK(cuStreamEndCapture(s, &g));
    WANT(sum(host) == 350);
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    OK(cuGraphLaunch(x, s));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    WANT(sum(host) == 350 + 2 * 100 * 5);
    OK(cuGraphExecDestroy(x));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(p));
}

/* Checks that a graph may be destroyed during its capture. The captured stream, and a stream that waited for its event,
 * then execute new work again. */
void capture_abandoned(CUmodule m) {
    CUfunction f;
    CUstream s, t;
    CUevent e;
    CUgraph g = NULL, none;
    CUdeviceptr p;
    int host[N] = {0}, n = N, status = 0;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemsetD32(p, 0, N));
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamCreate(&t, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, s, (void *[]){&p, &n}, NULL));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuStreamGetCaptureInfo_v2(s, &status, NULL, &g, NULL, NULL));
    WANT(status == 1 && g);
    OK(cuGraphDestroy(g));
    OK(cuStreamWaitEvent(t, e, 0)); /* the event no longer stands for captured work */
    OK(cuStreamSynchronize(s));
    OK(cuStreamSynchronize(t));
    WANT(cuStreamEndCapture(s, &none) != CUDA_SUCCESS);
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, s, (void *[]){&p, &n}, NULL));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, t, (void *[]){&p, &n}, NULL));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(sum(host) == 2 * 100 * 5);
    /* the event does not stand for captured work after the end of the capture either */
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(e, s));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphDestroy(g));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuStreamSynchronize(t));
    OK(cuEventDestroy(e));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(p));
}

/* Checks that the time of events advances only while a kernel runs. */
void times(CUmodule m) {
    CUevent a, b;
    CUfunction f;
    CUdeviceptr p;
    float idle = -1, busy = -1;
    int n = N;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&p, 4 * N));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuEventRecord(a, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuEventElapsedTime(&idle, a, b));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&busy, a, b));
    const char *model = getenv("HEDDLE_MODEL"); /* the functional model uses the host's time, which has no bound */
    WANT(idle >= 0 && idle < busy && (busy < 1 || (model && strcmp(model, "functional") == 0)));
    OK(cuEventDestroy(a));
    OK(cuEventDestroy(b));
    OK(cuMemFree(p));
}
