#ifndef FRONTEND_LOW_BITS_H
#define FRONTEND_LOW_BITS_H
/* The low bits of integers that are the same whenever an instruction writes a register: they tell how addresses are
 * aligned. */
#include "defuse.h"

enum { LOW_BITS = 4, LOW_MASK = (1 << LOW_BITS) - 1 };

/* Low bits of a value. A bit that is not in `known` is 0 in `value`. */
struct low_bits {
    uint8_t known, value;
};

/* Returns the low bits that each definition of `du` writes. The array is allocated in `a`. */
struct low_bits *find_low_bits(struct arena *a, const struct ir *ir, const struct defuse *du);
/* Returns the low bits of operand `o`, a constant or a register that instruction `i` reads. */
struct low_bits low_bits_of(const struct ir *ir, const struct defuse *du, const struct low_bits *defs, uint32_t i,
                            opnd_t o);
#endif
