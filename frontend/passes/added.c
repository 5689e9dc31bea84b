/* Adds machine instructions that ptxas writes besides those of the program. Their results are not used.
 *  - core.entry: a kernel begins with a move of the stack pointer from constant memory, and with the load of the
 *    descriptor of accesses to global memory. It computes the address of each variable in shared memory from the number
 *    of the CTA in its cluster: S2UR, UMOV and ULEA, and for each other variable UIADD3 and ULEA.
 *  - core.fillers: a called function saves and restores each convergence barrier in which it makes calls; a barrier is
 *    cleared before each BSSY, those of expansions included; a kernel begins with a shuffle without lanes, and an
 *    instruction without effect precedes each barrier of a CTA.
 *  - core.f64_gap: instructions without effect keep f64 instructions of a block apart.
 * Source: ptxas 11.8 for sm_70, ptxas 13 for sm_75 to sm_120. Requires: the order of instructions. Keeps:
 * everything. */
#include "isa/control_bits.h"
#include "isa/expansions.h"
#include "pass.h"
#include "select.h"

/* Values of core.fillers; each includes those before it. */
enum { FILL_CALLS = 1, FILL_BSSY, FILL_BARRIERS };

static bool fills(const struct ir *ir, unsigned what) { return pass_option(&ir->context, "core.fillers", 0) >= what; }
static uint32_t entry_moves(const struct ir *ir) { return (uint32_t)pass_option(&ir->context, "core.entry", 0); }

static unsigned f64_gap(const struct ir *ir) { return (unsigned)pass_option(&ir->context, "core.f64_gap", 0); }

static bool copies_pointers(const struct ir *ir) { return pass_option(&ir->context, "core.pointer_copies", 0) != 0; }

bool adds_instructions(const struct ir *ir) {
    return fills(ir, FILL_CALLS) || entry_moves(ir) || f64_gap(ir) || copies_pointers(ir);
}

/* Returns true if the kernel itself or a function accesses global memory. */
static bool accesses_global(const struct ir *ir) {
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        if ((in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM) &&
            (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC))
            return true;
    }
    return false;
}

/* Returns the instructions that compute the addresses of all variables in shared memory. */
static uint32_t address_moves(const struct ir *ir) { return ir->n_shared ? 1 + 2 * ir->n_shared : 0; }

/* Adds a move to a register of the uniform datapath, or a move without a result. */
static void add_move(struct ir *ir, struct edit *e, bool uniform) {
    struct inst in = inst_of_row(isa_find_row(OP_MOV, T_B32, T_NONE, 0));
    in.a = OPND_ZERO;
    if (uniform) {
        const uint32_t v = ir_vreg(ir, RC_32, 0, NULL, 0);
        ir->vregs[v].written = ir->vregs[v].uniform = true;
        in.d = v << 1;
    }
    edit_at_begin(e, 0, &in);
}

/* Adds the load of a word of the parameters, which reads the stack pointer's place on a machine without operands in
 * constant memory. */
static void add_load(struct ir *ir, struct edit *e, const struct inst *parameter) {
    struct inst in = *parameter;
    in.d = ir_vreg(ir, (enum reg_class)ir->vregs[in.d >> 1].cls, 0, NULL, 0) << 1;
    ir->vregs[in.d >> 1].written = true;
    edit_at_begin(e, 0, &in);
}

/* Returns a load of a parameter without a guard, or NULL. */
static const struct inst *load_of_parameter(const struct ir *ir) {
    for (uint32_t i = 0; i < ir->n && ir->info[i].function == 0; i++) {
        const struct inst *in = &ir->code[i];
        if (in->kind == K_LOAD && in->space == SPACE_PARAM && !in->n_list && in->guard == NO_GUARD && in->a & 1 &&
            in->d != OPND_SINK && !ir->vregs[in->d >> 1].uniform)
            return in;
    }
    return NULL;
}

static void add_entry(struct ir *ir, struct edit *e, uint32_t moves) {
    const struct inst *parameter = select_has_constants(ir) ? NULL : load_of_parameter(ir);
    if (fills(ir, FILL_BARRIERS)) {
        const struct inst nothing = inst_of_row(isa_find_row(OP_FILL, T_B32, T_NONE, 0));
        edit_at_begin(e, 0, &nothing);
    }
    for (uint32_t k = address_moves(ir); k-- > 0 && moves > 2 && has_uniform_datapath(ir);)
        add_move(ir, e, true);
    if (moves > 1 && has_uniform_datapath(ir) && accesses_global(ir))
        add_move(ir, e, true);
    if (moves && parameter)
        add_load(ir, e, parameter);
    else if (moves)
        add_move(ir, e, false);
}

