/* Tests `heddle exec --check`, which runs the checker on the launches of a CUDA program (test/cuda/checks.cu). */
#include "cli_help.h"
#include <stdio.h>

static bool cannot_run(void) {
#ifdef __x86_64__
    if (has_runtime())
        return false;
    test_skip("this build has no libcudart.so"); /* a build with a sanitizer has no library */
#else
    test_skip("the programs are for x86-64");
#endif
    return true;
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static const char *const native[] = {"", "--jit off"};

/* In each launch, eight reads of a maximum (lines 20 and 22 of the source) race with the write of a sum (line 30). The
 * report of the first launch lists these eight races, and the other two launches do not repeat them. The CUDA calls of
 * the program return no error. */
START_TEST(a_race_is_named_once) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_FAULT, "exec --check %s %s/test/cuda/checks.out race", native[_i], cli_root);
    ck_assert_str_eq(out, "no error\n");
    ck_assert_int_eq(count(err, "heddle: race: "), 8);
    SAYS(err, "in kernel '_Z7softmaxILb0EEvPKfPfi'");
    SAYS(err, "checks.cu:30)");
    SAYS(err, "  CTA (0,0,0), thread (");
    SAYS(err, "help: put __syncthreads()");
    SAYS(err, "in 3 launches of kernel void softmax<false>(float const*, float*, int)\n");
    SAYS(err, "16 reports of later launches name the same places");
}
END_TEST

START_TEST(what_is_right_is_said_to_be) {
    static const char *const right[] = {"ordered", "copied", "managed", "pinned", "many"};
    static const int launches[] = {1, 1, 1, 1, 33};
    char says[80];
    if (cannot_run())
        return;
    for (int i = 0; i < 2; i++) {
        STATUS(HEDDLE_OK, "exec --check %s %s/test/cuda/checks.out %s", native[i], cli_root, right[_i]);
        snprintf(says, sizeof says, "heddle: check: nothing was found in %d launch%s\n", launches[_i],
                 launches[_i] == 1 ? "" : "es");
        SAYS(err, says);
    }
    STATUS(HEDDLE_OK, "exec -q --check %s/test/cuda/checks.out %s", cli_root, right[_i]);
    ck_assert_str_eq(err, "");
}
END_TEST

/* 1024 words are initialised and 1028 are read, so four lanes each read one uninitialised word. */
START_TEST(reads_of_what_nobody_wrote_are_found) {
    static const char *const wrong[] = {"copied", "managed", "pinned", "many"};
    if (cannot_run())
        return;
    STATUS(HEDDLE_FAULT, "exec --check %s %s/test/cuda/checks.out %s 1028", native[_i % 2], cli_root, wrong[_i]);
    ck_assert_str_eq(out, "no error\n");
    ck_assert_int_eq(count(err, "heddle: uninitialised read of 4 bytes"), 1);
    SAYS(err, "4096 bytes into buffer ");
    SAYS(err, "check: 4 mistakes in 1 launch of kernel total(int const*, int*, int)\n");
}
END_TEST

/* The kernel accesses the word before the buffer. This is a fault, unless page_bounds allows it. */
START_TEST(bounds_may_be_those_of_pages) {
    static const char *const how[] = {"-m functional", "-m spe", "-m functional --jit off", "--check"};
    if (cannot_run())
        return;
    for (int i = 0; i < 4; i++) {
        STATUS(HEDDLE_FAULT, "exec -c turing %s %s/test/cuda/checks.out before", how[i], cli_root);
        SAYS(out, "an illegal memory access was encountered\n");
        SAYS(err, "4 bytes before the start of buffer 5 (4096 bytes");
        if (i < 3)
            SAYS(err, "help: a GPU may not notice this access; with --check-bounds page, Heddle allows it\n");
        STATUS(HEDDLE_OK, "exec -c turing %s --check-bounds page %s/test/cuda/checks.out before", how[i], cli_root);
        ck_assert_str_eq(out, "no error\n");
    }
    STATUS(HEDDLE_USAGE, "exec --check-bounds some %s/test/cuda/checks.out before", cli_root);
    SAYS(err, "--check-bounds is exact or page, not 'some'");
}
END_TEST

/* The kernel reads a word right behind 16 bytes: element 4 of a variable or of shared memory. */
START_TEST(bounds_of_variables_may_be_those_of_pages) {
    static const char *const what[] = {"variable", "shared"}, *const how[] = {"-m functional", "-m spe"};
    if (cannot_run())
        return;
    for (int i = 0; i < 4; i++) {
        STATUS(HEDDLE_FAULT, "exec -c turing %s %s/test/cuda/checks.out %s 4", how[i / 2], cli_root, what[i % 2]);
        SAYS(err, "help: a GPU may not notice this access; with --check-bounds page, Heddle allows it\n");
        STATUS(HEDDLE_OK, "exec -c turing %s --check-bounds page %s/test/cuda/checks.out %s 4", how[i / 2], cli_root,
               what[i % 2]);
    }
    STATUS(HEDDLE_FAULT, "exec -c turing -m functional %s/test/cuda/checks.out shared 32", cli_root);
    ck_assert_ptr_null(strstr(err, "a GPU may not notice"));
}
END_TEST

START_TEST(timing_models_do_not_check) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_USAGE, "exec --check -m spe %s/test/cuda/checks.out race", cli_root);
    SAYS(err, "model 'spe' cannot check kernels");
}
END_TEST

SUITE(cli_exec_check) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(a_race_is_named_once, 0, 2);
    TEST_LOOP(what_is_right_is_said_to_be, 0, 5);
    TEST_LOOP(reads_of_what_nobody_wrote_are_found, 0, 4);
    TEST(bounds_may_be_those_of_pages);
    TEST(bounds_of_variables_may_be_those_of_pages);
    TEST(timing_models_do_not_check);
}
