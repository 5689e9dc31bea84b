#ifndef TIMING_INSIDE_H
#define TIMING_INSIDE_H
/* A gap inside CTAs (gaps.h). The clock stands still, and all warps of all SMs advance without time, as fast
 * relative to each other as in the units before. If the ages of the CTAs are mixed, the CTAs in flight stay as they are
 * instead, and the gap consists of whole CTAs that have not begun. */
#include "timing/gaps.h"

struct inside;
struct launch;
struct sm;
struct cta_view;
struct reconv_ops;

/* Prepares gaps for a launch that has begun on the SMs of `view`. Returns NULL if memory is out, or with *refused if
 * the SMs cannot lend the CTAs of the launch. `view` must outlive the result. */
struct inside *inside_new(const struct gap_orders *o, struct cta_view *view, const struct reconv_ops *model,
                          bool *refused);
void inside_free(struct inside *i);
/* Returns the number of instructions that all SMs have issued since their statistics were last collected. */
uint64_t inside_issued(const struct inside *i);
/* Returns true if a gap may begin at an edge. Notes which instructions each warp has issued since statistics were last
 * collected: call it just before they are collected. */
bool inside_may(struct inside *i);
/* What a unit that has ended permits. */
enum inside_state {
    INSIDE_LEVEL,  /* CTAs of SMs with equally many warps have advanced almost equally: a gap inside CTAs */
    INSIDE_MIXED,  /* CTAs have evenly mixed ages, as in a steady state: a gap of whole CTAs */
    INSIDE_WAITS,  /* neither: no gap; other CTAs follow */
    INSIDE_UNEVEN, /* neither: no further gap */
    /* The unit is no sample: since the latest gap or change, many warps have begun or ended, or the ages have become
     * mixed. */
    INSIDE_BEGINS, /* warps have begun, and the launch does not end with fewer warps than it had */
    INSIDE_DRAINS, /* fewer warps are left */
    INSIDE_MIXES
};
/* Returns the state at the edge for which inside_may() has returned true; call it once. */
enum inside_state inside_state(struct inside *i);
/* After INSIDE_MIXED: returns the number of CTAs that execute about `times` the instructions of the unit. It is at
 * least 1, and at most half of the CTAs that have not begun. The caller skips these CTAs. */
uint64_t inside_skip(struct inside *i, double times);
/* Runs a gap at cycle `now`. The warps execute about `times` the instructions of the unit that inside_may() has noted.
 * Adds the exact statistics of the gap to `exact`. A fault stops its SM. */
enum gap_end inside_gap(struct inside *i, double times, uint64_t now, struct stats *exact);
#endif
