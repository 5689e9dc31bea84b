/* User objects of the program, with a reference count. A graph holds references, so that the objects live as long as
 * the graph. */
#include "core_graph_parts.h"
#include <stdlib.h>

struct cuda_user_object {
    struct cuda_user_object *next;
    void *data;
    void (*destroy)(void *);
    unsigned uses;
};
/* An object to which a graph holds `n` references. */
struct cuda_held {
    struct cuda_held *next;
    struct cuda_user_object *object;
    unsigned n;
};
static struct cuda_user_object *objects; /* under the lock */

static struct cuda_user_object *object_of(const struct cuda_user_object *o) {
    struct cuda_user_object *i = objects;
    while (i && i != o)
        i = i->next;
    return i;
}

enum cuda_error cuda_user_object_new(struct cuda_user_object **out, void *data, void (*destroy)(void *), unsigned uses,
                                     unsigned flags) {
    CUDA_LOCK;
    enum { NO_SYNC = 1 };
    struct cuda_user_object *o = out && destroy && uses && flags == NO_SYNC ? malloc(sizeof *o) : NULL;
    if (!o)
        return out && destroy && uses && flags == NO_SYNC ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    *o = (struct cuda_user_object){objects, data, destroy, uses};
    *out = objects = o;
    return CUDA_Success;
}

enum cuda_error cuda_user_object_retain(struct cuda_user_object *o, unsigned n) {
    CUDA_LOCK;
    if (!object_of(o) || !n || n > (unsigned)INT32_MAX - o->uses)
        return CUDA_ErrorInvalidValue;
    o->uses += n;
    return CUDA_Success;
}

/* Drops `n` references to an object. Dropping the last reference destroys the object. */
enum cuda_error cuda_user_object_release(struct cuda_user_object *o, unsigned n) {
    CUDA_LOCK;
    if (!object_of(o) || !n || n > o->uses)
        return CUDA_ErrorInvalidValue;
    if (o->uses -= n)
        return CUDA_Success;
    for (struct cuda_user_object **i = &objects; *i; i = &(*i)->next)
        if (*i == o) {
            *i = o->next;
            break;
        }
    o->destroy(o->data);
    free(o);
    return CUDA_Success;
}

/* Adds `n` references to an object to a list. If `move` is set, the program's references are transferred to the graph;
 * otherwise the references are new. */
static enum cuda_error hold(struct cuda_held **list, struct cuda_user_object *o, unsigned n, bool move) {
    struct cuda_held *h = malloc(sizeof *h);
    enum cuda_error e = !h ? CUDA_ErrorMemoryAllocation : move ? CUDA_Success : cuda_user_object_retain(o, n);
    if (e) {
        free(h);
        return e;
    }
    *h = (struct cuda_held){*list, o, n};
    *list = h;
    return CUDA_Success;
}

enum cuda_error cuda_graph_hold(struct cuda_graph *g, struct cuda_user_object *o, unsigned n, unsigned flags) {
    CUDA_LOCK;
    enum { MOVE = 1 };
    if (!cuda_graph_of(g) || !object_of(o) || !n || flags > MOVE || (flags && n > o->uses))
        return CUDA_ErrorInvalidValue;
    return hold(&g->held, o, n, flags);
}

enum cuda_error cuda_graph_release(struct cuda_graph *g, struct cuda_user_object *o, unsigned n) {
    CUDA_LOCK;
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
    return cuda_user_object_release(o, n);
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
        cuda_user_object_release(h->object, h->n);
        free(h);
    }
}
