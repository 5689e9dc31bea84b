/* Convergence barriers for machines without a reconvergence stack (Volta and later): BSSY where a divergent region
 * begins, BSYNC where it joins. Requires: blocks, post-dominators. Keeps: all else, with new blocks and
 * post-dominators.
 *
 * A region belongs to a branch and ends where those of its sides meet that do not end before, the join (joins.h). It
 * begins right before the branch; when the branch lies in loops that do not contain the join, it begins where the
 * outermost of them is entered, so that threads that leave the loop in different rounds wait for each other. A region
 * that contains a loop which waits for other threads (waits.h) gets no barrier: the threads that the loop waits for
 * might stand at the join. Regions that some threads leave before the join are found in leaving.c. Regions of one join
 * that lie inside another of it need no barrier of their own. Regions that share a block get different numbers; those
 * of a called function come after its callers'. Numbers from 16 on stand for registers that are spilled. Recursive
 * functions get none: one number would mean several activations. A call of one from outside is a region of its own. */
#include "barriers.h"
#include "frontend/analysis/joins.h"
#include <assert.h>
#include <string.h>

static uint64_t *new_set(struct work *w) { return arena_array(w->ir->tmp, w->words, sizeof(uint64_t)); }

/* The loop that a block is the header of; NULL for none. */
const struct loop *region_loop(const struct work *w, uint32_t b) {
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

/* The blocks from the begin of `r` on, before the join. */
static uint64_t *reach(struct work *w, const struct region *r) {
    const struct ir *ir = w->ir;
    const struct cfg *g = &ir->cfg;
    uint64_t *set = new_set(w);
    uint32_t *stack = w->stack, top = 0;
    set_add(set, r->anchor);
    stack[top++] = r->anchor;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++) {
            bool ends = ir->info[ir->blocks[g->succ[e]].begin].only_exits;
            if (g->succ[e] != r->join && !ends && !set_has(set, g->succ[e])) {
                set_add(set, g->succ[e]);
                stack[top++] = g->succ[e];
            }
        }
    }
    return set;
}

/* Blocks in which threads only exit belong to no region: many would share them. */
const uint64_t *blocks_of(struct work *w, struct region *r) {
    if (r->blocks)
        return r->blocks;
    const struct cfg *g = &w->ir->cfg;
    uint64_t *set = reach(w, r);
    if (r->leaves)
        set = lead_to_join(w, r, set);
    r->low = r->high = r->anchor;
    for (uint32_t i = 0; i < w->words; i++)
        if (set[i]) {
            uint32_t first = 64 * i + (uint32_t)__builtin_ctzll(set[i]);
            r->low = first < r->low ? first : r->low;
            r->high = 64 * i + 63 - (uint32_t)__builtin_clzll(set[i]);
        }
    for (uint32_t e = g->pred_first[r->anchor]; e < g->pred_first[r->anchor + 1]; e++)
        r->again |= set_has(set, g->pred[e]) && !(r->at_header && loop_has(region_loop(w, r->anchor), g->pred[e]));
    return r->blocks = set;
}

/* Can threads leave `in` for different places? */
static bool diverges(const struct inst *in) {
    if (in->kind == K_BRANCH)
        return in->guard != NO_GUARD && !(in->hints & HINT_UNI);
    return in->kind == K_BRX || (in->kind == K_CALL && in->target == UINT32_MAX);
}

/* Where all but one of the ways only exit, nobody parts. */
bool region_parts(const struct work *w, uint32_t b) {
    const struct ir *ir = w->ir;
    const struct cfg *g = &ir->cfg;
    uint32_t n = 0;
    if (!diverges(last_of(w, b)))
        return false;
    for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
        n += !ir->info[ir->blocks[g->succ[e]].begin].only_exits;
    return n != 1 || last_of(w, b)->kind == K_CALL;
}

/* Does block `b` end in a call from which threads may come back apart? */
static bool calls_apart(const struct work *w, uint32_t b) {
    const struct inst *last = last_of(w, b);
    return last->kind == K_CALL && last->target != UINT32_MAX && w->returns_apart[last->target];
}

/* True if some block of `r` waits at a CTA barrier and does not lead to the join: its threads may wait for threads that
 * wait at the join. If the join is the post-dominator, every block leads to it. */
static bool waits_apart(struct work *w, struct region *r) {
    const uint64_t *set = blocks_of(w, r), *comes = lead_to_join(w, r, set);
    for (uint32_t b = r->low; b <= r->high; b++) {
        const struct inst *last = last_of(w, b);
        bool calls = last->kind == K_CALL && (last->target == UINT32_MAX || w->has_barrier[last->target]);
        if (set_has(set, b) && !set_has(comes, b) && (last->kind == K_BARRIER || calls))
            return true;
    }
    return false;
}

