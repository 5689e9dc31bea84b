/* Finds loops that wait for other threads or for a clock. Requires: blocks, post-dominators. Makes: inst_info.waits. */
#include "waits.h"
#include <string.h>

/* What a value in a loop depends on. POLLS: memory that other threads change. ADVANCES: an atomic addition. STEPS: a
 * change that the loop itself makes in each iteration. CLOCK: a clock. */
enum { POLLS = 1, ADVANCES = 2, STEPS = 4, CLOCK = 8 };
enum { MAX_SLOTS = 1024 };
#define NO_NODE UINT32_MAX

/* A memory location at a fixed address that the loop stores to. */
struct slot {
    opnd_t base;
    int64_t offset;
    uint8_t space;
};

/* Scratch arrays, reused for each loop. */
struct scratch {
    const unsigned char *observes; /* function -> true if it or a callee reads memory that other threads write */
    uint32_t *node;                /* register -> its node + 1; 0 if it is not in the loop */
    unsigned char *written;        /* register -> true if the loop writes it */
    unsigned char *seen;           /* block */
    uint32_t *blocks;              /* stack of blocks */
    struct slot *slots;
};

/* Data flow within one loop. Nodes are numbered: first the registers, then the slots, then the calls of the loop. */
struct flow {
    struct ir *ir;
    const struct loop *loop;
    const struct scratch *s;
    const uint32_t *blocks;
    uint32_t n_blocks, n_regs, n_slots, n_nodes;
    struct cfg_edge *edges;
    /* edge -> true if the target's value stays the same when the operation of the edge is repeated */
    unsigned char *copies;
    uint32_t n_edges, cap_edges, cap_copies;
    struct cfg g;
    unsigned char *kind; /* node -> set of POLLS, ADVANCES, STEPS */
    uint32_t *stack;
};

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

/* Returns true if the instruction can observe what other threads wrote. */
static bool observes_others(const struct inst *in) {
    if (in->kind == K_ATOM)
        return true;
    return in->kind == K_LOAD && inst_is_strong(in) && in->space != SPACE_LOCAL && in->space != SPACE_PARAM &&
           in->space != SPACE_CONST;
}

static bool calls_observer(const struct ir *ir, const struct inst *in, const unsigned char *flags) {
    if (in->kind != K_CALL)
        return false;
    if (in->target != UINT32_MAX)
        return flags[in->target];
    for (uint32_t f = 0; f < ir->n_functions; f++)
        if (flags[f] && ir->functions[f].address_taken)
            return true;
    return false;
}

/* ---- the graph ---- */

static void add_edge(struct flow *f, uint32_t from, uint32_t to, bool copy) {
    f->copies = IR_ROOM(f->ir, f->copies, f->n_edges, f->cap_copies);
    f->edges = IR_ROOM(f->ir, f->edges, f->n_edges, f->cap_edges);
    f->copies[f->n_edges] = copy;
    f->edges[f->n_edges++] = (struct cfg_edge){from, to};
}

static uint32_t node_of(const struct flow *f, uint32_t reg) { return f->s->node[reg] - 1; }

static bool is_fixed(const struct flow *f, opnd_t base) { return base & 1 || !f->s->written[base >> 1]; }

/* Returns the node of the slot that `in` accesses, or NO_NODE if the loop does not store to it. */
static uint32_t slot_of(const struct flow *f, const struct inst *in) {
    for (uint32_t i = 0; i < f->n_slots; i++)
        if (f->s->slots[i].base == in->a && f->s->slots[i].offset == in->imm && f->s->slots[i].space == in->space)
            return f->n_regs + i;
    return NO_NODE;
}

static uint32_t call_node(const struct flow *f, uint32_t k) { return f->n_regs + f->n_slots + k; }

/* Returns true for idempotent operations: repeating one changes nothing. */
static bool is_idempotent(const struct inst *in) {
    if (in->kind == K_CVT || in->kind == K_LOAD || in->kind == K_STORE)
        return true;
    if (in->kind != K_LANE)
        return false;
    switch (row_of(in)->op) {
    case OP_MOV:
    case OP_SELP:
    case OP_AND:
    case OP_OR:
    case OP_MIN:
    case OP_MAX:
        return true;
    default:
        return false;
    }
}

