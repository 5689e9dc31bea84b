/* Draws the paths of one warp of each kernel, from the runs' profiles. Equal drawings of several runs appear once. */
#include "host/html.h"
#include "host/paths.h"
#include "report.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 }; /* drawings on a page */

/* A drawing of the paths in a kernel, for one program and model, with the number of runs that have this drawing. */
struct drawing {
    const struct result_row *of;
    char *kernel, *json;
    int runs;
};

struct drawings {
    struct drawing *list;
    /* n: number of drawings; whole: number of kernels, over all runs, in which the recorded warp never diverges */
    int n, whole;
    bool any;
};

static void drawings_free(struct drawings *d) {
    for (int i = 0; i < d->n; i++) {
        free(d->list[i].kernel);
        free(d->list[i].json);
    }
    free(d->list);
}

static bool same(const struct drawing *a, const struct result_row *row, const char *kernel, const char *json) {
    return strcmp(a->of->program, row->program) == 0 && strcmp(a->of->model, row->model) == 0 &&
           strcmp(a->kernel, kernel) == 0 && strcmp(a->json, json) == 0;
}

/* Adds a drawing and takes ownership of `json`. Returns false if out of memory. */
static bool add(struct drawings *d, const struct result_row *row, const char *kernel, char *json) {
    for (int i = 0; json && i < d->n; i++)
        if (same(&d->list[i], row, kernel, json)) {
            d->list[i].runs++;
            free(json);
            return true;
        }
    struct drawing *more = json ? realloc(d->list, (size_t)(d->n + 1) * sizeof *more) : NULL;
    char *name = more ? strdup(kernel) : NULL;
    if (more)
        d->list = more;
    if (!name) {
        free(json);
        return false;
    }
    d->list[d->n++] = (struct drawing){.of = row, .kernel = name, .json = json, .runs = 1};
    return true;
}

/* Adds the drawings of a run, from its profile. A kernel whose recorded warp never diverges gets no drawing. */
static bool collect(struct drawings *d, const struct result_row *row, const cJSON *profile) {
    const cJSON *k;
    cJSON_ArrayForEach(k, profile) {
        const cJSON *paths = cJSON_GetObjectItemCaseSensitive(k, "paths");
        const char *kernel = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(k, "kernel"));
        bool parts = paths_part(paths);
        d->any |= paths != NULL;
        d->whole += paths && !parts;
        if (kernel && parts && !add(d, row, kernel, cJSON_PrintUnformatted(paths)))
            return false;
    }
    return true;
}

static void draw(FILE *out, const struct drawing *d) {
    struct path_log log;
    char title[256];
    cJSON *o = cJSON_Parse(d->json);
    fputs("<details><summary>", out);
    html_text(out, d->kernel);
    fputs(" of ", out);
    html_text(out, d->of->program);
    fputs(" in ", out);
    html_text(out, d->of->model);
    fprintf(out, ", %d run%s</summary>\n<div class=wide>", d->runs, d->runs == 1 ? "" : "s");
    if (path_log_read(o, &log)) {
        snprintf(title, sizeof title, "warp 0%s", log.truncated ? ", its first segments" : "");
        path_log_svg(&log, title, out);
    }
    fputs("</div></details>\n", out);
    path_log_free(&log);
    cJSON_Delete(o);
}

bool report_paths(struct report *r) {
    struct drawings d = {0};
    bool fine = true;
    fputs("<h2 id=paths>Paths of a warp</h2>\n<p>Of the first warp of each kernel, time downwards and paths side by "
          "side, as on a machine that issues from every path at once: what the model allows, without caches and "
          "pipelines. Orange: the lanes diverge after it; green: paths have joined.</p>\n",
          r->out);
    for (int i = 0; fine && i < r->n; i++) {
        cJSON *profile;
        fine = results_profile(r->db, r->rows[i]->run, &profile, r->err, sizeof r->err);
        if (fine && !collect(&d, r->rows[i], profile)) {
            snprintf(r->err, sizeof r->err, "the host is out of memory");
            fine = false;
        }
        cJSON_Delete(profile);
    }
    for (int i = 0; fine && i < d.n && i < MOST; i++)
        draw(r->out, &d.list[i]);
    if (fine && d.n > MOST)
        fprintf(r->out, "<p>%d more %s not drawn.</p>\n", d.n - MOST, d.n - MOST == 1 ? "is" : "are");
    if (fine && d.whole)
        fprintf(r->out, "<p>In %d kernel%s of all runs the lanes of this warp stay together.</p>\n", d.whole,
                d.whole == 1 ? "" : "s");
    if (fine && !d.any)
        fputs("<p>None of the runs has them: <code>heddle sweep ... --profile</code> records them.</p>\n", r->out);
    drawings_free(&d);
    return fine;
}
