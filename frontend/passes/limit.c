/* Register counts: the limit per thread, and the number a stream needs. */
#include "isa/affine/stream.h"
#include "pass.h"
#include <string.h>

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
    return least;
}

struct count {
    const struct ir *ir;
    unsigned char *seen; /* word offset in bank 0 -> already counted */
    uint32_t n;
};

static void count_operand(void *ctx, opnd_t *o, enum operand_role role) {
    struct count *c = ctx;
    (void)role;
    /* predicates are lane masks, not tuples */
    if (*o & 1 || *o >> 1 == SINK_VREG || c->ir->vregs[*o >> 1].cls == RC_PRED)
        return;
    uint32_t at = c->ir->vregs[*o >> 1].offset / (uint32_t)sizeof(lanemask_t);
    c->n += !c->seen[at];
    c->seen[at] = 1;
}

uint32_t ir_tuple_registers(const struct ir *ir) {
    struct count c = {.ir = ir};
    for (uint32_t k = 0; k < ir->n_streams; k++) {
        const struct ir_function *f = &ir->functions[ir->streams[k].function];
        if (strcmp(ir->streams[k].name, AFFINE_STREAM) != 0)
            continue;
        c.seen = arena_array(ir->tmp, ir->reg_bytes / sizeof(lanemask_t) + 1, 1);
        for (uint32_t i = f->begin; i < f->end; i++)
            if (ir->code[i].kind != K_BARRIER) { /* only marks a position */
                struct inst in = ir->code[i];
                ir_operands(ir, &in, count_operand, &c);
            }
    }
    return c.n;
}
