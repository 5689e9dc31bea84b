#ifndef FRONTEND_PASSES_NEEDED_H
#define FRONTEND_PASSES_NEEDED_H
/* Which values are needed after an instruction. */
#include "frontend/analysis/ir.h"

/* Returns an array with one element for each element of ir.regs: true if the register's value is needed after the
 * instruction that reads or writes it there. Requires: blocks. */
const unsigned char *find_needed(const struct ir *ir);
#endif
