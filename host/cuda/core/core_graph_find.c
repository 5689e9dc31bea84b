/* Keeps the list of all graphs of the program, and looks up handles in the list. */
#include "core_graph_parts.h"

static struct cuda_graph *graphs; /* under the lock */

struct cuda_graph *cuda_graph_all(void) {
    return graphs;
}

struct cuda_graph *cuda_work_graph(const struct cuda_work *w, unsigned i) {
    if (w->kind == NODE_GRAPH)
        return i ? NULL : w->graph;
    return w->kind == NODE_CONDITION && i < w->condition.n ? w->condition.graphs[i] : NULL;
}

/* Finds a graph: the graph itself, or a graph inside one of its nodes. */
static struct cuda_graph *within(struct cuda_graph *in, const struct cuda_graph *g) {
    if (in == g)
        return in;
    struct cuda_graph *inner, *found;
    for (const struct cuda_node *n = in->first; n; n = n->next)
        for (unsigned i = 0; (inner = cuda_work_graph(&n->work, i)); i++)
            if ((found = within(inner, g)))
                return found;
    return NULL;
}

struct cuda_graph *cuda_graph_of(const struct cuda_graph *g) {
    for (struct cuda_graph *i = graphs; i && g; i = i->next) {
        struct cuda_graph *found = within(i, g);
        if (found)
            return found;
    }
    return NULL;
}

bool cuda_graph_has(const struct cuda_graph *g, const struct cuda_node *n) {
    const struct cuda_node *i = g->first;
    while (i && i != n)
        i = i->next;
    return i != NULL;
}

static bool has_within(const struct cuda_graph *g, const struct cuda_node *n) {
    const struct cuda_graph *inner;
    for (const struct cuda_node *i = g->first; i; i = i->next) {
        if (i == n)
            return true;
        for (unsigned k = 0; (inner = cuda_work_graph(&i->work, k)); k++)
            if (has_within(inner, n))
                return true;
    }
    return false;
}

struct cuda_node *cuda_graph_node(const struct cuda_node *n) {
    for (const struct cuda_graph *g = graphs; g; g = g->next)
        if (has_within(g, n))
            return (struct cuda_node *)n;
    return NULL;
}

void cuda_graph_list(struct cuda_graph *g) {
    g->next = graphs;
    graphs = g;
}

bool cuda_graph_unlist(struct cuda_graph *g) {
    for (struct cuda_graph **i = &graphs; *i; i = &(*i)->next)
        if (*i == g) {
            *i = g->next;
            return true;
        }
    return false;
}
