// Graphs, as in simpleCudaGraphs of the CUDA samples: capture over several streams, graphs made of nodes, child graphs,
// copies of three dimensions, clones, and changes of instantiated graphs.
#include "mistakes.h"
#include <cstring>
#include <vector>

enum { N = 256 };
__global__ void add(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += by;
}
__global__ void sum(const int *p, int n, long long *out) {
    long long s = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        s += p[i];
    for (int o = 16; o; o /= 2)
        s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x == 0)
        *out += s;
}
static void CUDART_CB note(void *p) { ++*(int *)p; }

static cudaGraph_t captured(cudaStream_t a, cudaStream_t b, int *p, int by) {
    cudaEvent_t fork, join;
    cudaGraph_t g = NULL;
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(p, 0, N * 4, a));
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    add<<<1, N / 2, 0, a>>>(p, N / 2, by);
    add<<<1, N / 2, 0, b>>>(p + N / 2, N / 2, 2 * by);
    OK(cudaEventRecord(join, b));
    OK(cudaStreamWaitEvent(a, join, 0));
    OK(cudaStreamEndCapture(a, &g));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    return g;
}

static long long total(const int *p) {
    int here[N];
    long long s = 0;
    OK(cudaMemcpy(here, p, sizeof here, cudaMemcpyDeviceToHost));
    for (int v : here)
        s += v;
    return s;
}

int main() {
    cudaStream_t a, b;
    int *p, calls = 0;
    long long *s, got = 0;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaMalloc(&p, N * 4));
    OK(cudaMalloc(&s, 8));
    cudaGraph_t g = captured(a, b, p, 3), other = captured(a, b, p, 5), clone, child, all;
    cudaGraphExec_t x;
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, a));
    OK(cudaStreamSynchronize(a));
    WANT(total(p) == 3 * N / 2 + 6 * N / 2);
    // a graph with the same nodes and edges but other arguments: the instantiated graph is changed in place
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(x, other, &info));
    WANT(info.result == cudaGraphExecUpdateSuccess);
#else
    cudaGraphNode_t where;
    cudaGraphExecUpdateResult result;
    OK(cudaGraphExecUpdate(x, other, &where, &result));
    WANT(result == cudaGraphExecUpdateSuccess);
#endif
    OK(cudaGraphLaunch(x, a));
    WANT(total(p) == 5 * N / 2 + 10 * N / 2);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphClone(&clone, g));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphInstantiate(&x, clone, 0));
    OK(cudaGraphLaunch(x, 0));
    WANT(total(p) == 9 * N / 2);
    OK(cudaGraphExecDestroy(x));
    // the nodes: a child graph, a copy, a kernel that sums, a copy of the sum to the host, a call of a host function
    cudaGraphNode_t node[5];
    OK(cudaGraphCreate(&all, 0));
    OK(cudaGraphAddChildGraphNode(&node[0], all, NULL, 0, clone));
    OK(cudaGraphChildGraphNodeGetGraph(node[0], &child));
    size_t n = 0;
    OK(cudaGraphGetNodes(child, NULL, &n));
    WANT(n == 3);
    int extra[N] = {1000}, count = N, *q;
    OK(cudaMalloc(&q, 2 * N * 4));
    OK(cudaMemcpy(q, p, N * 4, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(extra, N * 4, N, 1);
    copy.dstPtr = make_cudaPitchedPtr(p, N * 4, N, 1);
    copy.extent = make_cudaExtent(4, 1, 1); // only the first number
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaGraphAddMemcpyNode(&node[1], all, &node[0], 1, &copy));
    void *args[] = {&p, &count, &s};
    cudaKernelNodeParams k = {}, read = {};
    k.func = (void *)sum;
    k.gridDim = dim3(1);
    k.blockDim = dim3(32);
    k.kernelParams = args;
    OK(cudaGraphAddKernelNode(&node[2], all, &node[1], 1, &k));
    OK(cudaGraphKernelNodeGetParams(node[2], &read));
    WANT(read.func == k.func && read.blockDim.x == 32 && *(int **)read.kernelParams[0] == p);
    OK(cudaGraphAddMemcpyNode1D(&node[3], all, &node[2], 1, &got, s, 8, cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {note, &calls};
    OK(cudaGraphAddHostNode(&node[4], all, &node[3], 1, &h));
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(node[3], &type));
    WANT(type == cudaGraphNodeTypeMemcpy);
    OK(cudaMemset(s, 0, 8));
    OK(cudaGraphDebugDotPrint(all, "graph.dot", 0));
    char text[4096] = "";
    FILE *dot = fopen("graph.dot", "r");
    WANT(dot && fread(text, 1, sizeof text - 1, dot) > 0 && strstr(text, "digraph") &&
         strstr(text, "\"_Z3sumPKiiPx\""));
    if (dot)
        fclose(dot);
    remove("graph.dot");
    OK(cudaGraphInstantiate(&x, all, 0));
    for (int i = 1; i <= 3; i++) {
        OK(cudaGraphLaunch(x, a));
        OK(cudaStreamSynchronize(a));
        WANT(got == i * (9 * N / 2 + 1000 - 3) && calls == i); // 1000 replaces a 3
    }
    int fewer = 1;
    args[1] = &fewer;
    OK(cudaGraphExecKernelNodeSetParams(x, node[2], &k));
    OK(cudaGraphLaunch(x, a));
    WANT(got == 3 * (9 * N / 2 + 1000 - 3) + 1000);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(all));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(other));
    // the status of a capture can be read, and calls that are not allowed in a capture fail
    cudaStreamCaptureStatus status;
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    OK(cudaStreamIsCapturing(a, &status));
    WANT(status == cudaStreamCaptureStatusActive);
    WANT(cudaStreamSynchronize(a) == cudaErrorStreamCaptureUnsupported);
    WANT(cudaStreamEndCapture(a, &g) == cudaErrorStreamCaptureInvalidated && g == NULL);
    cudaGetLastError();
    OK(cudaStreamIsCapturing(a, &status));
    WANT(status == cudaStreamCaptureStatusNone);
    WANT(cudaStreamEndCapture(a, &g) == cudaErrorIllegalState);
    cudaGetLastError();
    add<<<1, N, 0, a>>>(p, N, 1);
    OK(cudaStreamSynchronize(a));
    return done();
}
