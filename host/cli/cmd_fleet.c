/* heddle results QUEUE --progress --live: a web page about all processes that work on a queue. Each request reads the
 * queue, so the page needs no connection to the processes. */
#include "cmd.h"
#include "host/html.h"
#include "host/live/live_parts.h"
#include "host/report/interrupt.h"
#include "host/results/results_queue.h"
#include "work.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The tables of one HTTP response. */
struct fleet {
    FILE *rows[2];  /* HTML: processes; runs that were given up */
    cJSON *list[2]; /* the same as JSON */
};

static void add_lost(void *ctx, long long number, const char *key, const char *message) {
    struct fleet *f = ctx;
    char line[512];
    (void)key;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(message, "\n"), message);
    fprintf(f->rows[1], "<tr><td class=n>%lld<td>", number);
    html_text(f->rows[1], line);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "run", (double)number);
    cJSON_AddStringToObject(o, "message", line);
    cJSON_AddItemToArray(f->list[1], o);
}

static void add_owner(void *ctx, const char *place, long long pid, long long claims, long long age) {
    struct fleet *f = ctx;
    char host[128];
    snprintf(host, sizeof host, "%.*s", pid ? (int)strcspn(place, " ") : 127, place);
    fputs("<tr><td>", f->rows[0]);
    html_text(f->rows[0], host);
    fprintf(f->rows[0], "<td class=n>%lld<td class=n>%lld<td class=n>%lld", pid, claims, age);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "host", host);
    cJSON_AddNumberToObject(o, "process", (double)pid);
    cJSON_AddNumberToObject(o, "runs", (double)claims);
    cJSON_AddNumberToObject(o, "seconds", (double)age);
    cJSON_AddItemToArray(f->list[0], o);
}

static char *page(const struct queue_state *q, const char *const rows[2]) {
    char *text = NULL, line[PROGRESS_LINE];
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    results_progress(q, line);
    html_begin(out, "Heddle: a queue");
    fputs("<meta http-equiv=refresh content=5><style>progress{width:24em}</style>", out); /* reload in 5 seconds */
    fprintf(out, "<p><progress max=%lld value=%lld></progress><p id=line>", q->done + q->left + q->given_up, q->done);
    html_text(out, line);
    fprintf(out,
            "<h2>Processes</h2><table><thead><tr><th>host<th>process<th>runs taken<th>seconds since renewal<tbody>%s"
            "</table>\n<h2>Runs given up</h2><table><thead><tr><th>run<th>reason<tbody>%s</table>\n",
            rows[0], rows[1]);
    html_end(out);
    return fclose(out) == 0 ? text : NULL;
}

static char *json(const struct queue_state *q, struct fleet *f) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "done", (double)q->done);
    cJSON_AddNumberToObject(o, "failed", (double)q->bad);
    cJSON_AddNumberToObject(o, "left", (double)q->left);
    cJSON_AddNumberToObject(o, "given_up", (double)q->given_up);
    cJSON_AddNumberToObject(o, "per_second", q->rate);
    if (cJSON_AddItemToObject(o, "processes", f->list[0]))
        f->list[0] = NULL;
    if (cJSON_AddItemToObject(o, "lost", f->list[1]))
        f->list[1] = NULL;
    char *text = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    return text;
}

/* Answers a request: "/" is the page, "/state.json" the same data. `ctx` is the path of the queue. */
static char *get(void *ctx, const char *path, const char **type) {
    const bool is_page = strcmp(path, "/") == 0;
    char err[256], *rows[2] = {NULL, NULL}, *answer = NULL;
    size_t len[2];
    struct queue_state q;
    if (!is_page && strcmp(path, "/state.json") != 0)
        return NULL;
    struct results_db *db = results_open(ctx, false, err, sizeof err);
    struct fleet f = {{open_memstream(&rows[0], &len[0]), open_memstream(&rows[1], &len[1])},
                      {cJSON_CreateArray(), cJSON_CreateArray()}};
    bool fine = db && f.rows[0] && f.rows[1] && queue_count(db, &q, err, sizeof err) &&
                queue_list(db, add_lost, add_owner, &f, err, sizeof err);
    for (int i = 0; i < 2; i++)
        fine = f.rows[i] && fclose(f.rows[i]) == 0 && fine;
    if (fine)
        answer = is_page ? page(&q, (const char *const *)rows) : json(&q, &f);
    for (int i = 0; i < 2; i++) {
        cJSON_Delete(f.list[i]);
        free(rows[i]);
    }
    results_close(db);
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
