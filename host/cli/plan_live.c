#include "plan_live.h"
#include "cmd_plan.h"
#include "host/live/live_parts.h"
#include "host/progress.h"
#include "host/report/interrupt.h"
#include "runs_page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNNING = 256, LATEST = 100 }; /* LATEST: number of latest results on the page */

static const struct runs_table tables[] = {
    {"running", "Runs that execute now", "run seconds", "run|seconds"},
    {"ended", "Latest results", "run check cycles ipc seconds", "run|check|cycles|IPC|seconds"},
    {NULL, NULL, NULL, NULL},
};

/* A thread must hold the lock when it accesses a member below it. */
struct plan_live {
    const struct plan *plan;
    struct live_http *http;
    char title[64];
    double started;
    pthread_mutex_t lock;
    struct {
        int run;
        double began;
    } running[MOST_RUNNING];
    int n_running, done, before, failed;
    cJSON *ended; /* the newest result first */
    double left;  /* least estimate of the remaining seconds; negative: there is none */
};

/* Writes one line about the progress. */
static void write_line(struct plan_live *l, double now, char *out, size_t size) {
    int total = l->plan->n_runs, ran = l->done - l->before, n;
    n = snprintf(out, size, "%d of %d runs done", l->done, total);
    if (l->before)
        n += snprintf(out + n, size - (size_t)n, ", %d of them by earlier commands", l->before);
    if (l->failed)
        n += snprintf(out + n, size - (size_t)n, ", %d failed", l->failed);
    if (ran > 0 && l->done < total) {
        double estimate = (now - l->started) / ran * (total - l->done);
        l->left = l->left < 0 || estimate < l->left ? estimate : l->left;
        snprintf(out + n, size - (size_t)n, "; %.0f s left", l->left);
    }
}

static cJSON *state_of(struct plan_live *l) {
    char text[256];
    cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "running");
    pthread_mutex_lock(&l->lock);
    double now = seconds_now();
    write_line(l, now, text, sizeof text);
    cJSON_AddStringToObject(o, "line", text);
    cJSON_AddNumberToObject(o, "done", l->done);
    cJSON_AddNumberToObject(o, "total", l->plan->n_runs);
    cJSON_AddNumberToObject(o, "failed", l->failed);
    for (int i = 0; i < l->n_running; i++) {
        cJSON *row = cJSON_CreateObject();
        plan_run_name(l->plan, l->running[i].run, text, sizeof text);
        cJSON_AddStringToObject(row, "run", text);
        cJSON_AddNumberToObject(row, "seconds", round(10 * (now - l->running[i].began)) / 10);
        cJSON_AddItemToArray(list, row);
    }
    cJSON_AddItemToObject(o, "ended", cJSON_Duplicate(l->ended, true));
    pthread_mutex_unlock(&l->lock);
    return o;
}

/* Answers a request: "/" is the page, "/state.json" the same data. */
static char *get(void *ctx, const char *path, const char **type) {
    const bool is_page = strcmp(path, "/") == 0;
    if (!is_page && strcmp(path, "/state.json") != 0)
        return NULL;
    struct plan_live *l = ctx;
    cJSON *o = state_of(l);
    char *answer = is_page ? runs_page(l->title, tables, o) : cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    *type = is_page ? "text/html; charset=utf-8" : "application/json";
    return answer;
}

bool plan_live_open(const struct cli *c, const struct plan *p, struct plan_live **out) {
    const char *where = cli_value(c, "live");
    char err[1024] = "the host is out of memory";
    *out = NULL;
    if (!where)
        return true;
    struct plan_live *l = calloc(1, sizeof *l);
    if (l && pthread_mutex_init(&l->lock, NULL) == 0) {
        l->plan = p;
        l->started = seconds_now();
        snprintf(l->title, sizeof l->title, "Runs of heddle %s", c->command->name);
        l->left = -1;
        l->ended = cJSON_CreateArray();
        l->http = l->ended ? live_http_open(where, &(struct live_http_ops){get, l}, err, sizeof err) : NULL;
    }
    if (!l || !l->http) {
        cli_fail(c, "--live: %s", err);
        plan_live_close(l);
        return false;
    }
    if (live_http_socket(l->http))
        interrupt_remember(live_http_socket(l->http));
    fprintf(stderr, "heddle %s: live at %s until the last run ends\n", c->command->name, live_http_address(l->http));
    *out = l;
    return true;
}

void plan_live_close(struct plan_live *l) {
    if (!l)
        return;
    if (l->http && live_http_socket(l->http))
        interrupt_forget(live_http_socket(l->http));
    live_http_close(l->http);
    pthread_mutex_destroy(&l->lock);
    cJSON_Delete(l->ended);
    free(l);
}

/* Returns the place of a run among the running ones, or -1. */
static int place_of(const struct plan_live *l, int run) {
    for (int i = 0; i < l->n_running; i++)
        if (l->running[i].run == run)
            return i;
    return -1;
}

void plan_live_began(struct plan_live *l, int run) {
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    if (place_of(l, run) < 0 && l->n_running < MOST_RUNNING) {
        l->running[l->n_running].run = run;
        l->running[l->n_running++].began = seconds_now();
    }
    pthread_mutex_unlock(&l->lock);
}

static void add_number(cJSON *row, const char *name, double v) {
    if (!isnan(v))
        cJSON_AddNumberToObject(row, name, v);
}

void plan_live_ended(struct plan_live *l, int run, const struct job *j) {
    char name[256];
    if (!l)
        return;
    cJSON *row = cJSON_CreateObject();
    plan_run_name(l->plan, run, name, sizeof name);
    cJSON_AddStringToObject(row, "run", name);
    cJSON_AddStringToObject(row, "check", job_verdict(j));
    add_number(row, "cycles", job_stat(j, "gpu.cycles"));
    add_number(row, "ipc", job_stat(j, "gpu.ipc"));
    pthread_mutex_lock(&l->lock);
    int place = place_of(l, run);
    if (place >= 0) {
        add_number(row, "seconds", round(10 * (seconds_now() - l->running[place].began)) / 10);
        l->n_running--;
        memmove(&l->running[place], &l->running[place + 1], (size_t)(l->n_running - place) * sizeof l->running[0]);
    }
    l->failed += j->status != HEDDLE_OK;
    cJSON_InsertItemInArray(l->ended, 0, row);
    cJSON_DeleteItemFromArray(l->ended, LATEST);
    pthread_mutex_unlock(&l->lock);
}

void plan_live_count(struct plan_live *l, int done, int before) {
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->done = done;
    l->before = before;
    pthread_mutex_unlock(&l->lock);
}
