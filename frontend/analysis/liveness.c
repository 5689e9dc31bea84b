/* Liveness: where each virtual register holds a value that is needed later. Requires: blocks. Keeps: everything.
 *
 * Registers are analysed one at a time, backward from their uses. Most registers live in one block and need only a pass
 * over their few occurrences. A register that lives across a span (span.h) crosses it in one step. A guarded write does
 * not end the old value. */
#include "ir.h"
#include "span.h"
#include <string.h>

/* Occurrences of a register in program order: instruction << 2 | kind. */
enum { OCC_READ = 0, OCC_GUARDED_WRITE = 1, OCC_WRITE = 2 };

struct live {
    struct ir *ir;
    uint32_t *first; /* register v has occ[first[v] ... first[v + 1]) */
    uint64_t *occ;
    /* Each array below holds, per block, the last register for which the property is true: */
    uint32_t *live_in;  /* live at the block's start */
    uint32_t *live_out; /* live at the block's end */
    uint32_t *arrives;  /* a write of the register may precede the block */
    uint32_t *writes;   /* the block writes the register */
    uint32_t *occurs;   /* the block reads or writes the register */
    uint32_t *passes;   /* the block reads or writes the register without ending the old value */
    uint32_t *crosses;  /* the block begins a span; the register is live through the whole span */
    uint32_t *span;     /* block -> first block of the span that it ends */
    uint32_t *span_end; /* block -> last block of the span in `crosses` */
    uint32_t *list, *stack;
    /* position -> number of live words there minus the number at the position before, for all registers together */
    int64_t *change;
};

static void count_occurrences(struct live *l) {
    const struct ir *ir = l->ir;
    l->first = arena_array(ir->tmp, (size_t)ir->n_vregs + 2, sizeof *l->first);
    l->occ = arena_array(ir->tmp, (size_t)ir->n_regs + 1, sizeof *l->occ);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst_info *info = &ir->info[i];
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++)
            l->first[ir->regs[info->regs + k] + 2]++;
    }
    for (uint32_t v = 2; v < ir->n_vregs + 2; v++)
        l->first[v] += l->first[v - 1];
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        ir->vregs[v].written = false;
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst_info *info = &ir->info[i];
        bool guarded = !inst_writes_all(ir, i);
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
            unsigned what = k < info->n_reads ? OCC_READ : guarded ? OCC_GUARDED_WRITE : OCC_WRITE;
            uint32_t v = ir->regs[info->regs + k];
            l->occ[l->first[v + 1]++] = (uint64_t)i << 2 | what;
            ir->vregs[v].written |= what != OCC_READ;
        }
    }
}

/* Adds positions `begin` to `end`, inclusive, to the interval of register v. */
static void add_segment(struct live *l, uint32_t v, uint32_t begin, uint32_t end) {
    struct interval *r = &l->ir->intervals[v];
    unsigned words = vreg_words(&l->ir->vregs[v]);
    if (r->begin > begin)
        r->begin = begin;
    if (r->end < end)
        r->end = end;
    l->change[begin] += words;
    l->change[end + 1] -= words;
}

static uint32_t read_position(const struct live *l, uint32_t i) {
    return 2 * i + inst_keeps_sources(l->ir, &l->ir->code[i], &l->ir->info[i]);
}

static uint32_t block_of(const struct live *l, uint64_t occ) { return l->ir->info[occ >> 2].block; }

/* Returns the index of the first occurrence after `k` that is in another block, or `end`, the end of the register's
 * occurrences. */
static uint32_t run_end(const struct live *l, uint32_t k, uint32_t end) {
    uint32_t limit = l->ir->blocks[block_of(l, l->occ[k])].end;
    while (k < end && (l->occ[k] >> 2) < limit)
        k++;
    return k;
}

/* Returns true if a block whose occurrences of the register are [from, to) needs the register's value from before the
 * block. `live`: true if the register is live at the block's end. */
static bool needs_incoming(const struct live *l, uint32_t from, uint32_t to, bool live) {
    for (uint32_t k = to; k-- > from;) {
        unsigned what = l->occ[k] & 3;
        live = what == OCC_READ || (live && what == OCC_GUARDED_WRITE);
    }
    return live;
}

