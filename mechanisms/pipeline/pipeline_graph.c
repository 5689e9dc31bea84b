/* Dependences in a loop of one block: dependences through registers follow from values, and dependences through memory
 * from addresses. */
#include "frontend/passes/fuse.h"
#include "frontend/passes/pass.h"
#include "isa/decode.h"
#include "pipeline.h"
#include "timing/sm/compound_timing.h"
#include <ctype.h>
#include <string.h>

enum {
    FAR = 16,           /* number of iterations over which accesses are compared; a schedule has fewer stages */
    OPERAND_CYCLES = 2, /* cycles from issue to the pipe, added to the latencies of the options */
    NEAR = 1 << 24,     /* an address with an offset below this limit does not wrap around */
    MOST_STEPS = 32,
};

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

const char *pipe_refuse(const struct ir *ir, uint32_t block, uint32_t *inst) {
    const struct block *b = &ir->blocks[block];
    const struct inst *last = &ir->code[b->end - 1];
    *inst = b->end - 1;
    if (last->guard == NO_GUARD)
        return "it never ends";
    if (b->end - b->begin > PIPE_MOST_OPS)
        return "it is too long";
    if (ir->info[*inst].twin)
        return "the affine stream has this loop, too";
    for (uint32_t i = b->begin; i < b->end; i++) {
        const struct inst *in = &ir->code[i];
        *inst = i;
        if (in->hints & HINT_DEQ || ir->info[i].guard_site || ir->info[i].site)
            return "takes from the affine stream";
        if ((in->kind == K_LOAD || in->kind == K_STORE) && (inst_is_strong(in) || ir->info[i].order & ORDER_STRONG))
            return "is an access that other threads are meant to see";
        if (in->hints & HINT_COLLECTIVE)
            return "is more than an operation or an access of one thread";
        switch (in->kind) {
        case K_LANE:
        case K_CVT:
        case K_LOAD:
        case K_STORE:
        case K_NOP:
        case K_PREFETCH:
            break;
        case K_COMPOUND:
            if (ir_is_lane_wise(ir, in))
                break;
            return "is more than an operation or an access of one thread";
        case K_BRANCH:
            if (i + 1 == b->end)
                break;
            return "is a jump";
        case K_ATOM:
            return "is atomic";
        case K_CALL:
            return "is a call";
        case K_BARRIER:
        case K_WARPSYNC:
        case K_FENCE:
            return "orders what threads do";
        default:
            return "is more than an operation or an access of one thread";
        }
    }
    return NULL;
}

/* ---- latencies ---- */

static unsigned option(const struct ir *ir, const char *key, double otherwise) {
    return (unsigned)pass_option(&ir->context, key, otherwise);
}

/* Returns the latency of a compound instruction in the SM; 1 if there is no machine. */
static unsigned compound_latency(const struct ir *ir, const struct program_compound *c) {
    struct compound_time t = {.latency = 1};
    if (ir->context.machine)
        c->ops->timing->time(c->what, ir->context.machine, &t);
    return t.latency;
}

/* Returns the cycles from the issue of an instruction to the issue of a reader of its result. For loads that are not
 * from shared memory, the schedule chooses the number of cycles. */
static unsigned latency_of(const struct ir *ir, const struct inst *in, bool *of_load) {
    char key[48];
    *of_load = in->kind == K_LOAD && in->space != SPACE_SHARED;
    if (in->kind == K_LOAD)
        return OPERAND_CYCLES + option(ir, "shared.latency", 1);
    if (fuse_made(ir, in))
        return OPERAND_CYCLES + compound_latency(ir, ir_compound_of(ir, in));
    int n = snprintf(key, sizeof key, "latency.%s", latency_name(in->latency));
    for (int k = 0; k < n && k < (int)sizeof key; k++)
        key[k] = (char)tolower((unsigned char)key[k]);
    return OPERAND_CYCLES + option(ir, key, 1);
}

