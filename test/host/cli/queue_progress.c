/* Tests the line about the progress of a queue (host/cli/queue_progress.c). */
#include "host/cli/work.h"
#include "test/test.h"

/* 90 runs at 2 a second take 45 seconds; 900 runs take 450 seconds, which are 7.5 minutes and print as 8. */
START_TEST(the_line_of_a_queue) {
    char line[PROGRESS_LINE];
    results_progress(&(struct queue_state){.done = 10, .left = 90, .processes = 1, .rate = 2}, line);
    ck_assert_str_eq(line, "10 of 100 runs done, 1 process, 2 a second, 45 s left");
    results_progress(
        &(struct queue_state){.done = 100, .left = 900, .bad = 3, .given_up = 2, .processes = 4, .rate = 2}, line);
    ck_assert_str_eq(line,
                     "100 of 1002 runs done, 3 of them failed, 2 given up, 4 processes, 2 a second, 8 minutes left");
}
END_TEST

/* Without a rate, and without runs that are left, the line has no estimate. */
START_TEST(no_estimate_without_a_rate) {
    char line[PROGRESS_LINE];
    results_progress(&(struct queue_state){.left = 5}, line);
    ck_assert_str_eq(line, "0 of 5 runs done");
    results_progress(&(struct queue_state){.done = 5, .rate = 2}, line);
    ck_assert_str_eq(line, "5 of 5 runs done");
}
END_TEST

SUITE(host_cli_queue_progress) {
    TEST(the_line_of_a_queue);
    TEST(no_estimate_without_a_rate);
}
