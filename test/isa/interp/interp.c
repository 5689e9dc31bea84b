#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static uint64_t out; /* one word a thread, or a trace */
static opnd_t tid, zero, one, at;

enum { OUT_BYTES = 1 << 16 };

static opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }

/* `at` = out + 4 * global thread number is computed by the program's first two instructions. */
static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    out = mem_alloc(&mem, OUT_BYTES, 0, NULL, false);
    tid = asm_special(a, SPECIAL_TID_X);
    zero = OPND_ZERO;
    one = c32(1);
    at = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", at, tid, c32(4), OPND_ZERO);
    asm_op(a, "add.u64", at, at, asm_const(a, 8, out), OPND_ZERO);
}
enum { SETUP_INSTRUCTIONS = 2 };

static void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

static void store(opnd_t value) { asm_mem(a, "st.global.u32", value, 4, at, 0); }
static void leave(void) { asm_op(a, "exit", OPND_SINK, zero, zero, zero); }
static uint32_t word(uint32_t i) {
    uint32_t v = 0;
    ck_assert(mem_read(&mem, out + 4ull * i, &v, 4));
    return v;
}

/* Thread t adds up 0 + 1 + ... + t: loops of different lengths. Each trip is 3 instructions (add, add, setp) and the
 * branch; 32 lanes leave one after another, and all store once: t (t + 1) / 2. */
START_TEST(loops_of_different_lengths) {
    setup();
    opnd_t i = asm_reg(a, 4), sum = asm_reg(a, 4), p = asm_reg(a, 0);
    uint32_t top = asm_pc(a);
    asm_op(a, "add.u32", sum, sum, i, zero);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.le.u32", p, i, tid, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    store(sum);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    struct interp_stats s = asm_run(&l);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(word(t), t * (t + 1) / 2);
    /* 2 set-up, 32 trips of 4, st and exit */
    ck_assert_uint_eq(s.warp_instructions, SETUP_INSTRUCTIONS + 32 * 4 + 2);
    /* trip k has 32 - k lanes; the branch counts the lanes whose guard holds, 31 - k */
    ck_assert_uint_eq(s.thread_instructions, 32 * SETUP_INSTRUCTIONS + 3 * (32 * 33 / 2) + 31 * 32 / 2 + 64);
    ck_assert_uint_eq(s.path_sum, s.warp_instructions);
    ck_assert_uint_eq(s.max_depth, 2);
    teardown();
}
END_TEST

/* Appends `id` to the trace: word 0 is the number of entries, pairs {id, lanes that execute} follow. */
static void trace(uint32_t id) {
    opnd_t n = asm_reg(a, 8), n32 = asm_reg(a, 4), p = asm_reg(a, 8), m = asm_reg(a, 4);
    opnd_t base = asm_const(a, 8, out);
    asm_mem(a, "ld.global.u32", n32, 4, base, 0);
    asm_op(a, "mul.wide.u32", n, n32, c32(8), zero);
    asm_op(a, "add.u64", p, n, base, zero);
    asm_op(a, "activemask.b32", m, zero, zero, zero);
    asm_mem(a, "st.global.u32", c32(id), 4, p, 4);
    asm_mem(a, "st.global.u32", m, 4, p, 8);
    asm_op(a, "add.u32", n32, n32, one, zero);
    asm_mem(a, "st.global.u32", n32, 4, base, 0);
}

static void check_trace(const char *ids, const lanemask_t *lanes) {
    uint32_t n = (uint32_t)strlen(ids);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_msg(word(1 + 2 * i) == (uint32_t)ids[i], "step %u is %c, not %c", i, word(1 + 2 * i), ids[i]);
        ck_assert_uint_eq(word(2 + 2 * i), lanes[i]);
    }
    ck_assert_uint_eq(word(0), n);
}

/* p = lane < n */
static opnd_t below(uint32_t n) {
    opnd_t p = asm_reg(a, 0);
    asm_op(a, "setp.lt.u32", p, tid, c32(n), zero);
    return p;
}

