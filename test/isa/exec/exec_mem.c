/* Tests one memory instruction of one warp. Device memory has 4 KB, and byte i contains (7 i + 3) mod 256. */
#include "isa/walk.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

enum { BYTES = 4096, LOCAL = 256, SHARED = 2048 };
static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;
static uint64_t buffer;
static opnd_t base, reg[8];
static unsigned char params[64];

static unsigned char pattern(uint64_t i) { return (unsigned char)(7 * i + 3); }

static void setup(unsigned rsize) {
    a = asm_new();
    a->p.shared_bytes = SHARED;
    a->p.local_bytes = LOCAL;
    a->p.param_bytes = sizeof params;
    mem_init(&mem, 0);
    buffer = mem_alloc(&mem, BYTES, 0, NULL, false);
    for (uint64_t i = 0; i < BYTES; i++)
        mem.list[0].host[i] = pattern(i);
    for (unsigned i = 0; i < sizeof params; i++)
        params[i] = pattern(i);
    base = asm_reg(a, 8);
    for (int e = 0; e < 8; e++)
        reg[e] = asm_reg(a, rsize);
}

static void begin(void) {
    asm_end(a);
    launch = asm_launch(a, &mem, 1, 32);
    launch.params = params;
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
}

static void end(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}

static void set_base(int lane, uint64_t address) { ((uint64_t *)reg_ptr(w, base))[lane] = address; }

/* Adds a memory instruction on n elements (1: a scalar). */
static struct inst *emit(const char *opcode, unsigned rsize, int n, int64_t offset) {
    struct inst *in = asm_mem(a, opcode, reg[0], rsize, base, offset);
    if (n > 1) {
        in->list = asm_list(a, reg, (uint32_t)n);
        in->n_list = (uint8_t)n;
    }
    return in;
}

/* Returns the register value that a load of `msize` bytes from `from` must give, sign- or zero-extended. */
static uint64_t extended(const unsigned char *from, unsigned msize, bool sign) {
    uint64_t v = 0;
    for (unsigned i = 0; i < msize && i < 8; i++)
        v |= (uint64_t)from[i] << 8 * i;
    if (sign && msize < 8 && v >> (8 * msize - 1) & 1)
        v |= ~0ull << 8 * msize;
    return v;
}

/* Eight patterns of addresses in a warp: 0 consecutive, 1 uniform, 2 reversed, 3 both half warps consecutive, 4 both
 * half warps uniform, 5 one half warp consecutive and one uniform, 6 consecutive except lane 11, 7 irregular with
 * repeated addresses. place() returns the offset of a lane's address in pattern `kind`. */
enum { N_PLACES = 8 };
static uint64_t place(int kind, int lane, unsigned bytes) {
    switch (kind) {
    case 0:
        return (uint64_t)lane * bytes;
    case 1:
        return 5 * bytes;
    case 2:
        return (uint64_t)(31 - lane) * bytes;
    case 3:
        return (uint64_t)(lane / 16 * 40 + lane % 16) * bytes;
    case 4:
        return (uint64_t)(lane / 16 * 7) * bytes;
    case 5:
        return (uint64_t)(lane < 16 ? lane : 3) * bytes;
    case 6:
        return (uint64_t)(lane == 11 ? 2 : lane) * bytes;
    default:
        return (uint64_t)(lane * 13 % 17) * bytes;
    }
}

/* Checks that fx.halves, the shape of each half warp's addresses, agrees with the addresses. For full warps, patterns
 * 0, 1, 3 and 4 must be recognized. */
static void check_halves(int kind, rowmask_t m, unsigned bytes) {
    static const uint8_t shapes[N_PLACES] = {SHAPE_UNIT, SHAPE_UNIFORM, SHAPE_ANY, SHAPE_UNIT, SHAPE_UNIFORM};
    if (m == LANES_ALL)
        ck_assert_uint_eq(fx.halves.shape, shapes[kind]);
    for (unsigned l = 0; l < WARP_LANES && fx.halves.shape != SHAPE_ANY; l++)
        if (m >> l & 1)
            ck_assert_uint_eq(halves_lane(&fx.halves, l, bytes), fx.addr[l]);
}

