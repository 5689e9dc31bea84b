/* Tests the watch callback. It is called at the beginning and at the end of a launch, and at most five times a second
 * in between. */
#include "host/watch.h"
#include "host/progress.h"
#include "isa/machine/launch.h"
#include "test/test.h"
#include <time.h>

static struct program program = {.name = "k"};
static const struct launch launch = {.program = &program, .grid = {4, 3, 2}, .block = {32, 2, 1}};
static struct heddle_view seen[16];
static int views;

static void note(void *ctx, const struct heddle_view *v) {
    ck_assert_ptr_eq(ctx, &views);
    seen[views++ % 16] = *v;
}

START_TEST(nobody_is_told_nothing) {
    struct watcher w = {0};
    watch_begin(&w, 3, &launch);
    ck_assert(!watch_due(&w)); /* without a callback, the clock is not read */
    watch_end(&w, 24);
    const struct watcher untouched = {0};
    ck_assert_int_eq(memcmp(&w, &untouched, sizeof w), 0);
}
END_TEST

/* The grid has 4 x 3 x 2 CTAs. After a call, the next call comes at the earliest a fifth of a second later. */
START_TEST(a_fifth_of_a_second_is_between) {
    struct watcher w = {.told = note, .ctx = &views};
    ck_assert(watch_due(&w));
    watch_begin(&w, 3, &launch);
    ck_assert_int_eq(views, 1);
    ck_assert_int_eq(seen[0].launch, 3);
    ck_assert_str_eq(seen[0].kernel, "k");
    ck_assert_uint_eq(seen[0].ctas, 24);
    ck_assert_uint_eq(seen[0].grid.y, 3);
    ck_assert(!seen[0].ended);
    double began = seconds_now();
    int early = 0;
    while (seconds_now() - began < 0.19)
        early += watch_due(&w) && seconds_now() - began < 0.19;
    ck_assert_int_eq(early, 0);
    nanosleep(&(struct timespec){0, 20 * 1000000}, NULL);
    ck_assert(watch_due(&w));
    watch_ctas(&w, 7);
    ck_assert_int_eq(views, 2);
    ck_assert_uint_eq(seen[1].ctas_done, 7);
    ck_assert(!watch_due(&w));
    watch_end(&w, 24);
    ck_assert_int_eq(views, 3);
    ck_assert(seen[2].ended && seen[2].ctas_done == 24);
}
END_TEST

/* In a long run the callback is called at most five times a second, so its cost is small. */
static const char endless[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r;\n"
                              "mov.u32 %r,0;\nL: add.u32 %r,%r,1; bra L;\n}\n";

START_TEST(views_follow_the_clock) {
    char err[256];
    views = 0;
    struct heddle_options o = {.model = "spe", .watch = note, .watch_ctx = &views, .cycle_limit = 300000};
    double began = seconds_now();
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", endless, sizeof endless - 1);
    ck_assert_ptr_nonnull(m);
    heddle_launch(h, m, "k", (struct heddle_dim){64, 1, 1}, (struct heddle_dim){256, 1, 1}, 0, NULL, 0);
    double seconds = seconds_now() - began;
    heddle_close(h);
    /* at most: one call at the beginning, one at the end, one for the last interval, and one for each fifth of a
     * second */
    ck_assert_msg(views >= 2 && views <= 3 + 5 * seconds, "%d views in %g s", views, seconds);
}
END_TEST

SUITE(host_watch) {
    TEST(nobody_is_told_nothing);
    TEST(a_fifth_of_a_second_is_between);
    TEST(views_follow_the_clock);
}
