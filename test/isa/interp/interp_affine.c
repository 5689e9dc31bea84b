/* Tests the interpreter with the two streams of a decoupled kernel. The affine warp executes the affine stream and
 * sends addresses and predicates through queues to the kernel's warps. Tests warps that wait for these values, the
 * limit of how far the affine warp may run ahead, and errors if the streams do not match. */
#include "test/bases.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static const struct reconv_ops *const models[] = {&reconv_spe, &reconv_dpe, &reconv_dws,
                                                  &reconv_its, &reconv_si,  &reconv_minpc};
enum { N_MODELS = sizeof models / sizeof models[0] };

static struct asm_program *a;
static struct program_stream streams[2];
static struct program_site sites[4];
static struct memory mem;
static uint64_t out;
static opnd_t zero = OPND_ZERO, hidden, tid;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    out = mem_alloc(&mem, 4096, 0, NULL, false);
    for (uint8_t k = 0; k < 4; k++)
        sites[k] = (struct program_site){.kind = k < 2 ? SITE_DATA : SITE_PRED, .line = 40u + k};
    a->p.sites = sites;
    a->p.n_sites = 4;
    hidden = asm_reg(a, 8);
    a->p.deq_address = hidden;
    a->p.deq_predicate = asm_reg(a, 0) >> 1;
    tid = asm_special(a, SPECIAL_TID_X);
}

/* Begins the affine stream. */
static void affine(void) {
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    uint32_t entry = asm_pc(a);
    a->p.n_functions = 2;
    a->functions[1] = (struct program_function){.name = AFFINE_STREAM, .entry = entry};
    streams[0] = (struct program_stream){.name = "test"};
    streams[1] = (struct program_stream){.name = AFFINE_STREAM, .function = 1};
    a->p.streams = streams;
    a->p.n_streams = 2;
}

static void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

static opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }

static void at_site(uint32_t site) {
    a->info[a->p.n - 1].site = (uint16_t)(site + 1);
    if (a->code[a->p.n - 1].kind < K_ENQ_DATA || a->code[a->p.n - 1].kind > K_ENQ_PRED)
        a->code[a->p.n - 1].hints |= HINT_DEQ;
}

static void send(const char *opcode, uint32_t site, opnd_t what) {
    asm_op(a, opcode, OPND_SINK, what, zero, zero);
    at_site(site);
}

static bool run_grid(int model, struct dim3 grid, uint32_t batch, uint32_t block, struct interp_stats *s,
                     struct fault *f) {
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    a->functions[1].end = a->p.n;
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, block);
    l.grid = grid;
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    struct interp_cfg ic = {.model = models[model], .reconv = &cfg, .affine = true, .affine_batch = batch};
    l.cycle_limit = 10000000;
    *s = (struct interp_stats){0};
    return interp_run(&l, &ic, s, f);
}

static bool run(int model, uint32_t block, struct interp_stats *s, struct fault *f) {
    return run_grid(model, (struct dim3){1, 1, 1}, 0, block, s, f);
}

static uint32_t word(uint32_t i) {
    uint32_t v = 0;
    ck_assert(mem_read(&mem, out + 4ull * i, &v, 4));
    return v;
}

/* The kernel stores out[tid] = 5 at an address from the queue. The affine stream itself stores nothing. */
START_TEST(an_address_from_the_queue) {
    struct interp_stats s;
    struct fault f;
    setup();
    asm_mem(a, "st.global.u32", c32(5), 4, hidden, 0);
    sites[0].kind = SITE_ADDR;
    at_site(0);
    affine();
    opnd_t at = asm_reg(a, 8);
    asm_op(a, "mad.wide.u32", at, tid, c32(4), asm_const(a, 8, out));
    send("#enq.addr", 0, at);
    if (!run(_i, 50, &s, &f))
        ck_abort_msg("%s", f.text ? f.text : "fault");
    for (uint32_t t = 0; t < 51; t++)
        ck_assert_uint_eq(word(t), t < 50 ? 5 : 0);
    ck_assert_uint_eq(s.affine.addresses, 2); /* one for each warp */
    ck_assert_uint_eq(s.affine.instructions, 3);
    ck_assert_uint_eq(s.warp_instructions, 3 + 2 * 2);
    teardown();
}
END_TEST

