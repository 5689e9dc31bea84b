/* Compiles operations across lanes. Shuffles (with AVX-512) and votes become vector code. Matches, reductions, other
 * shuffles and mma become direct calls of their functions in isa/exec. The code exits if lanes of the member mask are
 * missing; with all members, these functions neither fault nor wait. */
#include "compile.h"
#include "isa/machine/warp.h"

#define V_PERMUTE2 VECTOR(2, 1, 0, 0x76) /* vpermi2d: reg has the indices; second and third are the two tables */

enum { HOW_LE = 2, HOW_GE = 5 }; /* predicate numbers of vpcmpd */

static uint32_t constant_of(const struct compiler *c, opnd_t o) {
    uint32_t value;
    memcpy(&value, c->program->constants + (o >> 1), sizeof value);
    return value;
}

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

/* Returns the constant that the block has moved to the 32-bit register o before `in`, or o. */
static opnd_t known_value(const struct compiler *c, const struct inst *in, opnd_t o) {
    while (!(o & 1) && in-- > c->first) {
        if (in->n_list && in->kind != K_STORE)
            return o;
        if (in->kind == K_STORE || (in->d != o && in->d2 != o))
            continue;
        return row_of(in)->op == OP_MOV && in->dsize == 4 && in->guard == NO_GUARD && in->d == o && in->a & 1 ? in->a
                                                                                                              : o;
    }
    return o;
}

/* Returns true if the code checks the member mask: its operand is a register, or some lanes are not active. */
static bool checks_members(const struct compiler *c, const struct inst *in) {
    return in->hints & HINT_MEMBERS && (c->partial || !(known_value(c, in, in->e) & 1));
}

/* Returns true if the operation may be compiled at all. */
static bool may_compile(const struct compiler *c, const struct inst *in) {
    if (in->kind != K_WARP || in->guard != NO_GUARD || in->hints & HINT_DEQ)
        return false;
    return !checks_members(c, in) || !profiled_call(c, in);
}

bool warp_op_is_direct(const struct compiler *c, const struct inst *in) {
    if (!may_compile(c, in))
        return false;
    const unsigned op = row_of(in)->op;
    return op == OP_SHFL || op == OP_MATCH || op == OP_REDUX || op == OP_ELECT || (op == OP_MMA && !c->partial);
}

bool warp_op_is_vector(const struct compiler *c, const struct inst *in) {
    if (!may_compile(c, in))
        return false;
    const unsigned op = row_of(in)->op;
    return op == OP_VOTE || op == OP_ACTIVEMASK || (op == OP_SHFL && !c->e.vex);
}

/* Emits code that sets ESI to the member mask of the first active lane, whose register memory holds. */
static void load_mask(struct compiler *c, const struct inst *in) {
    struct emit *e = &c->e;
    const opnd_t mask = known_value(c, in, in->e);
    if (!c->partial || mask & 1) {
        emit_load(e, false, RSI, operand_at(mask, 0));
        return;
    }
    emit_load(e, false, RSI, frame_at(offsetof(struct jit_frame, active)));
    emit_first_bit(e, RCX, RSI);
    emit_load_indexed(e, 4, false, RSI, (struct indexed){BANK0, RCX, 4, (int32_t)(mask >> 1)});
}

/* Emits code that exits unless the active lanes have the member mask ESI. v: the lines of the masks. */
static void check_same(struct compiler *c, const unsigned v[MAX_LINES], unsigned n, struct side_exit *out) {
    struct emit *e = &c->e;
    lanes_broadcast(e, false, 0, RSI);
    emit_vector(e, V_XOR, 3, 3, 3, WHOLE);
    for (unsigned i = 0; i < n; i++) {
        emit_vector(e, V_XOR, 2, v[i], 0, WHOLE);
        lanes_or_active(e, c->partial, 3, 2, i, 4);
    }
    lanes_test_any(e, 3);
    exit_if(c, out, IF_NOT_ZERO);
}

/* Emits code that exits unless the members have arrived, as warp_sync_together() tests. ESI then holds the mask of the
 * first active lane. */