/* The control flow of Figure 1 of the dual-path paper on four lanes: B is run by lane 0, D by lane 1. */
START_TEST(figure_1) {
    setup();
    opnd_t p = below(1), q = below(2);
    trace('A');
    struct inst *to_b = asm_bra(a, p, false, 0, 0);
    trace('C');
    struct inst *to_d = asm_bra(a, q, false, 0, 0);
    trace('E');
    struct inst *e_to_f = asm_bra(a, 0, false, 0, 0);
    to_d->target = asm_pc(a);
    trace('D');
    to_d->rpc = e_to_f->target = asm_pc(a);
    trace('F');
    struct inst *f_to_g = asm_bra(a, 0, false, 0, 0);
    to_b->target = asm_pc(a);
    trace('B');
    to_b->rpc = f_to_g->target = asm_pc(a);
    trace('G');
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 4);
    asm_run(&l);
    check_trace("ABCDEFG", (lanemask_t[]){0xf, 0x1, 0xe, 0x2, 0xc, 0xe, 0xf});
    teardown();
}
END_TEST

/* Lanes 0 to 2 take a side on which lane 0 exits; the join has the others. */
START_TEST(exit_inside_a_branch) {
    setup();
    opnd_t p = below(3), q = below(1);
    struct inst *b = asm_bra(a, p, true, 0, 0);
    trace('X');
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_guard(a, q, false);
    trace('Y');
    b->target = b->rpc = asm_pc(a);
    trace('J');
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 8);
    asm_run(&l);
    check_trace("XYJ", (lanemask_t[]){0x7, 0x6, 0xfe});
    teardown();
}
END_TEST

/* brx.idx: lane t takes entry t mod 3 of the table; the third target is the join itself. */
START_TEST(branch_by_table) {
    setup();
    opnd_t index = asm_reg(a, 4);
    asm_op(a, "rem.u32", index, tid, c32(3), zero);
    struct inst *x = asm_op(a, "brx.idx", OPND_SINK, index, zero, zero);
    uint32_t first = asm_pc(a);
    trace('P');
    struct inst *to_join = asm_bra(a, 0, false, 0, 0);
    uint32_t second = asm_pc(a);
    trace('Q');
    uint32_t join = asm_pc(a);
    to_join->target = x->rpc = join;
    trace('J');
    leave();
    x->list = asm_list(a, (uint32_t[]){3, first, second, join}, 4);
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 6);
    asm_run(&l);
    check_trace("PQJ", (lanemask_t[]){0x9, 0x12, 0x3f});
    teardown();
}
END_TEST

START_TEST(table_index_out_of_range) {
    setup();
    struct inst *x = asm_op(a, "brx.idx", OPND_SINK, tid, zero, zero);
    x->rpc = asm_pc(a);
    x->list = asm_list(a, (uint32_t[]){2, x->rpc, x->rpc}, 3);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 4);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_BAD_CALL);
    ck_assert_uint_eq(f.lane, 2);
    ck_assert_str_eq(f.text, "brx.idx with index 2, but its table has 2 targets");
    fault_free(&f);
    teardown();
}
END_TEST

START_TEST(guards) {
    setup();
    opnd_t v = asm_reg(a, 4), p = below(5), q = below(30);
    asm_op(a, "add.u32", v, v, c32(7), zero);
    asm_guard(a, p, false);
    asm_op(a, "add.u32", v, v, c32(100), zero);
    asm_guard(a, p, true);
    store(v);
    asm_guard(a, q, false);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    asm_run(&l);
    ck_assert_uint_eq(word(4), 7);
    ck_assert_uint_eq(word(5), 100);
    ck_assert_uint_eq(word(29), 100);
    ck_assert_uint_eq(word(30), 0);
    teardown();
}
END_TEST

