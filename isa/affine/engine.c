/* Implements the control flow of the affine warp: its stack, branches, exits and markers. A marker is a CTA barrier in
 * the affine stream: no thread waits there, but the engine counts the markers that threads pass. */
#include "engine_parts.h"
#include <assert.h>
#include <stdlib.h>

/* ---- creation and start ---- */

static void *zeroed_memory(void *ctx, size_t bytes) {
    (void)ctx;
    return calloc(1, bytes);
}

/* Uses the decoded stream of the program. If the program has none, because a test built it without the compiler, the
 * engine decodes the stream itself. */
static bool find_stream(struct affine_engine *e) {
    if (e->program->affine) {
        e->stream = *e->program->affine;
        return true;
    }
    e->owns_stream = true;
    return affine_stream_init(&e->stream, e->program, zeroed_memory, NULL);
}

/* Allocates the registers. Each kind of data is one array, so that there are few allocations: an engine is created for
 * each launch. */
static bool make_registers(struct affine_engine *e) {
    const struct affine_stream *s = &e->stream;
    const size_t warps = (size_t)e->max_ctas * e->shape.n_warps;
    size_t numbers = 0;
    for (uint32_t k = 0; k < s->n_regs; k++)
        numbers += s->regs[k].bits != 0;
    e->n_cells = numbers * e->max_ctas;
    e->regs = calloc(s->n_regs + 1, sizeof *e->regs);
    e->cells = calloc(e->n_cells + 1, sizeof *e->cells);
    e->preds = calloc((s->n_regs - numbers) * warps + 1, sizeof *e->preds);
    e->compares = calloc((s->n_regs - numbers) * warps + 1, sizeof *e->compares);
    e->memos = calloc(s->end - s->begin + 1, sizeof *e->memos);
    if (!e->regs || !e->cells || !e->preds || !e->compares || !e->memos)
        return false;
    for (size_t k = 0; k < e->n_cells; k++)
        cell_init(&e->cells[k]);
    struct affine_cell *cell = e->cells;
    size_t pred = 0;
    for (uint32_t k = 0; k < s->n_regs; k++) {
        struct affine_reg *r = &e->regs[k];
        *r = (struct affine_reg){.offset = s->regs[k].offset, .bits = s->regs[k].bits};
        if (r->bits) {
            r->cells = cell;
            cell += e->max_ctas;
        } else {
            r->pred = e->preds + pred;
            r->compare = e->compares + pred;
            pred += warps;
        }
    }
    for (uint32_t i = 0; i < s->end - s->begin; i++)
        e->memos[i].tries = s->ops[i].rule == RULE_NONE || s->ops[i].guard != NO_REG ? 0 : MEMO_TRIES;
    return true;
}

static bool allocate(struct affine_engine *e) {
    size_t warps = (size_t)e->max_ctas * e->shape.n_warps;
    const struct program *p = e->program;
    e->bank = aligned_alloc(64, ((size_t)p->reg_bytes + SINK_BYTES + 63) / 64 * 64);
    e->pieces = calloc(MAX_PIECES, sizeof *e->pieces);
    e->live = calloc(warps, sizeof *e->live);
    e->rest = calloc(warps, sizeof *e->rest);
    e->no_lanes = calloc(warps, sizeof *e->no_lanes);
    e->taken = calloc(warps, sizeof *e->taken);
    e->markers = calloc(warps, sizeof *e->markers);
    e->thread_markers = calloc(warps * WARP_LANES, sizeof *e->thread_markers);
    e->entries = calloc(warps, sizeof *e->entries);
    if (!e->bank || !e->pieces || !e->live || !e->rest || !e->no_lanes || !e->taken || !e->markers ||
        !e->thread_markers || !e->entries)
        return false;
    memset(e->bank, 0, p->reg_bytes);
    return find_stream(e) && make_registers(e);
}

