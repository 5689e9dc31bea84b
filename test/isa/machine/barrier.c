#include "test/isa/isa_asm.h"
#include "test/test.h"

/* Tests named barriers, both by direct calls and in the interpreter. */
static struct asm_program *a;
static struct memory mem;
static uint64_t out;
static opnd_t tid, zero, at;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    out = mem_alloc(&mem, 8192, 0, NULL, false);
    a->p.shared_bytes = 4096;
    tid = asm_special(a, SPECIAL_TID_X);
    zero = OPND_ZERO;
    at = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", at, tid, asm_const(a, 4, 4), zero);
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

static opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }
static void sync(uint32_t barrier, uint32_t threads) {
    asm_op(a, "bar.sync", OPND_SINK, barrier ? c32(barrier) : zero, threads ? c32(threads) : zero, zero);
}
static void store_result(opnd_t value) { /* out[tid] = value */
    opnd_t to = asm_reg(a, 8);
    asm_op(a, "add.u64", to, at, asm_const(a, 8, out), zero);
    asm_mem(a, "st.global.u32", value, 4, to, 0);
}
static void leave(void) { asm_op(a, "exit", OPND_SINK, zero, zero, zero); }
static opnd_t compare(const char *opcode, uint32_t n) {
    opnd_t p = asm_reg(a, 0);
    asm_op(a, opcode, p, tid, c32(n), zero);
    return p;
}

/* Writes a program in which thread t writes t to shared word t. After the barrier it reads word n - 1 - t, which
 * another warp wrote. */
static void reverse(uint32_t barrier, uint32_t count, uint32_t n) {
    opnd_t mirror = asm_reg(a, 8), v = asm_reg(a, 4), index = asm_reg(a, 4);
    asm_mem(a, "st.shared.u32", tid, 4, at, 0);
    sync(barrier, count);
    asm_op(a, "sub.u32", index, c32(n - 1), tid, zero);
    asm_op(a, "mul.wide.u32", mirror, index, c32(4), zero);
    asm_mem(a, "ld.shared.u32", v, 4, mirror, 0);
    store_result(v);
}

START_TEST(all_warps_arrive) {
    static const struct {
        uint32_t barrier, count, threads;
    } cases[] = {{0, 0, 256}, {15, 0, 256}, {3, 256, 256}, {0, 0, 100}, {1, 128, 100}};
    setup();
    uint32_t n = cases[_i].threads;
    reverse(cases[_i].barrier, cases[_i].count, n);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, n);
    struct interp_stats s = asm_run(&l);
    /* 9 instructions: mul, st, bar, sub, mul, ld, add, st, exit; the barrier counts once */
    ck_assert_uint_eq(s.warp_instructions, (n + 31) / 32 * 9);
    for (uint32_t t = 0; t < n; t++)
        ck_assert_uint_eq(word(t), n - 1 - t);
    teardown();
}
END_TEST

/* Warps 2 and 3 have exited. A barrier of the whole CTA does not wait for them. */
START_TEST(exited_threads_count) {
    setup();
    opnd_t p = compare("setp.ge.u32", 64);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_guard(a, p, false);
    reverse(0, 0, 64);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 128);
    asm_run(&l);
    ck_assert_uint_eq(word(0), 63);
    teardown();
}
END_TEST

/* All warps except one wait at the barrier. The exit of the last warp completes it. */
START_TEST(exit_completes) {
    setup();
    opnd_t p = compare("setp.ge.u32", 96);
    struct inst *b = asm_bra(a, p, false, 0, PC_EXIT);
    reverse(0, 0, 96);
    leave();
    b->target = asm_pc(a);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 128);
    asm_run(&l);
    ck_assert_uint_eq(word(0), 95);
    teardown();
}
END_TEST

/* The producer (warp 1) arrives and continues. The consumer (warp 0) waits until 64 threads have arrived. */
START_TEST(arrive_does_not_wait) {
    setup();
    opnd_t p = compare("setp.lt.u32", 32), v = asm_reg(a, 4);
    struct inst *b = asm_bra(a, p, false, 0, PC_EXIT);
    asm_mem(a, "st.shared.u32", tid, 4, at, 0);
    asm_op(a, "bar.arrive", OPND_SINK, c32(5), c32(64), zero);
    store_result(c32(1));
    leave();
    b->target = asm_pc(a);
    sync(5, 64);
    asm_mem(a, "ld.shared.u32", v, 4, at, 128);
    store_result(v);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 64);
    asm_run(&l);
    ck_assert_uint_eq(word(0), 32);
    ck_assert_uint_eq(word(31), 63);
    ck_assert_uint_eq(word(40), 1);
    teardown();
}
END_TEST