/* A block of (5, 3, 2) threads: the last warp does not exist, lanes 30 and 31 neither; %tid counts x first. */
START_TEST(special_registers) {
    setup();
    opnd_t y = asm_special(a, SPECIAL_TID_Y), z = asm_special(a, SPECIAL_TID_Z), lane = asm_special(a, SPECIAL_LANEID);
    opnd_t cta = asm_special(a, SPECIAL_CTAID_Y), v = asm_reg(a, 4), slot = asm_reg(a, 8);
    asm_op(a, "mad.lo.u32", v, y, c32(10), tid);
    asm_op(a, "mad.lo.u32", v, z, c32(100), v);
    asm_op(a, "mad.lo.u32", v, cta, c32(1000), v);
    asm_op(a, "mad.lo.u32", lane, cta, c32(32), lane);
    asm_op(a, "mul.wide.u32", slot, lane, c32(4), zero);
    asm_op(a, "add.u64", slot, slot, asm_const(a, 8, out), zero);
    asm_mem(a, "st.global.u32", v, 4, slot, 0);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 1);
    l.grid = (struct dim3){1, 3, 1};
    l.block = (struct dim3){5, 3, 2};
    struct interp_stats s = asm_run(&l);
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t t = 0; t < 32; t++) {
            uint32_t want = t < 30 ? 1000 * c + 100 * (t / 15) + 10 * (t / 5 % 3) + t % 5 : 0;
            ck_assert_uint_eq(word(32 * c + t), want);
        }
    ck_assert_uint_eq(s.ctas, 3);
    ck_assert_uint_eq(s.warps, 3);
    ck_assert_uint_eq(s.thread_instructions, s.warp_instructions * 30);
    teardown();
}
END_TEST

START_TEST(fault_says_where) {
    setup();
    asm_mem(a, "st.global.u32", tid, 4, at, OUT_BYTES - 4 * 40);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 2, 64);
    struct fault f = asm_run_fault(&l); /* thread 40 of CTA 0 is the first beyond the buffer: warp 1, lane 8 */
    ck_assert_int_eq(f.kind, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(f.pc, SETUP_INSTRUCTIONS);
    ck_assert_uint_eq(f.warp, 1);
    ck_assert_uint_eq(f.lane, 8);
    ck_assert(f.is_store);
    ck_assert_uint_eq(f.address, out + OUT_BYTES);
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fault_print(&f, &l, stream);
    fclose(stream);
    ck_assert_ptr_nonnull(
        strstr(text, "out-of-bounds write of 4 bytes at 0x10010000 (global memory) in kernel 'test'\n"));
    ck_assert_ptr_nonnull(strstr(text, "  at test.ptx:3:"));
    ck_assert_ptr_nonnull(strstr(text, "  CTA (0,0,0), warp 1, lane 8, thread (40,0,0)\n"));
    ck_assert_ptr_nonnull(strstr(text, "0 bytes past the end of buffer 1 (65536 bytes at 0x10000000)"));
    free(text);
    fault_free(&f);
    teardown();
}
END_TEST

START_TEST(trap_faults) {
    setup();
    asm_op(a, "trap", OPND_SINK, zero, zero, zero);
    opnd_t p = asm_reg(a, 0);
    asm_guard(a, p, false); /* false everywhere: no trap */
    asm_op(a, "trap", OPND_SINK, zero, zero, zero);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_TRAP);
    ck_assert_uint_eq(f.pc, SETUP_INSTRUCTIONS + 1);
    fault_free(&f);
    teardown();
}
END_TEST

START_TEST(endless_loop_meets_the_limit) {
    setup();
    asm_bra(a, 0, false, asm_pc(a), PC_EXIT);
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    l.cycle_limit = 1000;
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_LIMIT);
    ck_assert_ptr_nonnull(strstr(f.text, "reached the limit of 1000 warp instructions with 0 of 1 CTAs finished"));
    ck_assert_ptr_nonnull(strstr(f.text, "lanes 0xffffffff at pc 2 (test.ptx:3"));
    fault_free(&f);
    teardown();
}
END_TEST

/* Lane 1 waits for lane 0 of its own warp, which waits at the join: a spin lock inside a warp. */
static void spin_within_a_warp(void) {
    opnd_t p = asm_reg(a, 0), v = asm_reg(a, 4), flag = asm_const(a, 8, out);
    asm_op(a, "setp.eq.u32", p, tid, zero, zero);
    struct inst *skip = asm_bra(a, p, false, 0, 0);
    uint32_t top = asm_pc(a);
    opnd_t q = asm_reg(a, 0);
    asm_mem(a, "ld.volatile.global.u32", v, 4, flag, 0);
    asm_op(a, "setp.eq.u32", q, v, zero, zero);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    skip->target = skip->rpc = asm_pc(a);
    asm_mem(a, "st.volatile.global.u32", one, 4, flag, 0);
    leave();
}

