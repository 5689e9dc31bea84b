/* Nodes of any kind by one function (CUDA 12.2): a description of the kind says what else there is. And what else can
 * be said of a kernel's node, and of a graph that is made ready. */
#include "runtime_graph_parts.h"
#include "runtime_launch.h"
#include <string.h>

struct copy_3d;
enum cuda_error cuda_box_of(struct cuda_box *out, const struct copy_3d *c); /* memory.c */

/* cudaGraphNodeParams. */
struct description {
    int kind, zero[3];
    union {
        long long all[29];
        struct cuda_kernel_params kernel;
        struct {
            int flags, zero[3];
            char copy[160]; /* struct copy_3d */
        } copy;
        struct cuda_fill_params fill;
        struct cuda_call call;
        struct cuda_graph *graph;
        struct cuda_event *event;
    };
    long long more;
};

static enum cuda_error work_of(struct cuda_work *w, const struct description *d) {
    *w = (struct cuda_work){.kind = (enum cuda_node_kind)d->kind};
    switch (d->kind) {
    case NODE_KERNEL:
        return cuda_kernel_work(w, &d->kernel);
    case NODE_COPY:
        return cuda_box_of(&w->box, (const struct copy_3d *)(const void *)d->copy.copy);
    case NODE_FILL:
        if (!cuda_can_fill(&d->fill))
            return CUDA_ErrorInvalidValue;
        *w = cuda_fill_work(&d->fill);
        return CUDA_Success;
    case NODE_HOST:
        w->call = d->call;
        return w->call.call ? CUDA_Success : CUDA_ErrorInvalidValue;
    case NODE_GRAPH:
        w->graph = d->graph;
        return cuda_graph_of(w->graph) ? CUDA_Success : CUDA_ErrorInvalidValue;
    case NODE_EMPTY:
        return CUDA_Success;
    case NODE_WAIT:
    case NODE_RECORD:
        w->event = d->event;
        return w->event ? CUDA_Success : CUDA_ErrorInvalidValue;
    default:
        fprintf(stderr,
                "heddle: cudaGraphAddNode: nodes of kind %d (semaphores, memory, conditions) are not simulated\n",
                d->kind);
        return CUDA_ErrorNotSupported;
    }
}

static enum cuda_error add(struct cuda_node **out, struct cuda_graph *g, node_list before, size_t n,
                           const struct description *d) {
    struct cuda_work w;
    if (!out || !d || !cuda_graph_of(g) || (n && !before) || (d->kind == NODE_GRAPH && d->graph == g))
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = work_of(&w, d);
    return e ? e : cuda_graph_add(out, g, before, n, &w);
}

CUDA_API enum cuda_error cudaGraphAddNode_v2(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                             const void *kinds, size_t n, const struct description *d) {
    (void)kinds;
    GUARD(add(out, g, before, n, d));
}
/* 13 has a list of the edges' kinds before the number. */
CUDA_API enum cuda_error cudaGraphAddNode(struct cuda_node **out, struct cuda_graph *g, node_list before,
                                          uintptr_t fourth, uintptr_t fifth, const struct description *d_of_13) {
    bool kinds = cuda_major() >= 13;
    GUARD(add(out, g, before, kinds ? fifth : fourth, kinds ? d_of_13 : (const struct description *)fifth));
}

static enum cuda_error set(struct cuda_work *at, const struct description *d) {
    struct cuda_work w;
    enum cuda_error e = at && d ? work_of(&w, d) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_work_replace(at, &w);
}

CUDA_API enum cuda_error cudaGraphNodeSetParams(struct cuda_node *n, const struct description *d) {
    GUARD(set(cuda_graph_node(n) ? &n->work : NULL, d));
}
CUDA_API enum cuda_error cudaGraphExecNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                    const struct description *d) {
    GUARD(set(cuda_exec_work(x, n), d));
}

/* ---- attributes of kernels' nodes: those of launches ---- */

enum { COOPERATIVE = 2, PRIORITY = 8 };

static struct cuda_launch *launch_of(struct cuda_node *n) {
    return cuda_graph_node(n) && n->work.kind == NODE_KERNEL ? &n->work.launch : NULL;
}

static enum cuda_error set_attribute(struct cuda_launch *l, int which, const void *value) {
    struct cuda_launch_attribute a = {.id = (unsigned)which};
    bool cooperative = false;
    if (!l || !value)
        return CUDA_ErrorInvalidValue;
    memcpy(&a.value, value, sizeof a.value);
    enum cuda_error e = cuda_launch_attributes("cudaGraphKernelNodeSetAttribute", &a, 1, &cooperative);
    if (!e && which == COOPERATIVE)
        l->cooperative = cooperative;
    if (!e && which == PRIORITY)
        memcpy(&l->priority, value, sizeof l->priority);
    return e;
}

static enum cuda_error get_attribute(const struct cuda_launch *l, int which, void *out) {
    int value = !l ? 0 : which == COOPERATIVE ? l->cooperative : l->priority;
    if (!l || !out || (which != COOPERATIVE && which != PRIORITY))
        return l && out ? CUDA_ErrorNotSupported : CUDA_ErrorInvalidValue;
    memset(out, 0, sizeof((struct cuda_launch_attribute *)0)->value);
    memcpy(out, &value, sizeof value);
    return CUDA_Success;
}

static enum cuda_error copy_attributes(struct cuda_launch *to, const struct cuda_launch *from) {
    if (!to || !from)
        return CUDA_ErrorInvalidValue;
    to->cooperative = from->cooperative;
    to->priority = from->priority;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphKernelNodeSetAttribute(struct cuda_node *n, int which, const void *value) {
    GUARD(set_attribute(launch_of(n), which, value));
}
CUDA_API enum cuda_error cudaGraphKernelNodeGetAttribute(struct cuda_node *n, int which, void *out) {
    GUARD(get_attribute(launch_of(n), which, out));
}
/* In 13 the first is where to; before it was where from. */
CUDA_API enum cuda_error cudaGraphKernelNodeCopyAttributes(struct cuda_node *a, struct cuda_node *b) {
    bool to_first = cuda_major() >= 13;
    GUARD(copy_attributes(launch_of(to_first ? a : b), launch_of(to_first ? b : a)));
}

/* ---- instantiation with a description ---- */

/* cudaGraphInstantiateParams. */
struct instantiation {
    unsigned long long flags;
    struct cuda_stream *upload;
    struct cuda_node *wrong;
    int result;
};

CUDA_API enum cuda_error cudaGraphInstantiateWithParams(struct cuda_graph_exec **out, struct cuda_graph *g,
                                                        struct instantiation *p) {
    enum { MADE = 0, FAILED = 1 };
    if (!p)
        return cuda_note(CUDA_ErrorInvalidValue);
    enum cuda_error e = cudaGraphInstantiateWithFlags(out, g, p->flags);
    p->wrong = NULL;
    p->result = e ? FAILED : MADE;
    return e;
}
