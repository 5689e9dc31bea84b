/* Implements executable graphs: launches and changes. */
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

/* An executable graph: a copy of the graph, with its nodes in execution order. */
struct cuda_graph_exec {
    struct cuda_graph_exec *next;
    struct cuda_work *work;
    const struct cuda_node **of; /* index in `work` -> the node of the original graph from which this work was copied */
    bool *disabled;
    int n;
    struct cuda_held *held;    /* objects of the program */
    unsigned long long flags;  /* the flags that the program passed; all but FREES are hints without effect */
    unsigned long long ticket; /* of the latest launch, which the next launch follows */
};

enum { FREES = 1 };                   /* cudaGraphInstantiateFlagAutoFreeOnLaunch */
static struct cuda_graph_exec *execs; /* list of all executable graphs of the program, to look up handles */

static struct cuda_graph_exec *exec_of(const struct cuda_graph_exec *x) {
    struct cuda_graph_exec *i = execs;
    while (i && i != x)
        i = i->next;
    return i;
}

/* Waits until no launch of the graph is in flight, and returns the graph; NULL if the handle is invalid. */
static struct cuda_graph_exec *idle_exec_of(const struct cuda_graph_exec *handle) {
    struct cuda_graph_exec *x = exec_of(handle);
    while (x && cuda_runner_has(x->ticket)) {
        cuda_runner_await(x->ticket);
        x = exec_of(handle);
    }
    return x;
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

/* Returns CUDA_ErrorNotSupported for graphs that kernels are to launch, because such launches are not simulated. */
enum cuda_error cuda_graph_instantiate_with(struct cuda_graph_exec **out, struct cuda_graph *g,
                                            unsigned long long flags) {
    CUDA_LOCK;
    enum { FOR_KERNELS = 4, ALL = 15 };
    if (flags & ~(unsigned long long)ALL)
        return CUDA_ErrorInvalidValue;
    return flags & FOR_KERNELS ? CUDA_ErrorNotSupported : instantiate(out, g, flags);
}

enum cuda_error cuda_graph_instantiate_params(struct cuda_graph_exec **out, struct cuda_graph *g,
                                              struct cuda_instantiation *p) {
    CUDA_LOCK;
    enum { MADE = 0, FAILED = 1 };
    enum cuda_error e = p ? cuda_graph_instantiate_with(out, g, p->flags) : CUDA_ErrorInvalidValue;
    if (p) {
        p->wrong = NULL;
        p->result = e ? FAILED : MADE;
    }
    return e;
}

enum cuda_error cuda_exec_flags(const struct cuda_graph_exec *x, unsigned long long *out) {
    CUDA_LOCK;
    if (!exec_of(x) || !out)
        return CUDA_ErrorInvalidValue;
    *out = x->flags;
    return CUDA_Success;
}

enum cuda_error cuda_exec_destroy(struct cuda_graph_exec *x) {
    CUDA_LOCK;
    x = idle_exec_of(x);
    for (struct cuda_graph_exec **i = &execs; x && *i; i = &(*i)->next)
        if (*i == x) {
            *i = x->next;
            free_exec(x);
            free(x);
            return CUDA_Success;
        }
    return CUDA_ErrorInvalidValue;
}

/* Adds the nodes to the captured stream as a chain. */
static enum cuda_error capture_exec(struct cuda_stream *s, const struct cuda_graph_exec *x) {
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < x->n; i++)
        e = x->disabled[i] ? CUDA_Success : cuda_capture(s, &x->work[i]);
    return e;
}

/* Frees the memory that an earlier launch allocated and nobody freed. Fails if the program did not ask for this
 * (CUDA's description of cudaGraphLaunch()). */
static enum cuda_error free_held(const struct cuda_graph_exec *x) {
    for (int i = 0; i < x->n; i++)
        if (x->work[i].kind == NODE_ALLOC && x->work[i].memory->held) {
            if (!(x->flags & FREES))
                return CUDA_ErrorInvalidValue;
            x->work[i].memory->held = false;
        }
    return CUDA_Success;
}

static enum cuda_error run(const void *exec) {
    const struct cuda_graph_exec *x = exec;
    enum cuda_error e = CUDA_Success;
    for (int i = 0; !e && i < x->n; i++)
        e = cuda_condition_reset(&x->work[i]);
    for (int i = 0; !e && i < x->n; i++)
        e = x->disabled[i] ? CUDA_Success : cuda_work_run(&x->work[i]);
    return e;
}