static void add_edge(struct pipe_graph *g, uint32_t from, uint32_t to, uint32_t distance, bool flow) {
    struct pipe_edge e = {from, to, distance, 1, false};
    if (flow)
        e.latency = latency_of(g->ir, &g->ir->code[g->first + from], &e.of_load);
    g->edges = IR_ROOM(g->ir, g->edges, g->n_edges, g->cap_edges);
    g->edges[g->n_edges++] = e;
}

/* ---- registers ---- */

struct naming {
    struct pipe_graph *g;
    /* indexed by register: the value that it holds at the current instruction; NO_VALUE: the value of the previous
     * iteration */
    uint32_t *value;
    unsigned char *shape; /* indexed by register: INVARIANT, RENAMED or FIXED */
};
/* INVARIANT: the loop does not write the register. RENAMED: each iteration may use another register. FIXED: the
 * register keeps its name in all iterations. */
enum { INVARIANT, RENAMED, FIXED };

const struct pipe_ref *pipe_ref_of(const struct pipe_graph *g, uint32_t op, uint32_t vreg, bool write) {
    for (uint32_t k = 0; k < g->n_refs; k++)
        if (g->refs[k].op == op && g->refs[k].vreg == vreg && g->refs[k].write == write)
            return &g->refs[k];
    return NULL;
}

const struct isa_row *pipe_move_row(enum reg_class cls) {
    static const enum type types[N_REG_CLASSES] = {
        [RC_PRED] = T_PRED, [RC_16] = T_B16, [RC_32] = T_B32, [RC_64] = T_B64, [RC_128] = T_B128};
    return types[cls] ? isa_find_row(OP_MOV, types[cls], T_NONE, 0) : NULL;
}

static void add_ref(struct pipe_graph *g, struct pipe_ref ref) {
    g->refs = IR_ROOM(g->ir, g->refs, g->n_refs, g->cap_refs);
    g->refs[g->n_refs++] = ref;
}

static const uint32_t *regs_of(const struct pipe_graph *g, uint32_t op, unsigned *n_reads, unsigned *n) {
    const struct inst_info *info = &g->ir->info[g->first + op];
    *n_reads = info->n_reads;
    *n = (unsigned)info->n_reads + info->n_writes;
    return g->ir->regs + info->regs;
}

/* Finds the shape of each register. If the first write of a register in the loop leaves some lanes unchanged, the
 * register keeps its name in all iterations, since part of its value comes from the previous iteration. A register that
 * no move instruction can copy keeps its name, too. */
static void find_shapes(struct naming *s) {
    struct pipe_graph *g = s->g;
    unsigned n_reads, n;
    for (uint32_t op = 0; op < g->n; op++) {
        const uint32_t *regs = regs_of(g, op, &n_reads, &n);
        for (unsigned k = n_reads; k < n; k++)
            if (s->shape[regs[k]] == INVARIANT)
                s->shape[regs[k]] =
                    inst_writes_all(g->ir, g->first + op) && pipe_move_row(g->ir->vregs[regs[k]].cls) ? RENAMED : FIXED;
    }
}

static uint32_t begin_value(struct pipe_graph *g, uint32_t op, uint32_t vreg) {
    g->values = IR_ROOM(g->ir, g->values, g->n_values, g->cap_values);
    g->values[g->n_values] =
        (struct pipe_value){.vreg = vreg, .op = op, .words = class_words(g->ir->vregs[vreg].cls), .copies = 1};
    return g->n_values++;
}

static void name_writes(struct naming *s, uint32_t op, const uint32_t *regs, unsigned n) {
    struct pipe_graph *g = s->g;
    bool all = inst_writes_all(g->ir, g->first + op);
    for (unsigned k = 0; k < n; k++) {
        uint32_t v = regs[k];
        if (s->shape[v] != RENAMED)
            continue;
        bool twice = s->value[v] != NO_VALUE && g->values[s->value[v]].op == op;
        if (all && !twice)
            s->value[v] = begin_value(g, op, v);
        else if (!all)
            g->values[s->value[v]].is_guarded = true;
        add_ref(g, (struct pipe_ref){op, v, s->value[v], 0, true});
    }
}

