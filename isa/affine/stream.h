#ifndef ISA_AFFINE_STREAM_H
#define ISA_AFFINE_STREAM_H
/* The affine stream of a program, decoded for the engine: operands as its registers, the rule of each instruction, what
 * is read where. Whoever makes a program makes this with it, so that launches need not. */
#include "isa/program.h"

struct affine_stream;
/* Memory that is zero, of so many bytes; NULL: there is none. */
typedef void *affine_alloc(void *ctx, size_t bytes);

/* Of a program that has an affine stream. Memory comes from `alloc` and is never given back here. NULL, or false: there
 * is none left. */
struct affine_stream *affine_stream_new(const struct program *p, affine_alloc *alloc, void *ctx);
bool affine_stream_init(struct affine_stream *s, const struct program *p, affine_alloc *alloc, void *ctx);
#endif
