// Conditional nodes of graphs: while, if with and without else, switch, one inside another, default values at each
// launch, and a capture into a node's graph.
#include "mistakes.h"
__global__ void add(int *p, int v) { *p += v; }
// Counts *p down; the loop continues until it is 0.
__global__ void down(cudaGraphConditionalHandle h, int *p) { cudaGraphSetConditional(h, --*p > 0); }
__global__ void choose(cudaGraphConditionalHandle h, const int *p) { cudaGraphSetConditional(h, *p); }
static int *p; // managed: a counter, and results

static cudaGraphNode_t condition(cudaGraph_t g, cudaGraphNode_t after, cudaGraphConditionalHandle h,
                                 cudaGraphConditionalNodeType type, unsigned n, cudaGraph_t *bodies) {
    cudaGraphNodeParams np = {};
    np.type = cudaGraphNodeTypeConditional;
    np.conditional.handle = h;
    np.conditional.type = type;
    np.conditional.size = n;
    cudaGraphNode_t node;
    OK(cudaGraphAddNode(&node, g, after ? &after : nullptr, nullptr, after ? 1 : 0, &np));
    for (unsigned i = 0; i < n; i++)
        bodies[i] = np.conditional.phGraph_out[i];
    return node;
}

static cudaGraphNode_t kernel(cudaGraph_t g, cudaGraphNode_t after, void *f, void **args) {
    cudaGraphNodeParams np = {};
    np.type = cudaGraphNodeTypeKernel;
    np.kernel.func = f;
    np.kernel.gridDim = np.kernel.blockDim = 1;
    np.kernel.kernelParams = args;
    cudaGraphNode_t node;
    OK(cudaGraphAddNode(&node, g, after ? &after : nullptr, nullptr, after ? 1 : 0, &np));
    return node;
}

static void run(cudaGraph_t g, int times) {
    cudaGraphExec_t x;
    OK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < times; i++)
        OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(x));
}

// The loop's graph is captured from a stream. The handle's default value 1 lets the loop begin at each launch.
static void loop() {
    cudaGraph_t g, body;
    cudaGraphConditionalHandle h;
    cudaStream_t s;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaStreamCreate(&s));
    OK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    condition(g, nullptr, h, cudaGraphCondTypeWhile, 1, &body);
    OK(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, s>>>(p + 1, 10);
    down<<<1, 1, 0, s>>>(h, p);
    OK(cudaStreamEndCapture(s, nullptr));
    size_t n = 0;
    OK(cudaGraphGetNodes(body, nullptr, &n));
    WANT(n == 2);
    p[0] = 5, p[1] = 0;
    run(g, 1);
    WANT(p[0] == 0 && p[1] == 50); // five rounds
    p[0] = 1;
    run(g, 2); // one round, then one more: *p becomes -1
    WANT(p[0] == -1 && p[1] == 70);
    OK(cudaGraphDestroy(g));
    OK(cudaStreamDestroy(s));
}

// if-else inside the graph of a switch: p[2] chooses the case, p[3] the side.
static void nested() {
    cudaGraph_t g, cases[3], sides[2];
    cudaGraphConditionalHandle h, inner;
    int one = 1, ten = 10, hundred = 100;
    int *chosen = p + 2, *side = p + 3, *sum = p + 1;
    void *args_of_choice[] = {&h, &chosen}, *args_of_side[] = {&inner, &side};
    void *args1[] = {&sum, &one}, *args10[] = {&sum, &ten}, *args100[] = {&sum, &hundred};
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    cudaGraphNode_t first = kernel(g, nullptr, (void *)choose, args_of_choice);
    condition(g, first, h, cudaGraphCondTypeSwitch, 3, cases);
    kernel(cases[0], nullptr, (void *)add, args1);
    OK(cudaGraphConditionalHandleCreate(&inner, cases[2], 0, cudaGraphCondAssignDefault));
    cudaGraphNode_t set = kernel(cases[2], nullptr, (void *)choose, args_of_side);
    condition(cases[2], set, inner, cudaGraphCondTypeIf, 2, sides);
    kernel(sides[0], nullptr, (void *)add, args10);
    kernel(sides[1], nullptr, (void *)add, args100);
    static const int cases_of[][3] = {{0, 0, 1}, {1, 0, 0}, {2, 1, 10}, {2, 0, 100}, {3, 1, 0}, {-1, 1, 0}};
    for (auto &w : cases_of) {
        p[1] = 0, p[2] = w[0], p[3] = w[1];
        run(g, 1);
        WANT(p[1] == w[2]);
    }
    OK(cudaGraphDestroy(g));
}

static void refused() {
    cudaGraph_t g, other;
    cudaGraphConditionalHandle h;
    cudaGraphNode_t node;
    cudaGraphNodeParams np = {};
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphCreate(&other, 0));
    FAILS(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&h, g, 0, 2));
    OK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    np.type = cudaGraphNodeTypeConditional;
    np.conditional.handle = h + 8; // no handle
    np.conditional.type = cudaGraphCondTypeWhile;
    np.conditional.size = 1;
    FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &np));
    np.conditional.handle = h; // of another graph
    FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &np));
    np.conditional.size = 2; // a loop has one body
    FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &np));
    np.conditional.type = cudaGraphCondTypeIf;
    np.conditional.size = 0;
    FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &np));
    np.conditional.size = 1; // without else
    OK(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &np));
    run(g, 1);
    OK(cudaGraphDestroy(g));
    OK(cudaGraphDestroy(other));
}

int main() {
    size_t before = 0, after = 1, all;
    OK(cudaMallocManaged(&p, 4 * sizeof *p));
    loop();
    OK(cudaMemGetInfo(&before, &all));
    loop();
    nested();
    refused();
    OK(cudaMemGetInfo(&after, &all));
    WANT(after == before); // a graph frees the words of its handles
    return done();
}
