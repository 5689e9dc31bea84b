// Functions for graphs that CUDA 12 and 13 have: one function for nodes of any kind, dependences, changes of
// instantiated graphs, memory that nodes allocate, and objects that graphs hold; also the driver's functions for these.
#include "mistakes.h"
#include <cuda.h>
#include <vector>
__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
#define FINE(...) WANT((__VA_ARGS__) == CUDA_SUCCESS)
static void CUDART_CB note(void *d) { ++*(int *)d; }
static void dtor(void *d) { ++*(int *)d; }
static int *p, h[32], one = 1, ten = 10;
static void shape() {
    int called = 0, freed = 0;
    cudaGraph_t g;
    OK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t a, b, c, d, e;
    void *args1[] = {&p, &one}, *args10[] = {&p, &ten};
    cudaGraphNodeParams np = {};
    np.type = cudaGraphNodeTypeKernel;
    np.kernel.func = (void *)add;
    np.kernel.gridDim = 1;
    np.kernel.blockDim = 32;
    np.kernel.kernelParams = args1;
    OK(cudaGraphAddNode(&a, g, NULL, NULL, 0, &np));
    np.kernel.kernelParams = args10;
    OK(cudaGraphAddNode(&b, g, &a, NULL, 1, &np));
    cudaGraphNodeParams ho = {};
    ho.type = cudaGraphNodeTypeHost;
    ho.host.fn = note;
    ho.host.userData = &called;
    OK(cudaGraphAddNode(&c, g, &b, NULL, 1, &ho));
    cudaGraphNodeParams cp = {};
    cp.type = cudaGraphNodeTypeMemcpy;
    cp.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(p, 128, 128, 1);
    cp.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(h, 128, 128, 1);
    cp.memcpy.copyParams.extent = make_cudaExtent(128, 1, 1);
    cp.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphAddNode(&d, g, &c, NULL, 1, &cp));
    size_t n = 0;
    OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
    WANT(n == 3);
    cudaGraphNode_t from[3], to[3];
    OK(cudaGraphGetEdges(g, from, to, NULL, &n));
    WANT(from[0] != to[0]);
    OK(cudaGraphNodeGetDependencies(b, NULL, NULL, &n));
    WANT(n == 1);
    OK(cudaGraphNodeGetDependentNodes(b, &e, NULL, &n));
    WANT(n == 1 && e == c);
    cudaGraphInstantiateParams ip = {};
    cudaGraphExec_t x;
    OK(cudaGraphInstantiateWithParams(&x, g, &ip));
    WANT(ip.result_out == cudaGraphInstantiateSuccess);
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    WANT(h[5] == 11 && called == 1);
    unsigned long long fl = 9;
    OK(cudaGraphExecGetFlags(x, &fl));
    WANT(fl == 0);
    np.kernel.kernelParams = args1;
    OK(cudaGraphExecNodeSetParams(x, b, &np));
    OK(cudaGraphLaunch(x, 0));
    WANT(h[5] == 13);
    cudaKernelNodeAttrValue v = {};
    v.priority = 0;
    OK(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &v));
    OK(cudaGraphKernelNodeGetAttribute(a, cudaLaunchAttributePriority, &v));
    OK(cudaGraphKernelNodeCopyAttributes(b, a));
    cudaGraph_t k;
    OK(cudaGraphClone(&k, g));
    OK(cudaGraphNodeFindInClone(&e, b, k));
    cudaGraphNodeType ty;
    OK(cudaGraphNodeGetType(e, &ty));
    WANT(ty == cudaGraphNodeTypeKernel);
    OK(cudaGraphDestroyNode(e));
    OK(cudaGraphGetNodes(k, NULL, &n));
    WANT(n == 3);
    OK(cudaGraphRemoveDependencies(g, &a, &b, NULL, 1));
    OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
    WANT(n == 2);
    cudaUserObject_t u;
    OK(cudaUserObjectCreate(&u, &freed, dtor, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(g, u, 1, cudaGraphUserObjectMove));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphExecDestroy(x));
    WANT(freed == 1);
    OK(cudaGraphDestroy(k));
}

