#ifndef FRONTEND_DUMP_H
#define FRONTEND_DUMP_H
/* Listings: the program after any pass, and the results of its analyses. */
#include "ir.h"

/* Prints the program as it is now. */
void dump_ir(const struct ir *ir, const char *after, FILE *out);
/* What the program's shape is: dumps of passes that change nothing. */
void dump_dominators(const struct ir *ir, FILE *out);
void dump_loops(const struct ir *ir, FILE *out);
void dump_defuse(const struct ir *ir, FILE *out);
/* The class of every instruction: affine.h. */
void dump_affine(const struct ir *ir, FILE *out);
/* Prints one instruction, as dump_ir() does. */
void dump_inst(const struct ir *ir, uint32_t i, FILE *out);
/* As dump_ir(), with the source beside it: streams after the pass `after`. */
void dump_streams(const struct ir *ir, const char *after, FILE *out);
/* dump_source.c: the source beside a listing. A line before instruction `inst` where it comes from another place than
 * the one before it: "; k.cu:7: " by .loc, "; line 30: " of the PTX without, and the text there, if it can be read. */
struct dump_source;
struct dump_source *dump_source_begin(const struct ir *ir);
void dump_source_at(struct dump_source *s, uint32_t inst, FILE *out);
/* Prints a finished program. */
void dump_program(const struct program *p, FILE *out);
#endif
