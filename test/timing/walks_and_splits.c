/* Accesses of the walk unit reuse the slots of loads in the load/store unit. Models and extensions that act on loads
 * whose tags are known must not take such an access for a load. */
#include "job_rig.h"

START_TEST(shaders_run_where_loads_split) {
    static const struct {
        const char *model, *set[3];
    } runs[] = {{"spe+vws", {"sm.warp_size=4", "walk.memory=own", NULL}},
                {"spe+vws", {"sm.warp_size=8", "walk.memory=l1", NULL}},
                {"dws50", {"dws.memory=revive", "walk.memory=l1", NULL}},
                {"dpe", {"dpe.memory_divergence=on", "walk.memory=own", NULL}}};
    const struct bench *b = bench_find("shadeunit1");
    struct job j;
    ck_assert_ptr_nonnull(b);
    run_job(&j, b, runs[_i].model, "turing", runs[_i].set, 1); /* checks the results */
    ck_assert_double_gt(job_stat(&j, "walk.rays"), 0);
    job_free(&j);
}
END_TEST

SUITE(timing_walks_and_splits) { TEST_LOOP(shaders_run_where_loads_split, 0, 4); }
