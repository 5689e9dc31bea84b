/* Computes the maximum number of registers that a thread may use. */
#include "isa/arith.h"
#include "isa/machine/launch.h"
#include "pass.h"

enum {
    /* ptxas counts two registers more than instructions name, for the thread's program counter, and R1 is the stack
     * pointer of every kernel */
    MODERN_RESERVED = 3,
    ASSUMED_THREADS = 256 /* assumed threads of a CTA if the kernel has neither .reqntid nor .maxntid */
};

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

/* Returns the number of threads of a CTA, as far as the kernel tells it. */
static uint32_t cta_threads(const struct ir *ir) {
    const struct dim3 d = ir->reqntid.x ? ir->reqntid : ir->maxntid;
    return d.x ? dim3_count(d) : ASSUMED_THREADS;
}

uint32_t registers_allowed(const struct ir *ir, const struct ir_function *f) {
    const struct pass_context *c = &ir->context;
    const uint32_t limit = register_limit(ir, NULL), unit = (uint32_t)pass_option(c, "sm.register_unit", WARP_LANES);
    const uint32_t reserved = registers_reserved(ir), need = f->pressure + reserved;
    uint32_t most = need;
    if (f->is_entry && c->most_registers)
        most = c->most_registers(c->machine, cta_threads(ir), ir->shared_bytes, need);
    else if (unit > WARP_LANES)
        most = (uint32_t)round_up(need, unit / WARP_LANES);
    most -= reserved;
    return limit && most > limit ? (f->pressure > limit ? f->pressure : limit) : most;
}
