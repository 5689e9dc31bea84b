// mumpp: for every place in every query, finds the longest match from there in a reference sequence of DNA, and its
// position, by Manber and Myers's binary search in the reference's suffix array. A table has the letters that each
// middle of the search shares with the lower and with the upper bound, so no letter of a query is compared twice. A
// thread handles a query.
// From: MUMmerGPU++ (Gharaibeh and Ripeanu), which replaces MUMmerGPU's trees by suffix arrays and lengths of common
//   prefixes. Its sequences are textures.
// Divergence: an early return; a uniform loop over places, around the search's loop (of similar length in all
//   threads), around an if and else of equal weight for the bound that shares more letters with the query, in each side
//   an if without else around a loop over equal letters (its length differs by thread); then an if without else for a
//   longer match (compiled to selections), and an if and else of equal weight for the bound that moves. Nesting: 5.
// Instructions after reconvergence: 5 (test of the next letter) after the if and else of the bounds, 2 (loop) after the
//   last if and else, 10 (stores) after the search.
// Barriers: none. Block: 256 x 1. Shared memory: none.
// Loops of unknown length are not unrolled and sides stay branches, as the compilers of the original's time left them.
#define SIDE(name) asm volatile("// " name) // a side with a comment is not turned into a selection

// Returns the number of equal letters, of which the first `same` are known.
static __device__ __forceinline__ int compare(const unsigned char *query, int length, const unsigned char *text, int n,
                                              int same) {
#pragma unroll 1
    while (same < length && same < n && query[same] == text[same])
        same++;
    return same;
}

// `shared`: at twice a place of the suffix array, the letters that its suffix shares with the lower bound of the search
// whose middle it is; then those with the upper bound.
extern "C" __global__ void mumpp(const unsigned char *text, const int *suffix, const unsigned short *shared, int n,
                                 const unsigned char *queries, int count, int length, int least, int *match,
                                 int *place) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= count)
        return;
#pragma unroll 1
    for (int start = 0; start + least <= length; start++) {
        const unsigned char *query = queries + own * length + start;
        int low = -1, high = n, with_low = 0, with_high = 0, best = 0, at = 0, left = length - start;
#pragma unroll 1
        while (high - low > 1) {
            int middle = (low + high) >> 1, from = suffix[middle], same;
            if (with_low >= with_high) {
                SIDE("lower bound");
                same = shared[2 * middle];
                if (same >= with_low)
                    same = compare(query, left, text + from, n - from, with_low);
            } else {
                SIDE("upper bound");
                same = shared[2 * middle + 1];
                if (same >= with_high)
                    same = compare(query, left, text + from, n - from, with_high);
            }
            if (same > best) {
                best = same;
                at = from;
            }
            if (same < left && (from + same >= n || query[same] > text[from + same])) {
                SIDE("upper half");
                low = middle;
                with_low = same;
            } else {
                SIDE("lower half");
                high = middle;
                with_high = same;
            }
        }
        match[start * count + own] = best;
        place[start * count + own] = at;
    }
}
