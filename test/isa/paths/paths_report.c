/* Tests what deadlock reports say about mbarriers. The functional and the timed models print the same text. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

/* Thread 0 initialises the mbarrier for 3 arrivals, arrives once and announces 128 bytes. Then all threads wait. */
static const char kernel[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .pred %%p; .reg .b32 %%t,%%a; .reg .b64 %%d; .shared .align 64 .b8 s[128];\n"
    "mov.u32 %%t,%%tid.x; mov.u32 %%a,s; add.u32 %%a,%%a,64; cvta.shared.u64 %%d,s; setp.ne.u32 %%p,%%t,0;\n"
    "@!%%p mbarrier.init.shared.b64 [%%a],3; bar.sync 0;\n"
    "@!%%p mbarrier.arrive.expect_tx.shared.b64 _,[%%a],128; bar.sync 0;\n"
    "%s\n"
    "ret;\n}\n";
static const struct {
    const char *wait, *place;
} waits[] = {
    {"W: mbarrier.try_wait.parity.shared.b64 %p,[%a],0; @!%p bra W;", "at shared 0x40"},
    {"W: nanosleep.u32 20; mbarrier.test_wait.parity.b64 %p,[%d+64],0; @!%p bra W;", "at shared 0x40"},
};
static const char *const models[] = {"functional", "its"};

static void report(const char *model, const char *wait, char *error, size_t size) {
    static const char *const set[] = {"deadlock.cycles=10000", NULL};
    char text[1536];
    snprintf(text, sizeof text, kernel, wait);
    const struct heddle_options options = {.model = model, .set = set, .cycle_limit = 20000};
    struct heddle *h = heddle_open(&options, error, size);
    ck_assert_msg(h != NULL, "%s", error);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const uint64_t p = 0;
    const struct heddle_arg arg = {&p, sizeof p};
    const enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, &arg, 1);
    snprintf(error, size, "%s", heddle_error(h));
    heddle_close(h);
    ck_assert_msg(s == HEDDLE_DEADLOCK, "%s: %d %s", model, s, error);
}

START_TEST(names_mbarriers) {
    char error[4096], says[160];
    report(models[_i], waits[_i].wait, error, sizeof error);
    snprintf(says, sizeof says,
             "waits for phase 0 of the mbarrier %s: 2 of 3 arrivals and 128 bytes of transactions are pending",
             waits[_i].place);
    EXPECT(occurrences(error, says) == 2, "%s: %s", models[_i], error); /* both warps wait */
    EXPECT(strstr(error, "t.ptx:9") != NULL, "%s: %s", models[_i], error);
}
END_TEST

/* A phase that has ended is not named: these threads spin on a word of memory. */
START_TEST(names_no_other_loop) {
    char error[4096];
    report(models[_i],
           "mov.u64 %d,0; W: mbarrier.test_wait.parity.shared.b64 %p,[%a],1; ld.shared.u32 %t,[s]; "
           "setp.ne.u32 %p,%t,0; @!%p bra W;",
           error, sizeof error);
    EXPECT(!strstr(error, "mbarrier at"), "%s: %s", models[_i], error);
}
END_TEST

SUITE(isa_paths_report) {
    TEST_LOOP(names_mbarriers, 0, 2);
    TEST_LOOP(names_no_other_loop, 0, 2);
}
