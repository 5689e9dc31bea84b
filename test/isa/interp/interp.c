#include "interp_rig.h"

/* Thread t adds 0 + 1 + ... + t, so loops have different lengths. An iteration has three instructions (add, add, setp)
 * and the branch. The 32 lanes leave the loop one after another, and then all lanes store t (t + 1) / 2 in one
 * instruction. */
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
    /* 2 instructions of set-up, 32 iterations of 4 instructions, then st and exit */
    ck_assert_uint_eq(s.warp_instructions, SETUP_INSTRUCTIONS + 32 * 4 + 2);
    /* iteration k has 32 - k lanes; at the branch only the 31 - k lanes with a true guard are counted */
    ck_assert_uint_eq(s.thread_instructions, 32 * SETUP_INSTRUCTIONS + 3 * (32 * 33 / 2) + 31 * 32 / 2 + 64);
    ck_assert_uint_eq(s.path_sum, s.warp_instructions);
    ck_assert_uint_eq(s.max_depth, 2);
    teardown();
}
END_TEST

/* Adds code that appends an entry to the trace. Word 0 of the trace is the number of entries. An entry is the pair {id,
 * mask of the lanes that execute}. */
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

/* Returns a predicate that is true if lane < n. */
static opnd_t below(uint32_t n) {
    opnd_t p = asm_reg(a, 0);
    asm_op(a, "setp.lt.u32", p, tid, c32(n), zero);
    return p;
}

/* The control flow of Figure 1 of the dual-path paper, with four lanes. Lane 0 executes block B, and lane 1 executes
 * block D. */
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

/* Lanes 0 to 2 execute one side of a branch, where lane 0 exits. The other lanes branch to the join. */
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

/* Lane t takes entry t mod 3 of the branch table of brx.idx. The third entry of the table is the join. */
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

/* A block of (5, 3, 2) threads has 30 threads, which are one warp without lanes 30 and 31. %tid counts along x
 * first. */
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
    struct fault f = asm_run_fault(&l); /* thread 40 of CTA 0 (warp 1, lane 8) is the first thread beyond the buffer */
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
    asm_guard(a, p, false); /* p is false in all lanes, so the next trap is skipped */
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

/* Makes a program that never ends on a reconvergence stack: lane 1 spins until a flag is set, and lane 0, which sets
 * the flag after the join, waits at the join for lane 1. */
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

/* Shared memory is zero at the start of every CTA, whatever the previous CTA wrote. */
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
    l.dynamic_shared = 9137; /* 40001 is rounded up to 40016, and 40016 + 9137 = 49153 */
    ck_assert_ptr_nonnull(strstr(launch_check(&l, 49152, why, sizeof why), "49153 bytes of shared memory"));
    l.dynamic_shared = 9136;
    ck_assert_ptr_null(launch_check(&l, 49152, why, sizeof why));
    a->p.reqntid = (struct dim3){64, 1, 1};
    ck_assert_ptr_nonnull(strstr(launch_check(&l, 49152, why, sizeof why), ".reqntid"));
    teardown();
}
END_TEST

/* %clock is the number of instructions that the warp has executed. Two instructions lie between the two readings, so
 * the second value is greater by 3: it also counts the first reading. The first value counts the instructions of the
 * set-up. */
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

SUITE(isa_interp) {
    TEST(the_clock_counts_instructions);
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
    TEST(shared_memory_starts_empty);
    TEST(first_fault_wins);
    TEST(launches_are_checked);
}
