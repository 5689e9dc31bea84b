/* Tests the affine engine, which executes one stream for all threads of a batch: divergence, the order of queue
 * entries, issue slots, reuse between batches, and faults. */
#include "isa/affine/engine.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct program_stream streams[2];
static struct launch l;
static struct memory mem;
static struct affine_engine *e;
static struct affine_step step;
static opnd_t zero = OPND_ZERO;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    streams[0] = (struct program_stream){.name = "test"};
    streams[1] = (struct program_stream){.name = AFFINE_STREAM};
    a->p.streams = streams;
    a->p.n_streams = 2;
}

static void begin(struct dim3 block, uint32_t ctas, uint32_t first) {
    struct dim3 ids[AFFINE_CTAS];
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_end(a);
    l = asm_launch(a, &mem, ctas, 1);
    l.block = block;
    e = engine_new(&l, ctas, first);
    ck_assert_ptr_nonnull(e);
    for (uint32_t c = 0; c < ctas; c++)
        ids[c] = (struct dim3){c, 0, 0};
    engine_start(e, ids, ctas);
}

static void teardown(void) {
    engine_free(e);
    mem_free_all(&mem);
    asm_free(a);
}

static opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }

static void send(const char *opcode, uint32_t site, opnd_t what) {
    asm_op(a, opcode, OPND_SINK, what, zero, zero);
    a->info[a->p.n - 1].site = (uint16_t)(site + 1);
}

/* Executes instructions until one of them sends queue entries. */
static void next_entry(void) {
    do
        ck_assert(engine_step(e, &step));
    while (!step.entries);
}

/* Three instructions of the program send queue entries; each has a number, its site. In threads with tid < 5, which are
 * lanes of warp 0, the instruction with site 1 sends; in the other threads, the instruction with site 2. Then all
 * threads send the predicate tid < 5 (site 3). */
START_TEST(both_sides_send) {
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), p = asm_reg(a, 0), at = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", at, tid, c32(4), zero);
    asm_op(a, "setp.lt.u32", p, tid, c32(5), zero);
    struct inst *to = asm_bra(a, p, false, 0, 0);
    send("#enq.addr", 2, at);
    struct inst *over = asm_bra(a, 0, false, 0, 0);
    to->target = asm_pc(a);
    send("#enq.data", 1, at);
    to->rpc = over->target = over->rpc = asm_pc(a);
    send("#enq.pred", 3, p);
    begin((struct dim3){64, 1, 1}, 1, (uint32_t)_i);
    for (int k = 0; k < 3; k++)
        ck_assert(engine_step(e, &step));
    ck_assert(step.splits_threads && step.splits_warps); /* warp 0 diverges; all threads of warp 1 fall through */
    ck_assert_int_eq(step.class, STEP_CONTROL);
    for (int k = 0; k < 2; k++) { /* the taken side runs first, unless reconv.first selects the fall-through side */
        bool taken = k == _i;
        next_entry();
        ck_assert_uint_eq(step.entries[0].site, taken ? 1 : 2);
        ck_assert_uint_eq(step.entries[0].lanes, taken ? 0x1f : 0xffffffe0);
        ck_assert_uint_eq(step.entries[1].lanes, taken ? 0 : LANES_ALL);
        ck_assert_int_eq(step.entries[0].kind, taken ? SITE_DATA : SITE_ADDR);
        ck_assert_uint_eq(step.entries[0].at.off[0], 4);
    }
    next_entry();
    ck_assert_uint_eq(step.entries[0].site, 3);
    ck_assert_uint_eq(step.entries[0].lanes, LANES_ALL);
    ck_assert_uint_eq(step.entries[0].value, 0x1f);
    ck_assert_uint_eq(step.entries[1].value, 0);
    /* the first and the last lane of warp 0 have different predicates, so each lane must be compared */
    ck_assert_int_eq(step.entries[0].compare, COMPARE_LANES);
    ck_assert_int_eq(step.entries[1].compare, COMPARE_ENDS);
    ck_assert_uint_eq(step.number, 1);
    ck_assert(engine_step(e, &step));
    ck_assert(engine_done(e));
    teardown();
}
END_TEST

/* The program: do { i = i + 1; p = i < tid.y; send p; } while (p). All threads of a warp have the same tid.y, so only
 * whole warps diverge from each other: warps 0 and 1 have one iteration, and warp 2 has two. */
