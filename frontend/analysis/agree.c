/* Finds the branches on which lanes may disagree. All values start as agreed. Rounds over the program add values on
 * which lanes may disagree, until a round adds none. The blocks between a parting branch and its join run without some
 * lanes. A value that a set of parting branches decides is the same in all lanes only where these branches decide
 * which lanes run. ptxas 13 places BSSY by the same rule, as kernels of one branch show for sm_75 to sm_120. */
#include "agree.h"
#include "defuse.h"
#include "isa/affine/rule.h"
#include "isa/decode.h"
#include "joins.h"
#include <string.h>

struct agree {
    struct ir *ir;
    struct defuse du;
    uint32_t words;         /* 64-bit words in a set of blocks */
    unsigned char *parts;   /* block -> true if its branch may part lanes */
    unsigned char *differs; /* definition -> true if lanes may disagree */
    uint64_t *deciders;     /* block -> set of the parting branches that decide which lanes run the block */
    uint32_t *join, *stack;
    bool changed;
};

static uint64_t *deciders_of(const struct agree *a, uint32_t block) { return a->deciders + (size_t)block * a->words; }

static bool is_within(const struct agree *a, uint32_t block, uint32_t of) {
    const uint64_t *x = deciders_of(a, block), *y = deciders_of(a, of);
    for (uint32_t k = 0; k < a->words; k++)
        if (x[k] & ~y[k])
            return false;
    return true;
}

static bool special_differs(enum special s) {
    return affine_special(s) != CLASS_SCALAR && s != SPECIAL_SMID && s != SPECIAL_NSMID && s != SPECIAL_NWARPID;
}

/* Returns true if lanes may disagree on register v at instruction i. */
static bool register_differs(const struct agree *a, uint32_t i, uint32_t v) {
    const struct ir *ir = a->ir;
    const uint32_t at = ir->info[i].block;
    if (ir->vregs[v].special) {
        for (uint32_t s = 0; s < ir->n_specials; s++)
            if (ir->specials[s].offset == v)
                return special_differs(ir->specials[s].id);
        return true;
    }
    const struct reg_use *u = defuse_use(&a->du, i, v);
    if ((!u || u->start) && ir->info[i].function != 0)
        return true; /* an argument */
    for (uint32_t k = u ? u->first : 0; u && k < u->first + u->n; k++) {
        const uint32_t def = a->du.use_defs[k], block = ir->info[a->du.defs[def].inst].block;
        const uint32_t first = ir->info[a->du.defs[a->du.use_defs[u->first]].inst].block;
        if (a->differs[def] || !is_within(a, block, at) || !is_within(a, first, block) || !is_within(a, block, first))
            return true;
    }
    return false;
}

static bool operand_differs(const struct agree *a, uint32_t i, opnd_t o) {
    return !(o & 1) && o >> 1 != SINK_VREG && register_differs(a, i, o >> 1);
}

static bool any_source_differs(const struct agree *a, uint32_t i) {
    const struct inst *in = &a->ir->code[i];
    const struct inst_info *info = &a->ir->info[i];
    for (unsigned k = 0; k < info->n_reads; k++)
        if (register_differs(a, i, a->ir->regs[info->regs + k]))
            return true;
    return operand_differs(a, i, in->a) || operand_differs(a, i, in->b) || operand_differs(a, i, in->c) ||
           operand_differs(a, i, in->e);
}

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

/* Returns true if lanes may get different results of an operation across lanes. */
static bool crossing_differs(const struct agree *a, uint32_t i) {
    enum { WHOLE_WARP = 0x1f1f, LAST_LANE = 0x1f };
    const struct inst *in = &a->ir->code[i];
    const struct isa_row *row = row_of(in);
    uint64_t clamp = 0;
    switch (row->op) {
    case OP_SREG: /* a clock */
    case OP_ACTIVEMASK:
    case OP_VOTE:
    case OP_REDUX:
        return in->guard != NO_GUARD && operand_differs(a, i, in->guard << 1);
    case OP_SHFL:
        if (in->c & 1)
            memcpy(&clamp, a->ir->constants + (in->c >> 1), 4);
        if (form_get(row->form, CAT_MODE) == MODE_IDX && (clamp & WHOLE_WARP) == LAST_LANE)
            return operand_differs(a, i, in->b) || (in->guard != NO_GUARD && operand_differs(a, i, in->guard << 1));
        return any_source_differs(a, i);
    default:
        return true;
    }
}

static bool result_differs(const struct agree *a, uint32_t i) {
    const struct inst *in = &a->ir->code[i];
    switch (in->kind) {
    case K_LANE:
    case K_CVT:
        return any_source_differs(a, i);
    case K_LOAD: /* arguments and results of calls are in local memory */
        return row_of(in)->op != OP_LD || in->space == SPACE_LOCAL || any_source_differs(a, i);
    case K_WARP:
        return crossing_differs(a, i);
    default:
        return true;
    }
}

/* Adds the branch at the end of block b to the deciders of the blocks between it and its join. */
static void part(struct agree *a, uint32_t b) {
    const struct cfg *g = &a->ir->cfg;
    uint32_t top = 0;
    a->parts[b] = a->changed = true;
    a->stack[top++] = b;
    while (top) {
        const uint32_t k = a->stack[--top];
        for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++) {
            uint64_t *set = deciders_of(a, g->succ[e]);
            if (g->succ[e] == a->join[b] || set[b / 64] >> b % 64 & 1)
                continue;
            set[b / 64] |= 1ull << b % 64;
            a->stack[top++] = g->succ[e];
        }
    }
}

/* Returns true if the lanes that continue after block b may take different ways. */
static bool may_part(const struct agree *a, uint32_t b) {
    const struct ir *ir = a->ir;
    const uint32_t i = ir->blocks[b].end - 1;
    const struct inst *in = &ir->code[i];
    if (in->kind == K_BRX)
        return any_source_differs(a, i);
    return in->kind == K_BRANCH && in->guard != NO_GUARD && !(in->hints & HINT_UNI) &&
           operand_differs(a, i, in->guard << 1);
}

static void run_round(struct agree *a) {
    const struct ir *ir = a->ir;
    for (uint32_t i = 0; i < ir->n; i++) {
        const uint32_t from = a->du.inst_defs[i], to = a->du.inst_defs[i + 1];
        if (from < to && !a->differs[from] && result_differs(a, i)) {
            memset(a->differs + from, true, to - from);
            a->changed = true;
        }
    }
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        if (!a->parts[b] && may_part(a, b)) {
            if (cfg_continuing(ir, b) <= 1)
                a->parts[b] = true;
            else
                part(a, b);
        }
}

unsigned char *find_parting(struct ir *ir) {
    struct agree a = {.ir = ir, .du = find_defuse(ir->tmp, ir), .words = ir->n_blocks / 64 + 1, .changed = true};
    a.parts = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1);
    a.differs = arena_array(ir->tmp, (size_t)a.du.n_defs + 1, 1);
    a.deciders = arena_array(ir->tmp, (size_t)ir->n_blocks * a.words + 1, sizeof *a.deciders);
    a.stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *a.stack);
    a.join = find_joins(ir);
    while (a.changed) {
        a.changed = false;
        run_round(&a);
    }
    return a.parts;
}
