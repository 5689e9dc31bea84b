#ifndef TEST_TIMING_SM_FLOAT_RIG_H
#define TEST_TIMING_SM_FLOAT_RIG_H
/* Test fixture: a kernel over floats in one CTA on configs/tiny.cfg: one SM, one scheduler, fixed memory, no
 * instruction cache. */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

enum { FLOATS = 96 };
struct outcome {
    struct heddle *h; /* the caller closes it */
    float out[FLOATS];
};

/* Runs kernel k(out, in). Its text is `format`, in which `body` replaces %s. */
__attribute__((format(printf, 4, 0))) static inline struct outcome run_floats(const char *model, const char *const *set,
                                                                              struct heddle_dim block,
                                                                              const char *format, const char *body,
                                                                              const float in[FLOATS]) {
    char err[512] = "", text[8192];
    struct outcome o = {
        .h = heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err)};
    ck_assert_msg(o.h != NULL, "%s", err);
    snprintf(text, sizeof text, format, body);
    struct heddle_module *m = heddle_module_text(o.h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(o.h));
    uint64_t to = heddle_alloc(o.h, sizeof o.out), from = heddle_alloc(o.h, sizeof o.out);
    ck_assert_int_eq(heddle_write(o.h, from, in, sizeof o.out), HEDDLE_OK);
    struct heddle_arg args[] = {{&to, 8}, {&from, 8}};
    ck_assert_msg(heddle_launch(o.h, m, "k", (struct heddle_dim){1, 1, 1}, block, 0, args, 2) == HEDDLE_OK, "%s",
                  heddle_error(o.h));
    ck_assert_int_eq(heddle_read(o.h, to, o.out, sizeof o.out), HEDDLE_OK);
    return o;
}

static inline double stat(const struct outcome *o, const char *name) {
    double v = heddle_stat(o->h, 0, name);
    ck_assert_msg(!isnan(v), "%s", name);
    return v;
}

/* Returns the cycles of the launch, and closes the context. */
static inline double cycles_of(struct outcome o) {
    double n = stat(&o, "gpu.cycles");
    heddle_close(o.h);
    return n;
}
#endif
