// binopt: prices of European calls on a binomial tree, a block for each option. The leaves' values are written to a
// row of nodes in global memory. Then tiles of 256 nodes are loaded into shared memory and move 32 steps towards the
// root, between two arrays, until one node is left.
// From: CUDA samples, binomialOptions (binomialOptionsKernel of the releases for 16 KiB of shared memory).
// Divergence: ifs without else where a tile is loaded and stored, in two uniform loops around the steps' loop, which
//   is uniform too; the loop over leaves, whose last iteration has one thread. Nesting: 4.
// Instructions after reconvergence: 1 after the load, 3 after the store (loop), 2 after the leaves.
// Barriers: 1 a step, 2 a tile. Block: 256 x 1. Shared memory: 2 KiB; 20 bytes of constant memory an option.
// Contraction: left to nvcc.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { CACHE = 256, STEPS = 32, TILE = CACHE - STEPS, OPTIONS = 64 };

struct option {
    float price, strike, move; // move: logarithm of the price's factor in a step up
    float up, down;            // probabilities of a step, discounted
};
__constant__ struct option binopt_options[OPTIONS];

// `steps`: steps of the tree, a multiple of 32, at least 256; `nodes`: steps + 16 floats for each option
extern "C" __global__ void binopt(float *value, float *nodes, int steps) {
    __shared__ float one[CACHE + 1], other[CACHE + 1];
    int t = threadIdx.x;
    struct option o = binopt_options[blockIdx.x];
    float *row = nodes + blockIdx.x * (steps + 16);
    if (t == 0)
        one[CACHE] = other[CACHE] = 0;
#pragma unroll 1
    for (int i = t; i <= steps; i += CACHE) {
        float gain = o.price * __expf(o.move * (2.0f * i - steps)) - o.strike;
        row[i] = gain > 0 ? gain : 0;
    }
#pragma unroll 1
    for (int level = steps; level > 0; level -= STEPS)
#pragma unroll 1
        for (int base = 0; base < level; base += TILE) {
            int first = min(CACHE - 1, level - base), last = first - STEPS;
            __syncthreads();
            if (t <= first)
                one[t] = row[base + t];
#pragma unroll 1
            for (int k = first - 1; k >= last; k -= 2) {
                __syncthreads();
                other[t] = o.up * one[t + 1] + o.down * one[t];
                __syncthreads();
                one[t] = o.up * other[t + 1] + o.down * other[t];
            }
            __syncthreads();
            if (t <= last)
                row[base + t] = one[t];
        }
    if (t == 0)
        value[blockIdx.x] = one[0];
}
