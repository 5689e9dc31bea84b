/* Turns a ladder of five shuffles and f32 additions, which sums a register over the lanes of a warp, into one
 * instruction for a tree of adders ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-C2). The
 * tree is wired for the order in which the ladder adds. A butterfly gives the sum to all lanes. shfl.down gives it to
 * lane 0 and shfl.up to lane 31. With shfl.down and shfl.up, the other lanes get partial sums, so the pass replaces
 * such a ladder only if the partial sums are dead. Requires: blocks. Keeps: what every lane computes, bit for bit. */
#include "frontend/passes/edit.h"
#include "frontend/passes/fuse.h"
#include "frontend/passes/pass.h"
#include "isa/decode.h"
#include "mechanisms/mechanism.h"
#include "reduce_parts.h"
#include <string.h>

enum what { SOMETHING, SHUFFLED, STEP };

/* A value in the current block. */
struct value {
    uint8_t what;
    bool own_first; /* STEP */
    bool went_on;   /* for a STEP: true if a later step reads the value */
    bool summed;    /* for SHUFFLED: true if a step reads the value */
    uint8_t n;      /* STEP: number of steps of its ladder so far, including this step */
    uint32_t inst;  /* SHUFFLED: index of the shuffle; STEP: index of the addition */
    uint32_t from;  /* SHUFFLED: number of the value that is shuffled; STEP: number of the lane's own value */
    uint32_t other; /* STEP: number of the value from another lane */
};

struct reducing {
    struct ir *ir;
    struct edit *edit;
    struct defuse defuse;
    struct control control;
    struct lane_users users;
    struct value *value;
    uint32_t n_values, cap_values;
    uint32_t *now, *stamp; /* indexed by register: number of its value, and the block in which this number is valid */
    uint32_t *taken;       /* indexed by instruction: number of its ladder, from 1; 0: none */
    uint32_t n_ladders;
};

struct ladder {
    uint32_t inst[2 * REDUCE_STEPS]; /* shuffle, addition, shuffle, ... */
    opnd_t from, members;            /* operands whose values are still valid at the last addition */
    struct program_reduce reduce;
    struct lane_choice choice;
    unsigned mode;
};

static uint32_t new_value(struct reducing *r, struct value v) {
    r->value = IR_ROOM(r->ir, r->value, r->n_values, r->cap_values);
    r->value[r->n_values] = v;
    return r->n_values++;
}

/* Returns the number of the value of register v in block b; adds an unknown value if there is none. */
static uint32_t value_of(struct reducing *r, uint32_t v, uint32_t b) {
    if (r->stamp[v] != b + 1) {
        r->stamp[v] = b + 1;
        r->now[v] = new_value(r, (struct value){.what = SOMETHING});
    }
    return r->now[v];
}

static void set_value(struct reducing *r, uint32_t v, uint32_t b, uint32_t value) {
    r->stamp[v] = b + 1;
    r->now[v] = value;
}

static bool is_shuffle(const struct inst *in) {
    return in->kind == K_WARP && reduce_row_of(in)->op == OP_SHFL && in->guard == NO_GUARD &&
           reduce_is_register(in->a) && form_get(reduce_row_of(in)->form, CAT_MODE) != MODE_IDX;
}

/* Returns true if value `t` is the result of a shuffle of value `own`. */
static bool brings(const struct reducing *r, uint32_t t, uint32_t own) {
    return r->value[t].what == SHUFFLED && r->value[t].from == own;
}

static uint32_t add_values(struct reducing *r, uint32_t inst, uint32_t a, uint32_t b) {
    bool own_first = brings(r, b, a);
    if (!own_first && !brings(r, a, b))
        return new_value(r, (struct value){.what = SOMETHING});
    struct value v = {.what = STEP, .own_first = own_first, .n = 1, .inst = inst};
    v.from = own_first ? a : b;
    v.other = own_first ? b : a;
    r->value[v.other].summed = true;
    struct value *before = &r->value[v.from];
    if (before->what == STEP && before->n < REDUCE_STEPS) {
        before->went_on = true;
        v.n = (uint8_t)(before->n + 1);
    }
    return new_value(r, v);
}

/* Records the values that instruction i of block b writes. */
static void record_value(struct reducing *r, uint32_t i, uint32_t b) {
    struct ir *ir = r->ir;
    const struct inst *in = &ir->code[i];
    const struct inst_info *info = &ir->info[i];
    uint32_t made;
    if (reduce_is_move(in) && reduce_is_register(in->a) && reduce_is_register(in->d)) {
        made = value_of(r, in->a >> 1, b);
    } else if (is_shuffle(in)) {
        made = new_value(r, (struct value){.what = SHUFFLED, .inst = i, .from = value_of(r, in->a >> 1, b)});
    } else if (reduce_is_addition(in)) {
        uint32_t x = value_of(r, in->a >> 1, b), y = value_of(r, in->b >> 1, b);
        made = add_values(r, i, x, y);
    } else {
        for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
            set_value(r, ir->regs[info->regs + k], b, new_value(r, (struct value){.what = SOMETHING}));
        return;
    }
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
        set_value(r, ir->regs[info->regs + k], b, new_value(r, (struct value){.what = SOMETHING}));
    if (reduce_is_register(in->d))
        set_value(r, in->d >> 1, b, made);
}