static const struct width {
    const char *type;
    unsigned rsize;
} widths[] = {{"u8", 2},  {"u8", 4},  {"u8", 8},  {"s8", 2},  {"s8", 4},  {"s8", 8},  {"b8", 2},  {"u16", 2},
              {"u16", 4}, {"u16", 8}, {"s16", 2}, {"s16", 4}, {"s16", 8}, {"b16", 2}, {"u32", 4}, {"u32", 8},
              {"s32", 4}, {"s32", 8}, {"f32", 4}, {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b64", 8}, {"b128", 16}};
enum { N_WIDTHS = sizeof widths / sizeof widths[0] };
static const rowmask_t masks[] = {LANES_ALL, 0x0000ffff, 0xfffe0000, 0x7ffe7ffe, 0x80000001, 0x5a5a0ff0, 1};

static const char *spelled(const char *what, const char *space, int n, const char *type) {
    static char text[64];
    snprintf(text, sizeof text, "%s.%s%s.%s", what, space, n == 8 ? ".v8" : n == 4 ? ".v4" : n == 2 ? ".v2" : "", type);
    return text;
}

static void check_load(const struct width *x, int kind, rowmask_t m, int n) {
    setup(x->rsize);
    struct inst *in = emit(spelled("ld", "global", n, x->type), x->rsize, n, 16);
    begin();
    unsigned bytes = in->msize * (unsigned)n;
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, m >> l & 1 ? buffer + 48 + place(kind, l, bytes) : 0xdead);
    for (int e = 0; e < n; e++)
        memset(reg_ptr(w, reg[e]), 0xee, WARP_LANES * x->rsize);
    exec_inst(w, in, m, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(fx.space, SPACE_GLOBAL);
    for (int e = 0; e < n; e++)
        for (int l = 0; l < WARP_LANES; l++) {
            unsigned char want[16];
            uint64_t at = 64 + place(kind, l, bytes) + (unsigned)e * in->msize;
            uint64_t v = extended(mem.list[0].host + at, in->msize, in->is_signed);
            memcpy(want, &v, 8);
            if (in->msize == 16)
                memcpy(want, mem.list[0].host + at, 16);
            if (!(m >> l & 1))
                memset(want, 0xee, sizeof want);
            else
                ck_assert_uint_eq(fx.addr[l], buffer + 64 + place(kind, l, bytes));
            ck_assert_mem_eq((char *)reg_ptr(w, reg[e]) + (unsigned)l * x->rsize, want, x->rsize);
        }
    check_halves(kind, m, bytes);
    end();
}

START_TEST(loads) {
    for (int kind = 0; kind < N_PLACES; kind++)
        for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
            for (int n = 1; n <= 4 && (n == 1 || widths[_i].rsize < 8); n *= 2)
                check_load(&widths[_i], kind, masks[m], n);
}
END_TEST

static void check_store(const struct width *x, int kind, rowmask_t m, int n) {
    setup(x->rsize);
    struct inst *in = emit(spelled("st", "global", n, x->type), x->rsize, n, 16);
    begin();
    unsigned bytes = in->msize * (unsigned)n;
    unsigned char want[BYTES];
    memcpy(want, mem.list[0].host, BYTES);
    for (int e = 0; e < n; e++)
        for (unsigned i = 0; i < WARP_LANES * x->rsize; i++)
            ((unsigned char *)reg_ptr(w, reg[e]))[i] = (unsigned char)(i * 11 + (unsigned)e * 5);
    for (int l = 0; l < WARP_LANES; l++) {
        set_base(l, m >> l & 1 ? buffer + 48 + place(kind, l, bytes) : 0xdead);
        for (int e = 0; e < n && m >> l & 1; e++)
            memcpy(want + 64 + place(kind, l, bytes) + (unsigned)e * in->msize,
                   (char *)reg_ptr(w, reg[e]) + (unsigned)l * x->rsize, in->msize); /* the low bytes */
    }
    exec_inst(w, in, m, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_mem_eq(mem.list[0].host, want, BYTES);
    check_halves(kind, m, bytes);
    end();
}

START_TEST(stores) {
    for (int kind = 0; kind < N_PLACES; kind++)
        for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
            for (int n = 1; n <= 4 && (n == 1 || widths[_i].rsize < 8); n *= 2)
                check_store(&widths[_i], kind, masks[m], n);
}
END_TEST

START_TEST(vectors_of_eight) {
    setup(4);
    struct inst *in = emit("ld.global.v8.f32", 4, 8, 0);
    begin();
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, buffer + 32 * (uint64_t)l);
    exec_inst(w, in, LANES_ALL, &fx);
    uint32_t want;
    memcpy(&want, mem.list[0].host + 32 * 9 + 4 * 6, 4); /* lane 9, element 6 */
    ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[6]))[9], want);
    end();
}
END_TEST

