/* heddle work: takes runs from a queue, executes them, and stores their results in the queue's file. */
#include "cmd_plan.h"
#include "help.h"
#include "host/progress.h"
#include "host/report/interrupt.h"
#include "host/results/results_queue.h"
#include "sweep.h"
#include "work.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct option_def options[] = {
    {'j', "jobs", "N", "runs at a time (default: the number of processors)"},
    {0, "take", "N", "run nothing: move up to N free runs to the queue of -o, for a machine without this file"},
    {'o', "output", "PART", "with --take: the new queue"},
    {0, "lease", "SECONDS", "with --take: then the runs are free again, unless PART was merged (default 86400)"},
    {0, NULL, NULL, NULL},
};

struct worker {
    const struct cli *c;
    struct results_db *db;
    const char *file;
    int parallel, want; /* want: number of runs to take at once */
    struct queue_item *items;
    /* id of the sweep that planned the runs; 0: none */
    long long plan;
    struct queue_plan text;
    struct cli line;
    struct sweep sweep;
    double said;      /* time of the latest line about the progress */
    double estimate;  /* seconds left in that line; negative: none */
    long long length; /* number of runs of the queue in that line */
    long long ran;
};

static void forget_sweep(struct worker *w) {
    if (!w->plan)
        return;
    sweep_end(&w->sweep);
    cli_free(&w->line);
    queue_plan_free(&w->text);
    w->plan = 0;
}

/* Prints the progress of the whole queue once a minute. */
static void beat(void *ctx) {
    struct worker *w = ctx;
    enum { SECONDS = 60 };
    char err[256], line[PROGRESS_LINE];
    struct queue_state state;
    if (seconds_now() - w->said < SECONDS || !queue_count(w->db, &state, err, sizeof err))
        return;
    const long long length = state.done + state.left + state.given_up;
    if (w->length != length) /* another command has added runs */
        w->estimate = -1;
    w->length = length;
    w->said = seconds_now();
    results_progress(&state, &w->estimate, line);
    fprintf(stderr, "heddle work: %s\n", line);
}

/* Reads the plan with this id, in the folder where it was made. */
static bool remember_sweep(struct worker *w, long long id) {
    char err[1024];
    if (w->plan == id)
        return true;
    forget_sweep(w);
    if (!queue_plan_read(w->db, id, &w->text, err, sizeof err)) {
        cli_fail(w->c, "%s", err);
        queue_plan_free(&w->text);
        return false;
    }
    if (chdir(w->text.folder) != 0)
        cli_fail(w->c, "note: %s: %s; the files of programs are looked up in this folder", w->text.folder,
                 strerror(errno));
    w->plan = id;
    bool fine = cli_parse(&w->line, &cmd_sweep, w->text.argc, w->text.argv) && sweep_begin(&w->sweep, &w->line);
    w->line.command = w->c->command; /* for messages */
    if (fine && strcmp(w->text.binary, w->sweep.plan.binary) != 0) {
        cli_fail(w->c,
                 "%s was planned by another build of heddle; use that one, or plan it again with this one: "
                 "heddle sweep ... --queue %s",
                 w->file, w->file);
        fine = false;
    }
    w->sweep.plan.claimed = true;
    w->sweep.plan.beat = beat;
    w->sweep.plan.beat_ctx = w;
    return fine;
}

/* Makes the plan of the runs taken. */
static bool plan_items(struct worker *w, int n) {
    char err[1024];
    plan_clear(&w->sweep.plan);
    for (int i = 0; i < n; i++) {
        const struct queue_item *item = &w->items[i];
        int run = item->number < w->sweep.runs ? sweep_add(&w->sweep, item->number, err, sizeof err) : -1;
        if (run >= 0 && strcmp(w->sweep.plan.runs[run].key, item->key) == 0)
            continue;
        if (run < 0)
            cli_fail(w->c, "run %llu of the queue: %s", (unsigned long long)item->number,
                     item->number < w->sweep.runs ? err : "there is none");
        else
            cli_fail(w->c,
                     "run %llu of the queue is another one here: a file of its program differs from the one that "
                     "was planned; plan it again: heddle sweep ... --queue %s",
                     (unsigned long long)item->number, w->file);
        return false;
    }
    return true;
}

/* Takes some runs from the queue and executes them. Returns the number of runs taken, or 0 if no run is free. On an
 * error, prints a message and returns -1. */
