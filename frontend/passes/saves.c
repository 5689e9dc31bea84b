/* Functions save registers of their callers in local memory, and load them before they return (core.saves). Requires:
 * blocks. Keeps: all other instructions.
 *
 * In the machine's calling convention, a called function must keep R2, R16 to R31, and half of the numbers above. So a
 * value that lives across a call, which a slow path makes too, takes a register that is saved first, and so does the
 * return address (two words), and the descriptor of accesses to memory (two words, core.descriptors). Other values take
 * such registers when the others do not suffice. Source: ptxas 13 for sm_75 to sm_120, with functions that hold 1 to 24
 * values, with and without a division; it saves one register at least. In the simulator each function has registers of
 * its own, so it saves a 0. */
#include "edit.h"
#include "isa/arith.h"
#include "isa/expansions.h"
#include "needed.h"
#include "pass.h"

enum {
    WORD = 4,
    ADDRESS_WORDS = 2,    /* of the return address, and of the descriptor of accesses */
    FREE_WORDS = 8,       /* values that take no saved registers; ptxas puts many of 32 bits into odd registers */
    MOST_FREE_WORDS = 16, /* of more values, half are in saved registers */
};

static bool is_call(const struct ir *ir, const struct inst *in) {
    return in->kind == K_CALL || expansion_branches(select_expansion(ir, in));
}

/* Returns the largest number of words that live across a call in the function; -1 if it has no call. */
static int words_across(const struct ir *ir, const struct ir_function *f, const struct live_segments *live) {
    const uint32_t n = f->end - f->begin;
    int *change = arena_array(ir->tmp, (size_t)n + 1, sizeof *change), words = 0, most = -1;
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        for (uint32_t k = live->first[v]; k; k = live->list[k].next) {
            const struct interval at = live->list[k].at;
            if (at.begin < 2 * f->begin || at.begin >= 2 * f->end)
                continue;
            /* across instruction i: from position 2i or before to 2i + 2 or after, or to the end of the block */
            const bool stays = at.end + 1 == 2 * ir->blocks[ir->info[at.end / 2].block].end;
            const uint32_t first = (at.begin + 1) / 2, end = at.end / 2 + stays;
            if (first >= end)
                continue;
            change[first - f->begin] += (int)vreg_words(&ir->vregs[v]);
            change[end - f->begin] -= (int)vreg_words(&ir->vregs[v]);
        }
    for (uint32_t i = f->begin; i < f->end; i++) {
        words += change[i - f->begin];
        if (is_call(ir, &ir->code[i]))
            most = words > most ? words : most;
    }
    return most;
}

/* Returns how many registers of its callers the function saves. */
static unsigned words_saved(const struct ir *ir, const struct ir_function *f, const struct live_segments *live) {
    const int across = words_across(ir, f, live);
    unsigned n = f->pressure > MOST_FREE_WORDS ? f->pressure / 2
                 : f->pressure > FREE_WORDS    ? f->pressure - FREE_WORDS
                                               : 1;
    if (across < 0)
        return n;
    const unsigned calls = (unsigned)across + ADDRESS_WORDS + (copies_descriptors(ir, f) ? ADDRESS_WORDS : 0);
    return calls > n ? calls : n;
}

/* Adds a store or load of word k at address `at` of local memory: before instruction `before`, or at the begin of the
 * function if it is NO_INST. */
static void add_access(struct ir *ir, struct edit *e, const struct ir_function *f, enum op_id op, uint32_t at,
                       uint32_t before) {
    struct inst in = inst_of_row(isa_find_row(op, T_B32, T_NONE, 0));
    in.a = OPND_ZERO;
    in.asize = 8;
    in.imm = at;
    in.space = SPACE_LOCAL;
    in.msize = in.rsize = WORD;
    if (op == OP_LD) {
        const uint32_t v = ir_vreg(ir, RC_32, (uint32_t)(f - ir->functions), NULL, 0);
        ir->vregs[v].written = true;
        in.d = v << 1;
        in.dsize = WORD;
    } else {
        in.b = OPND_ZERO;
    }
    if (before == NO_INST)
        edit_at_begin(e, f->block, &in);
    else
        edit_before(e, before, &in);
}

static bool has_calls(const struct ir *ir, const struct ir_function *f) {
    for (uint32_t i = f->begin; i < f->end; i++)
        if (ir->code[i].kind == K_CALL)
            return true;
    return false;
}

static bool may_save(const struct ir *ir, const struct ir_function *f) {
    return !f->is_entry && !f->recursive && !f->uses_alloca && f->begin < f->end &&
           ir->cfg.pred_first[f->block] == ir->cfg.pred_first[f->block + 1];
}

bool pass_saves(struct ir *ir) {
    if (ir->n_functions < 2 || ir->n_streams || !pass_liveness(ir))
        return ir->n_functions < 2 || ir->n_streams;
    const struct live_segments live = find_live_segments(ir);
    unsigned *words = arena_array(ir->tmp, ir->n_functions, sizeof *words);
    for (uint32_t k = 0; k < ir->n_functions; k++)
        words[k] = may_save(ir, &ir->functions[k]) ? words_saved(ir, &ir->functions[k], &live) : 0;
    const uint32_t leaves = (uint32_t)round_up(ir->local_bytes, 16); /* functions without calls share one place */
    uint32_t end = leaves;
    struct edit *e = edit_begin(ir);
    for (uint32_t k = 0; k < ir->n_functions; k++) {
        const struct ir_function *f = &ir->functions[k];
        const unsigned n = words[k];
        if (!n)
            continue;
        const uint32_t at = has_calls(ir, f) ? end : leaves;
        ir_note(ir, f->begin, "saves %u registers of its callers", n);
        for (unsigned w = n; w-- > 0;)
            add_access(ir, e, f, OP_ST, at + WORD * w, NO_INST);
        for (uint32_t i = f->begin; i < f->end; i++)
            for (unsigned w = 0; w < n && ir->code[i].kind == K_RET; w++)
                add_access(ir, e, f, OP_LD, at + WORD * w, i);
        end = at + WORD * n > end ? at + WORD * n : end;
    }
    ir->local_bytes = (uint32_t)round_up(end, 16);
    return edit_end(e);
}
