/* A pool of host threads (workers.h). A job is one call of the function that the caller gives. A round is one call of
 * workers_run(): it executes all jobs. In a round, each thread has its own jobs at first. */
#include "workers.h"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A round of the timing simulation takes about ten microseconds, and so does the time between two launches. Waiting
 * threads therefore spin for a while. Serial work between two rounds can take some hundred microseconds, and a wake-up
 * takes about fifty. So a thread that has spun stays awake for YIELDS calls of sched_yield(), about half a microsecond
 * each, before it sleeps. */
enum { SPINS = 2000, YIELDS = 1000, MAX_PAUSES = 100 };

enum { ROUNDS_PER_DIVISION = 16 }; /* number of rounds after which the jobs are divided among the threads again */

/* The jobs of one thread in a round: jobs [next, end) remain. The owner takes jobs from the front. Other threads
 * take jobs from the back after they finish their own. */
struct share {
    _Alignas(64) atomic_uint left; /* end << 16 | next */
    uint32_t jobs;                 /* number of jobs assigned to the thread at the start of a round */
    /* number of jobs that the thread has executed since the last division, including jobs taken from other threads */
    uint32_t taken;
};

struct workers {
    uint32_t threads;
    uint32_t jobs, rounds;              /* number of jobs of the last round; number of rounds since the last division */
    void (*job)(void *ctx, uint32_t i); /* function of this round; valid only for a thread that has taken a job */
    void *ctx;
    _Alignas(64) atomic_uint round;
    _Alignas(64) atomic_uint done;   /* number of jobs finished in this round */
    _Alignas(64) atomic_uint asleep; /* number of sleeping threads */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t start;
    struct share *share; /* one per thread */
    struct helper {
        struct workers *workers;
        uint32_t number;
        pthread_t id;
    } * helper; /* one helper per thread; entry 0 belongs to the caller and is not used */
};

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Lets other threads of the host run after SPINS calls in a loop: the thread for which the caller waits may need this
 * processor. */
void workers_pause(uint32_t i) {
    if (i < SPINS)
        relax();
    else
        sched_yield();
}

static uint32_t round_now(struct workers *w) { return atomic_load_explicit(&w->round, memory_order_acquire); }

enum from { OWN, OTHERS, ANY };

/* Takes the first job of the thread's own jobs, or the last job of another thread; -1 if there is none. Unless `from`
 * is ANY, the last remaining job of a thread stays with its owner, because moving its data between caches takes about
 * as long as waiting. */
static int take(struct share *s, enum from from) {
    uint32_t left = atomic_load_explicit(&s->left, memory_order_relaxed);
    for (;;) {
        uint32_t next = left & 0xffff, end = left >> 16;
        if (next + (from == OTHERS) >= end)
            return -1;
        uint32_t rest = from == OWN ? left + 1 : (end - 1) << 16 | next;
        if (atomic_compare_exchange_weak_explicit(&s->left, &left, rest, memory_order_acq_rel, memory_order_relaxed))
            return (int)(from == OWN ? next : end - 1);
    }
}

/* Executes the jobs of a thread. `done` is updated once at the end, because the caller polls it. */
static void take_share(struct workers *w, uint32_t thread, uint32_t share, enum from from) {
    uint32_t n = 0;
    for (int job; (job = take(&w->share[share], from)) >= 0; n++)
        w->job(w->ctx, (uint32_t)job);
    if (!n) /* this thread is late, and the caller may be dividing the jobs of the next round */
        return;
    w->share[thread].taken += n;
    atomic_fetch_add_explicit(&w->done, n, memory_order_release);
}

static void take_jobs(struct workers *w, uint32_t thread) {
    take_share(w, thread, thread, OWN);
    for (uint32_t i = 1; i < w->threads; i++)
        take_share(w, thread, (thread + i) % w->threads, OTHERS);
}

