#ifndef TEST_PATHS_RIG_H
#define TEST_PATHS_RIG_H
/* A warp of eight lanes under one reconvergence model, stepped by hand. The includer defines PATHS_OPS, the model's
 * struct reconv_ops. */
#include "test/test.h"
#include <stdio.h>

static struct reconv_cfg cfg;
static void *st;
static void setup(void) { st = NULL; }
static void teardown(void) { free(st); }

/* Returns the paths that may issue as "pc:lanes ", in the order of their lowest lanes. */
static const char *schedulable(void) {
    static char out[256];
    struct path p[MAX_PATHS];
    int n = PATHS_OPS.paths(st, p, MAX_PATHS);
    out[0] = 0;
    for (lanemask_t m = 0xff; m; m &= m - 1)
        for (int i = 0; i < n; i++)
            if (p[i].lanes & m & -m && !(p[i].lanes & ((m & -m) - 1)))
                snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x ", p[i].pc, (rowmask_t)p[i].lanes);
    return out;
}

/* Returns the id of the path at `pc`. */
static int id_at(uint32_t pc) {
    struct path p[MAX_PATHS];
    int n = PATHS_OPS.paths(st, p, MAX_PATHS);
    for (int i = 0; i < n; i++)
        if (p[i].pc == pc)
            return p[i].id;
    ck_abort_msg("nobody at %u: %s", pc, schedulable());
    return -1;
}
#endif