/* ---- recognition of a ladder ---- */

/* Returns true if the distances go from 16 to 1 or from 1 to 16. */
static bool in_order(const uint32_t d[REDUCE_STEPS]) {
    bool down = true, up = true;
    for (unsigned k = 0; k < REDUCE_STEPS; k++) {
        down &= d[k] == 16u >> k;
        up &= d[k] == 1u << k;
    }
    return down || up;
}

/* Checks the shuffles of the ladder: equal modes and masks, and distances from 16 to 1 or from 1 to 16. Returns the
 * reason why the ladder does not fit; NULL: it fits. */
static const char *check_shuffles(struct reducing *r, struct ladder *l) {
    const struct ir *ir = r->ir;
    const struct inst *first = &ir->code[l->inst[0]];
    uint32_t distance[REDUCE_STEPS], clamp, mask, mask0 = 0;
    l->mode = form_get(reduce_row_of(first)->form, CAT_MODE);
    bool known = first->e != OPND_ZERO && reduce_constant(ir, &r->defuse, l->inst[0], first->e, &mask0);
    for (unsigned k = 0; k < REDUCE_STEPS; k++) {
        uint32_t i = l->inst[2 * k];
        const struct inst *in = &ir->code[i];
        if (in->row != first->row || ir->code[l->inst[2 * k + 1]].row != ir->code[l->inst[1]].row)
            return "its steps are not alike";
        if (!reduce_constant(ir, &r->defuse, i, in->b, &distance[k]) ||
            !reduce_constant(ir, &r->defuse, i, in->c, &clamp))
            return "a distance or a clamp is no constant";
        if (clamp != (l->mode == MODE_UP ? 0 : WARP_LANES - 1))
            return "it sums parts of a warp";
        if ((in->e == OPND_ZERO) != (first->e == OPND_ZERO))
            return "some of its shuffles have a member mask, and some have none";
        if (known ? !reduce_constant(ir, &r->defuse, i, in->e, &mask) || mask != mask0 : in->e != first->e)
            return "its shuffles have different member masks";
        l->reduce.distance[k] = (uint8_t)distance[k];
    }
    if (!in_order(distance))
        return "its distances are neither 16, 8, 4, 2, 1 nor 1, 2, 4, 8, 16";
    if (known && mask0 != LANES_ALL)
        return "its member mask does not name all lanes";
    l->members = known ? ir_constant(r->ir, RC_32, LANES_ALL, 0) : first->e;
    return NULL;
}

/* Returns true if only the ladder reads what instruction i writes. */
static bool stays_inside(const struct reducing *r, uint32_t i, uint32_t ladder) {
    const struct defuse *d = &r->defuse;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        for (uint32_t u = 0; u < d->defs[k].n; u++)
            if (r->taken[d->uses[d->def_uses[d->defs[k].first + u]].inst] != ladder)
                return false;
    return true;
}

/* Returns true if the ladder reads the result of the move only as a value to shuffle or to add. */
static bool reads_as_value(const struct reducing *r, uint32_t move, uint32_t number) {
    const struct ir *ir = r->ir;
    const struct reg_def *def = &r->defuse.defs[r->defuse.inst_defs[move]];
    for (uint32_t u = 0; u < def->n; u++) {
        uint32_t user = r->defuse.uses[r->defuse.def_uses[def->first + u]].inst;
        const struct inst *in = &ir->code[user];
        if (r->taken[user] != number ||
            (in->kind == K_WARP && (in->b >> 1 == def->vreg || in->c >> 1 == def->vreg || in->e >> 1 == def->vreg)))
            return false;
    }
    return def->n != 0;
}

/* Adds moves between the ladder's instructions to the ladder if nothing else reads their results. */
static void take_moves(struct reducing *r, struct ladder *l, uint32_t number) {
    const struct ir *ir = r->ir;
    uint32_t last = l->inst[2 * REDUCE_STEPS - 1];
    for (uint32_t i = last; i-- > ir->blocks[ir->info[last].block].begin;)
        if (reduce_is_move(&ir->code[i]) && !r->taken[i] && reduce_is_register(ir->code[i].a) &&
            r->defuse.inst_defs[i] < r->defuse.inst_defs[i + 1] && reads_as_value(r, i, number)) {
            r->taken[i] = number;
            l->reduce.moves++;
        }
}

