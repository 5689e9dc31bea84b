/* Convergence barriers for machines without a reconvergence stack (Volta and later): BSSY where a divergent region
 * begins, BSYNC where it joins. Requires: blocks, post-dominators. Keeps: all else, with new blocks and
 * post-dominators.
 *
 * A region belongs to a branch and ends at the branch's immediate post-dominator, the join. It begins right before the
 * branch; when the branch lies in loops that do not contain the join, it begins where the outermost of them is entered,
 * so that threads that leave the loop in different rounds wait for each other. Regions of one join that lie inside
 * another of it need no barrier of their own. Regions that share a block get different numbers; those of a called
 * function come after its callers'. Numbers from 16 on stand for registers that are spilled. Recursive functions get
 * none: one number would mean several activations; threads diverged there join after the call. */
#include "ir.h"
#include <string.h>

enum { N_BARRIERS = 32, NO_BARRIER = -1 };

struct region {
    uint32_t anchor;  /* block: of the branch, or the header of the loop */
    uint32_t join;    /* block */
    bool at_header;   /* BSSY where the loop is entered; else before the branch that ends `anchor` */
    bool again;       /* the anchor is reached again from inside, by other ways than the back edges of its loop */
    int number;       /* NO_BARRIER: none was left, or not needed */
    uint64_t *blocks; /* bit set: from the anchor on, before the join */
};

struct work {
    struct ir *ir;
    uint32_t words;     /* of a set of blocks */
    uint32_t *idom;     /* NO_BLOCK: the entry */
    uint64_t **loop_of; /* header -> the set of its natural loop, NULL for none */
    uint32_t *headers, n_headers;
    struct region *regions;
    uint32_t n, cap;
    int *base; /* function -> its first number */
};

static bool has(const uint64_t *set, uint32_t b) { return set[b / 64] >> (b % 64) & 1; }
static void add(uint64_t *set, uint32_t b) { set[b / 64] |= 1ull << (b % 64); }
static uint64_t *new_set(struct work *w) { return arena_array(w->ir->tmp, w->words, sizeof(uint64_t)); }

/* Dominators are the post-dominators of the graph turned round. */
static void find_dominators(struct work *w) {
    const struct cfg *g = &w->ir->cfg;
    uint32_t n = 0, total = g->succ_first[g->n];
    struct cfg_edge *edges = arena_array(w->ir->tmp, (size_t)total + 1, sizeof *edges);
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
            edges[n++] = (struct cfg_edge){g->succ[e], b};
    struct cfg turned = cfg_from_edges(w->ir->tmp, g->n, edges, n);
    w->idom = arena_array(w->ir->tmp, (size_t)g->n + 1, sizeof *w->idom);
    postdom(w->ir->tmp, &turned, w->idom);
}

static bool dominates(const struct work *w, uint32_t a, uint32_t b) {
    while (b != a && b != NO_BLOCK)
        b = w->idom[b];
    return b == a;
}

/* Adds to `set` every block from which `b` is reached without passing what is in the set already. */
static void add_predecessors(struct work *w, uint64_t *set, uint32_t b, uint32_t *stack) {
    const struct cfg *g = &w->ir->cfg;
    uint32_t top = 0;
    if (has(set, b))
        return;
    add(set, b);
    stack[top++] = b;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t e = g->pred_first[k]; e < g->pred_first[k + 1]; e++)
            if (!has(set, g->pred[e])) {
                add(set, g->pred[e]);
                stack[top++] = g->pred[e];
            }
    }
}

/* Natural loops: an edge to a block that dominates its source closes one. */
static void find_loops(struct work *w) {
    const struct cfg *g = &w->ir->cfg;
    uint32_t *stack = arena_array(w->ir->tmp, (size_t)g->n + 1, sizeof *stack);
    w->loop_of = arena_array(w->ir->tmp, (size_t)g->n + 1, sizeof *w->loop_of);
    w->headers = arena_array(w->ir->tmp, (size_t)g->n + 1, sizeof *w->headers);
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
            uint32_t header = g->succ[e];
            if (!dominates(w, header, b))
                continue;
            if (!w->loop_of[header]) {
                w->loop_of[header] = new_set(w);
                add(w->loop_of[header], header);
                w->headers[w->n_headers++] = header;
            }
            add_predecessors(w, w->loop_of[header], b, stack);
        }
}

