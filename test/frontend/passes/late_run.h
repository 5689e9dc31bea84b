#ifndef TEST_FRONTEND_PASSES_LATE_RUN_H
#define TEST_FRONTEND_PASSES_LATE_RUN_H
/* Runs a kernel k(.param .u64 p, .param .u32 n) with core.check=on, so that results arrive as late as the control bits
 * allow. By default, without the instructions of core.entry. */
#include "host/context.h"
#include "test/test.h"
#include <string.h>

struct late_run {
    const char *text, *config, *model, *option;
    uint32_t ctas, threads, n; /* n: the second argument */
    uint32_t words, result;    /* number of words that p points to, and the offset in bytes of the words to read */
};

/* Writes out[] to p, launches the kernel and reads as many words at p + result into out[]. Stores the kernel's program.
 * The caller closes the result. */
static inline struct heddle *late_run(const struct late_run *r, uint32_t *out, const struct program **p) {
    char err[512];
    const char *const set[] = {"core.check=on", "core.entry=0", r->option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = r->model, .config = r->config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", r->text, strlen(r->text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const uint64_t bytes = r->words * sizeof *out, at = heddle_alloc(h, r->result + bytes);
    const struct heddle_arg args[] = {{&at, 8}, {&r->n, 4}};
    ck_assert_int_eq(heddle_write(h, at, out, bytes), HEDDLE_OK);
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){r->ctas, 1, 1}, (struct heddle_dim){r->threads, 1, 1}, 0,
                                args, 2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, at + r->result, out, bytes), HEDDLE_OK);
    *p = module_program(h, m, "k");
    ck_assert_ptr_nonnull(*p);
    return h;
}
#endif