/* Returns true if register v keeps its value from instruction `from` to the last addition. Writes of the ladder do not
 * count. */
static bool lasts(const struct reducing *r, const struct ladder *l, uint32_t from, uint32_t v, uint32_t number) {
    for (uint32_t i = from; i < l->inst[2 * REDUCE_STEPS - 1]; i++)
        if (r->taken[i] != number && fuse_writes(r->ir, i, v))
            return false;
    return true;
}

/* Finds an operand that still holds the values to sum when the last addition executes: the lane's own value in the
 * first addition, the source of the first shuffle, or the source of a move that wrote one of these two registers. */
static bool find_input(const struct reducing *r, struct ladder *l, uint32_t number) {
    const struct inst *add = &r->ir->code[l->inst[1]];
    opnd_t at[2] = {l->reduce.own_first[0] ? add->a : add->b, r->ir->code[l->inst[0]].a};
    uint32_t inst[2] = {l->inst[1], l->inst[0]};
    for (int k = 0; k < 2; k++) {
        uint32_t from;
        while ((from = reduce_maker(&r->defuse, inst[k], at[k])) != NO_INST && r->taken[from] == number) {
            at[k] = r->ir->code[from].a;
            inst[k] = from;
        }
        l->from = at[k];
        if (lasts(r, l, inst[k], at[k] >> 1, number))
            return true;
    }
    return false;
}

/* Returns true if the instruction must not move across the ladder's shuffles. */
static bool is_crossing(const struct inst *in) {
    switch (in->kind) {
    case K_LOAD:
        return in->hints & HINT_COLLECTIVE;
    case K_LANE:
    case K_CVT:
    case K_COMPOUND:
    case K_STORE:
    case K_NOP:
        return false;
    case K_WARP:
        return reduce_row_of(in)->op != OP_SHFL && reduce_row_of(in)->op != OP_LOP3;
    default:
        return true;
    }
}

static const char *check_place(struct reducing *r, struct ladder *l, uint32_t number) {
    const struct ir *ir = r->ir;
    uint32_t last = l->inst[2 * REDUCE_STEPS - 1];
    for (unsigned k = 0; k + 1 < 2 * REDUCE_STEPS; k++)
        if (!stays_inside(r, l->inst[k], number))
            return k & 1 ? "a partial sum is used elsewhere"
                         : "what a shuffle brings, or its predicate, is used elsewhere";
    for (uint32_t i = l->inst[0]; i < last; i++)
        if (is_crossing(&ir->code[i]))
            return "what stands between its steps may not pass them";
    if (!find_input(r, l, number))
        return "what it sums is written before its end";
    if (reduce_is_register(l->members) && !lasts(r, l, l->inst[0], l->members >> 1, number))
        return "its member mask is written before its end";
    if (l->members != OPND_ZERO && reduce_meets_others(ir, &r->control, ir->info[last].block))
        return "other threads of the warp may wait at another shuffle meanwhile";
    return NULL;
}

static const char *check_users(struct reducing *r, struct ladder *l) {
    uint32_t last = l->inst[2 * REDUCE_STEPS - 1];
    l->reduce.lane = REDUCE_ALL;
    l->choice.from = OPND_ZERO;
    if (l->mode == MODE_BFLY)
        return NULL;
    l->reduce.lane = l->mode == MODE_DOWN ? 0 : WARP_LANES - 1;
    const char *why = reduce_users(&r->users, r->defuse.inst_defs[last], l->reduce.lane, &l->choice);
    l->reduce.mask = l->choice.mask;
    l->reduce.value = l->choice.value;
    return why;
}

/* ---- the instruction ---- */

static void place_instruction(struct reducing *r, struct ladder *l, uint32_t number) {
    struct ir *ir = r->ir;
    uint32_t last = l->inst[2 * REDUCE_STEPS - 1];
    const struct inst *shuffle = &ir->code[l->inst[0]], *add = &ir->code[last];
    l->reduce.shuffle = shuffle->fn.warp;
    l->reduce.shuffle_row = shuffle->row;
    l->reduce.add = add->fn.lane;
    l->reduce.add_row = add->row;
    struct inst in = reduce_make(ir, &l->reduce);
    in.d = add->d;
    in.a = l->from;
    in.b = l->choice.from;
    in.c = ir_constant(ir, RC_32, l->mode == MODE_UP ? 0 : WARP_LANES - 1, 0);
    reduce_set_members(&in, l->members);
    fuse_place(r->edit, edit_before(r->edit, last, &in), last);
    for (uint32_t i = ir->blocks[ir->info[last].block].begin; i <= last; i++)
        if (r->taken[i] == number)
            edit_remove(r->edit, i);
}