struct affine_engine *engine_new(const struct launch *l, uint32_t ctas, uint32_t first) {
    struct affine_engine *e = aligned_alloc(_Alignof(struct affine_engine), sizeof *e);
    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    e->launch = l;
    e->program = l->program;
    e->first = first;
    e->max_ctas = ctas;
    affine_shape_init(&e->shape, l->block, launch_lanes(l));
    if (!allocate(e)) {
        engine_free(e);
        return NULL;
    }
    e->cta = (struct cta){.launch = l, .n_threads = dim3_count(l->block), .shared_bytes = launch_shared_bytes(l)};
    e->warp = (struct warp){.bank = {e->bank, e->program->constants}, .program = e->program, .cta = &e->cta};
    e->warp.launched = e->warp.live = LANES_ALL;
    return e;
}

static void drop_entries(struct affine_engine *e) {
    for (uint32_t w = 0; e->has_exact && w < e->n_warps; w++)
        affine_entry_free(&e->entries[w]);
    e->has_exact = false;
}

void engine_free(struct affine_engine *e) {
    if (!e)
        return;
    drop_entries(e);
    for (size_t k = 0; e->cells && k < e->n_cells; k++)
        cell_free(&e->cells[k]);
    for (uint32_t i = 0; i < e->cap_depth; i++)
        free(e->stack[i].lanes);
    free(e->stack);
    if (e->owns_stream) {
        free(e->stream.ops);
        free(e->stream.reg_at);
        free(e->stream.regs);
        free(e->stream.live_regs);
    }
    free(e->memos);
    free(e->regs);
    free(e->cells);
    free(e->preds);
    free(e->compares);
    free(e->entries);
    free(e->thread_markers);
    free(e->markers);
    free(e->taken);
    free(e->no_lanes);
    free(e->rest);
    free(e->live);
    free(e->pieces);
    free(e->bank);
    free(e);
}

const struct affine_shape *engine_shape(const struct affine_engine *e) { return &e->shape; }

static bool push(struct affine_engine *e, uint32_t pc, uint32_t rpc, const rowmask_t *lanes) {
    if (e->depth == e->cap_depth) {
        uint32_t cap = e->cap_depth ? 2 * e->cap_depth : 8;
        struct stack_entry *more = realloc(e->stack, cap * sizeof *more);
        if (!more)
            return false;
        e->stack = more;
        for (; e->cap_depth < cap; e->cap_depth++)
            if (!(more[e->cap_depth].lanes = calloc((size_t)e->max_ctas * e->shape.n_warps, sizeof *lanes)))
                return false;
    }
    struct stack_entry *s = &e->stack[e->depth++];
    s->pc = pc;
    s->rpc = rpc;
    memcpy(s->lanes, lanes, e->n_warps * sizeof *lanes);
    e->top_known = false;
    return true;
}

static void start_special(struct affine_engine *e, const struct special_init *i, const struct dim3 *ids) {
    struct affine_reg *r = &e->regs[e->stream.reg_at[i->offset / sizeof(rowmask_t)]];
    enum special s = i->id;
    const bool by_cta = s >= SPECIAL_CTAID_X && s <= SPECIAL_CTAID_Z;
    r->by_cta = by_cta ? CTA_LINEAR : CTA_SAME;
    r->tag = by_cta ? 0 : TAG_SPECIAL + (uint32_t)s;
    for (uint32_t c = 0; c < e->n_ctas; c++) {
        struct affine_tuple *t = &r->cells[c].v[0];
        e->cta.id = ids[c];
        cell_set(&r->cells[c], &(struct affine_tuple){0});
        if (s <= SPECIAL_TID_Z)
            t->off[s - SPECIAL_TID_X] = 1;
        else
            t->base = warp_special(&e->warp, s);
    }
}

/* Zeroes the registers that a thread may read before it writes them. Other registers keep values of an earlier batch,
 * which nothing reads. */
static void start_registers(struct affine_engine *e) {
    const uint64_t *read_first = e->stream.live_regs; /* the registers that are live at the first instruction */
    for (uint32_t k = 0; k < e->stream.n_regs; k++) {
        struct affine_reg *r = &e->regs[k];
        r->by_cta = CTA_SAME;
        r->sent = r->tag = 0;
        r->uniform = UINT32_MAX;
        if (!(read_first[k / 64] >> k % 64 & 1))
            continue;
        for (uint32_t c = 0; r->cells && c < e->n_ctas; c++)
            cell_set(&r->cells[c], &(struct affine_tuple){0});
        if (r->pred) {
            memset(r->pred, 0, e->n_warps * sizeof *r->pred);
            memset(r->compare, 0, e->n_warps * sizeof *r->compare);
        }
    }
}