/* The header of the largest loop around `b` without `join`; NO_BLOCK when there is none. */
static uint32_t outermost_loop(const struct work *w, uint32_t b, uint32_t join) {
    uint32_t best = NO_BLOCK;
    for (uint32_t i = 0; i < w->n_headers; i++) {
        uint32_t h = w->headers[i];
        if (has(w->loop_of[h], b) && !has(w->loop_of[h], join) && (best == NO_BLOCK || has(w->loop_of[h], best)))
            best = h;
    }
    return best;
}

/* Blocks in which threads only exit belong to no region: many would share them. */
static uint64_t *reach(struct work *w, struct region *r) {
    const struct ir *ir = w->ir;
    const struct cfg *g = &ir->cfg;
    uint64_t *set = new_set(w);
    uint32_t *stack = arena_array(w->ir->tmp, (size_t)g->n + 1, sizeof *stack), top = 0;
    add(set, r->anchor);
    stack[top++] = r->anchor;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++) {
            bool skips = r->at_header && has(w->loop_of[r->anchor], k);
            r->again |= g->succ[e] == r->anchor && !skips;
            bool ends = ir->info[ir->blocks[g->succ[e]].begin].only_exits;
            if (g->succ[e] != r->join && !ends && !has(set, g->succ[e])) {
                add(set, g->succ[e]);
                stack[top++] = g->succ[e];
            }
        }
    }
    return set;
}

/* Can threads leave `in` for different places? */
static bool diverges(const struct inst *in) {
    if (in->kind == K_BRANCH)
        return in->guard != NO_GUARD && !(in->hints & HINT_UNI);
    return in->kind == K_BRX || (in->kind == K_CALL && in->target == UINT32_MAX);
}

/* Are there two ways to go on behind block `b`? Where the others only exit, nobody parts. */
static bool parts(const struct ir *ir, uint32_t b) {
    const struct cfg *g = &ir->cfg;
    uint32_t n = 0;
    for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
        n += !ir->info[ir->blocks[g->succ[e]].begin].only_exits;
    return n != 1 || ir->code[ir->blocks[b].end - 1].kind == K_CALL;
}

static bool asks_others(const struct inst *in) {
    return in->kind == K_ATOM || (in->kind == K_LOAD && (in->hints & HINT_VOLATILE));
}

/* Marks what instruction `i` writes when it asks other threads, or reads what is marked. True when a mark is new. */
static bool mark(const struct ir *ir, uint32_t i, unsigned char *marked) {
    const struct inst_info *info = &ir->info[i];
    const uint32_t *r = ir->regs + info->regs;
    bool from = asks_others(&ir->code[i]), fresh = false;
    for (unsigned k = 0; k < info->n_reads; k++)
        from |= marked[r[k]];
    for (unsigned k = info->n_reads; from && k < (unsigned)info->n_reads + info->n_writes; k++) {
        fresh |= !marked[r[k]];
        marked[r[k]] = 1;
    }
    return fresh;
}

/* Does the branch that ends `b` leave its loop by what other threads did? */
static bool waits_for_others(struct work *w, const uint64_t *loop, uint32_t b) {
    const struct ir *ir = w->ir;
    bool asks = false;
    for (uint32_t k = 0; k < ir->n_blocks && !asks; k++)
        for (uint32_t i = ir->blocks[k].begin; has(loop, k) && i < ir->blocks[k].end; i++)
            asks |= asks_others(&ir->code[i]);
    if (!asks)
        return false;
    unsigned char *marked = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    for (bool fresh = true; fresh;) {
        fresh = false;
        for (uint32_t k = 0; k < ir->n_blocks; k++)
            for (uint32_t i = ir->blocks[k].begin; has(loop, k) && i < ir->blocks[k].end; i++)
                fresh |= mark(ir, i, marked);
    }
    const struct inst *last = &ir->code[ir->blocks[b].end - 1];
    return last->guard != NO_GUARD && marked[last->guard];
}

