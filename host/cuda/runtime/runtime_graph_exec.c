/* Graphs made ready to run, their launches and their changes. */
#include "runtime_graph_parts.h"
#include <stdlib.h>
#include <string.h>

/* A graph made ready: a copy of it, in order. */
struct cuda_graph_exec {
    struct cuda_graph_exec *next;
    struct cuda_work *work;
    const struct cuda_node **of; /* the graph's node of each, for changes */
    bool *disabled;
    int n;
    struct cuda_held *held;   /* objects of the program */
    unsigned long long flags; /* as the program gave them; hints */
};

static struct cuda_graph_exec *execs; /* all that programs have: handles are looked up */

static struct cuda_graph_exec *exec_of(const struct cuda_graph_exec *x) {
    struct cuda_graph_exec *i = execs;
    while (i && i != x)
        i = i->next;
    return i;
}

static void free_exec(struct cuda_graph_exec *x) {
    for (int i = 0; x->work && i < x->n; i++)
        cuda_work_free(&x->work[i]);
    free(x->work);
    free(x->of);
    free(x->disabled);
    cuda_held_drop(&x->held);
}

static enum cuda_error fill_exec(struct cuda_graph_exec *x, struct cuda_graph *g) {
    enum cuda_error e;
    struct cuda_node **order = cuda_graph_order(g, &e);
    *x = (struct cuda_graph_exec){.work = order ? calloc((size_t)g->n + 1, sizeof *x->work) : NULL,
                                  .of = calloc((size_t)g->n + 1, sizeof *x->of),
                                  .disabled = calloc((size_t)g->n + 1, sizeof *x->disabled)};
    if (!e && (!x->work || !x->of || !x->disabled || !cuda_held_copy(&x->held, g->held)))
        e = CUDA_ErrorMemoryAllocation;
    for (int i = 0; !e && i < g->n; i++) {
        x->of[i] = order[i];
        x->work[i] = order[i]->work;
        if (cuda_work_own(&x->work[i]))
            x->n++;
        else
            e = CUDA_ErrorMemoryAllocation;
    }
    free(order);
    if (e)
        free_exec(x);
    return e;
}

static enum cuda_error instantiate(struct cuda_graph_exec **out, struct cuda_graph *g, unsigned long long flags) {
    struct cuda_graph_exec *x = out && cuda_graph_of(g) ? malloc(sizeof *x) : NULL;
    if (!x)
        return out && cuda_graph_of(g) ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    enum cuda_error e = fill_exec(x, g);
    if (e) {
        free(x);
        return e;
    }
    x->next = execs;
    x->flags = flags;
    *out = execs = x;
    return CUDA_Success;
}

/* 11 has more behind it: where to tell of a mistake. */
CUDA_API enum cuda_error cudaGraphInstantiate(struct cuda_graph_exec **out, struct cuda_graph *g) {
    GUARD(instantiate(out, g, 0));
}

/* Launches by kernels are not simulated. */
static enum cuda_error instantiate_with(struct cuda_graph_exec **out, struct cuda_graph *g, unsigned long long flags) {
    enum { FOR_KERNELS = 4, ALL = 15 };
    if (flags & ~(unsigned long long)ALL)
        return CUDA_ErrorInvalidValue;
    return flags & FOR_KERNELS ? CUDA_ErrorNotSupported : instantiate(out, g, flags);
}

CUDA_API enum cuda_error cudaGraphInstantiateWithFlags(struct cuda_graph_exec **out, struct cuda_graph *g,
                                                       unsigned long long flags) {
    GUARD(instantiate_with(out, g, flags));
}