/* Waits until the round number differs from `seen`. */
static void wait_for_round(struct workers *w, uint32_t seen) {
    for (uint32_t i = 0; i < SPINS + YIELDS; i++) {
        if (round_now(w) != seen)
            return;
        workers_pause(i);
    }
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->asleep, 1);
    while (round_now(w) == seen)
        pthread_cond_wait(&w->start, &w->lock);
    atomic_fetch_sub(&w->asleep, 1);
    pthread_mutex_unlock(&w->lock);
}

static void *work(void *arg) {
    const struct helper *h = arg;
    struct workers *w = h->workers;
    for (uint32_t seen = 0;;) {
        wait_for_round(w, seen);
        /* `round` is read before `stop`, because the thread that ends the pool sets `stop` before it begins a new
         * round */
        seen = round_now(w);
        if (atomic_load(&w->stop))
            return NULL;
        take_jobs(w, h->number);
    }
}

/* Divides the jobs equally if their number has changed, and otherwise, every ROUNDS_PER_DIVISION rounds, in proportion
 * to the jobs that each thread executed in these rounds. Few jobs then change threads, so most data stays in its
 * thread's cache. With at most one job per thread, the equal division remains. */
static void divide(struct workers *w, uint32_t jobs) {
    bool same = jobs == w->jobs;
    if (same && (++w->rounds < ROUNDS_PER_DIVISION || jobs <= w->threads))
        return;
    uint32_t before = 0, done = 0, all = ROUNDS_PER_DIVISION * jobs;
    for (uint32_t t = 0; t < w->threads; t++) {
        done += w->share[t].taken;
        uint32_t end = same ? (done * jobs + all / 2) / all : jobs * (t + 1) / w->threads;
        w->share[t].jobs = end - before;
        w->share[t].taken = 0;
        before = end;
    }
    w->jobs = jobs;
    w->rounds = 0;
}

/* Starts a round. A thread that is late in the last round may take jobs as soon as `share` is written, so all other
 * fields are set before `share`. */
static void begin_round(struct workers *w, uint32_t jobs) {
    divide(w, jobs);
    atomic_store_explicit(&w->done, 0, memory_order_relaxed);
    for (uint32_t t = 0, from = 0, end; t < w->threads; t++, from = end) {
        end = from + w->share[t].jobs;
        atomic_store_explicit(&w->share[t].left, end << 16 | from, memory_order_release);
    }
    atomic_fetch_add(&w->round, 1);
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
    memset(w, 0, sizeof *w);
    w->threads = 1;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->start, NULL);
    w->helper = calloc(threads, sizeof *w->helper);
    w->share = aligned_alloc(64, threads * sizeof *w->share);
    if (w->share)
        memset(w->share, 0, threads * sizeof *w->share);
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t all, before; /* helpers block signals, which the program's own threads handle */
    sigfillset(&all);
    for (int i = 0; i < (int)(sizeof own / sizeof own[0]); i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 1; w->helper && w->share && i < threads; i++) {
        w->helper[i] = (struct helper){.workers = w, .number = i};
        if (pthread_create(&w->helper[i].id, NULL, work, &w->helper[i]) != 0)
            break;
        w->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (w->share && w->threads == threads)
        return w;
    workers_free(w);
    return NULL;
}

void workers_free(struct workers *w) {
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->stop, true);
    atomic_fetch_add(&w->round, 1);
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
    for (uint32_t i = 1; i < w->threads; i++)
        pthread_join(w->helper[i].id, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->start);
    free(w->helper);
    free(w->share);
    free(w);
}

uint32_t workers_threads(const struct workers *w) { return w->threads; }

void workers_run(struct workers *w, uint32_t jobs, void (*job)(void *ctx, uint32_t i), void *ctx) {
    assert(jobs < 1 << 15);
    w->job = job;
    w->ctx = ctx;
    begin_round(w, jobs);
    take_jobs(w, 0);
    for (int i = 0; atomic_load_explicit(&w->done, memory_order_acquire) < jobs; i++) {
        if (i == MAX_PAUSES) /* a late thread has not yet taken all its jobs, so this thread takes them */
            for (uint32_t t = 1; t < w->threads; t++)
                take_share(w, 0, t, ANY);
        else
            workers_pause((uint32_t)i);
    }
}
