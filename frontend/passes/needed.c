/* Liveness at each read and write of a register, by sets of registers that are live at the ends of blocks. Unlike
 * ir.intervals, it knows the gaps in which a register's value is not needed. */
#include "needed.h"
#include <string.h>

struct needs {
    const struct ir *ir;
    size_t words;
    uint64_t *in;          /* block -> registers live at its begin, `words` words each */
    uint64_t *now;         /* registers live at the current place */
    unsigned char *needed; /* the result of find_needed() */
};

static uint64_t bit(uint32_t v) { return 1ull << v % 64; }

/* Walks an instruction backward: `now` changes from the registers live after it to those live before it. */
static void walk(struct needs *w, uint32_t i) {
    const struct inst_info *info = &w->ir->info[i];
    const uint32_t *regs = w->ir->regs + info->regs;
    const unsigned n = (unsigned)info->n_reads + info->n_writes;
    for (unsigned k = 0; k < n; k++)
        w->needed[info->regs + k] = (w->now[regs[k] / 64] & bit(regs[k])) != 0;
    if (inst_writes_all(w->ir, &w->ir->code[i]))
        for (unsigned k = info->n_reads; k < n; k++)
            w->now[regs[k] / 64] &= ~bit(regs[k]);
    for (unsigned k = 0; k < info->n_reads; k++)
        w->now[regs[k] / 64] |= bit(regs[k]);
}

/* Walks a block backward. Returns true if the set at its begin has changed. */
static bool walk_block(struct needs *w, uint32_t b) {
    const struct cfg *g = &w->ir->cfg;
    uint64_t *in = w->in + b * w->words;
    memset(w->now, 0, w->words * sizeof *w->now);
    for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
        for (size_t k = 0; k < w->words; k++)
            w->now[k] |= w->in[g->succ[e] * w->words + k];
    for (uint32_t i = w->ir->blocks[b].end; i-- > w->ir->blocks[b].begin;)
        walk(w, i);
    const bool changed = memcmp(in, w->now, w->words * sizeof *in) != 0;
    memcpy(in, w->now, w->words * sizeof *in);
    return changed;
}

const unsigned char *find_needed(const struct ir *ir) {
    struct needs w = {.ir = ir, .words = (size_t)ir->n_vregs / 64 + 1};
    w.in = arena_array(ir->tmp, (ir->n_blocks + 1) * w.words, sizeof *w.in);
    w.now = arena_array(ir->tmp, w.words, sizeof *w.now);
    w.needed = arena_array(ir->tmp, (size_t)ir->n_regs + 1, 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = ir->n_blocks; b-- > 0;)
            changed |= walk_block(&w, b);
    }
    return w.needed;
}
