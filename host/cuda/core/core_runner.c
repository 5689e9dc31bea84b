#include "core_runner.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SECONDS = 3, PAUSE_US = 500 };

enum phase {
    IDLE,
    RUNS,    /* the launching call waits for the kernel */
    LEFT,    /* the launching call has returned, and the program runs beside the kernel */
    AWAITED, /* cuda_runner_wait() waits for the kernel */
    ENDED
};
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool exists; /* the thread */
    enum phase phase;
    enum heddle_status (*run)(void *ctx);
    void *ctx;
    enum heddle_status status;
    double since; /* the host's seconds when the kernel began to wait for the host in phase AWAITED; 0: it does not */
} runner = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void set_phase(enum phase p) {
    runner.phase = p;
    pthread_cond_broadcast(&runner.changed);
}

static void *run_launches(void *unused) {
    (void)unused;
    pthread_mutex_lock(&runner.lock);
    for (;;) {
        while (runner.phase != RUNS)
            pthread_cond_wait(&runner.changed, &runner.lock);
        pthread_mutex_unlock(&runner.lock);
        enum heddle_status status = runner.run(runner.ctx);
        pthread_mutex_lock(&runner.lock);
        runner.status = status;
        set_phase(ENDED);
    }
    return NULL;
}

/* Starts the thread if it does not exist. Returns false if the host cannot start it. */
static bool has_thread(void) {
    pthread_t thread;
    if (!runner.exists && pthread_create(&thread, NULL, run_launches, NULL) == 0) {
        pthread_detach(thread);
        runner.exists = true;
    }
    return runner.exists;
}

bool cuda_runner_run(enum heddle_status (*run)(void *ctx), void *ctx, enum heddle_status *status) {
    pthread_mutex_lock(&runner.lock);
    bool apart = has_thread();
    if (apart) {
        runner.run = run;
        runner.ctx = ctx;
        set_phase(RUNS);
        while (runner.phase == RUNS)
            pthread_cond_wait(&runner.changed, &runner.lock);
        *status = runner.status;
    }
    bool ended = runner.phase != LEFT;
    if (ended)
        runner.phase = IDLE;
    pthread_mutex_unlock(&runner.lock);
    if (!apart)
        *status = run(ctx);
    return ended;
}

enum heddle_status cuda_runner_wait(void) {
    pthread_mutex_lock(&runner.lock);
    runner.since = 0;
    if (runner.phase == LEFT)
        runner.phase = AWAITED;
    while (runner.phase == AWAITED)
        pthread_cond_wait(&runner.changed, &runner.lock);
    enum heddle_status status = runner.status;
    runner.phase = IDLE;
    pthread_mutex_unlock(&runner.lock);
    return status;
}

bool cuda_runner_stands(void *ctx, bool first) {
    (void)ctx;
    pthread_mutex_lock(&runner.lock);
    bool continues = runner.phase != IDLE; /* IDLE: the launch runs on the thread of its caller */
    if (runner.phase == RUNS)
        set_phase(LEFT);
    if (runner.phase == AWAITED && (first || runner.since == 0))
        runner.since = now();
    if (runner.phase == AWAITED)
        continues = now() - runner.since < MOST_SECONDS;
    pthread_mutex_unlock(&runner.lock);
    if (continues)
        usleep(PAUSE_US);
    return continues;
}