enum cuda_error cuda_exec_launch(const struct cuda_graph_exec *x, struct cuda_stream *s) {
    CUDA_LOCK;
    struct cuda_graph_exec *own = exec_of(x);
    if (!own)
        return CUDA_ErrorInvalidValue;
    if (cuda_capturing(s))
        return capture_exec(s, x);
    enum cuda_error e = free_held(x);
    const struct cuda_work launch = {NODE_TASK, .task = {run, own, false, NULL}};
    return e ? e : cuda_submit(&launch, s, x->ticket, &own->ticket);
}

enum cuda_error cuda_exec_upload(const struct cuda_graph_exec *x) {
    CUDA_LOCK;
    return exec_of(x) ? CUDA_Success : CUDA_ErrorInvalidValue;
}

/* Returns the work that was copied from a node of the graph; NULL if there is none. */
static struct cuda_work *work_of(struct cuda_graph_exec *x, const struct cuda_node *n) {
    x = idle_exec_of(x);
    for (int i = 0; x && i < x->n; i++)
        if (x->of[i] == n)
            return &x->work[i];
    return NULL;
}

enum cuda_error cuda_exec_set_work(struct cuda_graph_exec *x, const struct cuda_node *n, const struct cuda_work *w) {
    CUDA_LOCK;
    struct cuda_work *at = work_of(x, n);
    return at ? cuda_work_replace(at, w) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_exec_set_kernel(struct cuda_graph_exec *x, const struct cuda_node *n,
                                     const struct cuda_kernel_params *p) {
    CUDA_LOCK;
    return cuda_work_set_kernel(work_of(x, n), p);
}

enum cuda_error cuda_exec_set_fill(struct cuda_graph_exec *x, const struct cuda_node *n,
                                   const struct cuda_fill_params *f) {
    CUDA_LOCK;
    return cuda_can_fill(f) ? cuda_exec_set_work(x, n, &(struct cuda_work[]){cuda_fill_work(f)}[0])
                            : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_exec_set_call(struct cuda_graph_exec *x, const struct cuda_node *n, const struct cuda_call *c) {
    CUDA_LOCK;
    return c && c->call ? cuda_exec_set_work(x, n, &(struct cuda_work){NODE_HOST, .call = *c}) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_exec_set_event(struct cuda_graph_exec *x, const struct cuda_node *n, enum cuda_node_kind kind,
                                    struct cuda_event *event) {
    return event ? cuda_exec_set_work(x, n, &(struct cuda_work){kind, .event = event}) : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_exec_set_child(struct cuda_graph_exec *x, const struct cuda_node *n, struct cuda_graph *child) {
    CUDA_LOCK;
    return cuda_graph_of(child) ? cuda_exec_set_work(x, n, &(struct cuda_work){NODE_GRAPH, .graph = child})
                                : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_exec_enable(struct cuda_graph_exec *x, const struct cuda_node *n, bool on) {
    CUDA_LOCK;
    const struct cuda_work *w = work_of(x, n);
    if (!w)
        return CUDA_ErrorInvalidValue;
    x->disabled[w - x->work] = !on;
    return CUDA_Success;
}

enum cuda_error cuda_exec_enabled(struct cuda_graph_exec *x, const struct cuda_node *n, unsigned *out) {
    CUDA_LOCK;
    const struct cuda_work *w = work_of(x, n);
    if (!w || !out)
        return CUDA_ErrorInvalidValue;
    *out = !x->disabled[w - x->work];
    return CUDA_Success;
}

/* Replaces the work by the work of a graph that has nodes of equal kinds in equal order. */
static enum cuda_error update(struct cuda_graph_exec *x, struct cuda_graph *g) {
    struct cuda_graph_exec fresh;
    enum cuda_error e = idle_exec_of(x) && cuda_graph_of(g) ? fill_exec(&fresh, g) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    bool same = fresh.n == x->n;
    for (int i = 0; same && i < x->n; i++)
        same = fresh.work[i].kind == x->work[i].kind;
    /* only x->work is replaced and not x->of, so later changes still refer to the nodes of the original graph */
    if (same) {
        struct cuda_work *work = x->work;
        x->work = fresh.work;
        fresh.work = work;
    }
    free_exec(&fresh);
    return same ? CUDA_Success : CUDA_ErrorGraphExecUpdateFailure;
}

enum cuda_error cuda_exec_update(struct cuda_graph_exec *x, struct cuda_graph *g, void *result) {
    CUDA_LOCK;
    enum { RESULT_BYTES = 24, UPDATED = 0, TOPOLOGY_CHANGED = 2 };
    enum cuda_error e = update(x, g);
    if (result) {
        memset(result, 0, RESULT_BYTES);
        *(int *)result = e ? TOPOLOGY_CHANGED : UPDATED;
    }
    return e;
}