static void forget(struct reducing *r, const struct ladder *l, uint32_t number) {
    uint32_t last = l->inst[2 * REDUCE_STEPS - 1];
    for (uint32_t i = r->ir->blocks[r->ir->info[last].block].begin; i <= last; i++)
        if (r->taken[i] == number)
            r->taken[i] = 0;
}

static void try_ladder(struct reducing *r, uint32_t value) {
    struct ladder l = {.mode = 0};
    uint32_t at = value, number = ++r->n_ladders;
    for (unsigned k = REDUCE_STEPS; k-- > 0; at = r->value[at].from) {
        const struct value *v = &r->value[at];
        l.inst[2 * k] = r->value[v->other].inst;
        l.inst[2 * k + 1] = v->inst;
        l.reduce.own_first[k] = v->own_first;
    }
    uint32_t last = l.inst[2 * REDUCE_STEPS - 1];
    const char *why = check_shuffles(r, &l);
    for (unsigned k = 0; !why && k < 2 * REDUCE_STEPS; k++) {
        if (r->taken[l.inst[k]])
            why = "another ladder takes a step of it";
        else
            r->taken[l.inst[k]] = number;
    }
    if (!why) {
        take_moves(r, &l, number);
        why = check_place(r, &l, number);
    }
    why = why ? why : check_users(r, &l);
    if (why) {
        forget(r, &l, number);
        ir_note(r->ir, last, "left alone: %s", why);
        return;
    }
    place_instruction(r, &l, number);
    ir_note(r->ir, last, "sum over the warp from line %u on: %u instructions in one%s", r->ir->info[l.inst[0]].line,
            reduce_ladder(&l.reduce),
            l.reduce.lane == REDUCE_ALL ? ""
            : l.reduce.lane             ? ", for lane 31"
                                        : ", for lane 0");
}

static void reduce_block(struct reducing *r, uint32_t b) {
    const struct block *block = &r->ir->blocks[b];
    r->n_values = 0;
    for (uint32_t i = block->begin; i < block->end; i++)
        record_value(r, i, b);
    for (uint32_t v = 0; v < r->n_values; v++) {
        const struct value *x = &r->value[v];
        if (x->what == SHUFFLED && !x->summed)
            ir_note(r->ir, x->inst, "left alone: no f32 addition takes what it brings and what it was given");
        if (x->what != STEP || x->went_on)
            continue;
        if (x->n == REDUCE_STEPS)
            try_ladder(r, v);
        else
            ir_note(r->ir, x->inst, "left alone: a ladder of %u step%s, not of 5", x->n, x->n == 1 ? "" : "s");
    }
}

/* Returns false if the program cannot contain a sum. The pass then skips its analyses. */
static bool has_any(const struct ir *ir) {
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        if ((in->kind == K_WARP && reduce_row_of(in)->op == OP_SHFL) || in->kind == K_ATOM ||
            ((in->kind == K_LOAD || in->kind == K_STORE) && in->space == SPACE_SHARED))
            return true;
    }
    return false;
}

static bool run(struct ir *ir) {
    if (!has_any(ir))
        return true;
    struct reducing r = {.ir = ir, .defuse = find_defuse(ir->tmp, ir)};
    r.control = find_control(ir->tmp, ir, NULL);
    if (r.control.stuck != NO_BLOCK) {
        ir_note(ir, ir->blocks[r.control.stuck].begin, "left alone: a loop never ends");
        return true;
    }
    r.users = (struct lane_users){ir, &r.defuse, ir_dominators(ir)};
    r.now = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *r.now);
    r.stamp = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *r.stamp);
    r.taken = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *r.taken);
    r.edit = edit_begin(ir);
    for (uint32_t b = 0; b < r.control.n; b++) /* the blocks of the kernel precede those of functions */
        reduce_block(&r, b);
    if (pass_option(&ir->context, "sm.warp_size", WARP_LANES) == WARP_LANES) /* a narrow warp has no sum of 32 lanes */
        reduce_trees(ir, r.edit, &r.control);
    reduce_serial(ir, r.edit, &r.defuse, r.control.n);
    return edit_end(r.edit);
}

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "reduce"); }

static const struct pass pass_reduce = {
    .name = "reduce",
    .help = "ladders of shuffles and f32 additions over a warp in one instruction",
    .before = "dominators",
    .run = run,
    .wanted = wanted,
    .when = "models with the extension 'reduce'",
};

const struct mechanism mechanism_reduce = {
    .name = "reduce",
    .help = "PEPSC: sums over the lanes of a warp in one instruction, on a tree of adders (docs/pepsc-passes.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, section III",
    .kind = MECHANISM_EXTENSION,
    .passes = PASSES(&pass_reduce),
    .options = PREFIXES("reduce."),
    .shares = SHARES(CONFIG_PART(fused.ieee)),
    .statistics = PREFIXES("reduce."),
    .instructions = INSTRUCTIONS(&reduce_ops),
};