bool engine_start(struct affine_engine *e, const struct dim3 *ids, uint32_t n) {
    assert(n && n <= e->max_ctas);
    drop_entries(e);
    e->to = NULL;
    e->n_ctas = n;
    e->n_warps = n * e->shape.n_warps;
    for (uint32_t c = 0; c < n; c++)
        memcpy(e->live + (size_t)c * e->shape.n_warps, e->shape.launched, e->shape.n_warps * sizeof *e->live);
    memset(e->markers, 0, e->n_warps * sizeof *e->markers);
    if (e->has_thread_markers)
        memset(e->thread_markers, 0, (size_t)e->max_ctas * e->shape.n_warps * WARP_LANES * sizeof *e->thread_markers);
    e->has_thread_markers = false;
    start_registers(e);
    for (uint32_t k = 0; k < e->program->n_specials; k++)
        start_special(e, &e->program->specials[k], ids);
    e->sent = 0;
    e->depth = 0;
    e->out_of_memory = !push(e, e->stream.begin, PC_EXIT, e->live);
    return !e->out_of_memory;
}

void engine_send_to(struct affine_engine *e, struct supply *to, uint32_t cta) {
    e->to = to;
    e->to_first = cta * e->shape.n_warps;
}

/* ---- control ---- */

static bool any_lanes(const rowmask_t *lanes, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (lanes[i])
            return true;
    return false;
}

/* Pops paths that have reached their reconvergence point or have no threads left. */
static void pop_finished(struct affine_engine *e) {
    while (e->depth) {
        const struct stack_entry *top = &e->stack[e->depth - 1];
        if (top->pc != top->rpc && any_lanes(top->lanes, e->n_warps))
            return;
        e->depth--;
        e->top_known = false;
    }
}

static void advance(struct affine_engine *e, uint32_t next) {
    e->stack[e->depth - 1].pc = next;
    if (next == e->stack[e->depth - 1].rpc)
        pop_finished(e);
}

/* Returns a group with the threads `lanes`. */
static struct affine_group group_of(const struct affine_engine *e, const rowmask_t *lanes) {
    struct affine_group g = {.lanes = lanes};
    const rowmask_t *live = e->live;
    for (uint32_t c = 0; c < e->n_ctas; c++) {
        rowmask_t any = 0, missing = 0;
        for (uint32_t w = 0; w < e->shape.n_warps; w++) {
            any |= lanes[w];
            missing |= live[w] & ~lanes[w];
        }
        g.some |= (uint32_t)(any != 0) << c;
        g.whole |= (uint32_t)(missing == 0) << c;
        lanes += e->shape.n_warps;
        live += e->shape.n_warps;
    }
    return g;
}

/* Returns the group of the stack's top entry. */
static inline const struct affine_group *top_group(struct affine_engine *e) {
    if (!e->top_known)
        e->top = group_of(e, e->stack[e->depth - 1].lanes);
    e->top_known = true;
    return &e->top;
}

/* Returns the group of those threads of the stack's top entry for which the guard is true. */
static struct affine_group guarded(struct affine_engine *e, const struct affine_op *op) {
    const struct affine_group *top = top_group(e);
    if (op->guard == NO_REG)
        return *top;
    const struct affine_reg *r = &e->regs[op->guard];
    const rowmask_t *p = r->pred, turn = op->guard_not ? LANES_ALL : 0;
    if (!(e->top.some & ~r->uniform)) { /* all threads of each CTA have the same guard value */
        uint32_t holds = 0;
        for (uint32_t left = e->top.some; left; left &= left - 1) {
            uint32_t c = (uint32_t)__builtin_ctz(left);
            holds |= ((p[c * e->shape.n_warps] ^ turn) & 1) << c;
        }
        if (holds == e->top.some)
            return e->top;
        if (!holds)
            return (struct affine_group){.lanes = e->no_lanes};
    }
    rowmask_t any = 0, missing = 0;
    for (uint32_t i = 0; i < e->n_warps; i++) {
        const rowmask_t all = e->top.lanes[i], taken = all & (p[i] ^ turn);
        e->taken[i] = taken;
        any |= taken;
        missing |= all ^ taken;
    }
    if (!missing)
        return e->top;
    return any ? group_of(e, e->taken) : (struct affine_group){.lanes = e->no_lanes};
}

