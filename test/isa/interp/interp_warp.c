/* Tests turns of a single warp, which the test executes directly: the length of a turn, why it ends, what it counts,
 * and which path runs next. The programs have a few instructions, so the expected numbers can be counted by hand. */
#include "isa/interp/interp_warp.h"
#include "test/every_model.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static struct launch l;
static struct reconv_cfg cfg;
static struct cta_run r;
static uint64_t out;
static opnd_t zero = OPND_ZERO, one, lane, base;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    out = mem_alloc(&mem, 4096, 0, NULL, false);
    a->p.shared_bytes = 256;
    one = asm_const(a, 4, 1);
    base = asm_const(a, 8, out);
    lane = asm_special(a, SPECIAL_TID_X);
    reconv_cfg_default(&cfg);
}
static void teardown(void) {
    cta_run_free(&r);
    mem_free_all(&mem);
    asm_free(a);
}
static void begin(const struct reconv_ops *model, uint32_t threads) {
    asm_end(a);
    l = asm_launch(a, &mem, 1, threads);
    struct cta *c = cta_new(&l);
    cta_start(c, (struct dim3){0, 0, 0}, 0);
    ck_assert(cta_run_init(&r, c, model, &cfg));
    cta_run_start(&r);
}
static const struct reconv_ops *model_called(const char *name) {
    for (int i = 0; i < base_models()->n; i++)
        if (!strcmp(base_models()->ops[i]->name, name))
            return base_models()->ops[i];
    ck_abort_msg("no model %s", name);
}
static void add(opnd_t d) { asm_op(a, "add.u32", d, d, one, zero); }
static void leave(void) { asm_op(a, "exit", OPND_SINK, zero, zero, zero); }
static uint32_t word(uint32_t i) {
    uint32_t v = 0;
    ck_assert(mem_read(&mem, out + 4ull * i, &v, 4));
    return v;
}

/* A loop of three instructions runs ten iterations and then exits: 31 instructions. A turn ends at the end of the block
 * in which the number of instructions reaches the turn's budget. The next turn continues after this block. */
START_TEST(turns_end_with_a_block) {
    static const struct {
        uint64_t budget;
        uint64_t executed[6]; /* total number of instructions after each turn; 0 ends the list */
    } turns[] = {{1, {3, 6, 9, 12, 15}},
                 {3, {3, 6, 9, 12, 15}},
                 {4, {6, 12, 18, 24, 30}},
                 {30, {30, 31}},
                 {31, {31}},
                 {100, {31}}};
    for (int k = 0; k < 2; k++) { /* k = 0: the interpreter loop for the stack; k = 1: the general loop */
        opnd_t i = asm_reg(a, 4), p = asm_reg(a, 0);
        add(i);
        asm_op(a, "setp.lt.u32", p, i, asm_const(a, 4, 10), zero);
        asm_bra(a, p, false, 0, 3);
        leave();
        begin(k ? model_called("dpe") : &reconv_spe, 32);
        for (int t = 0; t < 6 && turns[_i].executed[t]; t++) {
            enum warp_end end = warp_run(&r, 0, turns[_i].budget);
            ck_assert_uint_eq(r.warps[0].executed, turns[_i].executed[t]);
            ck_assert_uint_eq(r.n.warp_instructions, turns[_i].executed[t]);
            bool done = turns[_i].executed[t] == 31;
            ck_assert_int_eq(end, done ? WARP_DONE : WARP_SPENT);
            ck_assert_int_eq(r.warps[0].done, done);
            ck_assert(!r.warps[0].blocked && !r.warps[0].starved);
        }
        if (r.warps[0].done) {
            /* in the last iteration, the branch is not taken, so its 32 lanes are not counted */
            ck_assert_uint_eq(r.n.thread_instructions, 32 * 31 - 32);
            ck_assert_uint_eq(r.n.path_sum, 31);
            ck_assert_uint_eq(r.n.max_depth, 1);
            ck_assert_uint_eq(r.n.barrier_instructions, 0);
        }
        cta_run_start(&r); /* restarts the CTA, so that nothing has been executed */
        ck_assert_uint_eq(r.warps[0].executed, 0);
        ck_assert(!r.warps[0].done);
        teardown();
        setup();
    }
}
END_TEST

/* Two warps use a barrier. The first warp waits; the second warp completes the barrier, and the first warp
 * continues. */
