// histogram: how often each of 256 byte values occurs. count: a grid-stride loop over words of four bytes, each warp
// has its own counters in shared memory; then the block adds up its warps' counters. merge: one block for each byte
// value adds up the blocks' counts in a tree.
// From: CUDA samples, histogram (histogram256). Parboil's histo has the same atomics in shared memory.
// Divergence: count: the loops' ends only (uneven numbers of words, 256 values on 192 threads); the number of
//   repetitions of an atomic differs by lane where lanes conflict on a counter. merge: threads drop out of the tree by
//   halves (if without else, nesting 2), a last if for thread 0.
// Instructions after reconvergence: count: 1 (barrier) and 4; merge: 5 after the loop, 1 (barrier) a level, 0.
// Barriers: count 2, merge one a level of the tree and 1. Blocks: 192 and 256. Shared memory: 6 KiB and 1 KiB.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { WARPS = 6, THREADS = WARPS * 32, BINS = 256, MERGE = 256 };

static __device__ void add_word(unsigned *counts, unsigned word) {
    atomicAdd(counts + (word & 255), 1u);
    atomicAdd(counts + (word >> 8 & 255), 1u);
    atomicAdd(counts + (word >> 16 & 255), 1u);
    atomicAdd(counts + (word >> 24), 1u);
}

extern "C" __global__ void histogram_count(unsigned *partial, const unsigned *data, unsigned words) {
    __shared__ unsigned counts[WARPS * BINS];
    unsigned *own = counts + (threadIdx.x >> 5) * BINS;
#pragma unroll
    for (int i = 0; i < WARPS * BINS / THREADS; i++)
        counts[threadIdx.x + i * THREADS] = 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < words; at += blockDim.x * gridDim.x)
        add_word(own, data[at]);
    __syncthreads();
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += counts[bin + w * BINS];
        partial[blockIdx.x * BINS + bin] = sum;
    }
}

extern "C" __global__ void histogram_merge(unsigned *out, const unsigned *partial, unsigned count) {
    __shared__ unsigned part[MERGE];
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < count; i += MERGE)
        sum += partial[blockIdx.x + i * BINS];
    part[threadIdx.x] = sum;
    for (unsigned half = MERGE / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
