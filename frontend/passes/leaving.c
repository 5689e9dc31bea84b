/* Regions that some threads leave before the join: a branch into the middle of code that other threads share, a loop
 * with several exits, an early return from a function. Threads that leave take themselves out of the barrier with
 * BREAK, as in ptxas, so that no thread waits for them; they join the remaining threads in an outer region.
 *
 * For edges that meet at a block J, the region begins at the nearest block that dominates the sources of the edges: all
 * threads that may meet at J have passed it. Edges into a loop and back edges to its header form separate regions. The
 * region has the blocks that lead to J without passing its anchor again. Every edge that leaves it gets a BREAK, under
 * the guard of its branch. A region that contains a CTA barrier gets no convergence barrier: threads stopped at the
 * join would never arrive at the CTA barrier.
 *
 * No thread waits forever. The threads that a join waits for are in its region: each reaches the join, leaves with a
 * BREAK, or waits at another join. Joins must not wait for each other in a cycle (drop_cycles()). */
#include "barriers.h"
#include "frontend/analysis/joins.h"

/* ---- candidates ---- */

static bool has_cta_barrier(struct work *w, struct region *r) {
    const uint64_t *set = blocks_of(w, r);
    for (uint32_t b = r->low; b <= r->high; b++) {
        const struct inst *last = last_of(w, b);
        bool calls = last->kind == K_CALL && (last->target == UINT32_MAX || w->has_barrier[last->target]);
        if (set_has(set, b) && (last->kind == K_BARRIER || calls))
            return true;
    }
    return false;
}

static bool diverges_inside(struct work *w, struct region *r) {
    const uint64_t *set = blocks_of(w, r);
    for (uint32_t b = r->low; b <= r->high; b++)
        if (set_has(set, b) && region_diverges(w, b))
            return true;
    return false;
}

/* Adds a region that begins at block `b`, unless it is already known or must not have a barrier. */
static void consider(struct work *w, uint32_t b, uint32_t join) {
    const struct ir *ir = w->ir;
    const struct ir_function *f = &ir->functions[ir->blocks[b].function];
    struct region r = region_of(w, b, join);
    const char *why_not = NULL;
    if (f->has_stack || f->recursive || w->join[b] == join || region_known(w, &r))
        return;
    r.leaves = true;
    if (!diverges_inside(w, &r))
        return;
    if (waits_inside(w, &r))
        why_not = "it contains a loop that may wait for threads stopped at the barrier";
    else if (has_cta_barrier(w, &r))
        why_not = "threads in it wait at a CTA barrier, perhaps for threads stopped at the join";
    if (why_not)
        ir_note(w->ir, ir->blocks[b].end - 1, "left alone, to join at line %u: %s",
                ir->info[ir->blocks[join].begin].line, why_not);
    else
        region_add(w, &r);
}

/* Considers one region that ends at block `b`, for the edges that meet there: the back edges to `b` if `closing` is
 * true, otherwise all other edges to `b`. */
static void consider_edges(struct work *w, uint32_t b, bool closing) {
    const struct cfg *g = &w->ir->cfg;
    uint32_t from = NO_BLOCK, first = NO_BLOCK;
    bool several = false;
    for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++) {
        uint32_t pred = g->pred[e];
        if (dominates(&w->dom, b, pred) != closing)
            continue;
        several |= first != NO_BLOCK && pred != first;
        from = first == NO_BLOCK ? pred : dom_common(&w->dom, from, pred);
        first = first == NO_BLOCK ? pred : first;
    }
    if (several && from != NO_BLOCK)
        consider(w, from, b);
}

/* Considers regions for loops that threads leave either to the code behind the loop or by an early return: threads that
 * reach this code after different numbers of iterations join there. */
static void consider_early_returns(struct work *w) {
    const struct ir *ir = w->ir;
    const uint32_t *early = ir->n_functions > 1 ? find_early_joins(w->ir) : NULL;
    for (uint32_t b = 0; early && b < ir->n_blocks; b++)
        if (early[b] != NO_BLOCK && region_diverges(w, b) && region_of(w, b, early[b]).at_header)
            consider(w, b, early[b]);
}

