/* Finds groups of dependent f32 operations, and makes the instruction that executes a group. */
#include "fuse.h"
#include "isa/decode.h"
#include "pass.h"
#include <string.h>

unsigned fuse_units_of(const struct inst *in) {
    uint32_t n;
    const struct isa_row *r = &isa_rows(&n)[in->row];
    if (in->kind != K_LANE || r->d != T_F32 || r->a != T_F32 || r->b != T_F32 || r->e != T_NONE || r->d2 != T_NONE)
        return 0;
    switch (r->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        return r->c == T_NONE;
    case OP_FMA:
    case OP_MAD:
        return r->c == T_F32 ? 2 : 0;
    default:
        return 0;
    }
}

/* Returns true if the instruction is a minimum, a maximum, a negation or an absolute value of f32. */
static bool is_simple(const struct inst *in) {
    uint32_t n;
    const struct isa_row *r = &isa_rows(&n)[in->row];
    if (in->kind != K_LANE || r->d != T_F32 || r->a != T_F32 || r->c != T_NONE || r->e != T_NONE || r->d2 != T_NONE)
        return false;
    return ((r->op == OP_MIN || r->op == OP_MAX) && r->b == T_F32) ||
           ((r->op == OP_NEG || r->op == OP_ABS) && r->b == T_NONE);
}

static bool is_move(const struct inst *in) {
    uint32_t n;
    return in->kind == K_LANE && in->dsize == 4 && isa_rows(&n)[in->row].op == OP_MOV;
}

bool fuse_side_holds(const struct ir *ir, const struct inst *in) {
    bool special = !(in->a & 1) && ir->vregs[in->a >> 1].special;
    return fuse_units_of(in) || is_simple(in) || (is_move(in) && !special);
}

unsigned fuse_side_units(const struct inst *in) { return is_simple(in) ? 1 : fuse_units_of(in); }

/* Returns true if a group may contain the instruction. */
static bool holds(const struct fuse_search *s, const struct inst *in) {
    return s->sides ? fuse_side_holds(s->ir, in) : fuse_units_of(in) != 0;
}

bool fuse_writes(const struct ir *ir, uint32_t i, uint32_t vreg) {
    const struct inst_info *info = &ir->info[i];
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
        if (ir->regs[info->regs + k] == vreg)
            return true;
    return false;
}

static bool same_guard(const struct inst *a, const struct inst *b) {
    return a->guard == b->guard && (a->guard == NO_GUARD || a->guard_not == b->guard_not);
}

/* Returns the only reader of the result of instruction i if it may follow i in a group. Otherwise returns NO_INST, and
 * the reason in `why`. */
static uint32_t find_next(const struct fuse_search *s, uint32_t i, const char **why) {
    const struct ir *ir = s->ir;
    const struct defuse *d = &s->defuse;
    if (d->inst_defs[i] == d->inst_defs[i + 1])
        return NO_INST;
    const struct reg_def *def = &d->defs[d->inst_defs[i]];
    if (!def->n) {
        *why = "nothing reads its result";
        return NO_INST;
    }
    if (def->n > 1) {
        *why = "its result is read more than once";
        return NO_INST;
    }
    uint32_t j = d->uses[d->def_uses[def->first]].inst;
    if (ir->info[j].block != ir->info[i].block || j <= i)
        *why = "its result is read in another block, or when the loop comes round";
    else if (!holds(s, &ir->code[j]))
        *why = "what reads its result is no f32 addition, subtraction or multiplication";
    else if (!same_guard(&ir->code[i], &ir->code[j]))
        *why = "what reads its result has another guard";
    else
        return j;
    return NO_INST;
}

struct fuse_search fuse_search_begin(struct ir *ir, unsigned length, bool sides) {
    struct fuse_search s = {.ir = ir, .defuse = find_defuse(ir->tmp, ir), .length = length, .sides = sides};
    s.next = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *s.next);
    s.alone = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *s.alone);
    s.taken = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    for (uint32_t i = 0; i < ir->n; i++)
        s.next[i] = holds(&s, &ir->code[i]) ? find_next(&s, i, &s.alone[i]) : NO_INST;
    return s;
}

/* Returns true if an instruction between `from` and `to` writes the destination of `from`. If its guard is false in
 * some lanes, the reader gets the value of `from` in these lanes, and the newer value in all other lanes. */
static bool disturbed(const struct ir *ir, uint32_t from, uint32_t to) {
    uint32_t v = ir->code[from].d >> 1;
    for (uint32_t k = from + 1; k < to; k++)
        if (fuse_writes(ir, k, v))
            return true;
    return false;
}