/* Returns true if the atomic uses `reg` only as the new value to store, which does not affect the value that the atomic
 * returns. */
static bool is_stored_value_only(const struct inst *in, uint32_t reg) {
    if (in->kind != K_ATOM || in->n_list)
        return false;
    unsigned how = form_get(row_of(in)->form, CAT_OPN);
    if (how == OPN_CAS)
        return in->c == reg << 1 && in->b != reg << 1 && in->a != reg << 1;
    return how == OPN_EXCH && in->b == reg << 1 && in->a != reg << 1;
}

/* Adds edges through a call: arguments are stored right before it, and results are loaded right after it. */
static void add_call(struct flow *f, uint32_t k) {
    const struct ir *ir = f->ir;
    const struct block *b = &ir->blocks[f->blocks[k]];
    uint32_t slot;
    if (ir->code[b->end - 1].kind != K_CALL)
        return;
    for (uint32_t i = b->begin; i < b->end; i++)
        if (ir->code[i].kind == K_STORE && (slot = slot_of(f, &ir->code[i])) != NO_NODE)
            add_edge(f, slot, call_node(f, k), false);
    if (b->end >= ir->n || !loop_has(f->loop, ir->info[b->end].block))
        return;
    for (uint32_t i = b->end; i < ir->blocks[ir->info[b->end].block].end; i++) {
        const struct inst *in = &ir->code[i];
        const struct inst_info *info = &ir->info[i];
        if (in->kind != K_LOAD || in->space != SPACE_LOCAL || slot_of(f, in) != NO_NODE)
            continue;
        for (unsigned d = 0; d < info->n_writes; d++)
            add_edge(f, call_node(f, k), node_of(f, ir->regs[info->regs + info->n_reads + d]), false);
    }
}

static void add_inst(struct flow *f, uint32_t i) {
    const struct ir *ir = f->ir;
    const struct inst *in = &ir->code[i];
    const struct inst_info *info = &ir->info[i];
    const uint32_t *r = ir->regs + info->regs;
    uint32_t slot = in->kind == K_LOAD || in->kind == K_STORE ? slot_of(f, in) : NO_NODE;
    bool copy = is_idempotent(in);
    for (unsigned d = info->n_reads; d < (unsigned)info->n_reads + info->n_writes; d++) {
        for (unsigned s = 0; s < info->n_reads; s++)
            if (!is_stored_value_only(in, r[s]))
                add_edge(f, node_of(f, r[s]), node_of(f, r[d]), (copy && in->kind != K_LOAD) || r[s] == in->guard);
        if (in->kind == K_LOAD && slot != NO_NODE)
            add_edge(f, slot, node_of(f, r[d]), true);
    }
    for (unsigned s = 0; in->kind == K_STORE && slot != NO_NODE && s < info->n_reads; s++)
        if (in->a & 1 || r[s] != in->a >> 1)
            add_edge(f, node_of(f, r[s]), slot, true);
}

static void find_slots(struct flow *f) {
    const struct ir *ir = f->ir;
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++) {
            const struct inst *in = &ir->code[i];
            if (in->kind == K_STORE && f->n_slots < MAX_SLOTS && is_fixed(f, in->a) && slot_of(f, in) == NO_NODE)
                f->s->slots[f->n_slots++] = (struct slot){in->a, in->imm, in->space};
        }
}

/* Assigns nodes to the registers that the loop uses if `on` is set. Clears these nodes otherwise. */
static void name_regs(struct flow *f, bool on) {
    const struct ir *ir = f->ir;
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++) {
            const struct inst_info *info = &ir->info[i];
            for (unsigned n = 0; n < (unsigned)info->n_reads + info->n_writes; n++) {
                uint32_t reg = ir->regs[info->regs + n];
                if (!f->s->node[reg] || !on)
                    f->s->node[reg] = on ? ++f->n_regs : 0;
                if (n >= info->n_reads || !on)
                    f->s->written[reg] = on;
            }
        }
}

static void build(struct flow *f) {
    const struct ir *ir = f->ir;
    name_regs(f, true);
    find_slots(f);
    f->n_nodes = f->n_regs + f->n_slots + f->n_blocks;
    for (uint32_t k = 0; k < f->n_blocks; k++) {
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++)
            add_inst(f, i);
        add_call(f, k);
    }
    f->g = cfg_from_edges(ir->tmp, f->n_nodes, f->edges, f->n_edges);
    f->kind = arena_array(ir->tmp, (size_t)f->n_nodes + 1, 1);
    f->stack = arena_array(ir->tmp, (size_t)f->n_nodes + 1, sizeof *f->stack);
}

