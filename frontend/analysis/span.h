#ifndef FRONTEND_SPAN_H
#define FRONTEND_SPAN_H
#include "cfg.h"
#include "ptx/arena.h"

/* Spans of blocks. A span is a sequence of consecutive blocks that control enters only at its first block and leaves
 * only at its last. Every block in it can reach the last. Examples: a loop, or an if with the code it guards. If a
 * register does not occur inside a span, a fact about the register at both ends of the span holds inside, too. Analyses
 * can therefore cross the span in one step.
 *
 * Returns an array: block -> first block of a small span that it ends, or the block itself if none was found. The
 * search may miss spans in tangled graphs. Arrays are allocated in `a`. Time: n log n. */
uint32_t *spans(struct arena *a, const struct cfg *g);
#endif
