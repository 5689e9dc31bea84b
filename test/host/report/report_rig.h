#ifndef TEST_REPORT_RIG_H
#define TEST_REPORT_RIG_H
/* Fixture for tests of parts of a report. The tests make the database rows themselves, and need no plots. */
#include "host/report/report.h"
#include "test/test.h"
#include <math.h>
#include <unistd.h>

#define T(text) ((char[]){text}) /* writable text */

/* The functions below are noinline, because gcc 12 otherwise confuses the buffer of open_memstream() with the pointer
 * to it, and warns. */

/* Returns the text that `write` writes to the page. The caller frees it. */
__attribute__((noinline, unused)) static char *page(struct report *r, bool (*write)(struct report *r)) {
    char *text = NULL;
    size_t len;
    r->out = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(r->out);
    bool fine = write(r);
    fclose(r->out);
    ck_assert_msg(fine, "%s", r->err);
    return text;
}

__attribute__((noinline, unused)) static void says(const char *text, const char *what) {
    ck_assert_msg(strstr(text, what) != NULL, "%s: %s", what, text);
}

__attribute__((noinline, unused)) static struct result_row row_of(char *program, char **machine_options,
                                                                  double *values) {
    static char nothing[] = "", model[] = "spe", preset[] = "fermi", size[] = "small";
    return (struct result_row){.program = program,
                               .size = size,
                               .model = model,
                               .preset = preset,
                               .verdict = nothing,
                               .version = nothing,
                               .binary = nothing,
                               .ended = nothing,
                               .hash = nothing,
                               .key = nothing,
                               .launch = -1,
                               .options = machine_options,
                               .values = values};
}

/* Checks the table row of run `name`: the numbers, which are in the attributes data-v with nine digits, and the last
 * cell if `last` is not NULL. */
__attribute__((noinline, unused)) static void row_is(const char *text, const char *name, const double *numbers, int n,
                                                     const char *last) {
    char row[2048], want[64];
    const char *at;
    snprintf(row, sizeof row, "<tr><td>%s</td>", name);
    ck_assert_msg((at = strstr(text, row)) != NULL, "%s: %s", row, text);
    snprintf(row, sizeof row, "%.*s", (int)(strstr(at, "</tr>") - at), at);
    at = row;
    for (int i = 0; i < n; i++) {
        snprintf(want, sizeof want, "data-v=\"%.9g\"", numbers[i]);
        if (isnan(numbers[i]))
            strcpy(want, "data-v=\"\"");
        at = strstr(at, "data-v=");
        ck_assert_msg(at && strncmp(at, want, strlen(want)) == 0, "%d: not %s in %s", i, want, row);
        at++;
    }
    if (!last)
        return;
    snprintf(want, sizeof want, "<td>%s</td>", last);
    ck_assert_msg(strcmp(row + strlen(row) - strlen(want), want) == 0, "no %s at the end of %s", want, row);
}

/* A database of runs in a temporary file. */
struct report_rig {
    char path[64];
    int runs; /* number of runs; each run has another machine */
    struct results_db *db;
    struct result_set set;
};

__attribute__((noinline, unused)) static void rig_open(struct report_rig *g) {
    char err[1024];
    g->runs = 0;
    strcpy(g->path, "/tmp/heddle_report_XXXXXX");
    int fd = mkstemp(g->path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(g->path);
    g->db = results_open(g->path, true, err, sizeof err);
    ck_assert_msg(g->db != NULL, "%s", err);
}

/* Adds a run with these results. */
__attribute__((noinline, unused)) static void rig_add(struct report_rig *g, const char *program, const char *model,
                                                      const char *json) {
    char err[1024], latency[32];
    const char *const set[] = {latency, NULL};
    struct run_machine m;
    snprintf(latency, sizeof latency, "l1.latency=%d", 10 + g->runs++);
    cJSON *result = cJSON_Parse(json);
    ck_assert_msg(result != NULL, "%s", json);
    ck_assert(run_machine_find(&m, &(struct heddle_options){.model = model, .set = set}, err, sizeof err));
    struct run_what w = {.program = program, .size = "small", .program_hash = "p", .binary = "b", .machine = &m};
    struct run_end e = {HEDDLE_OK, "pass", NULL, result};
    ck_assert_msg(results_add(g->db, &w, &e, "heddle sweep", err, sizeof err), "%s", err);
    run_machine_free(&m);
    cJSON_Delete(result);
}

/* Closes the rig, and returns the text that `write` writes about all added runs, in the order in which they were added.
 * The caller frees the text. */
__attribute__((noinline, unused)) static char *rig_page(struct report_rig *g, bool (*write)(struct report *r)) {
    enum { MOST_ROWS = 64 };
    char err[1024];
    const struct result_row *of[MOST_ROWS];
    ck_assert_msg(results_load(g->db, false, &g->set, err, sizeof err), "%s", err);
    ck_assert_int_le(g->set.n, MOST_ROWS);
    for (int i = 0; i < g->set.n; i++)
        of[i] = &g->set.rows[i];
    struct report r = {.db = g->db, .set = &g->set, .rows = of, .n = g->set.n};
    char *text = page(&r, write);
    result_set_free(&g->set);
    results_close(g->db);
    unlink(g->path);
    return text;
}
#endif