static bool has_slow_path(const struct ir *ir, const struct inst *in) {
    const uint8_t id = select_expansion(ir, in);
    return id && expansion_branches(id);
}

/* Returns true if ptxas writes an instruction without effect before this one. An expansion with a branch over a slow
 * path begins with a BSSY. */
static bool is_filled(const struct ir *ir, const struct inst *in) {
    if (in->kind == K_BARRIER)
        return fills(ir, FILL_BARRIERS);
    return (in->kind == K_BSSY || has_slow_path(ir, in)) && fills(ir, FILL_BSSY);
}

/* Returns the number of convergence barriers in which a function makes calls. The slow path of an expansion is a call
 * in a barrier of its own. */
static unsigned barriers_with_calls(const struct ir *ir, const struct ir_function *f) {
    uint32_t open = 0, with_calls = 0;
    bool slow_path = false;
    for (uint32_t i = f->begin; i < f->end; i++) {
        const struct inst *in = &ir->code[i];
        if (in->kind == K_BSSY)
            open |= 1u << in->rpc;
        else if (in->kind == K_BSYNC)
            open &= ~(1u << in->imm);
        else if (in->kind == K_CALL || has_slow_path(ir, in))
            with_calls |= open;
        slow_path |= has_slow_path(ir, in);
    }
    return (unsigned)__builtin_popcount(with_calls) + slow_path;
}

/* Saves and restores the barriers of a called function. */
static void add_saves(struct ir *ir, struct edit *e, const struct ir_function *f, const struct inst *nothing) {
    const unsigned n = barriers_with_calls(ir, f);
    for (unsigned k = 0; k < n && !fills(ir, FILL_BSSY); k++) /* else, each BSSY has such an instruction */
        edit_at_begin(e, f->block, nothing);
    for (uint32_t i = f->begin; i < f->end; i++)
        for (unsigned k = 0; k < n && ir->code[i].kind == K_RET; k++)
            edit_before(e, i, nothing);
}

/* Returns the number of f64 machine instructions that the instruction becomes. */
static unsigned f64_steps(const struct ir *ir, const struct inst *in) {
    const uint8_t id = select_expansion(ir, in);
    unsigned n = 0;
    if (!id)
        return machine_class_of(in->latency) == MACHINE_F64;
    for (const struct expansion_step *s = expansion_of(id)->step; s <= expansion_last(id); s++)
        n += machine_class_of(s->latency) == MACHINE_F64 ? s->count : 0;
    return n;
}

/* Adds instructions between those of f64 in a block. Each instruction can stall for CONTROL_MAX_STALL cycles. */
static void add_gaps(struct ir *ir, struct edit *e, uint32_t b, const struct inst *nothing) {
    const unsigned most = f64_gap(ir) / CONTROL_MAX_STALL;
    unsigned others = most; /* instructions since the last one of f64 */
    for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++) {
        const unsigned steps = f64_steps(ir, &ir->code[i]);
        if (!steps || !select_may_change(ir, i)) {
            others++;
            continue;
        }
        const unsigned before = others < most ? most - others : 0, n = before + (steps - 1) * most;
        for (unsigned k = 0; k < n; k++)
            edit_before(e, i, nothing);
        others = 0;
    }
}

bool pass_added(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    const uint32_t n = ir->n;
    const struct inst nothing = inst_of_row(isa_find_row(OP_FILL, T_NONE, T_NONE, 0));
    for (uint32_t b = 0; b < ir->n_blocks && f64_gap(ir); b++)
        add_gaps(ir, e, b, &nothing);
    for (uint32_t i = 0; i < n; i++)
        if (select_may_change(ir, i) && is_filled(ir, &ir->code[i]))
            edit_before(e, i, &nothing);
    for (uint32_t k = 0; k < ir->n_functions && fills(ir, FILL_CALLS) && !ir->n_streams; k++)
        if (!ir->functions[k].is_entry)
            add_saves(ir, e, &ir->functions[k], &nothing);
    if (copies_pointers(ir))
        add_pointer_copies(ir, e);
    if (ir->cfg.pred_first[0] == ir->cfg.pred_first[1]) /* not in a loop */
        add_entry(ir, e, entry_moves(ir));
    return edit_end(e);
}
