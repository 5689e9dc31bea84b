#include "compile.h"
#include <stdlib.h>
#include <string.h>

const struct jit_tables jit_tables = {
#define STEPS(n)                                                                                                       \
    { 0, n, 2 * n, 3 * n, 4 * n, 5 * n, 6 * n, 7 * n, 8 * n, 9 * n, 10 * n, 11 * n, 12 * n, 13 * n, 14 * n, 15 * n }
    .step8 = {STEPS(4), STEPS(8)},
    .step4 = {STEPS(4), STEPS(8)},
#undef STEPS
#define SAME4(x)                                                                                                       \
    { x, x, x, x }
#define SAME16(x)                                                                                                      \
    { x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x }
    .f32_nan = SAME16(0x7fffffffu),
    .f32_sign = SAME16(0x80000000u),
    .f32_magnitude = SAME16(0x7fffffffu),
    .f32_one = SAME16(0x3f800000u),
    .f32_65536 = SAME16(0x47800000u),
    .sign8 = SAME4(1ull << 63),
#define BITS8(n) 1u << n, 2u << n, 4u << n, 8u << n, 16u << n, 32u << n, 64u << n, 128u << n
    .bit4 = {BITS8(0), BITS8(8), BITS8(16), BITS8(24)},
    .bit8 = {BITS8(0), BITS8(8), BITS8(16), BITS8(24)},
};

/* ---- lines ---- */

static struct place line_place(uint32_t key) { return at(key & 1 ? BANK1 : BANK0, key & ~1u); }

/* Constants are the same in all lanes: their first line stands for all. */
static uint32_t key_of(const struct compiler *c, opnd_t o, unsigned i) {
    return o & 1 ? (o >> 1 | 1) : (o >> 1) + i * line_bytes(c);
}

/* With a part of the lanes everything is computed for all of them, and here the others keep what they had. */
static void store_line(struct compiler *c, struct held_line *h, unsigned v) {
    struct emit *e = &c->e;
    if (h->any_nan)
        canonical_nan(e, v);
    h->any_nan = false;
    if (h->dirty && c->part)
        lanes_store_active(e, v, line_place(h->key), h->index, h->size);
    else if (h->dirty)
        emit_vector_mem(e, V_STORE, v, 0, line_place(h->key), WHOLE);
    h->dirty = false;
}

/* The register has line i of what the instruction at hand writes. */
static void written(struct compiler *c, unsigned v, unsigned i) {
    const struct inst *in = inst_of(c);
    c->held[v].dirty = true;
    c->held[v].index = (uint8_t)i;
    c->held[v].size = in->kind == K_LOAD ? in->rsize : in->dsize;
}

/* The register that holds `key`, as a bit; 0: none does. */
static uint32_t holder(const struct compiler *c, uint32_t key) {
    uint32_t bits = 0;
    for (unsigned v = 0; v < N_VECTORS; v++)
        bits |= (uint32_t)(c->keys[v] == key) << v;
    return bits;
}

/* The register that was used longest ago, or none yet, and that the instruction at hand does not use. */
static unsigned victim(const struct compiler *c) {
    unsigned best = 0;
    uint32_t none = holder(c, NO_LINE) & c->vectors;
    if (none)
        return (unsigned)__builtin_ctz(none);
    for (unsigned v = 0; v < N_VECTORS; v++) {
        if ((c->vectors & ~c->pinned) >> v & 1 && (!best || c->held[v].used < c->held[best].used))
            best = v;
    }
    return best;
}

/* A register that holds `key` now, or is free for it. */
static unsigned find(struct compiler *c, uint32_t key, bool *had) {
    uint32_t bits = holder(c, key);
    *had = bits != 0;
    if (bits)
        return (unsigned)__builtin_ctz(bits);
    unsigned v = victim(c);
    if (c->held[v].key != NO_LINE)
        store_line(c, &c->held[v], v);
    c->held[v] = (struct held_line){.key = key};
    c->keys[v] = key;
    return v;
}

static unsigned use(struct compiler *c, unsigned v) {
    c->pinned |= 1u << v;
    c->held[v].used = ++c->clock;
    return v;
}

