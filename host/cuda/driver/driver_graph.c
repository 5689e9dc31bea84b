/* Graphs: the runtime's, under the driver's names. Descriptions of kernels, fills and calls are laid out alike; of a
 * kernel that is given as a CUkernel in a field of its own, the driver's first one is NULL. */
#include "driver.h"
#include "host/cuda/runtime/runtime_graph_parts.h"

#define SAME(name, runtime, parameters, arguments)                                                                     \
    enum cuda_error runtime parameters;                                                                                \
    CUDA_API enum cuda_error name parameters { DRIVER(runtime arguments); }

/* CUDA_KERNEL_NODE_PARAMS of 12 and later: with a CUkernel, and a context. */
struct kernel_params_v2 {
    struct cuda_kernel_params all;
    const void *kernel;
    struct cuda_context *context;
};

static struct cuda_kernel_params params_of(const struct kernel_params_v2 *p) {
    struct cuda_kernel_params all = p->all;
    all.function = all.function ? all.function : p->kernel;
    return all;
}

CUDA_API enum cuda_error cuGraphAddKernelNode_v2(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                 size_t n, const struct kernel_params_v2 *p) {
    DRIVER(p ? cudaGraphAddKernelNode(out, g, before, n, &(struct cuda_kernel_params[]){params_of(p)}[0])
             : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuGraphAddKernelNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                              const struct cuda_kernel_params *p) {
    DRIVER(cudaGraphAddKernelNode(out, g, before, n, p));
}
CUDA_API enum cuda_error cuGraphKernelNodeSetParams_v2(struct cuda_node *n, const struct kernel_params_v2 *p) {
    DRIVER(p ? cudaGraphKernelNodeSetParams(n, &(struct cuda_kernel_params[]){params_of(p)}[0])
             : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuGraphKernelNodeSetParams(struct cuda_node *n, const struct cuda_kernel_params *p) {
    DRIVER(cudaGraphKernelNodeSetParams(n, p));
}
CUDA_API enum cuda_error cuGraphExecKernelNodeSetParams_v2(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                           const struct kernel_params_v2 *p) {
    DRIVER(p ? cudaGraphExecKernelNodeSetParams(x, n, &(struct cuda_kernel_params[]){params_of(p)}[0])
             : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuGraphExecKernelNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct cuda_kernel_params *p) {
    DRIVER(cudaGraphExecKernelNodeSetParams(x, n, p));
}

/* Both handles are the kernel. */
static enum cuda_error get_kernel(const struct cuda_node *n, struct kernel_params_v2 *out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = cudaGraphKernelNodeGetParams(n, &out->all);
    if (!e) {
        out->kernel = NULL;
        out->context = cuda_current_context;
    }
    return e;
}

CUDA_API enum cuda_error cuGraphKernelNodeGetParams_v2(const struct cuda_node *n, struct kernel_params_v2 *out) {
    DRIVER(get_kernel(n, out));
}
CUDA_API enum cuda_error cuGraphKernelNodeGetParams(const struct cuda_node *n, struct cuda_kernel_params *out) {
    DRIVER(cudaGraphKernelNodeGetParams(n, out));
}

/* Fills and copies name a context, and there is one device. */
CUDA_API enum cuda_error cuGraphAddMemsetNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                              const struct cuda_fill_params *f, const struct cuda_context *c) {
    (void)c;
    DRIVER(cudaGraphAddMemsetNode(out, g, before, n, f));
}
CUDA_API enum cuda_error cuGraphExecMemsetNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct cuda_fill_params *f,
                                                        const struct cuda_context *c) {
    (void)c;
    DRIVER(cudaGraphExecMemsetNodeSetParams(x, n, f));
}

/* driver_memory.c */
struct copy_3d;
enum cuda_error driver_box_of(struct cuda_box *out, const struct copy_3d *c);

static enum cuda_error copy_work(struct cuda_work *w, const struct copy_3d *c) {
    *w = (struct cuda_work){.kind = NODE_COPY};
    return driver_box_of(&w->box, c);
}

static enum cuda_error add_copy(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                const struct copy_3d *c) {
    struct cuda_work w;
    enum cuda_error e = cuda_graph_of(g) && (!n || before) ? copy_work(&w, c) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_graph_add(out, g, before, n, &w);
}

static enum cuda_error set_copy(struct cuda_work *at, const struct copy_3d *c) {
    struct cuda_work w;
    enum cuda_error e = at ? copy_work(&w, c) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_work_replace(at, &w);
}

CUDA_API enum cuda_error cuGraphAddMemcpyNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                              const struct copy_3d *c, const struct cuda_context *in) {
    (void)in;
    DRIVER(add_copy(out, g, before, n, c));
}
CUDA_API enum cuda_error cuGraphMemcpyNodeSetParams(struct cuda_node *n, const struct copy_3d *c) {
    DRIVER(set_copy(cuda_graph_node(n) ? &n->work : NULL, c));
}
CUDA_API enum cuda_error cuGraphExecMemcpyNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct copy_3d *c, const struct cuda_context *in) {
    (void)in;
    DRIVER(set_copy(cuda_exec_work(x, n), c));
}

