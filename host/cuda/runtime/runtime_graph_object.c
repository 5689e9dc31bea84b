/* Objects of the program that graphs hold, so that they live as long as what uses them. */
#include "runtime_graph_parts.h"
#include <stdlib.h>

struct cuda_object {
    struct cuda_object *next;
    void *data;
    void (*destroy)(void *);
    unsigned uses;
};
/* `n` of the object's uses are a graph's. */
struct cuda_held {
    struct cuda_held *next;
    struct cuda_object *object;
    unsigned n;
};
static struct cuda_object *objects; /* under the lock */

static struct cuda_object *object_of(const struct cuda_object *o) {
    struct cuda_object *i = objects;
    while (i && i != o)
        i = i->next;
    return i;
}

static enum cuda_error create(struct cuda_object **out, void *data, void (*destroy)(void *), unsigned uses,
                              unsigned flags) {
    enum { NO_SYNC = 1 };
    struct cuda_object *o = out && destroy && uses && flags == NO_SYNC ? malloc(sizeof *o) : NULL;
    if (!o)
        return out && destroy && uses && flags == NO_SYNC ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    *o = (struct cuda_object){objects, data, destroy, uses};
    *out = objects = o;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaUserObjectCreate(struct cuda_object **out, void *data, void (*destroy)(void *),
                                              unsigned uses, unsigned flags) {
    GUARD(create(out, data, destroy, uses, flags));
}

static enum cuda_error retain(struct cuda_object *o, unsigned n) {
    if (!object_of(o) || !n || n > (unsigned)INT32_MAX - o->uses)
        return CUDA_ErrorInvalidValue;
    o->uses += n;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaUserObjectRetain(struct cuda_object *o, unsigned n) { GUARD(retain(o, n)); }

/* The last one destroys it. */
static enum cuda_error release(struct cuda_object *o, unsigned n) {
    if (!object_of(o) || !n || n > o->uses)
        return CUDA_ErrorInvalidValue;
    if (o->uses -= n)
        return CUDA_Success;
    for (struct cuda_object **i = &objects; *i; i = &(*i)->next)
        if (*i == o) {
            *i = o->next;
            break;
        }
    o->destroy(o->data);
    free(o);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaUserObjectRelease(struct cuda_object *o, unsigned n) { GUARD(release(o, n)); }

/* With `move` the uses are the program's until now. */
static enum cuda_error hold(struct cuda_held **list, struct cuda_object *o, unsigned n, bool move) {
    struct cuda_held *h = malloc(sizeof *h);
    enum cuda_error e = !h ? CUDA_ErrorMemoryAllocation : move ? CUDA_Success : retain(o, n);
    if (e) {
        free(h);
        return e;
    }
    *h = (struct cuda_held){*list, o, n};
    *list = h;
    return CUDA_Success;
}

static enum cuda_error graph_retain(struct cuda_graph *g, struct cuda_object *o, unsigned n, unsigned flags) {
    enum { MOVE = 1 };
    if (!cuda_graph_of(g) || !object_of(o) || !n || flags > MOVE || (flags && n > o->uses))
        return CUDA_ErrorInvalidValue;
    return hold(&g->held, o, n, flags);
}

CUDA_API enum cuda_error cudaGraphRetainUserObject(struct cuda_graph *g, struct cuda_object *o, unsigned n,
                                                   unsigned flags) {
    GUARD(graph_retain(g, o, n, flags));
}

static enum cuda_error graph_release(struct cuda_graph *g, struct cuda_object *o, unsigned n) {
    struct cuda_held **h = cuda_graph_of(g) ? &g->held : NULL;
    while (h && *h && ((*h)->object != o || (*h)->n < n))
        h = &(*h)->next;
    if (!h || !*h || !n)
        return CUDA_ErrorInvalidValue;
    struct cuda_held *found = *h;
    if (!(found->n -= n)) {
        *h = found->next;
        free(found);
    }
    return release(o, n);
}

CUDA_API enum cuda_error cudaGraphReleaseUserObject(struct cuda_graph *g, struct cuda_object *o, unsigned n) {
    GUARD(graph_release(g, o, n));
}

bool cuda_held_copy(struct cuda_held **to, const struct cuda_held *from) {
    bool ok = true;
    for (; ok && from; from = from->next)
        ok = hold(to, from->object, 1, false) == CUDA_Success;
    return ok;
}

void cuda_held_drop(struct cuda_held **list) {
    while (*list) {
        struct cuda_held *h = *list;
        *list = h->next;
        release(h->object, h->n);
        free(h);
    }
}
