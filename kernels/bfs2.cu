// bfs2: breadth-first search, two launches a level, a thread for each node: bfs2_expand marks the unvisited neighbours
// of the frontier; bfs2_update makes the marked nodes the next frontier.
// From: Rodinia, bfs (Kernel, Kernel2), as nvcc compiles it; bfs has the same program written by hand, on another
//   graph.
// Divergence: bfs2_expand: an if without else for the frontier's nodes, around a loop over a node's edges (their
//   number differs by thread), around an if without else for a neighbour not visited. bfs2_update: an if without else.
//   Nesting: 3 and 1.
// Instructions after reconvergence: 5 (loop) after the inner if, none after the others.
// Barriers: none. Block: 512 x 1. Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
struct node {
    int first, edges;
};

extern "C" __global__ void bfs2_expand(const struct node *node, const int *edge, bool *frontier, bool *marked,
                                       const bool *visited, int *cost, int nodes) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < nodes && frontier[at]) {
        frontier[at] = false;
#pragma unroll 1
        for (int i = node[at].first; i < node[at].first + node[at].edges; i++) {
            int to = edge[i];
            if (!visited[to]) {
                cost[to] = cost[at] + 1;
                marked[to] = true;
            }
        }
    }
}

extern "C" __global__ void bfs2_update(bool *frontier, bool *marked, bool *visited, int *again, int nodes) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < nodes && marked[at]) {
        frontier[at] = true;
        visited[at] = true;
        *again = 1;
        marked[at] = false;
    }
}
