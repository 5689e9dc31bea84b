/* Tests interp_lent.c: a driver begins a CTA, lends it in the middle of its execution, and then finishes it. */
#include "isa/interp/interp_lent.h"
#include "isa/interp/interp_warp.h"
#include "test/every_model.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static struct launch l;
static struct reconv_cfg cfg;
static struct cta_run r; /* the driver's */
static struct lent_run *lent;
static opnd_t zero = OPND_ZERO;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    reconv_cfg_default(&cfg);
}

static void teardown(void) {
    lent_run_free(lent);
    cta_run_free(&r);
    mem_free_all(&mem);
    asm_free(a);
}

static void add_one(opnd_t d) { asm_op(a, "add.u32", d, d, asm_const(a, 4, 1), zero); }

static void begin(const struct reconv_ops *model, uint32_t threads) {
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_end(a);
    l = asm_launch(a, &mem, 1, threads);
    struct cta *c = cta_new(&l);
    cta_start(c, (struct dim3){0, 0, 0}, 0);
    ck_assert(cta_run_init(&r, c, model, &cfg));
    cta_run_start(&r);
    ck_assert_ptr_nonnull(lent = lent_run_new(c, model, &cfg));
}

static void lend(void) {
    struct lent_cta c = {.cta = r.cta, .shared = r.shared};
    for (uint32_t w = 0; w < r.cta->n_warps; w++)
        c.control[w] = &r.warps[w].control;
    lent_take(lent, &c, 0, NULL);
}

/* A loop of three instructions runs ten iterations and then exits: 31 instructions. The driver executes the first
 * iteration. While the CTA is lent, the warp executes two iterations, or 6 instructions, and then goes to PC 1, which
 * takes 1. The driver executes the other 31 - 3 - 6 - 1 = 21 instructions. */
START_TEST(a_warp_continues_where_it_is) {
    const opnd_t i = asm_reg(a, 4), p = asm_reg(a, 0);
    uint64_t executed;
    add_one(i);
    asm_op(a, "setp.lt.u32", p, i, asm_const(a, 4, 10), zero);
    asm_bra(a, p, false, 0, 3);
    begin(base_models()->ops[_i], 32);
    ck_assert_int_eq(warp_run(&r, 0, 3), WARP_SPENT);
    ck_assert_uint_eq(r.n.warp_instructions, 3);
    lend();
    ck_assert_uint_eq(lent_pc(lent, 0), 0);
    ck_assert_int_eq(lent_warp(lent, 0, 6, &executed), LENT_SPENT);
    ck_assert_uint_eq(executed, 6);
    ck_assert_int_eq(lent_warp_to(lent, 0, 1, 100, &executed), LENT_SPENT);
    ck_assert_uint_eq(executed, 1);
    ck_assert_uint_eq(lent_pc(lent, 0), 1);
    ck_assert_int_eq(lent_warp_to(lent, 0, 1, 100, &executed), LENT_SPENT); /* it is there */
    ck_assert_uint_eq(executed, 0);
    ck_assert_uint_eq(lent_stats(lent)->warp_instructions, 7);
    lent_give_back(lent);
    ck_assert_int_eq(warp_run(&r, 0, 100), WARP_DONE);
    ck_assert_uint_eq(r.n.warp_instructions, 3 + 21);
}
END_TEST

/* The same loop. The block at PC 3, behind the loop, is not known: the warp stops there after all 30 instructions of
 * the loop, whatever its budget is. Then it may enter the block. */
START_TEST(a_warp_stops_before_unknown_code) {
    static const bool known[4] = {true, true, true, false};
    const opnd_t i = asm_reg(a, 4), p = asm_reg(a, 0);
    uint64_t executed;
    add_one(i);
    asm_op(a, "setp.lt.u32", p, i, asm_const(a, 4, 10), zero);
    asm_bra(a, p, false, 0, 3);
    begin(base_models()->ops[_i], 32);
    lend();
    lent_know(lent, known);
    ck_assert_int_eq(lent_warp(lent, 0, 29, &executed), LENT_SPENT);
    ck_assert(!lent_stopped(lent));
    ck_assert_int_eq(lent_warp(lent, 0, 100, &executed), LENT_SPENT);
    ck_assert_uint_eq(lent_pc(lent, 0), 3);
    ck_assert_uint_eq(lent_stats(lent)->warp_instructions, 30);
    ck_assert(lent_stopped(lent));
    lent_know(lent, NULL);
    ck_assert(!lent_stopped(lent));
    ck_assert_int_eq(lent_warp(lent, 0, 100, &executed), LENT_ENDED);
    lent_give_back(lent);
}
END_TEST

/* Two warps meet at a barrier while their CTA is lent. The first waits; the second completes the barrier and ends, and
 * then the first ends. */
START_TEST(warps_meet_at_barriers) {
    uint64_t executed;
    asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero)->rsize = 0;
    add_one(asm_reg(a, 4));
    begin(base_models()->ops[_i], 64);
    lend();
    ck_assert_int_eq(lent_warp(lent, 0, 100, &executed), LENT_WAITS);
    ck_assert_uint_eq(executed, 1);
    ck_assert_int_eq(lent_warp(lent, 1, 100, &executed), LENT_ENDED);
    ck_assert_uint_eq(executed, 3);
    ck_assert_int_eq(lent_warp(lent, 0, 100, &executed), LENT_ENDED);
    ck_assert_uint_eq(executed, 2);
    ck_assert_uint_eq(lent_pc(lent, 0), UINT32_MAX);
    lent_give_back(lent);
}
END_TEST

/* Address 8 is in no buffer: the load at PC 0 faults in lane 0. */
START_TEST(faults_have_a_place) {
    uint64_t executed;
    uint32_t pc = 99;
    asm_mem(a, "ld.global.u32", asm_reg(a, 4), 4, asm_const(a, 8, 8), 0);
    begin(base_models()->ops[_i], 32);
    lend();
    ck_assert_int_eq(lent_warp(lent, 0, 100, &executed), LENT_FAULT);
    const struct effects *fx = lent_fault(lent, &pc);
    ck_assert_uint_eq(pc, 0);
    ck_assert_int_ne(fx->fault, FAULT_NONE);
    ck_assert_uint_eq(fx->fault_address, 8);
    ck_assert_int_eq(fx->fault_lane, 0);
    lent_give_back(lent);
}
END_TEST

SUITE(isa_interp_lent) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(a_warp_continues_where_it_is, 0, base_models()->n);
    TEST_LOOP(a_warp_stops_before_unknown_code, 0, base_models()->n);
    TEST_LOOP(warps_meet_at_barriers, 0, base_models()->n);
    TEST_LOOP(faults_have_a_place, 0, base_models()->n);
}
