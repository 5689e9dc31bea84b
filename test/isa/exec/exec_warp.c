/* Tests one cross-lane instruction. The expected result of each lane follows the definition in the PTX ISA. */
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;
static opnd_t d, p, x, y, z, e;

static void setup(unsigned bytes) {
    a = asm_new();
    mem_init(&mem, 0);
    d = asm_reg(a, 8);
    p = asm_reg(a, 0);
    x = asm_reg(a, bytes ? bytes : 8);
    y = asm_reg(a, 4);
    z = asm_reg(a, 4);
    e = asm_reg(a, 4);
    launch = asm_launch(a, &mem, 1, 32);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
}

static void teardown(void) {
    cta_free(cta);
    asm_free(a);
}

static uint32_t *r32(opnd_t o) { return reg_ptr(w, o); }
static void fill(opnd_t o, uint32_t v) {
    for (int l = 0; l < WARP_LANES; l++)
        r32(o)[l] = v;
}

/* Computes shfl for one lane by the pseudo-code of PTX ISA 9.7.9.6. */
static uint32_t shuffled(const char *mode, uint32_t lane, uint32_t b, uint32_t c, bool *valid) {
    int bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
    int max = (int)(lane & (uint32_t)mask) | (cval & ~mask), min = (int)lane & mask, j;
    if (strcmp(mode, "up") == 0) {
        j = (int)lane - bval;
        *valid = j >= max;
    } else if (strcmp(mode, "down") == 0) {
        j = (int)lane + bval;
        *valid = j <= max;
    } else if (strcmp(mode, "bfly") == 0) {
        j = (int)lane ^ bval;
        *valid = j <= max;
    } else {
        j = min | (bval & ~mask);
        *valid = j <= max;
    }
    return *valid ? (uint32_t)j : lane;
}

static void check_shuffle(const char *mode, const char *form, uint32_t b, uint32_t c, rowmask_t m) {
    char opcode[32];
    snprintf(opcode, sizeof opcode, form, mode);
    setup(4);
    struct inst *in = asm_op(a, opcode, d, x, y, z);
    in->d2 = p;
    in->e = e;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        r32(x)[l] = 1000 + l;
        r32(y)[l] = b == 99 ? l * 7 : b; /* 99 stands for a different source in each lane */
        r32(d)[l] = 5;
    }
    fill(z, c);
    fill(e, LANES_ALL);
    exec_inst(w, in, m, &fx);
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        bool valid;
        uint32_t from = shuffled(mode, l, r32(y)[l], c, &valid);
        /* a lane whose source lane does not execute gets 0 */
        ck_assert_uint_eq(r32(d)[l], !(m >> l & 1) ? 5 : m >> from & 1 ? 1000 + from : 0);
        ck_assert_int_eq(pred_get(w, p) >> l & 1, (m >> l & 1) && valid);
    }
    teardown();
}

START_TEST(shuffles) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t clamps[] = {0, 31, 0x1c1f, 0x1800, 0x1003}, distances[] = {0, 1, 4, 16, 31, 99};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 6; k++) {
            check_shuffle(modes[_i], "shfl.sync.%s.b32", distances[k], clamps[i], LANES_ALL);
            check_shuffle(modes[_i], "shfl.%s.b32", distances[k], clamps[i], 0x00ffff0f);
            check_shuffle(modes[_i], "shfl.sync.%s.b32", distances[k], clamps[i], 0x000000ff);
        }
}
END_TEST

/* The usual reduction by shuffles with mode down: five steps of the distances 16, 8, 4, 2 and 1. Afterwards lane 0 has
 * the sum 0 + ... + 31. */
START_TEST(a_sum_by_shuffles) {
    setup(4);
    struct inst *in = asm_op(a, "shfl.sync.down.b32", d, x, y, z);
    fill(z, 31);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        r32(x)[l] = l;
    for (uint32_t step = 16; step; step /= 2) {
        fill(y, step);
        exec_inst(w, in, LANES_ALL, &fx);
        for (int l = 0; l < WARP_LANES; l++)
            r32(x)[l] += r32(d)[l];
    }
    ck_assert_uint_eq(r32(x)[0], 496);
    teardown();
}
END_TEST

/* The destination is the source. Each lane gets the old value of the next lane, and the last lane its own. */
START_TEST(shuffle_over_its_source) {
    setup(4);
    struct inst *in = asm_op(a, "shfl.sync.down.b32", x, x, y, z);
    fill(y, 1);
    fill(z, 31);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        r32(x)[l] = l;
    exec_inst(w, in, LANES_ALL, &fx);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        ck_assert_uint_eq(r32(x)[l], l < 31 ? l + 1 : 31);
    teardown();
}
END_TEST