START_TEST(a_barrier_ends_a_turn) {
    for (int k = 0; k < base_models()->n; k++) {
        struct inst *in = asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
        in->rsize = 0;
        add(asm_reg(a, 4));
        leave();
        begin(base_models()->ops[k], 64);
        ck_assert_int_eq(warp_run(&r, 0, 100), WARP_WAITS);
        ck_assert(r.warps[0].blocked && !r.warps[0].done);
        ck_assert_uint_eq(r.warps[0].executed, 1);
        ck_assert_int_eq(warp_run(&r, 1, 100), WARP_DONE);
        ck_assert(!r.warps[0].blocked);
        ck_assert_uint_eq(r.warps[1].executed, 3);
        ck_assert_int_eq(warp_run(&r, 0, 100), WARP_DONE);
        ck_assert_uint_eq(r.warps[0].executed, 3);
        ck_assert_uint_eq(r.n.warp_instructions, 6);
        ck_assert_uint_eq(r.n.thread_instructions, 6 * 32);
        teardown();
        setup();
    }
}
END_TEST

/* The third instruction of the second warp stores to an unmapped address. */
START_TEST(a_fault_ends_a_turn) {
    for (int k = 0; k < base_models()->n; k++) {
        opnd_t at = asm_reg(a, 8);
        add(asm_reg(a, 4));
        add(asm_reg(a, 4));
        asm_mem(a, "st.global.u32", one, 4, at, 0);
        leave();
        begin(base_models()->ops[k], 64);
        ck_assert_int_eq(warp_run(&r, 1, 100), WARP_FAULT);
        ck_assert_uint_eq(r.fault_pc, 2);
        ck_assert_uint_eq(r.fault_warp, 1);
        ck_assert_int_ne(r.fx.fault, FAULT_NONE);
        ck_assert(!r.warps[1].done && !r.warps[1].blocked);
        free(r.fx.fault_text);
        r.fx.fault_text = NULL;
        teardown();
        setup();
    }
}
END_TEST

static int asked;
static bool answer;
static bool turn(void *ctx) {
    ck_assert_ptr_eq(ctx, &asked);
    asked++;
    return answer;
}

/* The result of an atomic in global memory depends on the order of CTAs. So a CTA requests its place in this order
 * before its first such atomic, and does so only once. A store, or an atomic in shared memory, does not need the
 * order. */
START_TEST(the_turn_is_requested_once) {
    for (int k = 0; k < 2; k++) {
        opnd_t v = asm_reg(a, 4), at = asm_reg(a, 8);
        asm_mem(a, "st.global.u32", one, 4, base, 4);
        asm_mem(a, "atom.shared.add.u32", v, 4, at, 0)->b = one;
        asm_mem(a, "atom.global.add.u32", v, 4, base, 0)->b = one;
        asm_mem(a, "atom.global.add.u32", v, 4, base, 0)->b = one;
        leave();
        begin(k ? model_called("its") : &reconv_spe, 32);
        r.wait_for_turn = turn;
        r.turn_ctx = &asked;
        asked = 0;
        answer = false;
        ck_assert_int_eq(warp_run(&r, 0, 100), WARP_STOPPED);
        ck_assert_int_eq(asked, 1);
        ck_assert(!r.communicates);
        ck_assert_uint_eq(word(0), 0);
        ck_assert_uint_eq(word(1), 1);
        cta_run_start(&r);
        answer = true;
        ck_assert_int_eq(warp_run(&r, 0, 100), WARP_DONE);
        ck_assert_int_eq(asked, 2);
        ck_assert(r.communicates);
        ck_assert_uint_eq(word(0), 64);
        teardown();
        setup();
    }
}
END_TEST

/* If the caller sets counts_loads, loads from global, local and generic addresses are counted. */
START_TEST(loads_are_counted) {
    opnd_t v = asm_reg(a, 4), at = asm_reg(a, 8);
    asm_mem(a, "ld.global.u32", v, 4, base, 0);
    asm_mem(a, "ld.u32", v, 4, base, 0);
    asm_mem(a, "ld.shared.u32", v, 4, at, 0);
    asm_mem(a, "st.global.u32", one, 4, base, 0);
    asm_mem(a, "ld.global.u32", v, 4, base, 4);
    leave();
    begin(&reconv_spe, 32);
    ck_assert_int_eq(warp_run(&r, 0, 100), WARP_DONE);
    ck_assert_uint_eq(r.n.affine.all_loads, 0);
    cta_run_start(&r);
    r.counts_loads = true;
    warp_run(&r, 0, 100);
    ck_assert_uint_eq(r.n.affine.all_loads, 3);
}
END_TEST

/* %clock is the number of warp instructions. Three additions lie between two readings, so the second value is greater
 * by 4, even if a turn ends between them. Lane 0 stores the difference. The first reading is at PC 1 and gives 2. */
