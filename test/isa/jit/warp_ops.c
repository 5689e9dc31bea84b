/* Tests native code of operations across lanes against the interpreter's functions, bit for bit: shuffles of every mode
 * with random lanes, segments and registers, votes, reductions, and mma, with all members and with missing ones. */
#include "isa/jit/compile.h"
#include "isa/machine/warpsync.h"
#include "rig.h"

enum { REGISTERS = 6, PREDICATES = 3, OPERATIONS = 3, FILLS = 4 };

struct regs {
    opnd_t word[REGISTERS], wide, pred[PREDICATES];
    opnd_t segment, members; /* registers of operands c and e */
};

static void make(struct rig *r, struct regs *x) {
    for (int i = 0; i < REGISTERS; i++)
        x->word[i] = asm_reg(r->a, 4);
    x->wide = asm_reg(r->a, 8);
    x->segment = asm_reg(r->a, 4);
    x->members = asm_reg(r->a, 4);
    for (int i = 0; i < PREDICATES; i++)
        x->pred[i] = asm_reg(r->a, 0);
}

/* Fills a register of member masks. Lanes that are not active get other masks. */
static void fill_members(struct rig *r, opnd_t reg, uint32_t members) {
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint32_t word = r->f.active >> l & 1 || !r->f.active ? members : ~members;
        memcpy(r->before + (reg >> 1) + 4 * l, &word, sizeof word);
    }
}

static void fill(struct rig *r, uint64_t *rng, const struct regs *x, uint32_t members) {
    for (int i = 0; i < REGISTERS; i++)
        rig_fill(r, rng, x->word[i], 4);
    rig_fill(r, rng, x->wide, 8);
    for (unsigned l = 0; l < WARP_LANES; l++) { /* segments of 32, 16, 8, 4, 2 or 1 lanes, and of no sense */
        const uint32_t same = 0x1f | (0x1f00 & 0x1f00 << test_random_below(rng, 6)),
                       segment = test_random_below(rng, 4) ? same : (uint32_t)test_random(rng);
        memcpy(r->before + (x->segment >> 1) + 4 * l, &segment, sizeof segment);
    }
    for (int i = 0; i < PREDICATES; i++)
        rig_fill(r, rng, x->pred[i], 0);
    if (test_random_below(rng, 3) == 0) /* votes of one mind */
        memset(r->before + (x->pred[0] >> 1), test_random_below(rng, 2) ? 0xff : 0, sizeof(rowmask_t));
    fill_members(r, x->members, members);
}

static opnd_t word(uint64_t *rng, const struct regs *x) { return x->word[test_random_below(rng, REGISTERS)]; }

/* Appends an operation with its member mask: 0: the form without .sync, 1: a register, else a constant. */
static struct inst *add(struct rig *r, const char *name, uint32_t members, const struct regs *x, opnd_t d, opnd_t a,
                        opnd_t b, opnd_t c) {
    struct inst *in = asm_op(r->a, name, d, a, b, c);
    in->e = !members ? OPND_ZERO : members == 1 ? x->members : asm_const(r->a, 4, members);
    in->hints = warp_sync_hints(in);
    return in;
}

static const char *const modes[] = {"up", "down", "bfly", "idx"};

static void add_shuffle(struct rig *r, uint64_t *rng, const struct regs *x, const char *mode, uint32_t members) {
    char name[64];
    snprintf(name, sizeof name, "shfl.%s%s.b32", members ? "sync." : "", mode);
    const opnd_t b = test_random_below(rng, 3) ? word(rng, x) : asm_const(r->a, 4, test_random_below(rng, 40));
    const uint32_t segment = test_random_below(rng, 2) ? 31 : (uint32_t)test_random(rng) & 0x1f1f;
    const opnd_t c = test_random_below(rng, 2) ? x->segment : asm_const(r->a, 4, segment);
    struct inst *in = add(r, name, members, x, word(rng, x), word(rng, x), b, c);
    if (test_random_below(rng, 2))
        in->d2 = x->pred[test_random_below(rng, PREDICATES)];
}

static const char *const votes[] = {"vote.sync.any.pred", "vote.sync.all.pred", "vote.sync.uni.pred",
                                    "vote.sync.ballot.b32"};