/* Thread t loads word 2 t at an address from the queue. It stores the loaded word at an address that it computes
 * itself. The loads of two warps count as two decoupled loads. */
START_TEST(a_load_from_the_queue) {
    struct interp_stats s;
    struct fault f;
    setup();
    opnd_t d = asm_reg(a, 4), at = asm_reg(a, 8), from = asm_reg(a, 8);
    uint32_t words[100];
    for (uint32_t i = 0; i < 100; i++)
        words[i] = 1000 + i;
    ck_assert(mem_write(&mem, out + 1024, words, sizeof words));
    asm_mem(a, "ld.global.u32", d, 4, hidden, 0);
    at_site(1);
    asm_op(a, "mad.wide.u32", at, tid, c32(4), asm_const(a, 8, out));
    asm_mem(a, "st.global.u32", d, 4, at, 0);
    affine();
    asm_op(a, "mad.wide.u32", from, tid, c32(8), asm_const(a, 8, out + 1024));
    send("#enq.data", 1, from);
    if (!run(_i, 50, &s, &f))
        ck_abort_msg("%s", f.text ? f.text : "fault");
    for (uint32_t t = 0; t < 50; t++)
        ck_assert_uint_eq(word(t), 1000 + 2 * t);
    ck_assert_uint_eq(s.affine.loads, 2);
    ck_assert_uint_eq(s.affine.all_loads, 2);
    ck_assert_uint_eq(s.affine.addresses, 0);
    ck_assert_uint_eq(s.affine.predicates, 0);
    teardown();
}
END_TEST

/* The affine stream executes a load that faults after the kernel's warps have exited. */
START_TEST(a_fault_after_the_end) {
    struct interp_stats s;
    struct fault f;
    setup();
    asm_op(a, "add.u32", asm_reg(a, 4), tid, c32(1), zero);
    affine();
    opnd_t at = asm_reg(a, 8);
    asm_op(a, "mad.wide.u32", at, tid, c32(100), asm_const(a, 8, out));
    send("#enq.data", 0, at);
    ck_assert(!run(_i, 50, &s, &f));
    ck_assert_int_ne(f.kind, FAULT_NONE);
    fault_free(&f);
    teardown();
}
END_TEST

/* 3 x 2 x 2 CTAs, each with its own words. The affine stream computes the addresses from the CTA's position in the
 * grid. The test uses batches of several sizes; the last batch may be smaller. The instructions of the stream are
 * counted once for each batch: four sums, one send, one exit. */
START_TEST(batches_of_ctas) {
    static const uint32_t batch[] = {0, 1, 2, 5, 12, 1000};
    for (int i = 0; i < 6; i++) {
        struct interp_stats s;
        struct fault f;
        setup();
        asm_mem(a, "st.global.u32", tid, 4, hidden, 0);
        sites[0].kind = SITE_ADDR;
        at_site(0);
        opnd_t x = asm_special(a, SPECIAL_CTAID_X), y = asm_special(a, SPECIAL_CTAID_Y),
               z = asm_special(a, SPECIAL_CTAID_Z), n = asm_reg(a, 4), at = asm_reg(a, 8);
        affine();
        asm_op(a, "mad.lo.u32", n, z, c32(2), y);
        asm_op(a, "mad.lo.u32", n, n, c32(3), x);
        asm_op(a, "mad.lo.u32", n, n, c32(40), tid);
        asm_op(a, "mad.wide.u32", at, n, c32(4), asm_const(a, 8, out));
        send("#enq.addr", 0, at);
        if (!run_grid(_i, (struct dim3){3, 2, 2}, batch[i], 40, &s, &f))
            ck_abort_msg("%s", f.text ? f.text : "fault");
        for (uint32_t k = 0; k < 12 * 40; k++)
            ck_assert_uint_eq(word(k), k % 40);
        uint32_t most = batch[i] ? batch[i] : 1, batches = (12 + most - 1) / most;
        ck_assert_uint_eq(s.affine.instructions, batches * 6);
        ck_assert_uint_eq(s.affine.addresses, 12 * 2);
        ck_assert_uint_eq(s.warp_instructions, batches * 6 + 12 * 2 * 2);
        ck_assert_uint_eq(s.path_sum, s.warp_instructions); /* no warp diverges */
        teardown();
    }
}
END_TEST

