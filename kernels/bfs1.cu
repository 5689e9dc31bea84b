// bfs1: breadth-first search, one launch a level, a thread for each node: a node of the frontier leaves it, and its
// neighbours that were not reached get the next level, are marked, and make the next frontier.
// From: ISPASS-2009 suite, BFS (Kernel). There a node counts as visited when its own turn comes and joins the very
//   frontier that is being worked on, so that levels depend on the order of threads; here it is visited when it is
//   reached (volatile, since other blocks look at it in the same launch), and there are two frontiers in turn. Tests,
//   loop and nesting are the original's.
// Divergence: an if without else for the frontier's nodes, around a loop over a node's edges (their number is a
//   thread's own), around an if without else for a neighbour not visited. Nesting: 3.
// After the joins: 5 (loop) behind the inner if, none behind the others.
// Barriers: none. Block: 256 x 1. Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
struct node {
    int first, edges;
};

extern "C" __global__ void bfs1(const struct node *node, const int *edge, bool *frontier, bool *next,
                                volatile bool *visited, int *cost, bool *over, int nodes) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < nodes && frontier[at]) {
        frontier[at] = false;
#pragma unroll 1
        for (int i = node[at].first; i < node[at].first + node[at].edges; i++) {
            int to = edge[i];
            if (!visited[to]) {
                cost[to] = cost[at] + 1;
                visited[to] = true;
                next[to] = true;
                *over = true;
            }
        }
    }
}
