// qsort: quicksort of one array. In the first phase all blocks split the array: a block counts the keys of its part
// that are below and above the part's pivot, the host adds the counts up, and the block moves its keys to the sum's
// place in a second array. In the second phase a block sorts each part alone, with pending parts on a stack in shared
// memory; parts of at most 512 keys are sorted by a bitonic network.
// From: GPU-Quicksort (Cederman and Tsigas; its three passes and local sort), which was in CUDA Zone. There, blocks
//   also claim places by atomic additions; here, places do not depend on the order of blocks.
// Divergence: in the loops that count and move keys, an if and else of equal weight (below the pivot or not) with an
//   if without else in the else; an if without else in the prefix sums; in the network an if without else (own key of a
//   pair) around an if and else of equal weight (rising or falling) with an if without else in each. Nesting: 4.
// Instructions after reconvergence: 2 (loop) after the if and else of keys and of the network, 1 (barrier) in the
//   prefix sums.
// Barriers: 14 a pass, and 1 for each step of the network. Block: 128 x 1. Shared memory: 3.3 KiB.
// Loops of unknown length are not unrolled and sides stay branches, as the compilers of the original's time left them.
enum { THREADS = 128, FEW = 512, STACK = 32 };
#define SIDE(name) asm volatile("// " name) // a side with a comment is not turned into a selection

struct part {
    unsigned from, to, pivot; // keys [from, to)
    unsigned below, above;    // the first place of keys below the pivot, the end of the places of keys above it
};
__shared__ unsigned below_of[THREADS], above_of[THREADS];

// Writes prefix sums over threads, own counts included
static __device__ void count(const unsigned *key, unsigned from, unsigned to, unsigned pivot) {
    unsigned t = threadIdx.x, below = 0, above = 0;
#pragma unroll 1
    for (unsigned i = from + t; i < to; i += THREADS) {
        unsigned k = key[i];
        if (k < pivot) {
            SIDE("below");
            below++;
        } else if (k > pivot) {
            SIDE("above");
            above++;
        }
    }
    below_of[t] = below;
    above_of[t] = above;
    __syncthreads();
#pragma unroll 1
    for (unsigned d = 1; d < THREADS; d *= 2) {
        below = above = 0;
        if (t >= d) {
            below = below_of[t - d];
            above = above_of[t - d];
        }
        __syncthreads();
        below_of[t] += below;
        above_of[t] += above;
        __syncthreads();
    }
}

// Requires the sums of count() for the same keys
static __device__ void move(const unsigned *key, unsigned *other, const struct part *p) {
    unsigned t = threadIdx.x, below = p->below + (t > 0 ? below_of[t - 1] : 0), above = p->above - above_of[t];
#pragma unroll 1
    for (unsigned i = p->from + t; i < p->to; i += THREADS) {
        unsigned k = key[i];
        if (k < p->pivot) {
            SIDE("below");
            other[below++] = k;
        } else if (k > p->pivot) {
            SIDE("above");
            other[above++] = k;
        }
    }
}

static __device__ void network(const unsigned *key, unsigned *sorted, unsigned n) {
    __shared__ unsigned tile[FEW];
    unsigned t = threadIdx.x, size = 1;
#pragma unroll 1
    while (size < n)
        size *= 2;
#pragma unroll 1
    for (unsigned i = t; i < size; i += THREADS)
        tile[i] = i < n ? key[i] : 0xffffffff;
    __syncthreads();
#pragma unroll 1
    for (unsigned k = 2; k <= size; k *= 2)
#pragma unroll 1
        for (unsigned j = k / 2; j > 0; j /= 2) {
#pragma unroll 1
            for (unsigned i = t; i < size; i += THREADS) {
                unsigned pair = i ^ j;
                if (pair > i) {
                    unsigned a = tile[i], b = tile[pair];
                    if ((i & k) == 0) {
                        SIDE("rising");
                        if (a > b) {
                            tile[i] = b;
                            tile[pair] = a;
                        }
                    } else {
                        SIDE("falling");
                        if (a < b) {
                            tile[i] = b;
                            tile[pair] = a;
                        }
                    }
                }
            }
            __syncthreads();
        }
#pragma unroll 1
    for (unsigned i = t; i < n; i += THREADS)
        sorted[i] = tile[i];
}

// sums: keys below and above the pivot in each part
extern "C" __global__ void qsort_count(const unsigned *key, const struct part *parts, unsigned *sums) {
    const struct part *p = &parts[blockIdx.x];
    count(key, p->from, p->to, p->pivot);
    if (threadIdx.x == 0) {
        sums[2 * blockIdx.x] = below_of[THREADS - 1];
        sums[2 * blockIdx.x + 1] = above_of[THREADS - 1];
    }
}

extern "C" __global__ void qsort_move(const unsigned *key, unsigned *other, const struct part *parts) {
    struct part p = parts[blockIdx.x];
    count(key, p.from, p.to, p.pivot);
    move(key, other, &p);
}

// Writes the pivots
extern "C" __global__ void qsort_fill(unsigned *sorted, const struct part *parts) {
    const struct part *p = &parts[blockIdx.x];
#pragma unroll 1
    for (unsigned i = p->from + threadIdx.x; i < p->to; i += THREADS)
        sorted[i] = p->pivot;
}

static __device__ unsigned middle(unsigned a, unsigned b, unsigned c) { return max(min(a, b), min(max(a, b), c)); }

// Sorts a part; its keys are in a, and in b if its pivot is 1
extern "C" __global__ void qsort_local(unsigned *a, unsigned *b, unsigned *sorted, const struct part *parts) {
    __shared__ struct part stack[STACK];
    __shared__ int depth;
    unsigned t = threadIdx.x;
    if (t == 0) {
        stack[0] = parts[blockIdx.x];
        depth = 1;
    }
    __syncthreads();
#pragma unroll 1
    while (depth > 0) {
        struct part p = stack[depth - 1];
        bool in_b = p.pivot;
        const unsigned *key = in_b ? b : a;
        unsigned n = p.to - p.from;
        __syncthreads();
        if (t == 0)
            depth--;
        if (n <= FEW) {
            network(key + p.from, sorted + p.from, n);
        } else {
            p.pivot = middle(key[p.from], key[p.from + n / 2], key[p.to - 1]);
            p.below = p.from;
            p.above = p.to;
            count(key, p.from, p.to, p.pivot);
            move(key, in_b ? a : b, &p);
            unsigned below = p.from + below_of[THREADS - 1], above = p.to - above_of[THREADS - 1];
#pragma unroll 1
            for (unsigned i = below + t; i < above; i += THREADS)
                sorted[i] = p.pivot;
            if (t == 0) { // the longer part goes below the shorter
                bool first = below - p.from > p.to - above;
                struct part one = {p.from, below, !in_b}, two = {above, p.to, !in_b};
                stack[depth++] = first ? one : two;
                stack[depth++] = first ? two : one;
            }
        }
        __syncthreads();
    }
}