/* The affine stream ends without sending a value for which the warp waits. The warp would wait forever, so this is an
 * error. */
START_TEST(a_missing_entry_is_a_deadlock) {
    struct interp_stats s;
    struct fault f;
    setup();
    opnd_t d = asm_reg(a, 4);
    asm_mem(a, "ld.global.u32", d, 4, hidden, 0);
    at_site(1);
    affine();
    ck_assert(!run(_i, 50, &s, &f));
    ck_assert_int_eq(f.kind, FAULT_DEADLOCK);
    ck_assert_ptr_nonnull(f.text);
    ck_assert_ptr_nonnull(strstr(f.text, "deadlock in kernel 'test': CTA (0,0,0), warp 0, lanes 0xffffffff wait at "
                                         "test.ptx:1 for the address of a load (site 1)"));
    ck_assert_ptr_nonnull(strstr(f.text, "line 41"));
    fault_free(&f);
    teardown();
}
END_TEST

/* If the two streams do not match, Heddle has a defect, and the message says so. */
START_TEST(an_entry_of_another_site_is_an_error) {
    struct interp_stats s;
    struct fault f;
    setup();
    asm_mem(a, "st.global.u32", c32(5), 4, hidden, 0);
    at_site(1);
    affine();
    send("#enq.data", 0, asm_const(a, 8, out));
    ck_assert(!run(_i, 50, &s, &f));
    ck_assert_int_eq(f.kind, FAULT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(f.text, "internal error: lanes 0xffffffff take the address of a load from site 1"));
    ck_assert_uint_eq(f.pc, 0);
    fault_free(&f);
    teardown();
}
END_TEST

