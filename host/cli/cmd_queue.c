/* heddle sweep --queue: lists the runs of a sweep in a queue. */
#include "host/results/results_queue.h"
#include "input.h"
#include "sweep.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct words {
    char **list;
    int n;
    bool fine;
};

static void put_word(void *ctx, const char *word) {
    struct words *w = ctx;
    char **more = w->fine ? realloc(w->list, (size_t)(w->n + 2) * sizeof *more) : NULL;
    w->fine = more != NULL;
    if (!more)
        return;
    w->list = more;
    w->fine = (more[w->n++] = strdup(word)) != NULL;
    more[w->n] = NULL;
}

/* Adds all runs of the sweep to the queue, inside a transaction. */
static bool put_all(struct sweep *s, struct results_db *db, const struct queue_plan *p, long long *done, char *err,
                    size_t err_size) {
    enum { SOME = 4096 }; /* the plan is emptied after this many runs */
    struct queue_item item;
    bool fine = queue_make(db, err, err_size) && queue_plan_add(db, p, &item.plan, err, err_size);
    *done = 0;
    for (item.number = 0; fine && item.number < s->runs; item.number++) {
        int run = sweep_add(s, item.number, err, err_size);
        fine = run >= 0;
        if (!fine)
            break;
        memcpy(item.key, s->plan.runs[run].key, sizeof item.key);
        int put = queue_put(db, &item, err, err_size);
        fine = put >= 0;
        *done += put == 0;
        if (s->plan.n_runs >= SOME)
            plan_clear(&s->plan);
    }
    return fine;
}

enum heddle_status sweep_queue(struct sweep *s, const char *file) {
    char err[1024], folder[PATH_MAX];
    struct words words = {.fine = true};
    struct queue_plan p = {.folder = folder};
    struct queue_state state = {0};
    long long done = 0;
    if (cli_input_copied(s->c))
        return cli_fail(s->c, "--queue: workers cannot read a pipe of this command; write it to a file first");
    if (!getcwd(folder, sizeof folder))
        return cli_fail(s->c, "this folder: %s", strerror(errno));
    put_word(&words, "heddle");
    put_word(&words, "sweep");
    sweep_words(s->c, put_word, &words);
    p.argv = words.list;
    p.argc = words.n;
    memcpy(p.binary, s->plan.binary, sizeof p.binary);
    snprintf(err, sizeof err, "the host is out of memory");
    struct results_db *db = words.fine ? results_open(file, true, err, sizeof err) : NULL;
    bool fine = db && results_begin(db, err, sizeof err);
    fine = fine && results_end(db, put_all(s, db, &p, &done, err, sizeof err), err, sizeof err);
    fine = fine && queue_count(db, &state, err, sizeof err);
    results_close(db);
    for (int i = 0; i < words.n; i++)
        free(words.list[i]);
    free(words.list);
    if (!fine)
        return cli_fail(s->c, "%s", err);
    printf("%lld run%s to do in %s, %lld of this sweep already done\n", state.left, state.left == 1 ? "" : "s", file,
           done);
    return HEDDLE_OK;
}
