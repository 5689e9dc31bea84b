/* Reaching definitions, one register at a time. Most registers live in one block, so one pass over their occurrences
 * suffices. For the others, sets of definitions are propagated through the blocks where the register is live. */
#include "defuse.h"
#include "span.h"
#include <string.h>

/* A read or write of a register, in program order. An instruction reads before it writes. */
struct occurrence {
    uint32_t inst;
    uint32_t site; /* index in out->uses, or in out->defs if is_def */
    bool is_def, kills;
};

/* The occurrences of the current register in one block. */
struct run {
    uint32_t block, from, to; /* range of occurrences */
    bool open;                /* true if the block reads the value that the register has at the block's start */
    bool passes;              /* true if the value at the block's start may survive to the block's end */
};

struct finder {
    struct arena *a;
    const struct ir *ir;
    struct defuse *out;
    uint32_t *occ_first; /* register v has occ[occ_first[v] ... occ_first[v + 1]) */
    struct occurrence *occ;
    uint32_t n_links, cap_links;
    /* state of the current register */
    uint32_t vreg, n_defs;
    struct run *runs;
    uint32_t n_runs;
    uint32_t *def_number; /* definition -> its number among the register's definitions */
    uint32_t *number_def; /* number -> definition */
    /* run_of: block -> its index in `runs`, valid if run_stamp of the block is vreg + 1. slot_of: block -> its slot in
     * `in`, valid if slot_stamp of the block is vreg + 1 */
    uint32_t *run_of, *slot_of;
    uint32_t *run_stamp, *slot_stamp;
    uint32_t *span;     /* block -> first block of the span that it ends (span.h) */
    uint32_t *span_end; /* first block of a span crossed in one step -> last block; valid if cross_stamp is vreg + 1 */
    uint32_t *cross_stamp;
    uint32_t *list, n_list, *queue;
    unsigned char *queued;
    /* definitions that hold at the start of the block with slot k: a bit set that begins at in[k * words]; bit n_defs
     * means that the register may be unwritten since the function's entry */
    uint64_t *in;
    uint32_t words, cap_in;
    uint64_t *scratch;
    uint32_t cap_scratch;
};

static void count(struct finder *f) {
    const struct ir *ir = f->ir;
    struct defuse *o = f->out;
    o->inst_defs = arena_array(f->a, (size_t)ir->n + 1, sizeof *o->inst_defs);
    o->inst_uses = arena_array(f->a, (size_t)ir->n + 1, sizeof *o->inst_uses);
    f->occ_first = arena_array(f->a, (size_t)ir->n_vregs + 2, sizeof *f->occ_first);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst_info *info = &ir->info[i];
        o->inst_uses[i] = o->n_uses;
        o->inst_defs[i] = o->n_defs;
        o->n_uses += info->n_reads;
        o->n_defs += info->n_writes;
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++)
            f->occ_first[ir->regs[info->regs + k] + 2]++;
    }
    o->inst_uses[ir->n] = o->n_uses;
    o->inst_defs[ir->n] = o->n_defs;
    for (uint32_t v = 2; v < ir->n_vregs + 2; v++)
        f->occ_first[v] += f->occ_first[v - 1];
}

static void collect(struct finder *f) {
    const struct ir *ir = f->ir;
    struct defuse *o = f->out;
    o->defs = arena_array(f->a, (size_t)o->n_defs + 1, sizeof *o->defs);
    o->uses = arena_array(f->a, (size_t)o->n_uses + 1, sizeof *o->uses);
    f->occ = arena_array(f->a, (size_t)o->n_defs + o->n_uses + 1, sizeof *f->occ);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst_info *info = &ir->info[i];
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
            bool is_def = k >= info->n_reads;
            uint32_t v = ir->regs[info->regs + k];
            uint32_t site = is_def ? o->inst_defs[i] + k - info->n_reads : o->inst_uses[i] + k;
            if (is_def)
                o->defs[site] = (struct reg_def){.inst = i, .vreg = v};
            else
                o->uses[site] = (struct reg_use){.inst = i, .vreg = v};
            f->occ[f->occ_first[v + 1]++] = (struct occurrence){i, site, is_def, is_def && inst_writes_all(ir, i)};
        }
    }
}

static void find_runs(struct finder *f, uint32_t from, uint32_t to) {
    f->n_runs = 0;
    for (uint32_t k = from; k < to;) {
        struct run r = {.block = f->ir->info[f->occ[k].inst].block, .from = k, .passes = true};
        uint32_t end = f->ir->blocks[r.block].end;
        for (; k < to && f->occ[k].inst < end; k++) {
            r.open |= r.passes && !f->occ[k].is_def;
            r.passes &= !f->occ[k].kills;
        }
        r.to = k;
        f->run_stamp[r.block] = f->vreg + 1;
        f->run_of[r.block] = f->n_runs;
        f->runs[f->n_runs++] = r;
    }
}

