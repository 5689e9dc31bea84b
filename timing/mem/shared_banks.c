#include "shared_banks.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "timing/config/config.h"

struct shared_banks shared_banks_of(const struct config *c) {
    return (struct shared_banks){c->lsu.shared_banks, c->lsu.shared_bank_bytes, c->lsu.shared_parts};
}

/* Returns the bank of a word. The number of banks is mostly a power of two. */
static inline unsigned bank_of(const struct shared_banks *b, uint64_t word) {
    return b->banks & (b->banks - 1) ? (unsigned)(word % b->banks) : (unsigned)word & (b->banks - 1);
}

/* Returns the set of banks that `lanes` of a half warp use. The half warp accesses adjacent words from `word` on. */
static inline uint64_t banks_of(const struct shared_banks *b, uint64_t word, uint64_t lanes) {
    uint32_t at = (uint32_t)word & (b->banks - 1);
    return (lanes << at | lanes >> (b->banks - at) % 64) & (~0ull >> (64 - b->banks));
}

/* Returns true if the warp is served in parts. */
static inline bool has_parts(const struct shared_banks *b, unsigned bytes) {
    const unsigned all = b->banks * b->width;
    return b->parts && bytes > b->width && bytes * WARP_LANES > all && bytes * 2 <= all;
}

/* Does the same as shared_cycles_halves() for SHAPE_UNIFORM and a power of two of banks. Each half warp accesses one
 * word, or the words of one group of adjacent banks. */
static unsigned uniform_cycles(const struct shared_banks *b, const struct halves *h, lanemask_t lanes, unsigned bytes) {
    const unsigned all = b->banks * b->width, wide = bytes > b->width ? bytes : b->width,
                   shift = (unsigned)__builtin_ctz(wide);
    const bool both = (lanes & 0xffff) && lanes >> HALF_LANES;
    const uint64_t differ = (h->first[0] ^ h->first[1]) >> shift;
    if (wide > all)
        return 0;
    if (has_parts(b, bytes) && all / bytes * 2 < WARP_LANES) /* lanes l and l ^ 1 have one address: two parts a pass */
        return all / bytes * 2 == HALF_LANES ? 1 + both : 0;
    return 1 + (both && differ && !(differ & ((all >> shift) - 1)));
}

unsigned shared_cycles_halves(const struct shared_banks *b, const struct halves *h, lanemask_t lanes, unsigned bytes) {
    if (h->shape == SHAPE_ANY || b->banks & (b->banks - 1))
        return 0;
    if (h->shape == SHAPE_UNIFORM)
        return uniform_cycles(b, h, lanes, bytes);
    if (bytes != b->width || b->banks < WARP_LANES)
        return 0;
    unsigned shift = (unsigned)__builtin_ctz(b->width);
    uint64_t low = h->first[0] >> shift, high = h->first[1] >> shift;
    bool one_run = (high - low <= HALF_LANES) | (low - high <= HALF_LANES); /* the halves' words adjoin or overlap */
    uint64_t low_banks = banks_of(b, low, lanes & 0xffff), high_banks = banks_of(b, high, lanes >> HALF_LANES);
    return 1 + (!one_run & ((low_banks & high_banks) != 0));
}

/* Returns true when no bank has to serve two different words, so that one pass serves all `lanes`. Requires one word
 * per lane and a power of two of banks. Each lane writes the number of its word to an entry for its bank. If the
 * entry then holds another word, two lanes conflict. */
static inline bool one_pass(const uint64_t *offset, lanemask_t lanes, unsigned shift, unsigned mask) {
    uint32_t word[WARP_LANES], told[BANKS_MAX], other = 0;
    uint32_t some = (uint32_t)(offset[lanes_first(lanes)] >> shift); /* replaces inactive lanes */
    for (unsigned l = 0; l < WARP_LANES; l++)
        word[l] = lanes >> l & 1 ? (uint32_t)(offset[l] >> shift) : some;
    for (unsigned l = 0; l < WARP_LANES; l++)
        told[word[l] & mask] = word[l];
    for (unsigned l = 0; l < WARP_LANES; l++)
        other |= told[word[l] & mask] ^ word[l];
    return other == 0;
}

/* The different words that each bank must serve. */
struct asked {
    uint64_t any; /* bit mask of the banks in use; only these banks have a valid `n` */
    uint8_t n[BANKS_MAX];
    uint32_t word[BANKS_MAX][MAX_WARP_LANES];
};