static void check_members(struct compiler *c, const struct inst *in) {
    struct emit *e = &c->e;
    const bool is_register = !(known_value(c, in, in->e) & 1);
    const struct place other = at(RDX, offsetof(struct warp, live)),
                       waits = at(RDX, offsetof(struct warp, sync.waiting));
    unsigned v[MAX_LINES], n = is_register ? lines_of(c, 4) : 0;
    if (is_register)
        lines_write_back(c, in->e, 4);
    for (unsigned i = 0; i < n; i++)
        v[i] = line_get(c, in->e, i, false);
    struct side_exit *out = checks_members(c, in) ? side_exit_new(c, JIT_LEFT) : NULL;
    load_mask(c, in);
    if (n)
        check_same(c, v, n, out);
    if (c->partial) {
        emit_load(e, true, RDX, frame_at(offsetof(struct jit_frame, warp)));
        emit_load(e, false, RAX, frame_at(offsetof(struct jit_frame, inactive)));
        emit_alu_mem(e, ALU_AND, false, RAX, other);
        emit_alu(e, ALU_AND, false, RAX, RSI);
        exit_if(c, out, IF_NOT_ZERO);
        emit_load(e, false, RAX, frame_at(offsetof(struct jit_frame, active)));
        emit_alu_mem(e, ALU_AND, false, RAX, waits);
        exit_if(c, out, IF_NOT_ZERO);
    }
    lines_unpin(c);
}

/* ---- shuffles ---- */

/* Emits code for line i that sets v to the lanes that shuffle_source() returns, and mask 1 + i to the lanes whose
 * source is in range. b and x: lines of the operands b and c. Uses vector registers 0 to 3. */
static void shuffle_sources(struct emit *e, unsigned mode, unsigned i, unsigned v, unsigned b, unsigned x) {
    const struct place lane = table_at(offsetof(struct jit_tables, lane) + 64 * (size_t)i),
                       low = table_at(offsetof(struct jit_tables, low_5_bits));
    emit_vector(e, V_SHIFT32, SHIFT_RIGHT, 1, x, WHOLE);
    emit_byte(e, 8);
    emit_vector(e, V_ANDNOT, 2, 1, x, WHOLE);
    emit_vector_mem(e, V_AND, 2, 2, low, WHOLE);  /* clamp & ~segment */
    emit_vector_mem(e, V_AND, 3, 1, lane, WHOLE); /* the first lane of the segment */
    emit_vector(e, V_OR, 2, 2, 3, WHOLE);         /* the last lane */
    emit_vector_mem(e, V_AND, 0, b, low, WHOLE);
    if (mode == MODE_IDX) {
        emit_vector(e, V_ANDNOT, 0, 1, 0, WHOLE);
        emit_vector(e, V_OR, 0, 0, 3, WHOLE);
    } else if (mode == MODE_UP) {
        emit_vector_mem(e, V_LOAD, 1, 0, lane, WHOLE);
        emit_vector(e, V_SUB32, 0, 1, 0, WHOLE);
    } else {
        emit_vector_mem(e, mode == MODE_BFLY ? V_XOR : V_ADD32, 0, 0, lane, WHOLE);
    }
    lanes_compare(e, V_CMP_S32, 1 + i, 0, 2, mode == MODE_UP ? HOW_GE : HOW_LE);
    emit_vector_mem(e, V_LOAD, v, 0, lane, WHOLE);
    lanes_merge(e, 1 + i, v, 0);
}

/* Emits code for line i of a shuffle without segments: a lane reads lane b (idx) or l ^ b (bfly). Only the lower five
 * bits of b count, and the permutation instruction ignores the others, too. */
static void simple_sources(struct emit *e, unsigned mode, unsigned i, unsigned v, unsigned b) {
    if (mode == MODE_BFLY)
        emit_vector_mem(e, V_XOR, v, b, table_at(offsetof(struct jit_tables, lane) + 64 * (size_t)i), WHOLE);
    else
        emit_vector(e, V_COPY32, v, 0, b, WHOLE);
}