START_TEST(votes) {
    static const struct {
        const char *opcode;
        rowmask_t value, members, active, want;
    } cases[] = {
        {"vote.sync.all.pred", 0xffffffff, ~0u, ~0u, ~0u},
        {"vote.sync.all.pred", 0xfffffffe, ~0u, ~0u, 0},
        /* only member lanes vote, and only active lanes get the result */
        {"vote.sync.all.pred", 0x0000000f, 0xf, 0xf, 0xf},
        {"vote.sync.all.pred", 0x0000000f, 0xf, ~0u, ~0u},
        {"vote.sync.any.pred", 0x80000000, ~0u, ~0u, ~0u},
        {"vote.sync.any.pred", 0x80000000, ~0u, 0xffff, 0}, /* the lane with a true predicate does not execute */
        {"vote.sync.uni.pred", 0, ~0u, ~0u, ~0u},
        {"vote.sync.uni.pred", 0xffffffff, ~0u, ~0u, ~0u},
        {"vote.sync.uni.pred", 1, ~0u, ~0u, 0},
        {"vote.all.pred", 0x00ff, ~0u, 0xff, 0xff},
        {"vote.any.pred", 0x0100, ~0u, 0xff, 0},
    };
    setup(4);
    struct inst *in = asm_op(a, cases[_i].opcode, d, p, OPND_ZERO, OPND_ZERO);
    if (strstr(cases[_i].opcode, "sync"))
        in->e = e;
    *r32(p) = cases[_i].value;
    *r32(d) = 0;
    fill(e, cases[_i].members);
    exec_inst(w, in, cases[_i].active, &fx);
    ck_assert_uint_eq(*r32(d), cases[_i].want);
    teardown();
}
END_TEST

START_TEST(ballot) {
    setup(4);
    struct inst *in = asm_op(a, "vote.sync.ballot.b32", d, p, OPND_ZERO, OPND_ZERO);
    in->e = e;
    *r32(p) = 0xf0f0f0f0;
    fill(e, 0x0000ffff);
    exec_inst(w, in, 0x0000ffff, &fx);
    ck_assert_uint_eq(r32(d)[0], 0xf0f0);
    ck_assert_uint_eq(r32(d)[15], 0xf0f0);
    ck_assert_uint_eq(r32(d)[16], 0);
    teardown();
}
END_TEST

/* The value of a lane is lane / 8, except in lane 31. So lanes with equal values form groups of 8 lanes, and the last
 * group has 7 lanes. */
START_TEST(match_any_groups) {
    setup(4);
    struct inst *in = asm_op(a, "match.any.sync.b32", d, x, OPND_ZERO, OPND_ZERO);
    in->e = e;
    fill(e, LANES_ALL);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        r32(x)[l] = l == 31 ? 77 : l / 8;
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(r32(d)[0], 0x000000ff);
    ck_assert_uint_eq(r32(d)[30], 0x7f000000);
    ck_assert_uint_eq(r32(d)[31], 0x80000000);
    teardown();
}
END_TEST

/* Tests match with random values, members and active lanes. The expected results come from a comparison of all pairs of
 * lanes. Some 64-bit values differ in only one of their two words. */
START_TEST(match_random) {
    uint64_t s = 27;
    for (int n = 0; n < 500; n++) {
        const bool wide = n & 1, all = n & 2;
        setup(wide ? 8 : 4);
        struct inst *in = asm_op(a,
                                 all ? (wide ? "match.all.sync.b64" : "match.all.sync.b32")
                                     : (wide ? "match.any.sync.b64" : "match.any.sync.b32"),
                                 d, x, OPND_ZERO, OPND_ZERO);
        in->e = e;
        in->d2 = all ? p : OPND_SINK;
        const rowmask_t lanes = (rowmask_t)(test_random(&s) | 1u << (n & 31)),
                        who = lanes & (rowmask_t)(test_random(&s) | 1u << (n & 31));
        const uint32_t kinds = 1 + test_random_below(&s, n % 5 ? 4 : 40);
        uint64_t v[WARP_LANES];
        for (int l = 0; l < WARP_LANES; l++) {
            v[l] = (uint64_t)test_random_below(&s, kinds) << 30;
            if (!wide)
                v[l] = v[l] >> 30 | v[l] << 2;
            memcpy((unsigned char *)reg_ptr(w, x) + l * (wide ? 8 : 4), &v[l], wide ? 8 : 4);
            v[l] = wide ? v[l] : (uint32_t)v[l];
            r32(d)[l] = 0x77;
        }
        fill(e, who);
        exec_inst(w, in, lanes, &fx);
        bool every = true;
        for (int l = 0; l < WARP_LANES; l++)
            every &= !(who >> l & 1) || v[l] == v[__builtin_ctz(who)];
        for (int l = 0; l < WARP_LANES; l++) {
            rowmask_t want = 0;
            for (int k = 0; k < WARP_LANES; k++)
                want |= (rowmask_t)(v[k] == v[l]) << k & who;
            want = all ? (every ? who : 0) : want;
            EXPECT(r32(d)[l] == (lanes >> l & 1 ? want : 0x77), "case %d, lane %d: %08x, not %08x", n, l, r32(d)[l],
                   want);
        }
        EXPECT(!all || (pred_get(w, p) & lanes) == (every ? lanes : 0), "case %d: predicate", n);
        teardown();
    }
}
END_TEST

