/* Control flow of the affine warp, and what it sends. */
#include "engine_parts.h"
#include <assert.h>
#include <stdlib.h>

/* ---- making and starting ---- */

static bool make_room(struct affine_engine *e) {
    size_t warps = (size_t)e->max_ctas * e->shape.n_warps;
    const struct program *p = e->program;
    e->bank = aligned_alloc(64, ((size_t)p->reg_bytes + SINK_BYTES + 63) / 64 * 64);
    e->pieces = calloc(MAX_PIECES, sizeof *e->pieces);
    e->live = calloc(warps, sizeof *e->live);
    e->active = calloc(warps, sizeof *e->active);
    e->taken = calloc(warps, sizeof *e->taken);
    e->markers = calloc(warps * WARP_LANES, sizeof *e->markers);
    e->entries = calloc(warps, sizeof *e->entries);
    if (!e->bank || !e->pieces || !e->live || !e->active || !e->taken || !e->markers || !e->entries)
        return false;
    memset(e->bank, 0, p->reg_bytes);
    return engine_decode(e);
}

struct affine_engine *engine_new(const struct launch *l, uint32_t ctas, uint32_t first) {
    struct affine_engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->launch = l;
    e->program = l->program;
    e->first = first;
    e->max_ctas = ctas;
    affine_shape_init(&e->shape, l->block);
    if (!make_room(e)) {
        engine_free(e);
        return NULL;
    }
    e->cta = (struct cta){.launch = l, .n_threads = dim3_count(l->block), .shared_bytes = launch_shared_bytes(l)};
    e->warp = (struct warp){.bank = {e->bank, e->program->constants}, .program = e->program, .cta = &e->cta};
    e->warp.launched = e->warp.live = LANES_ALL;
    return e;
}

static void drop_entries(struct affine_engine *e) {
    for (uint32_t w = 0; e->has_entries && w < e->n_warps; w++)
        if (e->entries[w].exact)
            affine_entry_free(&e->entries[w]);
    e->has_entries = false;
}

void engine_free(struct affine_engine *e) {
    if (!e)
        return;
    drop_entries(e);
    for (uint32_t r = 0; r < e->n_regs; r++) {
        for (uint32_t c = 0; e->regs[r].cells && c < e->max_ctas; c++)
            cell_free(&e->regs[r].cells[c]);
        free(e->regs[r].cells);
        free(e->regs[r].pred);
        free(e->regs[r].compare);
    }
    for (uint32_t i = 0; i < e->cap_depth; i++)
        free(e->stack[i].lanes);
    free(e->stack);
    free(e->regs);
    free(e->reg_at);
    free(e->ops);
    free(e->entries);
    free(e->markers);
    free(e->taken);
    free(e->active);
    free(e->live);
    free(e->pieces);
    free(e->bank);
    free(e);
}

const struct affine_shape *engine_shape(const struct affine_engine *e) { return &e->shape; }

static bool push(struct affine_engine *e, uint32_t pc, uint32_t rpc, const lanemask_t *lanes) {
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
    return true;
}

static void start_special(struct affine_engine *e, const struct special_init *i, const struct dim3 *ids) {
    struct affine_reg *r = &e->regs[e->reg_at[i->offset / sizeof(lanemask_t)]];
    enum special s = i->id;
    r->by_cta = s >= SPECIAL_CTAID_X && s <= SPECIAL_CTAID_Z ? CTA_LINEAR : CTA_SAME;
    for (uint32_t c = 0; c < e->n_ctas; c++) {
        struct affine_tuple *t = &r->cells[c].v[0];
        e->cta.id = ids[c];
        if (s <= SPECIAL_TID_Z)
            t->off[s - SPECIAL_TID_X] = 1;
        else
            t->base = warp_special(&e->warp, s);
    }
}

void engine_start(struct affine_engine *e, const struct dim3 *ids, uint32_t n) {
    assert(n && n <= e->max_ctas);
    drop_entries(e);
    e->n_ctas = n;
    e->n_warps = n * e->shape.n_warps;
    for (uint32_t i = 0; i < e->n_warps; i++) {
        e->live[i] = e->shape.launched[i % e->shape.n_warps];
    }
    memset(e->markers, 0, (size_t)e->n_warps * WARP_LANES * sizeof *e->markers);
    e->has_markers = false;
    for (uint32_t k = 0; k < e->n_regs; k++) {
        struct affine_reg *r = &e->regs[k];
        r->by_cta = CTA_SAME;
        r->sent = 0;
        r->uniform = UINT32_MAX;
        for (uint32_t c = 0; r->cells && c < n; c++) {
            r->cells[c].n = 1;
            r->cells[c].v[0] = (struct affine_tuple){0};
        }
        if (r->pred) {
            memset(r->pred, 0, e->n_warps * sizeof *r->pred);
            memset(r->compare, 0, e->n_warps * sizeof *r->compare);
        }
    }
    for (uint32_t k = 0; k < e->program->n_specials; k++)
        start_special(e, &e->program->specials[k], ids);
    e->sent = 0;
    e->out_of_memory = false;
    e->depth = 0;
    e->out_of_memory = !push(e, e->begin, PC_EXIT, e->live);
}