/* A lane that is not active supplies 0. */
static void compile_shuffle(struct compiler *c, const struct inst *in) {
    struct emit *e = &c->e;
    const unsigned mode = form_get(row_of(in)->form, CAT_MODE);
    const opnd_t b = known_value(c, in, in->b), segment = known_value(c, in, in->c);
    const bool simple =
        (mode == MODE_IDX || mode == MODE_BFLY) && segment & 1 && constant_of(c, segment) == WARP_LANES - 1;
    unsigned v[2], a[2];
    if (checks_members(c, in))
        check_members(c, in);
    for (unsigned i = 0; i < 2; i++) {
        a[i] = line_get(c, in->a, i, false);
        v[i] = line_temporary(c, i);
        const unsigned from = line_get(c, b, i, false);
        if (simple)
            simple_sources(e, mode, i, v[i], from);
        else
            shuffle_sources(e, mode, i, v[i], from, line_get(c, segment, i, false));
    }
    for (unsigned i = 0; i < 2 && c->partial; i++) {
        lanes_keep_active(e, i, a[i], i);
        a[i] = i;
    }
    for (unsigned i = 0; i < 2; i++) {
        emit_vector(e, V_PERMUTE2, v[i], a[0], a[1], WHOLE);
        line_rename(c, v[i], in->d, i);
    }
    if (in->d2 == OPND_SINK)
        return;
    if (simple)
        emit_constant(e, RAX, LANES_ALL);
    else
        lanes_join_masks(e, 2);
    put_predicate(c, in, in->d2, RAX);
}

/* ---- votes ---- */

/* Emits code that sets EDX to all ones if the vote of EAX, the members with a true predicate, among ECX succeeds. */
static void vote(struct emit *e, unsigned mode) {
    const bool all = mode != MODE_ANY, uniform = mode == MODE_UNI;
    jump_t none = 0;
    emit_constant(e, RDX, uniform ? LANES_ALL : 0);
    emit_alu(e, ALU_OR, false, RAX, RAX);
    if (uniform)
        none = emit_jump_if(e, IF_ZERO);
    if (all)
        emit_alu(e, ALU_XOR, false, RAX, RCX);
    jump_t keeps = emit_jump_if(e, !all || uniform ? IF_ZERO : IF_NOT_ZERO);
    emit_constant(e, RDX, uniform ? 0 : LANES_ALL);
    emit_land(e, keeps);
    if (uniform)
        emit_land(e, none);
}

static void compile_vote(struct compiler *c, const struct inst *in) {
    struct emit *e = &c->e;
    const unsigned mode = form_get(row_of(in)->form, CAT_MODE);
    if (in->hints & HINT_MEMBERS)
        check_members(c, in);
    else
        emit_constant(e, RSI, LANES_ALL);
    if (c->partial)
        emit_alu_mem(e, ALU_AND, false, RSI, frame_at(offsetof(struct jit_frame, active)));
    emit_mov(e, RCX, RSI);
    emit_load(e, false, RAX, operand_at(in->a, 0));
    emit_alu(e, ALU_AND, false, RAX, RCX);
    if (mode == MODE_BALLOT)
        return;
    vote(e, mode);
    put_predicate(c, in, in->d, RDX);
}

void compile_warp_op(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const unsigned op = row_of(in)->op;
    if (op == OP_SHFL) {
        compile_shuffle(c, in);
        return;
    }
    if (op == OP_VOTE)
        compile_vote(c, in);
    else if (c->partial)
        emit_load(e, false, RAX, frame_at(offsetof(struct jit_frame, active)));
    else
        emit_constant(e, RAX, LANES_ALL);
    if (!in->dsize)
        return;
    lanes_broadcast(e, false, 0, RAX);
    for (unsigned i = 0; i < lines_of(c, 4); i++, lines_unpin(c))
        emit_vector(e, V_COPY32, line_new(c, in->d, i, false), 0, 0, WHOLE);
}

void compile_direct(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    if (checks_members(c, in))
        check_members(c, in);
    lines_forget(c);
    lanes_zero_upper(e);
    emit_load(e, true, RDI, frame_at(offsetof(struct jit_frame, warp)));
    emit_constant(e, RSI, (uintptr_t)in);
    if (c->partial)
        emit_load(e, false, RDX, frame_at(offsetof(struct jit_frame, active)));
    else
        emit_constant(e, RDX, LANES_ALL);
    emit_load(e, true, RCX, frame_at(offsetof(struct jit_frame, fx)));
    emit_constant(e, RAX, (uintptr_t)in->fn.warp);
    emit_call(e, RAX);
}