static void name_values(struct naming *s) {
    struct pipe_graph *g = s->g;
    unsigned n_reads, n;
    for (uint32_t op = 0; op < g->n; op++) {
        const uint32_t *regs = regs_of(g, op, &n_reads, &n);
        for (unsigned k = 0; k < n_reads; k++)
            if (s->shape[regs[k]] == RENAMED)
                add_ref(g, (struct pipe_ref){op, regs[k], s->value[regs[k]], s->value[regs[k]] == NO_VALUE, false});
        name_writes(s, op, regs + n_reads, n - n_reads);
    }
    for (uint32_t k = 0; k < g->n_refs; k++)
        if (g->refs[k].value == NO_VALUE)
            g->refs[k].value = s->value[g->refs[k].vreg];
    for (uint32_t k = 0; k < g->n_values; k++)
        g->values[k].last = s->value[g->values[k].vreg] == k;
}

static bool read_behind(const struct pipe_graph *g, uint32_t op, uint32_t vreg) {
    const struct defuse *d = g->defuse;
    uint32_t i = g->first + op;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        for (uint32_t u = 0; d->defs[k].vreg == vreg && u < d->defs[k].n; u++)
            if (g->ir->info[d->uses[d->def_uses[d->defs[k].first + u]].inst].block != g->block)
                return true;
    return false;
}

/* Adds edges between the instructions that write and read one value. Marks the value as live_out if it is read after
 * the loop. */
static void join_value(struct pipe_graph *g, uint32_t value) {
    for (uint32_t a = 0; a < g->n_refs; a++) {
        const struct pipe_ref *w = &g->refs[a];
        if (w->value != value || !w->write)
            continue;
        if (g->values[value].last && read_behind(g, w->op, w->vreg))
            g->values[value].live_out = true;
        for (uint32_t b = 0; b < g->n_refs; b++) {
            const struct pipe_ref *r = &g->refs[b];
            if (r->value != value || a == b)
                continue;
            if (r->distance || w->op < r->op)
                add_edge(g, w->op, r->op, r->distance, true);
            else if (!r->write && w->op > r->op)
                add_edge(g, r->op, w->op, 0, false); /* a guarded write must follow earlier reads */
        }
    }
}

/* Returns how an instruction accesses a register that keeps its name: 1 if it reads it, 2 if it writes it, 3: both. */
static unsigned touches(const struct pipe_graph *g, uint32_t op, uint32_t vreg) {
    unsigned n_reads, n, how = 0;
    const uint32_t *regs = regs_of(g, op, &n_reads, &n);
    for (unsigned k = 0; k < n; k++)
        if (regs[k] == vreg)
            how |= k < n_reads ? 1 : 2;
    return how;
}

static void join_fixed(struct pipe_graph *g, uint32_t vreg) {
    for (uint32_t a = 0; a < g->n; a++) {
        unsigned x = touches(g, a, vreg);
        if (x & 2)
            add_edge(g, a, a, 1, true);
        for (uint32_t b = a + 1; x && b < g->n; b++) {
            unsigned y = touches(g, b, vreg);
            if (!y || !((x | y) & 2))
                continue;
            add_edge(g, a, b, 0, x & 2);
            add_edge(g, b, a, 1, y & 2);
        }
    }
}

static void join_registers(struct naming *s) {
    struct pipe_graph *g = s->g;
    unsigned n_reads, n;
    for (uint32_t k = 0; k < g->n_values; k++)
        join_value(g, k);
    for (uint32_t op = 0; op < g->n; op++) {
        const uint32_t *regs = regs_of(g, op, &n_reads, &n);
        for (unsigned k = n_reads; k < n; k++)
            if (s->shape[regs[k]] == FIXED) {
                s->shape[regs[k]] = INVARIANT; /* so that the edges of this register are not added again */
                join_fixed(g, regs[k]);
            }
    }
}

