/* Convergence barriers for machines without a reconvergence stack (Volta and later): BSSY where a divergent region
 * begins, BSYNC where its threads join. Requires: blocks, post-dominators. Keeps: everything else; adds blocks and
 * updates post-dominators.
 *
 * A region belongs to a branch and ends at its join: the block where its paths meet, ignoring paths that end the
 * thread (joins.h). It begins right before the branch. If the branch is in loops that do not contain the join, it
 * begins at the entry of the outermost of these loops, so that threads that leave the loop in different iterations
 * wait for each other. A region with a loop that waits for other threads (waits.h) gets no barrier: the threads that
 * the loop waits for could be stopped at the join. leaving.c finds regions that some threads leave before the join.
 * Code for the modern core has barriers only for branches that may part lanes (frontend/analysis/agree.h). A region
 * inside another one with the same join needs no barrier. Regions that share a block get different numbers;
 * a function uses higher numbers than its callers. Hardware has 16 barrier registers; a number
 * from 16 on stands for a barrier that a compiler would spill.
 * Recursive functions get no barriers, since one number would serve several activations. A call of a recursive
 * function from outside is a region of its own. */
#include "barriers.h"
#include "frontend/analysis/agree.h"
#include "frontend/analysis/joins.h"
#include "pass.h"

/* Builds the lists of regions by anchor and by join. */
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

/* Returns true if block `b` ends in a call from which threads may return diverged. */
static bool call_returns_diverged(const struct work *w, uint32_t b) {
    const struct inst *last = last_of(w, b);
    return last->kind == K_CALL && last->target != UINT32_MAX && w->returns_apart[last->target];
}

/* Returns true if a block of `r` has a CTA barrier and does not lead to the join of `r`: threads that wait in this
 * block may wait for threads that are stopped at the join. This is impossible if the join is the post-dominator,
 * because every block then leads to the join. */
static bool waits_off_join(struct work *w, struct region *r) {
    const uint64_t *set = blocks_of(w, r), *comes = lead_to_join(w, r, set);
    for (uint32_t b = r->low; b <= r->high; b++) {
        const struct inst *last = last_of(w, b);
        bool calls = last->kind == K_CALL && (last->target == UINT32_MAX || w->has_barrier[last->target]);
        if (set_has(set, b) && !set_has(comes, b) && (last->kind == K_BARRIER || calls))
            return true;
    }
    return false;
}

/* Returns why a region gets no barrier, or NULL if it may have one. */
static const char *reason_for_no_barrier(struct work *w, struct region *r, bool joins_early) {
    if (waits_inside(w, r))
        return "it contains a loop that may wait for threads stopped at the barrier";
    if (joins_early && waits_off_join(w, r))
        return "threads on a path to an exit wait at a CTA barrier, perhaps for threads stopped at the join";
    if (call_returns_diverged(w, r->anchor) && w->has_barrier[last_of(w, r->anchor)->target])
        return "threads in the called function wait at a CTA barrier, perhaps for threads stopped after the call";
    return NULL;
}

/* Marks functions that contain a CTA barrier, themselves or in a callee. */
static void find_cta_barriers(struct work *w) {
    const struct ir *ir = w->ir;
    w->has_barrier = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    for (uint32_t i = 0; i < ir->n; i++)
        w->has_barrier[ir->info[i].function] |= ir->code[i].kind == K_BARRIER;
    ir_mark_callers(ir, w->has_barrier);
}

/* Marks functions from which threads may return diverged: recursive functions with a divergent branch, which get no
 * convergence barriers. In all other functions, the threads join at the single return. */
static void find_diverging_functions(struct work *w) {
    const struct ir *ir = w->ir;
    w->returns_apart = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        w->returns_apart[ir->blocks[b].function] |=
            ir->functions[ir->blocks[b].function].recursive && region_diverges(w, b);
}

static void find_regions(struct work *w) {
    struct ir *ir = w->ir;
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        uint32_t join = w->join[b];
        const char *why_not = NULL;
        if ((!region_diverges(w, b) && !call_returns_diverged(w, b)) || ir->functions[ir->blocks[b].function].has_stack)
            continue;
        struct region r = region_of(w, b, join);
        if (join == NO_BLOCK)
            why_not = "its paths do not meet before the thread ends";
        else if (ir->functions[ir->blocks[b].function].recursive)
            why_not = "its function is recursive, and a barrier number serves only one activation";
        else
            why_not = reason_for_no_barrier(w, &r, join != ir->blocks[b].ipdom);
        if (why_not)
            ir_note(ir, ir->blocks[b].end - 1, "left alone: %s", why_not);
        else if (!region_known(w, &r))
            region_add(w, &r);
    }
}

