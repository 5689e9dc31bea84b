// Shares memory and events between processes, as in simpleIPC of the CUDA samples: the child begins before the parent
// uses the GPU, opens memory of the parent, and both change this memory alternately.
#include "mistakes.h"
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 300 };
struct message {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};
__global__ void add(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += by;
}

static void check(int *p, int by) {
    int here[N];
    OK(cudaMemcpy(here, p, sizeof here, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        WANT(here[i] == i + by);
}

static int child(int from, int to) {
    message m;
    int *p, *again;
    char done = 1;
    cudaEvent_t e;
    cudaStream_t s;
    WANT(read(from, &m, sizeof m) == sizeof m);
    OK(cudaStreamCreate(&s));
    OK(cudaIpcOpenMemHandle((void **)&p, m.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenMemHandle((void **)&again, m.memory, cudaIpcMemLazyEnablePeerAccess));
    WANT(p == again);
    OK(cudaIpcOpenEventHandle(&e, m.event));
    OK(cudaStreamWaitEvent(s, e, 0));
    check(p, 5);
    add<<<3, 128, 0, s>>>(p, N, 100);
    OK(cudaStreamSynchronize(s));
    check(p, 105);
    OK(cudaIpcCloseMemHandle(again));
    add<<<3, 128, 0, s>>>(p, N, 1000); // the memory is still open
    OK(cudaStreamSynchronize(s));
    OK(cudaIpcCloseMemHandle(p));
    FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(p));
    memset(&m.memory, 7, sizeof m.memory);
    FAILS(cudaErrorInvalidValue, cudaIpcOpenMemHandle((void **)&p, m.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaEventDestroy(e));
    WANT(write(to, &done, 1) == 1);
    return mistakes != 0;
}

int main() {
    int down[2], up[2], status = -1, here[N], *p;
    char done = 0;
    if (pipe(down) || pipe(up))
        return 1;
    pid_t other = fork();
    if (other == 0) {
        int result = child(down[0], up[1]);
        fflush(stdout);
        _exit(result);
    }
    for (int i = 0; i < N; i++)
        here[i] = i;
    OK(cudaMalloc(&p, 16)); // so that the shared allocation is not the first one
    OK(cudaMalloc(&p, sizeof here));
    OK(cudaMemcpy(p, here, sizeof here, cudaMemcpyHostToDevice));
    message m;
    cudaEvent_t e;
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventInterprocess));
    OK(cudaIpcGetMemHandle(&m.memory, p));
    OK(cudaIpcGetEventHandle(&m.event, e));
    add<<<3, 128>>>(p, N, 5);
    OK(cudaEventRecord(e));
    OK(cudaDeviceSynchronize());
    int *own;
    WANT(cudaIpcOpenMemHandle((void **)&own, m.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
    cudaGetLastError();
    WANT(write(down[1], &m, sizeof m) == sizeof m);
    WANT(read(up[0], &done, 1) == 1 && done == 1);
    WANT(waitpid(other, &status, 0) == other && status == 0);
    check(p, 1105);
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&m.memory, here));
    OK(cudaFree(p));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&m.memory, p));
    OK(cudaEventDestroy(e));
    return done ? ::done() : 1;
}