static void find_regions(struct work *w) {
    struct ir *ir = w->ir;
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        const struct inst *last = &ir->code[ir->blocks[b].end - 1];
        uint32_t join = ir->blocks[b].ipdom;
        if (!diverges(last) || !parts(ir, b) || join == NO_BLOCK || ir->functions[ir->blocks[b].function].recursive)
            continue;
        uint32_t header = outermost_loop(w, b, join);
        if (header != NO_BLOCK && waits_for_others(w, w->loop_of[header], b))
            continue;
        struct region r = {.anchor = header == NO_BLOCK ? b : header, .join = join, .at_header = header != NO_BLOCK};
        r.number = NO_BARRIER;
        bool known = false;
        for (uint32_t i = 0; i < w->n; i++)
            known |= w->regions[i].anchor == r.anchor && w->regions[i].join == join &&
                     w->regions[i].at_header == r.at_header;
        if (known)
            continue;
        r.blocks = reach(w, &r);
        w->regions = IR_ROOM(ir, w->regions, w->n, w->cap);
        w->regions[w->n++] = r;
    }
}

/* Regions that lie in another one with the same join, which all their threads have entered, are not needed. */
static void drop_inner(struct work *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        bool inner = false;
        for (uint32_t k = 0; k < w->n; k++)
            inner |= k != i && w->regions[k].join == w->regions[i].join &&
                     has(w->regions[k].blocks, w->regions[i].anchor) && w->regions[k].anchor != w->regions[i].anchor &&
                     dominates(w, w->regions[k].anchor, w->regions[i].anchor);
        w->regions[i].number = inner ? NO_BARRIER : 0;
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].number != NO_BARRIER)
            w->regions[n++] = w->regions[i];
    w->n = n;
}

/* Do threads in region `a` come by the BSYNC of `b`? At the block where both meet it comes before the BSSY of `a`. */
static bool passes(const struct region *a, const struct region *b) {
    return has(a->blocks, b->join) && (b->join != a->anchor || a->again);
}

static bool overlap(const struct work *w, const struct region *a, const struct region *b) {
    if (passes(a, b) || passes(b, a))
        return true;
    for (uint32_t i = 0; i < w->words; i++)
        if (a->blocks[i] & b->blocks[i])
            return true;
    return false;
}

/* Must two regions have different numbers? There is one BSYNC for regions with the same join, but two where one began
 * outside of the loop that the join heads and the other inside, and who enters the loop comes by both. */
static bool conflict(const struct work *w, const struct region *a, const struct region *b) {
    const uint64_t *loop = w->loop_of[a->join];
    if (a->join == b->join)
        return loop && has(loop, a->anchor) != has(loop, b->anchor);
    return overlap(w, a, b);
}

/* The lowest number from the function's first on that no region which threads may be in at the same time has. */
static void number_regions(struct work *w, uint32_t function) {
    for (uint32_t i = 0; i < w->n; i++) {
        struct region *r = &w->regions[i];
        uint64_t taken = 0;
        if (w->ir->blocks[r->anchor].function != function)
            continue;
        for (uint32_t k = 0; k < i; k++)
            if (w->regions[k].number != NO_BARRIER && w->ir->blocks[w->regions[k].anchor].function == function &&
                conflict(w, r, &w->regions[k]))
                taken |= 1ull << w->regions[k].number;
        int number = w->base[function];
        while (number < N_BARRIERS && taken >> number & 1)
            number++;
        r->number = number < N_BARRIERS ? number : NO_BARRIER;
    }
}

/* Callers before callees, so that a callee's numbers come after those that may be open around its calls. */
static void number_all(struct work *w) {
    struct ir *ir = w->ir;
    w->base = arena_array(ir->tmp, (size_t)ir->n_functions + 1, sizeof *w->base);
    for (uint32_t m = ir->n_functions; m-- > 0;) {
        uint32_t f = ir->order.members[m];
        int next = w->base[f];
        number_regions(w, f);
        for (uint32_t i = 0; i < w->n; i++)
            if (ir->blocks[w->regions[i].anchor].function == f && w->regions[i].number >= next)
                next = w->regions[i].number + 1;
        for (uint32_t c = 0; c < ir->n_calls; c++)
            for (uint32_t k = 0; ir->calls[c].caller == f && k < ir->n_functions; k++)
                if ((ir->calls[c].callee == k || (ir->calls[c].callee == NO_BLOCK && ir->functions[k].address_taken)) &&
                    w->base[k] < next)
                    w->base[k] = next;
    }
}