/* ---- memory ---- */

/* An address: the content of a register at a known point of the loop, plus a constant number of bytes. */
struct place {
    enum { UNKNOWN, CONSTANT, OUTSIDE, INCOMING, VALUE } root;
    uint32_t of;     /* number of a register (OUTSIDE, INCOMING) or of a value (VALUE) */
    int64_t offset;  /* bytes */
    bool has_stride; /* the address changes by a constant number of bytes in each iteration */
    int64_t stride;
};

static bool small(int64_t x) { return x > -NEAR && x < NEAR; }

static bool constant_of(const struct ir *ir, opnd_t o, unsigned bytes, int64_t *out) {
    if (!(o & 1))
        return false;
    uint64_t u = 0;
    memcpy(&u, ir->constants + (o >> 1), bytes);
    *out = bytes == 4 ? (int32_t)(uint32_t)u : (int64_t)u;
    return small(*out);
}

/* Returns true for d = from + step, and for a move (step 0). */
static bool is_step(const struct ir *ir, const struct inst *in, uint32_t *from, int64_t *step) {
    const struct isa_row *r = row_of(in);
    opnd_t a = in->a, b = in->b;
    if (in->kind != K_LANE || in->guard != NO_GUARD || (in->dsize != 4 && in->dsize != 8) || in->d2 != OPND_SINK)
        return false;
    *step = 0;
    if (r->op == OP_MOV && !(a & 1) && r->form == 0) {
        *from = a >> 1;
        return true;
    }
    if ((r->op != OP_ADD && r->op != OP_SUB) || r->form || (type_class(r->d) != 'u' && type_class(r->d) != 's') ||
        r->c != T_NONE)
        return false;
    if (r->op == OP_ADD && (a & 1)) {
        a = in->b;
        b = in->a;
    }
    if ((a & 1) || !constant_of(ir, b, in->dsize, step))
        return false;
    *from = a >> 1;
    if (r->op == OP_SUB)
        *step = -*step;
    return true;
}

/* Traces the content of register `vreg`, as instruction `op` reads it, back through additions of constants and
 * moves. */
static struct place follow(const struct pipe_graph *g, uint32_t op, uint32_t vreg) {
    struct place p = {.offset = 0};
    for (int k = 0; k < MOST_STEPS; k++) {
        const struct pipe_ref *ref = pipe_ref_of(g, op, vreg, false);
        if (!ref) {
            unsigned written = 0;
            for (uint32_t i = 0; i < g->n; i++)
                written |= touches(g, i, vreg) & 2;
            p.root = written ? UNKNOWN : OUTSIDE;
            p.of = vreg;
            p.has_stride = !written;
            return p;
        }
        if (ref->distance) {
            p.root = INCOMING;
            p.of = vreg;
            return p;
        }
        const struct pipe_value *v = &g->values[ref->value];
        int64_t step;
        uint32_t from;
        p.root = VALUE;
        p.of = ref->value;
        if (v->is_guarded || !is_step(g->ir, &g->ir->code[g->first + v->op], &from, &step) || !small(p.offset + step))
            return p;
        p.offset += step;
        op = v->op;
        vreg = from;
    }
    p.root = UNKNOWN;
    return p;
}

/* Finds the step per iteration of a register that keeps its name. Returns false if there is none. */
static bool find_stride(const struct pipe_graph *g, uint32_t vreg, int64_t *stride) {
    for (uint32_t k = 0; k < g->n_values; k++) {
        const struct pipe_value *v = &g->values[k];
        uint32_t from;
        int64_t step;
        if (v->vreg != vreg || !v->last)
            continue;
        if (v->is_guarded || !is_step(g->ir, &g->ir->code[g->first + v->op], &from, &step))
            return false;
        struct place p = follow(g, v->op, from);
        *stride = p.offset + step;
        return p.root == INCOMING && p.of == vreg && small(*stride);
    }
    return false;
}

