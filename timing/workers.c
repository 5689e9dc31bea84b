#include "workers.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A window of simulation is some ten microseconds, so waiting threads look for work a while before they sleep. */
enum { SPINS = 2000 };
#define NO_JOBS 0x40000000u /* as the next job: before the first round */

struct workers {
    uint32_t jobs, threads;
    void (*job)(void *ctx, uint32_t i);
    void *ctx;
    _Alignas(64) atomic_uint_fast64_t next; /* round << 32 | next job; beyond `jobs`: all are taken */
    _Alignas(64) atomic_uint done;          /* jobs done in this round */
    _Alignas(64) atomic_uint asleep;        /* threads that wait to be called */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t start;
    pthread_t *thread; /* threads - 1 */
};

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static uint32_t round_now(struct workers *w) {
    return (uint32_t)(atomic_load_explicit(&w->next, memory_order_acquire) >> 32);
}

/* Takes jobs until there are none. */
static void take_jobs(struct workers *w) {
    for (;;) {
        uint32_t i = (uint32_t)atomic_fetch_add_explicit(&w->next, 1, memory_order_acq_rel);
        if (i >= w->jobs)
            return;
        w->job(w->ctx, i);
        atomic_fetch_add_explicit(&w->done, 1, memory_order_release);
    }
}

/* Waits until the round is another than `seen`. */
static void wait_for_round(struct workers *w, uint32_t seen) {
    for (int i = 0; i < SPINS; i++) {
        if (round_now(w) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->asleep, 1);
    while (round_now(w) == seen)
        pthread_cond_wait(&w->start, &w->lock);
    atomic_fetch_sub(&w->asleep, 1);
    pthread_mutex_unlock(&w->lock);
}

static void *work(void *arg) {
    struct workers *w = arg;
    for (uint32_t seen = 0;;) {
        wait_for_round(w, seen);
        if (atomic_load(&w->stop))
            return NULL;
        seen = round_now(w);
        take_jobs(w);
    }
}

static void begin_round(struct workers *w) {
    atomic_store_explicit(&w->done, 0, memory_order_relaxed);
    atomic_store(&w->next, (uint64_t)(round_now(w) + 1) << 32);
    if (!atomic_load(&w->asleep))
        return;
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
}

struct workers *workers_new(uint32_t threads, uint32_t jobs, void (*job)(void *ctx, uint32_t i), void *ctx) {
    struct workers *w = aligned_alloc(64, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct workers){.jobs = jobs, .threads = 1, .job = job, .ctx = ctx};
    atomic_init(&w->next, NO_JOBS);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->start, NULL);
    w->thread = calloc(threads, sizeof *w->thread);
    while (w->thread && w->threads < threads && pthread_create(&w->thread[w->threads - 1], NULL, work, w) == 0)
        w->threads++;
    if (w->threads == threads)
        return w;
    workers_free(w);
    return NULL;
}

void workers_free(struct workers *w) {
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->stop, true);
    atomic_store(&w->next, (uint64_t)(round_now(w) + 1) << 32 | NO_JOBS);
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
    for (uint32_t i = 1; i < w->threads; i++)
        pthread_join(w->thread[i - 1], NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->start);
    free(w->thread);
    free(w);
}

void workers_run(struct workers *w) {
    begin_round(w);
    take_jobs(w);
    for (int i = 0; atomic_load_explicit(&w->done, memory_order_acquire) < w->jobs; i++) {
        if (i < SPINS)
            relax();
        else
            sched_yield(); /* whoever has the last job may need this processor */
    }
}
