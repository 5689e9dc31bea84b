/* Graph functions whose descriptions differ from the runtime's. A description of CUDA 12 names a kernel as a
 * CUfunction or, in a separate field, as a CUkernel. */
#include "driver.h"

static struct cuda_kernel_params params_of(const struct cuda_kernel_params_v2 *p) {
    struct cuda_kernel_params all = p->all;
    all.function = all.function ? all.function : p->kernel;
    return all;
}

CUDA_API enum cuda_error cuGraphAddKernelNode_v2(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                                 size_t n, const struct cuda_kernel_params_v2 *p) {
    DRIVER_BESIDE(p ? cuda_graph_add_kernel(out, g, before, n, &(struct cuda_kernel_params[]){params_of(p)}[0])
                    : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuGraphKernelNodeSetParams_v2(struct cuda_node *n, const struct cuda_kernel_params_v2 *p) {
    DRIVER_BESIDE(p ? cuda_node_set_kernel(n, &(struct cuda_kernel_params[]){params_of(p)}[0])
                    : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuGraphExecKernelNodeSetParams_v2(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                           const struct cuda_kernel_params_v2 *p) {
    DRIVER_BESIDE(p ? cuda_exec_set_kernel(x, n, &(struct cuda_kernel_params[]){params_of(p)}[0])
                    : CUDA_ErrorInvalidValue);
}

/* Describes the work of a kernel node. out->kernel stays NULL, because the CUfunction alone identifies the kernel. */
static enum cuda_error get_kernel(const struct cuda_node *n, struct cuda_kernel_params_v2 *out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = cuda_node_kernel(n, &out->all);
    if (!e) {
        out->kernel = NULL;
        out->context = cuda_current_context;
    }
    return e;
}

CUDA_API enum cuda_error cuGraphKernelNodeGetParams_v2(const struct cuda_node *n, struct cuda_kernel_params_v2 *out) {
    DRIVER_BESIDE(get_kernel(n, out));
}

/* Fills and copies also specify a context, which has no effect. */
CUDA_API enum cuda_error cuGraphAddMemsetNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                              const struct cuda_fill_params *f, const struct cuda_context *c) {
    (void)c;
    DRIVER_BESIDE(cuda_graph_add_fill(out, g, before, n, f));
}
CUDA_API enum cuda_error cuGraphExecMemsetNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct cuda_fill_params *f,
                                                        const struct cuda_context *c) {
    (void)c;
    DRIVER_BESIDE(cuda_exec_set_fill(x, n, f));
}

static enum cuda_error copy_work(struct cuda_work *w, const struct copy_3d *c) {
    *w = (struct cuda_work){.kind = NODE_COPY};
    return driver_box_of(&w->box, c);
}

static enum cuda_error add_copy(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                const struct copy_3d *c) {
    struct cuda_work w;
    enum cuda_error e = cuda_graph_of(g) && (!n || before) ? copy_work(&w, c) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_graph_add_work(out, g, before, n, &w);
}

static enum cuda_error set_copy(struct cuda_node *n, const struct copy_3d *c) {
    struct cuda_work w;
    enum cuda_error e = n ? copy_work(&w, c) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_node_set_work(n, &w);
}

static enum cuda_error exec_set_copy(struct cuda_graph_exec *x, const struct cuda_node *n, const struct copy_3d *c) {
    struct cuda_work w;
    enum cuda_error e = x && n ? copy_work(&w, c) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_exec_set_work(x, n, &w);
}

CUDA_API enum cuda_error cuGraphAddMemcpyNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                              const struct copy_3d *c, const struct cuda_context *in) {
    (void)in;
    DRIVER_BESIDE(add_copy(out, g, before, n, c));
}
CUDA_API enum cuda_error cuGraphMemcpyNodeSetParams(struct cuda_node *n, const struct copy_3d *c) {
    DRIVER_BESIDE(set_copy(n, c));
}
CUDA_API enum cuda_error cuGraphExecMemcpyNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct copy_3d *c, const struct cuda_context *in) {
    (void)in;
    DRIVER_BESIDE(exec_set_copy(x, n, c));
}