START_TEST(warps_diverge) {
    setup();
    opnd_t y = asm_special(a, SPECIAL_TID_Y), i = asm_reg(a, 4), p = asm_reg(a, 0);
    uint32_t top = asm_pc(a);
    asm_op(a, "add.u32", i, i, c32(1), zero);
    asm_op(a, "setp.lt.u32", p, i, y, zero);
    send("#enq.pred", 0, p);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    send("#enq.addr", 1, asm_const(a, 8, 77));
    begin((struct dim3){32, 3, 1}, 1, 0);
    uint32_t sent[3] = {0}, parted = 0;
    for (;;) {
        ck_assert(engine_step(e, &step));
        parted += step.splits_warps;
        ck_assert(!step.splits_threads);
        if (step.in->kind == K_BRANCH)
            ck_assert_uint_ne(step.waits, 0);
        if (!step.entries)
            continue;
        if (step.entries[0].site == 1)
            break;
        for (int w = 0; w < 3; w++)
            sent[w] += step.entries[w].lanes != 0;
    }
    ck_assert_uint_eq(sent[0], 1);
    ck_assert_uint_eq(sent[1], 1);
    ck_assert_uint_eq(sent[2], 2);
    ck_assert_uint_eq(parted, 1); /* after the first iteration, only warp 2 is still in the loop */
    for (int w = 0; w < 3; w++) {
        ck_assert_uint_eq(step.entries[w].lanes, LANES_ALL);
        ck_assert_uint_eq(step.entries[w].at.base, 77);
    }
    teardown();
}
END_TEST

/* Instructions, and the number of issue slots that each takes in a batch of four CTAs. */
static const struct {
    const char *opcode, *x, *y;
    uint32_t slots;
    enum affine_step_class class;
} batch[] = {
    {"mul.lo.u32", "ctaid", "ntid", 1, STEP_SCALAR},
    {"mul.lo.u32", "ctaid", "ctaid", 4, STEP_EACH},
    {"add.u32", "ctaid", "tid", 1, STEP_AFFINE},
    {"min.u32", "ctaid", "2", 4, STEP_EACH},
    {"rem.u32", "ntid", "5", 1, STEP_SCALAR},
    {"rem.u32", "ctaid", "3", 4, STEP_EACH},
    {"mul.lo.u32", "tid", "ctaid", 4, STEP_EACH},
    {"shl.b32", "ctaid", "2", 1, STEP_SCALAR},
    {"shl.b32", "2", "ctaid", 4, STEP_EACH},
    {"mul.wide.u32", "ctaid", "3", 1, STEP_SCALAR},
    {"mul.wide.u32", "tid", "ntid", 1, STEP_AFFINE},
    {"mul.lo.u32", "tid", "tid", 8, STEP_VECTOR}, /* one slot for each of two warps in each of four CTAs */
};

static opnd_t named(const char *name) {
    if (strcmp(name, "tid") == 0)
        return asm_special(a, SPECIAL_TID_X);
    if (strcmp(name, "ctaid") == 0)
        return asm_special(a, SPECIAL_CTAID_X);
    return strcmp(name, "ntid") == 0 ? asm_special(a, SPECIAL_NTID_X) : c32((uint32_t)atoi(name));
}

START_TEST(slots_of_a_batch) {
    setup();
    opnd_t x = named(batch[_i].x), y = strcmp(batch[_i].x, batch[_i].y) == 0 ? x : named(batch[_i].y);
    opnd_t d = asm_reg(a, 8);
    asm_op(a, batch[_i].opcode, d, x, y, zero);
    begin((struct dim3){64, 1, 1}, 4, 0);
    ck_assert(engine_step(e, &step));
    ck_assert_int_eq(step.class, batch[_i].class);
    ck_assert_uint_eq(step.slots, batch[_i].slots);
    teardown();
}
END_TEST

/* The program computes (ctaid + 0xfffffffe) * 4 in 64 bits. As unsigned numbers, the sums of CTAs 0 and 1 are
 * 0xfffffffe and 0xffffffff, and the sums of CTAs 2 and 3 are 0 and 1. So the product is not linear in ctaid. As signed
 * numbers, the sums -2, -1, 0, 1 are linear in ctaid. */
START_TEST(linear_in_ctaid_unless_it_wraps) {
    setup();
    opnd_t x = asm_special(a, SPECIAL_CTAID_X), sum = asm_reg(a, 4), d = asm_reg(a, 8);
    asm_op(a, "add.u32", sum, x, c32(0xfffffffe), zero);
    asm_op(a, _i ? "mul.wide.s32" : "mul.wide.u32", d, sum, c32(4), zero);
    send("#enq.addr", 0, d);
    begin((struct dim3){32, 1, 1}, 4, 0);
    ck_assert(engine_step(e, &step));
    ck_assert_uint_eq(step.slots, 1);
    ck_assert(engine_step(e, &step));
    ck_assert_int_eq(step.class, _i ? STEP_SCALAR : STEP_EACH);
    next_entry();
    for (uint32_t c = 0; c < 4; c++)
        ck_assert_uint_eq(step.entries[c].at.base, _i ? (uint64_t)(((int64_t)c - 2) * 4) : (uint64_t)(c - 2u) * 4);
    teardown();
}
END_TEST

