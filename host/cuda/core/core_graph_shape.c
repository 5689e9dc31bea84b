/* Lists and changes the edges of graphs, and removes nodes. All edges have edge kind 0, the ordinary kind. */
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

enum { KIND_BYTES = 8 };

/* Returns the graph that contains the node: `g`, or a graph inside a node of `g`; NULL if there is none. */
static struct cuda_graph *owner_within(struct cuda_graph *g, const struct cuda_node *n) {
    if (cuda_graph_has(g, n))
        return g;
    struct cuda_graph *inner, *found;
    for (const struct cuda_node *i = g->first; i; i = i->next)
        for (unsigned k = 0; (inner = cuda_work_graph(&i->work, k)); k++)
            if ((found = owner_within(inner, n)))
                return found;
    return NULL;
}

static struct cuda_graph *owner_of(const struct cuda_node *n) {
    struct cuda_graph *found = NULL;
    for (struct cuda_graph *g = n ? cuda_graph_all() : NULL; g && !found; g = g->next)
        found = owner_within(g, n);
    return found;
}

/* The caller's output arrays, each with room for `room` edges. Any array may be NULL. `n` counts the edges found. */
struct lists {
    struct cuda_node **from, **to;
    char *kinds;
    size_t room, n;
};

static void add_edge(struct lists *p, struct cuda_node *from, struct cuda_node *to) {
    if (p->n < p->room) {
        if (p->from)
            p->from[p->n] = from;
        if (p->to)
            p->to[p->n] = to;
        if (p->kinds)
            memset(p->kinds + p->n * KIND_BYTES, 0, KIND_BYTES);
    }
    p->n++;
}

/* Lists the edges of a graph. If `only_from` or `only_to` is not NULL, lists only the edges from or to this node. */
static void list_edges(struct lists *p, const struct cuda_graph *g, const struct cuda_node *only_from,
                       const struct cuda_node *only_to) {
    for (struct cuda_node *n = g->first; n; n = n->next)
        for (int i = 0; i < n->n_before; i++)
            if ((!only_to || n == only_to) && (!only_from || n->before[i] == only_from))
                add_edge(p, n->before[i], n);
}

/* Sets *n to the number of edges that were listed; if there are no output arrays, to the number of all edges. Clears
 * the unused rest of the arrays. */
static enum cuda_error finish_lists(struct lists *p, size_t *n) {
    bool lists = p->from || p->to;
    for (size_t i = p->n; lists && i < p->room; i++) {
        if (p->from)
            p->from[i] = NULL;
        if (p->to)
            p->to[i] = NULL;
    }
    *n = lists && p->n > p->room ? p->room : p->n;
    return CUDA_Success;
}

enum cuda_error cuda_graph_edges(const struct cuda_graph *g, struct cuda_node **from, struct cuda_node **to,
                                 void *kinds, size_t *n) {
    CUDA_LOCK;
    if (!cuda_graph_of(g) || !n || !from != !to)
        return CUDA_ErrorInvalidValue;
    struct lists p = {from, to, kinds, *n, 0};
    list_edges(&p, g, NULL, NULL);
    return finish_lists(&p, n);
}

enum cuda_error cuda_node_neighbours(const struct cuda_node *of, struct cuda_node **out, void *kinds, size_t *n,
                                     bool before) {
    CUDA_LOCK;
    const struct cuda_graph *g = owner_of(of);
    if (!g || !n)
        return CUDA_ErrorInvalidValue;
    struct lists p = {before ? out : NULL, before ? NULL : out, kinds, *n, 0};
    list_edges(&p, g, before ? NULL : of, before ? of : NULL);
    return finish_lists(&p, n);
}

/* Removes an edge. Returns false if the edge does not exist. */
static bool remove_edge(struct cuda_node *n, const struct cuda_node *from) {
    int kept = 0, had = n->n_before;
    for (int i = 0; i < had; i++)
        if (n->before[i] != from)
            n->before[kept++] = n->before[i];
    n->n_before = kept;
    return kept < had;
}

enum cuda_error cuda_graph_remove_edges(const struct cuda_graph *g, node_list from, node_list to, size_t n) {
    CUDA_LOCK;
    if (!cuda_graph_of(g) || (n && (!from || !to)))
        return CUDA_ErrorInvalidValue;
    enum cuda_error e = CUDA_Success;
    for (size_t i = 0; !e && i < n; i++)
        e = cuda_graph_has(g, from[i]) && cuda_graph_has(g, to[i]) && remove_edge(to[i], from[i])
                ? CUDA_Success
                : CUDA_ErrorInvalidValue;
    return e;
}

enum cuda_error cuda_node_destroy(struct cuda_node *n) {
    CUDA_LOCK;
    struct cuda_graph *g = owner_of(n);
    if (!g)
        return CUDA_ErrorInvalidValue;
    for (struct cuda_node *i = g->first; i; i = i->next)
        remove_edge(i, n);
    struct cuda_node **at = &g->first;
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    if (g->last == &n->next)
        g->last = at;
    g->n--;
    cuda_node_free(n);
    return CUDA_Success;
}

enum cuda_error cuda_node_find_copy(struct cuda_node **out, const struct cuda_node *original,
                                    const struct cuda_graph *g) {
    CUDA_LOCK;
    struct cuda_node *n = out && original && cuda_graph_of(g) ? g->first : NULL;
    while (n && n->copy_of != original)
        n = n->next;
    if (!n)
        return CUDA_ErrorInvalidValue;
    *out = n;
    return CUDA_Success;
}