/* Adds the live segments of register v in a block where it has occurrences [from, to). `live`: true if v is live at the
 * block's end. `arrives`: true if a write on some path before the block may have set v; if not, v needs no space before
 * its first write in the block. */
static void mark_block(struct live *l, uint32_t v, uint32_t from, uint32_t to, bool live, bool arrives) {
    const struct block *b = &l->ir->blocks[block_of(l, l->occ[from])];
    uint32_t end = 2 * b->end - 1, first_write = from;
    while (first_write < to && (l->occ[first_write] & 3) == OCC_READ)
        first_write++;
    for (uint32_t k = to; k-- > from;) {
        uint32_t i = (uint32_t)(l->occ[k] >> 2);
        unsigned what = l->occ[k] & 3;
        if (what == OCC_READ) {
            if (!live)
                end = read_position(l, i);
            live = true;
        } else if (what == OCC_WRITE || !live || (k == first_write && !arrives)) {
            add_segment(l, v, 2 * i + 1, live ? end : 2 * i + 1);
            live = false;
        }
    }
    if (live)
        add_segment(l, v, 2 * b->begin, end);
}

/* Marks `block` for register v and appends it to the list, unless it is marked already. Returns the new length of the
 * list. */
static uint32_t push(uint32_t *list, uint32_t n, uint32_t *mark, uint32_t block, uint32_t v) {
    if (mark[block] == v)
        return n;
    mark[block] = v;
    list[n] = block;
    return n + 1;
}

/* Returns true if no instruction in the blocks from `first` to `last` reads or writes v. */
static bool absent(const struct live *l, uint32_t v, uint32_t first, uint32_t last) {
    uint64_t begin = (uint64_t)l->ir->blocks[first].begin << 2, end = (uint64_t)l->ir->blocks[last].end << 2;
    uint32_t low = l->first[v], high = l->first[v + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->occ[middle] < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low == l->first[v + 1] || l->occ[low] >= end;
}

/* Marks block p: v is live at its end and passes through it. If p ends a span in which v does not occur, marks the
 * whole span. Returns the new length of the list. */
static uint32_t mark_live_through(struct live *l, uint32_t v, uint32_t p, uint32_t n) {
    uint32_t first = l->span[p];
    if (l->live_in[p] == v || first == p || l->occurs[p] == v || !absent(l, v, first, p))
        return push(l->list, n, l->live_in, p, v);
    l->live_in[p] = v;
    l->crosses[first] = v;
    l->span_end[first] = p;
    return push(l->list, n, l->live_in, first, v);
}

/* Returns the end of the span that begins with listed block b and is crossed in one step, or b itself. */
static uint32_t last_of(const struct live *l, uint32_t b, uint32_t v) {
    return l->crosses[b] == v ? l->span_end[b] : b;
}

/* Fills live_in, live_out, and the list of blocks where v is live at the start. Of a span that v crosses, the list has
 * only the first block. Returns the length of the list. */
static uint32_t spread_backward(struct live *l, uint32_t v) {
    const struct cfg *g = &l->ir->cfg;
    uint32_t n = 0;
    for (uint32_t k = l->first[v], to; k < l->first[v + 1]; k = to) {
        to = run_end(l, k, l->first[v + 1]);
        uint32_t b = block_of(l, l->occ[k]);
        l->occurs[b] = v;
        if (needs_incoming(l, k, to, true))
            l->passes[b] = v;
        if (needs_incoming(l, k, to, false))
            n = push(l->list, n, l->live_in, b, v);
    }
    for (uint32_t done = 0; done < n; done++) {
        uint32_t b = l->list[done], last = last_of(l, b, v);
        for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++) {
            uint32_t p = g->pred[e];
            if (last != b && p >= b && p <= last)
                continue;
            l->live_out[p] = v;
            if (l->occurs[p] != v || l->passes[p] == v)
                n = mark_live_through(l, v, p, n);
        }
    }
    return n;
}

/* Marks the blocks that begin after some write of v. It visits only blocks where v is live at the start, because a
 * value that is needed later is live on its whole path. */