void find_leaving(struct work *w) {
    const struct ir *ir = w->ir;
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (int closing = 0; closing < 2 && !ir->info[ir->blocks[b].begin].only_exits; closing++)
            consider_edges(w, b, closing);
    consider_early_returns(w);
}

/* ---- cycles of waiting joins ---- */

/* The regions of one function that may wait for each other in a cycle. Region A waits for region B if a thread in A may
 * be stopped at the join of B. */
struct wait_cycles {
    struct work *w;
    uint32_t *list, n; /* indices of the regions that may be on a cycle */
    /* region -> number of listed regions for which it waits, and number of listed regions that wait for it */
    uint32_t *waits, *waited;
    unsigned char *dropped; /* by region */
};

static bool waits_for(const struct wait_cycles *c, uint32_t a, uint32_t b) {
    const struct region *r = &c->w->regions[a], *s = &c->w->regions[b];
    return r->join != s->join && region_passes(c->w, r, s);
}

static void remove_region(struct wait_cycles *c, uint32_t k) {
    uint32_t out = c->list[k];
    c->list[k] = c->list[--c->n];
    for (uint32_t i = 0; i < c->n; i++) {
        c->waits[c->list[i]] -= waits_for(c, c->list[i], out);
        c->waited[c->list[i]] -= waits_for(c, out, c->list[i]);
    }
}

/* Removes regions that are on no cycle. */
static void trim(struct wait_cycles *c) {
    for (uint32_t k = 0; k < c->n;)
        if (!c->waits[c->list[k]] || !c->waited[c->list[k]]) {
            remove_region(c, k);
            k = 0;
        } else {
            k++;
        }
}

/* Returns the list index of the region to drop: a region that threads re-enter before its join and that no thread
 * leaves early, else the last region that threads leave early. Returns NO_REGION if there is neither. */
static uint32_t find_victim(const struct wait_cycles *c) {
    uint32_t found = NO_REGION;
    for (uint32_t k = 0; k < c->n; k++) {
        const struct region *r = &c->w->regions[c->list[k]];
        if (r->reentered && !r->leaves)
            return k;
        if (r->leaves && (found == NO_REGION || c->list[k] > c->list[found]))
            found = k;
    }
    return found;
}

static void break_cycles(struct wait_cycles *c, uint32_t function) {
    struct work *w = c->w;
    bool leaves = false;
    c->n = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->ir->blocks[w->regions[i].anchor].function == function) {
            c->list[c->n++] = i;
            leaves |= w->regions[i].leaves;
        }
    if (!leaves)
        return;
    for (uint32_t k = 0; k < c->n; k++)
        blocks_of(w, &w->regions[c->list[k]]);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < c->n; k++)
            if (waits_for(c, c->list[i], c->list[k])) {
                c->waits[c->list[i]]++;
                c->waited[c->list[k]]++;
            }
    for (trim(c); c->n;) {
        uint32_t k = find_victim(c);
        if (k == NO_REGION)
            return;
        const struct region *r = &w->regions[c->list[k]];
        c->dropped[c->list[k]] = 1;
        ir_note(w->ir, w->ir->blocks[r->anchor].end - 1,
                "left alone, to join at line %u: threads at this and another join would wait for each other",
                w->ir->info[w->ir->blocks[r->join].begin].line);
        remove_region(c, k);
        trim(c);
    }
}

void drop_cycles(struct work *w) {
    struct wait_cycles c = {.w = w};
    uint32_t n = 0;
    c.list = arena_array(w->ir->tmp, (size_t)w->n + 1, sizeof *c.list);
    c.waits = arena_array(w->ir->tmp, (size_t)w->n + 1, sizeof *c.waits);
    c.waited = arena_array(w->ir->tmp, (size_t)w->n + 1, sizeof *c.waited);
    c.dropped = arena_array(w->ir->tmp, (size_t)w->n + 1, 1);
    for (uint32_t f = 0; f < w->ir->n_functions; f++)
        break_cycles(&c, f);
    for (uint32_t i = 0; i < w->n; i++)
        if (!c.dropped[i])
            w->regions[n++] = w->regions[i];
    w->n = n;
}

