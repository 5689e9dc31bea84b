#ifndef TEST_OPCODE_TEXT_H
#define TEST_OPCODE_TEXT_H
/* Makes a valid statement of any opcode, and the declarations that the statement needs. */
#include "isa/decode.h"

/* Writes the statement without its semicolon. It uses registers %p %h %r %d %f %g %q below 12, the shared variable
 * `s`, the global texture or surface `image`, the kernel's parameter `p` of 64 bytes, the address in %d8, and the
 * label END. */
void opcode_statement(const char *opcode, const struct decoded *d, char *out, size_t size);
/* Writes register `i` of a type: "%r3". Results are in register 1, a second result in 2, the elements of a vector
 * from 1 on. */
const char *opcode_register(enum type t, int i, char out[16]);
/* Declarations at module scope, and at the start of the kernel. */
extern const char *const opcode_module, *const opcode_registers;
/* Returns the type of `image` for the opcode: ".texref" or ".surfref". */
const char *opcode_image(const char *opcode);
#endif
