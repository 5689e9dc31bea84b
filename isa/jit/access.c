/* Loads and stores. Accesses with the same base register form a group, and one check covers the group: the 32 addresses
 * must have the profiled shape, and all bytes from the least offset to the greatest must be aligned and lie in one
 * allocation. If the check fails, the code takes a side exit. The interpreter then executes the access lane by lane,
 * and finds the fault, if any. */
#include "compile.h"
#include <limits.h>
#include <string.h>

static const enum gpr group_pointer[N_GROUPS][2] = {{R8, R9}, {R10, R11}, {R14, R15}};

enum access_shape access_shape_of(const uint64_t addr[WARP_LANES], unsigned bytes) {
    unsigned shape = 0;
    for (unsigned h = 0; h < 2; h++) {
        const uint64_t *a = addr + 16 * h;
        unsigned same = 0, row = 0;
        for (unsigned l = 1; l < 16; l++) {
            same += a[l] == a[0];
            row += a[l] == a[0] + (uint64_t)l * bytes;
        }
        if (same != 15 && row != 15)
            return ACCESS_ANY;
        shape |= (unsigned)(row == 15) << h;
    }
    return shape;
}

/* Returns the shape that the access is compiled for. With a partial warp all accesses gather or scatter, unless their
 * address is constant. With all lanes active, a store scatters unless its lanes access consecutive elements. Vectors
 * outside local memory always gather or scatter. */
static enum access_shape shape_at(const struct compiler *c, const struct inst *in) {
    if (access_is_local(c, in))
        return local_shape(c, in, (enum access_shape)profile_of(c, in)->shape);
    enum access_shape s = c->partial ? ACCESS_ANY : (enum access_shape)profile_of(c, in)->shape;
    if (in->n_list)
        return s < ACCESS_ANY ? ACCESS_ANY : s;
    if (c->partial && in->a & 1)
        return ACCESS_SAME_SAME;
    if (in->a & 1)
        return s < ACCESS_ANY ? ACCESS_SAME_SAME : s;
    return in->kind == K_STORE && s < ACCESS_ROW_ROW ? ACCESS_ANY : s;
}

/* Returns true for an access that is compiled as a loop over lanes, if it can be compiled: elements that have no vector
 * instruction, and stores for which AVX2 has none. */
static bool is_lane_loop(const struct compiler *c, const struct inst *in) {
    return in->msize < 4 || in->rsize != in->msize || (in->msize == 8 && access_is_local(c, in)) ||
           (in->n_list && in->msize == 8 && in->asize == 4) ||
           (c->e.vex && in->kind == K_STORE && shape_at(c, in) == ACCESS_ANY);
}

/* Returns true if the lanes can have addresses of their own. Lanes of 8 bytes with 4-byte addresses are excluded,
 * because a gather of 8-byte elements needs 8-byte addresses. */
static bool lanes_may_differ(const struct compiler *c, const struct inst *in) {
    return (in->asize == 8 || in->msize == 4 || is_lane_loop(c, in)) && !(in->a & 1) && in->imm % inst_bytes(in) == 0 &&
           (access_space(c, in) == SPACE_GLOBAL || in->space == SPACE_SHARED || access_is_local(c, in));
}

bool access_is_native(const struct compiler *c, const struct inst *in) {
    uint64_t at;
    enum { FAR = 1 << 20 }; /* limit of offsets: x86 displacements and their differences have 32 bits */
    enum space s = access_space(c, in);
    enum access_shape shape = shape_at(c, in);
    bool load = in->kind == K_LOAD;
    if (in->kind == K_ATOM)
        return atomic_is_native(c, in);
    if ((!load && in->kind != K_STORE) || in->guard != NO_GUARD || in->hints & (HINT_DEQ | HINT_MEMBERS))
        return false;
    if (in->msize > 8 || in->imm > FAR || in->imm < -FAR)
        return false;
    if (local_is_constant(c, in, &at))
        return true;
    if (access_is_local(c, in) && shape == ACCESS_SAME_SAME)
        return true;
    if (s != SPACE_GLOBAL && !access_is_local(c, in) && s != SPACE_SHARED && (s != SPACE_PARAM || !load))
        return false;
    /* strong global accesses are not compiled, nor are 32-bit global addresses, which may wrap inside an access */
    if (s == SPACE_GLOBAL && (inst_is_strong(in) || in->asize != 8))
        return false;
    if (c->partial &&
        (profile_of(c, in)->call_partial || (in->space == SPACE_GENERIC && !profile_of(c, in)->has_space)))
        return false;
    if (shape == ACCESS_ANY || (shape < ACCESS_ANY && is_lane_loop(c, in)))
        return lanes_may_differ(c, in);
    return load ? shape <= ACCESS_ROW_ROW : shape == ACCESS_ROW_ROW;
}