START_TEST(addresses_of_32_bits_wrap) {
    setup(4);
    struct inst *in = emit("ld.shared.u32", 4, 1, -8);
    in->asize = 4;
    begin();
    for (uint32_t i = 0; i < SHARED / 4; i++)
        ((uint32_t *)cta->shared)[i] = i;
    for (int l = 0; l < WARP_LANES; l++)
        ((uint32_t *)reg_ptr(w, base))[l] = 8 + 4 * (uint32_t)l;
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[0]))[31], 31);
    ck_assert_uint_eq(fx.shared_lanes, LANES_ALL);
    end();
}
END_TEST

/* The lanes of a warp access consecutive words at 32-bit addresses. The words end at 4 GiB, or they continue at address
 * 0, which faults. Memory exists on both sides of 4 GiB, so an address of more than 32 bits would not fault. */
START_TEST(rows_at_the_end_of_32_bits) {
    static unsigned char host[4096];
    static const struct {
        uint32_t first, lanes; /* address of lane 0; number of words, after which the addresses repeat */
        int lane;              /* lane that faults, because its address has wrapped to 0; -1: no lane */
    } rows[] = {{0xffffff80, 32, -1}, {0xffffffc0, 32, 16}, {0xffffffe0, 32, 8},
                {0xffffffc0, 16, -1}, {0xffffffe0, 16, 8},  {0xfffffffc, 16, 1}};
    setup(4);
    struct inst *in = emit("ld.global.u32", 4, 1, 0);
    in->asize = 4;
    begin();
    const uint64_t at = mem_reserve(&mem, sizeof host, 2048, 0x100000000 - 2048);
    ck_assert_uint_eq(at, 0x100000000 - 2048);
    const struct mem_piece piece = {at, at + sizeof host, host, RANGE_WRITE};
    ck_assert(mem_place(&mem, at, at + sizeof host, &piece, 1));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int l = 0; l < WARP_LANES; l++)
            ((uint32_t *)reg_ptr(w, base))[l] = rows[i].first + 4 * ((uint32_t)l % rows[i].lanes);
        exec_inst(w, in, LANES_ALL, &fx);
        ck_assert_int_eq(fx.fault, rows[i].lane < 0 ? FAULT_NONE : FAULT_OUT_OF_BOUNDS);
        ck_assert(rows[i].lane < 0 || (fx.fault_lane == rows[i].lane && fx.fault_address == 0));
    }
    end();
}
END_TEST

/* The lanes access consecutive words. Only the words of the active lanes are inside the allocation. They are at its
 * start or at its end. */