/* ---- values that change per iteration ---- */

/* Adds `kind` to node `from` and everything that depends on it. Returns true if anything changed. */
static bool spread(struct flow *f, uint32_t from, unsigned char kind) {
    uint32_t top = 0;
    if ((f->kind[from] & kind) == kind)
        return false;
    f->kind[from] |= kind;
    f->stack[top++] = from;
    while (top) {
        uint32_t k = f->stack[--top];
        for (uint32_t e = f->g.succ_first[k]; e < f->g.succ_first[k + 1]; e++)
            if ((f->kind[f->g.succ[e]] & kind) != kind) {
                f->kind[f->g.succ[e]] |= kind;
                f->stack[top++] = f->g.succ[e];
            }
    }
    return true;
}

/* Returns the nodes in postorder of a depth-first walk. */
static uint32_t *postorder(const struct flow *f) {
    uint32_t *order = arena_array(f->ir->tmp, (size_t)f->n_nodes + 1, sizeof *order), n = 0, top = 0;
    uint32_t *next = arena_array(f->ir->tmp, (size_t)f->n_nodes + 1, sizeof *next);
    unsigned char *seen = arena_array(f->ir->tmp, (size_t)f->n_nodes + 1, 1);
    for (uint32_t v = 0; v < f->n_nodes; v++) {
        if (seen[v])
            continue;
        seen[v] = 1;
        next[v] = f->g.succ_first[v];
        f->stack[top++] = v;
        while (top) {
            uint32_t k = f->stack[top - 1];
            if (next[k] == f->g.succ_first[k + 1]) {
                order[n++] = k;
                top--;
                continue;
            }
            uint32_t to = f->g.succ[next[k]++];
            if (!seen[to]) {
                seen[to] = 1;
                next[to] = f->g.succ_first[to];
                f->stack[top++] = to;
            }
        }
    }
    return order;
}

/* Returns an array: node -> number of its strongly connected component (Kosaraju). */
static uint32_t *components(const struct flow *f) {
    const uint32_t *order = postorder(f);
    uint32_t *of = arena_array(f->ir->tmp, (size_t)f->n_nodes + 1, sizeof *of), n = 0, top = 0;
    for (uint32_t i = f->n_nodes; i-- > 0;) {
        if (of[order[i]])
            continue;
        of[order[i]] = ++n;
        f->stack[top++] = order[i];
        while (top) {
            uint32_t k = f->stack[--top];
            for (uint32_t e = f->g.pred_first[k]; e < f->g.pred_first[k + 1]; e++)
                if (!of[f->g.pred[e]]) {
                    of[f->g.pred[e]] = n;
                    f->stack[top++] = f->g.pred[e];
                }
        }
    }
    return of;
}

/* Marks values that are computed from their own previous value. */
static void find_counters(struct flow *f) {
    const uint32_t *of = components(f);
    for (uint32_t e = 0; e < f->n_edges; e++)
        if (!f->copies[e] && of[f->edges[e].from] == of[f->edges[e].to])
            spread(f, f->edges[e].from, STEPS);
}

/* Marks values that change per iteration: counters, and clocks. */
static void find_steps(struct flow *f) {
    const struct ir *ir = f->ir;
    find_counters(f);
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++)
            if (ir->code[i].kind == K_WARP && row_of(&ir->code[i])->op == OP_SREG && ir->info[i].n_writes)
                spread(f, node_of(f, ir->regs[ir->info[i].regs + ir->info[i].n_reads]), STEPS);
}

/* ---- values that depend on others ---- */

/* Returns the kind that the instruction itself gives to its results. Its operands can add kinds later. */
static unsigned char result_kind(const struct flow *f, const struct inst *in) {
    if (!observes_others(in) || (in->kind == K_LOAD && slot_of(f, in) != NO_NODE))
        return 0;
    unsigned how = in->kind == K_ATOM ? form_get(row_of(in)->form, CAT_OPN) : OPN_NONE;
    bool adds = how == OPN_ADD || how == OPN_INC || how == OPN_DEC;
    bool zero = false;
    if (adds && in->b & 1) { /* adding 0 is a read */
        uint32_t word;
        memcpy(&word, f->ir->constants + (in->b >> 1), sizeof word);
        zero = !word;
    }
    return adds && !zero ? ADVANCES : POLLS;
}