bool access_is_queued(const struct compiler *c, const struct inst *in) {
    return (in->kind == K_LOAD || in->kind == K_STORE) && in->hints & HINT_DEQ && in->guard == NO_GUARD &&
           in->space == SPACE_GLOBAL && (in->msize == 4 || in->msize == 8) && in->rsize == in->msize && !in->n_list &&
           in->a == c->program->deq_address && !in->imm && !inst_is_strong(in);
}

/* ---- groups ---- */

void groups_forget(struct compiler *c) {
    for (int g = 0; g < N_GROUPS; g++)
        c->groups[g].live = false;
}

static bool writes(const struct compiler *c, const struct inst *in, opnd_t r) {
    for (unsigned k = 0; in->kind == K_LOAD && k < in->n_list; k++)
        if (access_register(c, in, k) == r)
            return true;
    return in->kind != K_STORE && in->d == r;
}

void groups_invalidate(struct compiler *c) {
    for (int g = 0; g < N_GROUPS; g++)
        if (writes(c, inst_of(c), c->groups[g].base))
            c->groups[g].live = false;
}

static bool matches_group(const struct compiler *c, const struct group *g, const struct inst *in) {
    return in->a == g->base && in->msize == g->msize && access_space(c, in) == g->space && shape_at(c, in) == g->shape;
}

/* Returns the group that begins with the current access. The group includes the later accesses with the same base
 * register, up to the next write of that register. */
static struct group group_for(const struct compiler *c) {
    enum { NEAR = 1 << 16 }; /* an access with a larger difference of offsets is likely in another allocation */
    const struct inst *first = inst_of(c);
    struct group g = {.base = first->a,
                      .live = true,
                      .shape = (uint8_t)shape_at(c, first),
                      .space = (uint8_t)access_space(c, first),
                      .msize = first->msize,
                      .low = first->imm,
                      .high = first->imm};
    for (uint32_t i = c->at; i < c->n; i++) {
        const struct inst *in = &c->first[i];
        if (!c->is_native[i])
            break;
        bool access = in->kind == K_LOAD || in->kind == K_STORE;
        if (access && matches_group(c, &g, in) && (in->imm - first->imm) % in->msize == 0 &&
            in->imm - first->imm < NEAR && first->imm - in->imm < NEAR) {
            g.low = in->imm < g.low ? in->imm : g.low;
            g.high = in->imm > g.high ? in->imm : g.high;
            g.writes |= in->kind == K_STORE;
        }
        if (writes(c, in, g.base))
            break;
    }
    return g;
}

/* ---- checks ---- */

/* Gets the vector registers that hold the lines of the base register. Returns their number, or 0 if the base is a
 * constant. */
static unsigned base_lines(struct compiler *c, const struct inst *in, unsigned v[MAX_LINES]) {
    unsigned n = in->a & 1 ? 0 : lines_of(c, in->asize);
    for (unsigned i = 0; i < n; i++)
        v[i] = line_get(c, in->a, i, false);
    return n;
}