static void add_slot(struct finder *f, uint32_t b) {
    if (f->slot_stamp[b] == f->vreg + 1)
        return;
    f->slot_stamp[b] = f->vreg + 1;
    f->slot_of[b] = f->n_list;
    f->list[f->n_list++] = b;
}

/* Returns true if the current register does not occur in the blocks from `first` to `last`. */
static bool absent(const struct finder *f, uint32_t first, uint32_t last) {
    uint32_t begin = f->ir->blocks[first].begin, end = f->ir->blocks[last].end;
    uint32_t low = f->occ_first[f->vreg], high = f->occ_first[f->vreg + 1], stop = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->occ[middle].inst < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low == stop || f->occ[low].inst >= end;
}

/* Marks block p. The register is live at the end of p, and its value may pass through p. If p ends a span without the
 * register, the whole span is marked in one step. */
static void mark_live_through(struct finder *f, uint32_t p) {
    uint32_t first = f->span[p], now = f->vreg + 1;
    if (f->slot_stamp[p] == now || first == p || f->run_stamp[p] == now || !absent(f, first, p)) {
        add_slot(f, p);
        return;
    }
    f->cross_stamp[first] = now;
    f->span_end[first] = p;
    add_slot(f, first);
    f->slot_stamp[p] = now;
    f->slot_of[p] = f->slot_of[first];
}

/* Returns the end of the span that begins with block b and is crossed in one step, or b itself. */
static uint32_t last_of(const struct finder *f, uint32_t b) {
    return f->cross_stamp[b] == f->vreg + 1 ? f->span_end[b] : b;
}

static bool inside(uint32_t b, uint32_t first, uint32_t last) { return first != last && b >= first && b <= last; }

/* Lists the blocks where the register is live at the start. */
static void find_live(struct finder *f) {
    const struct cfg *g = &f->ir->cfg;
    f->n_list = 0;
    for (uint32_t r = 0; r < f->n_runs; r++)
        if (f->runs[r].open)
            add_slot(f, f->runs[r].block);
    for (uint32_t done = 0; done < f->n_list; done++) {
        uint32_t b = f->list[done], last = last_of(f, b);
        for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++) {
            uint32_t p = g->pred[e];
            if (!inside(p, b, last) && (f->run_stamp[p] != f->vreg + 1 || f->runs[f->run_of[p]].passes))
                mark_live_through(f, p);
        }
    }
}

/* Adds to `set` the definitions that may hold at the end of block `p`. Returns true if `set` has grown. */
static bool add_out(struct finder *f, uint32_t p, uint64_t *set) {
    bool grown = false, passes = true;
    if (f->run_stamp[p] == f->vreg + 1) {
        const struct run *r = &f->runs[f->run_of[p]];
        passes = r->passes;
        for (uint32_t k = r->to; k-- > r->from;) {
            if (!f->occ[k].is_def)
                continue;
            uint32_t number = f->def_number[f->occ[k].site];
            grown |= !(set[number / 64] >> (number % 64) & 1);
            set[number / 64] |= 1ull << (number % 64);
            if (f->occ[k].kills)
                break;
        }
    }
    for (uint32_t w = 0; passes && w < f->words; w++) {
        uint64_t in = f->in[(size_t)f->slot_of[p] * f->words + w];
        grown |= (in & ~set[w]) != 0;
        set[w] |= in;
    }
    return grown;
}

static void propagate_defs(struct finder *f) {
    const struct ir *ir = f->ir;
    const struct cfg *g = &ir->cfg;
    size_t need = (size_t)f->n_list * f->words;
    if (need > f->cap_in) {
        f->cap_in = (uint32_t)(need * 2);
        f->in = arena_array(f->a, f->cap_in, sizeof *f->in);
    }
    if (!need)
        return; /* no block reads a value that another block wrote to the register, so the links are complete */
    memset(f->in, 0, need * sizeof *f->in);
    uint32_t head = 0, waiting = 0, room = ir->n_blocks;
    for (uint32_t k = 0; k < f->n_list; k++) {
        uint32_t b = f->list[k];
        if (b == ir->functions[ir->blocks[b].function].block)
            f->in[(size_t)k * f->words + f->n_defs / 64] |= 1ull << (f->n_defs % 64);
        f->queue[waiting++ % room] = b;
        f->queued[b] = 1;
    }
    for (; head != waiting; head++) {
        uint32_t b = f->queue[head % room], last = last_of(f, b);
        bool grown = false;
        f->queued[b] = 0;
        for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++)
            if (!inside(g->pred[e], b, last))
                grown |= add_out(f, g->pred[e], f->in + (size_t)f->slot_of[b] * f->words);
        for (uint32_t e = g->succ_first[last]; grown && e < g->succ_first[last + 1]; e++)
            if (f->slot_stamp[g->succ[e]] == f->vreg + 1 && !f->queued[g->succ[e]] && !inside(g->succ[e], b, last)) {
                f->queue[waiting++ % room] = g->succ[e];
                f->queued[g->succ[e]] = 1;
            }
    }
}