static struct place place_of(const struct pipe_graph *g, uint32_t op) {
    const struct inst *in = &g->ir->code[g->first + op];
    struct place p = {.root = CONSTANT, .has_stride = true};
    int64_t constant = 0;
    if (in->a & 1) {
        if (!constant_of(g->ir, in->a, in->asize == 8 ? 8 : 4, &constant))
            return (struct place){.root = UNKNOWN};
        p.offset = constant;
    } else
        p = follow(g, op, in->a >> 1);
    if (p.root == INCOMING)
        p.has_stride = find_stride(g, p.of, &p.stride);
    if (!small(in->imm) || !small(p.offset))
        p.root = UNKNOWN;
    p.offset += in->imm;
    return p;
}

static bool is_access(const struct inst *in) { return in->kind == K_LOAD || in->kind == K_STORE; }

/* Returns true if accesses to the two spaces may overlap. Constants are in device memory. */
static bool meet(uint8_t a, uint8_t b) {
    bool device_a = a == SPACE_GLOBAL || a == SPACE_CONST, device_b = b == SPACE_GLOBAL || b == SPACE_CONST;
    return a == b || a == SPACE_GENERIC || b == SPACE_GENERIC || (device_a && device_b);
}

/* Returns true if `a` of one iteration and `b` of `later` iterations later access the same bytes. */
static bool overlap(const struct inst *x, const struct place *a, const struct inst *y, const struct place *b,
                    int64_t later) {
    int64_t from = b->offset + later * b->stride - a->offset;
    return from < (int64_t)inst_bytes(x) && from + (int64_t)inst_bytes(y) > 0;
}

static void join_accesses(struct pipe_graph *g, uint32_t a, uint32_t b) {
    const struct inst *x = &g->ir->code[g->first + a], *y = &g->ir->code[g->first + b];
    if ((x->kind != K_STORE && y->kind != K_STORE) || !meet(x->space, y->space))
        return;
    struct place p = place_of(g, a), q = place_of(g, b);
    if (p.root == UNKNOWN || p.root != q.root || p.of != q.of || x->space != y->space) {
        add_edge(g, a, b, 0, false);
        add_edge(g, b, a, 1, false);
        return;
    }
    if (overlap(x, &p, y, &q, 0))
        add_edge(g, a, b, 0, false);
    if (!p.has_stride) {
        add_edge(g, a, b, 1, false);
        add_edge(g, b, a, 1, false);
        return;
    }
    for (uint32_t k = 1; k <= FAR; k++) {
        if (overlap(x, &p, y, &q, k))
            add_edge(g, a, b, k, false);
        if (overlap(y, &q, x, &p, k))
            add_edge(g, b, a, k, false);
    }
}

static void join_memory(struct pipe_graph *g) {
    for (uint32_t a = 0; a < g->n; a++)
        for (uint32_t b = a + 1; is_access(&g->ir->code[g->first + a]) && b < g->n; b++)
            if (is_access(&g->ir->code[g->first + b]))
                join_accesses(g, a, b);
}

struct pipe_graph pipe_graph_of(struct ir *ir, const struct defuse *d, uint32_t block) {
    struct pipe_graph g = {.ir = ir, .defuse = d, .block = block, .first = ir->blocks[block].begin};
    struct naming s = {.g = &g};
    g.n = ir->blocks[block].end - g.first;
    s.value = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.value);
    s.shape = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    memset(s.value, 0xff, (size_t)ir->n_vregs * sizeof *s.value);
    find_shapes(&s);
    name_values(&s);
    join_registers(&s);
    join_memory(&g);
    return g;
}