/* Appends a vote, or a match, a reduction, an election, or activemask. */
static void add_vote(struct rig *r, uint64_t *rng, const struct regs *x, unsigned kind, uint32_t members) {
    const opnd_t p = x->pred[test_random_below(rng, PREDICATES)], q = x->pred[test_random_below(rng, PREDICATES)];
    if (kind < 4)
        add(r, votes[kind], members, x, kind < 3 ? p : word(rng, x), q, OPND_ZERO, OPND_ZERO);
    else if (kind == 4)
        asm_op(r->a, "activemask.b32", word(rng, x), OPND_ZERO, OPND_ZERO, OPND_ZERO);
    else if (kind == 5)
        add(r, "match.any.sync.b64", members, x, word(rng, x), x->wide, OPND_ZERO, OPND_ZERO);
    else if (kind == 6)
        add(r, "redux.sync.add.s32", members, x, word(rng, x), word(rng, x), OPND_ZERO, OPND_ZERO);
    else
        add(r, "elect.sync", members, x, word(rng, x), OPND_ZERO, OPND_ZERO, OPND_ZERO)->d2 = p;
}

static void compare(struct rig *r, uint64_t *rng, const struct regs *x, uint32_t members, const char *what) {
    r->steps = 0;
    for (int k = 0; k < FILLS; k++) {
        uint32_t at;
        fill(r, rng, x, members);
        if (!rig_same(r, &at))
            ck_abort_msg("%s: byte %u of the registers differs", what, at);
    }
}

/* Tests operations that all or some lanes execute. Every lane that executes is a member. The member mask is a constant
 * or in a register, and may contain lanes that have exited. `add_one` appends one operation; none of them returns to
 * the interpreter. */
static void all_members(uint64_t seed,
                        void (*add_one)(struct rig *, uint64_t *, const struct regs *, unsigned, uint32_t),
                        unsigned kind) {
    uint64_t rng = seed;
    struct regs x;
    struct rig *r = rig_new();
    const rowmask_t active = seed % 2 ? LANES_ALL : rig_part(&rng);
    const uint32_t mask = seed % 4 < 2 ? active : LANES_ALL;
    make(r, &x);
    /* a vector register has the masks, not memory */
    asm_op(r->a, "xor.b32", x.members, x.members, asm_const(r->a, 4, 0x5a5a5a5a), OPND_ZERO);
    for (int i = 0; i < OPERATIONS; i++) {
        const unsigned how = (unsigned)test_random_below(&rng, 3);
        add_one(r, &rng, &x, kind, how < 2 ? how : mask);
        asm_op(r->a, "add.u32", word(&rng, &x), word(&rng, &x), word(&rng, &x), OPND_ZERO);
        asm_op(r->a, "add.u32", word(&rng, &x), word(&rng, &x), word(&rng, &x), OPND_ZERO);
    }
    fill(r, &rng, &x, mask ^ 0x5a5a5a5a);
    ck_assert(rig_compile(r, active));
    ck_assert_uint_eq(jit_count(r->j).native, 1 + 3 * OPERATIONS);
    r->w.live = active;
    compare(r, &rng, &x, mask ^ 0x5a5a5a5a, "members");
    ck_assert_uint_eq(r->steps, 0);
    rig_free(r);
}

static void one_shuffle(struct rig *r, uint64_t *rng, const struct regs *x, unsigned kind, uint32_t members) {
    add_shuffle(r, rng, x, modes[kind], members);
}

static void one_vote(struct rig *r, uint64_t *rng, const struct regs *x, unsigned kind, uint32_t members) {
    add_vote(r, rng, x, kind, members || kind < 4 ? members : 1);
}

START_TEST(shuffles) {
    jit_level(_i);
    for (uint64_t seed = 1; seed <= 192 && rig_can(); seed++)
        all_members(seed, one_shuffle, seed / 4 % 4);
}
END_TEST

START_TEST(votes_of_lanes) {
    jit_level(_i);
    for (uint64_t seed = 1; seed <= 192 && rig_can(); seed++)
        all_members(seed, one_vote, seed / 4 % 8);
}
END_TEST

/* The code exits before an operation whose members are missing: a live lane is not active or waits, or lanes have
 * different masks. The rig then executes this operation and the two after it. */
