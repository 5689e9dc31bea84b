/* The SM has its stages twice (sm_plain.h). Counts by instruction make it take the general ones, for every instruction
 * and cycle; nothing else may differ. */
#include "test/timing/job_rig.h"

static const struct {
    const char *bench, *config;
} rows[] = {
    {"vecadd", "fermi"},                            /* loads that miss */
    {"sgemm", "fermi"},                             /* barriers, shared memory */
    {"bfs", "fermi"},                               /* divergence, scattered lines */
    {"hotspot", "gt200"},                           /* one scheduler, half warps */
    {"reduction", "volta"},                         /* divided, 64 warps, L0s */
    {"lud", "turing"},      {"histogram", "fermi"}, /* atomics: ordered instructions between plain ones */
    {"lud", "pepsc-16"},                            /* barriers of warps that have no turn */
    {"qsort", "fermi"},     {"mcml", "tiny"},       /* stacks of many entries, loops that lanes leave one by one */
    {"shade1", "fermi"},                            /* calls and returns that diverge */
    {"scan", "fermi"},      {"nw", "gt200"},        /* barriers while some have returned, or diverge */
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

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

SUITE(timing_sm_plain) { TEST_LOOP(plain_and_general_stages_agree, 0, N_ROWS); }
