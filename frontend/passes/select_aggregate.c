/* Makes one lane execute an integer addition in memory for all active lanes, if they add the same number to the same
 * word. The highest active lane adds the sum; each other lane gets the old value and what the active lanes below it
 * add. Requires: blocks. Keeps: control flow, and results: each lane gets what it gets if lanes add in ascending order.
 *
 * ptxas 11.8 for sm_70 and ptxas 13 write the same instructions for additions of 32 bits, but none for 64 bits and
 * floats. ptxas also adds a different number of each lane in one lane, which this pass leaves. */
#include "frontend/analysis/affine.h"
#include "isa/machine/warpsync.h"
#include "pass.h"
#include "select.h"

/* Instructions that one atomic becomes. */
struct aggregate {
    struct ir *ir;
    struct edit *e;
    uint32_t atomic, place, function; /* place: the instruction before or after which the next one comes */
    bool after;
};

static bool is_addition(const struct inst *in) {
    const struct isa_row *row = select_row(in);
    return in->kind == K_ATOM && (row->op == OP_ATOM || row->op == OP_RED) && !in->n_list &&
           form_get(row->form, CAT_OPN) == OPN_ADD && (row->types[0] == T_U32 || row->types[0] == T_S32);
}

static bool may_aggregate(const struct affine *a, uint32_t i) {
    const struct inst *in = &a->ir->code[i];
    return is_addition(in) && in->guard == NO_GUARD && !(in->hints & HINT_DEQ) && select_may_change(a->ir, i) &&
           affine_operand(a, i, in->a) == CLASS_SCALAR && affine_operand(a, i, in->b) == CLASS_SCALAR;
}

static opnd_t result(const struct aggregate *g, enum reg_class cls) {
    const uint32_t v = ir_vreg(g->ir, cls, g->function, NULL, 0);
    g->ir->vregs[v].written = true;
    return v << 1;
}

/* Adds an instruction with the given sources. Returns its result, which is `d` unless that is OPND_SINK. */
static opnd_t add(struct aggregate *g, const struct isa_row *row, opnd_t d, const opnd_t sources[4]) {
    struct inst in = inst_of_row(row);
    in.d = d != OPND_SINK ? d : result(g, row->op == OP_SETP ? RC_PRED : RC_32);
    in.a = sources[0];
    in.b = sources[1];
    in.c = sources[2];
    in.e = sources[3];
    in.hints |= warp_sync_hints(&in);
    g->place = g->after ? edit_after(g->e, g->place, &in) : edit_before(g->e, g->place, &in);
    if (!g->after)
        g->place = g->atomic;
    return in.d;
}

static opnd_t unary(struct aggregate *g, enum op_id op, enum type t, opnd_t a) {
    return add(g, isa_find_row(op, t, T_NONE, 0), OPND_SINK, (const opnd_t[]){a, OPND_ZERO, OPND_ZERO, OPND_ZERO});
}

static opnd_t binary(struct aggregate *g, enum op_id op, enum type t, uint64_t form, opnd_t a, opnd_t b) {
    return add(g, isa_find_row(op, t, T_NONE, form), OPND_SINK, (const opnd_t[]){a, b, OPND_ZERO, OPND_ZERO});
}

static opnd_t special(struct aggregate *g, enum special s) {
    return unary(g, OP_MOV, T_B32, ir_special(g->ir, s, false) << 1);
}

/* Adds up the numbers of `lanes` lanes. */
static opnd_t sum_of(struct aggregate *g, opnd_t lanes, opnd_t number) {
    if (number & 1 && select_constant(g->ir, number, 4) == 1)
        return lanes;
    return binary(g, OP_MUL, T_S32, form_put(CAT_PART, PART_LO), lanes, number);
}

/* Gives each lane its result: the old value in `leader` and what the lanes below add. */
static void share(struct aggregate *g, opnd_t d, opnd_t number, opnd_t old, opnd_t leader, opnd_t mask) {
    const opnd_t all = ir_constant(g->ir, RC_32, WARP_LANES - 1, 0);
    g->after = true;
    const opnd_t below = binary(g, OP_AND, T_B32, 0, special(g, SPECIAL_LANEMASK_LT), mask);
    const opnd_t lanes = unary(g, OP_POPC, T_B32, below);
    const opnd_t first = add(g, isa_find_row(OP_SHFL, T_B32, T_NONE, form_put(CAT_MODE, MODE_IDX)), OPND_SINK,
                             (const opnd_t[]){old, leader, all, mask});
    if (number & 1 && select_constant(g->ir, number, 4) == 1)
        add(g, isa_find_row(OP_ADD, T_S32, T_NONE, 0), d, (const opnd_t[]){first, lanes, OPND_ZERO, OPND_ZERO});
    else
        add(g, isa_find_row(OP_MAD, T_S32, T_NONE, form_put(CAT_PART, PART_LO)), d,
            (const opnd_t[]){lanes, number, first, OPND_ZERO});
}

static void aggregate(struct ir *ir, struct edit *e, uint32_t i) {
    struct aggregate g = {.ir = ir, .e = e, .atomic = i, .place = i, .function = ir->info[i].function};
    const opnd_t number = ir->code[i].b, d = ir->code[i].d;
    const opnd_t mask = unary(&g, OP_ACTIVEMASK, T_B32, OPND_ZERO);
    const opnd_t leader = unary(&g, OP_BFIND, T_U32, mask), lane = special(&g, SPECIAL_LANEID);
    const opnd_t sum = sum_of(&g, unary(&g, OP_POPC, T_B32, mask), number);
    const opnd_t leads = binary(&g, OP_SETP, T_S32, form_put(CAT_CMP, CMP_EQ), lane, leader);
    const opnd_t old = d == OPND_SINK ? d : result(&g, RC_32);
    struct inst *in = edit_inst(e, i);
    in->guard = leads >> 1;
    in->b = sum;
    in->d = old;
    if (d != OPND_SINK)
        share(&g, d, number, old, leader, mask);
    ir_note(ir, i, "one lane adds for all active lanes");
}

bool select_aggregate(struct ir *ir) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < ir->n; i++)
        n += is_addition(&ir->code[i]);
    if (!n || pass_option(&ir->context, "sm.warp_size", WARP_LANES) != WARP_LANES)
        return true;
    const struct affine a = find_uniform(ir->tmp, ir);
    struct edit *e = edit_begin(ir);
    n = ir->n;
    for (uint32_t i = 0; i < n; i++)
        if (may_aggregate(&a, i))
            aggregate(ir, e, i);
    return edit_end(e);
}
