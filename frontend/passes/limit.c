/* Computes the maximum number of registers that a thread may use. */
#include "isa/arith.h"
#include "isa/machine/launch.h"
#include "pass.h"

enum {
    /* ptxas counts two registers more than instructions name, for the thread's program counter, and R1 is the stack
     * pointer of every kernel */
    MODERN_RESERVED = 3,
    ASSUMED_THREADS = 128 /* assumed threads of a CTA, a warp for each sub-core, if ptxas disregards the CTA's size */
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

/* Returns how many registers a thread may have so that .minnctapersm CTAs of this size, or one, fit in an SM. */
static uint32_t fitting_registers(const struct ir *ir, uint32_t threads) {
    const uint32_t unit = (uint32_t)pass_option(&ir->context, "sm.register_unit", WARP_LANES);
    const uint64_t warps = round_up(threads, WARP_LANES) / WARP_LANES * (ir->min_ctas ? ir->min_ctas : 1);
    const uint64_t words = (uint64_t)pass_option(&ir->context, "sm.registers", INT32_MAX) / warps;
    return (uint32_t)(words / unit * unit / WARP_LANES);
}

/* ptxas disregards the size of a CTA, and its shared memory, if the kernel has neither .reqntid nor .maxntid, or if it
 * has .minnctapersm. Source: registers of kernels with 4 to 150 live words, ptxas 13 for sm_75 to sm_120. */
uint32_t registers_allowed(const struct ir *ir, const struct ir_function *f) {
    const struct pass_context *c = &ir->context;
    const struct dim3 d = ir->reqntid.x ? ir->reqntid : ir->maxntid;
    const uint32_t limit = register_limit(ir, NULL), unit = (uint32_t)pass_option(c, "sm.register_unit", WARP_LANES);
    const uint32_t reserved = registers_reserved(ir), need = f->pressure + reserved;
    uint32_t most = need;
    if (f->is_entry && c->most_registers && d.x && !ir->min_ctas)
        most = c->most_registers(c->machine, dim3_count(d), ir->shared_bytes, need);
    else if (f->is_entry && c->most_registers)
        most = c->most_registers(c->machine, ASSUMED_THREADS, 0, need);
    else if (unit > WARP_LANES)
        most = (uint32_t)round_up(need, unit / WARP_LANES);
    const uint32_t fitting = f->is_entry && d.x ? fitting_registers(ir, dim3_count(d)) : most;
    if (most > fitting)
        most = need > fitting ? need : fitting;
    most -= reserved;
    return limit && most > limit ? (f->pressure > limit ? f->pressure : limit) : most;
}