/* ---- edges that leave a region ---- */

/* Adds the barrier of region `r` to the edges that leave the region. edges[e] is the set of barriers that threads leave
 * on edge cfg.succ[e]. */
static void mark_leaving_edges(const struct work *w, const struct region *r, uint32_t *edges) {
    const struct ir *ir = w->ir;
    const struct cfg *g = &ir->cfg;
    for (uint32_t b = r->low; b <= r->high; b++)
        for (uint32_t e = g->succ_first[b]; set_has(r->blocks, b) && e < g->succ_first[b + 1]; e++) {
            uint32_t to = g->succ[e];
            if (to != r->join && !set_has(r->blocks, to) && !ir->info[ir->blocks[to].begin].only_exits)
                edges[e] |= 1u << r->number;
        }
}

static struct inst break_inst(int number) {
    struct inst in = barrier_inst("#break");
    in.imm = number;
    return in;
}

/* Adds BREAKs before the jump at the end of block `b`, under the guard of the jump or, with `other`, under the
 * inverted guard. */
static void add_breaks_before_jump(const struct rewrite *rw, uint32_t b, uint32_t barriers, bool other) {
    uint32_t jump = rw->e->blocks[b].last;
    for (uint32_t m = barriers; m; m &= m - 1) {
        const struct inst *last = edit_inst(rw->e, jump);
        struct inst in = break_inst(__builtin_ctz(m));
        in.guard = last->guard;
        in.guard_not = last->guard_not ^ other;
        edit_before(rw->e, jump, &in);
    }
}

/* Adds BREAKs for the set `barriers` in a new block on the edge between two blocks. */
static void add_breaks_on_edge(const struct rewrite *rw, uint32_t from, uint32_t to, uint32_t barriers) {
    const struct loop *loop = region_loop(rw->w, to);
    if (loop && !loop_has(loop, from) && rw->outer[to] != NO_BLOCK)
        to = rw->outer[to];
    uint32_t between = edit_split_edge(rw->e, from, to);
    for (uint32_t m = barriers; m; m &= m - 1) {
        struct inst in = break_inst(__builtin_ctz(m));
        edit_at_end(rw->e, between, &in);
    }
    if (rw->e->blocks[between].next != to) {
        struct inst jump = edit_make_jump(to);
        jump.hints |= HINT_APART;
        edit_set_end(rw->e, between, &jump, NO_BLOCK);
    }
}

static void add_breaks_at(const struct rewrite *rw, uint32_t b, uint32_t *edges) {
    const struct cfg *g = &rw->w->ir->cfg;
    const struct inst *last = last_of(rw->w, b);
    uint32_t first = g->succ_first[b], end = g->succ_first[b + 1];
    bool guarded = last->kind == K_BRANCH && last->guard != NO_GUARD && !(last->hints & HINT_DEQ);
    for (uint32_t e = first; e < end; e++) {
        if (!edges[e])
            continue;
        if (guarded) {
            add_breaks_before_jump(rw, b, edges[e], e != first);
            continue;
        }
        /* a branch table may contain a block several times; the new block on the edge then serves all these entries */
        for (uint32_t k = e + 1; k < end; k++)
            if (g->succ[k] == g->succ[e])
                edges[k] = 0;
        add_breaks_on_edge(rw, b, g->succ[e], edges[e]);
    }
}

void put_breaks(const struct rewrite *rw) {
    const struct work *w = rw->w;
    uint32_t *edges = arena_array(w->ir->tmp, (size_t)w->ir->cfg.succ_first[w->ir->n_blocks] + 1, sizeof *edges);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->regions[i].leaves && w->regions[i].number != NO_BARRIER)
            mark_leaving_edges(w, &w->regions[i], edges);
    for (uint32_t b = 0; b < w->ir->n_blocks; b++)
        add_breaks_at(rw, b, edges);
}
