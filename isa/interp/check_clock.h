#ifndef ISA_CHECK_CLOCK_H
#define ISA_CHECK_CLOCK_H
/* Vector clocks over the warps of all CTAs of a launch, for race detection by happened-before. A grid may have millions
 * of warps, and every release copies a clock to an object. So clocks are immutable trees over CTA numbers that share
 * equal subtrees. NULL is the empty clock. */
#include <stdbool.h>
#include <stdint.h>

struct clock;

/* Common data of all clocks of a launch. */
struct clocks {
    unsigned height;  /* number of levels above the leaves */
    uint32_t entries; /* times per CTA */
    bool failed;      /* out of memory: later clocks are incomplete */
};

/* Starts a launch of `n_ctas` CTAs (at least 1). A clock has `entries` times for each CTA. All clocks of the previous
 * launch must have been freed. */
void clocks_begin(struct clocks *k, uint64_t n_ctas, uint32_t entries);
/* Add and remove an owner of `c`; the last removal frees it. Both allow NULL. */
struct clock *clock_ref(struct clock *c);
void clock_unref(struct clock *c);
/* Return new clocks, owned by the caller. clock_join() returns the entry-wise maximum of both clocks. clock_with()
 * returns `c` with the entries of CTA `cta` raised to at least time[0..entries). */
struct clock *clock_join(struct clocks *k, struct clock *a, struct clock *b);
struct clock *clock_with(struct clocks *k, struct clock *c, uint32_t cta, const uint32_t *time);
/* Returns the times of a CTA, or NULL if all of them are zero. */
const uint32_t *clock_of(const struct clocks *k, const struct clock *c, uint32_t cta);
/* Replaces the clock owned by *to by clock_join(*to, c). */
void clock_add(struct clocks *k, struct clock **to, struct clock *c);
/* Replaces the clock owned by *to by `c`, adding an owner. */
void clock_set(struct clock **to, struct clock *c);
#endif
