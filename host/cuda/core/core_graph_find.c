/* Keeps the list of all graphs of the program, and looks up handles in the list. */
#include "core_graph_parts.h"

static struct cuda_graph *graphs; /* under the lock */

struct cuda_graph *cuda_graph_all(void) {
    return graphs;
}

/* Finds a graph: the graph itself, or a graph inside one of its nodes. */
static struct cuda_graph *within(struct cuda_graph *in, const struct cuda_graph *g) {
    if (in == g)
        return in;
    for (const struct cuda_node *n = in->first; n; n = n->next) {
        struct cuda_graph *found = n->work.kind == NODE_GRAPH ? within(n->work.graph, g) : NULL;
        if (found)
            return found;
    }
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
    for (const struct cuda_node *i = g->first; i; i = i->next)
        if (i == n || (i->work.kind == NODE_GRAPH && has_within(i->work.graph, n)))
            return true;
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
