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
    if (inst_writes_all(w->ir, i))
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

/* Finds the registers that are live at the begin of each block, and fills `needed`. */
static void find_needs(struct needs *w, const struct ir *ir) {
    *w = (struct needs){.ir = ir, .words = (size_t)ir->n_vregs / 64 + 1};
    w->in = arena_array(ir->tmp, (ir->n_blocks + 1) * w->words, sizeof *w->in);
    w->now = arena_array(ir->tmp, w->words, sizeof *w->now);
    w->needed = arena_array(ir->tmp, (size_t)ir->n_regs + 1, 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = ir->n_blocks; b-- > 0;)
            changed |= walk_block(w, b);
    }
}

const uint64_t *find_live_in(const struct ir *ir, size_t *words) {
    struct needs w;
    find_needs(&w, ir);
    *words = w.words;
    return w.in;
}

const unsigned char *find_needed(const struct ir *ir) {
    struct needs w;
    find_needs(&w, ir);
    return w.needed;
}

static void add_segment(struct live_segments *s, struct arena *a, uint32_t v, uint32_t begin, uint32_t end) {
    if (s->n + 1 >= s->cap)
        s->list = ir_grow(a, s->list, s->n + 1, &s->cap, sizeof *s->list);
    s->list[++s->n] = (struct live_segment){{begin, end}, s->first[v]};
    s->first[v] = s->n;
}

/* Adds the segments that begin at an instruction. end[v] is where register v ceases to be live. */
static void segments_at(struct needs *w, struct live_segments *s, uint32_t i, uint32_t *end) {
    const struct ir *ir = w->ir;
    const struct inst_info *info = &ir->info[i];
    const uint32_t *regs = ir->regs + info->regs;
    const bool all = inst_writes_all(ir, i);
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++) {
        const uint32_t v = regs[k];
        const bool live = w->now[v / 64] & bit(v);
        if (all || !live)
            add_segment(s, ir->tmp, v, 2 * i + 1, live ? end[v] : 2 * i + 1);
        if (all)
            w->now[v / 64] &= ~bit(v);
    }
    for (unsigned k = 0; k < info->n_reads; k++) {
        if (!(w->now[regs[k] / 64] & bit(regs[k])))
            end[regs[k]] = 2 * i + inst_keeps_sources(ir, &ir->code[i], info);
        w->now[regs[k] / 64] |= bit(regs[k]);
    }
}

/* Calls add_segment() or sets `end` for each register of the current set. */
static void each_now(struct needs *w, struct live_segments *s, uint32_t position, uint32_t *end) {
    for (size_t k = 0; k < w->words; k++)
        for (uint64_t set = w->now[k]; set; set &= set - 1) {
            const uint32_t v = (uint32_t)(64 * k) + (uint32_t)__builtin_ctzll(set);
            if (s)
                add_segment(s, w->ir->tmp, v, position, end[v]);
            else
                end[v] = position;
        }
}

struct live_segments find_live_segments(const struct ir *ir) {
    struct needs w;
    struct live_segments s = {.first = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.first)};
    uint32_t *end = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *end);
    find_needs(&w, ir);
    for (uint32_t b = ir->n_blocks; b-- > 0;) {
        const struct cfg *g = &ir->cfg;
        memset(w.now, 0, w.words * sizeof *w.now);
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
            for (size_t k = 0; k < w.words; k++)
                w.now[k] |= w.in[g->succ[e] * w.words + k];
        each_now(&w, NULL, 2 * ir->blocks[b].end - 1, end);
        for (uint32_t i = ir->blocks[b].end; i-- > ir->blocks[b].begin;)
            segments_at(&w, &s, i, end);
        each_now(&w, &s, 2 * ir->blocks[b].begin, end);
    }
    return s;
}