/* If a thread accesses unmapped memory, the fault names this thread. */
START_TEST(an_access_faults) {
    struct interp_stats s;
    struct fault f;
    setup();
    opnd_t d = asm_reg(a, 4);
    asm_op(a, "add.u32", d, tid, c32(1), zero);
    asm_mem(a, "ld.global.u32", d, 4, hidden, 0);
    at_site(0);
    affine();
    opnd_t at = asm_reg(a, 8);
    /* thread 41 is the first thread beyond the buffer of 4096 bytes */
    asm_op(a, "mad.wide.u32", at, tid, c32(100), asm_const(a, 8, out));
    send("#enq.data", 0, at);
    ck_assert(!run(_i, 50, &s, &f));
    ck_assert_int_eq(f.kind, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(f.pc, 1);
    ck_assert_uint_eq(f.warp, 1);
    ck_assert_uint_eq(f.lane, 41 - 32);
    ck_assert_uint_eq(f.address, out + 4100);
    ck_assert_uint_eq(f.bytes, 4);
    ck_assert_int_eq(f.space, SPACE_GLOBAL);
    ck_assert(!f.is_store);
    ck_assert_ptr_null(f.text);
    fault_free(&f);
    teardown();
}
END_TEST

/* One warp takes 5000 predicates, while the seven other warps wait for it at a barrier. So the queues of the other
 * warps grow beyond the usual limit. After the barrier these warps take their predicates. */
START_TEST(far_ahead) {
    struct interp_stats s;
    struct fault f;
    setup();
    opnd_t first = asm_reg(a, 0), q = asm_reg(a, 0), n = asm_reg(a, 4), at = asm_reg(a, 8);
    asm_op(a, "setp.lt.u32", first, tid, c32(32), zero);
    asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
    asm_guard(a, first, true);
    uint32_t top = asm_pc(a);
    asm_op(a, "add.u32", n, n, c32(1), zero);
    asm_op(a, "#deq.pred", q, a->p.deq_predicate << 1, zero, zero);
    at_site(2);
    asm_bra(a, q, false, top, asm_pc(a) + 1);
    asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
    asm_guard(a, first, false);
    asm_op(a, "mad.wide.u32", at, tid, c32(4), asm_const(a, 8, out));
    asm_mem(a, "st.global.u32", n, 4, at, 0);
    affine();
    opnd_t i = asm_reg(a, 4), p = asm_reg(a, 0);
    top = asm_pc(a);
    asm_op(a, "add.u32", i, i, c32(1), zero);
    asm_op(a, "setp.lt.u32", p, i, c32(5000), zero);
    send("#enq.pred", 2, p);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    if (!run(_i, 256, &s, &f))
        ck_abort_msg("%s", f.text ? f.text : "fault");
    for (uint32_t t = 0; t < 256; t++)
        ck_assert_uint_eq(word(t), 5000);
    ck_assert_uint_eq(s.affine.predicates, 8 * 5000);
    /* each predicate takes 4 instructions; then comes the exit */
    ck_assert_uint_eq(s.affine.instructions, 4 * 5000 + 1);
    teardown();
}
END_TEST

/* If a warp has not taken a value at the end of the CTA, this is an error. */
START_TEST(an_entry_never_taken_is_an_error) {
    struct interp_stats s;
    struct fault f;
    setup();
    asm_op(a, "add.u32", asm_reg(a, 4), tid, c32(1), zero);
    affine();
    opnd_t p = asm_reg(a, 0);
    asm_op(a, "setp.lt.u32", p, tid, c32(32), zero);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_guard(a, p, false);
    send("#enq.pred", 3, p);
    ck_assert(!run(_i, 50, &s, &f));
    ck_assert_int_eq(f.kind, FAULT_UNSUPPORTED);
    ck_assert_ptr_nonnull(
        strstr(f.text, "internal error: a predicate was sent to lanes 0x0003ffff from site 3 (line 43)"));
    ck_assert_uint_eq(f.warp, 1);
    fault_free(&f);
    teardown();
}
END_TEST

/* The affine stream never ends and sends nothing. The instruction limit ends the launch. */
START_TEST(an_endless_stream) {
    struct interp_stats s;
    struct fault f;
    setup();
    asm_mem(a, "st.global.u32", c32(5), 4, hidden, 0);
    at_site(0);
    affine();
    asm_bra(a, 0, false, asm_pc(a), asm_pc(a));
    ck_assert(!run(_i, 32, &s, &f));
    ck_assert_int_eq(f.kind, FAULT_LIMIT);
    fault_free(&f);
    teardown();
}
END_TEST

SUITE(isa_interp_affine) {
    TEST_LOOP(an_address_from_the_queue, 0, N_MODELS);
    TEST_LOOP(a_load_from_the_queue, 0, N_MODELS);
    TEST_LOOP(a_fault_after_the_end, 0, N_MODELS);
    TEST_LOOP(batches_of_ctas, 0, N_MODELS);
    TEST_LOOP(a_missing_entry_is_a_deadlock, 0, N_MODELS);
    TEST_LOOP(an_entry_of_another_site_is_an_error, 0, N_MODELS);
    TEST_LOOP(an_access_faults, 0, N_MODELS);
    TEST_LOOP(far_ahead, 0, N_MODELS);
    TEST_LOOP(an_entry_never_taken_is_an_error, 0, N_MODELS);
    TEST_LOOP(an_endless_stream, 0, N_MODELS);
}