/* Returns true for a comparison that orders its operands (such as less-than), not one for equality or inequality.
 * Repeated atomic additions exceed any bound in the end, but may skip a single value. */
static bool compares_with_bound(const struct inst *in) {
    if (in->kind != K_LANE || row_of(in)->op != OP_SETP)
        return false;
    unsigned how = form_get(row_of(in)->form, CAT_CMP);
    return how != CMP_EQ && how != CMP_NE && how != CMP_EQU && how != CMP_NEU;
}

static void seed_polls(struct flow *f) {
    const struct ir *ir = f->ir;
    for (uint32_t k = 0; k < f->n_blocks; k++) {
        const struct block *b = &ir->blocks[f->blocks[k]];
        for (uint32_t i = b->begin; i < b->end; i++) {
            const struct inst_info *info = &ir->info[i];
            unsigned char kind = result_kind(f, &ir->code[i]);
            for (unsigned d = 0; kind && d < info->n_writes; d++) {
                uint32_t node = node_of(f, ir->regs[info->regs + info->n_reads + d]);
                if (!(f->kind[node] & STEPS))
                    spread(f, node, kind);
            }
        }
        if (calls_observer(ir, &ir->code[b->end - 1], f->s->observes) && !(f->kind[call_node(f, k)] & STEPS))
            spread(f, call_node(f, k), POLLS);
    }
}

/* Marks as STEPS the comparisons of an atomic addition's result with a bound: a loop that ends by such a comparison
 * does not wait for other threads. */
static void drop_bounds(struct flow *f) {
    const struct ir *ir = f->ir;
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++) {
            const struct inst_info *info = &ir->info[i];
            const uint32_t *r = ir->regs + info->regs;
            unsigned char kind = 0;
            if (!compares_with_bound(&ir->code[i]))
                continue;
            for (unsigned s = 0; s < info->n_reads; s++)
                kind |= f->kind[node_of(f, r[s])];
            if (kind & ADVANCES && !(kind & POLLS))
                for (unsigned d = info->n_reads; d < (unsigned)info->n_reads + info->n_writes; d++)
                    f->kind[node_of(f, r[d])] |= STEPS;
        }
}

/* Marks values written between block `b` and its post-dominator: they depend on b's branch. */
static bool spread_control(struct flow *f, uint32_t b) {
    const struct ir *ir = f->ir;
    uint32_t *stack = f->s->blocks, top = 0;
    unsigned char *seen = f->s->seen;
    bool fresh = false;
    memset(seen, 0, ir->n_blocks);
    stack[top++] = b;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t i = ir->blocks[k].begin; k != b && i < ir->blocks[k].end; i++) {
            const struct inst_info *info = &ir->info[i];
            uint32_t slot = ir->code[i].kind == K_STORE ? slot_of(f, &ir->code[i]) : NO_NODE;
            for (unsigned d = 0; d < info->n_writes; d++)
                fresh |= spread(f, node_of(f, ir->regs[info->regs + info->n_reads + d]), POLLS);
            fresh |= slot != NO_NODE && spread(f, slot, POLLS);
        }
        for (uint32_t e = ir->cfg.succ_first[k]; e < ir->cfg.succ_first[k + 1]; e++) {
            uint32_t to = ir->cfg.succ[e];
            if (to == ir->blocks[b].ipdom || to == f->loop->header || seen[to] || !loop_has(f->loop, to))
                continue;
            seen[to] = 1;
            stack[top++] = to;
        }
    }
    return fresh;
}

/* Returns the kind of the value that decides the branch at the end of block `b`. */
static unsigned char decides(const struct flow *f, uint32_t b) {
    const struct inst *last = &f->ir->code[f->ir->blocks[b].end - 1];
    unsigned char kind = 0;
    if (last->guard != NO_GUARD && f->s->node[last->guard])
        kind = f->kind[node_of(f, last->guard)];
    if (last->kind == K_BRX && !(last->a & 1) && f->s->node[last->a >> 1])
        kind |= f->kind[node_of(f, last->a >> 1)];
    return kind;
}

