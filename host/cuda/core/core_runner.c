#include "core_runner.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SECONDS = 3, PAUSE_US = 500 };

enum state { QUEUED, BEGUN, AWAY, ENDED }; /* AWAY: the job has begun, and calls a function of the program */
struct flight {
    struct flight *next;
    struct cuda_job job;
    struct cuda_order order;
    unsigned long long ticket;
    unsigned long long turn; /* number of the latest turn; 0: it had none */
    enum state state;
    bool stood;   /* the job has stood */
    bool watched; /* cuda_runner_add() waits for the flight, and frees it if it has ended */
};
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct flight *first;                     /* in the order of the program's calls */
    struct flight *runs;                      /* the flight that has the turn; NULL: none */
    bool host;                                /* a thread of the program has the turn */
    unsigned host_wants;                      /* number of the program's threads that wait for the turn */
    unsigned threads;                         /* threads of the runner */
    unsigned awaited;                         /* threads in cuda_runner_wait() */
    unsigned long long tickets, turns, quiet; /* `quiet`: calls of stands() since a kernel made progress */
    double since;                             /* the host's seconds at the latest progress, or when `awaited` left 0 */
    bool dead;                                /* a deadlock was found: jobs that stand end */
} runner = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* The flight of this thread of the runner; NULL on threads of the program. */
static __thread const struct flight *own_flight;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void await_change(void) { pthread_cond_wait(&runner.changed, &runner.lock); }

static bool follows(const struct cuda_order *o, const struct flight *earlier) {
    const struct cuda_order *e = &earlier->order;
    return o->all || e->all || o->stream == e->stream || (o->legacy && e->blocking) || (o->blocking && e->legacy) ||
           (o->after && o->after == earlier->ticket);
}

/* Returns true if `o` follows a flight before `end` that has not ended, and that is not `but`. */
static bool pending(const struct cuda_order *o, const struct flight *end, const struct flight *but) {
    for (const struct flight *f = runner.first; f && f != end; f = f->next)
        if (f->state != ENDED && f != but && follows(o, f))
            return true;
    return false;
}

static unsigned count(enum state state) {
    unsigned n = 0;
    for (const struct flight *f = runner.first; f; f = f->next)
        n += f->state == state;
    return n;
}

/* Returns the number of the runner's threads that are in jobs. */
static unsigned occupied(void) { return count(BEGUN) + count(AWAY); }

/* Returns the flight that has the next turn: among the flights that may run, the flight whose latest turn is the
 * oldest. A queued flight may run if a thread is free. */
static struct flight *next_flight(void) {
    struct flight *best = NULL;
    const bool begins = occupied() < runner.threads;
    for (struct flight *f = runner.first; f; f = f->next)
        if ((!best || f->turn < best->turn) &&
            (f->state == BEGUN || (begins && f->state == QUEUED && !pending(&f->order, f, f))))
            best = f;
    return best;
}

static void note_progress(void) {
    runner.quiet = 0;
    runner.since = now();
}

static bool turn_is_free(void) { return !runner.runs && !runner.host && !runner.host_wants; }

static void take_turn(struct flight *f) {
    runner.runs = f;
    f->turn = ++runner.turns;
}

static void end_turn(void) {
    runner.runs = NULL;
    pthread_cond_broadcast(&runner.changed);
}

static void remove_ended(struct flight *f) {
    struct flight **at = &runner.first;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    free(f);
    if (!runner.first)
        runner.dead = false;
}

static void *run_flights(void *unused);

/* Starts a thread if all threads are in jobs and a flight waits for one. Returns false if there is no thread at all. */
static bool has_thread(void) {
    pthread_t thread;
    if (count(QUEUED) && runner.threads <= occupied() && pthread_create(&thread, NULL, run_flights, NULL) == 0) {
        pthread_detach(thread);
        runner.threads++;
    }
    return runner.threads > 0;
}

static void run_flight(struct flight *f) {
    f->state = BEGUN;
    take_turn(f);
    note_progress();
    has_thread();
    pthread_mutex_unlock(&runner.lock);
    own_flight = f;
    f->job.run(f->job.ctx);
    own_flight = NULL;
    pthread_mutex_lock(&runner.lock);
    f->state = ENDED;
    note_progress();
    if (!f->watched)
        remove_ended(f);
    end_turn();
}

static void *run_flights(void *unused) {
    (void)unused;
    pthread_mutex_lock(&runner.lock);
    for (;;) {
        struct flight *f = turn_is_free() ? next_flight() : NULL;
        if (f && f->state == QUEUED)
            run_flight(f);
        else
            await_change();
    }
    return NULL;
}

bool cuda_runner_busy(void) {
    pthread_mutex_lock(&runner.lock);
    const bool busy = runner.first != NULL;
    pthread_mutex_unlock(&runner.lock);
    return busy;
}

bool cuda_runner_pending(const struct cuda_order *o) {
    pthread_mutex_lock(&runner.lock);
    const bool any = pending(o, NULL, own_flight);
    pthread_mutex_unlock(&runner.lock);
    return any;
}

bool cuda_runner_has(unsigned long long ticket) {
    bool has = false;
    pthread_mutex_lock(&runner.lock);
    for (const struct flight *f = runner.first; f; f = f->next)
        has |= f->ticket == ticket && f->state != ENDED;
    pthread_mutex_unlock(&runner.lock);
    return has;
}

