#ifndef TEST_TIMING_JOB_RIG_H
#define TEST_TIMING_JOB_RIG_H
/* Runs benchmarks under models, as `heddle bench` does, and checks that certain settings change no statistic. */
#include "benchmarks/bench.h"
#include "host/cli/job.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <math.h>

/* Runs a benchmark and checks that its result is right. The caller frees the job with job_free(). */
static inline void run_job(struct job *j, const struct bench *b, const char *model, const char *config,
                           const char *const *set, uint32_t threads) {
    *j = (struct job){.bench = b, .options = {.model = model, .config = config, .set = set, .threads = threads}};
    job_run(j, 0, NULL);
    ck_assert_msg(j->status == HEDDLE_OK, "%s in %s: %.1000s", b->name, model, j->message ? j->message : "");
}

/* Checks that all statistics except host.* are equal in two jobs. */
static inline void same_figures(const struct job *a, const struct job *b, const char *how) {
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        double x = job_stat(a, d[i].name), y = job_stat(b, d[i].name);
        if (strncmp(d[i].name, "host.", 5) != 0)
            ck_assert_msg(x == y || (isnan(x) && isnan(y)), "%s in %s, %s: %s is %.17g, not %.17g", a->bench->name,
                          a->options.model, how, d[i].name, y, x);
    }
}

/* Checks that polling and several host threads change no statistic. `option` is an additional option, or NULL. */
static inline void same_polled_and_threaded(const char *bench, const char *model, const char *config,
                                            const char *option, uint32_t threads) {
    const struct bench *b = bench_find(bench);
    const char *const set[] = {option, NULL}, *const poll[] = {"gpu.poll=true", option, NULL};
    struct job plain, polled, several;
    run_job(&plain, b, model, config, set, 1);
    run_job(&polled, b, model, config, poll, 1);
    run_job(&several, b, model, config, set, threads);
    same_figures(&plain, &polled, "polled");
    same_figures(&plain, &several, "several threads");
    job_free(&plain), job_free(&polled), job_free(&several);
}

/* Checks that the options of an extension change nothing in a model without this extension. */
static inline void same_without_the_extension(const char *const *set) {
    struct job plain, with;
    run_job(&plain, bench_find("lud"), "spe", "fermi", NULL, 1);
    run_job(&with, bench_find("lud"), "spe", "fermi", set, 1);
    same_figures(&plain, &with, "with options of extensions");
    job_free(&plain), job_free(&with);
}
#endif