/* ---- entries ---- */

void affine_entry_free(struct affine_entry *e) {
    free(e->exact);
    e->exact = NULL;
    e->lanes = 0;
}

void affine_entry_addresses(const struct affine_entry *e, const struct affine_shape *s, uint32_t warp,
                            uint64_t out[WARP_LANES]) {
    if (e->exact)
        memcpy(out, e->exact, WARP_LANES * sizeof *out);
    else
        affine_expand(&e->at, 64, s, warp, out);
}

static uint32_t marker_of(const struct affine_engine *e, uint32_t warp, lanemask_t lanes) {
    uint32_t most = 0;
    for (; e->has_markers && lanes; lanes &= lanes - 1) {
        uint32_t k = e->markers[warp * WARP_LANES + (uint32_t)__builtin_ctz(lanes)];
        most = k > most ? k : most;
    }
    return most;
}

/* The one tuple that a source has for these lanes; NULL: they have several, or none. */
static const struct affine_tuple *tuple_of(const struct affine_engine *e, const struct affine_source *s, uint32_t cta,
                                           uint32_t w, lanemask_t lanes) {
    if (s->reg == NO_REG)
        return &s->constant;
    const struct affine_cell *c = &e->regs[s->reg].cells[cta];
    if (c->n == 1)
        return &c->v[0];
    for (uint32_t k = 0; k < c->n; k++)
        if (!(lanes & ~c->mask[k * e->shape.n_warps + w]))
            return &c->v[k];
    return NULL;
}

/* The address that the access would have: with its offset, wrapped where it wraps. */
static bool full_address(const struct affine_engine *e, const struct inst *in, const struct affine_tuple *t,
                         struct affine_tuple *out) {
    *out = *t;
    out->base += (uint64_t)in->imm;
    if (in->asize == 8)
        return true;
    out->base &= UINT32_MAX;
    if (!affine_in_range(out, 32, false, &e->shape))
        return false;
    for (int d = 0; d < 3; d++)
        out->off[d] = (uint64_t)affine_signed(out->off[d], 32);
    return true;
}

static bool send_addresses(struct affine_engine *e, const struct affine_op *op, uint32_t i, struct affine_step *step) {
    const struct affine_source *s = &op->source[0];
    struct affine_entry *to = &e->entries[i];
    uint32_t cta = i / e->shape.n_warps, w = i % e->shape.n_warps;
    const struct affine_tuple *t = tuple_of(e, s, cta, w, to->lanes);
    if (t && full_address(e, &op->in, t, &to->at))
        return true;
    to->exact = malloc(WARP_LANES * sizeof *to->exact);
    if (!to->exact)
        return false;
    cell_read(&e->regs[s->reg].cells[cta], s->bits, &e->shape, w, to->exact);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        to->exact[l] = (to->exact[l] + (uint64_t)op->in.imm) & affine_mask(s->bits);
    step->class = STEP_VECTOR;
    step->slots++;
    return true;
}

static void send_predicate(struct affine_engine *e, const struct affine_op *op, uint32_t i) {
    const struct affine_source *s = &op->source[0];
    struct affine_entry *to = &e->entries[i];
    bool constant = s->reg == NO_REG;
    to->value = constant ? (lanemask_t)s->constant.base : e->regs[s->reg].pred[i];
    to->compare = constant ? (uint8_t)COMPARE_CTA : e->regs[s->reg].compare[i];
}

static bool send(struct affine_engine *e, const struct affine_op *op, const lanemask_t *lanes,
                 struct affine_step *step) {
    const struct inst *in = step->in;
    uint32_t site = e->program->info[step->pc].site - 1u;
    bool predicate = in->kind == K_ENQ_PRED;
    e->has_entries = true;
    step->entries = e->entries;
    for (uint32_t i = 0; i < e->n_warps; i++) {
        e->entries[i] = (struct affine_entry){.site = site, .lanes = lanes[i]};
        if (!lanes[i])
            continue;
        e->entries[i].marker = marker_of(e, i, lanes[i]);
        e->entries[i].kind = in->kind == K_ENQ_DATA ? SITE_DATA : predicate ? SITE_PRED : SITE_ADDR;
        if (predicate)
            send_predicate(e, op, i);
        else if (!send_addresses(e, op, i, step))
            return !(e->out_of_memory = true);
    }
    if (predicate) {
        step->number = ++e->sent;
        if (op->source[0].reg != NO_REG)
            e->regs[op->source[0].reg].sent = step->number;
    }
    return true;
}

/* ---- control ---- */

static bool any_lanes(const lanemask_t *lanes, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (lanes[i])
            return true;
    return false;
}

