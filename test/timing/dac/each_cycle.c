/* The affine warp's hardware, looked at in every cycle of kernels by hand and at random. */
#include "dac_watch.h"
#include "test/random/affine_kernel.h"

static struct heddle *h;
static struct watch seen;

static void open_with(const char *model, const char *config, const char *const *set) {
    char err[512];
    const struct sm_unit_row rows[] = {{&watch, &seen}, {&before, &seen}};
    const char *all[16] = {"gpu.sms=1", "gpu.poll=true"};
    for (int i = 0; set && set[i]; i++)
        all[i + 2] = set[i];
    if (h)
        heddle_close(h);
    h = context_open(&(struct heddle_options){.model = model, .config = config, .set = all, .cycle_limit = 10000000},
                     &(struct context_parts){.models = &model_tables, .units = rows, .n_units = 2}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}

static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

static void check_figures(const char *what) {
    const struct {
        const char *name;
        uint64_t want;
    } rows[] = {{"dac.atq_cycles", seen.atq},
                {"dac.atq_full", seen.atq_full},
                {"dac.atq_max", seen.atq_max},
                {"dac.atq_accesses", seen.accesses},
                {"dac.locked_cycles", seen.locked},
                {"dac.locked_max", seen.locked_max},
                {"dac.lines", seen.lines},
                {"dac.lines_without_lock", seen.without},
                {"dac.records", seen.records},
                {"dac.records", seen.sent[QUEUE_ADDRESS]},
                {"dac.masks", seen.sent[QUEUE_PREDICATE]},
                {"dac.wide_records", seen.wide},
                {"dac.spills", seen.spills},
                {"dac.pwaq_full", seen.full[QUEUE_ADDRESS]},
                {"dac.pwpq_full", seen.full[QUEUE_PREDICATE]},
                {"dac.pwaq_empty", seen.empty[QUEUE_ADDRESS]},
                {"dac.pwpq_empty", seen.empty[QUEUE_PREDICATE]},
                {"dac.address_cycles", seen.busy[QUEUE_ADDRESS]},
                {"dac.predicate_cycles", seen.busy[QUEUE_PREDICATE]},
                {"dac.predicates_cta", seen.compared[COMPARE_CTA]},
                {"dac.predicates_ends", seen.compared[COMPARE_ENDS]},
                {"dac.predicates_lanes", seen.compared[COMPARE_LANES]}};
    ck_assert_msg(!seen.what[0], "%s: %s", what, seen.what);
    ck_assert_msg(!lines.what[0], "%s: %s", what, lines.what);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(stat(rows[i].name) == (double)rows[i].want, "%s: %s is %g, not %g", what, rows[i].name,
                      stat(rows[i].name), (double)rows[i].want);
}

static const char *const models[] = {"spe+dac", "dpe+dac", "dws50+dac", "its+dac", "si+dac", "minpc+dac"};
static const char *const variants[][4] = {{NULL},
                                          {"dac.atq=1", "dac.pwaq=1", "dac.pwpq=1"},
                                          {"dac.atq=2", "dac.batch=2", "dac.pwaq=96"},
                                          {"l1.size=1024", "l1.ways=2", "dac.pwaq=1024"},
                                          {"l1.size=512", "l1.ways=1"},
                                          {"l1.size=1024", "l1.ways=2", "dac.lock_wait=100"},
                                          {"l1.size=0", "dac.pwpq=1"},
                                          {"memory.perfect_l1=true", "dac.atq=3"},
                                          {"lsu.prefetch_queue=1", "l1.mshrs=2", "dac.shared=on"}};
enum {
    MODELS = sizeof models / sizeof models[0],
    VARIANTS = sizeof variants / sizeof variants[0],
    KERNELS = 27,
    LOCAL_CASES = 7
};

START_TEST(affine_kernels_at_random) {
    for (uint64_t seed = 1 + (uint64_t)_i; seed <= KERNELS; seed += 4) {
        struct affine_kernel k = affine_kernel(seed + 400);
        const char *set[5] = {NULL};
        char what[100];
        int v = (int)(seed % VARIANTS), m = (int)(seed / 3 % MODELS);
        for (int i = 0; i < 4 && variants[v][i]; i++)
            set[i] = variants[v][i];
        open_with(models[m], "fermi", set);
        snprintf(what, sizeof what, "seed %llu, %s, variant %d", (unsigned long long)seed, models[m], v);
        struct heddle_module *mod = heddle_module_text(h, "random.ptx", k.text, strlen(k.text));
        ck_assert_msg(mod != NULL, "%s: %s", what, heddle_error(h));
        uint64_t in = heddle_alloc(h, 4 * AFFINE_IN_WORDS) + 2 * AFFINE_IN_WORDS,
                 out = heddle_alloc(h, 4ull * AFFINE_SLICE * k.threads);
        struct heddle_arg args[] = {{&out, 8}, {&in, 8}, {&k.n, 4}, {&k.stride, 4}, {&k.far, 8}};
        ck_assert_msg(heddle_launch(h, mod, heddle_kernel(mod, 0), (struct heddle_dim){k.grid[0], k.grid[1], k.grid[2]},
                                    (struct heddle_dim){k.block[0], k.block[1], k.block[2]}, 0, args, 5) == HEDDLE_OK,
                      "%s: %s", what, heddle_error(h));
        check_figures(what);
        free(k.text);
    }
}
END_TEST

/* A fault ends a launch while lines are asked for, on their way, and locked for warps that will never read them: the
 * next launch finds none of them locked for it, and has its own figures. Later traps meet other states of the lines. */
START_TEST(nothing_stays_after_a_fault) {
    static const char head[] = ".visible .entry %s(.param .u64 p)\n{\n"
                               ".reg .b32 %%r<40>; .reg .b64 %%a<4>; .reg .pred %%q;\n ld.param.u64 %%a1,[p];\n"
                               " mov.u32 %%r1,%%tid.x; mad.wide.u32 %%a2,%%r1,128,%%a1; mov.u32 %%r2,%%clock;\n";
    static char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n");
    at += (size_t)snprintf(text + at, sizeof text - at, head, "wrong");
    for (int i = 0; i < _i * 12; i++) /* some time, of the kernel's own */
        at += (size_t)snprintf(text + at, sizeof text - at, " mad.lo.u32 %%r2,%%r2,%%r2,%%r2;\n");
    at += (size_t)snprintf(text + at, sizeof text - at,
                           " setp.ne.u32 %%q,%%r2,77; @%%q trap;\n ld.global.u32 %%r3,[%%a2];\n"
                           " st.global.u32 [%%a2],%%r3; ret;\n}\n");
    at += (size_t)snprintf(text + at, sizeof text - at, head, "right");
    snprintf(text + at, sizeof text - at,
             " ld.global.u32 %%r3,[%%a2]; ld.global.u32 %%r4,[%%a2+4096]; add.u32 %%r3,%%r3,%%r4;\n"
             " st.global.u32 [%%a2],%%r3; ret;\n}\n");
    open_with("spe+dac", "fermi", (const char *const[]){"dac.pwaq=1024", NULL});
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 16);
    struct heddle_arg args[] = {{&p, 8}};
    const struct heddle_dim one = {1, 1, 1}, block = {64, 1, 1};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(heddle_launch(h, m, "wrong", one, block, 0, args, 1), HEDDLE_FAULT);
        ck_assert_msg(strstr(heddle_error(h), "trap") && !seen.what[0], "%s %s", heddle_error(h), seen.what);
        ck_assert_msg(heddle_launch(h, m, "right", one, block, 0, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
        check_figures("after a fault");
        ck_assert_double_eq(stat("dac.lines"), 2 * 64); /* a line a thread and load */
    }
}
END_TEST

static const char header[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                             ".reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %a<9>;\n.local .align 16 .b8 depot[256];\n"
                             " ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x;\n";

/* A launch of 8 CTAs on a buffer of ones; behind its half, all but one of 4096 bytes are zeros. */
static void watched(const char *what, const char *model, const char *const *set, const char *body, uint32_t threads,
                    uint64_t offset) {
    enum { BYTES = 1 << 19 };
    static char text[8192];
    static uint32_t ones[BYTES / 4];
    for (uint32_t i = 0; i < BYTES / 4; i++)
        ones[i] = i < BYTES / 8 || i % 1024 == 0;
    snprintf(text, sizeof text, "%s%s}\n", header, body);
    open_with(model, "fermi", set);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s: %s", what, heddle_error(h));
    uint64_t p = heddle_alloc(h, BYTES);
    heddle_write(h, p, ones, sizeof ones);
    p += offset;
    struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){8, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s: %.900s", what, heddle_error(h));
    ck_assert_double_eq(stat("dac.decoupled_kernels"), 1);
    check_figures(what);
}

/* An L1 of one set of four ways, three of which may be locked, and 32 warps with 8 loads of a line each; then of two,
 * as what they read begins in the middle of a line. Lines of the first wait in vain, so long as they may; a record that
 * has a lock does not wait for its second one. */
START_TEST(lines_wait_for_locks) {
    static const struct {
        const char *wait;
        bool waits, gives_up;
    } cases[] = {{"dac.lock_wait=0", false, true},
                 {"dac.lock_wait=1", true, true},
                 {"dac.lock_wait=100", true, true},
                 {"dac.lock_wait=1000000", true, false}};
    static char body[1024] = " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,32768,%a2; mov.u32 %r4,0;\n";
    for (uint32_t i = 0, at = (uint32_t)strlen(body); i < 8; i++)
        at += (uint32_t)snprintf(body + at, sizeof body - at,
                                 " ld.global.u32 %%r3,[%%a2+%u]; add.u32 %%r4,%%r4,%%r3;\n", i * 4096);
    strcat(body, " st.global.u32 [%a2],%r4; ret;\n");
    for (uint64_t offset = 0; offset <= 64; offset += 64) {
        const char *const set[] = {"l1.size=512", "l1.ways=4", cases[_i].wait, NULL};
        watched(cases[_i].wait, "spe+dac", set, body, 128, offset);
        ck_assert_msg((lines.waited > 0) == cases[_i].waits, "%llu waited", (unsigned long long)lines.waited);
        ck_assert_msg((lines.gave_up > lines.held) == cases[_i].gives_up, "%llu gave up",
                      (unsigned long long)lines.gave_up);
        ck_assert_msg((lines.held > 0) == (offset != 0), "%llu had another lock", (unsigned long long)lines.held);
    }
}
END_TEST

/* Words of local memory at an offset of the CTA's, which are a line for a warp, and two of 8 bytes; at an offset of the
 * thread's, 32 lines, which only the longest queue has room for. Where lines have 64 bytes, those at one offset are in
 * twice as many. */
START_TEST(local_lines) {
    static const char body[] = " mov.u64 %a2,depot; mad.wide.u32 %a3,%r2,16,%a2; mad.wide.u32 %a4,%r1,4,%a2;\n"
                               " mad.wide.u32 %a5,%r1,4,%a1; st.local.u32 [%a4],%r1; st.local.u32 [%a3],%r1;\n"
                               " st.local.v2.u32 [%a3+8],{%r1,%r2};\n ld.local.u32 %r3,[%a3];\n"
                               " ld.local.v2.u32 {%r4,%r5},[%a3+8]; ld.local.u8 %r6,[%a3+5]; ld.local.u32 %r7,[%a4];\n"
                               " add.u32 %r3,%r3,%r4; add.u32 %r3,%r3,%r5; add.u32 %r3,%r3,%r6;\n"
                               " add.u32 %r3,%r3,%r7; st.global.u32 [%a5],%r3; ret;\n";
    /* of a warp, in lines: 1, 2, 1 and 32, or 2, 4, 2 and 32; queues have room for 1, 4 and 64 */
    static const struct {
        const char *queue, *line, *size;
        uint32_t lines;
    } cases[LOCAL_CASES] = {{"dac.pwaq=1", "128", "49152", 2},     {"dac.pwaq=64", "128", "49152", 4},
                            {"dac.pwaq=1024", "128", "49152", 36}, {"dac.pwaq=1", "64", "49152", 0},
                            {"dac.pwaq=64", "64", "49152", 8},     {"dac.pwaq=1024", "64", "49152", 40},
                            {"dac.pwaq=1024", "128", "0", 36}};
    const int i = _i % LOCAL_CASES, m = _i / LOCAL_CASES;
    char l1[32], lsu[32], size[32];
    snprintf(l1, sizeof l1, "l1.line=%s", cases[i].line);
    snprintf(lsu, sizeof lsu, "lsu.line=%s", cases[i].line);
    snprintf(size, sizeof size, "l1.size=%s", cases[i].size);
    const char *const set[] = {cases[i].queue, lsu, l1, size, "l1.ways=12", NULL};
    watched(models[m], models[m], set, body, 64, 0);
    ck_assert_double_eq(stat("dac.lines"), 8 * 2 * cases[i].lines);
    if (cases[i].size[0] == '0') /* without an L1 none can be locked */
        ck_assert_double_eq(stat("dac.lines_without_lock"), 8 * 2 * cases[i].lines);
}
END_TEST

/* A warp looks at a word of its own until the first warp of its CTA has set it, for which that needs eight loads, whose
 * entries come behind those that the others have no room for. The looks fill the set of the L1 that the loads' lines
 * are in, too. */
START_TEST(who_waits_too_long_gets_an_entry) {
    static char body[2048] = " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,32768,%a2; shr.u32 %r5,%r1,5;\n"
                             " mad.wide.u32 %a4,%r2,4096,%a1; add.u64 %a4,%a4,262144; mad.wide.u32 %a3,%r5,4,%a4;\n"
                             "L: ld.global.u32 %r3,[%a3]; setp.eq.u32 %p1,%r3,0; @%p1 bra L;\n mov.u32 %r4,0;\n";
    static const char *const set[] = {"dac.atq=1", "dac.pwaq=1", "deadlock.cycles=1000000", NULL};
    for (uint32_t i = 0, at = (uint32_t)strlen(body); i < 8; i++)
        at += (uint32_t)snprintf(body + at, sizeof body - at,
                                 " ld.global.u32 %%r3,[%%a2+%u]; add.u32 %%r4,%%r4,%%r3;\n", i * 4096);
    strcat(body, " st.global.u32 [%a3+4],%r4; ret;\n");
    watched(models[_i], models[_i], set, body, 64, 0);
    ck_assert_uint_gt(seen.overdue, 0);
    ck_assert_uint_gt(lines.past, 0);
}
END_TEST

static void teardown(void) {
    if (h)
        heddle_close(h);
    h = NULL;
}

SUITE(timing_dac_each_cycle) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST_LOOP(affine_kernels_at_random, 0, 4);
    TEST_LOOP(nothing_stays_after_a_fault, 0, 12);
    TEST_LOOP(lines_wait_for_locks, 0, 4);
    TEST_LOOP(local_lines, 0, LOCAL_CASES * MODELS);
    TEST_LOOP(who_waits_too_long_gets_an_entry, 0, MODELS);
}