bool waits_inside(struct work *w, struct region *r) {
    const struct ir *ir = w->ir;
    uint32_t function = ir->blocks[r->anchor].function;
    if (!w->waits.function[function])
        return false;
    const uint64_t *set = blocks_of(w, r);
    for (uint32_t b = r->low; b <= r->high; b++)
        if (set_has(set, b) && w->waits.block[b])
            return true;
    for (uint32_t i = 0; i < w->loops.n; i++) {
        const struct loop *l = &w->loops.list[i];
        for (uint32_t k = 0; w->waits.loop[i] && set_has(set, l->header) && k < l->n_latches; k++)
            if (set_has(set, l->latches[k]))
                return true;
    }
    return false;
}

/* Why a region gets no barrier; NULL: it may have one. */
static const char *why_none(struct work *w, struct region *r, bool joins_early) {
    if (waits_inside(w, r))
        return "a loop in it waits for what other threads do, perhaps for those that would wait at the barrier";
    if (joins_early && waits_apart(w, r))
        return "on a way to an exit threads wait at a barrier of the CTA, perhaps for those that would wait at the "
               "join";
    if (calls_apart(w, r->anchor) && w->has_barrier[last_of(w, r->anchor)->target])
        return "threads wait at a barrier of the CTA in the function, perhaps for those that would wait behind the "
               "call";
    return NULL;
}

/* Functions in which, or in what they call, there is a barrier of the CTA. */
static void find_cta_barriers(struct work *w) {
    const struct ir *ir = w->ir;
    w->has_barrier = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    for (uint32_t i = 0; i < ir->n; i++)
        w->has_barrier[ir->info[i].function] |= ir->code[i].kind == K_BARRIER;
    ir_mark_callers(ir, w->has_barrier);
}

/* Functions without barriers of their own whose threads diverge. The others have one return, where all join. */
static void find_apart(struct work *w) {
    const struct ir *ir = w->ir;
    w->returns_apart = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        w->returns_apart[ir->blocks[b].function] |=
            ir->functions[ir->blocks[b].function].recursive && region_parts(w, b);
}

struct region region_of(const struct work *w, uint32_t b, uint32_t join) {
    uint32_t header = join == NO_BLOCK ? NO_BLOCK : outermost_loop(w, b, join);
    return (struct region){
        .anchor = header == NO_BLOCK ? b : header, .join = join, .at_header = header != NO_BLOCK, .number = NO_BARRIER};
}

bool region_known(const struct work *w, const struct region *r) {
    for (uint32_t i = w->at_anchor[r->anchor]; i != NO_REGION; i = w->regions[i].next_at_anchor)
        if (w->regions[i].join == r->join && w->regions[i].at_header == r->at_header)
            return true;
    return false;
}

void region_add(struct work *w, const struct region *r) {
    w->regions = IR_ROOM(w->ir, w->regions, w->n, w->cap);
    w->regions[w->n] = *r;
    w->regions[w->n].next_at_anchor = w->at_anchor[r->anchor];
    w->at_anchor[r->anchor] = w->n++;
}

static void find_regions(struct work *w) {
    struct ir *ir = w->ir;
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        uint32_t join = w->join[b];
        const char *why_not = NULL;
        if ((!region_parts(w, b) && !calls_apart(w, b)) || ir->functions[ir->blocks[b].function].has_stack)
            continue;
        struct region r = region_of(w, b, join);
        if (join == NO_BLOCK)
            why_not = "its paths join nowhere before the thread ends";
        else if (ir->functions[ir->blocks[b].function].recursive)
            why_not = "its function can be active twice in a thread, and a barrier means one activation";
        else
            why_not = why_none(w, &r, join != ir->blocks[b].ipdom);
        if (why_not)
            ir_note(ir, ir->blocks[b].end - 1, "left alone: %s", why_not);
        else if (!region_known(w, &r))
            region_add(w, &r);
    }
}

/* The line of the branch that region `r` belongs to, or of the loop that it begins before. */
static uint32_t region_line(const struct work *w, const struct region *r) {
    const struct block *b = &w->ir->blocks[r->anchor];
    return w->ir->info[r->at_header ? b->begin : b->end - 1].line;
}

/* Does `outer` do what `inner` would: same join, and all threads of `inner` have entered it? */
static bool covers(struct work *w, struct region *outer, const struct region *inner) {
    return outer->join == inner->join && outer->anchor != inner->anchor &&
           dominates(&w->dom, outer->anchor, inner->anchor) && set_has(blocks_of(w, outer), inner->anchor);
}

/* Regions that lie in another one with the same join, which all their threads have entered, are not needed. */
static void drop_inner(struct work *w) {
    for (uint32_t i = 0; i < w->n; i++) {
        const struct region *by = NULL;
        for (uint32_t k = w->at_join[w->regions[i].join]; k != NO_REGION; k = w->regions[k].next_at_join)
            if (k != i && covers(w, &w->regions[k], &w->regions[i]))
                by = &w->regions[k];
        w->regions[i].covered = by != NULL;
        if (by)
            ir_note(w->ir, w->ir->blocks[w->regions[i].anchor].end - 1,
                    "left alone: the barrier of line %u has the same join, and all threads have come by it",
                    region_line(w, by));
    }
}

