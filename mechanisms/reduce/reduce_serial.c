/* Replaces serial sums, in which one lane adds one value after another: s[0] + s[1], then + s[2] ("reduction operations
 * such as an accumulation of all the values computed so far", in "PEPSC: A Power-Efficient Processor for Scientific
 * Computing", section III-C2). The tree adds neighbouring values first, so its order differs from that of the program;
 * the option chain.ieee=off allows this. Up to 32 consecutive words of shared memory that a block adds to one register
 * become one instruction. Notes name the sums that are not replaced. */
#include "frontend/passes/fuse.h"
#include "frontend/passes/pass.h"
#include "isa/decode.h"
#include "mechanisms/fused_inst.h"
#include "reduce_parts.h"

/* One value of a sum: its addition and its load. */
struct taken {
    uint32_t add, load;
};

struct run {
    struct taken value[REDUCE_SERIAL];
    unsigned n;
    opnd_t from; /* the start value */
    opnd_t base; /* address of the first value minus `at` */
    int64_t at;
};

struct search {
    struct ir *ir;
    struct edit *edit;
    const struct defuse *d;
    bool free_order;
    unsigned char *in_run; /* indexed by instruction: true for an addition or a load of a sum that has been found */
};

enum { NO_RUN, AT_HAND, DONE };

/* Returns the load from shared memory that computes operand `o` of instruction `inst`; NO_INST: there is none. Sets
 * `at` to the offset of the word from the load's base. */
static uint32_t load_of(const struct search *s, uint32_t inst, opnd_t o, int64_t *at) {
    uint32_t i = reduce_is_register(o) ? reduce_maker(s->d, inst, o) : NO_INST;
    const struct inst *in = i == NO_INST ? NULL : &s->ir->code[i];
    if (!in || in->kind != K_LOAD || in->space != SPACE_SHARED || in->msize != 4 || in->rsize != 4 ||
        in->guard != NO_GUARD || in->hints & HINT_COLLECTIVE || inst_is_strong(in) ||
        s->ir->info[i].order & ORDER_STRONG || s->ir->info[i].block != s->ir->info[inst].block)
        return NO_INST;
    *at = in->imm;
    for (unsigned k = 0; k < in->n_list; k++)
        if (s->ir->lists[in->list + k] == o) {
            *at += 4 * k;
            return i;
        }
    return in->n_list ? NO_INST : i;
}

/* Returns the only reader of the result of instruction i; NO_INST: there is none, or there are several. */
static uint32_t only_reader(const struct search *s, uint32_t i) {
    const struct defuse *d = s->d;
    if (d->inst_defs[i] == d->inst_defs[i + 1])
        return NO_INST;
    const struct reg_def *def = &d->defs[d->inst_defs[i]];
    return def->n == 1 ? d->uses[d->def_uses[def->first]].inst : NO_INST;
}

/* Returns true if addition i adds a loaded word. Sets `sum` to the other operand. */
static bool takes(const struct search *s, uint32_t i, const struct run *r, opnd_t sum, struct taken *t) {
    const struct inst *in = &s->ir->code[i];
    int64_t at;
    if (in->a != sum && in->b != sum)
        return false;
    *t = (struct taken){i, load_of(s, i, in->a == sum ? in->b : in->a, &at)};
    return t->load != NO_INST && s->ir->code[t->load].a == r->base && at == r->at + 4 * (int64_t)r->n;
}

/* Finds the longest run of additions from addition i on. One operand of i is the value to which the run adds: operand a
 * if `first` is set, else operand b. */
static void run_from(const struct search *s, uint32_t i, int first, struct run *r) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    struct taken t = {.load = load_of(s, i, first ? in->b : in->a, &r->at)};
    r->n = 0;
    if (t.load == NO_INST)
        return;
    r->base = ir->code[t.load].a;
    r->from = first ? in->a : in->b;
    for (opnd_t sum = r->from; r->n < REDUCE_SERIAL && takes(s, i, r, sum, &t); sum = ir->code[t.add].d) {
        r->value[r->n++] = t;
        i = only_reader(s, i);
        if (i == NO_INST || i <= t.add || ir->info[i].block != ir->info[t.add].block ||
            ir->code[i].row != ir->code[t.add].row || ir->code[i].guard != NO_GUARD)
            return;
    }
}

static bool may_pass(const struct ir *ir, const struct inst *in) {
    bool far = in->space == SPACE_GLOBAL || in->space == SPACE_LOCAL || in->space == SPACE_PARAM;
    return in->kind == K_LANE || in->kind == K_CVT || in->kind == K_NOP || ir_is_lane_wise(ir, in) ||
           (in->kind == K_LOAD && !inst_is_strong(in)) || (in->kind == K_STORE && far && !inst_is_strong(in));
}

