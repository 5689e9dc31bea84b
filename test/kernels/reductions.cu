// Sums of a block's values. Only some lanes of a warp take part in the last step, so shuffles there name lanes that do
// not arrive; a GPU returns 0 for these lanes. test/host/reductions.c runs the kernels and compares the sums.
// Compiled by: nvcc -O2 -arch=sm_75 -ptx reductions.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <typename T> __device__ T thread_sum(const T *in, unsigned n) {
    T sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    return sum;
}

template <typename T> __device__ T over_lanes(unsigned mask, T x) {
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_down_sync(mask, x, step);
    return x;
}

/* Each warp sums its values, then lanes of warp 0 sum these sums: 8 of 32 lanes in a block of 256. */
template <typename T, unsigned SIZE> __device__ void by_ballot(const T *in, T *out, unsigned n) {
    __shared__ T part[32];
    const unsigned mask = SIZE % 32 ? (1u << SIZE % 32) - 1 : 0xffffffffu, warps = SIZE / 32 ? SIZE / 32 : 1;
    T sum = over_lanes(mask, thread_sum(in, n));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    const unsigned few = __ballot_sync(mask, threadIdx.x < warps);
    if (threadIdx.x < warps) {
        sum = over_lanes(few, part[threadIdx.x]);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}
extern "C" __global__ void ballot_256(const int *in, int *out, unsigned n) { by_ballot<int, 256>(in, out, n); }
extern "C" __global__ void ballot_64(const int *in, int *out, unsigned n) { by_ballot<int, 64>(in, out, n); }
extern "C" __global__ void ballot_16(const int *in, int *out, unsigned n) { by_ballot<int, 16>(in, out, n); }
extern "C" __global__ void ballot_256f(const float *in, float *out, unsigned n) { by_ballot<float, 256>(in, out, n); }

/* Groups of several warps. */
template <unsigned SIZE> __device__ void by_tiles(const int *in, int *out, unsigned n) {
    __shared__ cg::block_tile_memory<256> room;
    __shared__ int part[256 / SIZE];
    auto block = cg::this_thread_block(room);
    auto tile = cg::tiled_partition<SIZE>(block);
    int sum = cg::reduce(tile, thread_sum(in, n), cg::plus<int>());
    if (tile.thread_rank() == 0)
        part[tile.meta_group_rank()] = sum;
    block.sync();
    if (threadIdx.x == 0) {
        sum = 0;
        for (unsigned i = 0; i < 256 / SIZE; i++)
            sum += part[i];
        out[blockIdx.x] = sum;
    }
}
extern "C" __global__ void tiles_128(const int *in, int *out, unsigned n) { by_tiles<128>(in, out, n); }
extern "C" __global__ void tiles_64(const int *in, int *out, unsigned n) { by_tiles<64>(in, out, n); }
extern "C" __global__ void tiles_16(const int *in, int *out, unsigned n) { by_tiles<16>(in, out, n); }

/* The last step uses cg::coalesced_threads(), the lanes that are converged at this point. */
extern "C" __global__ void together(const int *in, int *out, unsigned n) {
    __shared__ int part[8];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = cg::reduce(warp, thread_sum(in, n), cg::plus<int>());
    if (warp.thread_rank() == 0)
        part[warp.meta_group_rank()] = sum;
    block.sync();
    if (threadIdx.x < 8) {
        auto rest = cg::coalesced_threads();
        sum = part[threadIdx.x];
        for (int step = rest.size() / 2; step > 0; step /= 2)
            sum += rest.shfl_down(sum, step);
        if (rest.thread_rank() == 0)
            out[blockIdx.x] = sum;
    }
}