/* Copies the base addresses of the first lane of each half warp to RAX and RCX. */
static void first_lanes(struct compiler *c, const struct inst *in, const unsigned v[MAX_LINES], unsigned n) {
    struct emit *e = &c->e;
    bool wide = in->asize == 8;
    uint32_t move = wide ? V_TO_GPR64 : V_TO_GPR32;
    if (n == 0) {
        emit_load(e, wide, RAX, operand_at(in->a, 0));
        emit_mov(e, RCX, RAX);
        return;
    }
    emit_vector(e, move, v[0], 0, RAX, WHOLE);
    emit_vector(e, move, v[n / 2], 0, RCX, WHOLE);
}

/* Emits code that exits unless each half warp has the shape that the group expects. The code collects the bits that
 * differ in vector register 1. */
static void check_shape(struct compiler *c, const struct group *g, const unsigned v[MAX_LINES], unsigned n,
                        struct side_exit *out) {
    struct emit *e = &c->e;
    bool wide = inst_of(c)->asize == 8;
    for (unsigned i = 0; i < n; i++) {
        unsigned half = i / (n / 2), t = v[i];
        if (i % (n / 2) == 0)
            emit_vector(e, wide ? V_BROADCAST64 : V_BROADCAST32, 0, 0, v[i], WHOLE);
        if (g->shape >> half & 1) {
            size_t steps = wide ? offsetof(struct jit_tables, step8[g->msize == 8])
                                : offsetof(struct jit_tables, step4[g->msize == 8]);
            emit_vector_mem(e, wide ? V_SUB64 : V_SUB32, 2, t, table_at(steps + i % (n / 2) * line_bytes(c)), WHOLE);
            t = 2;
        }
        if (i == 0)
            emit_vector(e, V_XOR, 1, t, 0, WHOLE);
        else
            lanes_or_difference(e, 1, t, 0);
    }
    if (n) {
        lanes_test_any(e, 1);
        exit_if(c, out, IF_NOT_ZERO);
    }
}

#define IN_ALLOCATION(field) at(RDX, offsetof(struct allocation, field))

/* Emits code that sets RDX to the allocation that this access found last. Exits unless it is live, and writable if
 * needed. Uses RSI. */
static void find_allocation(struct compiler *c, bool writes, struct side_exit *out) {
    struct emit *e = &c->e;
    struct site *s = &c->sites[c->n_sites++];
    *s = (struct site){.index = c->at};
    emit_load(e, true, RSI, frame_at(offsetof(struct jit_frame, memory)));
    emit_constant(e, RDX, (uintptr_t)&s->hint);
    emit_load(e, false, RDX, at(RDX, 0));
    emit_alu_mem(e, ALU_CMP, false, RDX, at(RSI, offsetof(struct memory, n)));
    exit_if(c, out, IF_NOT_BELOW);
    emit_multiply(e, RDX, sizeof(struct allocation));
    emit_alu_mem(e, ALU_ADD, true, RDX, at(RSI, offsetof(struct memory, list)));
    emit_compare_byte(e, IN_ALLOCATION(live), 0);
    exit_if(c, out, IF_ZERO);
    if (writes) {
        emit_compare_byte(e, IN_ALLOCATION(read_only), 0);
        exit_if(c, out, IF_NOT_ZERO);
    }
}

/* Emits code that exits unless `extent` bytes from offset r on lie within `size` bytes. The code uses RSI. */
static void check_range(struct compiler *c, enum gpr r, enum gpr size, int64_t extent, struct side_exit *out) {
    struct emit *e = &c->e;
    emit_mov(e, RSI, size);
    emit_alu_imm(e, ALU_SUB, true, RSI, (int32_t)extent);
    exit_if(c, out, IF_BELOW);
    emit_alu(e, ALU_CMP, true, r, RSI);
    exit_if(c, out, IF_ABOVE);
}

static uint64_t window_of(const struct inst *in, enum space s) {
    if (in->space != SPACE_GENERIC)
        return 0;
    return s == SPACE_SHARED ? SHARED_WINDOW : s == SPACE_PARAM ? PARAM_WINDOW : 0;
}

