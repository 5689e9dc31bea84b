/* Chooses between the two units of the modern core (core.kind=modern) that can execute an instruction. The multiplier
 * also copies registers, adds two values and shifts left by a constant (IMAD.MOV, IMAD.IADD, IMAD.SHL). It does so
 * where the integer unit is still busy with an earlier instruction. Source: the code of ptxas 11.8 for sm_70, where
 * such an instruction follows one of the integer unit after one cycle, and one of the multiplier after two.
 * Requires: the order of instructions. Keeps: everything. Makes: the latency class of a product for these instructions.
 *
 * In each block, the pass follows the cycles in which instructions can issue. */
#include "control_table.h"
#include "isa/control_uses.h"
#include "pass.h"
#include "select.h"

enum { HELD = 2 }; /* cycles that an instruction holds its unit of 16 lanes */

/* The last write of a register. */
struct written {
    struct control_timing timing;
    uint32_t block; /* block + 1; 0: none */
    unsigned at;    /* cycle of its issue, in the block */
};

struct units {
    struct ir *ir;
    struct control_latencies latencies;
    struct written *last; /* by register */
    unsigned now;         /* first cycle in which the next instruction can issue */
    unsigned free[2];     /* by CONTROL_ALU, CONTROL_FMA: first cycle in which the unit takes an instruction */
};

/* Returns true if the operand is a register, a constant or a parameter, and no special register. */
static bool is_plain_operand(const struct ir *ir, opnd_t o) {
    return o & 1 || !ir->vregs[o >> 1].special || select_is_parameter(ir, o);
}

/* Returns true if the multiplier can execute the instruction, too. */
static bool has_choice(const struct ir *ir, const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    if (in->kind != K_LANE || type_bytes(row->d) != 4 || row->d == T_PRED || select_expansion(ir, in) ||
        in->d >> 1 == SINK_VREG || ir->vregs[in->d >> 1].uniform || !is_plain_operand(ir, in->a))
        return false;
    switch (row->op) {
    case OP_MOV:
        return type_bytes(row->a) == 4;
    case OP_ADD:
    case OP_SUB:
        return in->latency == LAT_INT_ADD && !row->form && is_plain_operand(ir, in->b);
    case OP_SHL:
        return type_bytes(row->a) == 4 && in->b & 1;
    default:
        return false;
    }
}

/* Returns the first cycle in which the instruction can issue with this timing. */
static unsigned soonest(const struct units *u, uint32_t i, struct control_timing t) {
    const struct inst_info *info = &u->ir->info[i];
    const struct inst *in = &u->ir->code[i];
    unsigned at = u->now;
    for (uint32_t k = 0; k < (uint32_t)info->n_reads + info->n_writes; k++) {
        const uint32_t v = u->ir->regs[info->regs + k];
        const struct written *w = &u->last[v];
        const bool guard = in->guard != NO_GUARD && in->guard >> 1 == v;
        const enum control_use use = k >= info->n_reads ? CONTROL_WRITES : guard ? CONTROL_GUARDED_BY : CONTROL_READS;
        if (w->block != info->block + 1)
            continue;
        const unsigned distance = control_is_fixed(w->timing)
                                      ? control_distance(w->timing, t, use, u->ir->vregs[v].cls == RC_PRED)
                                      : w->timing.latency;
        at = w->at + distance > at ? w->at + distance : at;
    }
    if (t.unit == CONTROL_ALU || t.unit == CONTROL_FMA)
        at = u->free[t.unit] > at ? u->free[t.unit] : at;
    return at;
}

/* Records that the instruction issues in cycle `at`. */
static void issue(struct units *u, uint32_t i, struct control_timing t, unsigned at) {
    const struct inst_info *info = &u->ir->info[i];
    const struct inst *in = &u->ir->code[i];
    at += control_expansion_cycles(&u->latencies, select_expansion(u->ir, in));
    u->now = at + 1;
    if (t.unit == CONTROL_ALU || t.unit == CONTROL_FMA)
        u->free[t.unit] = at + HELD;
    if (!control_is_fixed(t))
        t.latency = in->kind == K_LOAD ? LOAD_LATENCY : QUEUED_LATENCY;
    for (uint32_t k = info->n_reads; k < (uint32_t)info->n_reads + info->n_writes; k++)
        u->last[u->ir->regs[info->regs + k]] = (struct written){t, info->block + 1, at};
}

static struct control_timing timing_of(const struct units *u, const struct inst *in) {
    return control_timing_of(&u->latencies, in, select_expansion(u->ir, in));
}

static void walk(struct units *u, uint32_t i) {
    struct inst *in = &u->ir->code[i];
    struct control_timing t = timing_of(u, in);
    unsigned at = soonest(u, i, t);
    if (has_choice(u->ir, in)) {
        struct inst product = *in;
        product.latency = LAT_INT_MAD;
        const struct control_timing other = timing_of(u, &product);
        const unsigned then = soonest(u, i, other);
        if (then < at) {
            in->latency = LAT_INT_MAD;
            t = other;
            at = then;
            ir_note(u->ir, i, "on the multiplier");
        }
    }
    issue(u, i, t, at);
}

bool pass_units(struct ir *ir) {
    struct units u = {.ir = ir, .last = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.last)};
    control_latencies_read(&u.latencies, &ir->context);
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        u.now = u.free[CONTROL_ALU] = u.free[CONTROL_FMA] = 0;
        for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++)
            walk(&u, i);
    }
    return true;
}