static void link(struct finder *f, uint32_t site, const uint64_t *set) {
    struct reg_use *u = &f->out->uses[site];
    u->first = f->n_links;
    u->start = set[f->n_defs / 64] >> (f->n_defs % 64) & 1;
    for (uint32_t w = 0; w < f->words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1) {
            uint32_t number = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (number == f->n_defs)
                continue;
            if (f->n_links == f->cap_links)
                f->out->use_defs = ir_grow(f->a, f->out->use_defs, f->n_links, &f->cap_links, sizeof(uint32_t));
            f->out->use_defs[f->n_links++] = f->number_def[number];
            u->n++;
        }
}

/* Links the uses in a block to definitions, starting from the set at the block's start. */
static void link_run(struct finder *f, const struct run *r) {
    uint64_t *now = f->scratch;
    memset(now, 0, f->words * sizeof *now);
    if (r->open)
        memcpy(now, f->in + (size_t)f->slot_of[r->block] * f->words, f->words * sizeof *now);
    for (uint32_t k = r->from; k < r->to; k++) {
        const struct occurrence *o = &f->occ[k];
        if (!o->is_def) {
            link(f, o->site, now);
            continue;
        }
        uint32_t number = f->def_number[o->site];
        if (o->kills)
            memset(now, 0, f->words * sizeof *now);
        now[number / 64] |= 1ull << (number % 64);
    }
}

static void find_register(struct finder *f, uint32_t v) {
    uint32_t from = f->occ_first[v], to = f->occ_first[v + 1];
    f->vreg = v;
    f->n_defs = 0;
    for (uint32_t k = from; k < to; k++)
        if (f->occ[k].is_def) {
            f->number_def[f->n_defs] = f->occ[k].site;
            f->def_number[f->occ[k].site] = f->n_defs++;
        }
    f->words = f->n_defs / 64 + 1;
    if (f->words > f->cap_scratch) {
        f->cap_scratch = 2 * f->words;
        f->scratch = arena_array(f->a, f->cap_scratch, sizeof *f->scratch);
    }
    find_runs(f, from, to);
    find_live(f);
    propagate_defs(f);
    for (uint32_t r = 0; r < f->n_runs; r++)
        link_run(f, &f->runs[r]);
}

/* Builds the links from definitions to uses. */
static void build_def_uses(struct finder *f) {
    struct defuse *o = f->out;
    uint32_t at = 0;
    for (uint32_t k = 0; k < f->n_links; k++)
        o->defs[o->use_defs[k]].n++;
    for (uint32_t d = 0; d < o->n_defs; d++) {
        o->defs[d].first = at;
        at += o->defs[d].n;
        o->defs[d].n = 0;
    }
    o->def_uses = arena_array(f->a, (size_t)f->n_links + 1, sizeof *o->def_uses);
    for (uint32_t u = 0; u < o->n_uses; u++)
        for (uint32_t k = 0; k < o->uses[u].n; k++) {
            struct reg_def *d = &o->defs[o->use_defs[o->uses[u].first + k]];
            o->def_uses[d->first + d->n++] = u;
        }
}

struct defuse find_defuse(struct arena *a, const struct ir *ir) {
    struct defuse out = {0};
    size_t blocks = (size_t)ir->n_blocks + 1;
    struct finder f = {.a = a, .ir = ir, .out = &out};
    count(&f);
    collect(&f);
    f.runs = arena_array(a, blocks, sizeof *f.runs);
    f.def_number = arena_array(a, (size_t)out.n_defs + 1, sizeof *f.def_number);
    f.number_def = arena_array(a, (size_t)out.n_defs + 1, sizeof *f.number_def);
    f.run_of = arena_array(a, blocks, sizeof *f.run_of);
    f.slot_of = arena_array(a, blocks, sizeof *f.slot_of);
    f.run_stamp = arena_array(a, blocks, sizeof *f.run_stamp);
    f.slot_stamp = arena_array(a, blocks, sizeof *f.slot_stamp);
    f.span = spans(a, &ir->cfg);
    f.span_end = arena_array(a, blocks, sizeof *f.span_end);
    f.cross_stamp = arena_array(a, blocks, sizeof *f.cross_stamp);
    f.list = arena_array(a, blocks, sizeof *f.list);
    f.queue = arena_array(a, blocks, sizeof *f.queue);
    f.queued = arena_array(a, blocks, 1);
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        if (f.occ_first[v] < f.occ_first[v + 1])
            find_register(&f, v);
    build_def_uses(&f);
    return out;
}

const struct reg_use *defuse_use(const struct defuse *d, uint32_t inst, uint32_t vreg) {
    for (uint32_t u = d->inst_uses[inst]; u < d->inst_uses[inst + 1]; u++)
        if (d->uses[u].vreg == vreg)
            return &d->uses[u];
    return NULL;
}

const struct reg_def *defuse_only_def(const struct defuse *d, const struct reg_use *use) {
    return use->n == 1 && !use->start ? &d->defs[d->use_defs[use->first]] : NULL;
}