unsigned line_get(struct compiler *c, opnd_t o, unsigned i, bool any_nan) {
    bool had;
    uint32_t key = key_of(c, o, i);
    unsigned v = find(c, key, &had);
    if (!had)
        emit_vector_mem(&c->e, V_LOAD, v, 0, line_place(key), WHOLE);
    if (c->held[v].any_nan && !any_nan) {
        canonical_nan(&c->e, v);
        c->held[v].any_nan = false;
    }
    return use(c, v);
}

unsigned line_new(struct compiler *c, opnd_t d, unsigned i, bool any_nan) {
    bool had;
    unsigned v = find(c, key_of(c, d, i), &had);
    written(c, v, i);
    c->held[v].any_nan = any_nan;
    return use(c, v);
}

void line_changed(struct compiler *c, opnd_t d, unsigned i) {
    uint32_t bits = holder(c, key_of(c, d, i));
    if (bits)
        written(c, (unsigned)__builtin_ctz(bits), i);
}

unsigned line_apart(struct compiler *c, unsigned i) {
    enum { BEHIND_ALL = 0xffffff00 }; /* no register is there */
    bool had;
    return use(c, find(c, BEHIND_ALL + 2 * i, &had));
}

void line_becomes(struct compiler *c, unsigned v, opnd_t d, unsigned i) {
    uint32_t key = key_of(c, d, i), old = holder(c, key);
    if (old) {
        c->held[__builtin_ctz(old)] = (struct held_line){.key = NO_LINE};
        c->keys[__builtin_ctz(old)] = NO_LINE;
    }
    c->held[v].key = c->keys[v] = key;
    written(c, v, i);
}

void unpin(struct compiler *c) { c->pinned = 0; }

/* With both, registers are as memory says, and nothing is held: before calls. */
static void store_lines(struct compiler *c) {
    for (unsigned v = 0; v < N_VECTORS; v++)
        if (c->held[v].key != NO_LINE && c->held[v].dirty)
            store_line(c, &c->held[v], v);
}

static void forget_lines(struct compiler *c) {
    for (unsigned v = 0; v < N_VECTORS; v++)
        c->held[v] = (struct held_line){.key = NO_LINE};
    memset(c->keys, 0xff, sizeof c->keys);
}

/* ---- ways out ---- */

struct way_out *way_out(struct compiler *c, uint32_t reason) {
    if (c->n_outs == c->cap_outs) {
        uint32_t cap = c->cap_outs ? 2 * c->cap_outs : 16;
        struct way_out *outs = realloc(c->outs, cap * sizeof *outs);
        if (!outs) {
            c->e.full = true;
            return NULL;
        }
        c->outs = outs;
        c->cap_outs = cap;
    }
    struct way_out *out = &c->outs[c->n_outs++];
    *out = (struct way_out){.index = c->at, .reason = reason, .done = c->done};
    memcpy(out->held, c->held, sizeof out->held);
    return out;
}

void leave_if(struct compiler *c, struct way_out *out, unsigned condition) {
    jump_t j = emit_jump_if(&c->e, condition);
    if (!out || out->n_jumps == MAX_JUMPS)
        c->e.full = true;
    else
        out->jumps[out->n_jumps++] = j;
}

/* ---- the block ---- */

static const enum gpr saved[] = {RBX, RBP, R12, R13, R14, R15};
enum { N_SAVED = sizeof saved / sizeof saved[0] };

static void begin(struct compiler *c) {
    struct emit *e = &c->e;
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    emit_bytes(e, endbr64, sizeof endbr64);
    for (int i = 0; i < N_SAVED; i++)
        emit_push(e, saved[i]);
    emit_alu_imm(e, ALU_SUB, true, RSP, 8); /* calls want 16 bytes aligned */
    emit_mov(e, FRAME, RDI);
    emit_load(e, true, BANK0, frame_at(offsetof(struct jit_frame, bank[0])));
    emit_load(e, true, BANK1, frame_at(offsetof(struct jit_frame, bank[1])));
    emit_load(e, true, TABLES, frame_at(offsetof(struct jit_frame, tables)));
}

