// Cheapest paths through a grid, as in Rodinia's pathfinder: rows in dynamic shared memory (also more than 48 KiB),
// launch sizes from the occupancy functions, and a kernel template whose parameter is the number of rows.
#include "mistakes.h"
#include <algorithm>
#include <vector>

enum { COLUMNS = 3000, ROWS = 40 };
extern __shared__ int costs[];

// Computes rows first + 1 to first + DEPTH; each block computes blockDim.x - 2 * DEPTH columns.
template <int DEPTH>
__global__ void rows(const int *__restrict__ wall, const int *__restrict__ from, int *to, int first) {
    int *now = costs, *next = costs + blockDim.x;
    int inner = blockDim.x - 2 * DEPTH, x = (int)(blockIdx.x * inner + threadIdx.x) - DEPTH;
    bool inside = x >= 0 && x < COLUMNS;
    now[threadIdx.x] = inside ? from[x] : 1 << 29;
    for (int i = 1; i <= DEPTH; i++) {
        __syncthreads();
        int t = threadIdx.x, best = now[t];
        if (t > 0)
            best = min(best, now[t - 1]);
        if (t < blockDim.x - 1)
            best = min(best, now[t + 1]);
        next[t] = inside && first + i < ROWS ? best + wall[(first + i) * COLUMNS + x] : inside ? now[t] : 1 << 29;
        int *swap = now;
        now = next;
        next = swap;
    }
    if (inside && threadIdx.x >= DEPTH && threadIdx.x < blockDim.x - DEPTH)
        to[x] = now[threadIdx.x];
}

// Uses a row of n numbers in shared memory: 15000 numbers are 60000 bytes.
__global__ void wide(const int *in, int *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        costs[i] = in[i % COLUMNS] + i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = costs[n - 1 - i];
}

static size_t two_rows(int threads) { return 2 * threads * sizeof(int); }

int main() {
    const int depth = 5;
    unsigned seed = 7;
    std::vector<int> wall(ROWS * COLUMNS), right(COLUMNS), seen(COLUMNS);
    for (int &w : wall)
        w = next_random(&seed) >> 28;
    right.assign(wall.begin(), wall.begin() + COLUMNS);
    for (int y = 1; y < ROWS; y++) {
        std::vector<int> old = right;
        for (int x = 0; x < COLUMNS; x++)
            right[x] = wall[y * COLUMNS + x] +
                       std::min(old[x], std::min(x ? old[x - 1] : old[x], x < COLUMNS - 1 ? old[x + 1] : old[x]));
    }
    int *w, *path[2], least = 0, threads = 0, blocks = 0;
    OK(cudaMalloc(&w, wall.size() * 4));
    OK(cudaMalloc(&path[0], COLUMNS * 4));
    OK(cudaMalloc(&path[1], COLUMNS * 4));
    OK(cudaMemcpy(w, wall.data(), wall.size() * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(path[0], w, COLUMNS * 4, cudaMemcpyDeviceToDevice));
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least, &threads, rows<depth>, two_rows, 512));
    WANT(threads > 0 && threads <= 512 && threads % 32 == 0 && least > 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rows<depth>, threads, two_rows(threads)));
    WANT(blocks >= 1);
    int now = 0, inner = threads - 2 * depth;
    for (int y = 0; y < ROWS - 1; y += depth, now ^= 1)
        rows<depth><<<(COLUMNS + inner - 1) / inner, threads, two_rows(threads)>>>(w, path[now], path[now ^ 1], y);
    OK(cudaMemcpy(seen.data(), path[now], COLUMNS * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COLUMNS; i++)
        WANT(seen[i] == right[i]);
    int limit = 0, n = 15000, *out;
    size_t free_shared = 0;
    OK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    WANT(limit >= 60000);
    OK(cudaMalloc(&out, n * 4));
    wide<<<1, 256, n * 4>>>(w, out, n); // the default limit is 48 KiB
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
    OK(cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
    OK(cudaFuncSetAttribute(wide, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, wide));
    WANT(a.maxDynamicSharedSizeBytes == n * 4 && a.sharedSizeBytes == 0);
    wide<<<1, 256, n * 4>>>(w, out, n);
    OK(cudaGetLastError());
    std::vector<int> back(n);
    OK(cudaMemcpy(back.data(), out, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        WANT(back[i] == wall[(n - 1 - i) % COLUMNS] + n - 1 - i);
    FAILS(cudaErrorInvalidValue, cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, limit + 1));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&free_shared, wide, 1, 256));
    WANT(free_shared >= 48 * 1024 && free_shared <= (size_t)limit);
    return done();
}
