/* Records the paths of the first warp of each kernel, for reports. */
#include "host/context.h"
#include "host/paths.h"
#include "job.h"
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENTS = 40, /* maximum number of segments in the drawing of one kernel, since a page has many drawings */
    /* maximum number of launches of a kernel that are recorded in search of a warp that diverges */
    TRIES = 8,
    LIMIT = 1000 * 1000000 /* limit of warp instructions of a launch, in case a loop waits for the clock */
};

struct album {
    struct heddle *h;
    cJSON *kernels; /* by name: {"tries", "paths"} */
};

/* Decides before a launch whether to record its paths. Keeps the recorded paths after the launch. */
static void on_view(void *ctx, const struct heddle_view *v) {
    struct album *a = ctx;
    cJSON *k = cJSON_GetObjectItemCaseSensitive(a->kernels, v->kernel);
    cJSON *tries = cJSON_GetObjectItemCaseSensitive(k, "tries");
    bool wanted = !k || (tries->valuedouble < TRIES && !paths_part(cJSON_GetObjectItemCaseSensitive(k, "paths")));
    if (!v->ended) {
        heddle_record_paths(a->h, wanted ? 0 : HEDDLE_NO_WARP);
        return;
    }
    cJSON *paths = wanted ? recorded_paths_json(a->h, SEGMENTS) : NULL;
    if (!paths)
        return;
    if (!k) {
        k = cJSON_AddObjectToObject(a->kernels, v->kernel);
        tries = cJSON_AddNumberToObject(k, "tries", 0);
    }
    if (tries)
        cJSON_SetNumberValue(tries, tries->valuedouble + 1);
    if (paths_part(paths) || !cJSON_HasObjectItem(k, "paths")) {
        cJSON_DeleteItemFromObjectCaseSensitive(k, "paths");
        cJSON_AddItemToObject(k, "paths", paths);
    } else {
        cJSON_Delete(paths);
    }
}

/* Opens a context of the functional model. The base of the job's model becomes the first assignment reconv=BASE, so
 * that an assignment by the user can replace it. */
static struct heddle *open_functional(const struct heddle_options *of, struct album *a) {
    const char *model = of->model ? of->model : MODEL_DEFAULT;
    struct heddle_options o = *of;
    char *reconv = NULL, err[1024];
    int n = 0;
    while (of->set && of->set[n])
        n++;
    const char **set = calloc((size_t)n + 2, sizeof *set);
    struct heddle *h = NULL;
    if (set && asprintf(&reconv, "reconv=%.*s", (int)strcspn(model, "+"), model) >= 0) {
        set[0] = reconv;
        for (int i = 0; i < n; i++)
            set[1 + i] = of->set[i];
        o.model = "functional";
        o.set = set;
        o.cycle_limit = LIMIT;
        o.trace = o.samples = NULL;
        o.profile = o.progress = false;
        o.checkpoint = o.time_launches = NULL;
        o.watch = on_view;
        o.watch_ctx = a;
        h = heddle_open(&o, err, sizeof err);
    }
    free(reconv);
    free(set);
    return h;
}

/* Runs the job again to record paths, and adds them to the job's profile. The repeated run discards the output of
 * kernels, because the first run has already printed it. */
void job_add_paths(struct job *j, void (*again)(struct job *j, struct heddle *h)) {
    cJSON *k, *profile = cJSON_GetObjectItemCaseSensitive(j->result, "profile");
    struct album a = {.kernels = cJSON_CreateObject()};
    struct job copy = {.bench = j->bench, .size = j->size, .options = j->options};
    FILE *nowhere = fopen("/dev/null", "w");
    copy.options.device_stdout = nowhere;
    a.h = profile && a.kernels && nowhere ? open_functional(&copy.options, &a) : NULL;
    if (a.h)
        again(&copy, a.h);
    heddle_close(a.h);
    if (nowhere)
        fclose(nowhere);
    cJSON_ArrayForEach(k, profile) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(k, "kernel"));
        cJSON *own = name ? cJSON_GetObjectItemCaseSensitive(a.kernels, name) : NULL;
        cJSON *paths = cJSON_DetachItemFromObjectCaseSensitive(own, "paths");
        if (paths)
            cJSON_AddItemToObject(k, "paths", paths);
    }
    cJSON_Delete(a.kernels);
}