static enum cuda_error flags_of(const struct cuda_graph_exec *x, unsigned long long *out) {
    if (!exec_of(x) || !out)
        return CUDA_ErrorInvalidValue;
    *out = x->flags;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphExecGetFlags(const struct cuda_graph_exec *x, unsigned long long *out) {
    GUARD(flags_of(x, out));
}

static enum cuda_error destroy_exec(struct cuda_graph_exec *x) {
    for (struct cuda_graph_exec **i = &execs; *i; i = &(*i)->next)
        if (*i == x) {
            *i = x->next;
            free_exec(x);
            free(x);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaGraphExecDestroy(struct cuda_graph_exec *x) { GUARD(destroy_exec(x)); }

/* To be noted by a stream, it becomes a graph of its own: a chain. */
static enum cuda_error capture_exec(struct cuda_stream *s, const struct cuda_graph_exec *x) {
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < x->n; i++)
        e = x->disabled[i] ? CUDA_Success : cuda_capture(s, &x->work[i]);
    return e;
}

static enum cuda_error launch(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    if (!exec_of(x))
        return CUDA_ErrorInvalidValue;
    if (cuda_capturing(s))
        return capture_exec(s, x);
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < x->n; i++)
        e = x->disabled[i] ? CUDA_Success : cuda_work_run(&x->work[i]);
    return e;
}

CUDA_API enum cuda_error cudaGraphLaunch(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    GUARD(launch(x, s));
}
CUDA_API enum cuda_error cudaGraphUpload(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    (void)s;
    GUARD(exec_of(x) ? CUDA_Success : CUDA_ErrorInvalidValue);
}

struct cuda_work *cuda_exec_work(struct cuda_graph_exec *x, const struct cuda_node *n) {
    for (int i = 0; exec_of(x) && i < x->n; i++)
        if (x->of[i] == n)
            return &x->work[i];
    return NULL;
}

CUDA_API enum cuda_error cudaGraphExecKernelNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                          const struct cuda_kernel_params *p) {
    GUARD(cuda_work_set_kernel(cuda_exec_work(x, n), p));
}

static enum cuda_error set_work(struct cuda_work *at, struct cuda_work w) {
    return at ? cuda_work_replace(at, &w) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaGraphExecMemcpyNodeSetParams1D(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                            void *to, const void *from, size_t bytes,
                                                            enum cuda_copy kind) {
    GUARD(set_work(cuda_exec_work(x, n), cuda_line_work(to, from, bytes, kind)));
}
CUDA_API enum cuda_error cudaGraphExecMemsetNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                          const struct cuda_fill_params *f) {
    GUARD(cuda_can_fill(f) ? set_work(cuda_exec_work(x, n), cuda_fill_work(f)) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGraphExecHostNodeSetParams(struct cuda_graph_exec *x, const struct cuda_node *n,
                                                        const struct cuda_call *c) {
    GUARD(c && c->call ? set_work(cuda_exec_work(x, n), (struct cuda_work){NODE_HOST, .call = *c})
                       : CUDA_ErrorInvalidValue);
}

static enum cuda_error enable(struct cuda_graph_exec *x, const struct cuda_node *n, bool on) {
    const struct cuda_work *w = cuda_exec_work(x, n);
    if (!w)
        return CUDA_ErrorInvalidValue;
    x->disabled[w - x->work] = !on;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphNodeSetEnabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned on) {
    GUARD(enable(x, n, on != 0));
}

static enum cuda_error is_enabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned *out) {
    const struct cuda_work *w = cuda_exec_work(x, n);
    if (!w || !out)
        return CUDA_ErrorInvalidValue;
    *out = !x->disabled[w - x->work];
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGraphNodeGetEnabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned *out) {
    GUARD(is_enabled(x, n, out));
}

/* A graph of the same shape in the place of what is there. */
static enum cuda_error update(struct cuda_graph_exec *x, struct cuda_graph *g) {
    struct cuda_graph_exec fresh;
    enum cuda_error e = exec_of(x) && cuda_graph_of(g) ? fill_exec(&fresh, g) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    bool same = fresh.n == x->n;
    for (int i = 0; same && i < x->n; i++)
        same = fresh.work[i].kind == x->work[i].kind;
    if (same) { /* the nodes that changes name stay those of the first graph */
        struct cuda_work *work = x->work;
        x->work = fresh.work;
        fresh.work = work;
    }
    free_exec(&fresh);
    return same ? CUDA_Success : CUDA_ErrorGraphExecUpdateFailure;
}

enum { UPDATED = 0, TOPOLOGY_CHANGED = 2 };

/* What is told: what it was, and two nodes. */
enum cuda_error cuda_exec_update(struct cuda_graph_exec *x, struct cuda_graph *g, void *told) {
    enum { TOLD_BYTES = 24 };
    enum cuda_error e = update(x, g);
    if (told) {
        memset(told, 0, TOLD_BYTES);
        *(int *)told = e ? TOPOLOGY_CHANGED : UPDATED;
    }
    return e;
}

/* 12 has one place for all that is told of a failure: what it was, and two nodes; 11 has two. */
CUDA_API enum cuda_error cudaGraphExecUpdate(struct cuda_graph_exec *x, struct cuda_graph *g, void *told, int *what) {
    if (cuda_major() >= 12)
        GUARD(cuda_exec_update(x, g, told));
    enum cuda_error e = cuda_enter();
    e = cuda_leave(e ? e : update(x, g));
    if (told)
        memset(told, 0, sizeof(void *));
    if (what)
        *what = e ? TOPOLOGY_CHANGED : UPDATED;
    return e;
}
