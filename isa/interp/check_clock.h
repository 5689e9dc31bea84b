#ifndef ISA_CHECK_CLOCK_H
#define ISA_CHECK_CLOCK_H
/* Vector clocks over the warps of all CTAs of a launch: how far each of them has come, for a race detector that works
 * by happened-before. A grid may have millions of warps, and a clock is handed on at every release: so clocks are
 * immutable trees over the numbers of CTAs that share what they have in common. NULL is the clock of nothing. */
#include <stdbool.h>
#include <stdint.h>

struct clock;

/* What all clocks of a launch have in common. */
struct clocks {
    unsigned height;  /* levels above the leaves */
    uint32_t entries; /* times of a CTA */
    bool failed;      /* memory ran out: clocks made since know too little */
};

/* For a launch of `n_ctas` CTAs (from 1) with `entries` times each. No clock may be left from the launch before. */
void clocks_begin(struct clocks *k, uint64_t n_ctas, uint32_t entries);
/* One more owner of `c`; each calls clock_unref() once. Both take NULL. */
struct clock *clock_ref(struct clock *c);
void clock_unref(struct clock *c);
/* New clocks, which the caller owns: the later time of both, entry by entry; and `c` with CTA number `cta` at least at
 * time[0..entries). */
struct clock *clock_join(struct clocks *k, struct clock *a, struct clock *b);
struct clock *clock_with(struct clocks *k, struct clock *c, uint32_t cta, const uint32_t *time);
/* The times of a CTA; NULL: all zero. */
const uint32_t *clock_of(const struct clocks *k, const struct clock *c, uint32_t cta);
/* *to = clock_join(*to, c), in place of the clock that *to owned. */
void clock_add(struct clocks *k, struct clock **to, struct clock *c);
/* *to = c, which stays the caller's too. */
void clock_set(struct clock **to, struct clock *c);
#endif
