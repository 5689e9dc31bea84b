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
#include "edit.h"
#include <assert.h>
#include <string.h>

enum { N_BARRIERS = 32, NO_BARRIER = -1 };
#define NO_REGION UINT32_MAX

struct region {
    uint32_t anchor;    /* block: of the branch, or the header of the loop */
    uint32_t join;      /* block */
    bool at_header;     /* BSSY where the loop is entered; else before the branch that ends `anchor` */
    bool again;         /* the anchor is reached again from inside, by other ways than the back edges of its loop */
    int number;         /* NO_BARRIER: none was left, or not needed */
    uint64_t *blocks;   /* bit set: from the anchor on, before the join; NULL: not asked for yet (blocks_of()) */
    uint32_t low, high; /* least and greatest of them */
    uint32_t next_at_anchor, next_at_join; /* the next region of the same block; NO_REGION ends */
};

struct work {
    struct ir *ir;
    uint32_t words; /* of a set of blocks */
    struct dom_tree dom;
    struct loops loops;
    struct region *regions;
    uint32_t n, cap;
    uint32_t *asking;              /* see count_asking() */
    uint32_t *at_anchor, *at_join; /* block -> its first region, ascending from there */
    int *base;                     /* function -> its first number */
    uint32_t *stack;               /* as many as there are blocks */
    uint32_t *numbered;            /* likewise: regions of the function at hand that have a number */
};

static bool has(const uint64_t *set, uint32_t b) { return set[b / 64] >> (b % 64) & 1; }
static void add(uint64_t *set, uint32_t b) { set[b / 64] |= 1ull << (b % 64); }
static uint64_t *new_set(struct work *w) { return arena_array(w->ir->tmp, w->words, sizeof(uint64_t)); }

/* The loop that a block is the header of; NULL for none. */
static const struct loop *loop_of(const struct work *w, uint32_t b) {
    return w->loops.headed[b] == NO_LOOP ? NULL : &w->loops.list[w->loops.headed[b]];
}

/* The header of the largest loop around `b` without `join`; NO_BLOCK when there is none. */
static uint32_t outermost_loop(const struct work *w, uint32_t b, uint32_t join) {
    uint32_t best = NO_BLOCK;
    for (uint32_t k = w->loops.of[b]; k != NO_LOOP && !loop_has(&w->loops.list[k], join); k = w->loops.list[k].parent)
        best = w->loops.list[k].header;
    return best;
}

/* Puts the regions into the lists of their blocks. */
static void index_regions(struct work *w) {
    for (uint32_t b = 0; b < w->ir->n_blocks; b++)
        w->at_anchor[b] = w->at_join[b] = NO_REGION;
    for (uint32_t i = w->n; i-- > 0;) {
        struct region *r = &w->regions[i];
        r->next_at_anchor = w->at_anchor[r->anchor];
        r->next_at_join = w->at_join[r->join];
        w->at_anchor[r->anchor] = w->at_join[r->join] = i;
    }
}

/* Blocks in which threads only exit belong to no region: many would share them. */
static const uint64_t *blocks_of(struct work *w, struct region *r) {
    const struct ir *ir = w->ir;
    if (r->blocks)
        return r->blocks;
    const struct cfg *g = &ir->cfg;
    uint64_t *set = new_set(w);
    uint32_t *stack = w->stack, top = 0;
    add(set, r->anchor);
    r->low = r->high = r->anchor;
    stack[top++] = r->anchor;
    while (top) {
        uint32_t k = stack[--top];
        r->low = k < r->low ? k : r->low;
        r->high = k > r->high ? k : r->high;
        for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++) {
            bool skips = r->at_header && loop_has(loop_of(w, r->anchor), k);
            r->again |= g->succ[e] == r->anchor && !skips;
            bool ends = ir->info[ir->blocks[g->succ[e]].begin].only_exits;
            if (g->succ[e] != r->join && !ends && !has(set, g->succ[e])) {
                add(set, g->succ[e]);
                stack[top++] = g->succ[e];
            }
        }
    }
    return r->blocks = set;
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

