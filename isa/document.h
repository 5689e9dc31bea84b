#ifndef ISA_DOCUMENT_H
#define ISA_DOCUMENT_H
/* Prints the documentation of the instruction set, made from the rows. */
#include <stdio.h>

/* Prints Markdown: one table for each group of opcodes. A line lists types, modifiers, latency class and error bounds
 * of an opcode. The mnemonics that are known but not supported follow. */
struct compound_ops;
/* Writes the document of the instruction set. `compounds`: the compound instructions that passes create, ended by
 * NULL. */
void isa_document(FILE *out, const struct compound_ops *const *compounds);
#endif