START_TEST(the_clock_counts_instructions) {
    for (int k = 0; k < 2; k++) {
        opnd_t t0 = asm_reg(a, 4), t1 = asm_reg(a, 4), x = asm_reg(a, 4);
        add(x);
        asm_op(a, "#sreg", t0, zero, zero, zero)->imm = SPECIAL_CLOCK;
        for (int i = 0; i < 3; i++)
            add(x);
        asm_op(a, "#sreg", t1, zero, zero, zero)->imm = SPECIAL_CLOCK;
        asm_op(a, "sub.u32", t1, t1, t0, zero);
        asm_mem(a, "st.global.u32", t1, 4, base, 0);
        asm_mem(a, "st.global.u32", t0, 4, base, 4);
        struct inst *jump = asm_bra(a, 0, false, 0, 0);
        jump->target = jump->rpc = asm_pc(a);
        /* a reading in another block, at PC 10: it is the 11th instruction */
        asm_op(a, "#sreg", t1, zero, zero, zero)->imm = SPECIAL_CLOCK;
        asm_mem(a, "st.global.u32", t1, 4, base, 8);
        leave();
        begin(k ? model_called("its") : &reconv_spe, 32);
        while (warp_run(&r, 0, 1) != WARP_DONE)
            ;
        ck_assert_uint_eq(word(0), 4);
        ck_assert_uint_eq(word(1), 2);
        ck_assert_uint_eq(word(2), 11);
        teardown();
        setup();
    }
}
END_TEST

/* path_sum adds up the number of paths of the warp at each warp instruction. Under dpe, both sides of a branch are
 * paths at the same time. Under spe, the warp has one path. */
START_TEST(paths_are_summed) {
    opnd_t p = asm_reg(a, 0), x = asm_reg(a, 4);
    asm_op(a, "setp.lt.u32", p, lane, asm_const(a, 4, 8), zero);
    struct inst *to_b = asm_bra(a, p, false, 0, 0);
    add(x);
    add(x);
    struct inst *over = asm_bra(a, 0, false, 0, 0);
    to_b->target = asm_pc(a);
    add(x);
    to_b->rpc = over->target = over->rpc = asm_pc(a);
    leave();
    begin(model_called(_i ? "dpe" : "spe"), 32);
    ck_assert_int_eq(warp_run(&r, 0, 100), WARP_DONE);
    /* warp instructions: setp, bra, add, then (add, add, bra) on the other side, exit */
    ck_assert_uint_eq(r.n.warp_instructions, 7);
    ck_assert_uint_eq(r.n.thread_instructions, 32 + 8 + 8 + 3 * 24 + 32);
    if (!_i)
        ck_assert_uint_eq(r.n.path_sum, 7);
    /* number of paths at each instruction: setp 1, bra 1, add 2 (both sides exist), then 3 x 1 on the other side,
     * exit 1 */
    else
        ck_assert_uint_eq(r.n.path_sum, 1 + 1 + 2 + 3 + 1);
    ck_assert_uint_eq(r.n.max_depth, _i ? 2 : 3);
}
END_TEST

/* Lane 0 spins until lane 1, on the other side of the branch, has written a word. With independent threads, the
 * spinning path lets the other path run after 512 of its instructions (128 iterations of 4 instructions), whichever
 * side runs first. */
START_TEST(paths_take_turns) {
    opnd_t p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4), n = asm_reg(a, 4), at = asm_reg(a, 8);
    asm_op(a, "setp.eq.u32", p, lane, zero, zero);
    struct inst *writes = asm_bra(a, p, true, 0, 9);
    uint32_t top = asm_pc(a);
    add(n);
    asm_mem(a, "ld.volatile.global.u32", v, 4, base, 0);
    asm_op(a, "setp.eq.u32", q, v, zero, zero);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    asm_mem(a, "st.global.u32", n, 4, base, 4);
    leave();
    writes->target = asm_pc(a);
    asm_mem(a, "st.volatile.global.u32", one, 4, base, 0);
    leave();
    (void)at;
    cfg.first = (uint32_t)_i & 1;
    begin(model_called(_i & 2 ? "si" : "its"), 2);
    ck_assert_int_eq(warp_run(&r, 0, 100000), WARP_DONE);
    ck_assert_uint_eq(word(0), 1);
    ck_assert_uint_ge(word(1), 1);
    ck_assert_uint_le(word(1), 512 / 4 + 2); /* 4 instructions an iteration */
}
END_TEST

SUITE(isa_interp_warp) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(turns_end_with_a_block, 0, 6);
    TEST(a_barrier_ends_a_turn);
    TEST(a_fault_ends_a_turn);
    TEST(the_turn_is_requested_once);
    TEST(loads_are_counted);
    TEST(the_clock_counts_instructions);
    TEST_LOOP(paths_are_summed, 0, 2);
    TEST_LOOP(paths_take_turns, 0, 4);
}
