// Breadth-first search, as in Rodinia and SHOC. After each level the host reads a flag: by a copy, in mapped memory, in
// managed memory, or in memory that the program allocated and registered. Atomics append nodes to the frontier.
#include "mistakes.h"
#include <cstdlib>
#include <vector>

struct node {
    int first, edges;
};
enum { NODES = 700, EDGES = 4 };

__global__ void visit(const node *nodes, const int *edges, int *level, int now, bool *more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NODES || level[i] != now)
        return;
    for (int e = nodes[i].first; e < nodes[i].first + nodes[i].edges; e++)
        if (level[edges[e]] < 0) {
            level[edges[e]] = now + 1;
            *more = true;
        }
}

__device__ unsigned found;
__global__ void frontier(const node *nodes, const int *edges, int *level, int now, const int *from, unsigned n,
                         int *to) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    node me = nodes[from[i]];
    for (int e = 0; e < me.edges; e++) {
        int other = edges[me.first + e];
        if (atomicCAS(&level[other], -1, now + 1) == -1)
            to[atomicAdd(&found, 1)] = other;
    }
}

static std::vector<node> nodes(NODES);
static std::vector<int> edges, right(NODES, -1), fresh(NODES, -1), seen(NODES);

static void by_flag(const node *n, const int *e, int *level, bool *host, bool *device, bool copied) {
    OK(cudaMemcpy(level, fresh.data(), NODES * 4, cudaMemcpyHostToDevice));
    for (int now = 0;; now++) {
        *host = false;
        if (copied)
            OK(cudaMemcpy(device, host, 1, cudaMemcpyHostToDevice));
        visit<<<(NODES + 127) / 128, 128>>>(n, e, level, now, device);
        OK(cudaDeviceSynchronize());
        if (copied)
            OK(cudaMemcpy(host, device, 1, cudaMemcpyDeviceToHost));
        if (!*host)
            break;
        if (now > NODES)
            return WANT(!"an end");
    }
    OK(cudaMemcpy(seen.data(), level, NODES * 4, cudaMemcpyDeviceToHost));
    WANT(seen == right);
}

int main() {
    unsigned seed = 3;
    for (int i = 0; i < NODES; i++) {
        nodes[i].first = (int)edges.size();
        nodes[i].edges = next_random(&seed) >> 30;
        for (int e = 0; e < nodes[i].edges; e++)
            edges.push_back((next_random(&seed) >> 8) % NODES);
    }
    fresh[0] = right[0] = 0;
    for (std::vector<int> line(1, 0), next; !line.empty(); line.swap(next), next.clear())
        for (int i : line)
            for (int e = 0; e < nodes[i].edges; e++)
                if (right[edges[nodes[i].first + e]] < 0) {
                    right[edges[nodes[i].first + e]] = right[i] + 1;
                    next.push_back(edges[nodes[i].first + e]);
                }
    node *n;
    int *e, *level, *lists;
    OK(cudaMalloc(&n, NODES * sizeof *n));
    OK(cudaMalloc(&e, edges.size() * 4));
    OK(cudaMalloc(&level, NODES * 4));
    OK(cudaMalloc(&lists, 2 * NODES * 4));
    OK(cudaMemcpy(n, nodes.data(), NODES * sizeof *n, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(e, edges.data(), edges.size() * 4, cudaMemcpyHostToDevice));
    bool own, *device, *mapped, *managed, *kept = (bool *)aligned_alloc(4096, 4096);
    OK(cudaMalloc(&device, 1));
    by_flag(n, e, level, &own, device, true);
    OK(cudaSetDeviceFlags(cudaDeviceMapHost));
    OK(cudaHostAlloc(&mapped, 1, cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaHostGetDevicePointer(&device, mapped, 0));
    by_flag(n, e, level, mapped, device, false);
    OK(cudaMallocManaged(&managed, 1, cudaMemAttachGlobal));
    by_flag(n, e, level, managed, managed, false);
    OK(cudaHostRegister(kept, 4096, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&device, kept, 0));
    by_flag(n, e, level, kept, device, false);
    OK(cudaHostUnregister(kept));
    free(kept);
    OK(cudaMemcpy(level, fresh.data(), NODES * 4, cudaMemcpyHostToDevice));
    OK(cudaMemset(lists, 0, 4));
    unsigned count = 1, zero = 0;
    for (int now = 0; count > 0 && now < NODES; now++) {
        OK(cudaMemcpyToSymbol(found, &zero, 4));
        frontier<<<(count + 63) / 64, 64>>>(n, e, level, now, lists + now % 2 * NODES, count,
                                            lists + (now + 1) % 2 * NODES);
        OK(cudaMemcpyFromSymbol(&count, found, 4));
    }
    OK(cudaMemcpy(seen.data(), level, NODES * 4, cudaMemcpyDeviceToHost));
    WANT(seen == right);
    return done();
}