// Adds nodes that allocate 128 bytes and fill them with words 3. Returns the memory.
static int *allocation(cudaGraph_t m, cudaGraphNode_t *filled) {
    cudaGraphNode_t a;
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.bytesize = 128;
    OK(cudaGraphAddMemAllocNode(&a, m, NULL, 0, &ap));
    cudaMemsetParams ms = {};
    ms.dst = ap.dptr;
    ms.elementSize = 4;
    ms.width = 32;
    ms.height = 1;
    ms.value = 3;
    OK(cudaGraphAddMemsetNode(filled, m, &a, 1, &ms));
    return (int *)ap.dptr;
}

// Tests memory of a node that the program or another graph frees: the next launch allocates it again.
static void freed_outside() {
    cudaGraph_t m, other;
    cudaGraphNode_t b, e;
    cudaGraphExec_t x, y;
    OK(cudaGraphCreate(&m, 0));
    int *q = allocation(m, &b);
    OK(cudaGraphInstantiate(&x, m, 0));
    OK(cudaGraphCreate(&other, 0));
    for (int i = 0; i < 3; i++) {
        h[9] = 0;
        OK(cudaGraphLaunch(x, 0));
        OK(cudaMemcpy(h, q, 128, cudaMemcpyDeviceToHost));
        WANT(h[9] == 3);
        OK(cudaMemset(q, 0, 128));
        if (i == 2)
            break;
        OK(i ? cudaFreeAsync(q, 0) : cudaFree(q));
        FAILS(cudaErrorInvalidValue, cudaFree(q)); // freed twice
    }
    OK(cudaGraphAddMemFreeNode(&e, other, NULL, 0, q));
    OK(cudaGraphInstantiate(&y, other, 0));
    OK(cudaGraphLaunch(y, 0));
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphExecDestroy(y));
    OK(cudaGraphDestroy(m));
    OK(cudaGraphDestroy(other));
    FAILS(cudaErrorInvalidValue, cudaMemset(q, 0, 128)); // the last graph has gone
}

// Tests memory that nodes of a graph allocate and free.
static void memory() {
    cudaGraphNode_t b, c, d, e;
    cudaGraphExec_t x;
    cudaGraph_t m;
    OK(cudaGraphCreate(&m, 0));
    int *q = allocation(m, &b);
    WANT(q != NULL);
    void *ar[] = {&q, &ten};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)add;
    kp.gridDim = 1;
    kp.blockDim = 32;
    kp.kernelParams = ar;
    OK(cudaGraphAddKernelNode(&c, m, &b, 1, &kp));
    OK(cudaGraphAddMemcpyNode1D(&d, m, &c, 1, h, q, 128, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddMemFreeNode(&e, m, &d, 1, q));
    OK(cudaGraphInstantiate(&x, m, 0));
    for (int i = 0; i < 3; i++) {
        OK(cudaGraphLaunch(x, 0));
        OK(cudaDeviceSynchronize());
        WANT(h[9] == 13);
    }

    size_t bytes = 0;
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    WANT(bytes == 128);
    void *seen;
    OK(cudaGraphMemFreeNodeGetParams(e, &seen));
    WANT(seen == q);
    FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&e, m, &d, 1, q)); // freed twice
    OK(cudaGraphDestroy(m));
    OK(cudaGraphLaunch(x, 0)); // the instantiated graph still has the memory
    WANT(h[9] == 13);
    OK(cudaGraphExecDestroy(x));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    WANT(bytes == 0);
    FAILS(cudaErrorInvalidValue, cudaMemset(q, 0, 128));
}

static size_t graph_bytes() {
    size_t bytes = 0;
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    return bytes;
}