/* The predicate is tid < 40 in 96 threads, so the reduction popc returns 40, `and` returns false, and `or` returns
 * true. */
START_TEST(reductions) {
    setup();
    opnd_t p = compare("setp.lt.u32", 40), n = asm_reg(a, 4), and_ = asm_reg(a, 0), or_ = asm_reg(a, 0);
    asm_op(a, "bar.red.popc.u32", n, zero, zero, p);
    asm_op(a, "bar.red.and.pred", and_, zero, zero, p);
    asm_op(a, "barrier.red.or.pred", or_, c32(1), zero, p);
    asm_op(a, "add.u32", n, n, c32(1000), zero);
    asm_guard(a, and_, false);
    asm_op(a, "add.u32", n, n, c32(100), zero);
    asm_guard(a, or_, false);
    store_result(n);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 96);
    asm_run(&l);
    for (uint32_t t = 0; t < 96; t++)
        ck_assert_uint_eq(word(t), 140);
    teardown();
}
END_TEST

START_TEST(all_true) {
    setup();
    opnd_t p = compare("setp.lt.u32", 96), and_ = asm_reg(a, 0), v = asm_reg(a, 4);
    asm_op(a, "bar.red.and.pred", and_, zero, zero, p);
    asm_op(a, "selp.u32", v, c32(1), c32(2), and_);
    store_result(v);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 96);
    asm_run(&l);
    ck_assert_uint_eq(word(95), 1);
    teardown();
}
END_TEST

/* A barrier in a loop is used again in each iteration. The warps add their values one after another. */
START_TEST(reused_in_a_loop) {
    setup();
    opnd_t i = asm_reg(a, 4), p = asm_reg(a, 0), v = asm_reg(a, 4), mine = asm_reg(a, 0), warp = asm_reg(a, 4);
    asm_op(a, "shr.u32", warp, tid, c32(5), zero);
    uint32_t top = asm_pc(a);
    asm_op(a, "setp.eq.u32", mine, warp, i, zero);
    asm_mem(a, "ld.shared.u32", v, 4, zero, 0);
    asm_op(a, "add.u32", v, v, c32(1), zero);
    sync(0, 0);
    asm_mem(a, "st.shared.u32", v, 4, zero, 0);
    asm_guard(a, mine, false);
    sync(0, 0);
    asm_op(a, "add.u32", i, i, c32(1), zero);
    asm_op(a, "setp.lt.u32", p, i, c32(4), zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    asm_mem(a, "ld.shared.u32", v, 4, zero, 0);
    store_result(v);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 128);
    asm_run(&l);
    ck_assert_uint_eq(word(0), 4);
    ck_assert_uint_eq(word(127), 4);
    teardown();
}
END_TEST

static void check_report(const struct fault *f, const char *text) {
    ck_assert_msg(f->text && strstr(f->text, text), "'%s' is not in:\n%s", text, f->text ? f->text : "");
}

/* Lanes 0 to 9 of warp 0 reach the barrier on one side of a branch. The other lanes of warp 0 arrive only after lanes 0
 * to 9 have continued, because the barrier has an explicit count: other warps might complete it. */
START_TEST(divergent_barrier) {
    setup();
    opnd_t p = compare("setp.ge.u32", 10);
    struct inst *b = asm_bra(a, p, false, 0, 0);
    sync(2, 32);
    b->target = b->rpc = asm_pc(a);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
    check_report(&f, "deadlock in kernel 'test': no warp of CTA (0,0,0) can continue");
    check_report(&f, "lanes 0x000003ff at pc 3 (test.ptx:4: bar");
    check_report(&f, "), waits at barrier 2\n");
    check_report(&f, "exit), below, waits for the entries above");
    check_report(&f, "barrier 2: 10 of 32 threads have arrived");
    check_report(&f,
                 "hint: divergent barrier: lanes 0x000003ff of warp 0 wait at barrier 2, its lanes 0xfffffc00 do not");
    fault_free(&f);
    teardown();
}
END_TEST

START_TEST(too_few_threads) {
    setup();
    sync(1, 96);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 64);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
    check_report(&f, "hint: barrier 1 counts on 96 threads, but only 64 have not exited");
    fault_free(&f);
    teardown();
}
END_TEST

/* A barrier with a guard. Lanes whose guard is false do not stop at the barrier; they wait for the other lanes at the
 * next instruction. Both warps arrive with 16 lanes, so 32 threads arrive. */
