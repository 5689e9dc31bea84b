#ifndef TEST_ISA_SUBWARPS_RIG_H
#define TEST_ISA_SUBWARPS_RIG_H
/* Fixture: a warp of eight lanes under a subwarp model, in which one subwarp runs at a time. */
#include "test/bases.h"
#include "test/test.h"
#include <stdio.h>

static const struct reconv_ops *ops;
static struct reconv_cfg cfg;
static void *st;

static inline void teardown(void) {
    free(st);
    st = NULL;
}
/* Starts the warp under `model` with the options in `cfg`. */
static inline void start_with(const struct reconv_ops *model) {
    teardown();
    ops = model;
    st = calloc(1, ops->size(&cfg, MAX_WARP_LANES));
    ops->start(st, &cfg, 0, 0xff);
}

/* Returns the active subwarp as "pc:lanes" (lanes in hexadecimal), or "" if no subwarp is active. */
static inline const char *active(void) {
    static char out[32];
    struct path p[2];
    out[0] = 0;
    if (ops->paths(st, p, 2))
        snprintf(out, sizeof out, "%u:%x", p[0].pc, (rowmask_t)p[0].lanes);
    return out;
}
static inline int id(void) {
    struct path p[2];
    ck_assert_int_eq(ops->paths(st, p, 2), 1);
    return p[0].id;
}

/* Returns all subwarps in the order of their lowest lanes. Each is "pc:lanes" and the first letter of its state:
 * a(ctive), r(eady), b(locked), s(talled), w(aiting). */
static inline const char *all(void) {
    static char out[256];
    struct path_desc d[MAX_PATHS];
    int n = ops->describe(st, d, MAX_PATHS);
    out[0] = 0;
    for (lanemask_t m = 0xff; m; m &= m - 1)
        for (int i = 0; i < n; i++)
            if (d[i].path.lanes & m & -m && !(d[i].path.lanes & ((m & -m) - 1)))
                snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x%c ", d[i].path.pc,
                         (rowmask_t)d[i].path.lanes, d[i].state[0]);
    ck_assert_int_eq(n, ops->depth(st));
    return out;
}
#endif
