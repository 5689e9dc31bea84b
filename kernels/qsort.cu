// qsort: quicksort, an array for each thread: pending parts are on a stack in local memory. Up to 8 keys are sorted by
// selection; longer parts are split around their middle key, and the longer half goes to the stack.
// From: CUDA samples, cdpSimpleQuicksort (cdp_simple_quicksort, selection_sort), where each half is a launch from the
//   device; here it is another iteration of a loop, as before devices could launch.
// Divergence: all of it. A loop over parts, around an if and else of unequal weight: selection (two nested loops, an
//   if without else in the inner, compiled to selections) or a split (a loop, around a loop from the left, one from
//   the right and an if without else), then an if and else of equal weight for the half that goes to the stack.
//   Nesting: 4.
// Instructions after reconvergence: in the split 2 (test) after the two inner loops, 2 (loop) after the if, 3 (test)
//   after the loop; in the selection 2 and 3 (loop), 2 after it; 5 (the next part) after the if and else of halves.
// Barriers: none. Block: 64 x 1. Shared memory: none; 128 bytes of local memory a thread.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { FEW = 8, STACK = 16 };

static __device__ void select(unsigned *key, int left, int right) {
#pragma unroll 1
    for (int i = left; i <= right; i++) {
        unsigned least = key[i];
        int at = i;
#pragma unroll 1
        for (int j = i + 1; j <= right; j++) {
            unsigned k = key[j];
            if (k < least) {
                at = j;
                least = k;
            }
        }
        if (at != i) {
            key[at] = key[i];
            key[i] = least;
        }
    }
}

// Array i is key[i * n] to key[i * n + n - 1]; n is at most 65,536: each part on the stack is at least half of its array
extern "C" __global__ void qsort_arrays(unsigned *keys, int arrays, int n) {
    int own = blockIdx.x * blockDim.x + threadIdx.x, depth = 0, left = 0, right = n - 1;
    if (own >= arrays)
        return;
    unsigned *key = keys + own * n;
    int2 later[STACK];
#pragma unroll 1
    for (;;) {
        if (right - left < FEW) {
            select(key, left, right);
            if (depth == 0)
                break;
            depth--;
            left = later[depth].x;
            right = later[depth].y;
        } else {
            int l = left, r = right;
            unsigned pivot = key[(l + r) / 2];
#pragma unroll 1
            while (l <= r) {
                unsigned low = key[l], high = key[r];
#pragma unroll 1
                while (low < pivot)
                    low = key[++l];
#pragma unroll 1
                while (high > pivot)
                    high = key[--r];
                if (l <= r) {
                    key[l++] = high;
                    key[r--] = low;
                }
            }
            if (r - left > right - l) {
                later[depth++] = make_int2(left, r);
                left = l;
            } else {
                later[depth++] = make_int2(l, right);
                right = r;
            }
        }
    }
}
