// bfs1: breadth-first search, one launch a level, a thread for each node: each node of the frontier leaves it; its
// unvisited neighbours get the next level and form the next frontier.
// From: ISPASS-2009 suite, BFS (Kernel). There, a node counts as visited only when it is processed, and it joins the
//   frontier in progress, so that levels depend on the order of threads. Here, a node is visited once it is reached
//   (volatile, since other blocks read it in the same launch), and two frontiers alternate. Tests, loop and nesting
//   are the original's.
// Divergence: an if without else for the frontier's nodes, around a loop over a node's edges (their number differs by
//   thread), around an if without else for a neighbour not visited. Nesting: 3.
// Instructions after reconvergence: 5 (loop) after the inner if, none after the others.
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
