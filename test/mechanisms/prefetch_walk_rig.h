#ifndef TEST_PREFETCH_WALK_RIG_H
#define TEST_PREFETCH_WALK_RIG_H
/* One warp loads a list of lines of 128 bytes under a model with a prefetcher. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum walk_loads {
    WALK_WAITS, /* each load waits for the data of the load before it */
    WALK_RUNS   /* each load waits only for an addition */
};

/* With WALK_WAITS, each prefetched line arrives before the next load. */
#define WALK_IN_TIME "memory.latency=1"
/* With WALK_RUNS, all loads issue before a line arrives. */
#define WALK_TOO_LATE "memory.latency=10000", "l1.size=16384", "l1.mshrs=64"
/* An L1 of one set of 8 lines. It replaces the line that was used least recently. */
#define WALK_SMALL_L1 "l1.size=1024", "l1.ways=8"

/* The lines of a walk through 16 lines. */
#define ALL_LINES                                                                                                      \
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }

enum { WALK_LINES = 128, WALK_STATS = 16 };

struct walk_case {
    const char *set[6]; /* options; NULL after the last */
    enum walk_loads loads;
    int n;                /* number of loads */
    int line[16];         /* index of the load -> the line that it loads */
    int want[WALK_STATS]; /* expected values of the statistics */
};

static void walk_text(const struct walk_case *c, char *text, size_t size) {
    int len = snprintf(text, size,
                       ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                       ".reg .b32 %%r<16>; .reg .b64 %%a<3>;\n ld.param.u64 %%a1,[p];\n");
    for (int i = 0; i < c->n; i++) {
        len += snprintf(text + len, size - (size_t)len, " add.s64 %%a1,%%a1,%d; ld.global.u32 %%r%d,[%%a1];\n",
                        (c->line[i] - (i ? c->line[i - 1] : 0)) * 128, i);
        if (c->loads == WALK_WAITS)
            len += snprintf(text + len, size - (size_t)len, " cvt.u64.u32 %%a2,%%r%d; add.u64 %%a1,%%a1,%%a2;\n", i);
    }
    snprintf(text + len, size - (size_t)len, " ret;\n}\n");
}

/* Runs the loads on a buffer of zeros, so that the loaded values change no address. Compares the statistics `names`;
 * NULL after the last. */
static void walk_check(const char *model, const struct walk_case *c, const char *const *names) {
    char err[256], text[4096];
    walk_text(c, text, sizeof text);
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = c->set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, WALK_LINES * 128);
    heddle_clear(h, p, WALK_LINES * 128);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
                     HEDDLE_OK);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.accesses"), c->n);
    for (int i = 0; names[i]; i++)
        ck_assert_msg(heddle_stat(h, 0, names[i]) == c->want[i], "%s is %g, not %d", names[i],
                      heddle_stat(h, 0, names[i]), c->want[i]);
    heddle_close(h);
}
#endif