/* Adds a word to a bank. Returns the number of different words of the bank. */
static inline unsigned add_word(struct asked *a, unsigned bank, uint32_t word) {
    if (!(a->any >> bank & 1)) {
        a->any |= 1ull << bank;
        a->word[bank][0] = word;
        return a->n[bank] = 1;
    }
    unsigned i = 0;
    while (a->word[bank][i] != word)
        if (++i == a->n[bank]) {
            if (i < MAX_WARP_LANES)
                a->word[bank][a->n[bank]++] = word;
            break;
        }
    return a->n[bank];
}

/* Returns the largest number of different words in one bank. */
static unsigned most_words(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    struct asked a;
    a.any = 0;
    unsigned most = 1, shift = (unsigned)__builtin_ctz(b->width);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = offset[lanes_first(lanes)];
        for (uint64_t w = at >> shift; w <= (at + bytes - 1) >> shift; w++) {
            unsigned n = add_word(&a, bank_of(b, w), (uint32_t)w);
            most = n > most ? n : most;
        }
    }
    return most;
}

/* Returns true if each lane's access begins at a multiple of `bytes`, a power of two. */
static inline bool all_aligned(const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    uint64_t low = 0;
    for (; lanes; lanes &= lanes - 1)
        low |= offset[lanes_first(lanes)];
    return !(bytes & (bytes - 1)) && !(low & (bytes - 1));
}

/* Does the same as most_words() for aligned accesses of several words. Each access uses all banks of one group, so
 * the words of a bank are as many as the accesses of its group at different offsets. */
static unsigned most_groups(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    struct asked a;
    a.any = 0;
    unsigned most = 1, shift = (unsigned)__builtin_ctz(bytes);
    const uint64_t mask = ((uint64_t)b->banks * b->width >> shift) - 1;
    for (; lanes; lanes &= lanes - 1) {
        const uint64_t at = offset[lanes_first(lanes)] >> shift;
        const unsigned n = add_word(&a, (unsigned)(at & mask), (uint32_t)at);
        most = n > most ? n : most;
    }
    return most;
}

/* Returns true if lanes l and l ^ `other` have one address, as far as both access memory. */
static bool are_pairs(const uint64_t *offset, lanemask_t lanes, unsigned other) {
    bool same = true;
    for (lanemask_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned l = lanes_first(rest);
        same &= !(lanes >> (l ^ other) & 1) || offset[l] == offset[l ^ other];
    }
    return same;
}

/* Returns the passes of a warp that is served in parts, each with lanes that access all banks once. */
static __attribute__((noinline)) unsigned part_cycles(struct shared_banks b, const uint64_t *offset, lanemask_t lanes,
                                                      unsigned bytes) {
    unsigned n = b.banks * b.width / bytes, passes = 0;
    if (are_pairs(offset, lanes, 1) || are_pairs(offset, lanes, 2))
        n *= 2;
    const lanemask_t part = ((lanemask_t)1 << n) - 1;
    b.parts = false;
    for (; lanes; lanes >>= n, offset += n)
        if (lanes & part)
            passes += shared_cycles(&b, offset, lanes & part, bytes);
    return passes ? passes : 1;
}

unsigned shared_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    hot_assert(b->banks >= 1 && b->banks <= BANKS_MAX && bytes >= 1);
    if (has_parts(b, bytes))
        return part_cycles(*b, offset, lanes, bytes);
    unsigned mask = b->banks - 1;
    /* an aligned access of at most a word's bytes touches one word per lane */
    if (lanes && !(lanes >> WARP_LANES) && bytes <= b->width && !(b->banks & mask)) {
        unsigned shift = (unsigned)__builtin_ctz(b->width);
        if (one_pass(offset, lanes, shift, mask))
            return 1;
    }
    if (bytes > b->width && !(b->banks & mask) && bytes <= b->banks * b->width && all_aligned(offset, lanes, bytes))
        return most_groups(b, offset, lanes, bytes);
    return most_words(b, offset, lanes, bytes);
}

unsigned shared_atomic_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    hot_assert(b->banks >= 1 && b->banks <= BANKS_MAX && bytes >= 1);
    uint8_t turns[BANKS_MAX] = {0};
    unsigned most = 1, shift = (unsigned)__builtin_ctz(b->width);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = offset[lanes_first(lanes)];
        for (uint64_t w = at >> shift; w <= (at + bytes - 1) >> shift; w++) {
            unsigned t = ++turns[bank_of(b, w)];
            most = t > most ? t : most;
        }
    }
    return most;
}