/* Loads the size and the host address of shared memory or of the parameters. */
static void flat_space(struct compiler *c, enum space s, enum gpr size, enum gpr host) {
    bool shared = s == SPACE_SHARED;
    emit_load(&c->e, true, size,
              frame_at(shared ? offsetof(struct jit_frame, shared_bytes) : offsetof(struct jit_frame, param_bytes)));
    emit_load(&c->e, true, host,
              frame_at(shared ? offsetof(struct jit_frame, shared) : offsetof(struct jit_frame, params)));
}

/* Checks bounds and alignment. Sets pointer[h] to the host address that the first lane of half h of the warp
 * accesses with the smallest offset of the group. */
static void check_bounds(struct compiler *c, const struct group *g, const enum gpr pointer[2], struct side_exit *out) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    static const enum gpr offset[2] = {RAX, RCX};
    bool device = g->space == SPACE_GLOBAL;
    if (device) {
        find_allocation(c, g->writes, out);
        emit_load(e, true, pointer[1], IN_ALLOCATION(end));
        emit_alu_mem(e, ALU_SUB, true, pointer[1], IN_ALLOCATION(begin));
        emit_load(e, true, pointer[0], IN_ALLOCATION(host));
    } else {
        flat_space(c, (enum space)g->space, pointer[1], pointer[0]);
    }
    int64_t low = g->low - (int64_t)window_of(in, (enum space)g->space);
    for (unsigned h = 0; h < (in->a & 1 ? 1 : 2); h++) {
        if (low)
            emit_alu_imm(e, ALU_ADD, true, offset[h], (int32_t)low);
        emit_test_imm(e, offset[h], g->msize - 1u);
        exit_if(c, out, IF_NOT_ZERO);
        if (device)
            emit_alu_mem(e, ALU_SUB, true, offset[h], IN_ALLOCATION(begin));
        check_range(c, offset[h], pointer[1], g->high - g->low + g->msize * (g->shape >> h & 1 ? 16 : 1), out);
    }
    emit_mov(e, pointer[1], pointer[0]);
    emit_alu(e, ALU_ADD, true, pointer[1], in->a & 1 ? RAX : RCX);
    emit_alu(e, ALU_ADD, true, pointer[0], RAX);
}

static bool covers_access(const struct compiler *c, const struct group *g, const struct inst *in) {
    return g->live && matches_group(c, g, in) && in->imm >= g->low && in->imm <= g->high &&
           (in->imm - g->low) % in->msize == 0 && (g->writes || in->kind == K_LOAD);
}

/* Emits prefetches of the row that a group will access some iterations later, if the distance between iterations stays
 * the same. Host processors do not prefetch over the long distances between iterations of a thread. Uses RCX. */
static void prefetch_next(struct compiler *c, enum gpr pointer) {
    enum { DOUBLINGS = 4 }; /* 16 iterations ahead */
    struct emit *e = &c->e;
    const struct place last = frame_at(offsetof(struct jit_frame, last[0]) + c->n_sites % JIT_STREAMS * 8);
    emit_mov(e, RCX, pointer);
    emit_alu_mem(e, ALU_SUB, true, RCX, last);
    emit_store(e, true, last, pointer);
    for (int i = 0; i < DOUBLINGS; i++)
        emit_alu(e, ALU_ADD, true, RCX, RCX);
    emit_alu(e, ALU_ADD, true, RCX, pointer);
    emit_prefetch(e, at(RCX, 0));
    emit_prefetch(e, at(RCX, 64));
}

/* Returns true for a block that branches to itself. */
static bool is_loop(const struct compiler *c) {
    const struct inst *end = &c->first[c->n];
    const uint32_t pc = (uint32_t)(end - c->program->code);
    return pc < c->program->n && end->kind == K_BRANCH && end->target == pc - c->n;
}

