/* Tests compact affine execution (CAE) and many-thread aware prefetching (MTA) on whole programs. Results must be right
 * in each combination of extensions. Statistics must not depend on polling or on the number of host threads. Sums of
 * statistics must be consistent in each launch. */
#include "test/every_model.h"
#include "test/timing/job_rig.h"

/* Extensions that are combined with each base model: each of the two alone, and both. */
static const char *const points[] = {"+cae", "+mta", "+cae+mta"};
static int models(void) { return 3 * base_models()->n; }
static const char *model_in_turn(int turn) {
    return bases_with(points[turn / base_models()->n % 3])->name[turn % base_models()->n];
}

/* Checks that each warp instruction either ran on an affine unit or has a recorded cause why not, and that no
 * prediction of the prefetcher has more than one outcome. */
static void check_sums(const struct job *j) {
    static const char *const ways[] = {"cae.affine_instructions", "cae.not_memory", "cae.not_divergent",
                                       "cae.not_source",          "cae.not_rule",   "cae.not_range"},
                             *const kinds[] = {"cae.scalar_instructions", "cae.offset_instructions",
                                               "cae.control_instructions"},
                             *const fates[] = {"mta.throttled", "mta.out_of_range", "mta.full",
                                               "mta.present",   "mta.refused",      "mta.issued"};
    double way = 0, kind = 0, fate = 0;
    for (int i = 0; i < 6; i++) {
        way += job_stat(j, ways[i]);
        fate += job_stat(j, fates[i]);
    }
    for (int i = 0; i < 3; i++)
        kind += job_stat(j, kinds[i]);
    bool cae = strstr(j->options.model, "cae"), mta = strstr(j->options.model, "mta");
    /* the members of a compacted warp count one by one */
    ck_assert_double_eq(way, cae ? job_stat(j, "gpu.warp_instructions") + job_stat(j, "joint.saved_slots") : 0);
    ck_assert_double_eq(kind, job_stat(j, "cae.affine_instructions"));
    ck_assert_double_eq(job_stat(j, "pipe.affine"), kind);
    ck_assert(!cae || kind > 0);
    ck_assert_double_le(job_stat(j, "cae.expanded_operands"), job_stat(j, "cae.reads"));
    ck_assert_double_ge(job_stat(j, "cae.busy_cycles"), kind);
    /* a few predictions have no outcome, because their requests are in flight at the end of a launch */
    double predicted = job_stat(j, "mta.intra_warp") + job_stat(j, "mta.inter_warp");
    ck_assert_double_le(fate, predicted);
    ck_assert_double_ge(fate, predicted * 0.99 - 16 * 15);
    ck_assert_double_le(job_stat(j, "mta.useful") + job_stat(j, "mta.unused"), job_stat(j, "mta.issued"));
    ck_assert_double_le(job_stat(j, "mta.late"), job_stat(j, "mta.useful"));
    ck_assert(mta || job_stat(j, "mta.loads") == 0);
}

/* By default each test runs one program in one combination of model and extensions. The tests use half of the
 * combinations, and programs from all parts of the table. With HEDDLE_EVERY, all programs run in all combinations. */
START_TEST(programs_are_right) {
    const int bases = base_models()->n;
    int first = test_every() ? _i : 2 * _i + 2 * _i / bases % 2, program = test_every() ? _i : 37 * _i % n_benches;
    for (int k = 0; k < (test_every() ? models() : 1); k++) {
        struct job j;
        run_job(&j, benches[program], model_in_turn(first + k), "fermi", NULL, 1);
        check_sums(&j);
        job_free(&j);
    }
}
END_TEST

START_TEST(polling_and_host_threads_change_no_figure) {
    static const struct {
        const char *bench, *model, *config;
    } runs[] = {{"lud", "cae+mta", "fermi"},
                {"spmv", "dpe+cae+mta", "turing"},
                {"stencil", "dws+cae", "volta-classic"},
                {"transpose", "its+mta", "fermi"},
                {"subwarps4", "si+cae", "turing"}};
    same_polled_and_threaded(runs[_i].bench, runs[_i].model, runs[_i].config, NULL, 2);
}
END_TEST

/* In a model without the extension, its options must not change the number of cycles. */
START_TEST(options_without_their_extension_change_nothing) {
    static const char *const set[] = {"cae.latency=1000", "cae.initiation=1000", "cae.banks=1", "mta.degree=16", NULL};
    same_without_the_extension(set);
}
END_TEST

/* Tests dac with one tuple register, with a few, and with the maximum. If a kernel needs more tuple registers than the
 * machine has, it is decoupled only in part or not at all, and the run reports this. Every fourth program is tested,
 * each with one base model and one number of registers. */
START_TEST(programs_are_right_with_any_tuple_file) {
    static const char *const bases[] = {"spe+dac", "dpe+dac", "dws+dac"};
    static const char *const files[] = {"dac.tuples=1", "dac.tuples=8", "dac.tuples=4096"};
    struct job j;
    run_job(&j, benches[4 * _i + (_i / 9 % 2)], bases[_i % 3], "fermi", (const char *const[]){files[_i / 3 % 3], NULL},
            1);
    ck_assert_int_eq(j.notes != NULL, job_stat(&j, "dac.limited_kernels") > 0);
    ck_assert(_i / 3 % 3 != 2 || job_stat(&j, "dac.limited_kernels") == 0);
    ck_assert(_i / 3 % 3 != 0 || job_stat(&j, "dac.decoupled_kernels") == 0);
    job_free(&j);
}
END_TEST

SUITE(mechanisms_dac_compare) {
    TEST_LOOP(programs_are_right, 0, test_every() ? n_benches : models() / 2);
    TEST_LOOP(programs_are_right_with_any_tuple_file, 0, n_benches / 4);
    TEST_LOOP(polling_and_host_threads_change_no_figure, 0, 5);
    TEST(options_without_their_extension_change_nothing);
}