START_TEST(spin_lock_inside_a_warp) {
    setup();
    spin_within_a_warp();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 2);
    l.cycle_limit = 100000;
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
    ck_assert_ptr_nonnull(strstr(f.text, "hint: warp 0 is divergent"));
    fault_free(&f);
    teardown();
}
END_TEST

/* CTA 0 waits for a flag that the last CTA sets: it must give way, whatever the number of CTAs and threads. */
START_TEST(a_cta_that_waits_for_another) {
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4);
    opnd_t flag = asm_const(a, 8, out);
    asm_op(a, "setp.eq.u32", q, cta, c32(39), zero);
    asm_mem(a, "st.volatile.global.u32", one, 4, flag, 0);
    asm_guard(a, q, false);
    uint32_t top = asm_pc(a);
    asm_mem(a, "ld.volatile.global.u32", v, 4, flag, 0);
    asm_op(a, "setp.eq.u32", p, v, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    leave();
    asm_end(a);
    struct interp_stats stats[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        struct launch l = asm_launch(a, &mem, 40, 32);
        struct interp_cfg cfg = {.threads = k ? 3 : 1};
        struct fault f;
        uint32_t none = 0;
        mem_write(&mem, out, &none, 4);
        ck_assert(interp_run(&l, &cfg, &stats[k], &f));
    }
    ck_assert_uint_eq(stats[0].ctas, 40);
    ck_assert_mem_eq(&stats[0], &stats[1], sizeof stats[0]);
    teardown();
}
END_TEST

/* 64 CTAs may be resident at a time: the first 63 wait until the last that fits sets the flag. */
START_TEST(as_many_waiting_ctas_as_fit) {
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4);
    opnd_t flag = asm_const(a, 8, out);
    asm_op(a, "setp.eq.u32", q, cta, c32(63), zero);
    asm_mem(a, "st.volatile.global.u32", one, 4, flag, 0);
    asm_guard(a, q, false);
    uint32_t top = asm_pc(a);
    asm_mem(a, "ld.volatile.global.u32", v, 4, flag, 0);
    asm_op(a, "setp.eq.u32", p, v, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 100, 32);
    struct interp_stats s = asm_run(&l);
    ck_assert_uint_eq(s.ctas, 100);
    teardown();
}
END_TEST

/* Tickets: each thread takes the old value of a counter. The order of atomics is that of one host thread, although
 * later CTAs come to theirs much sooner: CTA c counts down from 20 (100 - c) first. */
START_TEST(threads_do_not_change_results) {
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), v = asm_reg(a, 4), slot = asm_reg(a, 8), n = asm_reg(a, 4);
    opnd_t delay = asm_reg(a, 4), p = asm_reg(a, 0);
    asm_op(a, "sub.u32", delay, c32(100), cta, zero);
    asm_op(a, "mul.lo.u32", delay, delay, c32(20), zero);
    uint32_t top = asm_pc(a);
    asm_op(a, "sub.u32", delay, delay, one, zero);
    asm_op(a, "setp.ne.u32", p, delay, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    asm_mem(a, "atom.global.add.u32", v, 4, asm_const(a, 8, out), 0)->b = one;
    asm_op(a, "mad.lo.u32", n, cta, c32(64), tid);
    asm_op(a, "mul.wide.u32", slot, n, c32(4), zero);
    asm_op(a, "add.u64", slot, slot, asm_const(a, 8, out + 4), zero);
    asm_mem(a, "st.global.u32", v, 4, slot, 0);
    leave();
    asm_end(a);
    struct interp_stats stats[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        uint32_t none = 0;
        struct launch l = asm_launch(a, &mem, 100, 64);
        struct interp_cfg cfg = {.threads = k ? 4 : 1};
        struct fault f;
        mem_write(&mem, out, &none, 4);
        ck_assert(interp_run(&l, &cfg, &stats[k], &f));
        ck_assert_uint_eq(word(0), 6400);
        for (uint32_t i = 0; i < 6400; i++)
            ck_assert_uint_eq(word(1 + i), i);
    }
    ck_assert_mem_eq(&stats[0], &stats[1], sizeof stats[0]);
    teardown();
}
END_TEST

