#ifndef TEST_OPCODE_TEXT_H
#define TEST_OPCODE_TEXT_H
/* Any opcode as a statement that lowers, and what must stand around it. */
#include "isa/decode.h"

/* The statement without its semicolon. It names registers %p %h %r %d %f %g %q below 12, the shared variable `s`, the
 * global texture or surface `image`, the kernel's parameter `p` of 64 bytes, the address in %d8, and the label END. */
void opcode_statement(const char *opcode, const struct decoded *d, char *out, size_t size);
/* Register `i` of a type: "%r3". Results are in 1, a second one in 2, the elements of a vector from 1 on. */
const char *opcode_register(enum type t, int i, char out[16]);
/* Declarations at module scope, and at the head of the kernel. */
extern const char *const opcode_module, *const opcode_registers;
/* How `image` is declared for the opcode: ".texref" or ".surfref". */
const char *opcode_image(const char *opcode);
#endif