/* vzeroupper: before code that may have been made for processors without AVX, which waits for upper halves else. */
static void zero_upper(struct emit *e) {
    static const unsigned char bytes[] = {0xc5, 0xf8, 0x77};
    emit_bytes(e, bytes, sizeof bytes);
}

static void end(struct compiler *c) {
    struct emit *e = &c->e;
    zero_upper(e);
    emit_alu_imm(e, ALU_ADD, true, RSP, 8);
    for (int i = N_SAVED; i-- > 0;)
        emit_pop(e, saved[i]);
    emit_return(e);
}

/* `lanes` are of all: of a part, as many for each instruction as are active. Uses RCX. */
static void count(struct compiler *c, const struct done *d) {
    struct emit *e = &c->e;
    if (d->lanes && c->part) {
        emit_load(e, true, RCX, frame_at(offsetof(struct jit_frame, n_active)));
        emit_multiply(e, RCX, (int32_t)(d->lanes / WARP_LANES));
        emit_add_gpr_to(e, frame_at(offsetof(struct jit_frame, threads)), RCX);
    } else if (d->lanes) {
        emit_add_to(e, frame_at(offsetof(struct jit_frame, threads)), (int32_t)d->lanes);
    }
    if (d->loads)
        emit_add_to(e, frame_at(offsetof(struct jit_frame, loads)), (int32_t)d->loads);
}

/* Calls a function of the frame for the instruction at hand; nothing is held then. */
static void call_frame(struct compiler *c, size_t function) {
    struct emit *e = &c->e;
    struct way_out *out = way_out(c, JIT_STOPPED);
    zero_upper(e);
    emit_mov(e, RDI, FRAME);
    emit_constant(e, RSI, c->at);
    emit_call_mem(e, frame_at(function));
    emit_alu(e, ALU_OR, false, RAX, RAX);
    leave_if(c, out, IF_NOT_ZERO);
}

/* The lane function itself, or the interpreter's step. */
static void compile_call(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    store_lines(c);
    forget_lines(c);
    forget_groups(c);
    if (in->kind == K_LANE && in->guard == NO_GUARD && !c->part) {
        static const enum gpr order[] = {RDI, RSI, RDX, RCX, R8, R9};
        const opnd_t operands[] = {in->d, in->d2, in->a, in->b, in->c, in->e};
        uintptr_t fn = (uintptr_t)in->fn.lane;
        zero_upper(e);
        for (int i = 0; i < 6; i++)
            emit_lea(e, order[i], operand_at(operands[i], 0));
        emit_constant(e, RAX, fn);
        emit_call(e, RAX);
        c->done.lanes += WARP_LANES;
        return;
    }
    bool queued = access_is_queued(c, in);
    c->native += queued; /* it is dearer interpreted */
    call_frame(c, queued ? offsetof(struct jit_frame, row) : offsetof(struct jit_frame, step));
}

void guard_mask(struct compiler *c, const struct inst *in, enum gpr to) {
    struct emit *e = &c->e;
    const struct place active = frame_at(offsetof(struct jit_frame, active));
    emit_load(e, false, to, in->guard == NO_GUARD ? active : at(BANK0, in->guard));
    if (in->guard == NO_GUARD)
        return;
    if (in->guard_not)
        emit_not(e, to);
    if (c->part)
        emit_alu_mem(e, ALU_AND, false, to, active);
}

/* Before the instruction, which may write its own guard. */
static void count_guarded(struct compiler *c) {
    const struct inst *in = inst_of(c);
    struct emit *e = &c->e;
    if (c->part) {
        guard_mask(c, in, RAX);
        emit_popcount_of(e, RAX, RAX);
        emit_add_gpr_to(e, frame_at(offsetof(struct jit_frame, threads)), RAX);
        return;
    }
    emit_popcount(e, RAX, at(BANK0, in->guard));
    if (in->guard_not) {
        emit_constant(e, RCX, WARP_LANES);
        emit_alu(e, ALU_SUB, true, RCX, RAX);
    }
    emit_add_gpr_to(e, frame_at(offsetof(struct jit_frame, threads)), in->guard_not ? RCX : RAX);
}

static bool is_access(const struct inst *in) { return in->kind == K_LOAD || in->kind == K_STORE; }

