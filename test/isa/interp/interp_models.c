#include "test/bases.h"
#include "test/every_model.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

/* Tests the interpreter with all reconvergence models except the stack: equal memory, progress, and barriers. The
 * programs have no convergence barriers (BSSY, BSYNC), so in `its` and `si` diverged paths never join again. The
 * results must not depend on whether paths join. */

static struct asm_program *a;
static struct memory mem;
static uint64_t out;
static opnd_t tid, zero, one, at;

static opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    out = mem_alloc(&mem, 4096, 0, NULL, false);
    a->p.shared_bytes = 1024;
    tid = asm_special(a, SPECIAL_TID_X);
    zero = OPND_ZERO;
    one = c32(1);
    at = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", at, tid, c32(4), zero);
    asm_op(a, "add.u64", at, at, asm_const(a, 8, out), zero);
}

static void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

static uint32_t word(uint32_t i) {
    uint32_t v = 0;
    ck_assert(mem_read(&mem, out + 4ull * i, &v, 4));
    return v;
}

static bool run(int model, uint32_t block, uint64_t limit, struct interp_stats *s, struct fault *f) {
    struct launch l = asm_launch(a, &mem, 2, block);
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    struct interp_cfg ic = {.model = base_models()->ops[model], .reconv = &cfg};
    l.cycle_limit = limit;
    memset(s, 0, sizeof *s);
    return interp_run(&l, &ic, s, f);
}

static void run_well(int model, uint32_t block, struct interp_stats *s) {
    struct fault f;
    if (!run(model, block, 0, s, &f))
        ck_abort_msg("%s: %s", base_models()->ops[model]->name, f.text);
}

/* Writes a program with nested branches in a loop of tid + 1 iterations. Some lanes exit inside the loop. */
static void tangle(void) {
    opnd_t i = asm_reg(a, 4), sum = asm_reg(a, 4), low = asm_reg(a, 4), p = asm_reg(a, 0), q = asm_reg(a, 0);
    opnd_t r = asm_reg(a, 0), done = asm_reg(a, 0);
    uint32_t top = asm_pc(a);
    asm_op(a, "and.b32", low, i, c32(3), zero);
    asm_op(a, "setp.eq.u32", p, low, one, zero);
    asm_op(a, "setp.lt.u32", q, low, c32(3), zero);
    struct inst *outer = asm_bra(a, p, false, 0, 0);
    asm_op(a, "add.u32", sum, sum, tid, zero);
    struct inst *inner = asm_bra(a, q, false, 0, 0);
    asm_op(a, "add.u32", sum, sum, c32(1000), zero);
    inner->target = inner->rpc = asm_pc(a);
    asm_op(a, "add.u32", sum, sum, c32(7), zero);
    struct inst *over = asm_bra(a, 0, false, 0, 0);
    outer->target = asm_pc(a);
    asm_op(a, "xor.b32", sum, sum, i, zero);
    outer->rpc = over->target = asm_pc(a);
    asm_op(a, "setp.eq.u32", r, sum, c32(14), zero); /* some threads exit inside the loop */
    asm_mem(a, "st.global.u32", c32(5), 4, at, 0);
    asm_guard(a, r, false);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_guard(a, r, false);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.le.u32", done, i, tid, zero);
    asm_bra(a, done, false, top, asm_pc(a) + 1);
    asm_mem(a, "st.global.u32", sum, 4, at, 0);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_end(a);
}

static uint32_t tangled(uint32_t t) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= t; i++) {
        if ((i & 3) == 1)
            sum ^= i;
        else
            sum += t + ((i & 3) == 3 ? 1000 : 0) + 7;
        if (sum == 14)
            return 5;
    }
    return sum;
}

START_TEST(same_results) {
    struct interp_stats s, spe;
    setup();
    tangle();
    run_well(0, 64, &spe); /* the baseline */
    run_well(_i, 64, &s);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(word(t), tangled(t));
    /* the instructions of a thread do not depend on the model */
    ck_assert_uint_eq(s.thread_instructions, spe.thread_instructions);
    if (base_models()->ops[_i] == &reconv_dpe)
        /* the code is structured, so both models use the same lane masks and execute the same number of warp
         * instructions */
        ck_assert_uint_eq(s.warp_instructions, spe.warp_instructions);
    teardown();
}
END_TEST