// Tests a graph that does not free its memory: no second launch before the program frees the memory, unless the graph
// frees it at its launch.
static void held() {
    cudaGraph_t m;
    cudaGraphNode_t b;
    cudaGraphExec_t x;
    for (int automatic = 0; automatic < 2; automatic++) {
        OK(cudaGraphCreate(&m, 0));
        int *q = allocation(m, &b);
        FAILS(cudaErrorInvalidValue, cudaFree(q)); // not yet allocated
        OK(cudaGraphInstantiate(&x, m, automatic ? cudaGraphInstantiateFlagAutoFreeOnLaunch : 0));
        OK(cudaGraphLaunch(x, 0));
        if (automatic)
            OK(cudaGraphLaunch(x, 0));
        else
            FAILS(cudaErrorInvalidValue, cudaGraphLaunch(x, 0));
        OK(cudaFree(q));
        OK(cudaGraphLaunch(x, 0));
        OK(cudaGraphExecDestroy(x));
        OK(cudaGraphDestroy(m));
        OK(cudaMemcpy(h, q, 128, cudaMemcpyDeviceToHost)); // the program owns the memory
        WANT(h[7] == 3);
        OK(cudaFree(q));
        FAILS(cudaErrorInvalidValue, cudaMemset(q, 0, 128));
    }
}

// Tests memory that a program allocates and frees in a captured stream: the calls become nodes of the graph.
static void captured_memory() {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t nodes[5];
    cudaGraphNodeType type;
    int *q, *kept;
    size_t n = 5;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&q, 128, s));
    OK(cudaMallocAsync(&kept, 128, s));
    OK(cudaMemsetAsync(q, 0, 128, s));
    add<<<1, 32, 0, s>>>(q, 7);
    FAILS(cudaErrorInvalidValue, cudaFreeAsync(p, s)); // not memory of a graph
    OK(cudaMemcpyAsync(kept, q, 128, cudaMemcpyDeviceToDevice, s));
    OK(cudaFreeAsync(q, s));
    FAILS(cudaErrorInvalidValue, cudaFreeAsync(q, s)); // freed twice
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetNodes(g, NULL, &n));
    WANT(n == 6);
    n = 5;
    OK(cudaGraphGetNodes(g, nodes, &n));
    OK(cudaGraphNodeGetType(nodes[0], &type));
    WANT(type == cudaGraphNodeTypeMemAlloc);
    WANT(graph_bytes() == 256);
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, s));
    FAILS(cudaErrorInvalidValue, cudaGraphLaunch(x, s)); // the memory `kept` is not freed
    FAILS(cudaErrorInvalidValue, cudaFreeAsync(q, s));   // the graph has freed it
    OK(cudaMemcpy(h, kept, 128, cudaMemcpyDeviceToHost));
    WANT(h[30] == 7);
    OK(cudaFreeAsync(kept, s));
    OK(cudaGraphLaunch(x, s));
    OK(cudaFreeAsync(kept, s));
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    WANT(graph_bytes() == 0);
    OK(cudaStreamDestroy(s));
}

// Tests the status of a captured stream with the runtime API and the driver API.
static void captured() {
    cudaStream_t s;
    cudaGraph_t g, seen = NULL;
    cudaStreamCaptureStatus status;
    CUstreamCaptureStatus same;
    CUgraph again = NULL;
    const cudaGraphNode_t *nodes = NULL;
    size_t n = 0;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, s>>>(p, 1);
    OK(cudaStreamGetCaptureInfo(s, &status, NULL, &seen, &nodes, NULL, &n));
    WANT(status == cudaStreamCaptureStatusActive && n == 1);
    FINE(cuStreamGetCaptureInfo(s, &same, NULL, &again, NULL, NULL, NULL));
    WANT(again == seen && same == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    cudaGraphNode_t first = nodes[0], second;
    add<<<1, 32, 0, s>>>(p, 1);
    OK(cudaStreamGetCaptureInfo(s, &status, NULL, NULL, &nodes, NULL, &n));
    second = nodes[0];
    // the next node shall depend on the first node alone, then on both nodes
    OK(cudaStreamUpdateCaptureDependencies(s, &first, NULL, 1, cudaStreamSetCaptureDependencies));
    OK(cudaStreamGetCaptureInfo(s, &status, NULL, NULL, &nodes, NULL, &n));
    WANT(n == 1 && nodes[0] == first);
    cudaGraphNode_t both[] = {first, second};
    FINE(cuStreamUpdateCaptureDependencies(s, both, NULL, 2, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cudaStreamGetCaptureInfo(s, &status, NULL, NULL, &nodes, NULL, &n));
    WANT(n == 2 && nodes[0] == first && nodes[1] == second);
    FAILS(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, &first, NULL, 1, 2));
    FAILS(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 1, 0));
    add<<<1, 32, 0, s>>>(p, 1);
    OK(cudaStreamEndCapture(s, &g));
    WANT(g == seen);
    OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
    WANT(n == 3); // of the first two nodes to the third, and of the first to the second
    OK(cudaGraphDestroy(g));
    FAILS(cudaErrorIllegalState, cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 0));
    OK(cudaStreamDestroy(s));
}

