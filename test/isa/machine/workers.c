/* Tests host threads that share jobs. In each round, each job must be executed exactly once, by any of the threads. */
#include "isa/machine/workers.h"
#include "test/test.h"
#include <sched.h>
#include <stdatomic.h>

enum { MOST_JOBS = 300 };

static atomic_uint done[MOST_JOBS];
static uint32_t slow; /* this job takes long */

static void job(void *ctx, uint32_t i) {
    uint32_t jobs = *(const uint32_t *)ctx;
    ck_assert_uint_lt(i, jobs);
    for (int k = 0; i == slow && k < 20; k++)
        sched_yield();
    atomic_fetch_add(&done[i], 1);
}

/* Runs several rounds with each number of jobs. When the number changes, the jobs must be divided among the threads
 * anew. */
START_TEST(every_job_is_done_once) {
    static const uint32_t sizes[] = {1, 2, 3, 16, 300, 0, 7};
    uint32_t threads = (uint32_t)_i + 1, rounds = 0;
    struct workers *w = workers_new(threads);
    ck_assert_ptr_nonnull(w);
    ck_assert_uint_eq(workers_threads(w), threads);
    for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int k = 0; k < 40; k++) {
            uint32_t jobs = sizes[s];
            slow = (rounds++ * 5) % (jobs + 1);
            for (uint32_t i = 0; i < MOST_JOBS; i++)
                atomic_store(&done[i], 0);
            workers_run(w, jobs, job, &jobs);
            for (uint32_t i = 0; i < MOST_JOBS; i++)
                ck_assert_uint_eq(atomic_load(&done[i]), i < jobs);
        }
    workers_free(w);
}
END_TEST

/* If the number of jobs is at most the number of threads, each job has its own thread, so one job may wait for
 * another. */
static atomic_uint arrived;
static void meet(void *ctx, uint32_t i) {
    (void)i;
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < *(const uint32_t *)ctx)
        sched_yield();
}

START_TEST(a_job_for_each_thread) {
    uint32_t threads = 3;
    struct workers *w = workers_new(threads);
    ck_assert_ptr_nonnull(w);
    for (int k = 0; k < 100; k++) {
        atomic_store(&arrived, 0);
        workers_run(w, threads, meet, &threads);
        ck_assert_uint_eq(atomic_load(&arrived), threads);
    }
    workers_free(w);
}
END_TEST

/* A worker thread that starts only after the last round must still end. */
START_TEST(late_threads_end) {
    uint32_t jobs = 2;
    slow = jobs;
    for (int k = 0; k < 2000; k++) {
        struct workers *w = workers_new(5);
        ck_assert_ptr_nonnull(w);
        workers_run(w, jobs, job, &jobs);
        workers_free(w);
    }
}
END_TEST

SUITE(isa_workers) {
    TEST(late_threads_end);
    TEST_LOOP(every_job_is_done_once, 0, 5);
    TEST(a_job_for_each_thread);
}
