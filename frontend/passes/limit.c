/* Computes the maximum number of registers that a thread may use. */
#include "pass.h"

enum { MODERN_RESERVED = 2 }; /* ptxas counts two registers more than instructions name: the thread's program counter */

uint32_t registers_reserved(const struct ir *ir) { return assembles(ir) ? MODERN_RESERVED : 0; }

uint32_t register_limit(const struct ir *ir, const char **key) {
    static const char *const keys[] = {"regs.max", "pepsc.registers"};
    uint32_t least = 0;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        uint32_t limit = (uint32_t)pass_option(&ir->context, keys[k], 0);
        if (!limit || (least && least <= limit))
            continue;
        least = limit;
        if (key)
            *key = keys[k];
    }
    if (ir->maxnreg && (!least || ir->maxnreg < least)) {
        least = ir->maxnreg;
        if (key)
            *key = ".maxnreg";
    }
    const uint32_t reserved = registers_reserved(ir);
    return least > reserved ? least - reserved : least;
}