static void spread_forward(struct live *l, uint32_t v) {
    const struct cfg *g = &l->ir->cfg;
    uint32_t top = 0;
    for (uint32_t k = l->first[v]; k < l->first[v + 1]; k++)
        if ((l->occ[k] & 3) != OCC_READ)
            top = push(l->stack, top, l->writes, block_of(l, l->occ[k]), v);
    while (top) {
        uint32_t b = last_of(l, l->stack[--top], v);
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
            if (l->live_in[g->succ[e]] == v)
                top = push(l->stack, top, l->arrives, g->succ[e], v);
    }
}

static void live_across_blocks(struct live *l, uint32_t v) {
    const struct ir *ir = l->ir;
    uint32_t n = spread_backward(l, v);
    /* A register that is not live at the function's entry is written before each read, so its value arrives in every
     * block where it is live. */
    uint32_t entry = ir->functions[ir->info[l->occ[l->first[v]] >> 2].function].block;
    bool always = l->live_in[entry] != v;
    if (!always)
        spread_forward(l, v);
    for (uint32_t k = l->first[v], to; k < l->first[v + 1]; k = to) {
        to = run_end(l, k, l->first[v + 1]);
        uint32_t b = block_of(l, l->occ[k]);
        mark_block(l, v, k, to, l->live_out[b] == v, always || l->arrives[b] == v);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t b = l->list[k];
        if (l->occurs[b] != v && (always || l->arrives[b] == v))
            add_segment(l, v, 2 * ir->blocks[b].begin, 2 * ir->blocks[last_of(l, b, v)].end - 1);
    }
}

/* Computes the number of live words at each instruction, and the maximum of this number in each function. */
static void measure_pressure(struct live *l) {
    struct ir *ir = l->ir;
    int64_t words = 0;
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        struct ir_function *fn = &ir->functions[f];
        fn->pressure = 0;
        for (uint32_t i = fn->begin; i < fn->end; i++) {
            int64_t reading = words + l->change[2 * i], writing = reading + l->change[2 * i + 1];
            words = writing;
            ir->info[i].live = (uint16_t)(writing < UINT16_MAX ? writing : UINT16_MAX);
            ir->live_at[i] = (uint32_t)(reading > writing ? reading : writing);
            if (fn->pressure < ir->live_at[i])
                fn->pressure = ir->live_at[i];
        }
    }
}

/* Returns an array with one element per block: UINT32_MAX, which is not the number of a register. */
static uint32_t *marks(struct ir *ir) {
    uint32_t *m = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *m);
    memset(m, 0xff, (size_t)ir->n_blocks * sizeof *m);
    return m;
}

bool pass_liveness(struct ir *ir) {
    struct live l = {.ir = ir};
    count_occurrences(&l);
    l.live_in = marks(ir);
    l.live_out = marks(ir);
    l.arrives = marks(ir);
    l.writes = marks(ir);
    l.occurs = marks(ir);
    l.passes = marks(ir);
    l.crosses = marks(ir);
    l.span = spans(ir->tmp, &ir->cfg);
    l.span_end = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *l.span_end);
    l.list = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *l.list);
    l.stack = arena_array(ir->tmp, 2 * (size_t)ir->n_blocks + 1, sizeof *l.stack);
    l.change = arena_array(ir->tmp, 2 * (size_t)ir->n + 2, sizeof *l.change);
    ir->live_at = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *ir->live_at);
    ir->intervals = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *ir->intervals);
    for (uint32_t v = 0; v < ir->n_vregs; v++) {
        uint32_t from = l.first[v], to = l.first[v + 1];
        ir->intervals[v] = (struct interval){UINT32_MAX, 0};
        if (from == to)
            continue;
        if (!ir->vregs[v].written) {
            /* An unwritten register reads as zero. A guard must still be a register, so such a guard gets its own
             * register, which stays zero. */
            if (ir->vregs[v].cls == RC_PRED && !ir->vregs[v].special)
                ir->vregs[v].special = ir->vregs[v].stays_zero = true;
            continue;
        }
        if (run_end(&l, from, to) == to && !needs_incoming(&l, from, to, false))
            mark_block(&l, v, from, to, false, false);
        else
            live_across_blocks(&l, v);
    }
    measure_pressure(&l);
    return true;
}