/* Every thread waits for a flag that nobody sets, in 70 CTAs of which 64 fit: found without a limit, at once or on
 * several host threads. Threads that count their rounds (30,000, in one turn or two) are not mistaken for them. */
START_TEST(endless_waiting_is_found) {
    setup();
    opnd_t p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4), i = asm_reg(a, 4);
    opnd_t flag = asm_const(a, 8, out);
    uint32_t top = asm_pc(a);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.lt.u32", p, i, c32(30000), zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    asm_op(a, "mov.u32", i, zero, zero, zero);
    uint32_t wait = asm_pc(a);
    asm_mem(a, "ld.volatile.global.u32", v, 4, flag, 0);
    asm_op(a, "setp.eq.u32", q, v, zero, zero);
    asm_bra(a, q, false, wait, asm_pc(a) + 1);
    leave();
    asm_end(a);
    uint32_t set[] = {1, 0, 0};
    for (uint32_t k = 0; k < 3; k++) {
        struct launch l = asm_launch(a, &mem, 70, 64);
        struct interp_cfg cfg = {.threads = k == 2 ? 3 : 1};
        struct interp_stats n = {0};
        struct fault f;
        mem_write(&mem, out, &set[k], 4);
        bool ended = interp_run(&l, &cfg, &n, &f);
        ck_assert_int_eq(ended, set[k]);
        if (ended)
            continue;
        ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
        ck_assert_msg(strstr(f.text, "every path that may run repeats itself") != NULL, "%s", f.text);
        ck_assert_msg(strstr(f.text, "CTA (63,0,0)") != NULL, "%s", f.text);
        fault_free(&f);
    }
    teardown();
}
END_TEST

/* A host thread takes several short CTAs at once. CTA 50 waits for CTA 51: the rest of what was taken with it must go
 * on without it. Every CTA then counts its word up. */
START_TEST(short_ctas_of_which_one_waits) {
    enum { CTAS = 2000 };
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4);
    opnd_t mine = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", mine, cta, c32(4), zero);
    asm_op(a, "add.u64", mine, mine, asm_const(a, 8, out), zero);
    asm_op(a, "setp.ne.u32", q, cta, c32(50), zero);
    asm_bra(a, q, false, asm_pc(a) + 4, asm_pc(a) + 4);
    uint32_t top = asm_pc(a);
    asm_mem(a, "ld.volatile.global.u32", v, 4, mine, 4);
    asm_op(a, "setp.eq.u32", p, v, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    asm_op(a, "setp.ne.u32", q, cta, c32(51), zero);
    asm_bra(a, q, false, asm_pc(a) + 3, asm_pc(a) + 3);
    asm_mem(a, "st.volatile.global.u32", one, 4, mine, 0);
    leave();
    asm_mem(a, "ld.global.u32", v, 4, mine, 0);
    asm_op(a, "add.u32", v, v, one, zero);
    asm_mem(a, "st.global.u32", v, 4, mine, 0);
    leave();
    asm_end(a);
    struct interp_stats stats[3] = {{0}, {0}, {0}};
    for (uint32_t k = 0; k < 3; k++) {
        struct launch l = asm_launch(a, &mem, CTAS, 32);
        struct interp_cfg cfg = {.threads = k + 1};
        struct fault f;
        static const uint32_t none[CTAS];
        mem_write(&mem, out, none, sizeof none);
        ck_assert(interp_run(&l, &cfg, &stats[k], &f));
        for (uint32_t i = 0; i < CTAS; i++)
            ck_assert_uint_eq(word(i), 1);
    }
    ck_assert_uint_eq(stats[0].ctas, CTAS);
    ck_assert_mem_eq(&stats[0], &stats[1], sizeof stats[0]);
    ck_assert_mem_eq(&stats[0], &stats[2], sizeof stats[0]);
    teardown();
}
END_TEST

/* A cooperative grid lets more CTAs be in flight than there is room for turns that have ended (128). Behind CTA 1,
 * which divides 2 million times, the others end, several at once: a sixth of those left, but no more than 16, so that
 * the ninth time begins with CTA 121 and could be 121 to 129. CTA 128 spends its turn (4,194,304 instructions, of which
 * its 1,400,000 rounds have 3 each) and leaves the rest behind. Every CTA counts its word up once. */
