/* The SM has two versions of its stages (fast_path.h). Counts per instruction make it use the general version for
 * every instruction and cycle. All other results must be equal. */
#include "test/timing/job_rig.h"

static const struct {
    const char *bench, *config;
} rows[] = {
    {"vecadd", "fermi"},            /* loads that miss */
    {"sgemm", "fermi"},             /* barriers, shared memory */
    {"bfs", "fermi"},               /* divergence, scattered lines */
    {"hotspot", "gt200"},           /* one scheduler, half warps */
    {"reduction", "volta-classic"}, /* divided, 64 warps, L0s */
    {"lud", "turing"},
    {"histogram", "fermi"}, /* atomics, which are ordered, between other code */
    {"lud", "pepsc-16"},    /* barriers of warps that are swapped out */
    {"qsort", "fermi"},
    {"mcml", "tiny"},    /* deep stacks, loops that lanes leave one by one */
    {"shade1", "fermi"}, /* calls and returns that diverge */
    {"scan", "fermi"},
    {"nw", "gt200"},             /* barriers after divergence, or after lanes returned */
    {"scan", "turing-gpgpusim"}, /* shared collectors: their work may be the only work of a cycle */
    /* modern cores, which skip cycles in which only memory accesses advance */
    {"vecadd", "gv100"}, /* warps wait for room at the load/store unit */
    {"reduction", "gv100"},
    {"bfs", "a6000"},
    {"kmeans", "rtx2070s"}, /* expansions, which take issue slots */
};
enum { N_ROWS = sizeof rows / sizeof rows[0], N_MODERN = 4 };

START_TEST(plain_and_general_stages_agree) {
    const struct bench *b = bench_find(rows[_i].bench);
    struct job plain, general = {.bench = b, .options = {.model = "spe", .config = rows[_i].config, .profile = true}};
    ck_assert_ptr_nonnull(b);
    run_job(&plain, b, "spe", rows[_i].config, NULL, 1);
    job_run(&general, 0, NULL);
    ck_assert_int_eq(general.status, HEDDLE_OK);
    same_figures(&plain, &general, "with counts by instruction");
    job_free(&plain), job_free(&general);
}
END_TEST

/* Fences at the target of a branch, after a branch that is never taken, and after a barrier, with loads in flight.
 * The second run moves the fences by one instruction. So in one of the two runs, each fence is fetched together with
 * the previous instruction. */
static const char fences[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry k(.param .u64 a) {\n"
                             ".reg .u64 %%a, %%b; .reg .u32 %%t, %%r, %%s, %%u, %%v; .reg .pred %%p, %%q;\n"
                             "ld.param.u64 %%a,[a]; mov.u32 %%t,%%tid.x; mad.wide.u32 %%b,%%t,4,%%a;\n"
                             "%s setp.lt.u32 %%p,%%t,4096; setp.gt.u32 %%q,%%t,4096;\n"
                             "ld.global.u32 %%r,[%%b]; @%%p bra TO; add.u32 %%t,%%t,1;\n"
                             "TO: membar.gl; ld.global.u32 %%s,[%%b+4096]; bar.sync 0; membar.gl;\n"
                             "ld.global.u32 %%u,[%%b+8192]; add.u32 %%t,%%t,1; @%%q bra ON; membar.gl;\n"
                             "ld.global.u32 %%v,[%%b+12288]; add.u32 %%r,%%r,%%v;\n"
                             "ON: add.u32 %%r,%%r,%%s; add.u32 %%r,%%r,%%u; st.global.u32 [%%b],%%r; ret;\n}\n";

static double cycles_of_fences(const char *more, bool profile) {
    char err[256], text[sizeof fences + 64];
    int n = snprintf(text, sizeof text, fences, more);
    const struct heddle_options o = {.model = "spe", .profile = profile};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "fences.ptx", text, (size_t)n);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t a = heddle_alloc(h, 16384);
    struct heddle_arg arg = {&a, 8};
    const struct heddle_dim one = {1, 1, 1}, block = {64, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, block, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

START_TEST(fences_wait_where_paths_come_to) {
    const char *more = _i ? "mov.u32 %s,7;" : "";
    double plain = cycles_of_fences(more, false), general = cycles_of_fences(more, true);
    ck_assert_double_gt(plain, 0);
    ck_assert_double_eq(plain, general);
}
END_TEST

SUITE(timing_sm_plain) {
    /* with the least of tables, the general stages of a modern core wait for free entries */
    TEST_LOOP(plain_and_general_stages_agree, 0, LEAST_TABLES ? N_ROWS - N_MODERN : N_ROWS);
    TEST_LOOP(fences_wait_where_paths_come_to, 0, 2);
}