static const char *check(const struct search *s, const struct run *r) {
    const struct ir *ir = s->ir;
    uint32_t last = r->value[r->n - 1].add, first = last;
    for (unsigned k = 0; k < r->n; k++)
        first = r->value[k].load < first ? r->value[k].load : first;
    for (uint32_t i = first; i < last; i++) {
        if (reduce_is_register(r->base) && fuse_writes(ir, i, r->base >> 1))
            return "its address is written on the way";
        if (s->in_run[i] == AT_HAND)
            continue;
        if (i > r->value[0].add && reduce_is_register(r->from) && fuse_writes(ir, i, r->from >> 1))
            return "what it begins with is written on the way";
        if (!may_pass(ir, &ir->code[i]))
            return "what stands between its loads may not pass them";
    }
    return NULL;
}

static void mark(const struct search *s, const struct run *r, unsigned char on) {
    for (unsigned k = 0; k < r->n; k++)
        s->in_run[r->value[k].add] = s->in_run[r->value[k].load] = on;
}

/* Returns true if only this sum reads the result of the load. */
static bool is_for_the_sum(const struct search *s, uint32_t load) {
    const struct defuse *d = s->d;
    for (uint32_t k = d->inst_defs[load]; k < d->inst_defs[load + 1]; k++)
        for (uint32_t u = 0; u < d->defs[k].n; u++)
            if (!s->in_run[d->uses[d->def_uses[d->defs[k].first + u]].inst])
                return false;
    return true;
}

static void place(const struct search *s, const struct run *r) {
    struct ir *ir = s->ir;
    uint32_t last = r->value[r->n - 1].add;
    struct program_reduce sum = {.serial = (uint8_t)r->n, .at = (uint32_t)r->at, .lane = REDUCE_ALL};
    sum.wide = reduce_is_wide(ir, r->base);
    sum.add = ir->code[last].fn.lane;
    sum.add_row = ir->code[last].row;
    for (unsigned k = 0; k < r->n; k++) {
        uint32_t load = r->value[k].load;
        if ((!k || load != r->value[k - 1].load) && is_for_the_sum(s, load)) {
            edit_remove(s->edit, load);
            sum.moves++;
        }
    }
    struct inst in = reduce_make(ir, &sum);
    in.d = ir->code[last].d;
    in.a = r->from;
    in.b = r->base;
    fuse_place(s->edit, edit_before(s->edit, last, &in), last);
    for (unsigned k = 0; k < r->n; k++)
        edit_remove(s->edit, r->value[k].add);
    ir_note(ir, last, "sum of %u words in a row, from line %u on: %u instructions in one", r->n,
            ir->info[r->value[0].add].line, reduce_ladder(&sum));
}

static void try_run(const struct search *s, const struct run *r) {
    mark(s, r, AT_HAND);
    const char *why = s->free_order ? check(s, r) : "a tree adds them in another order (chain.ieee=off lets it)";
    if (!why)
        place(s, r);
    else
        ir_note(s->ir, r->value[r->n - 1].add, "left alone: %u values are added one after another: %s", r->n, why);
    mark(s, r, why && s->free_order ? NO_RUN : DONE);
}

/* Returns true if instruction i adds a loaded word of shared memory to a sum that a loop of one block carries from
 * iteration to iteration. */
static bool carries_on(const struct search *s, uint32_t i) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    uint32_t b = ir->info[i].block;
    int64_t at;
    bool loops = false;
    for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
        loops |= ir->cfg.succ[e] == b;
    return loops && (in->d == in->a || in->d == in->b) && load_of(s, i, in->d == in->a ? in->b : in->a, &at) != NO_INST;
}

/* Replaces the run of additions to which instruction i belongs, or notes why it is left alone. */
static void replace_run_of(const struct search *s, uint32_t i) {
    if (s->in_run[i])
        return;
    struct run r;
    for (int first = 1; first >= 0; first--) {
        run_from(s, i, first, &r);
        if (r.n >= REDUCE_LEAST) {
            try_run(s, &r);
            return;
        }
    }
    if (carries_on(s, i))
        ir_note(s->ir, i, "left alone: one value after another is added to a sum, a few in each turn of a loop");
}

void reduce_serial(struct ir *ir, struct edit *edit, const struct defuse *d, uint32_t blocks) {
    struct search s = {.ir = ir, .edit = edit, .d = d};
    uint32_t n;
    s.free_order = !fused_options(&ir->context)->ieee;
    s.in_run = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        const struct isa_row *row = &isa_rows(&n)[in->row];
        if (ir->info[i].block < blocks && reduce_adds(in))
            replace_run_of(&s, i);
        if (in->kind == K_ATOM && form_get(row->form, CAT_OPN) == OPN_ADD && row->types[0] == T_F32)
            ir_note(ir, i, "left alone: memory adds what each lane sends, one after another");
    }
}