/* A branch that depends on ctaid makes the CTAs of a batch diverge. */
START_TEST(ctas_diverge) {
    setup();
    opnd_t x = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0);
    asm_op(a, "setp.eq.u32", p, x, c32(1), zero);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_guard(a, p, false);
    send("#enq.pred", 0, p);
    begin((struct dim3){40, 1, 1}, 3, 0);
    next_entry();
    for (uint32_t i = 0; i < 6; i++) { /* each CTA has two warps, the second with 8 threads; CTA 1 has exited */
        ck_assert_uint_eq(step.entries[i].lanes, i / 2 == 1 ? 0 : i % 2 ? 0xff : LANES_ALL);
        ck_assert_int_eq(step.entries[i].compare, COMPARE_CTA);
    }
    teardown();
}
END_TEST

/* The program: r = ctaid ? 2 : 1; send 1000 + tid * (r + 10). The engine records results for later batches. It may
 * reuse them only if r has the recorded value in all CTAs of the new batch. */
START_TEST(batches_share_results) {
    static const struct {
        uint32_t n, id[2];
    } batches[] = {{1, {1}}, {1, {0}}, {2, {0, 1}}, {2, {1, 0}}, {1, {0}}, {2, {1, 1}}, {1, {1}}};
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), cta = asm_special(a, SPECIAL_CTAID_X), p = asm_reg(a, 0);
    opnd_t r = asm_reg(a, 4), s = asm_reg(a, 4), d = asm_reg(a, 8);
    asm_op(a, "setp.ne.u32", p, cta, c32(0), zero);
    struct inst *to = asm_bra(a, p, false, 0, 0);
    asm_op(a, "mov.u32", r, c32(1), zero, zero);
    struct inst *over = asm_bra(a, 0, false, 0, 0);
    to->target = asm_pc(a);
    asm_op(a, "mov.u32", r, c32(2), zero, zero);
    to->rpc = over->target = over->rpc = asm_pc(a);
    asm_op(a, "add.u32", s, r, c32(10), zero);
    asm_op(a, "mad.wide.u32", d, tid, s, asm_const(a, 8, 1000));
    send("#enq.addr", 0, d);
    begin((struct dim3){32, 1, 1}, 2, 0);
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
        struct dim3 ids[2] = {{batches[b].id[0], 0, 0}, {batches[b].id[1], 0, 0}};
        engine_start(e, ids, batches[b].n);
        next_entry();
        for (uint32_t c = 0; c < batches[b].n; c++) {
            ck_assert_uint_eq(step.entries[c].at.base, 1000);
            ck_assert_uint_eq(step.entries[c].at.off[0], 10 + (ids[c].x ? 2 : 1));
        }
    }
    teardown();
}
END_TEST

/* The predicates are tid == 5 and tid != 5. The first and the last lane of warp 0 agree, but they lie on both sides of
 * 5, and lane 5 differs. So the engine must compare each lane. Both ends of warp 1 are larger than 5. */
START_TEST(a_thread_between_the_ends) {
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), p = asm_reg(a, 0);
    asm_op(a, _i ? "setp.ne.s32" : "setp.eq.s32", p, tid, c32(5), zero);
    send("#enq.pred", 0, p);
    begin((struct dim3){64, 1, 1}, 1, 0);
    next_entry();
    ck_assert_uint_eq(step.entries[0].value, _i ? ~0x20u : 0x20u);
    ck_assert_uint_eq(step.entries[1].value, _i ? LANES_ALL : 0);
    ck_assert_int_eq(step.entries[0].compare, COMPARE_LANES);
    ck_assert_int_eq(step.entries[1].compare, COMPARE_ENDS);
    teardown();
}
END_TEST

/* The program adds 5 to a register that was never written. The result must be 5 in each batch, since a batch starts
 * with zeros. The same holds for a predicate. */
