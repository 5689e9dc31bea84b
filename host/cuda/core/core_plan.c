/* Keeps the plan of a sampled simulation (heddle_plan_new()) in the file that HEDDLE_PLAN names, because 'heddle exec
 * --sampled' runs the program several times. */
#include "core_base.h"
#include "core_report.h"
#include <stdlib.h>
#include <unistd.h>

struct heddle_plan *cuda_open_plan(void) {
    const char *path = getenv("HEDDLE_PLAN"), *error = getenv("HEDDLE_PLAN_ERROR");
    struct cuda_core *r = &cuda_core;
    if (!path || !*path || r->plan)
        return NULL;
    FILE *f = fopen(path, "rb");
    r->plan = f ? heddle_plan_read(f) : NULL;
    if (f)
        fclose(f);
    if (!r->plan) /* the file is empty: this run is the first */
        r->plan = heddle_plan_new(error ? strtod(error, NULL) : 0);
    return r->plan;
}

void cuda_settle_plan(void) {
    const char *path = getenv("HEDDLE_PLAN");
    bool more = false;
    if (!cuda_core.plan || !path)
        return;
    if (heddle_plan_settle(cuda_core.h, &more) != HEDDLE_OK)
        fprintf(stderr, "heddle: %s", heddle_error(cuda_core.h));
    const char *last = getenv("HEDDLE_PLAN_LAST");
    if (last && *last) {
        unlink(path);
        return;
    }
    FILE *f = fopen(path, "wb");
    const bool written = f && heddle_plan_write(cuda_core.plan, f);
    if (!written || fclose(f) != 0)
        fprintf(stderr, "heddle: HEDDLE_PLAN=%s cannot be written\n", path);
}
