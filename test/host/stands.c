/* Tests heddle_options.stands: launches that continue while every CTA repeats its states, because the callback writes
 * the word for which the kernel waits, or runs a kernel that writes it. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <string.h>

/* Waits for the values 1 and 2 of the first word, one after the other. Answers each with the same value in the second
 * word. */
static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                           ".reg .b32 %r<3>; .reg .b64 %a; .reg .pred %q;\nld.param.u64 %a,[p];\nmov.u32 %r2,1;\n"
                           "L: ld.volatile.global.u32 %r1,[%a]; setp.ne.u32 %q,%r1,%r2; @%q bra L;\n"
                           "st.volatile.global.u32 [%a+4],%r1; add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,3; @%q bra L;\n"
                           "ret;\n}\n"
                           ".visible .entry set(.param .u64 p, .param .u32 v)\n{\n.reg .b32 %r; .reg .b64 %a;\n"
                           "ld.param.u64 %a,[p]; ld.param.u32 %r,[v]; st.volatile.global.u32 [%a],%r; ret;\n}\n";
static const char *const models[] = {"functional", "spe", "dpe", "dws", "its", "si"};

struct host {
    volatile uint32_t *words;
    int calls, firsts, gives_up_at; /* gives_up_at: the call that returns false; 0: none */
};

/* Writes the next value in the third call about each wait. */
static bool stands(void *ctx, bool first) {
    struct host *host = ctx;
    host->calls++;
    host->firsts += first;
    if (host->calls == host->gives_up_at)
        return false;
    if (host->calls == 3 || host->calls == 6)
        host->words[0]++;
    return true;
}

static enum heddle_status run(struct host *host, const char *model, uint32_t threads, char error[2048]) {
    const struct heddle_options o = {
        .model = model, .config = "fermi", .threads = threads, .stands = stands, .stands_ctx = host};
    struct heddle *h = heddle_open(&o, error, 2048);
    ck_assert_msg(h != NULL, "%s", error);
    uint64_t at = heddle_alloc_shared(h, 8);
    host->words = (volatile uint32_t *)(uintptr_t)at;
    host->words[0] = host->words[1] = 0;
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0,
                                         &(struct heddle_arg){&at, 8}, 1);
    snprintf(error, 2048, "%s", heddle_error(h));
    host->gives_up_at = (int)host->words[1]; /* the last answer */
    heddle_close(h);
    return s;
}

/* The kernel makes progress once between the two waits, so two calls are the first ones. */
START_TEST(a_launch_goes_on_when_memory_changes) {
    char error[2048];
    struct host host = {0};
    ck_assert_msg(run(&host, models[_i], 1, error) == HEDDLE_OK, "%s: %s", models[_i], error);
    ck_assert_int_eq(host.gives_up_at, 2);
    ck_assert_int_eq(host.firsts, 2);
    ck_assert_int_ge(host.calls, 6);
}
END_TEST

START_TEST(a_launch_ends_when_the_callback_says_so) {
    char error[2048];
    struct host host = {.gives_up_at = 2};
    ck_assert_int_eq(run(&host, models[_i], 2, error), HEDDLE_DEADLOCK);
    ck_assert_int_eq(host.calls, 2);
    ck_assert_int_eq(host.firsts, 1);
    ck_assert_ptr_nonnull(strstr(error, "deadlock"));
}
END_TEST

struct two {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t at;
    uint32_t value;
    enum heddle_status status;
};

