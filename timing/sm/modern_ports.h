#ifndef TIMING_SM_MODERN_PORTS_H
#define TIMING_SM_MODERN_PORTS_H
/* The modern core: the ports of the register banks that an instruction of a program needs. */
#include "timed.h"

enum { MODERN_MAX_READS = 24 }; /* register operands of an instruction */

/* A register operand: its first register, its 32-bit words, and its place in the register-file cache
 * (CONTROL_OPERANDS: none). */
struct modern_read {
    uint8_t reg, words, position;
    bool reuse; /* the value stays in the register-file cache */
};

/* Finds the register operands of an instruction. Without control bits, register numbers of the scoreboard stand for
 * physical registers, and no operand is in a position of the register-file cache. Returns their number. */
uint32_t modern_reads_of(const struct program *p, const struct core_cfg *core, const struct sb_regs *r, uint32_t pc,
                         struct modern_read out[MODERN_MAX_READS]);
/* Returns the bit of the place of a register in the register-file cache (timed_ports.places). */
static inline uint8_t modern_place_bit(uint8_t reg, uint8_t position) {
    return (uint8_t)(1u << (reg % TIMED_BANKS * CONTROL_OPERANDS + position));
}
/* Adds the read of a register to the reads of each bank, once for each register. `seen`: one bit for each register. */
static inline void modern_add_read(uint64_t seen[4], uint8_t reads[TIMED_BANKS], uint8_t reg) {
    const uint64_t bit = 1ull << reg % 64;
    reads[reg % TIMED_BANKS] = (uint8_t)(reads[reg % TIMED_BANKS] + !(seen[reg / 64] & bit));
    seen[reg / 64] |= bit;
}
/* Returns the ports that an instruction with the registers `r` needs. */
struct timed_ports modern_ports_of(const struct program *p, const struct core_cfg *core, const struct sb_regs *r,
                                   uint32_t pc);
#endif
