/* Tests the line about the progress of a queue (host/cli/queue_progress.c). */
#include "host/cli/work.h"
#include "test/test.h"

/* 90 runs at 2 a second take 45 seconds; 900 runs take 450 seconds, which are 7.5 minutes and print as 8. */
START_TEST(the_line_of_a_queue) {
    char line[PROGRESS_LINE];
    results_progress(&(struct queue_state){.done = 10, .left = 90, .processes = 1, .rate = 2}, NULL, line);
    ck_assert_str_eq(line, "10 of 100 runs done, 1 process, 2 a second, 45 s left");
    results_progress(
        &(struct queue_state){.done = 100, .left = 900, .bad = 3, .given_up = 2, .processes = 4, .rate = 2}, NULL,
        line);
    ck_assert_str_eq(line,
                     "100 of 1002 runs done, 3 of them failed, 2 given up, 4 processes, 2 a second, 8 minutes left");
}
END_TEST

/* Without a rate, and without runs that are left, the line has no estimate. */
START_TEST(no_estimate_without_a_rate) {
    char line[PROGRESS_LINE];
    results_progress(&(struct queue_state){.left = 5}, NULL, line);
    ck_assert_str_eq(line, "0 of 5 runs done");
    results_progress(&(struct queue_state){.done = 5, .rate = 2}, NULL, line);
    ck_assert_str_eq(line, "5 of 5 runs done");
}
END_TEST

/* 40 runs at 2 a second take 20 seconds. When the rate falls to 1, the 39 runs that are left would take 39 seconds: the
 * line still says 20. At 3 a second, 30 runs take 10 seconds. */
START_TEST(the_estimate_never_counts_up) {
    char line[PROGRESS_LINE];
    double estimate = -1;
    results_progress(&(struct queue_state){.left = 40, .rate = 2}, &estimate, line);
    ck_assert_msg(strstr(line, "20 s left") != NULL, "%s", line);
    results_progress(&(struct queue_state){.left = 39, .rate = 1}, &estimate, line);
    ck_assert_msg(strstr(line, "20 s left") != NULL, "%s", line);
    results_progress(&(struct queue_state){.left = 30, .rate = 3}, &estimate, line);
    ck_assert_msg(strstr(line, "10 s left") != NULL, "%s", line);
}
END_TEST

SUITE(host_cli_queue_progress) {
    TEST(the_estimate_never_counts_up);
    TEST(the_line_of_a_queue);
    TEST(no_estimate_without_a_rate);
}