/* Returns the line of the branch of region `r`, or of the loop before which it begins. */
static uint32_t region_line(const struct work *w, const struct region *r) {
    const struct block *b = &w->ir->blocks[r->anchor];
    return w->ir->info[r->at_header ? b->begin : b->end - 1].line;
}

/* Returns true if `outer` makes `inner` unnecessary: both have the same join, and every thread that enters `inner` has
 * entered `outer` before. */
static bool covers(struct work *w, struct region *outer, const struct region *inner) {
    return outer->join == inner->join && outer->anchor != inner->anchor &&
           dominates(&w->dom, outer->anchor, inner->anchor) && set_has(blocks_of(w, outer), inner->anchor);
}

/* Marks regions made unnecessary by another region. */
static void drop_inner(struct work *w) {
    for (uint32_t i = 0; i < w->n; i++) {
        const struct region *by = NULL;
        for (uint32_t k = w->at_join[w->regions[i].join]; k != NO_REGION; k = w->regions[k].next_at_join)
            if (k != i && covers(w, &w->regions[k], &w->regions[i]))
                by = &w->regions[k];
        w->regions[i].covered = by != NULL;
        if (by)
            ir_note(w->ir, w->ir->blocks[w->regions[i].anchor].end - 1,
                    "left alone: the barrier of line %u has the same join and already holds all its threads",
                    region_line(w, by));
    }
}

/* Returns true if another region, which has a barrier number, makes region `r` unnecessary. */
static bool is_covered(struct work *w, const struct region *r) {
    for (uint32_t k = w->at_join[r->join]; k != NO_REGION; k = w->regions[k].next_at_join)
        if (w->regions[k].number != NO_BARRIER && covers(w, &w->regions[k], r))
            return true;
    return false;
}

static bool overlap(const struct work *w, const struct region *a, const struct region *b) {
    if (region_passes(w, a, b) || region_passes(w, b, a))
        return true;
    uint32_t low = a->low > b->low ? a->low : b->low, high = a->high < b->high ? a->high : b->high;
    for (uint32_t i = low / 64; low <= high && i <= high / 64; i++)
        if (a->blocks[i] & b->blocks[i])
            return true;
    return false;
}

/* Returns true if two regions need different numbers. Regions with the same join share one BSYNC. A join that is a loop
 * header is an exception: if one region begins outside the loop and the other region inside, threads that enter the
 * loop pass two BSYNCs. */
static bool conflict(struct work *w, struct region *a, struct region *b) {
    const struct loop *loop = region_loop(w, a->join);
    if (a->join == b->join)
        return loop && loop_has(loop, a->anchor) != loop_has(loop, b->anchor);
    blocks_of(w, a);
    blocks_of(w, b);
    return overlap(w, a, b);
}

/* Returns true if `a` certainly shares a block with `b`, whose blocks are known. The test is cheap: a region that
 * begins before a loop contains the whole loop. */
static bool certainly_overlap(const struct work *w, const struct region *a, const struct region *b) {
    return a->join != b->join && (set_has(b->blocks, a->anchor) ||
                                  (a->at_header && !a->leaves && loop_has(region_loop(w, a->anchor), b->anchor)));
}

static int lowest_free(int from, uint64_t taken) {
    while (from < N_BARRIERS && taken >> from & 1)
        from++;
    return from < N_BARRIERS ? from : NO_BARRIER;
}

/* Gives region `i` a barrier number: the lowest one, from `first` on, that is different from the numbers of all regions
 * with which region `i` may share threads. */
static void number_region(struct work *w, uint32_t i, int first, uint32_t *n) {
    struct region *r = &w->regions[i];
    uint64_t taken = 0;
    for (uint32_t k = 0; k < *n; k++)
        if (certainly_overlap(w, r, &w->regions[w->numbered[k]]))
            taken |= 1ull << w->regions[w->numbered[k]].number;
    for (uint32_t k = 0; k < *n && lowest_free(first, taken) != NO_BARRIER; k++)
        if (!(taken >> w->regions[w->numbered[k]].number & 1) && conflict(w, r, &w->regions[w->numbered[k]]))
            taken |= 1ull << w->regions[w->numbered[k]].number;
    r->number = lowest_free(first, taken);
    const struct block *at = &w->ir->blocks[r->anchor], *join = &w->ir->blocks[r->join];
    uint32_t at_inst = r->at_header ? at->begin : at->end - 1;
    if (r->number == NO_BARRIER) {
        ir_note(w->ir, at_inst, "left alone: all %d barrier numbers are in use", N_BARRIERS);
        return;
    }
    w->numbered[(*n)++] = i;
    blocks_of(w, r);
    ir_note(w->ir, at_inst, "barrier %d from here to line %u%s", r->number, w->ir->info[join->begin].line,
            r->leaves ? ", which some threads leave early" : "");
}