/* Paths that have come to where they join another, or have no threads left, are gone. */
static void settle(struct affine_engine *e) {
    while (e->depth) {
        const struct stack_entry *top = &e->stack[e->depth - 1];
        if (top->pc != top->rpc && any_lanes(top->lanes, e->n_warps))
            return;
        e->depth--;
    }
}

static void advance(struct affine_engine *e, uint32_t next) {
    e->stack[e->depth - 1].pc = next;
    if (next == e->stack[e->depth - 1].rpc)
        settle(e);
}

/* The lanes of `active` that an instruction is for: those whose guard holds. */
static void guarded(const struct affine_engine *e, const struct affine_op *op, const lanemask_t *active,
                    lanemask_t *out) {
    const lanemask_t *p = op->guard == NO_REG ? NULL : e->regs[op->guard].pred;
    lanemask_t turn = op->guard_not ? LANES_ALL : 0;
    for (uint32_t i = 0; i < e->n_warps; i++)
        out[i] = p ? active[i] & (p[i] ^ turn) : active[i];
}

/* As the stack of warps does it (isa/paths/reconv_spe.c), so that the two send and take in the same order there. */
static bool branch(struct affine_engine *e, const struct inst *in, uint32_t pc, struct affine_step *step) {
    struct stack_entry *top = &e->stack[e->depth - 1];
    lanemask_t *rest = e->active;
    bool some = false, others = false;
    for (uint32_t i = 0; i < e->n_warps; i++) {
        rest[i] = top->lanes[i] & ~e->taken[i];
        some |= e->taken[i] != 0;
        others |= rest[i] != 0;
        step->splits_threads |= e->taken[i] && rest[i];
    }
    step->splits_warps = some && others;
    if (!some || !others) {
        advance(e, some ? in->target : pc + 1);
        return true;
    }
    uint32_t rpc = in->rpc == PC_EXIT ? top->rpc : in->rpc;
    if (rpc == top->rpc)
        e->depth--;
    else
        top->pc = rpc;
    const bool fall_first = e->first == 1;
    bool fine = true;
    for (int k = 0; k < 2 && fine; k++) {
        bool taken = (k == 0) == fall_first; /* what is pushed last runs first */
        uint32_t to = taken ? in->target : pc + 1;
        if (to != rpc)
            fine = push(e, to, rpc, taken ? e->taken : rest);
    }
    settle(e);
    return fine;
}

static void leave(struct affine_engine *e, const lanemask_t *lanes, uint32_t next) {
    e->stack[e->depth - 1].pc = next;
    for (uint32_t k = 0; k < e->depth; k++)
        for (uint32_t i = 0; i < e->n_warps; i++)
            e->stack[k].lanes[i] &= ~lanes[i];
    for (uint32_t i = 0; i < e->n_warps; i++)
        e->live[i] &= ~lanes[i];
    settle(e);
}

static void pass_marker(struct affine_engine *e, const lanemask_t *lanes) {
    e->has_markers = true;
    for (uint32_t i = 0; i < e->n_warps; i++)
        for (lanemask_t m = lanes[i]; m; m &= m - 1)
            e->markers[i * WARP_LANES + (uint32_t)__builtin_ctz(m)]++;
}

bool engine_done(const struct affine_engine *e) { return !e->depth; }

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

static bool run(struct affine_engine *e, const struct affine_op *op, const lanemask_t *lanes,
                struct affine_step *step) {
    const uint32_t next = step->pc + 1;
    bool fine = true;
    switch ((enum inst_kind)step->in->kind) {
    case K_LANE:
    case K_CVT:
    case K_LOAD:
        fine = engine_compute(e, op, lanes, step);
        break;
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
    case K_ENQ_PRED:
        fine = send(e, op, lanes, step);
        break;
    case K_BRANCH:
        return branch(e, step->in, step->pc, step) || !(e->out_of_memory = true);
    case K_RET:
    case K_EXIT:
    case K_TRAP:
        leave(e, lanes, next);
        return true;
    case K_BARRIER:
        pass_marker(e, lanes);
        break;
    default:
        assert(step->in->kind == K_NOP || step->in->kind == K_FENCE || step->in->kind == K_BSSY ||
               step->in->kind == K_BSYNC || step->in->kind == K_WARPSYNC || step->in->kind == K_PREFETCH);
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
    const struct affine_op *op = &e->ops[top->pc - e->begin];
    const struct inst *in = &e->program->code[top->pc];
    *step = (struct affine_step){.pc = top->pc, .in = in, .slots = 0};
    step->counts = in->kind != K_BSSY && in->kind != K_BSYNC && !(in->hints & HINT_APART);
    step->waits = op->guard == NO_REG ? 0 : e->regs[op->guard].sent;
    guarded(e, op, top->lanes, e->taken);
    step->lanes = e->taken;
    e->fx.fault = FAULT_NONE;
    bool fine = run(e, op, e->taken, step);
    if (!step->slots && step->counts)
        step->slots = 1;
    return fine || fail(e, step);
}