static enum heddle_status launch(struct two *t, const char *kernel, int n) {
    const struct heddle_arg args[] = {{&t->at, 8}, {&t->value, 4}};
    return heddle_launch(t->h, t->m, kernel, (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, args, n);
}

/* Runs the kernel that writes the next value. */
static bool runs_set(void *ctx, bool first) {
    struct two *t = ctx;
    if (first)
        t->value++;
    if (first && t->status == HEDDLE_OK)
        t->status = launch(t, "set", 2);
    return true;
}

/* The callback runs `set` twice while `k` waits. `set` executes 4 warp instructions, which do not count for `k`. In a
 * timing model `set` runs without statistics. `k` executes its 2 first instructions, its last, and 5 or more in each
 * of its two rounds. */
START_TEST(the_callback_runs_another_launch) {
    char error[2048];
    struct two t = {.status = HEDDLE_OK};
    const bool timed = strcmp(models[_i], "functional") != 0;
    const struct heddle_options o = {
        .model = models[_i], .config = "fermi", .threads = 2, .stands = runs_set, .stands_ctx = &t};
    ck_assert_msg((t.h = heddle_open(&o, error, sizeof error)) != NULL, "%s", error);
    uint32_t words[2] = {0, 0};
    t.at = heddle_alloc(t.h, sizeof words);
    ck_assert_int_eq(heddle_write(t.h, t.at, words, sizeof words), HEDDLE_OK);
    ck_assert_msg((t.m = heddle_module_text(t.h, "t.ptx", text, strlen(text))) != NULL, "%s", heddle_error(t.h));
    ck_assert_msg(launch(&t, "k", 1) == HEDDLE_OK, "%s: %s", models[_i], heddle_error(t.h));
    ck_assert_int_eq(t.status, HEDDLE_OK);
    ck_assert_int_eq(heddle_read(t.h, t.at, words, sizeof words), HEDDLE_OK);
    ck_assert_int_eq((int)words[1], 2);
    ck_assert_int_eq(heddle_launches(t.h), timed ? 1 : 3);
    for (int i = 0; !timed && i < 2; i++) {
        ck_assert_str_eq(heddle_launch_kernel(t.h, i), "set");
        ck_assert_double_eq(heddle_stat(t.h, i, "gpu.warp_instructions"), 4);
    }
    ck_assert_str_eq(heddle_launch_kernel(t.h, timed ? 0 : 2), "k");
    ck_assert_double_ge(heddle_stat(t.h, timed ? 0 : 2, "gpu.warp_instructions"), 13);
    ck_assert_double_eq(heddle_stat(t.h, timed ? 0 : 2, "gpu.ctas"), 1);
    heddle_close(t.h);
}
END_TEST

/* Two warps. Thread 0 reads the word once in each round, and hands it to the others in shared memory, between two
 * barriers. All threads leave after the values 1 and 2. So the CTA never repeats its steps exactly: each round writes
 * shared memory. */
static const char rounds[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %a; .reg .pred %q; .shared .b32 s;\n"
    "ld.param.u64 %a,[p]; mov.u32 %r2,1; mov.u32 %r3,%tid.x;\n"
    "L: setp.ne.u32 %q,%r3,0; @%q bra W; ld.volatile.global.u32 %r1,[%a]; st.shared.u32 [s],%r1;\n"
    "W: bar.sync 0; ld.shared.u32 %r4,[s]; bar.sync 0; setp.ne.u32 %q,%r4,%r2; @%q bra L;\n"
    "st.volatile.global.u32 [%a+4],%r4; add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,3; @%q bra L;\n"
    "ret;\n}\n";

/* Runs `rounds` on memory of the host, or of the device, up to `limit` cycles or warp instructions. */
static enum heddle_status run_rounds(struct host *host, const char *model, bool on_host, uint64_t limit,
                                     uint32_t words[2]) {
    char error[2048];
    const char *const set[] = {"deadlock.cycles=10000", NULL};
    const struct heddle_options o = {.model = model,
                                     .config = "fermi",
                                     .set = set,
                                     .threads = 2,
                                     .cycle_limit = limit,
                                     .stands = stands,
                                     .stands_ctx = host};
    struct heddle *h = heddle_open(&o, error, sizeof error);
    ck_assert_msg(h != NULL, "%s", error);
    const uint64_t at = on_host ? heddle_alloc_shared(h, 8) : heddle_alloc(h, 8);
    heddle_clear(h, at, 8);
    host->words = on_host ? (volatile uint32_t *)(uintptr_t)at : words;
    struct heddle_module *m = heddle_module_text(h, "t.ptx", rounds, strlen(rounds));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1},
                                               0, &(struct heddle_arg){&at, 8}, 1);
    ck_assert_int_eq(heddle_read(h, at, words, 8), HEDDLE_OK);
    heddle_close(h);
    return s;
}

START_TEST(a_launch_that_polls_the_host_in_rounds_lets_it_run) {
    struct host host = {0};
    uint32_t words[2] = {0, 0};
    ck_assert_msg(run_rounds(&host, models[_i], true, 100000000, words) == HEDDLE_OK, "%s", models[_i]);
    ck_assert_int_eq(host.calls, 6);
    ck_assert_int_eq((int)words[1], 2);
}
END_TEST

/* Other CTAs may change memory of the device, so the launch first has 200 periods of 5000 cycles, or 64 turns. */
START_TEST(a_launch_that_polls_the_device_in_rounds_lets_others_run_late) {
    struct host host = {0};
    uint32_t words[2] = {0, 0};
    ck_assert_msg(run_rounds(&host, models[_i], false, 150000, words) == HEDDLE_DEADLOCK, "%s", models[_i]);
    ck_assert_int_eq(host.calls, 0);
    ck_assert_msg(run_rounds(&host, models[_i], false, 5000000, words) == HEDDLE_DEADLOCK, "%s", models[_i]);
    ck_assert_int_gt(host.calls, 0);
}
END_TEST

SUITE(host_stands) {
    TEST_LOOP(a_launch_that_polls_the_host_in_rounds_lets_it_run, 0, (int)(sizeof models / sizeof models[0]));
    TEST_LOOP(a_launch_that_polls_the_device_in_rounds_lets_others_run_late, 0,
              (int)(sizeof models / sizeof models[0]));
    TEST_LOOP(the_callback_runs_another_launch, 0, (int)(sizeof models / sizeof models[0]));
    TEST_LOOP(a_launch_goes_on_when_memory_changes, 0, (int)(sizeof models / sizeof models[0]));
    TEST_LOOP(a_launch_ends_when_the_callback_says_so, 0, (int)(sizeof models / sizeof models[0]));
}
