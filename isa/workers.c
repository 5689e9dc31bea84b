#include "workers.h"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A window of simulation is some ten microseconds, and so is the time between two launches, so waiting threads look for
 * work a while before they sleep. */
enum { SPINS = 2000 };

struct workers {
    uint32_t threads;
    void (*job)(void *ctx, uint32_t i); /* of this round; to be read only by who has taken a job of it */
    void *ctx;
    /* round << 32 | jobs << 16 | next job. In one word, for a late thread must not take the next job of one round for
     * one of another. */
    _Alignas(64) atomic_uint_fast64_t next;
    _Alignas(64) atomic_uint done;   /* jobs done in this round */
    _Alignas(64) atomic_uint asleep; /* threads that wait to be called */
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
        uint64_t now = atomic_load_explicit(&w->next, memory_order_relaxed);
        if ((uint16_t)now >= (uint16_t)(now >> 16)) /* looked at first, so that the number does not grow for ever */
            return;
        now = atomic_fetch_add_explicit(&w->next, 1, memory_order_acq_rel);
        uint32_t i = (uint16_t)now;
        if (i >= (uint16_t)(now >> 16))
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

static void begin_round(struct workers *w, uint32_t jobs) {
    atomic_store_explicit(&w->done, 0, memory_order_relaxed);
    atomic_store(&w->next, (uint64_t)(round_now(w) + 1) << 32 | (uint64_t)jobs << 16);
    if (!atomic_load(&w->asleep))
        return;
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
}

struct workers *workers_new(uint32_t threads) {
    struct workers *w = aligned_alloc(64, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct workers){.threads = 1};
    atomic_init(&w->next, 0);
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
    atomic_store(&w->next, (uint64_t)(round_now(w) + 1) << 32);
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
    for (uint32_t i = 1; i < w->threads; i++)
        pthread_join(w->thread[i - 1], NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->start);
    free(w->thread);
    free(w);
}

uint32_t workers_threads(const struct workers *w) { return w->threads; }

void workers_run(struct workers *w, uint32_t jobs, void (*job)(void *ctx, uint32_t i), void *ctx) {
    assert(jobs <= UINT16_MAX);
    w->job = job;
    w->ctx = ctx;
    begin_round(w, jobs);
    take_jobs(w);
    for (int i = 0; atomic_load_explicit(&w->done, memory_order_acquire) < jobs; i++) {
        if (i < SPINS)
            relax();
        else
            sched_yield(); /* whoever has the last job may need this processor */
    }
}