static void driver() {
    void *args10[] = {&p, &ten};
    CUgraph dg;
    CUgraphNode dn, dm;
    CUgraphExec dx;
    FINE(cuGraphCreate(&dg, 0));
    CUfunction f;
    OK(cudaGetFuncBySymbol(&f, (void *)add));
    CUDA_KERNEL_NODE_PARAMS dk = {};
    dk.func = f;
    dk.gridDimX = dk.gridDimY = dk.gridDimZ = 1;
    dk.blockDimX = 32;
    dk.blockDimY = dk.blockDimZ = 1;
    dk.kernelParams = args10;
    FINE(cuGraphAddKernelNode(&dn, dg, NULL, 0, &dk));
    CUDA_MEMSET_NODE_PARAMS dms = {};
    dms.dst = (CUdeviceptr)p;
    dms.elementSize = 4;
    dms.width = 32;
    dms.height = 1;
    dms.value = 1;
    CUcontext ctx;
    FINE(cuCtxGetCurrent(&ctx));
    FINE(cuGraphAddMemsetNode(&dm, dg, NULL, 0, &dms, ctx));
    FINE(cuGraphAddDependencies(dg, &dm, &dn, NULL, 1));
    FINE(cuGraphInstantiate(&dx, dg, 0));
    FINE(cuGraphLaunch(dx, 0));
    OK(cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost));
    WANT(h[3] == 11);
    CUgraphNode from[2], to[2];
    size_t n = 2;
    FINE(cuGraphGetEdges(dg, from, to, NULL, &n));
    WANT(n == 1 && from[0] == dm && to[0] == dn);
    CUDA_MEMCPY3D back = {};
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    back.srcDevice = (CUdeviceptr)p;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = h;
    back.WidthInBytes = 128;
    back.Height = back.Depth = 1;
    CUgraphNode last;
    FINE(cuGraphAddMemcpyNode(&last, dg, &dn, 1, &back, ctx));
    CUgraphExec other;
    FINE(cuGraphInstantiate(&other, dg, 0));
    dk.kernelParams = args10;
    ten = 20;
    FINE(cuGraphExecKernelNodeSetParams(other, dn, &dk));
    FINE(cuGraphLaunch(other, 0));
    WANT(h[31] == 21);
    CUgraphExecUpdateResultInfo info;
    FINE(cuGraphExecUpdate(other, dg, &info)); // changes the argument back to the first number
    FINE(cuGraphLaunch(other, 0));
    WANT(h[31] == 11 && info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    WANT(cuGraphExecUpdate(dx, dg, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE); // the graph has one more node
    FINE(cuGraphDestroyNode(dn));
    n = 0;
    FINE(cuGraphGetEdges(dg, NULL, NULL, NULL, &n));
    WANT(n == 0);
    WANT(cuGraphDestroyNode(dn) == CUDA_ERROR_INVALID_VALUE);
    FINE(cuGraphExecDestroy(dx));
    FINE(cuGraphExecDestroy(other));
    FINE(cuGraphDestroy(dg));
}

int main() {
    OK(cudaMalloc(&p, 128));
    OK(cudaMemset(p, 0, 128));
    shape();
    memory();
    freed_outside();
    held();
    captured_memory();
    captured();
    driver();
    OK(cudaFree(p));
    return done();
}