/* Executes branches in the same order as the reconvergence stack of warps (isa/paths/reconv_spe.c). Queue entries are
 * therefore sent in the order in which the warps take them. */
static bool branch(struct affine_engine *e, const struct inst *in, const rowmask_t *taken, struct affine_step *step) {
    struct stack_entry *top = &e->stack[e->depth - 1];
    rowmask_t *rest = e->rest, some = 0, others = 0, both = 0;
    if (taken == top->lanes || taken == e->no_lanes) {
        advance(e, taken == top->lanes ? in->target : step->pc + 1);
        return true;
    }
    for (uint32_t i = 0; i < e->n_warps; i++) {
        rest[i] = top->lanes[i] & ~taken[i];
        some |= taken[i];
        others |= rest[i];
        both |= taken[i] && rest[i];
    }
    step->splits_threads = both;
    step->splits_warps = some && others;
    if (!some || !others) {
        advance(e, some ? in->target : step->pc + 1);
        return true;
    }
    uint32_t rpc = in->rpc == PC_EXIT ? top->rpc : in->rpc;
    if (rpc == top->rpc)
        e->depth--;
    else
        top->pc = rpc;
    e->top_known = false;
    const bool fall_first = e->first == 1;
    bool fine = true;
    for (int k = 0; k < 2 && fine; k++) {
        /* the path that is pushed last runs first, so the path that runs second is pushed first */
        bool jumps = (k == 0) == fall_first;
        uint32_t to = jumps ? in->target : step->pc + 1;
        if (to != rpc)
            fine = push(e, to, rpc, jumps ? taken : rest);
    }
    pop_finished(e);
    return fine;
}

static void exit_lanes(struct affine_engine *e, const rowmask_t *lanes, uint32_t next) {
    e->stack[e->depth - 1].pc = next;
    e->top_known = false;
    for (uint32_t i = 0; i < e->n_warps; i++)
        e->live[i] &= ~lanes[i];
    for (uint32_t k = 0; k < e->depth;
         /* The loop uses `live` and not `lanes` as its mask, because `lanes` may point to a mask that the loop
          * changes. */
         k++)
        for (uint32_t i = 0; i < e->n_warps; i++)
            e->stack[k].lanes[i] &= e->live[i];
    pop_finished(e);
}

static void pass_marker(struct affine_engine *e, const rowmask_t *lanes) {
    for (uint32_t i = 0; i < e->n_warps; i++) {
        if (lanes[i] == e->live[i]) { /* all lanes of the warp that have not exited pass the marker together */
            e->markers[i]++;
            continue;
        }
        for (rowmask_t m = lanes[i]; m; m &= m - 1)
            e->thread_markers[i * WARP_LANES + (uint32_t)__builtin_ctz(m)]++;
        e->has_thread_markers = true;
    }
}

bool engine_done(const struct affine_engine *e) { return !e->depth && !e->out_of_memory; }

const struct inst *engine_next(const struct affine_engine *e) {
    return e->depth ? &e->program->code[e->stack[e->depth - 1].pc] : NULL;
}

static bool fail(struct affine_engine *e, struct affine_step *step) {
    const struct effects *fx = &e->fx;
    step->fault = e->out_of_memory ? FAULT_MEMORY : fx->fault;
    step->fault_address = fx->fault_address;
    step->fault_bytes = fx->fault_bytes;
    step->fault_space = fx->space;
    return false;
}

