// mumpp: for every place in every query, finds the longest match from there in a reference sequence of DNA, and its
// position: a binary search in the reference's suffix array that skips letters that both bounds share with the query.
// A thread handles a query.
// From: MUMmerGPU++ (Gharaibeh and Ripeanu), which replaces MUMmerGPU's trees by suffix arrays. Its sequences are
//   textures.
// Divergence: an early return; a uniform loop over places, around the search's loop (of similar length in all
//   threads), around a loop over equal letters (its length differs by thread), an if without else for a longer match
//   (compiled to selections), and an if and else of equal weight for the bound that moves. Nesting: 4.
// Instructions after reconvergence: 5 (test of the next letter) after the loop over letters and the if, 2 (loop) after
//   the if and else, 10 (stores) after the search.
// Barriers: none. Block: 256 x 1. Shared memory: none.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
extern "C" __global__ void mumpp(const unsigned char *text, const int *suffix, int n, const unsigned char *queries,
                                 int count, int length, int least, int *match, int *place) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= count)
        return;
    const unsigned char *query = queries + own * length;
#pragma unroll 1
    for (int start = 0; start + least <= length; start++) {
        int low = 0, high = n - 1, with_low = 0, with_high = 0, best = 0, at = 0;
#pragma unroll 1
        while (low <= high) {
            int middle = (low + high) / 2, from = suffix[middle], same = min(with_low, with_high);
#pragma unroll 1
            while (start + same < length && from + same < n && query[start + same] == text[from + same])
                same++;
            if (same > best) {
                best = same;
                at = from;
            }
            if (start + same < length && (from + same >= n || query[start + same] > text[from + same])) {
                low = middle + 1;
                with_low = same;
            } else {
                high = middle - 1;
                with_high = same;
            }
        }
        match[start * count + own] = best;
        place[start * count + own] = at;
    }
}
