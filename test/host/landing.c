/* Tests when cp.async reads global memory and when it writes shared memory (isa/machine/pending.h), by kernels of
 * test/kernels/landing.cu in every model, with and without native code. */
#include "copy_ways.h"

enum { WORDS = 2048 };
static struct heddle *h;
static struct heddle_module *m;
static int32_t in[WORDS], out[WORDS];

/* Runs a kernel with one CTA of `threads` threads. Word i of the input is 1000 + i; the output begins as zeros. */
static void run(int way, const char *kernel, uint32_t threads) {
    h = open_copy_way(way, "test/kernels/landing.ptx", &m);
    for (int i = 0; i < WORDS; i++)
        in[i] = 1000 + i;
    uint64_t from = heddle_alloc(h, sizeof in), to = heddle_alloc(h, sizeof out);
    const struct heddle_arg args[] = {{&from, 8}, {&to, 8}};
    const struct heddle_dim grid = {1, 1, 1}, block = {threads, 1, 1};
    ck_assert_int_eq(heddle_write(h, from, in, sizeof in), HEDDLE_OK);
    ck_assert_msg(heddle_launch(h, m, kernel, grid, block, 0, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, to, out, sizeof out), HEDDLE_OK);
    ck_assert_int_eq(heddle_read(h, from, in, sizeof in), HEDDLE_OK);
    heddle_close(h);
}

/* Checks that a word that begins as -1 has its copy's value. */
static void expect_landed(int at, int value) { ck_assert_msg(out[at] == value, "out[%d] is %d", at, out[at]); }

static bool is_timed(int way) { return way >= N_WAYS || strcmp(ways[way].model, "functional") != 0; }

/* Checks a word whose copy a thread has not waited for. The functional model does not let the copy land before a wait;
 * the timing model lets it land when the data arrive. */
static void expect_pending(int way, int at, int value) {
    ck_assert_msg(out[at] == -1 || (is_timed(way) && out[at] == value), "out[%d] is %d", at, out[at]);
}

START_TEST(a_zero_in_flight_is_overwritten) {
    run(_i, "own_zero", 64);
    for (int t = 0; t < 64; t++)
        expect_landed(t, 1000 + t);
}
END_TEST

/* The second warp has 9 lanes. */
START_TEST(a_partial_warp_copies) {
    run(_i, "own_zero", 41);
    for (int t = 0; t < 41; t++)
        expect_landed(t, 1000 + t);
    ck_assert_int_eq(out[41], 0);
}
END_TEST

/* The functional model runs the first warp first; the copies of this warp must not land before the zeros of the other
 * warp. A machine that runs one warp at a time writes these zeros after the wait. */
START_TEST(a_zero_of_another_warp_is_overwritten) {
    if (runs_one_warp(_i))
        return;
    run(_i, "other_zero", 64);
    for (int t = 0; t < 64; t++)
        expect_landed(t, 1000 + t);
}
END_TEST

START_TEST(copies_land_before_they_arrive_at_an_mbarrier) {
    if (runs_one_warp(_i))
        return;
    run(_i, "zero_before_arrival", 64);
    for (int t = 0; t < 64; t++)
        expect_landed(t, 1063 - t);
}
END_TEST

START_TEST(a_copy_reads_its_source_at_issue) {
    run(_i, "new_source", 64);
    for (int t = 0; t < 64; t++) {
        expect_landed(t, 1000 + t);
        ck_assert_int_eq(in[t], -5);
    }
}
END_TEST

START_TEST(the_younger_group_writes_last) {
    run(_i, "two_groups", 64);
    for (int t = 0; t < 64; t++) {
        ck_assert_msg(out[t] == 1000 + t || (is_timed(_i) && out[t] == 1064 + t), "out[%d] is %d", t, out[t]);
        expect_landed(64 + t, 1064 + t);
    }
}
END_TEST

/* Words 0 to 3 are in groups of their own, word 4 is in none. After wait_group 3 - k, the words 0 to k have landed;
 * wait_all (k is 4) waits for word 4 also. */
START_TEST(a_wait_leaves_the_youngest_groups_in_flight) {
    run(_i, "waits", 64);
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 5; i++)
            for (int t = 0; t < 64; t++) {
                const int at = 64 * (5 * k + i) + t, value = 1000 + 64 * i + t;
                if (i <= k)
                    expect_landed(at, value);
                else
                    expect_pending(_i, at, value);
            }
}
END_TEST

/* Lane l has n = l % 4 + 1 groups with a word each. wait_group 2 leaves the youngest two in flight, so that the words
 * 0 to n - 3 have landed. The empty group of odd lanes is a youngest group: the words 0 to n - 2 have landed then. */
START_TEST(lanes_have_their_own_groups) {
    run(_i, "lanes", 64);
    for (int t = 0; t < 64; t++)
        for (int i = 0; i < 4; i++) {
            const int n = t % 4 + 1, value = 1000 + 64 * i + t, after[2] = {n - 3, n - 3 + t % 2};
            for (int k = 0; k < 2; k++) {
                const int at = 64 * (4 * k + i) + t;
                if (i >= n)
                    ck_assert_int_eq(out[at], -1);
                else if (i <= after[k])
                    expect_landed(at, value);
                else
                    expect_pending(_i, at, value);
            }
        }
}
END_TEST

START_TEST(copies_land_at_exit) {
    run(_i, "no_wait", 64);
    for (int t = 0; t < 32; t++)
        expect_landed(t, 1000 + t);
}
END_TEST

/* More copies than PENDING_MOST. A sum s' = 3 s + word modulo 2^32. */
START_TEST(a_thread_may_have_many_copies_in_flight) {
    if (runs_one_warp(_i) || (_i < N_WAYS && ways[_i].config && strcmp(ways[_i].config, "tiny") == 0))
        return; /* 38,400 bytes of shared memory */
    run(_i, "many", 32);
    for (int t = 0; t < 32; t++) {
        uint32_t sum = 0;
        for (int i = 0; i < 300; i++)
            sum = 3 * sum + (uint32_t)(1000 + i + t);
        ck_assert_int_eq(out[t], (int32_t)sum);
    }
}
END_TEST

START_TEST(a_copy_lands_while_a_thread_polls) {
    run(_i, "polls", 64);
    for (int t = 0; t < 64; t++)
        expect_landed(t, 1000 + t);
}
END_TEST

SUITE(host_landing) {
    const int n = n_ways();
    TEST_LOOP(a_zero_in_flight_is_overwritten, 0, n);
    TEST_LOOP(a_partial_warp_copies, 0, n);
    TEST_LOOP(a_zero_of_another_warp_is_overwritten, 0, n);
    TEST_LOOP(copies_land_before_they_arrive_at_an_mbarrier, 0, n);
    TEST_LOOP(a_copy_reads_its_source_at_issue, 0, n);
    TEST_LOOP(the_younger_group_writes_last, 0, n);
    TEST_LOOP(a_wait_leaves_the_youngest_groups_in_flight, 0, n);
    TEST_LOOP(lanes_have_their_own_groups, 0, n);
    TEST_LOOP(copies_land_at_exit, 0, n);
    TEST_LOOP(a_thread_may_have_many_copies_in_flight, 0, n);
    TEST_LOOP(a_copy_lands_while_a_thread_polls, 0, n);
}