START_TEST(match_all_or_none) {
    setup(8);
    struct inst *in = asm_op(a, "match.all.sync.b64", d, x, OPND_ZERO, OPND_ZERO);
    in->d2 = p;
    in->e = e;
    fill(e, 0xff);
    uint64_t *v = reg_ptr(w, x);
    for (int l = 0; l < WARP_LANES; l++)
        v[l] = l < 8 ? 0x100000000ull : 0; /* lanes that are not members may have other values */
    exec_inst(w, in, 0xff, &fx);
    ck_assert_uint_eq(r32(d)[7], 0xff);
    ck_assert_uint_eq(pred_get(w, p), 0xff);
    v[3]++;
    exec_inst(w, in, 0xff, &fx);
    ck_assert_uint_eq(r32(d)[7], 0);
    ck_assert_uint_eq(pred_get(w, p), 0);
    teardown();
}
END_TEST

/* Lanes 4 to 7 are the members and have the values 3, -1, 5, 8, whose sum is 15. The bitwise results were derived by
 * hand. */
START_TEST(reductions) {
    static const struct {
        const char *opcode;
        uint32_t want;
    } cases[] = {
        {"redux.sync.add.u32", 15},         {"redux.sync.add.s32", 15},         {"redux.sync.min.u32", 3},
        {"redux.sync.max.u32", 0xffffffff}, {"redux.sync.min.s32", 0xffffffff}, {"redux.sync.max.s32", 8},
        {"redux.sync.and.b32", 0},          {"redux.sync.or.b32", 0xffffffff},  {"redux.sync.xor.b32", ~(3u ^ 5 ^ 8)}};
    static const uint32_t values[4] = {3, 0xffffffff, 5, 8};
    setup(4);
    struct inst *in = asm_op(a, cases[_i].opcode, d, x, OPND_ZERO, OPND_ZERO);
    in->e = e;
    fill(e, 0xf0);
    memcpy(r32(x) + 4, values, sizeof values);
    exec_inst(w, in, 0xf0, &fx);
    ck_assert_uint_eq(r32(d)[4], cases[_i].want);
    ck_assert_uint_eq(r32(d)[7], cases[_i].want);
    ck_assert_uint_eq(r32(d)[8], 0);
    teardown();
}
END_TEST

START_TEST(active_lanes_and_leader) {
    setup(4);
    struct inst *mask = asm_op(a, "activemask.b32", d, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    exec_inst(w, mask, 0x00c0, &fx);
    ck_assert_uint_eq(r32(d)[6], 0xc0);
    struct inst *leader = asm_op(a, "elect.sync", d, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    leader->d2 = p;
    leader->e = e;
    fill(e, LANES_ALL);
    exec_inst(w, leader, 0x00c0, &fx);
    ck_assert_uint_eq(r32(d)[7], 6);
    ck_assert_uint_eq(pred_get(w, p), 0x40);
    teardown();
}
END_TEST

START_TEST(clocks) {
    setup(4);
    struct inst *in = asm_op(a, "#sreg", d, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    w->clock = 0x500000007;
    in->imm = SPECIAL_CLOCK;
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(r32(d)[31], 7);
    in->imm = SPECIAL_CLOCK_HI;
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(r32(d)[31], 5);
    in->imm = SPECIAL_CLOCK64;
    in->dsize = 8;
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(((uint64_t *)reg_ptr(w, d))[31], 0x500000007);
    teardown();
}
END_TEST

SUITE(isa_exec_warp) {
    TEST_LOOP(shuffles, 0, 4);
    TEST(a_sum_by_shuffles);
    TEST(shuffle_over_its_source);
    TEST_LOOP(votes, 0, 11);
    TEST(ballot);
    TEST(match_any_groups);
    TEST(match_all_or_none);
    TEST(match_random);
    TEST_LOOP(reductions, 0, 9);
    TEST(active_lanes_and_leader);
    TEST(clocks);
}
