// scan: exclusive prefix sums of n integers, work-efficient: each block sweeps up and down a tree over 512 elements in
// shared memory, padded against bank conflicts, and writes its total; totals are scanned the same way, and added.
// From: CUDA samples, scanLargeArray (GPU Gems 3, chapter 39).
// Divergence: threads drop out by halves on the way up and come back on the way down (if without else inside a loop),
//   thread 0 alone takes the total, and the last block has a ragged end (if and else at loads, if at stores).
//   Nesting: 2.
// Instructions after reconvergence: 1 (barrier) in the unrolled loops, 2 after the total, 2 or 3 after loads.
// Barriers: one a level (9 up, 9 down), 2 more; none in scan_add but one. Block: 256. Shared memory: 2.1 KiB.
enum { THREADS = 256, ELEMENTS = 2 * THREADS, BANKS_LOG2 = 5 };
#define PADDED(i) ((i) + ((i) >> BANKS_LOG2))

extern "C" __global__ void scan_blocks(unsigned *out, unsigned *totals, const unsigned *in, int n) {
    __shared__ unsigned s[PADDED(ELEMENTS)];
    int t = threadIdx.x, start = blockIdx.x * ELEMENTS, a = t, b = t + THREADS, step = 1;
    if (start + a < n)
        s[PADDED(a)] = in[start + a];
    else
        s[PADDED(a)] = 0;
    if (start + b < n)
        s[PADDED(b)] = in[start + b];
    else
        s[PADDED(b)] = 0;
    for (int d = THREADS; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int i = 2 * step * t, left = i + step - 1, right = left + step;
            s[PADDED(right)] += s[PADDED(left)];
        }
        step *= 2;
    }
    if (t == 0) {
        totals[blockIdx.x] = s[PADDED(ELEMENTS - 1)];
        s[PADDED(ELEMENTS - 1)] = 0;
    }
    for (int d = 1; d <= THREADS; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int i = 2 * step * t, left = i + step - 1, right = left + step;
            unsigned v = s[PADDED(left)];
            s[PADDED(left)] = s[PADDED(right)];
            s[PADDED(right)] += v;
        }
    }
    __syncthreads();
    if (start + a < n)
        out[start + a] = s[PADDED(a)];
    if (start + b < n)
        out[start + b] = s[PADDED(b)];
}

extern "C" __global__ void scan_add(unsigned *data, const unsigned *before, int n) {
    __shared__ unsigned add;
    if (threadIdx.x == 0)
        add = before[blockIdx.x];
    int at = blockIdx.x * ELEMENTS + threadIdx.x;
    __syncthreads();
    if (at < n)
        data[at] += add;
    if (at + THREADS < n)
        data[at + THREADS] += add;
}