static bool is_polled(unsigned char kind) { return kind & (POLLS | ADVANCES) && !(kind & STEPS); }

static void spread_all(struct flow *f) {
    const struct ir *ir = f->ir;
    seed_polls(f);
    drop_bounds(f);
    for (bool fresh = true; fresh;) {
        fresh = false;
        for (uint32_t k = 0; k < f->n_blocks; k++) {
            uint32_t b = f->blocks[k];
            bool inside = ir->cfg.succ_first[b + 1] - ir->cfg.succ_first[b] > 1;
            for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
                inside &= loop_has(f->loop, ir->cfg.succ[e]);
            if (inside && is_polled(decides(f, b)))
                fresh |= spread_control(f, b);
        }
    }
}

/* ---- loops ---- */

/* Returns true if the loop reads memory that other threads change, and has no CTA barrier. */
static bool may_wait(const struct ir *ir, const struct flow *f) {
    bool asking = false;
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++) {
            if (ir->code[i].kind == K_BARRIER)
                return false;
            asking |= observes_others(&ir->code[i]) || calls_observer(ir, &ir->code[i], f->s->observes);
        }
    return asking;
}

/* Returns true if an exit of the loop depends on polled memory, and no exit depends on the iteration count. */
static bool ends_by_polling(const struct flow *f) {
    const struct ir *ir = f->ir;
    bool polled = false;
    for (uint32_t e = 0; e < f->loop->n_exits; e++) {
        unsigned char kind = decides(f, f->loop->exits[e].from);
        if (kind & STEPS)
            return false;
        polled |= is_polled(kind);
    }
    /* blocks that end with exit or ret leave the loop, too, without an edge of the graph */
    for (uint32_t k = 0; k < f->n_blocks; k++) {
        const struct inst *last = &ir->code[ir->blocks[f->blocks[k]].end - 1];
        if (last->kind != K_EXIT && last->kind != K_RET)
            continue;
        if (decides(f, f->blocks[k]) & STEPS)
            return false;
        polled |= is_polled(decides(f, f->blocks[k]));
    }
    return polled;
}

static bool loop_waits(struct ir *ir, const struct loop *loop, const uint32_t *blocks, uint32_t n_blocks,
                       const struct scratch *s) {
    struct flow f = {.ir = ir, .loop = loop, .s = s, .blocks = blocks, .n_blocks = n_blocks};
    if (!may_wait(ir, &f))
        return false;
    build(&f);
    find_steps(&f);
    spread_all(&f);
    bool waits = ends_by_polling(&f);
    name_regs(&f, false);
    return waits;
}

/* Fills `list` with the blocks of each loop: list[first[i]] to list[first[i + 1] - 1]. Returns `first`. */
static uint32_t *blocks_by_loop(struct ir *ir, const struct loops *l, uint32_t **list) {
    uint32_t *first = arena_array(ir->tmp, (size_t)l->n + 2, sizeof *first), *at;
    for (uint32_t i = 0; i < l->n; i++)
        first[i + 1] = first[i] + l->list[i].n_blocks;
    *list = arena_array(ir->tmp, (size_t)first[l->n] + 1, sizeof **list);
    at = arena_array(ir->tmp, (size_t)l->n + 1, sizeof *at);
    memcpy(at, first, l->n * sizeof *at);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t i = l->of[b]; i != NO_LOOP; i = l->list[i].parent)
            (*list)[at[i]++] = b;
    return first;
}

static struct scratch new_scratch(struct ir *ir) {
    return (struct scratch){.node = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof(uint32_t)),
                            .written = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1),
                            .seen = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1),
                            .blocks = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof(uint32_t)),
                            .slots = arena_array(ir->tmp, MAX_SLOTS, sizeof(struct slot))};
}