START_TEST(unwritten_registers_are_zero) {
    setup();
    opnd_t r = asm_reg(a, 4), d = asm_reg(a, 8), p = asm_reg(a, 0);
    send("#enq.pred", 1, p);
    asm_op(a, "add.u32", r, r, c32(5), zero);
    asm_op(a, "mul.wide.u32", d, r, c32(4), zero);
    asm_op(a, "setp.eq.u32", p, r, c32(5), zero);
    send("#enq.addr", 0, d);
    begin((struct dim3){64, 1, 1}, 2, 0);
    for (uint32_t b = 0; b < 3; b++) {
        engine_start(e, (struct dim3[2]){{b, 0, 0}, {b + 1, 0, 0}}, 1 + b % 2);
        next_entry();
        ck_assert_uint_eq(step.entries[0].value, 0);
        next_entry();
        ck_assert_uint_eq(step.entries[0].at.base, 20);
        ck_assert_uint_eq(step.entries[b % 2 ? 2 : 1].at.base, 20);
    }
    teardown();
}
END_TEST

/* The first _i threads each get a value of their own in register r. The engine can hold up to three such values as
 * tuples, besides the value of the other threads. If there are more, it stores an exact value for each thread. */
START_TEST(divergent_tuples) {
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), r = asm_reg(a, 4), d = asm_reg(a, 8), p[6];
    for (uint32_t k = 0; k < 6; k++)
        asm_op(a, "setp.eq.u32", p[k] = asm_reg(a, 0), tid, c32(k), zero);
    for (uint32_t k = 0; k < (uint32_t)_i; k++) {
        asm_op(a, "mov.u32", r, c32(10 + k), zero, zero);
        asm_guard(a, p[k], false);
    }
    asm_op(a, "mad.wide.u32", d, r, c32(4), asm_const(a, 8, 1000));
    send("#enq.addr", 0, d);
    begin((struct dim3){64, 1, 1}, 1, 0);
    uint32_t fallbacks = 0, vectors = 0;
    do {
        ck_assert(engine_step(e, &step));
        fallbacks += step.fallbacks;
        vectors += step.class == STEP_VECTOR && step.in->kind == K_LANE;
    } while (!step.entries);
    ck_assert_uint_eq(fallbacks, _i >= 4);
    /* Of these instructions, only mad.wide computes thread by thread. A mov computes a constant, even if its
     * destination r already has exact values. */
    ck_assert_uint_eq(vectors, _i >= 4);
    uint64_t at[WARP_LANES];
    ck_assert_int_eq(step.entries[0].exact != NULL, _i > 0);
    affine_entry_addresses(&step.entries[0], engine_shape(e), 0, at);
    for (uint32_t k = 0; k < WARP_LANES; k++)
        ck_assert_uint_eq(at[k], k < (uint32_t)_i ? 1000 + 4 * (10 + k) : 1000);
    /* without exact values, all lanes of warp 1 have the default value */
    ck_assert_int_eq(step.entries[1].exact != NULL, _i >= 4);
    teardown();
}
END_TEST

/* The program: for (i = 0; i < 10; i++) if (tid >= i) send d = 1000 + 4 * (tid + i). Threads that skip the body must
 * keep their value of d, since they read it later. After the loop d of thread t is 1000 + 4 * (t + min(t, 9)): ten
 * tuples. */
START_TEST(writes_skipped_by_more_threads) {
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), i = asm_reg(a, 4), r = asm_reg(a, 4), d = asm_reg(a, 8);
    opnd_t p = asm_reg(a, 0), q = asm_reg(a, 0);
    uint32_t top = asm_pc(a), fallbacks = 0;
    asm_op(a, "setp.lt.u32", p, tid, i, zero);
    struct inst *skip = asm_bra(a, p, false, 0, 0);
    asm_op(a, "add.u32", r, tid, i, zero);
    asm_op(a, "mad.wide.u32", d, r, c32(4), asm_const(a, 8, 1000));
    send("#enq.addr", 0, d);
    skip->target = skip->rpc = asm_pc(a);
    asm_op(a, "add.u32", i, i, c32(1), zero);
    asm_op(a, "setp.lt.u32", q, i, c32(10), zero);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    if (_i)
        send("#enq.addr", 1, d);
    begin((struct dim3){64, 1, 1}, 1, 0);
    uint64_t at[WARP_LANES];
    for (uint32_t round = 0; round < 10u + (uint32_t)_i; round++) {
        do {
            ck_assert(engine_step(e, &step));
            fallbacks += step.fallbacks;
        } while (!step.entries);
        affine_entry_addresses(&step.entries[0], engine_shape(e), 0, at);
        for (uint32_t t = 0; t < WARP_LANES; t++)
            if (step.entries[0].lanes >> t & 1)
                ck_assert_uint_eq(at[t], 1000 + 4 * (t + (round < 10 ? round : t < 9 ? t : 9)));
        ck_assert_uint_eq(step.entries[0].lanes, round < 10 ? LANES_ALL << round : LANES_ALL);
    }
    ck_assert_uint_eq(fallbacks, _i);
    teardown();
}
END_TEST

