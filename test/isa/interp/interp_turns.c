/* Tests the turns of CTAs: in a turn, a host thread runs one CTA for a limited number of instructions. A CTA that waits
 * for another CTA must end its turn, with any number of host threads. A CTA that waits forever must be reported. */
#include "interp_rig.h"
#include "isa/interp/interp_watch.h"

/* Makes a kernel in which every CTA waits for a flag. CTA `setter` sets the flag before it waits. */
static void make_wait_for(uint32_t setter) {
    setup();
    opnd_t cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0), q = asm_reg(a, 0), v = asm_reg(a, 4);
    opnd_t flag = asm_const(a, 8, out);
    asm_op(a, "setp.eq.u32", q, cta, c32(setter), zero);
    asm_mem(a, "st.volatile.global.u32", one, 4, flag, 0);
    asm_guard(a, q, false);
    uint32_t top = asm_pc(a);
    asm_mem(a, "ld.volatile.global.u32", v, 4, flag, 0);
    asm_op(a, "setp.eq.u32", p, v, zero, zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    leave();
    asm_end(a);
}

/* CTA 0 waits for a flag that the last CTA sets. CTA 0 must end its turn, for any number of CTAs and host threads. */
START_TEST(a_cta_that_waits_for_another) {
    make_wait_for(39);
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

/* 64 CTAs may be resident at a time. The first 63 CTAs wait until the 64th CTA sets the flag. */
START_TEST(as_many_waiting_ctas_as_fit) {
    make_wait_for(63);
    struct launch l = asm_launch(a, &mem, 100, 32);
    struct interp_stats s = asm_run(&l);
    ck_assert_uint_eq(s.ctas, 100);
    teardown();
}
END_TEST

/* Each thread takes a ticket, which is the old value of a counter. The order of the atomics must be the order with one
 * host thread. CTA c first executes 20 (100 - c) iterations of a delay loop, so later CTAs reach their atomics much
 * earlier. */
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

/* 70 CTAs are launched, of which 64 fit. Every thread waits for a flag that is never set. The interpreter must report
 * this even without an instruction limit, with one or several host threads. Threads that count their iterations (30,000
 * iterations, in one or two turns) must not be reported. */
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
        ck_assert_msg(strstr(f.text, "every runnable path repeats itself") != NULL, "%s", f.text);
        ck_assert_msg(strstr(f.text, "CTA (63,0,0)") != NULL, "%s", f.text);
        fault_free(&f);
    }
    teardown();
}
END_TEST

/* A host thread takes several short CTAs at once as a group. CTA 50 waits for CTA 51, so the rest of its group must
 * continue without CTA 50. Then every CTA increments its own word. */
