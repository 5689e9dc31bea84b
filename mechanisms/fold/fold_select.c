/* Folds selections d = p ? a : b, which compilers make of short branches: all lanes compute a and b and keep one. The
 * selection and the operations that compute a and b for it alone become one folded instruction. The predicate chooses
 * between its two outputs ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-C1;
 * folding selections is this project's idea). A side without operations is a value that passes through. */
#include "fold.h"
#include "frontend/passes/pass.h"
#include "isa/decode.h"

struct selecting {
    struct ir *ir;
    struct edit *edit;
    struct defuse defuse;
    unsigned length;
    const struct fuse_kind *kind;
};

static bool is_selection(const struct inst *in) {
    uint32_t n;
    return in->kind == K_LANE && isa_rows(&n)[in->row].op == OP_SELP && in->dsize == 4 && in->guard == NO_GUARD &&
           in->d != OPND_SINK && !(in->c & 1) && in->a != in->b;
}

/* Returns the operation in the block of instruction `inst` that computes operand `o` for this instruction alone;
 * NO_INST if there is none. */
static uint32_t maker_of(const struct selecting *s, uint32_t inst, opnd_t o) {
    const struct reg_use *use = o & 1 ? NULL : defuse_use(&s->defuse, inst, o >> 1);
    const struct reg_def *def = use ? defuse_only_def(&s->defuse, use) : NULL;
    if (!def || def->n != 1 || def->inst == NO_INST || def->inst >= inst)
        return NO_INST;
    const struct inst *in = &s->ir->code[def->inst];
    return s->ir->info[def->inst].block == s->ir->info[inst].block && in->guard == NO_GUARD && fuse_side_units(in)
               ? def->inst
               : NO_INST;
}

/* Returns the sequence of operations, with at most `most` FPUs, that computes the operand. */
static struct fuse_choice side_of(const struct selecting *s, uint32_t select, opnd_t o, unsigned most) {
    struct fuse_choice c = {.value = o};
    struct fuse_group *g = &c.group;
    uint32_t i = maker_of(s, select, o);
    while (i != NO_INST && g->units + fuse_side_units(&s->ir->code[i]) <= most) {
        const struct inst *in = &s->ir->code[i];
        const opnd_t source[] = {in->a, in->b, in->c};
        for (uint32_t k = g->n++; k; k--)
            g->inst[k] = g->inst[k - 1];
        g->inst[0] = i;
        g->units += fuse_side_units(in);
        uint32_t before = NO_INST;
        for (int k = 0; k < 3 && before == NO_INST; k++)
            before = maker_of(s, i, source[k]);
        i = before;
    }
    return c;
}

static bool has(const struct fuse_group *g, uint32_t inst) {
    for (uint32_t k = 0; k < g->n; k++)
        if (g->inst[k] == inst)
            return true;
    return false;
}

/* Returns true if operation `op` may move to the place of the selection: nothing in between writes its sources. */
static bool movable(const struct ir *ir, uint32_t op, uint32_t select, const struct fuse_choice side[2]) {
    const struct inst_info *info = &ir->info[op];
    for (uint32_t i = op + 1; i < select; i++)
        for (unsigned k = 0; k < info->n_reads && !has(&side[0].group, i) && !has(&side[1].group, i); k++)
            if (fuse_writes(ir, i, ir->regs[info->regs + k]))
                return false;
    return true;
}

/* Drops operations from the beginning of a side until the rest may move to the selection. */
static void shorten(const struct ir *ir, struct fuse_choice *c, uint32_t select, const struct fuse_choice side[2]) {
    for (uint32_t k = c->group.n; k-- > 0;)
        if (!movable(ir, c->group.inst[k], select, side)) {
            struct fuse_group rest = {.n = 0};
            while (++k < c->group.n) {
                rest.units += fuse_side_units(&ir->code[c->group.inst[k]]);
                rest.inst[rest.n++] = c->group.inst[k];
            }
            c->group = rest;
            return;
        }
}

static void try_selection(struct selecting *s, uint32_t select) {
    struct ir *ir = s->ir;
    const struct inst *in = &ir->code[select];
    unsigned most = s->length < 2 ? 0 : s->length - 1 < FOLD_SIDE ? s->length - 1 : FOLD_SIDE;
    struct fuse_choice side[2];
    side[0] = side_of(s, select, in->a, most);
    unsigned left = s->length - (side[0].group.n ? side[0].group.units : 1);
    side[1] = side_of(s, select, in->b, !most ? 0 : left < FOLD_SIDE ? left : FOLD_SIDE);
    /* an operation dropped from one side may have blocked the other side: repeat until nothing changes */
    for (uint32_t n = UINT32_MAX; n != side[0].group.n + side[1].group.n;) {
        n = side[0].group.n + side[1].group.n;
        shorten(ir, &side[0], select, side);
        shorten(ir, &side[1], select, side);
    }
    if (!side[0].group.n && !side[1].group.n) {
        ir_note(ir, select, "left alone: no f32 operation makes what it selects, for it alone");
        return;
    }
    struct inst folded = fuse_make_selected(ir, in, side, s->kind);
    fuse_place(s->edit, edit_before(s->edit, select, &folded), select);
    edit_remove(s->edit, select);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < side[k].group.n; i++)
            edit_remove(s->edit, side[k].group.inst[i]);
    ir_note(ir, select, "folded: a selection between %u and %u operations", side[0].group.units, side[1].group.units);
}

bool fold_selections(struct ir *ir, unsigned length, const struct fuse_kind *kind) {
    struct selecting s = {.ir = ir, .length = length, .kind = kind};
    uint32_t n = ir->n;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_selection(&ir->code[i]))
            continue;
        if (!s.edit) {
            s.edit = edit_begin(ir);
            s.defuse = find_defuse(ir->tmp, ir);
        }
        try_selection(&s, i);
    }
    return !s.edit || edit_end(s.edit);
}