/* The program: do { send d; d += 16; } while (++i < tid). Threads that leave the loop do not read d again, so d stays
 * one tuple. */
START_TEST(loop_left_by_more_threads) {
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), i = asm_reg(a, 4), d = asm_reg(a, 8), q = asm_reg(a, 0);
    uint32_t top = asm_pc(a), fallbacks = 0;
    send("#enq.addr", 0, d);
    asm_op(a, "add.u64", d, d, asm_const(a, 8, 16), zero);
    asm_op(a, "add.u32", i, i, c32(1), zero);
    asm_op(a, "setp.lt.u32", q, i, tid, zero);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    begin((struct dim3){64, 1, 1}, 1, 0);
    for (uint32_t round = 0; round < 63; round++) {
        do {
            ck_assert(engine_step(e, &step));
            fallbacks += step.fallbacks;
        } while (!step.entries);
        ck_assert_ptr_null(step.entries[1].exact);
        ck_assert_uint_eq(step.entries[1].at.base, 16 * round);
    }
    ck_assert_uint_eq(fallbacks, 0);
    teardown();
}
END_TEST

/* An entry that is sent after a barrier carries the number of barriers that its threads must have passed before. */
START_TEST(entries_after_a_barrier) {
    setup();
    opnd_t p = asm_reg(a, 0);
    for (int k = 0; k < 3; k++) {
        send("#enq.pred", 0, p);
        asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
    }
    begin((struct dim3){64, 1, 1}, 1, 0);
    for (uint32_t k = 0; k < 3; k++) {
        next_entry();
        ck_assert_uint_eq(step.entries[1].marker, k);
    }
    teardown();
}
END_TEST

/* Addresses with 32 bits wrap: 0xfffffff8 + 4 * tid.x + 4 stays below 2^32 only in thread 0. */
START_TEST(addresses_of_32_bits) {
    setup();
    opnd_t tid = asm_special(a, SPECIAL_TID_X), at = asm_reg(a, 4);
    asm_op(a, "mad.lo.u32", at, tid, c32(4), c32(0xfffffff8));
    send("#enq.addr", 0, at);
    a->code[a->p.n - 1].asize = 4;
    a->code[a->p.n - 1].imm = 4;
    begin((struct dim3){32, 1, 1}, 1, 0);
    next_entry();
    uint64_t out[WARP_LANES];
    affine_entry_addresses(&step.entries[0], engine_shape(e), 0, out);
    ck_assert_uint_eq(out[0], 0xfffffffc);
    for (uint32_t k = 1; k < WARP_LANES; k++)
        ck_assert_uint_eq(out[k], 4 * (k - 1));
    teardown();
}
END_TEST

/* A load from constant memory that does not exist faults. The fault names the thread and the address. */
START_TEST(faults) {
    setup();
    uint64_t table = mem_alloc(&mem, 64, 0, "table", true);
    opnd_t x = asm_special(a, SPECIAL_CTAID_X), at = asm_reg(a, 8), d = asm_reg(a, 4);
    asm_op(a, "mad.wide.u32", at, x, c32(64), asm_const(a, 8, table));
    asm_mem(a, "ld.const.u32", d, 4, at, 0);
    begin((struct dim3){64, 1, 1}, 2, 0);
    ck_assert(engine_step(e, &step));
    ck_assert(!engine_step(e, &step));
    ck_assert_int_eq(step.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(step.fault_cta, 1);
    ck_assert_uint_eq(step.fault_address, table + 64);
    ck_assert_uint_eq(step.fault_bytes, 4);
    ck_assert_uint_eq(step.pc, 1);
    teardown();
}
END_TEST

SUITE(isa_affine_engine) {
    TEST_LOOP(both_sides_send, 0, 2);
    TEST(warps_diverge);
    TEST_LOOP(slots_of_a_batch, 0, (int)(sizeof batch / sizeof batch[0]));
    TEST_LOOP(linear_in_ctaid_unless_it_wraps, 0, 2);
    TEST(ctas_diverge);
    TEST(batches_share_results);
    TEST(unwritten_registers_are_zero);
    TEST_LOOP(a_thread_between_the_ends, 0, 2);
    TEST_LOOP(divergent_tuples, 0, 7);
    TEST_LOOP(writes_skipped_by_more_threads, 0, 2);
    TEST(loop_left_by_more_threads);
    TEST(entries_after_a_barrier);
    TEST(addresses_of_32_bits);
    TEST(faults);
}
