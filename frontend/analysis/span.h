#ifndef FRONTEND_SPAN_H
#define FRONTEND_SPAN_H
#include "cfg.h"
#include "ptx/arena.h"

/* Spans of blocks. A span is a sequence of consecutive blocks that control enters only at its first block and leaves
 * only at its last. Every block in it can reach the last. Examples: a loop, or an if with the code it guards. A fact
 * about both ends, on something that does not occur inside, holds for the whole span, so that analyses can cross it in
 * one step.
 *
 * Returns an array: block -> first block of a small span that it ends, or the block itself if none was found. The
 * search may miss spans in tangled graphs. Arrays are allocated in `a`. Time: n log n. */
uint32_t *spans(struct arena *a, const struct cfg *g);
#endif
