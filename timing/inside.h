#ifndef TIMING_INSIDE_H
#define TIMING_INSIDE_H
/* A gap inside CTAs (gaps.h). The clock stands still, and all warps of all SMs advance without time, as fast
 * relative to each other as in the units before. All CTAs of the launch have begun. */
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
/* Returns true if the CTAs of SMs with equally many warps have advanced almost equally, in all units. */
bool inside_is_level(const struct inside *i);
/* Returns true if many warps have ended since the latest gap began, or since the call last returned true. */
bool inside_drains(struct inside *i);
/* Runs a gap at cycle `now`. The warps execute about `times` the instructions of the unit that inside_may() has noted.
 * Adds the exact statistics of the gap to `exact`. A fault stops its SM. */
enum gap_end inside_gap(struct inside *i, double times, uint64_t now, struct stats *exact);
#endif
