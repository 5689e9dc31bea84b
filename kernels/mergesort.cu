// mergesort: two steps of a merge sort of keys with values. A key's place in the merged list is its index plus the number
// of smaller keys in the other list, which a binary search finds. Block shapes and problem sizes are those of public
// programs, so that cycles can be held against a card's.
// merge_tiles: sorts tiles of 1024 keys in shared memory, in ten rounds. CUDA samples, mergeSort, mergeSortSharedKernel.
//   Divergence: none (selections). Barriers: two a round. Block: 512 x 1. Shared memory: 8192 bytes.
// merge_pieces: merges pairs of sorted lists, a piece of at most 128 keys of either list in a CTA. CUDA samples,
//   mergeSort, mergeElementaryIntervalsKernel. Divergence: threads beyond the end of a piece. Barriers: 4.
//   Block: 128 x 1. Shared memory: 2072 bytes.

enum { TILE = 1024, PIECE = 128 };

// Returns the number of keys in a sorted list of n keys that are less than `key` or, with `equal`, at most `key`. n is at
// most twice the first step, a power of two. An empty list takes no step.
template <bool equal> static __device__ unsigned rank_in(const unsigned *list, unsigned n, unsigned step, unsigned key) {
    unsigned rank = 0;
    if (n == 0)
        return 0;
    for (; step > 0; step >>= 1) {
        unsigned next = min(rank + step, n);
        if (equal ? list[next - 1] <= key : list[next - 1] < key)
            rank = next;
    }
    return rank;
}

extern "C" __global__ void merge_tiles(unsigned *to_key, unsigned *to_value, const unsigned *from_key,
                                       const unsigned *from_value, unsigned n) {
    __shared__ unsigned keys[TILE], values[TILE];
    unsigned t = threadIdx.x, at = blockIdx.x * TILE + t;
    keys[t] = from_key[at];
    values[t] = from_value[at];
    keys[t + TILE / 2] = from_key[at + TILE / 2];
    values[t + TILE / 2] = from_value[at + TILE / 2];
    for (unsigned length = 1; length < n; length <<= 1) {
        unsigned i = t & (length - 1);
        unsigned *key = keys + 2 * (t - i), *value = values + 2 * (t - i);
        __syncthreads();
        unsigned a = key[i], a_value = value[i], b = key[i + length], b_value = value[i + length];
        unsigned a_place = rank_in<false>(key + length, length, length, a) + i;
        unsigned b_place = rank_in<true>(key, length, length, b) + i;
        __syncthreads();
        key[a_place] = a;
        value[a_place] = a_value;
        key[b_place] = b;
        value[b_place] = b_value;
    }
    __syncthreads();
    to_key[at] = keys[t];
    to_value[at] = values[t];
    to_key[at + TILE / 2] = keys[t + TILE / 2];
    to_value[at + TILE / 2] = values[t + TILE / 2];
}

// Lists of `length` keys are merged in pairs. Piece p of a pair begins at keys a_begin[p] and b_begin[p] of its lists.
extern "C" __global__ void merge_pieces(unsigned *to_key, unsigned *to_value, const unsigned *from_key,
                                        const unsigned *from_value, const unsigned *a_begin, const unsigned *b_begin,
                                        unsigned length, unsigned n) {
    __shared__ unsigned keys[2 * PIECE], values[2 * PIECE];
    unsigned t = threadIdx.x, pieces = 2 * length / PIECE, piece = blockIdx.x & (pieces - 1);
    unsigned pair = (blockIdx.x - piece) * PIECE;
    from_key += pair;
    from_value += pair;
    to_key += pair;
    to_value += pair;
    __shared__ unsigned a_from, b_from, to, a_n, b_n;
    if (t == 0) {
        unsigned a_end = length, b_end = min(length, n - length - pair);
        a_from = a_begin[blockIdx.x];
        b_from = b_begin[blockIdx.x];
        to = a_from + b_from;
        if (piece + 1 < pieces) {
            a_end = a_begin[blockIdx.x + 1];
            b_end = b_begin[blockIdx.x + 1];
        }
        a_n = a_end - a_from;
        b_n = b_end - b_from;
    }
    __syncthreads();
    if (t < a_n) {
        keys[t] = from_key[a_from + t];
        values[t] = from_value[a_from + t];
    }
    if (t < b_n) {
        keys[t + PIECE] = from_key[length + b_from + t];
        values[t + PIECE] = from_value[length + b_from + t];
    }
    __syncthreads();
    unsigned a, a_value, a_place, b, b_value, b_place;
    if (t < a_n) {
        a = keys[t];
        a_value = values[t];
        a_place = rank_in<false>(keys + PIECE, b_n, PIECE, a) + t;
    }
    if (t < b_n) {
        b = keys[t + PIECE];
        b_value = values[t + PIECE];
        b_place = rank_in<true>(keys, a_n, PIECE, b) + t;
    }
    __syncthreads();
    if (t < a_n) {
        keys[a_place] = a;
        values[a_place] = a_value;
    }
    if (t < b_n) {
        keys[b_place] = b;
        values[b_place] = b_value;
    }
    __syncthreads();
    if (t < a_n) {
        to_key[to + t] = keys[t];
        to_value[to + t] = values[t];
    }
    if (t < b_n) {
        to_key[to + a_n + t] = keys[a_n + t];
        to_value[to + a_n + t] = values[a_n + t];
    }
}