static int do_some(struct worker *w) {
    enum { MOST = 4000 };
    static const double short_seconds = 15, long_seconds = 60; /* each take starts new processes */
    char err[1024];
    struct plan_outcome out;
    struct queue_state state;
    if (!queue_count(w->db, &state, err, sizeof err))
        return cli_fail(w->c, "%s", err), -1;
    /* near the end of the queue, a process takes only its share of the remaining runs */
    long long share = state.left / (2 * (state.processes + 1)), most = share < w->want ? share : w->want;
    most = most < w->parallel ? w->parallel : most;
    int n = queue_take(w->db, (int)most, w->items, err, sizeof err);
    if (n <= 0)
        return n < 0 ? cli_fail(w->c, "%s", err), -1 : 0;
    double began = seconds_now();
    if (!remember_sweep(w, w->items[0].plan) || !plan_items(w, n))
        return -1;
    (void)plan_execute(&w->sweep.plan, w->db, w->parallel, &w->line, &out);
    w->ran += out.ran;
    if (out.broken)
        return -1;
    double took = seconds_now() - began;
    const int more = took < short_seconds / 15 ? 8 : 2;
    if (took < short_seconds && w->want <= MOST / more)
        w->want *= more;
    else if (took > long_seconds && w->want > 1)
        w->want /= 2;
    return n;
}

static void print_lost(void *ctx, long long number, const char *key, const char *message) {
    const struct worker *w = ctx;
    (void)key;
    cli_fail(w->c, "run %lld was given up after %d failures: %.*s", number, QUEUE_TRIES, (int)strcspn(message, "\n"),
             message);
}

static void no_owner(void *ctx, const char *place, long long pid, long long claims, long long age) {
    (void)ctx, (void)place, (void)pid, (void)claims, (void)age;
}

/* Executes runs until none is left. */
static enum heddle_status work_off(struct worker *w) {
    const struct timespec moment = {.tv_nsec = 500000000};
    char err[1024], line[PROGRESS_LINE];
    struct queue_state state;
    int n = 0;
    while (n >= 0 && !interrupt_signal()) {
        n = do_some(w);
        beat(w);
        if (n)
            continue;
        if (!queue_count(w->db, &state, err, sizeof err))
            return cli_fail(w->c, "%s", err);
        if (!state.left)
            break;
        interrupt_guard(NULL);
        /* other processes have taken the last runs; if one of them dies, its runs become free again */
        nanosleep(&moment, NULL);
        interrupt_unguard();
    }
    results_unclaim(w->db, NULL, err, sizeof err);
    if (interrupt_signal())
        return HEDDLE_STOPPED;
    if (n < 0)
        return HEDDLE_USAGE;
    results_progress(&state, NULL, line);
    printf("%lld run%s done by this process; %s\n", w->ran, w->ran == 1 ? "" : "s", line);
    if (!state.given_up)
        return HEDDLE_OK;
    (void)queue_list(w->db, print_lost, no_owner, w, err, sizeof err);
    return HEDDLE_USAGE;
}

static enum heddle_status take(const struct cli *c, struct results_db *db) {
    enum { MOST = 1000000 };
    const uint64_t year = 366 * 86400;
    uint64_t n = 0, seconds = 86400;
    char err[1024];
    const char *part = cli_value(c, "output");
    if (!cli_number(c, "take", 1, MOST, &n) || !cli_number(c, "lease", 1, year, &seconds))
        return HEDDLE_USAGE;
    if (!part)
        return cli_error(c, "--take N goes to a new queue: -o PART");
    int taken = queue_split(db, part, (int)n, (long long)seconds, err, sizeof err);
    if (taken < 0)
        return cli_fail(c, "%s", err);
    printf("%d run%s taken\n", taken, taken == 1 ? "" : "s");
    return HEDDLE_OK;
}

static enum heddle_status run(const struct cli *c) {
    enum { MOST = 4096 };
    char err[1024];
    uint64_t parallel = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (c->n_words != 1)
        return cli_error(c, "which queue? For example 'heddle sweep lud -m spe,dpe --queue q.db', 'heddle work q.db'");
    if (!cli_has(c, "take") && (cli_has(c, "output") || cli_has(c, "lease")))
        return cli_error(c, "--output and --lease do nothing without --take");
    if (!cli_number(c, "jobs", 1, 256, &parallel))
        return HEDDLE_USAGE;
    char *path = realpath(c->words[0], NULL); /* absolute, because the process will change to the folder of the plan */
    struct results_db *db = results_open(path ? path : c->words[0], false, err, sizeof err);
    struct worker w = {
        .c = c, .db = db, .file = c->words[0], .parallel = (int)parallel, .want = (int)parallel, .estimate = -1};
    enum heddle_status status = HEDDLE_USAGE;
    w.said = seconds_now();
    if (!db)
        cli_fail(c, "%s", err);
    else if (!queue_is(db))
        cli_fail(c, "%s: is no queue; 'heddle sweep ... --queue %s' makes one of it", c->words[0], c->words[0]);
    else if (cli_has(c, "take"))
        status = take(c, db);
    else if (!(w.items = calloc(MOST, sizeof *w.items)))
        cli_fail(c, "the host is out of memory");
    else
        status = work_off(&w);
    forget_sweep(&w);
    free(w.items);
    results_close(db);
    free(path);
    return status;
}

const struct command cmd_work = {
    "work", "QUEUE [OPTION...]", "take runs from a queue and do them", help_work, options, run, false,
};