START_TEST(waiting_among_short_ctas) {
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

/* A cooperative grid can have more CTAs in flight than the buffer of finished turns has entries (128). While CTA 1
 * executes 2 million divisions, a host thread runs the other CTAs in groups. With three threads, a group is a sixth of
 * the CTAs that are left, but at most 16. So the groups can have 16 (six times), 14, 11 and 9 CTAs, and the ninth group
 * has CTAs 121 to 129. CTA 128 uses up its turn of 4,194,304 instructions (it has 1,400,000 iterations of 3
 * instructions), so the rest of its group must wait. Every CTA increments its word once. */
START_TEST(short_ctas_of_a_cooperative_grid_after_a_long_one) {
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

/* A thread counts in memory and always reaches its branch with the same registers. The loop is not endless, because the
 * counter finally ends it. 60,000 iterations of six instructions are several turns. */
START_TEST(counting_in_memory_is_no_endless_loop) {
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

/* A lock in shared memory is never released. The atomic stores the value that it found, so it changes nothing, and the
 * loop must be reported as endless. */
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
    ck_assert_msg(strstr(f.text, "every runnable path repeats itself") != NULL, "%s", f.text);
    fault_free(&f);
    teardown();
}
END_TEST

/* Warp 0 polls an mbarrier at which warp 1 arrives after a loop of 4000 iterations. A poll in vain ends the turn, so
 * warp 0 polls once before each of the three turns of warp 1, which executes 12,007 instructions in turns of 4096, and
 * once more. */
START_TEST(a_warp_that_polls_lets_others_run) {
    enum { LOOPS = 4000, POLLS = 4 };
    setup();
    a->p.shared_bytes = 64;
    opnd_t works = asm_reg(a, 0), first = asm_reg(a, 0), done = asm_reg(a, 0), more = asm_reg(a, 0), n = asm_reg(a, 4);
    asm_op(a, "setp.ge.u32", works, tid, c32(WARP_LANES), zero);
    struct inst *to_work = asm_bra(a, works, false, 0, 0);
    asm_op(a, "setp.eq.u32", first, tid, zero, zero);
    asm_mem(a, "mbarrier.init.shared.b64", OPND_SINK, 8, zero, 16)->b = c32(WARP_LANES);
    asm_guard(a, first, false);
    const uint32_t top = asm_pc(a);
    struct inst *poll = asm_mem(a, "mbarrier.try_wait.parity.shared.b64", done, 8, zero, 16);
    poll->b = zero;
    poll->dsize = 0;
    asm_bra(a, done, true, top, asm_pc(a) + 1);
    leave();
    to_work->target = asm_pc(a);
    asm_op(a, "mov.u32", n, c32(LOOPS), zero, zero);
    const uint32_t loop = asm_pc(a);
    asm_op(a, "sub.u32", n, n, one, zero);
    asm_op(a, "setp.ne.u32", more, n, zero, zero);
    asm_bra(a, more, false, loop, asm_pc(a) + 1);
    asm_mem(a, "mbarrier.arrive.shared.b64", OPND_SINK, 8, zero, 16)->b = one;
    leave();
    to_work->rpc = asm_pc(a);
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 2 * WARP_LANES);
    const struct interp_stats s = asm_run(&l);
    /* warp 0: its start, two instructions to the mbarrier, the polls with their branches, exit */
    const uint32_t start = SETUP_INSTRUCTIONS + 2, waits = start + 2 + 2 * POLLS + 1;
    ck_assert_uint_eq(s.warp_instructions, waits + start + 1 + 3 * LOOPS + 2);
    teardown();
}
END_TEST

/* The thread counts to 8 million in 24 million instructions, which are 5 turns and a part of turn 6, and then waits
 * forever. Turns 2 and 4 are watched without a result. Turn 7 is watched, and finds the endless loop long before the
 * limit. */
START_TEST(endless_waiting_after_a_long_computation_is_found) {
    setup();
    opnd_t p = asm_reg(a, 0), i = asm_reg(a, 4);
    uint32_t top = asm_pc(a);
    asm_op(a, "add.u32", i, i, one, zero);
    asm_op(a, "setp.lt.u32", p, i, c32(8000000), zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    uint32_t wait = asm_pc(a);
    asm_op(a, "setp.ne.u32", p, i, zero, zero);
    asm_bra(a, p, false, wait, asm_pc(a) + 1);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    l.cycle_limit = 200000000;
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
    fault_free(&f);
    teardown();
}
END_TEST

static lanemask_t one_lane(const void *model) {
    (void)model;
    return 1;
}

/* A CTA with one warp, which always has a runnable lane. Bit t of the result: turn t of the CTA is watched. In the
 * turns of `waits`, the watched warp waits for other threads; in the turns of `changes`, it changes memory. */
static uint64_t watched_turns(uint64_t waits, uint64_t changes) {
    const struct reconv_ops ops = {.runnable = one_lane};
    struct cta cta = {.n_warps = 1, .n_rows = 1};
    struct warp_run warp = {.control = {.ops = &ops}};
    struct cta_run r = {.cta = &cta, .warps = &warp};
    uint64_t watched = 0;
    for (int t = 0; t < 64; t++) {
        if (cta_watch_due(&r))
            cta_watch_begin(&r);
        watched |= (uint64_t)(r.watch != NULL) << t;
        if (r.watch)
            r.watch->waits = waits >> t & 1;
        if (changes >> t & 1)
            cta_watch_changed(&r);
        cta_watch_end(&r);
    }
    cta_watch_free(&r);
    return watched;
}

/* - A warp that computes: pauses of 1, 2, 4, 8 and 16 turns follow the watched turns 0, 2, 5, 10, 19 and 36.
 * - A warp that waits, or changes memory, in every turn is always watched: no turn was without a result.
 * - A warp that waits in turn 5: the pauses end, and begin again with 1 after turn 6, 2 after 8, 4 after 11, and so on.
 * - A change in turn 5 keeps the pause of 2 turns. Turn 8 is watched without a result, and the pause is 4. */
START_TEST(a_cta_that_computes_is_rarely_watched) {
    const uint64_t t = 1;
    ck_assert_uint_eq(watched_turns(0, 0), t | t << 2 | t << 5 | t << 10 | t << 19 | t << 36);
    ck_assert_uint_eq(watched_turns(UINT64_MAX, 0), UINT64_MAX);
    ck_assert_uint_eq(watched_turns(0, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(watched_turns(t << 5, 0),
                      t | t << 2 | t << 5 | t << 6 | t << 8 | t << 11 | t << 16 | t << 25 | t << 42);
    ck_assert_uint_eq(watched_turns(0, t << 5), t | t << 2 | t << 5 | t << 8 | t << 13 | t << 22 | t << 39);
}
END_TEST

SUITE(isa_interp_turns) {
    TEST(a_warp_that_polls_lets_others_run);
    TEST(endless_waiting_in_shared_memory_is_found);
    TEST(counting_in_memory_is_no_endless_loop);
    TEST(a_cta_that_waits_for_another);
    TEST(as_many_waiting_ctas_as_fit);
    TEST(threads_do_not_change_results);
    TEST(waiting_among_short_ctas);
    TEST(short_ctas_of_a_cooperative_grid_after_a_long_one);
    TEST(endless_waiting_is_found);
    TEST(endless_waiting_after_a_long_computation_is_found);
    TEST(a_cta_that_computes_is_rarely_watched);
}