static void hold(void) {
    runner.host_wants++;
    while (runner.runs || runner.host)
        await_change();
    runner.host_wants--;
    runner.host = true;
}

static void release(void) {
    runner.host = false;
    pthread_cond_broadcast(&runner.changed);
}

void cuda_runner_hold(void) {
    pthread_mutex_lock(&runner.lock);
    hold();
    pthread_mutex_unlock(&runner.lock);
}

void cuda_runner_release(void) {
    pthread_mutex_lock(&runner.lock);
    release();
    pthread_mutex_unlock(&runner.lock);
}

unsigned long long cuda_runner_add(const struct cuda_job *job, const struct cuda_order *o) {
    struct flight *f = calloc(1, sizeof *f), **last = &runner.first;
    if (!f)
        return 0;
    pthread_mutex_lock(&runner.lock);
    *f = (struct flight){.job = *job, .order = *o, .ticket = ++runner.tickets};
    const unsigned long long ticket = f->ticket;
    while (*last)
        last = &(*last)->next;
    *last = f;
    if (!has_thread()) {
        *last = NULL;
        pthread_mutex_unlock(&runner.lock);
        free(f);
        return 0;
    }
    if (!pending(&f->order, f, f)) {
        f->watched = true;
        release();
        while (f->state != ENDED && f->state != AWAY && !f->stood)
            await_change();
        hold();
        f->watched = false;
        if (f->state == ENDED)
            remove_ended(f);
    }
    pthread_mutex_unlock(&runner.lock);
    return ticket;
}

void cuda_runner_wait(const struct cuda_order *o, bool apart) {
    const int depth = cuda_core.depth;
    pthread_mutex_lock(&runner.lock);
    while (pending(o, NULL, own_flight)) {
        if (!runner.awaited++)
            runner.since = now();
        release();
        if (apart) {
            cuda_core.depth = 0;
            for (int i = 0; i < depth; i++)
                pthread_mutex_unlock(&cuda_core.lock);
        }
        while (pending(o, NULL, own_flight))
            await_change();
        runner.awaited--;
        if (apart) { /* the order of the locks: that of core first */
            pthread_mutex_unlock(&runner.lock);
            for (int i = 0; i < depth; i++)
                pthread_mutex_lock(&cuda_core.lock);
            cuda_core.depth = depth;
            pthread_mutex_lock(&runner.lock);
        }
        hold();
    }
    pthread_mutex_unlock(&runner.lock);
}

void cuda_runner_await(unsigned long long ticket) {
    static const char no_stream; /* the key of no job, so the order follows only the job with the ticket */
    if (cuda_runner_has(ticket))
        cuda_runner_wait(&(struct cuda_order){.stream = &no_stream, .after = ticket}, true);
}

bool cuda_runner_beside(void) {
    pthread_mutex_lock(&runner.lock);
    const bool any = count(BEGUN) > 1;
    pthread_mutex_unlock(&runner.lock);
    return any;
}

void cuda_runner_describe_others(void) {
    const struct flight *own = runner.runs;
    for (const struct flight *f = own ? runner.first : NULL; f; f = f->next)
        if (f != own && f->state != ENDED && f->job.describe)
            f->job.describe(f->job.ctx, f->state == BEGUN, follows(&f->order, own));
}

/* Returns true if all jobs have stood, without progress, for too long while the program waited for one. */
static bool is_deadlock(void) {
    return runner.dead || (runner.awaited && !count(AWAY) && runner.quiet > 1 && now() - runner.since >= MOST_SECONDS);
}

/* Waits for the turn of `f`, and takes it. */
static void await_turn(struct flight *f) {
    while (!turn_is_free() || next_flight() != f)
        await_change();
    take_turn(f);
}

void cuda_runner_away(void (*call)(void *), void *data) {
    pthread_mutex_lock(&runner.lock);
    struct flight *f = runner.runs;
    f->state = AWAY;
    end_turn();
    pthread_mutex_unlock(&runner.lock);
    call(data);
    pthread_mutex_lock(&runner.lock);
    f->state = BEGUN;
    note_progress();
    await_turn(f);
    pthread_mutex_unlock(&runner.lock);
}

/* Gives the turn of `f` away until it is the turn of `f` again. If no flight makes progress, sleeps first. */
static void pass_turn(struct flight *f) {
    end_turn();
    if (runner.quiet > count(BEGUN)) {
        pthread_mutex_unlock(&runner.lock);
        usleep(PAUSE_US);
        pthread_mutex_lock(&runner.lock);
    }
    await_turn(f);
}

bool cuda_runner_stands(void *ctx, bool first) {
    (void)ctx;
    pthread_mutex_lock(&runner.lock);
    struct flight *f = runner.runs;
    bool goes_on = false; /* as if the launch runs on the thread of its caller */
    if (f) {
        runner.quiet++;
        if (first)
            note_progress();
        f->stood = true;
        runner.dead = is_deadlock();
        goes_on = !runner.dead;
    }
    if (goes_on)
        pass_turn(f);
    pthread_mutex_unlock(&runner.lock);
    return goes_on;
}

void cuda_runner_forget(void) {
    static const pthread_mutex_t open = PTHREAD_MUTEX_INITIALIZER;
    runner.lock = open;
    runner.first = runner.runs = NULL;
    runner.host = false;
    runner.host_wants = runner.threads = 0;
}