static const struct group *group_of(struct compiler *c) {
    const struct inst *in = inst_of(c);
    int oldest = 0;
    for (int i = 0; i < N_GROUPS; i++) {
        struct group *g = &c->groups[i];
        if (covers_access(c, g, in)) {
            g->used = ++c->clock;
            return g;
        }
        if (c->groups[oldest].live && (!g->live || g->used < c->groups[oldest].used))
            oldest = i;
    }
    struct group *g = &c->groups[oldest];
    *g = group_for(c);
    g->used = ++c->clock;
    unsigned v[MAX_LINES], n = base_lines(c, in, v);
    struct side_exit *out = side_exit_new(c, JIT_LEFT);
    check_shape(c, g, v, n, out);
    first_lanes(c, in, v, n);
    check_bounds(c, g, group_pointer[oldest], out);
    if (g->space == SPACE_GLOBAL && g->shape == ACCESS_ROW_ROW && !(g->base & 1) && is_loop(c))
        prefetch_next(c, group_pointer[oldest][0]);
    lines_unpin(c);
    return g;
}

/* ---- gathers ---- */

/* Emits code that sets vector register 2 to the lanes' distances from the address in register 0, which gather_bounds()
 * has set. v holds line i of the base register. */
static void line_distances(struct emit *e, bool wide, unsigned v) {
    emit_vector(e, wide ? V_SUB64 : V_SUB32, 2, v, 0, WHOLE);
}

/* Emits code that sets vector register 2 to the lanes' offsets from the host address in RDX. */
static void line_offsets(struct compiler *c, bool wide, unsigned v, unsigned i) {
    line_distances(&c->e, wide, v);
    if (access_is_local(c, inst_of(c)))
        local_offsets(c, i);
}

/* Loads what the bounds check of an access needs. RDX gets the host address of the first byte of the memory space or
 * allocation. Vector register 0 gets the device address of this byte, minus the instruction's immediate offset. Vector
 * register 1 gets the greatest distance from register 0 at which an element is within bounds. */
static void gather_bounds(struct compiler *c, const struct inst *in, bool wide, struct side_exit *out) {
    struct emit *e = &c->e;
    if (access_space(c, in) == SPACE_GLOBAL) {
        find_allocation(c, in->kind == K_STORE, out);
        emit_load(e, true, RSI, IN_ALLOCATION(begin));
        emit_load(e, true, RAX, IN_ALLOCATION(end));
        emit_alu(e, ALU_SUB, true, RAX, RSI);
        emit_load(e, true, RDX, IN_ALLOCATION(host));
    } else if (access_is_local(c, in)) {
        emit_load(e, true, RDX, frame_at(offsetof(struct jit_frame, local)));
        emit_constant(e, RAX, c->program->local_bytes);
        emit_constant(e, RSI, in->space == SPACE_GENERIC ? LOCAL_WINDOW : 0);
    } else {
        flat_space(c, access_space(c, in), RAX, RDX);
        emit_constant(e, RSI, 0);
    }
    emit_alu_imm(e, ALU_SUB, true, RSI, (int32_t)in->imm);
    emit_alu_imm(e, ALU_SUB, true, RAX, (int32_t)inst_bytes(in));
    exit_if(c, out, IF_BELOW);
    emit_alu(e, ALU_ADD, true, RAX, RSI);
    lanes_broadcast(e, wide, 0, RSI);
    lanes_broadcast(e, wide, 1, RAX);
}

/* Exits unless all offsets are within bounds and all addresses are aligned. The sign bit of a difference shows an
 * offset out of bounds, since spaces are small. The instruction's offset is aligned. */
static void gather_check(struct compiler *c, const struct inst *in, const unsigned v[MAX_LINES], unsigned n,
                         struct side_exit *out) {
    struct emit *e = &c->e;
    bool wide = in->asize == 8;
    uint32_t shift_op = wide ? V_SHIFT64 : V_SHIFT32;
    unsigned bits = 8 * in->asize;
    emit_vector(e, V_XOR, 3, 3, 3, WHOLE);
    for (unsigned i = 0; i < n; i++) {
        line_distances(e, wide, v[i]);
        lanes_or_active(e, c->partial, 3, 2, i, in->asize);
        emit_vector(e, wide ? V_SUB64 : V_SUB32, 2, 1, v[i], WHOLE);
        lanes_or_active(e, c->partial, 3, 2, i, in->asize);
    }
    emit_vector(e, shift_op, SHIFT_RIGHT, 3, 3, WHOLE);
    emit_byte(e, bits - 1);
    for (unsigned i = 0; i < n && inst_bytes(in) > 1; i++)
        lanes_or_active(e, c->partial, 3, v[i], i, in->asize);
    emit_vector(e, shift_op, SHIFT_LEFT, 3, 3, WHOLE);
    emit_byte(e, bits - (inst_bytes(in) > 1 ? (unsigned)__builtin_ctz(inst_bytes(in)) : 1));
    lanes_test_any(e, 3);
    exit_if(c, out, IF_NOT_ZERO);
}

