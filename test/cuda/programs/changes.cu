// Changes of graphs, of their instances, and of pools: functions of the runtime, and the driver's functions for nodes of
// any kind (CUDA 12.2 and later).
#include "mistakes.h"
#include <cuda.h>
#define FINE(...) WANT((__VA_ARGS__) == CUDA_SUCCESS)
__device__ int word = 7;
__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
static int *p, h[64];

// Copies between host and device whose source or destination changes: 3-D copies, and copies of a variable.
static void copies() {
    int from[2] = {3, 4}, to[2] = {0, 0};
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t put, get;
    cudaMemcpy3DParms box = {};
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&put, g, NULL, 0, word, &from[0], 4, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&get, g, &put, 1, &to[0], word, 4, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    WANT(to[0] == 3 && to[1] == 0);
    OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(x, put, word, &from[1], 4, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, get, &to[1], word, 4, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    WANT(to[0] == 3 && to[1] == 4);
    FAILS(cudaErrorInvalidValue,
       cudaGraphExecMemcpyNodeSetParamsToSymbol(x, put, word, from, 8, 0, cudaMemcpyHostToDevice)); // `word` has 4 bytes
    // the variable now goes to the buffer p instead of the host
    void *at;
    OK(cudaGetSymbolAddress(&at, word));
    box.srcPtr = make_cudaPitchedPtr(at, 4, 4, 1);
    box.dstPtr = make_cudaPitchedPtr(p, 4, 4, 1);
    box.extent = make_cudaExtent(4, 1, 1);
    box.kind = cudaMemcpyDeviceToDevice;
    OK(cudaMemset(p, 0, 4));
    OK(cudaGraphExecMemcpyNodeSetParams(x, get, &box));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost));
    WANT(h[0] == 4);
    OK(cudaGraphExecDestroy(x));
    // the nodes themselves, before the graph is instantiated again
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(put, word, &from[1], 4, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphMemcpyNodeSetParamsFromSymbol(get, &to[0], word, 4, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    WANT(to[0] == 4);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
}

static cudaGraph_t adder(int v) {
    static int value[2];
    int *own = &value[v != 1];
    cudaGraph_t g;
    cudaGraphNode_t n;
    void *args[] = {&p, own};
    cudaKernelNodeParams k = {};
    *own = v;
    k.func = (void *)add;
    k.gridDim = 1;
    k.blockDim = 32;
    k.kernelParams = args;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddKernelNode(&n, g, NULL, 0, &k));
    return g;
}

// A child graph that adds 1 is replaced by one that adds 20.
static void children() {
    cudaGraph_t g, one = adder(1), twenty = adder(20);
    cudaGraphExec_t x;
    cudaGraphNode_t n;
    OK(cudaMemset(p, 0, 128));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddChildGraphNode(&n, g, NULL, 0, one));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaGraphExecChildGraphNodeSetParams(x, n, twenty));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost));
    WANT(h[0] == 21 && h[31] == 21);
    FAILS(cudaErrorInvalidValue, cudaGraphExecChildGraphNodeSetParams(x, n, NULL));
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphDestroy(one));
    OK(cudaGraphDestroy(twenty));
}

// A node that records an event gets another event. A launch records only the event of its instance.
static void events() {
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t record, wait;
    cudaEvent_t e[2], found;
    OK(cudaEventCreate(&e[0]));
    OK(cudaEventCreate(&e[1]));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddEventRecordNode(&record, g, NULL, 0, e[0]));
    OK(cudaGraphAddEventWaitNode(&wait, g, &record, 1, e[0]));
    OK(cudaGraphEventRecordNodeGetEvent(record, &found));
    WANT(found == e[0]);
    OK(cudaGraphEventRecordNodeSetEvent(record, e[1]));
    OK(cudaGraphEventWaitNodeSetEvent(wait, e[1]));
    OK(cudaGraphEventWaitNodeGetEvent(wait, &found));
    WANT(found == e[1]);
    FAILS(cudaErrorInvalidValue, cudaGraphEventWaitNodeGetEvent(record, &found));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphExecEventRecordNodeSetEvent(x, record, e[0]));
    OK(cudaGraphExecEventWaitNodeSetEvent(x, wait, e[0]));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    float ms;
    OK(cudaEventElapsedTime(&ms, e[0], e[0]));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e[1], e[1])); // nothing has recorded it
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(e[0]));
    OK(cudaEventDestroy(e[1]));
}

static void pools() {
    cudaMemPool_t standard, current, of_13;
    cudaMemLocation device = {}, host = {};
    cudaMemAccessFlags may;
    device.type = cudaMemLocationTypeDevice;
    host.type = cudaMemLocationTypeHost;
    OK(cudaDeviceGetDefaultMemPool(&standard, 0));
    OK(cudaMemGetDefaultMemPool(&of_13, &device, cudaMemAllocationTypePinned));
    WANT(of_13 == standard);
    OK(cudaMemPoolGetAccess(&may, standard, &device));
    WANT(may == cudaMemAccessFlagsProtReadWrite);
    OK(cudaMemPoolGetAccess(&may, standard, &host));
    WANT(may == cudaMemAccessFlagsProtNone);
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = device;
    OK(cudaMemPoolCreate(&current, &props));
    OK(cudaMemSetMemPool(&device, cudaMemAllocationTypePinned, current));
    OK(cudaMemGetMemPool(&of_13, &device, cudaMemAllocationTypePinned));
    WANT(of_13 == current);
    OK(cudaMemSetMemPool(&device, cudaMemAllocationTypePinned, standard));
    OK(cudaMemPoolDestroy(current));
}

