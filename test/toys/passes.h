#ifndef TEST_TOYS_PASSES_H
#define TEST_TOYS_PASSES_H
/* Passes that are not part of the product. */
#include "frontend/passes/edit.h"
#include "frontend/passes/pass.h"

/* self_moves.c: takes out instructions that move a register to itself. */
extern const struct pass self_moves;

/* side_stream.c: a second stream, the kernel with its first guarded branch taken. */
extern const struct pass side_stream;

/* The product's passes, and `extra` right after the one called `after`. A static array that ends with a NULL name. */
enum { MAX_PASSES = 32 };
void passes_with(struct pass table[MAX_PASSES], const struct pass *extra, const char *after);
#endif