static bool run(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                struct affine_step *step) {
    const uint32_t next = step->pc + 1;
    bool fine = true;
    switch ((enum inst_kind)step->in->kind) {
    case K_LANE:
    case K_CVT:
    case K_LOAD:
        fine = engine_compute(e, op, g, step);
        break;
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
    case K_ENQ_PRED:
        fine = engine_send(e, op, g, (uint32_t[N_COMPARES]){0}, step);
        break;
    case K_BRANCH:
        return branch(e, step->in, g->lanes, step) || !(e->out_of_memory = true);
    case K_RET:
    case K_EXIT:
    case K_TRAP:
        exit_lanes(e, g->lanes, next);
        return true;
    case K_BARRIER:
        pass_marker(e, g->lanes);
        break;
    default:
        assert(step->in->kind == K_NOP || step->in->kind == K_FENCE || kind_is_convergence(step->in->kind) ||
               step->in->kind == K_WARPSYNC || step->in->kind == K_PREFETCH);
    }
    if (fine)
        advance(e, next);
    return fine;
}

bool engine_step(struct affine_engine *e, struct affine_step *step) {
    drop_entries(e);
    if (e->out_of_memory || !e->depth)
        return fail(e, step);
    const struct stack_entry *top = &e->stack[e->depth - 1];
    const struct affine_op *op = &e->stream.ops[top->pc - e->stream.begin];
    const struct inst *in = &e->program->code[top->pc];
    *step = (struct affine_step){.pc = top->pc, .in = in, .slots = 0};
    step->counts = !kind_is_convergence(in->kind) && !(in->hints & HINT_APART);
    step->waits = op->guard == NO_REG ? 0 : e->regs[op->guard].sent;
    const struct affine_group g = guarded(e, op);
    e->fx.fault = FAULT_NONE;
    bool fine = run(e, op, &g, step);
    if (!step->slots && step->counts)
        step->slots = 1;
    return fine || fail(e, step);
}

static bool branch_on(struct affine_engine *e, const struct affine_op *op, uint32_t pc, struct affine_tally *t,
                      struct affine_step *step) {
    const struct affine_group g = guarded(e, op);
    step->pc = pc;
    step->splits_threads = step->splits_warps = false;
    if (!branch(e, &op->in, g.lanes, step))
        return !(e->out_of_memory = true);
    t->n++;
    t->slots++;
    t->by_class[STEP_CONTROL]++;
    t->warp_divergences += step->splits_warps;
    t->thread_divergences += step->splits_threads;
    return true;
}

static bool send_on(struct affine_engine *e, const struct affine_op *op, uint32_t pc, struct affine_tally *t,
                    struct affine_step *step) {
    const struct affine_group g = guarded(e, op);
    drop_entries(e);
    step->pc = pc;
    step->class = STEP_CONTROL;
    step->slots = 0;
    if (!engine_send(e, op, &g, t->compared, step))
        return false;
    t->n++;
    t->slots += step->slots ? step->slots : 1;
    t->by_class[step->class]++;
    t->sent = true;
    advance(e, pc + 1);
    return true;
}

bool engine_compute_on(struct affine_engine *e, uint32_t most, struct affine_tally *t, struct affine_step *step) {
    for (; most && e->depth && !e->out_of_memory; most--) {
        const uint32_t pc = e->stack[e->depth - 1].pc;
        const struct affine_op *op = &e->stream.ops[pc - e->stream.begin];
        if (op->in.kind == K_BRANCH && !(op->in.hints & HINT_APART)) {
            if (!branch_on(e, op, pc, t, step))
                return fail(e, step);
            continue;
        }
        if (e->to && op->in.kind >= K_ENQ_DATA && op->in.kind <= K_ENQ_PRED)
            return send_on(e, op, pc, t, step) || fail(e, step);
        if (!op->plain)
            return true;
        step->fallbacks = step->slots = 0;
        if (!engine_compute(e, op, top_group(e), step)) {
            step->pc = pc;
            step->in = &e->program->code[pc];
            return fail(e, step);
        }
        t->n++;
        t->slots += step->slots;
        t->fallbacks += step->fallbacks;
        t->by_class[step->class]++;
        advance(e, pc + 1);
    }
    return true;
}
