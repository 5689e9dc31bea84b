#ifndef FRONTEND_CONTROL_PASS_H
#define FRONTEND_CONTROL_PASS_H
/* The pass `control`: control bits for the modern core. Private to control_*.c. */
#include "frontend/analysis/ir.h"
#include "isa/control_bits.h"
#include "isa/control_uses.h"

/* A use of a register by an instruction. Registers have the numbers of the scoreboard. */
struct control_operand {
    uint16_t reg;
    uint8_t use; /* enum control_use */
};

struct control {
    struct ir *ir;
    const struct program *p;
    struct control_bits *bits;
    struct control_operand *uses; /* instruction i has uses[first[i] ... first[i + 1]) */
    uint32_t *first;
    uint32_t n_regs, cap_uses;
    uint16_t *board; /* byte offset in bank 0 / 4 -> register, or NO_BOARD for a register that nothing writes */
    uint8_t *words;  /* register -> 32-bit words, 0 for a predicate */
    bool *uniform;   /* register -> true for a register of the uniform datapath */
};
#define NO_BOARD UINT16_MAX
/* Returns true if the register at this offset of bank 0 is a register of the uniform datapath. */
static inline bool control_is_uniform(const struct control *c, uint32_t offset) {
    return c->board[offset / 4] != NO_BOARD && c->uniform[c->board[offset / 4]];
}

/* control_counters.c: chooses the counters that instructions raise and wait for. */
void control_counters(struct control *c);
/* control_stalls.c: chooses stall counts. Requires: counters. */
void control_stalls(struct control *c);
/* control_places.c: fills in the physical registers, the reuse bits and the constant operands. */
void control_places(struct control *c);
#endif