/* Emits the check of an access whose lanes have addresses of their own. Fills v with the vector registers that hold the
 * lines of the base register, and returns their number. RDX then holds the host address of the memory space or
 * allocation. */
static unsigned check_lanes(struct compiler *c, unsigned v[MAX_LINES]) {
    const struct inst *in = inst_of(c);
    const unsigned n = base_lines(c, in, v);
    struct side_exit *out = side_exit_new(c, JIT_LEFT);
    gather_bounds(c, in, in->asize == 8, out);
    gather_check(c, in, v, n, out);
    return n;
}

/* Stores the distance of each lane's element from RDX in jit_frame.offsets. */
static void store_offsets(struct compiler *c) {
    unsigned v[MAX_LINES], n = check_lanes(c, v);
    for (unsigned i = 0; i < n; i++) {
        line_offsets(c, inst_of(c)->asize == 8, v[i], i);
        emit_vector_mem(&c->e, V_STORE, 2, 0, frame_at(offsetof(struct jit_frame, offsets) + i * line_bytes(c)), WHOLE);
    }
}

/* Gathers element k of each lane. Vector register `from` holds line i of the base register. */
static void gather_line(struct compiler *c, uint32_t op, unsigned to, unsigned from, unsigned i, unsigned k) {
    const struct inst *in = inst_of(c);
    bool wide = in->asize == 8;
    line_offsets(c, wide, from, i);
    lanes_gather(&c->e, op, to, at(RDX, access_step(c, in, k)), 2, c->partial, i, wide ? 8 : 4);
}

/* Scatters element k of each lane from vector register `from`. `address` holds line i of the base register. */
static void scatter_line(struct compiler *c, uint32_t op, unsigned from, unsigned address, unsigned i, unsigned k) {
    const struct inst *in = inst_of(c);
    bool wide = in->asize == 8;
    line_offsets(c, wide, address, i);
    lanes_active(&c->e, 1, i, wide ? 8 : 4);
    emit_vector_index(&c->e, op + V_TO_SCATTER, from, at(RDX, access_step(c, in, k)), 2, 1);
}

/* Scatters element k of each lane. v: the vector registers that hold the lines of the base register. If several lanes
 * store to the same address, the value of the highest lane remains, as in the interpreter. The vectors of two lanes
 * have the same address or no common byte, because they are aligned. */
static void scatter(struct compiler *c, const unsigned v[MAX_LINES], unsigned k) {
    const struct inst *in = inst_of(c);
    bool wide = in->asize == 8;
    const uint32_t base = c->pinned;
    for (unsigned i = 0; i < lines_of(c, in->msize); i++, c->pinned = base) {
        unsigned b = line_get(c, access_register(c, in, k), i, false);
        if (!wide || in->msize == 8) {
            scatter_line(c, wide ? V_GATHER64 : V_GATHER32, b, v[i], i, k);
        } else {
            scatter_line(c, V_GATHERQ32, b, v[2 * i], 2 * i, k);
            lanes_upper_half(&c->e, 3, b);
            scatter_line(c, V_GATHERQ32, 3, v[2 * i + 1], 2 * i + 1, k);
        }
    }
}