/* How many blocks of loops numbered 1 to i, those of inner loops apart, ask other threads. */
static void count_asking(struct work *w) {
    const struct ir *ir = w->ir;
    w->asking = arena_array(ir->tmp, (size_t)w->loops.n + 1, sizeof *w->asking);
    for (uint32_t b = 0; w->loops.n && b < ir->n_blocks; b++) {
        bool asks = false;
        for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++)
            asks |= asks_others(&ir->code[i]);
        w->asking[w->loops.list[0].number[b]] += asks;
    }
    w->asking[0] = 0; /* those that lie in no loop */
    for (uint32_t i = 1; i <= w->loops.n; i++)
        w->asking[i] += w->asking[i - 1];
}

/* Does the branch that ends `b` leave its loop by what other threads did? */
static bool waits_for_others(struct work *w, const struct loop *loop, uint32_t b) {
    const struct ir *ir = w->ir;
    if (w->asking[loop->last] == w->asking[loop->first - 1])
        return false;
    unsigned char *marked = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    for (bool fresh = true; fresh;) {
        fresh = false;
        for (uint32_t k = 0; k < ir->n_blocks; k++)
            for (uint32_t i = ir->blocks[k].begin; loop_has(loop, k) && i < ir->blocks[k].end; i++)
                fresh |= mark(ir, i, marked);
    }
    const struct inst *last = &ir->code[ir->blocks[b].end - 1];
    return last->guard != NO_GUARD && marked[last->guard];
}

static void find_regions(struct work *w) {
    struct ir *ir = w->ir;
    index_regions(w); /* none yet */
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        const struct inst *last = &ir->code[ir->blocks[b].end - 1];
        uint32_t join = ir->blocks[b].ipdom;
        const char *why_not = NULL;
        if (!diverges(last) || !parts(ir, b) || ir->functions[ir->blocks[b].function].has_stack)
            continue;
        uint32_t header = join == NO_BLOCK ? NO_BLOCK : outermost_loop(w, b, join);
        if (join == NO_BLOCK)
            why_not = "its paths join nowhere before the thread ends";
        else if (ir->functions[ir->blocks[b].function].recursive)
            why_not = "its function can be active twice in a thread, and a barrier means one activation";
        else if (header != NO_BLOCK && waits_for_others(w, loop_of(w, header), b))
            why_not = "its loop waits for what other threads do, perhaps for those that would wait at the barrier";
        if (why_not) {
            ir_note(ir, ir->blocks[b].end - 1, "left alone: %s", why_not);
            continue;
        }
        struct region r = {.anchor = header == NO_BLOCK ? b : header, .join = join, .at_header = header != NO_BLOCK};
        r.number = NO_BARRIER;
        bool known = false;
        for (uint32_t i = w->at_anchor[r.anchor]; i != NO_REGION; i = w->regions[i].next_at_anchor)
            known |= w->regions[i].join == join && w->regions[i].at_header == r.at_header;
        if (known)
            continue;
        r.next_at_anchor = w->at_anchor[r.anchor];
        w->at_anchor[r.anchor] = w->n;
        w->regions = IR_ROOM(ir, w->regions, w->n, w->cap);
        w->regions[w->n++] = r;
    }
}

/* The line of the branch that region `r` belongs to, or of the loop that it begins before. */
static uint32_t line_of(const struct work *w, const struct region *r) {
    const struct block *b = &w->ir->blocks[r->anchor];
    return w->ir->info[r->at_header ? b->begin : b->end - 1].line;
}

/* Does `outer` do what `inner` would: same join, and all threads of `inner` have entered it? */
static bool covers(struct work *w, struct region *outer, const struct region *inner) {
    return outer->join == inner->join && outer->anchor != inner->anchor &&
           dominates(&w->dom, outer->anchor, inner->anchor) && has(blocks_of(w, outer), inner->anchor);
}

