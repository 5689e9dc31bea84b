/* Tests the checker on kernels with two streams. It must report the errors of a kernel at the same source locations,
 * whether the kernel is decoupled or not. */
#include "benchmarks/bench.h"
#include "test/test.h"
#include <ctype.h>

enum { BYTES = 65536, SIZE = 1 << 16 };

/* Reduces reports to their source locations. Drops the text of instructions, whose operands may be queues, and the
 * report of a deadlock, whose PCs differ. */
static void shorten(char *text) {
    char *to = text, *deadlock = strstr(text, "deadlock in kernel");
    if (deadlock)
        *deadlock = '\0';
    while (*text) {
        char *end = text + strcspn(text, "\n"), *place = strstr(text, ".ptx:");
        size_t keep = (size_t)(end - text);
        if (place && place < end)
            for (keep = (size_t)(place - text) + 5; isdigit(text[keep]) || text[keep] == ':';)
                keep++;
        memmove(to, text, keep);
        to += keep;
        *to++ = '\n';
        text = end + (*end == '\n');
    }
    *to = '\0';
}

/* Runs the kernel with CTAs of 64 threads. Returns true if the kernel was decoupled. */
static bool run(const char *file, const char *kernel, const char *model, uint32_t blocks, char *text,
                enum heddle_status *status) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .check = true, .threads = 1, .cycle_limit = 10000000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, file);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t a = heddle_alloc(h, BYTES);
    if (strstr(file, "races"))
        heddle_clear(h, a, BYTES);
    const struct heddle_arg arg = BENCH_ARG(a);
    *status = heddle_launch(h, m, kernel, (struct heddle_dim){blocks, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, &arg, 1);
    snprintf(text, SIZE, "%s", heddle_error(h));
    shorten(text);
    bool decoupled = heddle_stat(h, -1, "dac.decoupled_kernels") > 0;
    heddle_close(h);
    return decoupled;
}

START_TEST(reports_are_the_same) {
    static const char *const files[] = {"test/kernels/mistakes.ptx", "test/kernels/races_sm75.ptx",
                                        "test/kernels/races_sm80.ptx"};
    static char text[2][SIZE];
    const char *name;
    int decoupled = 0, mistakes = 0;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional"}, text[0], SIZE);
    ck_assert_ptr_nonnull(h);
    struct heddle_module *m = heddle_module_file(h, files[_i]);
    ck_assert_ptr_nonnull(m);
    for (int k = 0; (name = heddle_kernel(m, k)); k++) {
        enum heddle_status s[2];
        struct heddle_param p[2];
        if (heddle_params(h, m, name, p, 2) != 1 || p[0].bytes != 8)
            continue;
        run(files[_i], name, "functional", 4, text[0], &s[0]);
        decoupled += run(files[_i], name, "functional+dac", 4, text[1], &s[1]);
        ck_assert_msg(s[0] == s[1], "%s: %d without, %d with dac:\n%.900s", name, s[0], s[1], text[1]);
        ck_assert_msg(strcmp(text[0], text[1]) == 0, "%s: without:\n%.900s\nwith dac:\n%.900s", name, text[0], text[1]);
        mistakes += s[0] != HEDDLE_OK;
    }
    heddle_close(h);
    ck_assert_msg(decoupled > 3 && mistakes > 3, "%d decoupled, %d mistakes", decoupled, mistakes);
}
END_TEST

SUITE(mechanisms_dac_check) { TEST_LOOP(reports_are_the_same, 0, 3); }