START_TEST(short_ctas_of_a_cooperative_grid_behind_a_long_one) {
    enum { CTAS = 180, DIVISIONS = 500000, ROUNDS = 1400000 };
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0), i = asm_reg(a, 4), v = asm_reg(a, 4);
    opnd_t mine = asm_reg(a, 8), d = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", mine, cta, c32(4), zero);
    asm_op(a, "add.u64", mine, mine, asm_const(a, 8, out), zero);
    asm_op(a, "setp.ne.u32", p, cta, one, zero);
    asm_bra(a, p, false, asm_pc(a) + 8, asm_pc(a) + 8);
    uint32_t slow = asm_pc(a);
    for (int k = 0; k < 4; k++)
        asm_op(a, "div.rn.f64", d, d, mine, zero);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.lt.u32", p, i, c32(DIVISIONS), zero);
    asm_bra(a, p, false, slow, asm_pc(a) + 1);
    asm_op(a, "setp.ne.u32", p, cta, c32(128), zero);
    asm_bra(a, p, false, asm_pc(a) + 4, asm_pc(a) + 4);
    uint32_t top = asm_pc(a);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.lt.u32", p, i, c32(ROUNDS), zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    asm_mem(a, "ld.global.u32", v, 4, mine, 0);
    asm_op(a, "add.u32", v, v, one, zero);
    asm_mem(a, "st.global.u32", v, 4, mine, 0);
    leave();
    asm_end(a);
    struct interp_stats stats[3] = {{0}, {0}, {0}};
    static const uint32_t none[CTAS];
    for (uint32_t k = 0; k < 3; k++) {
        struct launch l = asm_launch(a, &mem, CTAS, 32);
        struct interp_cfg cfg = {.threads = k + 1};
        struct fault f;
        l.workspace = out;
        mem_write(&mem, out, none, sizeof none);
        ck_assert(interp_run(&l, &cfg, &stats[k], &f));
        for (uint32_t j = 0; j < CTAS; j++)
            ck_assert_uint_eq(word(j), 1);
        ck_assert_uint_eq(stats[k].ctas, CTAS);
        ck_assert_mem_eq(&stats[0], &stats[k], sizeof stats[0]);
    }
    teardown();
}
END_TEST

/* Every CTA finds its shared memory empty, whatever the one before it left there. */
START_TEST(shared_memory_starts_empty) {
    setup();
    a->p.shared_bytes = 64;
    opnd_t v = asm_reg(a, 4);
    asm_mem(a, "ld.shared.u32", v, 4, zero, 60);
    asm_op(a, "add.u32", v, v, one, zero);
    asm_mem(a, "st.shared.u32", v, 4, zero, 60);
    store(v);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 3, 32);
    asm_run(&l);
    ck_assert_uint_eq(word(0), 1);
    teardown();
}
END_TEST

START_TEST(first_fault_wins) {
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0);
    asm_op(a, "setp.ge.u32", p, cta, c32(7), zero);
    asm_op(a, "trap", OPND_SINK, zero, zero, zero);
    asm_guard(a, p, false);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 100, 64);
    struct interp_stats s = {0};
    struct interp_cfg cfg = {.threads = 4};
    struct fault f;
    ck_assert(!interp_run(&l, &cfg, &s, &f));
    ck_assert_uint_eq(f.cta.x, 7);
    ck_assert_uint_eq(s.ctas, 7);
    fault_free(&f);
    teardown();
}
END_TEST

START_TEST(launches_are_checked) {
    char why[256];
    setup();
    leave();
    struct launch l = asm_launch(a, &mem, 1, 1025);
    ck_assert_ptr_nonnull(strstr(launch_check(&l, 49152, why, sizeof why), "1025 x 1 x 1 threads"));
    l.block.x = 32;
    ck_assert_ptr_null(launch_check(&l, 49152, why, sizeof why));
    l.grid.y = 65536;
    ck_assert_ptr_nonnull(launch_check(&l, 49152, why, sizeof why));
    l.grid.y = 1;
    a->p.shared_bytes = 40001;
    l.dynamic_shared = 9137; /* 40016 + 9137 = 49153 */
    ck_assert_ptr_nonnull(strstr(launch_check(&l, 49152, why, sizeof why), "49153 bytes of shared memory"));
    l.dynamic_shared = 9136;
    ck_assert_ptr_null(launch_check(&l, 49152, why, sizeof why));
    a->p.reqntid = (struct dim3){64, 1, 1};
    ck_assert_ptr_nonnull(strstr(launch_check(&l, 49152, why, sizeof why), ".reqntid"));
    teardown();
}
END_TEST