static void gather(struct compiler *c, const unsigned v[MAX_LINES], unsigned k) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    bool wide = in->asize == 8;
    const uint32_t base = c->pinned;
    for (unsigned i = 0; i < lines_of(c, in->msize); i++, c->pinned = base) {
        if (!wide || in->msize == 8) {
            gather_line(c, !wide ? V_GATHER32 : V_GATHER64, 1, v[i], i, k);
        } else {
            gather_line(c, V_GATHERQ32, 1, v[2 * i], 2 * i, k);
            gather_line(c, V_GATHERQ32, 3, v[2 * i + 1], 2 * i + 1, k);
            lanes_join_halves(e, 1, 1, 3);
        }
        unsigned d = line_new(c, access_register(c, in, k), i, false);
        emit_vector(e, V_COPY64, d, 0, 1, WHOLE);
    }
}

/* Emits an access whose lanes have addresses of their own. An element that is loaded into the base register comes last,
 * because the other elements need the addresses there. */
static void access_apart(struct compiler *c) {
    const struct inst *in = inst_of(c);
    unsigned v[MAX_LINES];
    check_lanes(c, v);
    unsigned into_base = UINT_MAX;
    for (unsigned k = 0; k < inst_elements(in); k++) {
        if (in->kind == K_STORE)
            scatter(c, v, k);
        else if (access_moves(c, in, k) && access_register(c, in, k) == in->a)
            into_base = k;
        else if (access_moves(c, in, k))
            gather(c, v, k);
    }
    if (into_base != UINT_MAX)
        gather(c, v, into_base);
}

/* ---- rows ---- */

void compile_access(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    uint64_t offset;
    if (local_is_constant(c, in, &offset)) {
        local_access(c, offset);
        return;
    }
    if (access_is_local(c, in) && shape_at(c, in) == ACCESS_SAME_SAME) {
        unsigned v[MAX_LINES], n = base_lines(c, in, v);
        struct side_exit *out = side_exit_new(c, JIT_LEFT);
        check_shape(c, &(struct group){.shape = ACCESS_SAME_SAME}, v, n, out);
        first_lanes(c, in, v, n);
        local_access_same(c, out);
        return;
    }
    if (in->kind == K_ATOM) {
        store_offsets(c);
        compile_atomic_loop(c);
        groups_forget(c);
        return;
    }
    if (is_lane_loop(c, in)) {
        store_offsets(c);
        compile_lane_loop(c, NULL);
        return;
    }
    if (shape_at(c, in) == ACCESS_ANY) {
        access_apart(c);
        return;
    }
    const struct group *g = group_of(c);
    const enum gpr *pointer = group_pointer[g - c->groups];
    unsigned lines = lines_of(c, in->msize);
    for (unsigned i = line_first(c, in->msize); i < line_end(c, in->msize); i++, lines_unpin(c)) {
        unsigned half = i / (lines / 2);
        struct place p =
            at(pointer[half], in->imm - g->low + (g->shape >> half & 1 ? i % (lines / 2) * line_bytes(c) : 0));
        if (in->kind == K_STORE)
            emit_vector_mem(e, V_STORE, line_get(c, in->b, i, false), 0, p, WHOLE);
        else
            emit_vector_mem(e,
                            g->shape >> half & 1 ? V_LOAD
                            : in->msize == 4     ? V_LOAD_SAME32
                                                 : V_LOAD_SAME64,
                            line_new(c, in->d, i, false), 0, p, WHOLE);
    }
}

bool access_check_load(struct compiler *c) {
    const struct inst *in = inst_of(c);
    if (in->kind != K_LOAD || access_is_local(c, in) || is_lane_loop(c, in) || shape_at(c, in) == ACCESS_ANY)
        return false;
    group_of(c);
    return true;
}

bool access_is_checked(const struct compiler *c, const struct inst *in, unsigned live) {
    bool checked = false;
    for (int g = 0; g < N_GROUPS; g++)
        checked |= live >> g & 1 && covers_access(c, &c->groups[g], in);
    return checked && in->kind == K_LOAD && !is_lane_loop(c, in) && shape_at(c, in) != ACCESS_ANY;
}

unsigned groups_after_write(const struct compiler *c, unsigned live, opnd_t d) {
    for (int g = 0; g < N_GROUPS; g++)
        live &= ~((unsigned)(c->groups[g].base == d) << g);
    return live;
}
