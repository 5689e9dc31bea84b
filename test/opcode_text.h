#ifndef TEST_OPCODE_TEXT_H
#define TEST_OPCODE_TEXT_H
/* Makes a valid statement for any opcode, and the declarations that the statement needs. */
#include "isa/decode.h"

/* Writes the statement without its semicolon. The statement may use
 * - registers %p %h %r %d %f %g %q with numbers below 12
 * - the shared variable `s`
 * - the global texture or surface `image`
 * - the kernel's parameter `p` of 64 bytes
 * - the address in %d8
 * - the label END */
void opcode_statement(const char *opcode, const struct decoded *d, char *out, size_t size);
/* Writes register number `i` of a type, for example "%r3". A statement writes its result to register 1, and a second
 * result to register 2. The elements of a vector are in registers 1, 2 and so on. */
const char *opcode_register(enum type t, int i, char out[16]);
/* The declarations that statements need: at module scope, and at the start of the kernel. */
extern const char *const opcode_module, *const opcode_registers;
/* Returns the type that `image` must have for this opcode: ".texref" or ".surfref". */
const char *opcode_image(const char *opcode);
#endif