START_TEST(guarded_barrier) {
    setup();
    opnd_t lane = asm_special(a, SPECIAL_LANEID), p = asm_reg(a, 0);
    asm_op(a, "setp.lt.u32", p, lane, c32(16), zero);
    asm_mem(a, "st.shared.u32", tid, 4, at, 0);
    sync(1, 32);
    asm_guard(a, p, false);
    store_result(c32(7));
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 64);
    struct interp_stats s = asm_run(&l);
    ck_assert_uint_eq(word(63), 7);
    ck_assert_uint_eq(s.warps, 2);
    teardown();
}
END_TEST

START_TEST(wrong_operands) {
    static const struct {
        uint32_t barrier, threads;
        const char *text;
    } cases[] = {{16, 0, "barrier 16: there are 16"}, {1, 33, "barrier 1 with 33 threads: not a multiple of 32"}};
    setup();
    sync(cases[_i].barrier, cases[_i].threads);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_UNSUPPORTED);
    check_report(&f, cases[_i].text);
    fault_free(&f);
    teardown();
}
END_TEST

/* Warp 0 arrives at barrier 3, then waits at barrier 5. Both barriers are for the whole CTA. The exit of warp 1
 * completes both. */
START_TEST(one_exit_completes_two) {
    setup();
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 64);
    struct cta *c = cta_new(&l);
    cta_start(c, (struct dim3){0, 0, 0}, 0);
    struct effects fx = {.barrier = 3, .barrier_mode = BARRIER_ARRIVE};
    static const struct inst in;
    ck_assert(!cta_barrier_arrive(c, &c->warps[0], &in, LANES_ALL, &fx));
    fx = (struct effects){.barrier = 5, .barrier_mode = BARRIER_SYNC};
    ck_assert(!cta_barrier_arrive(c, &c->warps[0], &in, LANES_ALL, &fx));
    c->warps[1].live = 0xffff;
    ck_assert_uint_eq(cta_threads_exit(c, &c->warps[1], 0xffff0000), 0);
    c->warps[1].live = 0;
    ck_assert_uint_eq(cta_threads_exit(c, &c->warps[1], 0xffff), 1 << 3 | 1 << 5);
    cta_free(c);
    teardown();
}
END_TEST

/* exec_barrier_effects() must give the effects that the execution of a barrier of the whole CTA has. For any other
 * barrier, exec_barrier_is_of_all() must return false. */
START_TEST(barrier_of_all) {
    static const struct {
        const char *opcode;
        uint32_t barrier, threads;
        bool in_register, guarded, known;
    } cases[] = {{"bar.sync", 0, 0, false, false, true},      {"bar.sync", 3, 0, false, false, true},
                 {"barrier.sync", 15, 0, false, false, true}, {"bar.sync", 16, 0, false, false, false},
                 {"bar.sync", 3, 64, false, false, false},    {"bar.sync", 3, 0, true, false, false},
                 {"bar.sync", 3, 0, false, true, false},      {"bar.arrive", 3, 64, false, false, false}};
    setup();
    opnd_t number = asm_reg(a, 4), p = compare("setp.lt.u32", 64);
    asm_op(a, "mov.b32", number, c32(cases[_i].barrier), zero, zero);
    opnd_t from = cases[_i].in_register ? number : cases[_i].barrier ? c32(cases[_i].barrier) : zero;
    asm_op(a, cases[_i].opcode, OPND_SINK, from, cases[_i].threads ? c32(cases[_i].threads) : zero, zero);
    if (cases[_i].guarded)
        asm_guard(a, p, false);
    const uint32_t pc = a->p.n - 1;
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 64);
    struct cta *c = cta_new(&l);
    cta_start(c, (struct dim3){0, 0, 0}, 0);
    struct effects predicted, executed;
    memset(&predicted, 0x5a, sizeof predicted);
    executed = predicted;
    uint32_t n;
    ck_assert_int_eq(exec_barrier_is_of_all(c->warps[1].bank[1], &a->p.code[pc], &n), cases[_i].known);
    if (cases[_i].known) {
        exec_barrier_effects(&predicted, n);
        exec_inst(&c->warps[1], &a->p.code[pc], LANES_ALL, &executed);
    }
    ck_assert_mem_eq(&predicted, &executed, sizeof predicted);
    cta_free(c);
    teardown();
}
END_TEST

SUITE(isa_barrier) {
    TEST_LOOP(barrier_of_all, 0, 8);
    TEST(one_exit_completes_two);
    TEST_LOOP(all_warps_arrive, 0, 5);
    TEST(exited_threads_count);
    TEST(exit_completes);
    TEST(arrive_does_not_wait);
    TEST(reductions);
    TEST(all_true);
    TEST(reused_in_a_loop);
    TEST(divergent_barrier);
    TEST(too_few_threads);
    TEST(guarded_barrier);
    TEST_LOOP(wrong_operands, 0, 2);
}