/* The code with barriers. Targets become instruction numbers again, as pass_cfg wants them. */
struct rewrite {
    struct work *w;
    struct inst *code;
    struct inst_info *info;
    uint32_t n;
    uint32_t *outer, *inner; /* block -> where it begins for those who enter a loop there, and for its back edges */
    uint32_t *moved;         /* old instruction -> new */
};

static void put(struct rewrite *rw, enum inst_kind kind, const struct region *r, uint32_t near) {
    static const char *const names[] = {"#bssy", "#bsync"};
    struct decoded d;
    struct decode_error why;
    const char *name = names[kind == K_BSYNC];
    if (!isa_decode(name, (uint32_t)strlen(name), &d, &why))
        return;
    struct inst in = {.kind = (uint8_t)kind, .guard = NO_GUARD, .row = d.row_index, .latency = LAT_CONTROL};
    in.d = in.d2 = SINK_VREG;
    in.a = in.b = in.c = in.e = OPND_ZERO;
    if (kind == K_BSSY) {
        in.target = r->join;
        in.rpc = (uint32_t)r->number;
    } else {
        in.imm = r->number;
    }
    rw->code[rw->n] = in;
    rw->info[rw->n] = rw->w->ir->info[near];
    rw->info[rw->n].n_reads = rw->info[rw->n].n_writes = 0;
    rw->info[rw->n].yields = false;
    rw->n++;
}

/* BSYNCs at block `b` of regions that began inside, or outside, of the loop it heads. Two regions may join here with
 * one number: one BSYNC does. */
static void put_joins(struct rewrite *rw, uint32_t b, bool inside) {
    const struct work *w = rw->w;
    const uint64_t *loop = w->loop_of[b];
    uint64_t done = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct region *r = &w->regions[i];
        bool began_inside = loop && has(loop, r->anchor);
        if (r->join != b || r->number == NO_BARRIER || began_inside != inside || done >> r->number & 1)
            continue;
        done |= 1ull << r->number;
        put(rw, K_BSYNC, r, w->ir->blocks[b].begin);
    }
}

/* What threads pass that enter block `b` from outside of its loop: joins of what began outside, the loop's own BSSY. */
static void put_preheader(struct rewrite *rw, uint32_t b) {
    const struct work *w = rw->w;
    rw->outer[b] = rw->n;
    put_joins(rw, b, false);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].anchor == b && w->regions[i].at_header && w->regions[i].number != NO_BARRIER)
            put(rw, K_BSSY, &w->regions[i], w->ir->blocks[b].begin);
}

/* Does a block of its own loop fall into `b`? Then the barriers of those who enter the loop cannot stand between them:
 * they come behind the function, with a jump back. Who enters does so by a branch, since the fall-through is taken. */
static bool falls_back(const struct work *w, uint32_t b) {
    const struct ir *ir = w->ir;
    return w->loop_of[b] && b > 0 && has(w->loop_of[b], b - 1) &&
           ir->blocks[b - 1].function == ir->blocks[b].function &&
           !inst_never_falls_through(&ir->code[ir->blocks[b - 1].end - 1]);
}

static void put_jump(struct rewrite *rw, uint32_t to, uint32_t near) {
    struct decoded d;
    struct decode_error why;
    if (!isa_decode("bra.uni", 7, &d, &why))
        return;
    struct inst in = {.kind = K_BRANCH, .guard = NO_GUARD, .row = d.row_index, .latency = LAT_CONTROL, .target = to};
    in.d = in.d2 = SINK_VREG;
    in.a = in.b = in.c = in.e = OPND_ZERO;
    in.hints = HINT_UNI | HINT_APART;
    rw->code[rw->n] = in;
    rw->info[rw->n] = rw->w->ir->info[near];
    rw->info[rw->n].n_reads = rw->info[rw->n].n_writes = 0;
    rw->info[rw->n].yields = false;
    rw->n++;
}