START_TEST(rows_partly_out_of_bounds) {
    setup(4);
    struct inst *ld = emit("ld.global.u32", 4, 1, 0), *st = emit("st.global.u32", 4, 1, 0);
    begin();
    static const rowmask_t some[] = {0xfff00000, 0x00001fff, 0x0ff00ff0};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        for (int end_of = 0; end_of < 2; end_of++) {
            const int lowest = __builtin_ctz(some[i]), highest = 31 - __builtin_clz(some[i]);
            const uint64_t lane_0 = end_of ? BYTES - 4 - 4 * (uint64_t)highest : 0 - 4 * (uint64_t)lowest;
            for (int l = 0; l < WARP_LANES; l++)
                set_base(l, buffer + lane_0 + 4 * (uint64_t)l);
            memset(reg_ptr(w, reg[0]), 0xee, 128);
            exec_inst(w, ld, some[i], &fx);
            ck_assert_int_eq(fx.fault, FAULT_NONE);
            for (int l = 0; l < WARP_LANES; l++) {
                const uint64_t at = lane_0 + 4 * (uint64_t)l;
                const uint64_t want = some[i] >> l & 1 ? extended(mem.list[0].host + at, 4, false) : 0xeeeeeeee;
                ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[0]))[l], want);
            }
            exec_inst(w, st, some[i], &fx);
            ck_assert_int_eq(fx.fault, FAULT_NONE);
            const int beyond = end_of ? highest + 1 : lowest - 1;
            if (beyond < 0 || beyond >= WARP_LANES)
                continue;
            exec_inst(w, ld, some[i] | 1u << beyond, &fx);
            ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
            ck_assert_uint_eq(fx.fault_lane, beyond);
        }
    end();
}
END_TEST

/* Lanes 0 to 15 access shared memory within its bounds. Lanes 16 to 31 access addresses beyond its end. */
START_TEST(second_row_out_of_bounds) {
    setup(4);
    struct inst *in = emit("ld.shared.u32", 4, 1, 0);
    in->asize = 4;
    begin();
    for (int step = 0; step <= 4; step += 4) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            ((uint32_t *)reg_ptr(w, base))[l] = l < 16 ? 64 + (uint32_t)step * l : SHARED + (uint32_t)step * (l - 16);
        exec_inst(w, in, LANES_ALL, &fx);
        ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
        ck_assert_uint_eq(fx.fault_lane, 16);
        ck_assert_uint_eq(fx.fault_address, SHARED);
    }
    end();
}
END_TEST

START_TEST(local_memory_is_by_thread) {
    setup(4);
    struct inst *st = emit("st.local.u32", 4, 1, 12), *ld = emit("ld.local.u32", 4, 1, 12);
    begin();
    for (int l = 0; l < WARP_LANES; l++) {
        set_base(l, 0);
        ((uint32_t *)reg_ptr(w, reg[0]))[l] = 100 + (uint32_t)l;
    }
    exec_inst(w, st, LANES_ALL, &fx);
    memset(reg_ptr(w, reg[0]), 0, 128);
    exec_inst(w, ld, LANES_ALL, &fx);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[0]))[l], 100 + l);
        ck_assert_uint_eq(fx.addr[l], 12); /* byte offset in the thread's local memory */
    }
    ck_assert_uint_eq(fx.local_lanes, LANES_ALL);
    end();
}
END_TEST

START_TEST(parameters) {
    setup(8);
    struct inst *in = asm_mem(a, "ld.param.u64", reg[0], 8, OPND_ZERO, 24);
    begin();
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(((uint64_t *)reg_ptr(w, reg[0]))[31], extended(params + 24, 8, false));
    end();
}
END_TEST

