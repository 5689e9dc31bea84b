#ifndef TEST_TOYS_PASSES_H
#define TEST_TOYS_PASSES_H
/* Compiler passes for tests, not part of the product. */
#include "frontend/passes/edit.h"
#include "frontend/passes/pass.h"

/* self_moves.c: removes instructions that move a register to itself. */
extern const struct pass self_moves;

/* side_stream.c: adds a second stream. This stream is a copy of the kernel in which the first guarded branch is
 * always taken. */
extern const struct pass side_stream;

/* block_lengths.c: adds the fact "toy.length". It must run right before "emit". */
extern const struct pass block_lengths;

/* Fills `table` with the product's passes, with `extra` after the pass named `after`. The table ends with a NULL
 * name. */
enum { MAX_PASSES = 40 };
void passes_with(struct pass table[MAX_PASSES], const struct pass *extra, const char *after);
#endif
