// Conjugate gradients in one cooperative kernel, as in conjugateGradientMultiBlockCG of the CUDA samples, and a barrier
// of the grid that uses atomics, as in older programs.
#include "mistakes.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
namespace cg = cooperative_groups;

struct result {
    double dot;
    float residual;
    int steps;
};

__device__ void dot(const float *a, const float *b, int n, double *out, cg::grid_group grid) {
    extern __shared__ double parts[];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    double sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += (double)a[i] * b[i];
    sum = cg::reduce(warp, sum, cg::plus<double>());
    if (warp.thread_rank() == 0)
        parts[warp.meta_group_rank()] = sum;
    cg::sync(block);
    if (block.thread_rank() == 0) {
        double all = 0;
        for (unsigned i = 0; i < warp.meta_group_size(); i++)
            all += parts[i];
        atomicAdd(out, all);
    }
    cg::sync(grid);
}

// Solves A x = b, where A has 2.5 on its diagonal and -1 beside the diagonal.
__global__ void solve(int n, const float *b, float *x, float *r, float *p, float *ap, result *out, int most) {
    cg::grid_group grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
        x[i] = 0;
        r[i] = p[i] = b[i];
    }
    cg::sync(grid);
    if (grid.thread_rank() == 0)
        out->dot = 0;
    cg::sync(grid);
    dot(r, r, n, &out->dot, grid);
    double rr = out->dot;
    cg::sync(grid); // all threads have read the sum before the first block clears it
    int step = 0;
    for (; step < most && rr > 1e-10; step++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            ap[i] = 2.5f * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0);
        if (grid.thread_rank() == 0)
            out->dot = 0;
        cg::sync(grid);
        dot(p, ap, n, &out->dot, grid);
        float alpha = rr / out->dot;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        cg::sync(grid);
        if (grid.thread_rank() == 0)
            out->dot = 0;
        cg::sync(grid);
        dot(r, r, n, &out->dot, grid);
        float beta = out->dot / rr;
        rr = out->dot;
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            p[i] = r[i] + beta * p[i];
        cg::sync(grid);
    }
    if (grid.thread_rank() == 0) {
        out->residual = rr;
        out->steps = step;
    }
}

// Blocks wait for each other, so the host launches only as many blocks as the occupancy allows to be resident at once.
__device__ unsigned arrived;
__device__ void own_barrier(unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < goal)
            ;
        __threadfence();
    }
    __syncthreads();
}
__global__ void rounds(int *p, int times) {
    int n = gridDim.x;
    for (int i = 0; i < times; i++) {
        int left = ((volatile int *)p)[(blockIdx.x + n - 1) % n];
        own_barrier((2 * i + 1) * n);
        if (threadIdx.x == 0)
            ((volatile int *)p)[blockIdx.x] = left + 1;
        own_barrier((2 * i + 2) * n);
    }
}

int main() {
    const int n = 1000, threads = 128;
    int can = 0, sms = 0, each = 0;
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    WANT(can == 1);
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    size_t shared = threads / 32 * sizeof(double);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, solve, threads, shared));
    int blocks = sms * each < 8 ? sms * each : 8, most = 200;
    std::vector<float> b(n), x(n);
    unsigned seed = 8;
    for (float &v : b)
        v = next_float(&seed) - 0.5f;
    float *d[5];
    result *out;
    for (float *&p : d)
        OK(cudaMalloc(&p, n * 4));
    OK(cudaMallocManaged(&out, sizeof *out));
    OK(cudaMemcpy(d[0], b.data(), n * 4, cudaMemcpyHostToDevice));
    int size = n;
    void *args[] = {&size, &d[0], &d[1], &d[2], &d[3], &d[4], &out, &most};
    OK(cudaLaunchCooperativeKernel((void *)solve, blocks, threads, args, shared, NULL));
    OK(cudaDeviceSynchronize());
    WANT(out->residual < 1e-9f && out->steps > 5 && out->steps < most);
    OK(cudaMemcpy(x.data(), d[1], n * 4, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = std::fmax(worst, std::fabs(2.5 * x[i] - (i ? x[i - 1] : 0) - (i < n - 1 ? x[i + 1] : 0) - b[i]));
    WANT(worst < 1e-4);
    int *p, here[4] = {};
    OK(cudaMalloc(&p, sizeof here));
    OK(cudaMemset(p, 0, sizeof here));
    rounds<<<4, 64>>>(p, 20);
    OK(cudaMemcpy(here, p, sizeof here, cudaMemcpyDeviceToHost));
    for (int v : here)
        WANT(v == 20);
    return done();
}