/* Numbers the regions of a function: first regions that all threads leave at the join, then regions that some threads
 * leave early, then covered regions whose covering region got no number. */
static void number_regions(struct work *w, uint32_t function) {
    enum { WHOLE, LEAVING, COVERED, N_TURNS };
    uint32_t n = 0;
    for (int turn = 0; turn < N_TURNS; turn++)
        for (uint32_t i = 0; i < w->n; i++) {
            const struct region *r = &w->regions[i];
            int when = r->covered ? COVERED : r->leaves ? LEAVING : WHOLE;
            if (w->ir->blocks[r->anchor].function == function && when == turn && !(r->covered && is_covered(w, r)))
                number_region(w, i, w->base[function], &n);
        }
}

/* Numbers callers before callees, so that a callee's numbers follow the numbers that are active around its calls. */
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

/* Adds the BSSY of region `r` before the jump of its anchor, or in the preheader of its loop. */
static void add_bssy(const struct rewrite *rw, const struct region *r) {
    struct inst in = barrier_inst("#bssy");
    in.target = rw->outer[r->join] == NO_BLOCK ? r->join : rw->outer[r->join];
    in.rpc = (uint32_t)r->number;
    if (r->at_header)
        edit_at_end(rw->e, rw->outer[r->anchor], &in);
    /* The last instruction is a branch or a call. BSSY must precede both. edit_at_end() would put BSSY behind a call,
     * because the editor does not treat a call as a jump; so this branch of the code uses edit_before(). */
    else
        edit_before(rw->e, rw->e->blocks[r->anchor].last, &in);
}

/* Adds the BSYNCs at block `b`, for the regions that end there and began inside (`inside` is true) or outside the loop
 * with header `b`. Regions with the same number share one BSYNC. */
static void add_bsyncs(const struct rewrite *rw, uint32_t b, bool inside) {
    const struct work *w = rw->w;
    const struct loop *loop = region_loop(w, b);
    uint32_t block = !inside && rw->outer[b] != NO_BLOCK ? rw->outer[b] : b;
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
    /* the loop runs backward, because each new BSYNC is placed before the BSYNCs that were added earlier */
    while (n > 0) {
        struct inst in = barrier_inst("#bsync");
        in.imm = numbers[--n];
        edit_at_begin(rw->e, block, &in);
    }
}

/* Gives the loop with header `b` a preheader if a BSYNC of an outside region or a BSSY must go there. If the preheader
 * is not right before block `b`, it needs a jump to `b`, which statistics count as part of the barriers
 * (HINT_APART). */
static void make_preheader(const struct rewrite *rw, uint32_t b) {
    const struct work *w = rw->w;
    const struct loop *loop = region_loop(w, b);
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
        add_bsyncs(&rw, b, true);
        add_bsyncs(&rw, b, false);
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].number != NO_BARRIER)
            add_bssy(&rw, &w->regions[i]);
    put_breaks(&rw);
    return edit_end(rw.e);
}

bool pass_barriers(struct ir *ir) {
    struct work w = {.ir = ir, .words = ir->n_blocks / 64 + 1};
    w.stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.stack);
    w.at_anchor = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.at_anchor);
    w.at_join = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *w.at_join);
    w.dom = ir_dominators(ir);
    w.loops = find_loops(ir->tmp, &ir->cfg, &w.dom);
    w.waits = find_waits(ir, &w.loops);
    w.join = find_joins(ir);
    w.parting = assembles(ir) && selects(ir) ? find_parting(ir) : NULL;
    find_cta_barriers(&w);
    find_diverging_functions(&w);
    index_regions(&w); /* no regions yet */
    find_regions(&w);
    find_leaving(&w);
    if (!w.n)
        return true;
    drop_cycles(&w);
    index_regions(&w);
    drop_inner(&w);
    w.numbered = arena_array(ir->tmp, (size_t)w.n + 1, sizeof *w.numbered);
    number_all(&w);
    return rewrite(&w);
}
