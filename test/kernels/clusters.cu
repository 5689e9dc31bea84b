// Kernels for clusters of blocks, with the cooperative groups of CUDA: test/kernels/clusters.ptx is this file, compiled.
// Compiled by: nvcc -O2 -arch=sm_90 -ptx clusters.cu
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each block sums its part of `in`; the block of rank 0 adds the sums of all blocks of its cluster, which it reads from
// their shared memory.
extern "C" __global__ void cluster_sum(const unsigned *in, unsigned *out, unsigned each) {
    __shared__ unsigned sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < each; i += blockDim.x)
        atomicAdd(&sum, in[blockIdx.x * each + i]);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < cluster.num_blocks())
        atomicAdd(&out[blockIdx.x / cluster.num_blocks()], *cluster.map_shared_rank(&sum, threadIdx.x));
    cluster.sync(); // no block ends while another one reads its sum
}

// A histogram whose bins are divided among the blocks of a cluster: each thread adds to the bin in the shared memory of
// the block that owns it.
extern "C" __global__ void cluster_histogram(const unsigned *in, unsigned *bins, unsigned n, unsigned bins_each) {
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < bins_each; i += blockDim.x)
        mine[i] = 0;
    cluster.sync();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(mine, in[i] / bins_each) + in[i] % bins_each, 1u);
    cluster.sync();
    for (unsigned i = threadIdx.x; i < bins_each; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * bins_each + i], mine[i]);
}