/* Regions that lie in another one with the same join, which all their threads have entered, are not needed. */
static void drop_inner(struct work *w) {
    uint32_t n = 0;
    index_regions(w);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct region *by = NULL;
        for (uint32_t k = w->at_join[w->regions[i].join]; k != NO_REGION; k = w->regions[k].next_at_join)
            if (k != i && covers(w, &w->regions[k], &w->regions[i]))
                by = &w->regions[k];
        w->regions[i].number = by ? NO_BARRIER : 0;
        if (by)
            ir_note(w->ir, w->ir->blocks[w->regions[i].anchor].end - 1,
                    "left alone: the barrier of line %u has the same join, and all threads have come by it",
                    line_of(w, by));
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].number != NO_BARRIER)
            w->regions[n++] = w->regions[i];
    w->n = n;
    index_regions(w);
}

/* Do threads in region `a` come by the BSYNC of `b`? At the block where both meet it comes before the BSSY of `a`. */
static bool passes(const struct region *a, const struct region *b) {
    return has(a->blocks, b->join) && (b->join != a->anchor || a->again);
}

static bool overlap(const struct region *a, const struct region *b) {
    if (passes(a, b) || passes(b, a))
        return true;
    uint32_t low = a->low > b->low ? a->low : b->low, high = a->high < b->high ? a->high : b->high;
    for (uint32_t i = low / 64; low <= high && i <= high / 64; i++)
        if (a->blocks[i] & b->blocks[i])
            return true;
    return false;
}

/* Must two regions have different numbers? There is one BSYNC for regions with the same join, but two where one began
 * outside of the loop that the join heads and the other inside, and who enters the loop comes by both. */
static bool conflict(struct work *w, struct region *a, struct region *b) {
    const struct loop *loop = loop_of(w, a->join);
    if (a->join == b->join)
        return loop && loop_has(loop, a->anchor) != loop_has(loop, b->anchor);
    blocks_of(w, a);
    blocks_of(w, b);
    return overlap(a, b);
}

/* Does `a` certainly share a block with `b`, whose blocks are known? All of the loop that a region begins before are in
 * it. What is in many regions gets no number, and nobody needs to know where it leads. */
static bool surely_overlap(const struct work *w, const struct region *a, const struct region *b) {
    return a->join != b->join &&
           (has(b->blocks, a->anchor) || (a->at_header && loop_has(loop_of(w, a->anchor), b->anchor)));
}

static int lowest_free(int from, uint64_t taken) {
    while (from < N_BARRIERS && taken >> from & 1)
        from++;
    return from < N_BARRIERS ? from : NO_BARRIER;
}