START_TEST(missing_members) {
    jit_level(_i);
    for (unsigned way = 0; way < 8 && rig_can(); way++) {
        uint64_t rng = 1 + way;
        struct regs x;
        struct rig *r = rig_new();
        const rowmask_t active = way == 3 ? LANES_ALL : 0xffff;
        make(r, &x);
        for (int i = 0; i < OPERATIONS; i++)
            if (way < 4)
                add_shuffle(r, &rng, &x, "idx", way ? 1 : LANES_ALL);
            else
                add_vote(r, &rng, &x, way == 7 ? 6 : way - 4, way == 4 ? LANES_ALL : 1);
        fill(r, &rng, &x, active);
        ck_assert(rig_compile(r, active));
        r->w.live = way % 4 > 1 ? active : LANES_ALL;
        if (way % 4 == 2)
            r->w.sync.waiting = 0x100;
        r->steps = 0;
        for (int k = 0; k < FILLS; k++) {
            uint32_t at, odd = 0x1ffff;
            fill(r, &rng, &x, way % 4 > 1 ? active : LANES_ALL);
            if (way % 4 == 3) /* the mask of lane 9 */
                memcpy(r->before + (x.members >> 1) + 36, &odd, sizeof odd);
            ck_assert(rig_same(r, &at));
        }
        ck_assert_uint_eq(r->steps, OPERATIONS * FILLS);
        rig_free(r);
    }
}
END_TEST

/* The code knows the operands c and e after moves of constants, until the block writes these registers again. */
START_TEST(operands_known_in_the_block) {
    jit_level(_i);
    if (!rig_can())
        return;
    uint64_t rng = 5;
    struct regs x;
    struct rig *r = rig_new();
    make(r, &x);
    for (unsigned i = 0; i < 6; i++) {
        asm_op(r->a, "mov.u32", x.segment, asm_const(r->a, 4, i % 2 ? 31 : 0x181f), OPND_ZERO, OPND_ZERO);
        asm_op(r->a, "mov.u32", x.members, asm_const(r->a, 4, LANES_ALL), OPND_ZERO, OPND_ZERO);
        if (i == 2)
            asm_op(r->a, "shl.b32", x.segment, x.segment, asm_const(r->a, 4, 1), OPND_ZERO);
        if (i == 3) /* other lanes have other segments */
            asm_op(r->a, "xor.b32", x.segment, x.segment, x.word[0], OPND_ZERO);
        if (i == 4) {
            asm_op(r->a, "mov.u32", x.segment, asm_const(r->a, 4, 0x101f), OPND_ZERO, OPND_ZERO);
            asm_guard(r->a, x.pred[0], false);
        }
        struct inst *in = add(r, "shfl.sync.bfly.b32", 1, &x, x.word[i % 3], x.word[3], x.word[4], x.segment);
        in->d2 = x.pred[1 + i % 2];
        asm_op(r->a, "add.u32", x.word[3], x.word[3], x.word[i % 3], OPND_ZERO);
    }
    fill(r, &rng, &x, 0);
    ck_assert(rig_compile(r, LANES_ALL));
    compare(r, &rng, &x, 0, "known operands");
    ck_assert_uint_eq(r->steps, 0);
    rig_free(r);
}
END_TEST

/* Products whose accumulators feed each other, between additions that change a factor in a vector register. */
START_TEST(products) {
    jit_level(_i);
    if (!rig_can())
        return;
    uint64_t rng = 7;
    struct regs x;
    struct rig *r = rig_new();
    make(r, &x);
    const opnd_t *reg = x.word;
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
    fill(r, &rng, &x, LANES_ALL);
    ck_assert(rig_compile(r, LANES_ALL));
    ck_assert_uint_eq(jit_count(r->j).native, 8);
    compare(r, &rng, &x, LANES_ALL, "mma");
    ck_assert_uint_eq(r->steps, 0);
    rig_free(r);
}
END_TEST

SUITE(isa_jit_warp_ops) {
    TEST_LEVELS(shuffles, 1);
    TEST_LEVELS(votes_of_lanes, 1);
    TEST_LEVELS(missing_members, 1);
    TEST_LEVELS(operands_known_in_the_block, 1);
    TEST_LEVELS(products, 1);
}