static void compile_lanes(struct compiler *c) {
    if (is_access(inst_of(c)))
        compile_access(c);
    else
        compile_op(c);
    unpin(c);
}

/* The instruction at hand is compiled. */
static void compiled(struct compiler *c) {
    const struct inst *in = inst_of(c);
    c->native++;
    if (in->guard == NO_GUARD)
        c->done.lanes += WARP_LANES;
    c->done.loads += c->program->coverage.instructions && inst_is_counted_load(in);
    if (in->kind != K_STORE)
        groups_written(c, in->d);
}

static void compile_inst(struct compiler *c) {
    if (!c->is_native[c->at]) {
        compile_call(c);
        return;
    }
    if (inst_of(c)->guard != NO_GUARD)
        count_guarded(c);
    compile_lanes(c);
    compiled(c);
}

/* ---- strips ---- */

/* AVX2 has room for few lines: instructions of which each lane goes its own way, one behind the other, are compiled for
 * a quarter of the lanes, and once more for the next one, for what they hand to each other is one line then, and not
 * four. Loads may be among them when their addresses have been checked; stores change what loads find. */
enum { STRIPS = 4 };

/* How many instructions from the one at hand on. */
static uint32_t strip_length(struct compiler *c) {
    uint32_t n = 0;
    unsigned live = (1u << N_GROUPS) - 1;
    if (!c->e.vex || !c->is_native[c->at] || (is_access(inst_of(c)) && !access_prepare(c)))
        return 0;
    for (; c->at + n < c->n && c->is_native[c->at + n]; n++) {
        const struct inst *in = &c->first[c->at + n];
        const struct rule *r = c->rule[c->at + n];
        if (r ? !rule_is_lanewise(r) : !access_is_checked(c, in, live))
            break;
        live = groups_left(c, live, in->d);
    }
    return n;
}

/* Nothing leaves between them, and no guard is written. */
static void compile_strips(struct compiler *c, uint32_t n) {
    const uint32_t first = c->at, end = first + n;
    c->strips = STRIPS;
    for (c->strip = 0; c->strip < STRIPS; c->strip++)
        for (c->at = first; c->at < end; c->at++)
            compile_lanes(c);
    c->strip = 0;
    c->strips = 1;
    for (c->at = first; c->at < end; c->at++) {
        if (inst_of(c)->guard != NO_GUARD)
            count_guarded(c);
        compiled(c);
    }
    c->at = end - 1;
}

/* ---- on to the next block ---- */

/* The code goes on at `next`, unless the interpreter is to see it: the paths of the warp meet there, its turn is over,
 * or there is no code. `lanes` took the branch. */
static void go_on(struct compiler *c, uint32_t next, uint32_t branches, uint32_t lanes) {
    struct emit *e = &c->e;
    jump_t stay[3];
    if (next >= c->program->n)
        return;
    emit_compare(e, frame_at(offsetof(struct jit_frame, rpc)), next);
    stay[0] = emit_jump_if(e, IF_ZERO);
    emit_load(e, true, RCX, frame_at(offsetof(struct jit_frame, executed)));
    emit_alu_imm(e, ALU_ADD, true, RCX, (int32_t)(c->n + branches));
    emit_alu_mem(e, ALU_CMP, true, RCX, frame_at(offsetof(struct jit_frame, budget)));
    stay[1] = emit_jump_if(e, IF_NOT_BELOW);
    emit_constant(e, RDX, (uintptr_t)&c->entry[next].inside);
    emit_load(e, true, RDX, at(RDX, 0));
    emit_alu(e, ALU_OR, true, RDX, RDX);
    stay[2] = emit_jump_if(e, IF_ZERO);
    emit_store(e, true, frame_at(offsetof(struct jit_frame, executed)), RCX);
    count(c, &(struct done){.lanes = lanes});
    if (branches && c->first[c->n].hints & HINT_DEQ) {
        emit_constant(e, RCX, 0);
        emit_store(e, true, frame_at(offsetof(struct jit_frame, taken)), RCX);
    }
    emit_constant(e, RCX, (uintptr_t)&c->program->code[next]);
    emit_store(e, true, frame_at(offsetof(struct jit_frame, first)), RCX);
    emit_jump_gpr(e, RDX);
    for (int i = 0; i < 3; i++)
        emit_land(e, stay[i]);
}