/* Returns true if operation k of the group may move to the place of the last operation: no instruction in between
 * writes its sources or its guard. Operations of the group itself are skipped, since only the last one of them writes a
 * register. */
static bool movable(const struct ir *ir, const struct fuse_group *g, uint32_t k) {
    const struct inst_info *info = &ir->info[g->inst[k]];
    uint32_t own = k + 1;
    for (uint32_t i = g->inst[k] + 1; i < g->inst[g->n - 1]; i++) {
        if (i == g->inst[own]) {
            own++;
            continue;
        }
        for (unsigned r = 0; r < info->n_reads; r++)
            if (fuse_writes(ir, i, ir->regs[info->regs + r]))
                return false;
    }
    return true;
}

/* Fills `g` with the group that begins with operation i and takes exactly `units` FPUs. Moves take no FPU, so moves
 * that follow these operations belong to the group, too. Returns false if there is no such group. */
static bool group_from(const struct fuse_search *s, uint32_t i, unsigned units, struct fuse_group *g) {
    *g = (struct fuse_group){.n = 0};
    if (!fuse_side_units(&s->ir->code[i]))
        return false;
    for (; i != NO_INST && g->n < FUSED_LENGTH; i = s->next[i]) {
        unsigned more = fuse_side_units(&s->ir->code[i]);
        if (g->units + more > units || s->taken[i] || (g->n && disturbed(s->ir, g->inst[g->n - 1], i)))
            break;
        g->inst[g->n++] = i;
        g->units += more;
    }
    if (g->units != units || g->n < 2)
        return false;
    for (uint32_t k = 0; k + 1 < g->n; k++)
        if (!movable(s->ir, g, k))
            return false;
    return true;
}

void fuse_find(struct fuse_search *s, uint32_t begin, uint32_t end) {
    struct fuse_group g;
    s->n_groups = 0;
    for (unsigned units = s->length; units >= (s->sides ? 1 : 2); units--)
        for (uint32_t i = begin; i < end; i++) {
            if (s->next[i] == NO_INST || !group_from(s, i, units, &g))
                continue;
            for (uint32_t k = 0; k < g.n; k++)
                s->taken[g.inst[k]] = 1;
            s->group = IR_ROOM(s->ir, s->group, s->n_groups, s->cap_groups);
            s->group[s->n_groups++] = g;
        }
}

/* ---- the instruction ---- */

struct maker {
    struct ir *ir;
    const struct fuse_kind *kind;
    struct fused *made; /* allocated in ir->keep, since the program uses it */
    opnd_t source[FUSED_SOURCES];
    /* reads: number of register reads that the operations would need as separate instructions */
    unsigned n_sources, reads;
};

static bool is_register(opnd_t o) { return !(o & 1) && o >> 1 != SINK_VREG; }

static uint8_t place_of(struct maker *m, opnd_t o) {
    unsigned i = 0;
    while (i < m->n_sources && m->source[i] != o)
        i++;
    m->source[i] = o;
    m->n_sources += i == m->n_sources;
    return (uint8_t)i;
}

static enum fused_op op_of(unsigned op) {
    switch (op) {
    case OP_ADD:
        return FUSED_ADD;
    case OP_SUB:
        return FUSED_SUB;
    case OP_MUL:
        return FUSED_MUL;
    case OP_MIN:
        return FUSED_MIN;
    case OP_MAX:
        return FUSED_MAX;
    case OP_NEG:
        return FUSED_NEG;
    case OP_ABS:
        return FUSED_ABS;
    case OP_MOV:
        return FUSED_MOVE;
    default:
        return FUSED_FMA;
    }
}

/* Adds an operation or a move to the instruction. A move takes an FPU only if no operation precedes it. `previous`: the
 * destination of the operation before; SINK_VREG: there is none. */
static void add_part(struct maker *m, const struct inst *in, uint32_t previous) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const opnd_t from[3] = {in->a, in->b, in->c};
    struct fused_part *p = &m->made->part[m->made->n++];
    unsigned rounding = form_get(row->form, CAT_RND);
    *p = (struct fused_part){
        .lane = in->fn.lane,
        .row = in->row,
        .op = (uint8_t)op_of(row->op),
        .units = (uint8_t)(is_move(in) ? previous == SINK_VREG : fuse_side_units(in)),
        .rounding = (uint8_t)(rounding == RND_NONE ? RND_RN : rounding),
        .ftz = form_get(row->form, CAT_FTZ) != 0,
        .sat = form_get(row->form, CAT_SAT) != 0,
    };
    p->n_src = p->op == FUSED_FMA ? 3 : p->op >= FUSED_NEG ? 1 : 2;
    for (unsigned i = 0; i < p->n_src; i++) {
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= from[k] == from[i];
        m->reads += is_register(from[i]) && !again;
        p->src[i] = is_register(from[i]) && from[i] >> 1 == previous ? FUSED_PREVIOUS : place_of(m, from[i]);
    }
}