START_TEST(generic_lanes_in_four_spaces) {
    setup(4);
    struct inst *in = emit("ld.u32", 4, 1, 0);
    begin();
    *(uint32_t *)(cta->shared + 40) = 1111;
    *(uint32_t *)(w->local + w->local_stride * 2 + 8) = 2222; /* lane 2 */
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, buffer);
    set_base(1, SHARED_WINDOW + 40);
    set_base(2, LOCAL_WINDOW + 8);
    set_base(3, PARAM_WINDOW + 4);
    exec_inst(w, in, LANES_ALL, &fx);
    const uint32_t *r = reg_ptr(w, reg[0]);
    ck_assert_uint_eq(r[0], extended(mem.list[0].host, 4, false));
    ck_assert_uint_eq(r[1], 1111);
    ck_assert_uint_eq(r[2], 2222);
    ck_assert_uint_eq(r[3], extended(params + 4, 4, false));
    ck_assert_uint_eq(fx.space, SPACE_GENERIC);
    ck_assert_uint_eq(fx.shared_lanes, 2);
    ck_assert_uint_eq(fx.local_lanes, 4);
    ck_assert_uint_eq(fx.addr[1], 40);
    ck_assert_uint_eq(fx.addr[2], 8);
    ck_assert_uint_eq(fx.halves.shape, SHAPE_ANY);
    end();
}
END_TEST

START_TEST(generic_lanes_all_shared) {
    setup(4);
    struct inst *in = emit("st.u32", 4, 1, 0);
    begin();
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, SHARED_WINDOW + 4 * (uint64_t)l);
    ((uint32_t *)reg_ptr(w, reg[0]))[7] = 77;
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(((uint32_t *)cta->shared)[7], 77);
    ck_assert_uint_eq(fx.space, SPACE_SHARED);
    ck_assert_uint_eq(fx.addr[7], 28);
    ck_assert_uint_eq(fx.halves.shape, SHAPE_UNIT);
    ck_assert_uint_eq(fx.halves.first[1], 64);
    end();
}
END_TEST

START_TEST(two_allocations_in_one_warp) {
    setup(4);
    struct inst *in = emit("ld.global.u32", 4, 1, 0);
    begin();
    uint64_t other = mem_alloc(&mem, 64, 0, NULL, false);
    uint32_t v = 4242;
    mem_write(&mem, other, &v, 4);
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, l & 1 ? other : buffer);
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[0]))[31], 4242);
    ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[0]))[30], extended(mem.list[0].host, 4, false));
    end();
}
END_TEST

/* If several lanes fault, the lowest of them is reported. Lanes below it have executed the access; this lane and higher
 * lanes have not. */
START_TEST(a_fault_stops_at_its_lane) {
    setup(4);
    struct inst *in = emit("st.global.u32", 4, 1, 0);
    begin();
    for (int l = 0; l < WARP_LANES; l++) {
        set_base(l, buffer + 4 * (uint64_t)l);
        ((uint32_t *)reg_ptr(w, reg[0]))[l] = 0xabcd;
    }
    set_base(20, buffer + BYTES - 2);
    set_base(9, buffer + BYTES);
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(fx.fault_lane, 9);
    ck_assert_uint_eq(fx.fault_address, buffer + BYTES);
    ck_assert_uint_eq(fx.fault_bytes, 4);
    ck_assert_uint_eq(extended(mem.list[0].host + 4 * 8, 4, false), 0xabcd);
    ck_assert_uint_eq(mem.list[0].host[4 * 9], pattern(4 * 9));
    ck_assert_uint_eq(mem.list[0].host[4 * 10], pattern(4 * 10));
    exec_inst(w, in, LANES_ALL & ~(1u << 9),
              &fx); /* lane 20: the address is misaligned and out of bounds, which is reported as misaligned */
    ck_assert_int_eq(fx.fault, FAULT_MISALIGNED);
    ck_assert_uint_eq(fx.fault_lane, 20);
    end();
}
END_TEST

START_TEST(one_lane_misaligned) {
    setup(4);
    struct inst *in = emit("ld.global.u32", 4, 1, 0);
    begin();
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, buffer + place(2, l, 4) + (l == 13 ? 2 : 0));
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_MISALIGNED);
    ck_assert_uint_eq(fx.fault_lane, 13);
    end();
}
END_TEST

static enum fault_kind fault_of(const char *opcode, uint64_t address, int n) {
    struct inst *in = emit(opcode, 4, n, 0);
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, address);
    exec_inst(w, in, LANES_ALL, &fx);
    return fx.fault;
}

