#ifndef FRONTEND_DUMP_H
#define FRONTEND_DUMP_H
/* Listings of the program after any pass, and of analysis results. */
#include "ir.h"

/* Prints the program in its current state. `after` is the name of the last pass. */
void dump_ir(const struct ir *ir, const char *after, FILE *out);
/* Print the result of an analysis; the program does not change. */
void dump_dominators(const struct ir *ir, FILE *out);
void dump_loops(const struct ir *ir, FILE *out);
void dump_defuse(const struct ir *ir, FILE *out);
/* Prints the class of every instruction, see affine.h. */
void dump_affine(const struct ir *ir, FILE *out);
/* Prints one instruction, as dump_ir() does. */
void dump_inst(const struct ir *ir, uint32_t i, FILE *out);
/* Prints the same as dump_ir(), with source lines between the instructions. */
void dump_streams(const struct ir *ir, const char *after, FILE *out);
/* dump_source.c: prints source lines in a listing. dump_source_at() prints a line before instruction `inst` if its
 * location differs from the previous one: "; k.cu:7: text" from .loc, or "; line 30: text" of the PTX file. The text is
 * left out if the file cannot be read. */
struct dump_source;
struct dump_source *dump_source_begin(const struct ir *ir);
void dump_source_at(struct dump_source *s, uint32_t inst, FILE *out);
/* Prints a finished program. */
void dump_program(const struct program *p, FILE *out);
#endif