/* %clock counts what the warp has executed: from one reading to the next it is the two instructions between, and
 * itself. The first has the set-up before it, and is counted. */
START_TEST(the_clock_counts_instructions) {
    setup();
    opnd_t first = asm_reg(a, 4), second = asm_reg(a, 4), v = asm_reg(a, 4);
    asm_op(a, "#sreg", first, zero, zero, zero)->imm = SPECIAL_CLOCK;
    asm_op(a, "add.u32", v, v, one, zero);
    asm_op(a, "add.u32", v, v, one, zero);
    asm_op(a, "#sreg", second, zero, zero, zero)->imm = SPECIAL_CLOCK;
    asm_op(a, "sub.u32", second, second, first, zero);
    store(second);
    asm_mem(a, "st.global.u32", first, 4, at, 4);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 1);
    asm_run(&l);
    ck_assert_uint_eq(word(0), 3);
    ck_assert_uint_eq(word(1), SETUP_INSTRUCTIONS + 1);
    teardown();
}
END_TEST

/* A thread that counts in memory, and comes to its branch with the same registers every time: what it stores is what
 * makes it end, so it does not repeat itself. 60,000 rounds of five instructions are several turns. */
START_TEST(who_counts_in_memory_does_not_repeat) {
    enum { ROUNDS = 60000 };
    setup();
    opnd_t v = asm_reg(a, 4), p = asm_reg(a, 0);
    uint32_t top = asm_pc(a);
    asm_mem(a, "ld.global.u32", v, 4, at, 0);
    asm_op(a, "add.u32", v, v, one, zero);
    store(v);
    asm_op(a, "setp.lt.u32", p, v, c32(ROUNDS), zero);
    asm_op(a, "mov.u32", v, zero, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 1);
    asm_run(&l);
    ck_assert_uint_eq(word(0), ROUNDS);
    teardown();
}
END_TEST

/* So is a lock in shared memory that nobody gives back: an atomic that leaves there what it found changes nothing. */
START_TEST(endless_waiting_in_shared_memory_is_found) {
    setup();
    a->p.shared_bytes = 64;
    opnd_t p = asm_reg(a, 0), v = asm_reg(a, 4), lock = asm_reg(a, 8);
    asm_op(a, "mov.u64", lock, zero, zero, zero);
    asm_mem(a, "st.shared.u32", one, 4, lock, 0);
    uint32_t top = asm_pc(a);
    struct inst *cas = asm_mem(a, "atom.shared.cas.b32", v, 4, lock, 0);
    cas->b = zero;
    cas->c = one;
    asm_op(a, "setp.ne.u32", p, v, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
    ck_assert_msg(strstr(f.text, "every path that may run repeats itself") != NULL, "%s", f.text);
    fault_free(&f);
    teardown();
}
END_TEST

SUITE(isa_interp) {
    TEST(endless_waiting_in_shared_memory_is_found);
    TEST(the_clock_counts_instructions);
    TEST(who_counts_in_memory_does_not_repeat);
    TEST(loops_of_different_lengths);
    TEST(figure_1);
    TEST(exit_inside_a_branch);
    TEST(branch_by_table);
    TEST(table_index_out_of_range);
    TEST(guards);
    TEST(special_registers);
    TEST(fault_says_where);
    TEST(trap_faults);
    TEST(endless_loop_meets_the_limit);
    TEST(spin_lock_inside_a_warp);
    TEST(a_cta_that_waits_for_another);
    TEST(as_many_waiting_ctas_as_fit);
    TEST(threads_do_not_change_results);
    TEST(short_ctas_of_which_one_waits);
    TEST(short_ctas_of_a_cooperative_grid_behind_a_long_one);
    TEST(endless_waiting_is_found);
    TEST(shared_memory_starts_empty);
    TEST(first_fault_wins);
    TEST(launches_are_checked);
}
