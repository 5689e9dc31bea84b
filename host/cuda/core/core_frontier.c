/* Frontiers. A frontier of a captured stream is the list of nodes on which the next node of this stream will depend. An
 * event recorded in this stream keeps a copy, for streams that wait for the event. */
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

void cuda_frontier_clear(struct cuda_frontier *f) {
    free(f->nodes);
    *f = (struct cuda_frontier){0};
}

bool cuda_frontier_join(struct cuda_frontier *to, const struct cuda_frontier *from) {
    struct cuda_node **more = realloc(to->nodes, (size_t)(to->n + from->n + 1) * sizeof *more);
    if (!more)
        return false;
    to->nodes = more;
    if (from->n)
        memcpy(more + to->n, from->nodes, (size_t)from->n * sizeof *more);
    to->n += from->n;
    to->graph = from->graph;
    return true;
}

bool cuda_frontier_copy(struct cuda_frontier *to, const struct cuda_frontier *from) {
    if (to == from)
        return true;
    cuda_frontier_clear(to);
    return !from->graph || cuda_frontier_join(to, from);
}
