/* heddle results QUEUE --progress --live: a web page about all processes that work on a queue. Each request reads the
 * queue, so the page needs no connection to the processes. */
#include "cmd.h"
#include "host/live/live_parts.h"
#include "host/report/interrupt.h"
#include "host/results/results_queue.h"
#include "runs_page.h"
#include "work.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct runs_table tables[] = {
    {"processes", "Processes", "host process runs seconds", "host|process|runs taken|seconds since renewal"},
    {"lost", "Runs given up", "run message", "run|reason"},
    {NULL, NULL, NULL, NULL},
};

/* The lists of one HTTP response: processes, and runs that were given up. */
struct fleet {
    cJSON *owners, *lost;
};

static void add_lost(void *ctx, long long number, const char *key, const char *message) {
    const struct fleet *f = ctx;
    char line[512];
    (void)key;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(message, "\n"), message);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "run", (double)number);
    cJSON_AddStringToObject(o, "message", line);
    cJSON_AddItemToArray(f->lost, o);
}

static void add_owner(void *ctx, const char *place, long long pid, long long claims, long long age) {
    const struct fleet *f = ctx;
    char host[128], number[24];
    snprintf(host, sizeof host, "%.*s", pid ? (int)strcspn(place, " ") : 127, place);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "host", host);
    snprintf(number, sizeof number, "%lld", pid);
    cJSON_AddStringToObject(o, "process", number); /* a name, shown without separators */
    cJSON_AddNumberToObject(o, "runs", (double)claims);
    cJSON_AddNumberToObject(o, "seconds", (double)age);
    cJSON_AddItemToArray(f->owners, o);
}

/* Returns the state of the queue, or NULL if it cannot be read. */
static cJSON *state_of(const char *file) {
    char err[256], line[PROGRESS_LINE];
    struct queue_state q;
    struct results_db *db = results_open(file, false, err, sizeof err);
    cJSON *o = cJSON_CreateObject();
    struct fleet f = {cJSON_AddArrayToObject(o, "processes"), cJSON_AddArrayToObject(o, "lost")};
    if (!db || !queue_count(db, &q, err, sizeof err) || !queue_list(db, add_lost, add_owner, &f, err, sizeof err)) {
        results_close(db);
        cJSON_Delete(o);
        return NULL;
    }
    results_close(db);
    results_progress(&q, NULL, line);
    cJSON_AddStringToObject(o, "line", line);
    cJSON_AddNumberToObject(o, "done", (double)q.done);
    cJSON_AddNumberToObject(o, "total", (double)(q.done + q.left + q.given_up));
    cJSON_AddNumberToObject(o, "failed", (double)q.bad);
    cJSON_AddNumberToObject(o, "left", (double)q.left);
    cJSON_AddNumberToObject(o, "given_up", (double)q.given_up);
    cJSON_AddNumberToObject(o, "per_second", q.rate);
    return o;
}

/* Answers a request: "/" is the page, "/state.json" the same data. `ctx` is the path of the queue. */
static char *get(void *ctx, const char *path, const char **type) {
    const bool is_page = strcmp(path, "/") == 0;
    if (!is_page && strcmp(path, "/state.json") != 0)
        return NULL;
    cJSON *o = state_of(ctx);
    char *answer = !o ? NULL : is_page ? runs_page("A queue of runs", tables, o) : cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    *type = is_page ? "text/html; charset=utf-8" : "application/json";
    return answer;
}

enum heddle_status fleet_live(const struct cli *c, const char *file, const char *where) {
    char err[1024], *path = strdup(file);
    const struct timespec second = {.tv_sec = 1};
    struct queue_state q = {.left = 1};
    struct live_http *http = path ? live_http_open(where, &(struct live_http_ops){get, path}, err, sizeof err) : NULL;
    if (!http) {
        free(path);
        return cli_fail(c, "--live: %s", path ? err : "the host is out of memory");
    }
    fprintf(stderr, "heddle results: live at %s until no run is left\n", live_http_address(http));
    if (live_http_socket(http))
        interrupt_remember(live_http_socket(http));
    interrupt_guard(NULL);
    bool fine = true;
    while (fine && q.left && !interrupt_signal()) {
        nanosleep(&second, NULL);
        struct results_db *db = results_open(path, false, err, sizeof err);
        fine = db && queue_count(db, &q, err, sizeof err);
        results_close(db);
    }
    if (live_http_socket(http))
        interrupt_forget(live_http_socket(http));
    live_http_close(http);
    interrupt_unguard();
    free(path);
    return fine ? HEDDLE_OK : cli_fail(c, "%s", err);
}