START_TEST(faults) {
    setup(4);
    begin();
    uint64_t unguarded = mem_alloc(&mem, 64, 0, "u", true);
    mem.guards_constants = true;
    uint64_t constant = mem_alloc(&mem, 64, 0, "c", true), freed = mem_alloc(&mem, 64, 0, NULL, false);
    mem_free(&mem, freed);
    ck_assert_int_eq(fault_of("ld.global.u32", 0, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("ld.u32", 8, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("ld.u32", ~3ull, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("ld.global.u32", buffer - 4, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("ld.global.u32", buffer + 2, 1), FAULT_MISALIGNED);
    ck_assert_int_eq(fault_of("ld.global.v2.u32", buffer + 4, 2), FAULT_MISALIGNED);
    ck_assert_int_eq(fault_of("ld.global.v4.u32", buffer + BYTES - 16, 4), FAULT_NONE);
    ck_assert_int_eq(fault_of("ld.global.u32", freed, 1), FAULT_USE_AFTER_FREE);
    ck_assert_int_eq(fault_of("ld.const.u32", constant, 1), FAULT_NONE);
    ck_assert_int_eq(fault_of("st.global.u32", constant, 1), FAULT_READ_ONLY);
    ck_assert_int_eq(fault_of("st.global.u32", unguarded, 1), FAULT_NONE);
    ck_assert_int_eq(fault_of("ld.shared.u32", SHARED, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("ld.shared.u32", SHARED - 4, 1), FAULT_NONE);
    ck_assert_int_eq(fault_of("ld.local.u32", LOCAL, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("ld.local.u32", LOCAL - 4, 1), FAULT_NONE);
    ck_assert_int_eq(fault_of("ld.param.u32", sizeof params, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fault_of("st.u32", PARAM_WINDOW, 1), FAULT_READ_ONLY);
    ck_assert_int_eq(fault_of("ld.u32", SHARED_WINDOW + SHARED, 1), FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(fx.space, SPACE_SHARED);
    ck_assert_uint_eq(fx.fault_address, SHARED);
    end();
}
END_TEST

START_TEST(prefetch_never_faults) {
    setup(4);
    struct inst *in = asm_op(a, "prefetch.L1", OPND_SINK, base, OPND_ZERO, OPND_ZERO);
    in->msize = 1;
    begin();
    for (int l = 0; l < WARP_LANES; l++)
        set_base(l, 0);
    set_base(3, SHARED_WINDOW + 5);
    set_base(4, LOCAL_WINDOW + 5);
    set_base(5, LOCAL_WINDOW + LOCAL);
    set_base(6, buffer + 7);
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    /* only lanes 4 and 6 prefetch: shared memory (lane 3) has no cache, and the other lanes have invalid addresses */
    ck_assert_uint_eq(fx.fetched, 1 << 4 | 1 << 6);
    ck_assert_uint_eq(fx.local_lanes, 1 << 4);
    ck_assert_uint_eq(fx.addr[4], 5);
    end();
}
END_TEST

START_TEST(address_conversion) {
    static const struct {
        const char *opcode;
        uint64_t from, to;
    } cases[] = {{"cvta.shared.u64", 40, SHARED_WINDOW + 40},
                 {"cvta.to.shared.u64", SHARED_WINDOW + 40, 40},
                 {"cvta.local.u64", 4, LOCAL_WINDOW + 4},
                 {"cvta.to.local.u64", LOCAL_WINDOW + 4, 4},
                 {"cvta.global.u64", DEVICE_BASE, DEVICE_BASE},
                 {"cvta.to.global.u64", DEVICE_BASE, DEVICE_BASE},
                 {"cvta.to.const.u64", DEVICE_BASE, DEVICE_BASE},
                 {"cvta.param.u64", 8, PARAM_WINDOW + 8},
                 {"mapa.shared::cluster.u64", 40, CLUSTER_STEP + 40}, /* rank 0 */
                 {"mapa.u64", SHARED_WINDOW + 2 * CLUSTER_STEP + 40, SHARED_WINDOW + CLUSTER_STEP + 40}};
    setup(8);
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct inst *in = asm_op(a, cases[i].opcode, reg[0], base, OPND_ZERO, OPND_ZERO);
        set_base(5, cases[i].from);
        exec_inst(w, in, LANES_ALL, &fx);
        ck_assert_uint_eq(((uint64_t *)reg_ptr(w, reg[0]))[5], cases[i].to);
    }
    end();
}
END_TEST

START_TEST(space_of_an_address) {
    setup(4);
    begin();
    uint64_t constant = mem_alloc(&mem, 64, 0, "c", true);
    opnd_t p = asm_reg(a, 0);
    static const char *const names[] = {"global", "shared", "local", "const", "param"};
    static const rowmask_t want[] = {1, 2, 4, 8, 16};
    cta_free(cta); /* starts the CTA again, because the first CTA has no register p */
    begin();
    uint64_t at[5] = {buffer, SHARED_WINDOW + 1, LOCAL_WINDOW + 1, constant, PARAM_WINDOW};
    for (int l = 0; l < 5; l++)
        set_base(l, at[l]);
    for (int i = 0; i < 5; i++) {
        char opcode[32];
        snprintf(opcode, sizeof opcode, "isspacep.%s", names[i]);
        struct inst *in = asm_op(a, opcode, p, base, OPND_ZERO, OPND_ZERO);
        exec_inst(w, in, 0x1f, &fx);
        ck_assert_uint_eq(pred_get(w, p), want[i]);
    }
    end();
}
END_TEST

/* heddle.walk returns the two results of each lane's record (isa/walk.h). It faults at a record whose list of addresses
 * is not in memory. */
START_TEST(walks) {
    for (int bad = 0; bad < 3; bad++) {
        setup(4);
        emit("heddle.walk.global.v2.b32", 4, 2, 16);
        begin();
        uint64_t list = buffer + 2048, n[] = {1, 0x1234};
        mem_write(&mem, list, n, sizeof n);
        if (bad == 1) /* the list has more addresses than the buffer has room for */
            n[0] = BYTES / 8;
        mem_write(&mem, buffer + 2080, n, sizeof n);
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            struct walk_record r = {{l, 100 + l}, l == 9 && bad ? (bad == 1 ? buffer + 2080 : 8) : list};
            mem_write(&mem, buffer + 32 * l, &r, sizeof r);
            set_base((int)l, buffer + 32 * l - 16);
        }
        exec_inst(w, a->p.code, LANES_ALL, &fx);
        ck_assert_int_eq(fx.fault, bad ? FAULT_OUT_OF_BOUNDS : FAULT_NONE);
        if (bad)
            ck_assert_uint_eq(fx.fault_lane, 9);
        for (uint32_t l = 0; l < WARP_LANES && !bad; l++) {
            ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[0]))[l], l);
            ck_assert_uint_eq(((uint32_t *)reg_ptr(w, reg[1]))[l], 100 + l);
        }
        free(fx.fault_text);
        fx.fault_text = NULL;
        end();
    }
}
END_TEST

SUITE(isa_exec_mem) {
    TEST(walks);
    TEST_LOOP(loads, 0, N_WIDTHS);
    TEST_LOOP(stores, 0, N_WIDTHS);
    TEST(vectors_of_eight);
    TEST(addresses_of_32_bits_wrap);
    TEST(rows_at_the_end_of_32_bits);
    TEST(rows_partly_out_of_bounds);
    TEST(second_row_out_of_bounds);
    TEST(local_memory_is_by_thread);
    TEST(parameters);
    TEST(generic_lanes_in_four_spaces);
    TEST(generic_lanes_all_shared);
    TEST(two_allocations_in_one_warp);
    TEST(a_fault_stops_at_its_lane);
    TEST(one_lane_misaligned);
    TEST(faults);
    TEST(prefetch_never_faults);
    TEST(address_conversion);
    TEST(space_of_an_address);
}
