#ifndef TEST_MECHANISMS_DAC_RIG_H
#define TEST_MECHANISMS_DAC_RIG_H
/* Test fixture: small kernels on one context of a machine like Fermi, with a buffer. */
#include "host/heddle.h"
#include "test/test.h"

static struct heddle *h;
static uint64_t buffer;
enum { BUFFER = 1 << 16 };

static inline void open_with(const char *model, const char *const *set, uint64_t limit) {
    char err[512];
    if (h)
        heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .cycle_limit = limit}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    buffer = heddle_alloc(h, BUFFER);
    ck_assert_uint_eq(buffer % 128, 0);
}

static inline double stat(const char *name) { return heddle_stat(h, -1, name); }

static inline struct heddle_module *load(const char *text) {
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static inline enum heddle_status start(struct heddle_module *m, const char *kernel, uint32_t ctas, uint32_t threads,
                                       const struct heddle_arg *args, int n) {
    return heddle_launch(h, m, kernel, (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, n);
}

#define STAT(name, value) ck_assert_msg(stat(name) == (value), "%s is %g, not %g", name, stat(name), (double)(value))

static inline void teardown(void) {
    if (h)
        heddle_close(h);
    h = NULL;
}
#endif
