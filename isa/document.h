#ifndef ISA_DOCUMENT_H
#define ISA_DOCUMENT_H
/* The instruction set as a page of documentation, printed from the rows themselves. */
#include <stdio.h>

/* Markdown: one table a group of opcodes; each line says types, modifiers, latency class and error bounds of an opcode,
 * and the mnemonics that are known but not supported follow. */
struct compound_ops;
/* `compounds`: the compound instructions that passes make, up to NULL. */
void isa_document(FILE *out, const struct compound_ops *const *compounds);
#endif
