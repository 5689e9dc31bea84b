#ifndef ISA_AFFINE_STREAM_H
#define ISA_AFFINE_STREAM_H
/* The decoded affine stream of a program: operands as registers of the engine, rules, and liveness. It is created with
 * the program, so launches share it. */
#include "isa/program.h"

struct affine_stream;
/* Returns `bytes` bytes of zeroed memory, or NULL when memory runs out. */
typedef void *affine_alloc(void *ctx, size_t bytes);

/* Decode the affine stream of p, which must have one. Memory comes from `alloc`, and these functions do not free it.
 * They return NULL or false when memory runs out. */
struct affine_stream *affine_stream_new(const struct program *p, affine_alloc *alloc, void *ctx);
bool affine_stream_init(struct affine_stream *s, const struct program *p, affine_alloc *alloc, void *ctx);
#endif