static void add_group(struct maker *m, const struct fuse_group *g) {
    uint32_t previous = SINK_VREG;
    for (uint32_t k = 0; k < g->n; k++) {
        const struct inst *in = &m->ir->code[g->inst[k]];
        add_part(m, in, previous);
        previous = in->d >> 1;
    }
}

static opnd_t result_of(const struct ir *ir, const struct fuse_group *g) { return ir->code[g->inst[g->n - 1]].d; }

static struct maker begin(struct ir *ir, bool folded, const struct fuse_kind *kind) {
    struct maker m = {.ir = ir, .kind = kind, .made = arena_alloc(ir->keep, sizeof *m.made)};
    *m.made = (struct fused){.folded = folded, .wide = kind->wide};
    return m;
}

/* Makes the instruction with the results `first` and `second`; OPND_SINK: no second result. */
static struct inst finish(struct maker *m, opnd_t first, opnd_t second) {
    struct ir *ir = m->ir;
    struct inst in =
        ir_compound(ir, &(struct program_compound){.ops = m->kind->ops, .what = m->made, .selects = m->made->folded});
    unsigned reads = 0, results = second != OPND_SINK ? 2 : 1;
    in.d2size = 4;
    in.d = first;
    in.d2 = second;
    in.list = ir->n_lists;
    in.n_list = (uint8_t)m->n_sources;
    for (unsigned i = 0; i < m->n_sources; i++) {
        ir_list_add(ir, m->source[i]);
        reads += is_register(m->source[i]);
    }
    m->made->reads_saved = (uint8_t)(m->reads - reads);
    m->made->writes_saved = (uint8_t)(m->made->n - results);
    return in;
}

static struct inst make(struct maker *m, const struct fuse_group *first, const struct fuse_group *second) {
    add_group(m, first);
    m->made->split = m->made->n;
    if (second)
        add_group(m, second);
    return finish(m, result_of(m->ir, first), second ? result_of(m->ir, second) : OPND_SINK);
}

struct inst fuse_make(struct ir *ir, const struct fuse_group *first, const struct fuse_group *second,
                      const struct fuse_kind *kind) {
    struct maker m = begin(ir, false, kind);
    struct inst in = make(&m, first, second);
    in.guard = ir->code[first->inst[0]].guard;
    in.guard_not = ir->code[first->inst[0]].guard_not;
    return in;
}

struct inst fuse_make_folded(struct ir *ir, const struct fuse_group *first, const struct fuse_group *second,
                             uint32_t predicate, const struct fuse_kind *kind) {
    struct maker m = begin(ir, true, kind);
    struct inst in = make(&m, first, second);
    in.c = predicate << 1;
    if (in.d2 == in.d) {
        in.d2 = OPND_SINK; /* both sides write the same register, each in its own lanes */
        m.made->writes_saved++;
    }
    return in;
}

/* Adds one side of a selection. A side without operations becomes a move, which takes one FPU. */
static void add_choice(struct maker *m, const struct fuse_choice *c) {
    struct inst move = inst_of_row(isa_find_row(OP_MOV, T_B32, T_NONE, 0));
    move.a = c->value;
    if (c->group.n)
        add_group(m, &c->group);
    else
        add_part(m, &move, SINK_VREG);
}

struct inst fuse_make_selected(struct ir *ir, const struct inst *select, const struct fuse_choice side[2],
                               const struct fuse_kind *kind) {
    struct maker m = begin(ir, true, kind);
    add_choice(&m, &side[0]);
    m.made->split = m.made->n;
    add_choice(&m, &side[1]);
    struct inst in = finish(&m, select->d, select->d);
    in.d2 = OPND_SINK; /* both sides write the same register, each in its own lanes */
    in.c = select->c;
    m.made->reads_saved = (uint8_t)(m.made->reads_saved + (side[0].group.n != 0) + (side[1].group.n != 0));
    m.made->writes_saved = (uint8_t)(side[0].group.n + side[1].group.n);
    return in;
}

const struct fused *fuse_made(const struct ir *ir, const struct inst *in) {
    return fused_of_compound(ir_compound_of(ir, in));
}

void fuse_place(struct edit *e, uint32_t node, uint32_t inst) {
    const struct inst_info *from = &e->ir->info[inst];
    struct inst_info *to = &e->nodes[node].info;
    to->line = from->line;
    to->column = from->column;
    to->src_file = from->src_file;
    to->src_line = from->src_line;
}
