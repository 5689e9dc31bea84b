#ifndef TIMING_WARP_SET_H
#define TIMING_WARP_SET_H
/* Sets of the warp slots of one SM. A set has one bit per slot, in as many words as the largest SM needs. A smaller SM
 * uses fewer words, so functions that run in every cycle have an argument `words` and read only the first `words`
 * words. Later words have no members. */
#include "config.h"
#include "isa/arith.h"

enum {
    MAX_CONTEXTS = 4, /* number of warp slots of an SM for warps without a CTA (timing/sm/unit.h) */
    WARP_SLOTS = CFG_MAX_SLOTS + MAX_CONTEXTS,
    WARP_WORDS = (WARP_SLOTS + 63) / 64,
    /* argument of warp_set_after(): there is no last slot, so the first member is next */
    NO_WARP_SLOT = WARP_WORDS * 64 - 1
};

struct warp_set {
    uint64_t word[WARP_WORDS];
};

static inline void warp_set_add(struct warp_set *s, uint32_t w) { s->word[w / 64] |= 1ull << w % 64; }
static inline void warp_set_drop(struct warp_set *s, uint32_t w) { s->word[w / 64] &= ~(1ull << w % 64); }
static inline void warp_set_put(struct warp_set *s, uint32_t w, bool member) {
    if (member)
        warp_set_add(s, w);
    else
        warp_set_drop(s, w);
}
static inline bool warp_set_has(const struct warp_set *s, uint32_t w) { return s->word[w / 64] >> w % 64 & 1; }

static inline bool warp_set_any(const struct warp_set *s, uint32_t words) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < words; k++)
        all |= s->word[k];
    return all != 0;
}
/* Returns true if the sets have a member in common. */
static inline bool warp_sets_meet(const struct warp_set *a, const struct warp_set *b, uint32_t words) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < words; k++)
        all |= a->word[k] & b->word[k];
    return all != 0;
}
static inline uint32_t warp_set_count(const struct warp_set *s, uint32_t words) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < words; k++)
        n += (uint32_t)__builtin_popcountll(s->word[k]);
    return n;
}

static inline struct warp_set warp_sets_and(const struct warp_set *a, const struct warp_set *b) {
    struct warp_set out;
    for (uint32_t k = 0; k < WARP_WORDS; k++)
        out.word[k] = a->word[k] & b->word[k];
    return out;
}
static inline struct warp_set warp_sets_without(const struct warp_set *a, const struct warp_set *b) {
    struct warp_set out;
    for (uint32_t k = 0; k < WARP_WORDS; k++)
        out.word[k] = a->word[k] & ~b->word[k];
    return out;
}

/* Iterates over the members: `for (struct warp_walk at = warp_walk(s); warp_next(&at, s, words, &w);)`. Each word is
 * read when the iteration reaches it. Later changes of the word have no effect on the iteration. */
struct warp_walk {
    uint64_t word;
    uint32_t k;
};
static inline struct warp_walk warp_walk(const struct warp_set *s) { return (struct warp_walk){s->word[0], 0}; }
static inline bool warp_next(struct warp_walk *at, const struct warp_set *s, uint32_t words, uint32_t *w) {
    while (!at->word) {
        if (++at->k >= words)
            return false;
        at->word = s->word[at->k];
    }
    *w = at->k * 64 + (uint32_t)__builtin_ctzll(at->word);
    at->word &= at->word - 1;
    return true;
}
/* Removes the first member and stores it in `w`. Returns false if the set is empty. */
static inline bool warp_set_take(struct warp_set *s, uint32_t *w) {
    for (uint32_t k = 0; k < WARP_WORDS; k++) {
        uint64_t word = s->word[k];
        if (!word)
            continue;
        *w = k * 64 + (uint32_t)__builtin_ctzll(word);
        s->word[k] = word & (word - 1);
        return true;
    }
    return false;
}
/* Returns the first member. Requires a member within the words in use. */
static inline uint32_t warp_set_first(const struct warp_set *s) {
    uint32_t k = 0;
    while (!s->word[k])
        k++;
    return k * 64 + (uint32_t)__builtin_ctzll(s->word[k]);
}
/* Returns the first member after slot `last`, wrapping around. `last` is within the words in use, or NO_WARP_SLOT.
 * Requires a member within the words in use. */
static inline uint32_t warp_set_after(const struct warp_set *s, uint32_t last, uint32_t words) {
    uint64_t behind = ~1ull << last % 64; /* 0 for NO_WARP_SLOT */
    if (words == 1) {                     /* unpredictable, so no branch */
        uint64_t some = s->word[0] & behind;
        return (uint32_t)__builtin_ctzll(choose64(some, some, s->word[0]));
    }
    uint32_t k = last / 64;
    uint64_t word = k < words ? s->word[k] & behind : 0;
    while (!word) {
        k = k + 1 < words ? k + 1 : 0;
        word = s->word[k];
    }
    return k * 64 + (uint32_t)__builtin_ctzll(word);
}
#endif
