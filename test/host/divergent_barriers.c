/* Tests barriers of the whole block that the lanes of one warp reach on different paths, in all models. As on a GPU
 * since Volta, the barrier counts threads that have not exited. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { N = 64, SOME = 40 };

/* rounds: thread i < SOME of the block adds 1 to out[i] after each barrier, until out[i] is i % 3 + 1. In the last
 * round the thread adds nothing. The other threads reach no barrier. Behind the loop each thread adds 100.
 * sides: each half of a warp has a barrier of its own, and then reads what the next thread stored before. */
static const char text[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry rounds(.param .u64 out) {\n"
    ".reg .pred %p; .reg .u32 %i, %v, %goal, %again; .reg .u64 %out, %at;\n"
    "ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.u64 %at, %at, %out;\n"
    "rem.u32 %goal, %i, 3; add.u32 %goal, %goal, 1;\n"
    "AGAIN: mov.u32 %again, 0; setp.ge.u32 %p, %i, 40; @%p bra JOIN;\n"
    "bar.sync 0; ld.global.u32 %v, [%at]; setp.ge.u32 %p, %v, %goal; @%p bra JOIN;\n"
    "add.u32 %v, %v, 1; st.global.u32 [%at], %v; mov.u32 %again, 1;\n"
    "JOIN: setp.ne.u32 %p, %again, 0; @%p bra AGAIN;\n"
    "ld.global.u32 %v, [%at]; add.u32 %v, %v, 100; st.global.u32 [%at], %v; ret; }\n"
    ".visible .entry sides(.param .u64 out) {\n"
    ".reg .pred %p; .reg .u32 %i, %v, %next; .reg .u64 %out, %at; .shared .u32 s[64];\n"
    "ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.u64 %at, %at, %out;\n"
    "add.u32 %next, %i, 1; and.b32 %next, %next, 63; shl.b32 %next, %next, 2; mov.u32 %v, s; add.u32 %next, %next, "
    "%v;\n"
    "shl.b32 %v, %i, 2; add.u32 %v, %v, s; and.b32 %i, %i, 1; setp.eq.u32 %p, %i, 0; @%p bra EVEN;\n"
    "mov.u32 %i, %tid.x; st.shared.u32 [%v], %i; bar.sync 0; ld.shared.u32 %v, [%next]; bra JOIN;\n"
    "EVEN: mov.u32 %i, %tid.x; st.shared.u32 [%v], %i; bar.sync 0; ld.shared.u32 %v, [%next]; add.u32 %v, %v, 1000;\n"
    "JOIN: st.global.u32 [%at], %v; ret; }\n";

static uint32_t want_rounds(uint32_t i) { return 100 + (i < SOME ? i % 3 + 1 : 0); }
static uint32_t want_sides(uint32_t i) { return (i + 1) % N + (i % 2 ? 0 : 1000); }

static void check(const char *kernel, uint32_t (*want)(uint32_t), const char *model, bool timed) {
    char err[512], key[32];
    snprintf(key, sizeof key, "reconv=%s", model);
    struct heddle_options o = {.model = timed ? model : "functional", .cycle_limit = 100000};
    o.set = (const char *const[]){timed ? NULL : key, NULL};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "barriers.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint32_t out[N] = {0};
    uint64_t to = heddle_alloc(h, sizeof out);
    ck_assert_int_eq(heddle_write(h, to, out, sizeof out), HEDDLE_OK);
    const struct heddle_arg arg = {&to, sizeof to};
    ck_assert_msg(heddle_launch(h, m, kernel, (struct heddle_dim){1, 1, 1}, (struct heddle_dim){N, 1, 1}, 0, &arg, 1) ==
                      HEDDLE_OK,
                  "%s, %s%s: %s", kernel, timed ? "" : "functional, ", model, heddle_error(h));
    ck_assert_int_eq(heddle_read(h, to, out, sizeof out), HEDDLE_OK);
    for (uint32_t i = 0; i < N; i++)
        ck_assert_msg(out[i] == want(i), "%s, %s%s: thread %u has %u, not %u", kernel, timed ? "" : "functional, ",
                      model, i, out[i], want(i));
    heddle_close(h);
}

START_TEST(threads_that_reach_no_barrier_may_exit) {
    check("rounds", want_rounds, timed_models()->name[_i], false);
    check("rounds", want_rounds, timed_models()->name[_i], true);
}
END_TEST

START_TEST(each_side_of_a_branch_may_have_its_barrier) {
    check("sides", want_sides, timed_models()->name[_i], false);
    check("sides", want_sides, timed_models()->name[_i], true);
}
END_TEST

SUITE(host_divergent_barriers) {
    TEST_LOOP(threads_that_reach_no_barrier_may_exit, 0, timed_models()->n);
    TEST_LOOP(each_side_of_a_branch_may_have_its_barrier, 0, timed_models()->n);
}