// The driver's functions for nodes of any kind: a kernel that adds 5 twice, and a copy to the host.
static void driver() {
    CUgraph g;
    CUgraphExec x;
    CUgraphNode k, c, a;
    CUfunction f;
    int five = 5, six = 6, destroyed = 0;
    void *args[] = {&p, &five}, *other[] = {&p, &six};
    CUgraphNodeParams kernel = {}, copy = {}, memory = {};
    OK(cudaMemset(p, 0, 128));
    OK(cudaGetFuncBySymbol(&f, (const void *)add));
    FINE(cuGraphCreate(&g, 0));
    kernel.type = CU_GRAPH_NODE_TYPE_KERNEL;
    kernel.kernel.kern = (CUkernel)f;
    kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1;
    kernel.kernel.blockDimX = 32;
    kernel.kernel.blockDimY = kernel.kernel.blockDimZ = 1;
    kernel.kernel.kernelParams = args;
    FINE(cuGraphAddNode(&k, g, NULL, NULL, 0, &kernel));
    copy.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    copy.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.memcpy.copyParams.srcDevice = (CUdeviceptr)p;
    copy.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.memcpy.copyParams.dstHost = h;
    copy.memcpy.copyParams.WidthInBytes = 128;
    copy.memcpy.copyParams.Height = copy.memcpy.copyParams.Depth = 1;
    FINE(cuGraphAddNode(&c, g, &k, NULL, 1, &copy));
    memory.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    memory.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.alloc.bytesize = 256;
    FINE(cuGraphAddNode(&a, g, NULL, NULL, 0, &memory));
    WANT(memory.alloc.dptr != 0);
    CUDA_MEM_ALLOC_NODE_PARAMS told;
    FINE(cuGraphMemAllocNodeGetParams(a, &told));
    WANT(told.dptr == memory.alloc.dptr && told.bytesize == 256);
    FINE(cuGraphDestroyNode(a));
    CUuserObject object;
    FINE(cuUserObjectCreate(&object, &destroyed, [](void *d) { ++*(int *)d; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    FINE(cuGraphRetainUserObject(g, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    FINE(cuGraphInstantiateWithFlags(&x, g, 0));
    FINE(cuGraphLaunch(x, 0));
    FINE(cuGraphLaunch(x, 0));
    FINE(cuCtxSynchronize());
    WANT(h[0] == 10 && h[31] == 10);
    kernel.kernel.kernelParams = other;
    FINE(cuGraphExecNodeSetParams(x, k, &kernel)); // 10 + 6
    FINE(cuGraphLaunch(x, 0));
    FINE(cuCtxSynchronize());
    WANT(h[31] == 16);
    FINE(cuGraphExecDestroy(x));
    FINE(cuGraphNodeSetParams(k, &kernel)); // 16 + 6
    FINE(cuGraphInstantiateWithFlags(&x, g, 0));
    FINE(cuGraphLaunch(x, 0));
    FINE(cuCtxSynchronize());
    WANT(h[31] == 22);
    FINE(cuGraphExecDestroy(x));
    WANT(destroyed == 0);
    FINE(cuGraphDestroy(g));
    WANT(destroyed == 1);
}

// A conditional node of the driver, whose graph runs while its variable is 1: once, since the body sets it to 0.
__global__ void stop(cudaGraphConditionalHandle handle, int *p) {
    cudaGraphSetConditional(handle, 0);
    ++*p;
}
static void conditions() {
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n, body;
    CUfunction f;
    CUcontext context;
    CUgraphConditionalHandle handle;
    CUgraphNodeParams loop = {}, kernel = {};
    OK(cudaMemset(p, 0, 4));
    OK(cudaGetFuncBySymbol(&f, (const void *)stop));
    FINE(cuCtxGetCurrent(&context));
    FINE(cuGraphCreate(&g, 0));
    FINE(cuGraphConditionalHandleCreate(&handle, g, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    loop.conditional.handle = handle;
    loop.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    loop.conditional.size = 1;
    loop.conditional.ctx = context;
    FINE(cuGraphAddNode(&n, g, NULL, NULL, 0, &loop));
    void *args[] = {&handle, &p};
    kernel.type = CU_GRAPH_NODE_TYPE_KERNEL;
    kernel.kernel.func = f;
    kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1;
    kernel.kernel.blockDimX = kernel.kernel.blockDimY = kernel.kernel.blockDimZ = 1;
    kernel.kernel.kernelParams = args;
    FINE(cuGraphAddNode(&body, loop.conditional.phGraph_out[0], NULL, NULL, 0, &kernel));
    FINE(cuGraphInstantiateWithFlags(&x, g, 0));
    FINE(cuGraphLaunch(x, 0));
    OK(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost));
    WANT(h[0] == 1);
    FINE(cuGraphExecDestroy(x));
    FINE(cuGraphDestroy(g));
}

int main() {
    OK(cudaMalloc(&p, 128));
    copies();
    children();
    events();
    pools();
    driver();
    conditions();
    OK(cudaFree(p));
    return done();
}