/* These functions have the forms of CUDA 11 and 12, which lack the parameter for edge kinds. */
CUDA_API enum cuda_error cuGraphAddDependencies(struct cuda_graph *g, node_list from, node_list to, size_t n) {
    DRIVER_BESIDE(cuda_graph_add_edges(g, from, to, n));
}
CUDA_API enum cuda_error cuGraphRemoveDependencies(const struct cuda_graph *g, node_list from, node_list to, size_t n) {
    DRIVER_BESIDE(cuda_graph_remove_edges(g, from, to, n));
}
CUDA_API enum cuda_error cuGraphGetEdges(const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to,
                                         size_t *n) {
    DRIVER_BESIDE(cuda_graph_edges(g, from, to, NULL, n));
}
CUDA_API enum cuda_error cuGraphNodeGetDependencies(const struct cuda_node *of, struct cuda_node **out, size_t *n) {
    DRIVER_BESIDE(cuda_node_neighbours(of, out, NULL, n, true));
}
CUDA_API enum cuda_error cuGraphNodeGetDependentNodes(const struct cuda_node *of, struct cuda_node **out, size_t *n) {
    DRIVER_BESIDE(cuda_node_neighbours(of, out, NULL, n, false));
}

/* Replaces the work of an executable graph by the work of graph `g`. `result` is the struct of CUDA 12 that describes a
 * failure. */
CUDA_API enum cuda_error cuGraphExecUpdate_v2(struct cuda_graph_exec *x, struct cuda_graph *g, void *result) {
    DRIVER_BESIDE(cuda_exec_update(x, g, result));
}
static enum cuda_error update_11(struct cuda_graph_exec *x, struct cuda_graph *g, struct cuda_node **wrong, int *told) {
    int result[6]; /* the 24 bytes of the struct */
    const enum cuda_error e = cuda_exec_update(x, g, result);
    if (wrong)
        *wrong = NULL;
    if (told)
        *told = result[0];
    return e;
}

/* The form of CUDA 11, with a node and a number instead of the struct. */
CUDA_API enum cuda_error cuGraphExecUpdate(struct cuda_graph_exec *x, struct cuda_graph *g, struct cuda_node **wrong,
                                           int *told) {
    DRIVER_BESIDE(update_11(x, g, wrong, told));
}
CUDA_API enum cuda_error cuGraphKernelNodeCopyAttributes(struct cuda_node *to, struct cuda_node *from) {
    DRIVER_BESIDE(cuda_node_copy_attributes(to, from));
}
CUDA_API enum cuda_error cuGraphConditionalHandleCreate(uint64_t *out, struct cuda_graph *g,
                                                        const struct cuda_context *c, unsigned value, unsigned flags) {
    (void)c;
    DRIVER_BESIDE(cuda_condition_create(out, g, value, flags));
}

/* ---- nodes of any kind (CUDA 12.2): the description names the kind ---- */

static enum cuda_error work_of(struct cuda_work *w, const struct cuda_node_params *p) {
    struct cuda_node_params named = *p;
    if (p->kind == NODE_COPY)
        return copy_work(w, (const struct copy_3d *)(const void *)p->copy.box);
    if (p->kind == NODE_KERNEL)
        named.kernel = params_of(&p->kernel_v2);
    return cuda_described_work(w, &named);
}

CUDA_API enum cuda_error cuGraphAddNode(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                                        struct cuda_node_params *p) {
    DRIVER_BESIDE(cuda_graph_add_params(out, g, before, n, p, work_of));
}
CUDA_API enum cuda_error cuGraphAddNode_v2(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                           const void *kinds, size_t n, struct cuda_node_params *p) {
    (void)kinds;
    DRIVER_BESIDE(cuda_graph_add_params(out, g, before, n, p, work_of));
}
CUDA_API enum cuda_error cuGraphNodeSetParams(struct cuda_node *n, const struct cuda_node_params *p) {
    DRIVER_BESIDE(cuda_node_set_params(n, p, work_of));
}
CUDA_API enum cuda_error cuGraphExecNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                  const struct cuda_node_params *p) {
    DRIVER_BESIDE(cuda_exec_set_params(x, n, p, work_of));
}