SAME(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams,
     (const struct cuda_node *n, struct cuda_fill_params *out), (n, out))
SAME(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, (struct cuda_node * n, const struct cuda_fill_params *f),
     (n, f))
SAME(cuGraphAddHostNode, cudaGraphAddHostNode,
     (struct cuda_node * *out, struct cuda_graph *g, node_list before, size_t n, const struct cuda_call *c),
     (out, g, before, n, c))
SAME(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (const struct cuda_node *n, struct cuda_call *out), (n, out))
SAME(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, (struct cuda_node * n, const struct cuda_call *c), (n, c))
SAME(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams,
     (struct cuda_graph_exec * x, const struct cuda_node *n, const struct cuda_call *c), (x, n, c))
SAME(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode,
     (struct cuda_node * *out, struct cuda_graph *g, node_list before, size_t n, struct cuda_graph *child),
     (out, g, before, n, child))
SAME(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph,
     (const struct cuda_node *n, struct cuda_graph **out), (n, out))
SAME(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode,
     (struct cuda_node * *out, struct cuda_graph *g, node_list before, size_t n, struct cuda_event *event),
     (out, g, before, n, event))
SAME(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode,
     (struct cuda_node * *out, struct cuda_graph *g, node_list before, size_t n, struct cuda_event *event),
     (out, g, before, n, event))
SAME(cuGraphClone, cudaGraphClone, (struct cuda_graph * *out, const struct cuda_graph *g), (out, g))
SAME(cuGraphDestroyNode, cudaGraphDestroyNode, (struct cuda_node * n), (n))
SAME(cuGraphNodeFindInClone, cudaGraphNodeFindInClone,
     (struct cuda_node * *out, const struct cuda_node *original, const struct cuda_graph *g), (out, original, g))
SAME(cuGraphAddDependencies_v2, cudaGraphAddDependencies_v2,
     (struct cuda_graph * g, node_list from, node_list to, const void *kinds, size_t n), (g, from, to, kinds, n))
SAME(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies_v2,
     (const struct cuda_graph *g, node_list from, node_list to, const void *kinds, size_t n), (g, from, to, kinds, n))
SAME(cuGraphGetEdges_v2, cudaGraphGetEdges_v2,
     (const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to, void *kinds, size_t *n),
     (g, from, to, kinds, n))
SAME(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies_v2,
     (const struct cuda_node *of, struct cuda_node **out, void *kinds, size_t *n), (of, out, kinds, n))
SAME(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes_v2,
     (const struct cuda_node *of, struct cuda_node **out, void *kinds, size_t *n), (of, out, kinds, n))
SAME(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled,
     (struct cuda_graph_exec * x, const struct cuda_node *n, unsigned on), (x, n, on))
SAME(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled,
     (struct cuda_graph_exec * x, const struct cuda_node *n, unsigned *out), (x, n, out))
SAME(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute,
     (struct cuda_node * n, int which, const void *value), (n, which, value))
SAME(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, (struct cuda_node * n, int which, void *out),
     (n, which, out))
SAME(cuGraphExecGetFlags, cudaGraphExecGetFlags, (const struct cuda_graph_exec *x, unsigned long long *out), (x, out))
struct instantiation;
SAME(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams,
     (struct cuda_graph_exec * *out, struct cuda_graph *g, struct instantiation *p), (out, g, p))

/* Without the kinds of edges. */
CUDA_API enum cuda_error cuGraphAddDependencies(struct cuda_graph *g, node_list from, node_list to, size_t n) {
    return cuGraphAddDependencies_v2(g, from, to, NULL, n);
}
CUDA_API enum cuda_error cuGraphRemoveDependencies(const struct cuda_graph *g, node_list from, node_list to, size_t n) {
    return cuGraphRemoveDependencies_v2(g, from, to, NULL, n);
}
CUDA_API enum cuda_error cuGraphGetEdges(const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to,
                                         size_t *n) {
    return cuGraphGetEdges_v2(g, from, to, NULL, n);
}
CUDA_API enum cuda_error cuGraphNodeGetDependencies(const struct cuda_node *of, struct cuda_node **out, size_t *n) {
    return cuGraphNodeGetDependencies_v2(of, out, NULL, n);
}
CUDA_API enum cuda_error cuGraphNodeGetDependentNodes(const struct cuda_node *of, struct cuda_node **out, size_t *n) {
    return cuGraphNodeGetDependentNodes_v2(of, out, NULL, n);
}

/* 12: one place for all that is told of a failure. */
CUDA_API enum cuda_error cuGraphExecUpdate_v2(struct cuda_graph_exec *x, struct cuda_graph *g, void *told) {
    DRIVER(cuda_exec_update(x, g, told));
}