/* The lowest number from the function's first on that no region which threads may be in at the same time has. */
static void number_regions(struct work *w, uint32_t function) {
    uint32_t *numbered = w->numbered, n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        struct region *r = &w->regions[i];
        uint64_t taken = 0;
        if (w->ir->blocks[r->anchor].function != function)
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (surely_overlap(w, r, &w->regions[numbered[k]]))
                taken |= 1ull << w->regions[numbered[k]].number;
        for (uint32_t k = 0; k < n && lowest_free(w->base[function], taken) != NO_BARRIER; k++)
            if (!(taken >> w->regions[numbered[k]].number & 1) && conflict(w, r, &w->regions[numbered[k]]))
                taken |= 1ull << w->regions[numbered[k]].number;
        r->number = lowest_free(w->base[function], taken);
        if (r->number != NO_BARRIER) {
            numbered[n++] = i;
            blocks_of(w, r);
        }
        const struct block *at = &w->ir->blocks[r->anchor], *join = &w->ir->blocks[r->join];
        uint32_t place = r->at_header ? at->begin : at->end - 1;
        if (r->number == NO_BARRIER)
            ir_note(w->ir, place, "left alone: all %d barriers are taken around it", N_BARRIERS);
        else
            ir_note(w->ir, place, "barrier %d from here to line %u", r->number, w->ir->info[join->begin].line);
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

/* Where the barriers of what enters a block stand; NO_BLOCK in `outer`: in the block itself. */
struct rewrite {
    struct work *w;
    struct edit *e;
    uint32_t *outer; /* block -> the one that those pass who enter the loop it heads */
};

static struct inst barrier(const char *name) {
    struct decoded d;
    struct decode_error why = {.message = ""};
    isa_decode(name, (uint32_t)strlen(name), &d, &why);
    assert(!why.message[0]);
    return inst_of_row(d.row);
}

/* BSSY of region `r`: before the jump of the block where it begins, or in the preheader of its loop. */
static void put_begin(const struct rewrite *rw, const struct region *r) {
    struct inst in = barrier("#bssy");
    in.target = rw->outer[r->join] == NO_BLOCK ? r->join : rw->outer[r->join];
    in.rpc = (uint32_t)r->number;
    if (r->at_header)
        edit_at_end(rw->e, rw->outer[r->anchor], &in);
    else /* a call through a pointer is no jump, but it is what diverges */
        edit_before(rw->e, rw->e->blocks[r->anchor].last, &in);
}

/* BSYNCs at block `b` of regions that began inside, or outside, of the loop it heads. Two regions may join here with
 * one number: one BSYNC does. */
static void put_joins(const struct rewrite *rw, uint32_t b, bool inside) {
    const struct work *w = rw->w;
    const struct loop *loop = loop_of(w, b);
    uint32_t place = !inside && rw->outer[b] != NO_BLOCK ? rw->outer[b] : b;
    uint64_t done = 0;
    int numbers[N_BARRIERS], n = 0;
    for (uint32_t i = w->at_join[b]; i != NO_REGION; i = w->regions[i].next_at_join) {
        const struct region *r = &w->regions[i];
        bool began_inside = loop && loop_has(loop, r->anchor);
        if (r->number == NO_BARRIER || began_inside != inside || done >> r->number & 1)
            continue;
        done |= 1ull << r->number;
        numbers[n++] = r->number;
    }
    while (n > 0) { /* each is put before those that are there */
        struct inst in = barrier("#bsync");
        in.imm = numbers[--n];
        edit_at_begin(rw->e, place, &in);
    }
}

/* Who enters the loop that `b` heads passes a block of its own when something stands there: joins of what began
 * outside, and BSSYs. A jump from behind the function belongs to the barriers, not to the program. */
static void make_preheader(const struct rewrite *rw, uint32_t b) {
    const struct work *w = rw->w;
    const struct loop *loop = loop_of(w, b);
    bool needed = false;
    for (uint32_t i = w->at_join[b]; loop && i != NO_REGION; i = w->regions[i].next_at_join)
        needed |= w->regions[i].number != NO_BARRIER && !loop_has(loop, w->regions[i].anchor);
    for (uint32_t i = w->at_anchor[b]; loop && i != NO_REGION; i = w->regions[i].next_at_anchor)
        needed |= w->regions[i].number != NO_BARRIER && w->regions[i].at_header;
    if (!needed)
        return;
    rw->outer[b] = edit_preheader(rw->e, loop);
    if (rw->e->blocks[rw->outer[b]].next != b) {
        struct inst jump = edit_make_jump(b);
        jump.hints |= HINT_APART;
        edit_set_end(rw->e, rw->outer[b], &jump, NO_BLOCK);
    }
}

static bool rewrite(struct work *w) {
    struct rewrite rw = {.w = w, .e = edit_begin(w->ir)};
    uint32_t n = w->ir->n_blocks;
    rw.outer = arena_array(w->ir->tmp, (size_t)n + 1, sizeof *rw.outer);
    for (uint32_t b = 0; b < n; b++)
        rw.outer[b] = NO_BLOCK;
    for (uint32_t b = 0; b < n; b++)
        make_preheader(&rw, b);
    for (uint32_t b = 0; b < n; b++) {
        put_joins(&rw, b, true);
        put_joins(&rw, b, false);
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].number != NO_BARRIER)
            put_begin(&rw, &w->regions[i]);
    return edit_end(rw.e);
}

bool pass_barriers(struct ir *ir) {
    struct work w = {.ir = ir, .words = ir->n_blocks / 64 + 1};
    w.stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.stack);
    w.numbered = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.numbered);
    w.at_anchor = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.at_anchor);
    w.at_join = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.at_join);
    w.dom = ir_dominators(ir);
    w.loops = find_loops(ir->tmp, &ir->cfg, &w.dom);
    count_asking(&w);
    find_regions(&w);
    drop_inner(&w);
    if (!w.n)
        return true;
    number_all(&w);
    return rewrite(&w);
}