/* A call or return behind the last instruction: the frame says where it goes. */
static void compile_call_or_return(struct compiler *c) {
    struct emit *e = &c->e;
    zero_upper(e);
    emit_mov(e, RDI, FRAME);
    emit_constant(e, RSI, c->n);
    emit_call_mem(e, frame_at(offsetof(struct jit_frame, call)));
    emit_alu(e, ALU_OR, true, RAX, RAX);
    jump_t stay = emit_jump_if(e, IF_ZERO);
    emit_jump_gpr(e, RAX);
    emit_land(e, stay);
}

/* Behind the last instruction: where the block falls into the next one, or branches with all lanes or none. */
static void compile_branch(struct compiler *c) {
    struct emit *e = &c->e;
    uint32_t pc = (uint32_t)(c->first - c->program->code) + c->n;
    const struct inst *in = &c->first[c->n];
    if (c->n && in[-1].ends_block) {
        go_on(c, pc, 0, 0);
        return;
    }
    if (pc < c->program->n && (in->kind == K_CALL || in->kind == K_RET) && in->guard == NO_GUARD) {
        compile_call_or_return(c);
        return;
    }
    if (pc >= c->program->n || in->kind != K_BRANCH || in->ends_block != BLOCK_ENDS || in->hints & HINT_APART)
        return;
    if (in->hints & HINT_DEQ)
        call_frame(c, offsetof(struct jit_frame, take));
    if (in->guard == NO_GUARD) {
        go_on(c, in->target, 1, WARP_LANES);
        return;
    }
    guard_mask(c, in, RAX);
    if (c->part)
        emit_alu_mem(e, ALU_CMP, false, RAX, frame_at(offsetof(struct jit_frame, active)));
    else
        emit_alu_imm(e, ALU_CMP, false, RAX, -1);
    jump_t not_all = emit_jump_if(e, IF_NOT_ZERO);
    go_on(c, in->target, 1, WARP_LANES);
    emit_land(e, not_all);
    emit_alu(e, ALU_OR, false, RAX, RAX);
    jump_t some = emit_jump_if(e, IF_NOT_ZERO);
    go_on(c, pc + 1, 1, 0);
    emit_land(e, some);
}

static void compile_outs(struct compiler *c, size_t finish) {
    struct emit *e = &c->e;
    for (uint32_t i = 0; i < c->n_outs && !e->full; i++) {
        struct way_out *out = &c->outs[i];
        for (unsigned k = 0; k < out->n_jumps; k++)
            emit_land(e, out->jumps[k]);
        for (unsigned v = 0; v < N_VECTORS; v++)
            if (out->held[v].key != NO_LINE && out->held[v].dirty)
                store_line(c, &out->held[v], v);
        count(c, &out->done);
        if (out->reason == JIT_STOPPED) /* step() said why */
            emit_alu_imm(e, ALU_OR, false, RAX, (int32_t)out->index);
        else
            emit_constant(e, RAX, out->index | out->reason);
        emit_jump_to(e, finish);
    }
}

bool compile_block(struct compiler *c) {
    c->vectors = lanes_vectors(&c->e);
    c->strips = 1;
    forget_lines(c);
    forget_groups(c);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct inst *in = &c->first[i];
        c->rule[i] = is_access(in) ? NULL : op_rule(c, in);
        c->is_native[i] = c->rule[i] || (is_access(in) && access_is_native(c, in));
    }
    begin(c);
    c->inside = c->e.n;
    for (c->at = 0; c->at < c->n && !c->e.full; c->at++) {
        uint32_t n = strip_length(c);
        if (n > 1)
            compile_strips(c, n);
        else
            compile_inst(c);
    }
    store_lines(c);
    forget_lines(c);
    count(c, &c->done);
    c->done = (struct done){0};
    compile_branch(c);
    emit_constant(&c->e, RAX, c->n);
    size_t finish = c->e.n;
    end(c);
    compile_outs(c, finish);
    return !c->e.full;
}