/* Does a region that has a number do what this one would? */
static bool is_covered(struct work *w, const struct region *r) {
    for (uint32_t k = w->at_join[r->join]; k != NO_REGION; k = w->regions[k].next_at_join)
        if (w->regions[k].number != NO_BARRIER && covers(w, &w->regions[k], r))
            return true;
    return false;
}

/* At the block where both meet the BSYNC of `b` comes before the BSSY of `a`, unless that stands before a loop and this
 * in it. */
bool region_passes(const struct work *w, const struct region *a, const struct region *b) {
    if (!set_has(a->blocks, b->join))
        return false;
    return b->join != a->anchor || a->again || (a->at_header && loop_has(region_loop(w, a->anchor), b->anchor));
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

/* Must two regions have different numbers? There is one BSYNC for regions with the same join, but two where one began
 * outside of the loop that the join heads and the other inside, and who enters the loop comes by both. */
static bool conflict(struct work *w, struct region *a, struct region *b) {
    const struct loop *loop = region_loop(w, a->join);
    if (a->join == b->join)
        return loop && loop_has(loop, a->anchor) != loop_has(loop, b->anchor);
    blocks_of(w, a);
    blocks_of(w, b);
    return overlap(w, a, b);
}

/* Does `a` certainly share a block with `b`, whose blocks are known? All of the loop that a region begins before are in
 * it. What is in many regions gets no number, and nobody needs to know where it leads. */
static bool surely_overlap(const struct work *w, const struct region *a, const struct region *b) {
    return a->join != b->join && (set_has(b->blocks, a->anchor) ||
                                  (a->at_header && !a->leaves && loop_has(region_loop(w, a->anchor), b->anchor)));
}

static int lowest_free(int from, uint64_t taken) {
    while (from < N_BARRIERS && taken >> from & 1)
        from++;
    return from < N_BARRIERS ? from : NO_BARRIER;
}

/* The lowest number from the function's first on that no region which threads may be in at the same time has. */
static void number_region(struct work *w, uint32_t i, int first, uint32_t *n) {
    struct region *r = &w->regions[i];
    uint64_t taken = 0;
    for (uint32_t k = 0; k < *n; k++)
        if (surely_overlap(w, r, &w->regions[w->numbered[k]]))
            taken |= 1ull << w->regions[w->numbered[k]].number;
    for (uint32_t k = 0; k < *n && lowest_free(first, taken) != NO_BARRIER; k++)
        if (!(taken >> w->regions[w->numbered[k]].number & 1) && conflict(w, r, &w->regions[w->numbered[k]]))
            taken |= 1ull << w->regions[w->numbered[k]].number;
    r->number = lowest_free(first, taken);
    const struct block *at = &w->ir->blocks[r->anchor], *join = &w->ir->blocks[r->join];
    uint32_t place = r->at_header ? at->begin : at->end - 1;
    if (r->number == NO_BARRIER) {
        ir_note(w->ir, place, "left alone: all %d barriers are taken around it", N_BARRIERS);
        return;
    }
    w->numbered[(*n)++] = i;
    blocks_of(w, r);
    ir_note(w->ir, place, "barrier %d from here to line %u%s", r->number, w->ir->info[join->begin].line,
            r->leaves ? ", which some threads leave before" : "");
}

/* Regions that all threads come to the join of, then those that some leave, then what none of these does instead. */
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

struct inst barrier_inst(const char *name) {
    struct decoded d;
    struct decode_error why = {.message = ""};
    isa_decode(name, (uint32_t)strlen(name), &d, &why);
    assert(!why.message[0]);
    return inst_of_row(d.row);
}

/* BSSY of region `r`: before the jump of the block where it begins, or in the preheader of its loop. */
static void put_begin(const struct rewrite *rw, const struct region *r) {
    struct inst in = barrier_inst("#bssy");
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
    const struct loop *loop = region_loop(w, b);
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
        struct inst in = barrier_inst("#bsync");
        in.imm = numbers[--n];
        edit_at_begin(rw->e, place, &in);
    }
}

/* Who enters the loop that `b` heads passes a block of its own when something stands there: joins of what began
 * outside, and BSSYs. A jump from behind the function belongs to the barriers, not to the program. */
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
        put_joins(&rw, b, true);
        put_joins(&rw, b, false);
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].number != NO_BARRIER)
            put_begin(&rw, &w->regions[i]);
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
    find_cta_barriers(&w);
    find_apart(&w);
    index_regions(&w); /* none yet */
    find_regions(&w);
    find_leaving(&w);
    if (!w.n)
        return true;
    drop_circles(&w);
    index_regions(&w);
    drop_inner(&w);
    w.numbered = arena_array(ir->tmp, (size_t)w.n + 1, sizeof *w.numbered);
    number_all(&w);
    return rewrite(&w);
}
