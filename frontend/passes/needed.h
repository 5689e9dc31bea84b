#ifndef FRONTEND_PASSES_NEEDED_H
#define FRONTEND_PASSES_NEEDED_H
/* Which values are needed after an instruction. */
#include "frontend/analysis/ir.h"

/* Returns an array with one element for each element of ir.regs: true if the register's value is needed after the
 * instruction that reads or writes it there. Requires: blocks. */
const unsigned char *find_needed(const struct ir *ir);

/* Returns the set of registers that are live at the begin of each block: `*words` words of 64 bits a block. Requires:
 * blocks. */
const uint64_t *find_live_in(const struct ir *ir, size_t *words);

/* A stretch of positions (struct interval) at which a register holds a value that is needed later. */
struct live_segment {
    struct interval at;
    uint32_t next; /* the next segment of the register; 0: none */
};
struct live_segments {
    uint32_t *first; /* register -> its first segment; 0: none */
    struct live_segment *list;
    uint32_t n, cap;
};
/* Finds where each register is live, with the gaps between its values. Requires: blocks. */
struct live_segments find_live_segments(const struct ir *ir);
#endif