struct waits find_waits(struct ir *ir, const struct loops *l) {
    struct waits w;
    unsigned char *observes = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    bool any = false;
    w.loop = arena_array(ir->tmp, (size_t)l->n + 1, 1);
    w.block = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1);
    w.function = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    for (uint32_t i = 0; i < ir->n; i++)
        if (observes_others(&ir->code[i])) {
            any = true;
            observes[ir->info[i].function] = 1;
            if (l->irregular[ir->info[i].block])
                w.block[ir->info[i].block] = w.function[ir->info[i].function] = 1;
        }
    if (!any)
        return w;
    ir_mark_callers(ir, observes);
    uint32_t *list, *first = blocks_by_loop(ir, l, &list);
    struct scratch s = new_scratch(ir);
    s.observes = observes;
    for (uint32_t i = 0; i < l->n; i++)
        if (loop_waits(ir, &l->list[i], list + first[i], first[i + 1] - first[i], &s))
            w.loop[i] = w.function[ir->blocks[l->list[i].header].function] = 1;
    ir_mark_callers(ir, w.function);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        w.block[b] |= calls_observer(ir, &ir->code[ir->blocks[b].end - 1], w.function);
    return w;
}

/* ---- loops that wait for a clock ---- */

static bool reads_clock(const struct inst *in) {
    return in->kind == K_WARP && row_of(in)->op == OP_SREG && in->imm >= SPECIAL_CLOCK &&
           in->imm <= SPECIAL_GLOBALTIMER_HI;
}

/* Returns true for instructions that no other thread notices, and that do not depend on other threads. */
static bool is_own(const struct inst *in) {
    if (in->kind == K_LOAD || in->kind == K_STORE)
        return in->space == SPACE_LOCAL || in->space == SPACE_PARAM || in->space == SPACE_CONST;
    return in->kind == K_LANE || in->kind == K_CVT || in->kind == K_NOP || in->kind == K_BRANCH || reads_clock(in) ||
           (in->kind == K_WARP && row_of(in)->op == OP_NANOSLEEP);
}

/* Marks the clock reads of a loop that does nothing but wait: a clock decides each of its exits, and no counter. */
static void mark_clock_loop(struct ir *ir, struct flow *f) {
    bool reads = false;
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++) {
            if (!is_own(&ir->code[i]))
                return;
            reads |= reads_clock(&ir->code[i]);
        }
    if (!reads)
        return;
    build(f);
    find_counters(f);
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++)
            if (reads_clock(&ir->code[i]) && ir->info[i].n_writes)
                spread(f, node_of(f, ir->regs[ir->info[i].regs + ir->info[i].n_reads]), CLOCK);
    bool by_clock = f->loop->n_exits > 0;
    for (uint32_t e = 0; e < f->loop->n_exits; e++)
        by_clock &= (decides(f, f->loop->exits[e].from) & (CLOCK | STEPS)) == CLOCK;
    for (uint32_t k = 0; k < f->n_blocks; k++)
        for (uint32_t i = ir->blocks[f->blocks[k]].begin; i < ir->blocks[f->blocks[k]].end; i++)
            ir->info[i].waits |= by_clock && reads_clock(&ir->code[i]);
    name_regs(f, false);
}

static void find_clock_loops(struct ir *ir, const struct loops *l) {
    bool any = false;
    for (uint32_t i = 0; i < ir->n; i++)
        any |= reads_clock(&ir->code[i]);
    if (!any || !l->n)
        return;
    uint32_t *list, *first = blocks_by_loop(ir, l, &list);
    const struct scratch s = new_scratch(ir);
    for (uint32_t i = 0; i < l->n; i++) {
        struct flow f = {.ir = ir, .loop = &l->list[i], .s = &s};
        f.blocks = list + first[i];
        f.n_blocks = first[i + 1] - first[i];
        mark_clock_loop(ir, &f);
    }
}

bool pass_waits(struct ir *ir) {
    struct dom_tree dom = ir_dominators(ir);
    struct loops l = find_loops(ir->tmp, &ir->cfg, &dom);
    struct waits w = find_waits(ir, &l);
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        uint32_t last = ir->blocks[b].end - 1;
        const struct inst *in = &ir->code[last];
        if (in->kind != K_BRANCH || ir->blocks[in->target].begin > last)
            continue;
        uint32_t i = l.of[in->target];
        bool back = i != NO_LOOP && loop_has(&l.list[i], b) && w.loop[i];
        bool cycle = l.irregular[b] && w.function[ir->blocks[b].function];
        ir->info[last].waits = back || cycle;
        if (back || cycle)
            ir_note(ir, last, "the loop of line %u waits for other threads",
                    ir->info[ir->blocks[back ? l.list[i].header : in->target].begin].line);
    }
    find_clock_loops(ir, &l);
    return true;
}