/* Both sides of a branch are long enough to be interleaved. Then all warps wait at a barrier. Both happen several
 * times. */
START_TEST(barriers_after_divergence) {
    struct interp_stats s;
    setup();
    opnd_t i = asm_reg(a, 4), k = asm_reg(a, 4), p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4);
    opnd_t off = asm_reg(a, 8), odd = asm_reg(a, 4), mirror = asm_reg(a, 4);
    asm_op(a, "mul.wide.u32", off, tid, c32(4), zero);
    asm_op(a, "and.b32", odd, tid, one, zero);
    asm_op(a, "setp.ne.u32", p, odd, zero, zero);
    uint32_t top = asm_pc(a);
    struct inst *b = asm_bra(a, p, false, 0, 0);
    asm_op(a, "add.u32", v, v, one, zero);
    struct inst *over = asm_bra(a, 0, false, 0, 0);
    b->target = asm_pc(a);
    asm_op(a, "add.u32", v, v, c32(2), zero);
    b->rpc = over->target = asm_pc(a);
    asm_mem(a, "st.shared.u32", v, 4, off, 0);
    asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
    asm_op(a, "xor.b32", mirror, tid, c32(63), zero);
    asm_op(a, "mul.wide.u32", off, mirror, c32(4), zero);
    asm_mem(a, "ld.shared.u32", v, 4, off, 0);
    asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
    asm_op(a, "mul.wide.u32", off, tid, c32(4), zero);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.lt.u32", q, i, c32(5), zero);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    asm_op(a, "add.u32", k, v, zero, zero);
    asm_mem(a, "st.global.u32", k, 4, at, 0);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_end(a);
    run_well(_i, 64, &s);
    /* Thread t exchanges sums with thread 63 - t, whose parity differs. Even threads add 1 and odd threads add 2 before
     * they pass the sum on, in each of five iterations. So the sum that thread t reads at the end, which thread 63 - t
     * stored, is 2 + 1 + 2 + 1 + 2 = 8 for even t, and 1 + 2 + 1 + 2 + 1 = 7 for odd t. */
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(word(t), t & 1 ? 7 : 8);
    teardown();
}
END_TEST

/* Lane 1 of each warp waits for lane 0, which is on another path. The kernel ends only in models with independent
 * threads. */
START_TEST(waiting_within_a_warp) {
    const struct reconv_ops *model = base_models()->ops[_i];
    bool ends = model == &reconv_dws || model == &reconv_its || model == &reconv_si || model == &reconv_anypc;
    struct interp_stats s;
    struct fault f;
    setup();
    opnd_t p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4), flag = asm_const(a, 8, out);
    asm_op(a, "setp.eq.u32", p, tid, zero, zero);
    struct inst *skip = asm_bra(a, p, false, 0, 0);
    uint32_t top = asm_pc(a);
    asm_mem(a, "ld.volatile.global.u32", v, 4, flag, 0);
    asm_op(a, "setp.eq.u32", q, v, zero, zero);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    skip->target = skip->rpc = asm_pc(a);
    asm_mem(a, "st.volatile.global.u32", one, 4, flag, 0);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_end(a);
    bool ended = run(_i, 2, 1000000, &s, &f);
    if (!ended) {
        ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
        ck_assert_ptr_nonnull(strstr(f.text, "hint: warp 0 is divergent"));
        fault_free(&f);
    }
    ck_assert_msg(ended == ends, "%s: %s", base_models()->ops[_i]->name, ended ? "ended" : "did not end");
    teardown();
}
END_TEST

SUITE(isa_interp_models) {
    TEST_LOOP(same_results, 0, base_models()->n);
    TEST_LOOP(barriers_after_divergence, 0, base_models()->n);
    TEST_LOOP(waiting_within_a_warp, 0, base_models()->n);
}