/* Preheaders that have no room before their loops. */
static void put_far_preheaders(struct rewrite *rw, uint32_t function) {
    const struct ir *ir = rw->w->ir;
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        if (ir->blocks[b].function != function || !falls_back(rw->w, b))
            continue;
        put_preheader(rw, b);
        if (rw->outer[b] == rw->n)
            rw->outer[b] = rw->inner[b]; /* there was nothing to put */
        else
            put_jump(rw, rw->inner[b], ir->blocks[b].begin);
    }
}

static void copy_block(struct rewrite *rw, uint32_t b) {
    const struct work *w = rw->w;
    const struct block *blk = &w->ir->blocks[b];
    if (!falls_back(w, b))
        put_preheader(rw, b);
    rw->inner[b] = rw->n;
    put_joins(rw, b, true);
    for (uint32_t i = blk->begin; i < blk->end; i++) {
        if (i + 1 == blk->end)
            for (uint32_t k = 0; k < w->n; k++)
                if (w->regions[k].anchor == b && !w->regions[k].at_header && w->regions[k].number != NO_BARRIER)
                    put(rw, K_BSSY, &w->regions[k], i);
        rw->moved[i] = rw->n;
        rw->code[rw->n] = w->ir->code[i];
        rw->info[rw->n++] = w->ir->info[i];
    }
    if (b + 1 == w->ir->n_blocks || w->ir->blocks[b + 1].function != blk->function)
        put_far_preheaders(rw, blk->function);
}

static uint32_t place(const struct rewrite *rw, uint32_t from, uint32_t to) {
    const uint64_t *loop = rw->w->loop_of[to];
    return loop && has(loop, from) ? rw->inner[to] : rw->outer[to];
}

static void retarget(struct rewrite *rw) {
    struct ir *ir = rw->w->ir;
    for (uint32_t i = 0; i < ir->n; i++) {
        struct inst *in = &rw->code[rw->moved[i]];
        uint32_t from = ir->info[i].block;
        if (in->kind == K_BRANCH)
            in->target = place(rw, from, in->target);
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            ir->lists[in->list + t] = place(rw, from, ir->lists[in->list + t]);
    }
    for (uint32_t i = 0; i < rw->n; i++) /* joins: instruction numbers for now, blocks once there are blocks again */
        if (rw->code[i].kind == K_BSSY)
            rw->code[i].target = rw->outer[rw->code[i].target];
}

static void rewrite(struct work *w) {
    struct ir *ir = w->ir;
    size_t room = (size_t)ir->n + 5 * (size_t)w->n + 1;
    struct rewrite rw = {.w = w};
    rw.code = arena_array(ir->tmp, room, sizeof *rw.code);
    rw.info = arena_array(ir->tmp, room, sizeof *rw.info);
    rw.outer = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *rw.outer);
    rw.inner = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *rw.inner);
    rw.moved = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *rw.moved);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        copy_block(&rw, b);
    retarget(&rw);
    for (uint32_t c = 0; c < ir->n_calls; c++)
        if (ir->calls[c].inst != NO_INST)
            ir->calls[c].inst = rw.moved[ir->calls[c].inst];
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        ir->functions[f].begin = rw.outer[ir->functions[f].block];
        ir->functions[f].end = ir->functions[f].block_end < ir->n_blocks ? rw.outer[ir->functions[f].block_end] : rw.n;
    }
    ir->code = rw.code;
    ir->info = rw.info;
    ir->n = ir->cap = rw.n;
}

/* Targets of BSSY as blocks, once the blocks have been made anew. */
static void joins_to_blocks(struct ir *ir) {
    for (uint32_t i = 0; i < ir->n; i++)
        if (ir->code[i].kind == K_BSSY)
            for (uint32_t b = 0; b < ir->n_blocks; b++)
                if (ir->blocks[b].begin <= ir->code[i].target && ir->code[i].target < ir->blocks[b].end) {
                    ir->code[i].target = b;
                    break;
                }
}

bool pass_barriers(struct ir *ir) {
    struct work w = {.ir = ir, .words = ir->n_blocks / 64 + 1};
    find_dominators(&w);
    find_loops(&w);
    find_regions(&w);
    drop_inner(&w);
    if (!w.n)
        return true;
    number_all(&w);
    rewrite(&w);
    if (!pass_cfg(ir) || !pass_exits(ir) || !pass_postdom(ir))
        return false;
    joins_to_blocks(ir);
    return true;
}
