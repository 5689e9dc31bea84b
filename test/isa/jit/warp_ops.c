/* Tests native code of operations across lanes against the interpreter's functions, bit for bit: shuffles of every mode
 * with random lanes, segments and registers, and mma. */
#include "isa/jit/compile.h"
#include "rig.h"

enum { REGISTERS = 6, SHUFFLES = 3, FILLS = 4 };

static const char *const modes[] = {"up", "down", "bfly", "idx"};

/* Appends a shuffle. `members`: its member mask; 0: the form without .sync. `segment`: operand c. */
static void add_shuffle(struct rig *r, uint64_t *rng, const opnd_t *reg, const char *mode, uint32_t members,
                        uint32_t segment) {
    char name[64];
    snprintf(name, sizeof name, "shfl.%s%s.b32", members ? "sync." : "", mode);
    const opnd_t b = test_random_below(rng, 3) ? reg[test_random_below(rng, REGISTERS)]
                                               : asm_const(r->a, 4, test_random_below(rng, 40));
    struct inst *in = asm_op(r->a, name, reg[test_random_below(rng, REGISTERS)], reg[test_random_below(rng, REGISTERS)],
                             b, asm_const(r->a, 4, segment));
    if (members)
        in->e = asm_const(r->a, 4, members);
}

static void make(struct rig *r, opnd_t reg[REGISTERS]) {
    for (int i = 0; i < REGISTERS; i++)
        reg[i] = asm_reg(r->a, 4);
}

static void fill(struct rig *r, uint64_t *rng, const opnd_t reg[REGISTERS]) {
    for (int i = 0; i < REGISTERS; i++)
        rig_fill(r, rng, reg[i], 4);
}

static void compare(struct rig *r, uint64_t *rng, const opnd_t reg[REGISTERS], const char *what) {
    r->steps = 0;
    for (int k = 0; k < FILLS; k++) {
        uint32_t at;
        fill(r, rng, reg);
        if (!rig_same(r, &at))
            ck_abort_msg("%s: byte %u of the registers differs", what, at);
    }
}

/* With all members, no shuffle calls the interpreter; with other members, each shuffle does. */
START_TEST(shuffles) {
    jit_level(_i);
    if (!rig_can())
        return;
    for (uint64_t seed = 1; seed <= 96; seed++) {
        uint64_t rng = seed;
        opnd_t reg[REGISTERS];
        struct rig *r = rig_new();
        const uint32_t members = seed % 8 ? LANES_ALL : 0,
                       segment = seed % 3 ? 31 : (uint32_t)test_random(&rng) & 0x1f1f;
        make(r, reg);
        for (int i = 0; i < SHUFFLES; i++)
            add_shuffle(r, &rng, reg, modes[seed % 4], members, segment);
        fill(r, &rng, reg);
        ck_assert(rig_compile(r, LANES_ALL));
        ck_assert_uint_eq(jit_count(r->j).native, SHUFFLES);
        compare(r, &rng, reg, modes[seed % 4]);
        ck_assert_uint_eq(r->steps, 0);
        rig_free(r);
    }
}
END_TEST

/* Two thirds of the block are additions, so that the block is compiled. */
START_TEST(shuffles_of_some_lanes_are_interpreted) {
    jit_level(_i);
    if (!rig_can())
        return;
    uint64_t rng = 1;
    opnd_t reg[REGISTERS];
    struct rig *r = rig_new();
    make(r, reg);
    for (int i = 0; i < 3; i++) {
        add_shuffle(r, &rng, reg, "idx", 0xffff, 31);
        for (int k = 0; k < 2; k++)
            asm_op(r->a, "add.u32", reg[k], reg[k + 1], reg[k + 2], OPND_ZERO);
    }
    fill(r, &rng, reg);
    ck_assert(rig_compile(r, LANES_ALL));
    compare(r, &rng, reg, "some lanes");
    ck_assert_uint_eq(r->steps, 3 * FILLS);
    rig_free(r);
}
END_TEST

/* Products whose accumulators feed each other, between additions that change a factor in a vector register. */
START_TEST(products) {
    jit_level(_i);
    if (!rig_can())
        return;
    uint64_t rng = 7;
    opnd_t reg[REGISTERS];
    struct rig *r = rig_new();
    make(r, reg);
    for (int i = 0; i < 4; i++) {
        /* d and c: 0 to 3; a: 4, 5; b: 5 */
        const uint32_t list[] = {reg[0], reg[1], reg[2], reg[3], reg[4], reg[5],
                                 reg[5], reg[0], reg[1], reg[2], reg[3]};
        struct inst *in =
            asm_op(r->a, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
        in->list = asm_list(r->a, list, sizeof list / sizeof *list);
        in->n_list = sizeof list / sizeof *list;
        in->msize = 4;
        in->rsize = 4;
        in->e = asm_const(r->a, 4, LANES_ALL);
        asm_op(r->a, "add.u32", reg[4], reg[4], reg[i % 4], OPND_ZERO);
    }
    fill(r, &rng, reg);
    ck_assert(rig_compile(r, LANES_ALL));
    ck_assert_uint_eq(jit_count(r->j).native, 8);
    compare(r, &rng, reg, "mma");
    ck_assert_uint_eq(r->steps, 0);
    rig_free(r);
}
END_TEST

SUITE(isa_jit_warp_ops) {
    TEST_LEVELS(shuffles, 1);
    TEST_LEVELS(shuffles_of_some_lanes_are_interpreted, 1);
    TEST_LEVELS(products, 1);
}
