#ifndef FRONTEND_SPAN_H
#define FRONTEND_SPAN_H
#include "cfg.h"
#include "ptx/arena.h"

/* A span is a run of blocks, neighbours in the program, that control enters by its first and leaves by its last block
 * only, and from each of whose blocks the last can be reached: a loop, an if with what it guards. What is said of its
 * ends and does not occur in it is true of all of it, so that nobody need look at its blocks one by one.
 *
 * The result holds, for each block, the first block of a small span that it ends; the block itself where none was
 * found, which may be wrong only in that there is one (the search gives up on tangled graphs). Work: n log n. */
uint32_t *spans(struct arena *a, const struct cfg *g);
#endif
