/* Tests `heddle exec` on whole CUDA programs (test/cuda/programs), compiled by nvcc. They resemble programs of common
 * benchmark suites. Each program compares its kernels' results with results that it computes on the host. `nodes` also
 * tests CUDA graphs, and `virtual` also tests stream memory operations. */
#include "cli_help.h"
#include "test/every_model.h"
#include <stdio.h>
#include <unistd.h>

static bool cannot_run(void) {
#ifdef __x86_64__
    if (has_runtime())
        return false;
    test_skip("this build has no libcudart.so"); /* a libcudart.so with a sanitizer cannot be loaded into programs */
#else
    test_skip("the programs are for x86-64");
#endif
    return true;
}

/* The programs. Each program runs in the functional model and in the timing model `timed`. */
static const struct {
    const char *name, *timed, *args;
} programs[] = {{"atomics", "its", ""},
                {"bfs", "dws", ""},
                {"beside", "its", ""},
                {"beside_ptds", "spe", ""},
                {"changes", "dpe", ""},
                {"conditions", "spe", ""},
                {"containers", "its", ""},
                {"convolution", "spe", ""},
                {"copies", "its", ""},
                {"driver", "spe", "%s/test/cuda/lz4.fatbin"},
                {"errors", "its", ""},
                {"filters", "dws", ""},
                {"flags", "its", ""},
                {"graphs", "spe", ""},
                {"gridsync", "its -j 2", ""},
                {"later", "its", ""},
                {"later_ptds", "spe", ""},
                {"launches", "dpe", ""},
                {"libraries", "its", "%s/test/cuda/lz4.fatbin"},
                {"maths", "its", ""},
                {"matrices", "spe -s gpu.sms=3", ""},
                {"nodes", "dpe", ""},
                {"order", "dpe", ""},
                {"parts", "minpc", ""},
                {"pathfinder", "spe -s gpu.sms=1", ""},
                {"print", "spe", ""},
                {"processes", "spe", ""},
                {"spmv", "si", ""},
                {"stencil", "spe -j 2", ""},
                {"streams", "spe", ""},
                {"tensors", "spe", ""},
                {"threads", "its", ""},
                {"threads_ptds", "spe", ""},
                {"volume", "dws10", ""},
                {"tma", "spe -j 2", ""},
                {"virtual", "spe", ""},
                {"warps", "its", ""}};
enum { N_PROGRAMS = sizeof programs / sizeof programs[0] };

START_TEST(what_kernels_do_is_what_the_host_computes) {
    char args[PATH_MAX + 40];
    if (cannot_run())
        return;
    snprintf(args, sizeof args, programs[_i].args, cli_root);
    const char *models[] = {"functional", "functional -j 2", programs[_i].timed};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        STATUS(HEDDLE_OK, "exec -c turing -m %s %s/test/cuda/programs/%s.out %s", models[i], cli_root,
               programs[_i].name, args);
        SAYS(out, "0 mistakes\n");
    }
}
END_TEST

/* Kernels that wait for the host run beside the program in every model. If the host never writes the word, the wait for
 * the kernel ends with an error. */
START_TEST(kernels_wait_for_the_host) {
    static const char *const models[] = {"spe", "dpe", "dws", "si", "functional --check", "spe -j 2 -c gv100"};
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -m %s %s/test/cuda/programs/flags.out", models[_i], cli_root);
    SAYS(out, "0 mistakes\n");
    if (_i > 0)
        return;
    STATUS(HEDDLE_DEADLOCK, "exec -m functional %s/test/cuda/programs/flags.out stuck", cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "deadlock in kernel '_Z11wait_for_goPi'");
}
END_TEST

/* Work behind a kernel that waits does not make its call wait (later.cu). A stream that waits for a value that nobody
 * writes is a deadlock. */
START_TEST(work_waits_in_its_stream) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -m spe -c gv100 %s/test/cuda/programs/later.out", cli_root);
    SAYS(out, "0 mistakes\n");
    STATUS(HEDDLE_OK, "exec -m functional %s/test/cuda/programs/later.out stuck", cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "cuStreamWaitValue32: deadlock: the value at 0x");
    STATUS(HEDDLE_FAULT, "exec -m functional %s/test/cuda/programs/later.out fault", cli_root);
    SAYS(out, "0 mistakes\n");
    ck_assert(!strstr(err, "deadlock"));
}
END_TEST

/* Kernels of several streams and threads wait for each other. In a timing model, Heddle says which kernel runs without
 * time. The error of a kernel that waits for a later one of its stream names both. */
START_TEST(kernels_wait_for_each_other) {
    static const char *const models[] = {"functional", "functional -j 2", "spe", "dws", "spe -j 2 -c gv100"};
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -m %s %s/test/cuda/programs/beside.out", models[_i], cli_root);
    SAYS(out, "0 mistakes\n");
    if (_i >= 2)
        SAYS(err, "play(words*, int): runs without time and statistics, because another kernel waits meanwhile");
    STATUS(HEDDLE_OK, "exec -m %s %s/test/cuda/programs/beside.out clock", models[_i], cli_root);
    SAYS(out, "0 mistakes\n");
    if (_i > 0)
        return;
    STATUS(HEDDLE_DEADLOCK, "exec -m functional %s/test/cuda/programs/beside.out stuck", cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "deadlock in kernel '_Z8wait_forP5wordsi'");
    SAYS(err, "kernel 'set_ready(words*, int)' begins after this kernel has ended");
    STATUS(1, "exec -m functional --check %s/test/cuda/programs/beside.out", cli_root);
    SAYS(err, "only without --check");
}
END_TEST

/* Matrix instructions read registers of all lanes of the warp. They must work in every model. The test runs every
 * second model, and all models with HEDDLE_EVERY. */
START_TEST(matrices_in_every_model) {
    static const char *const extended[] = {"spe+dac", "spe+cae", "spe+mta", "spe+chain", "pepsc"};
    const int bases = base_models()->n;
    if (cannot_run())
        return;
    for (int i = 0; i < bases + (int)(sizeof extended / sizeof extended[0]); i += test_every() ? 1 : 2) {
        STATUS(HEDDLE_OK, "exec -m %s %s/test/cuda/programs/tensors.out",
               i < bases ? base_models()->name[i] : extended[i - bases], cli_root);
        SAYS(out, "0 mistakes\n");
    }
}
END_TEST

/* A kernel's printf() must print the same text as the C library's printf(). */
START_TEST(kernels_print) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing -m functional %s/test/cuda/programs/print.out", cli_root);
    SAYS(out, "-5     7|ff    |q text -1099511627776 9223372036854775808 ");
    SAYS(out, "   3.142|1.000000e+10|0.5|+3|00042|%|ab|   9\n");
    ck_assert_ptr_nonnull(strstr(strstr(out, "nothing to fill in\n") + 1, "nothing to fill in\n"));
    STATUS(HEDDLE_FAULT, "exec -c turing -m its %s/test/cuda/programs/print.out assert", cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "void claims(int): assertion `threadIdx.x < n && \"too many\"` failed");
}
END_TEST

/* The message about a fault names its location. Every later CUDA call returns the error until the program resets the
 * device. */
START_TEST(faults_are_told_and_end_by_a_reset) {
    static const char *const faults[][2] = {{"null", "in the page of the null pointer"},
                                            /* the write is 4 MiB after the start of a buffer of 4 KiB */
                                            {"beyond", "4190208 bytes past the end of buffer"},
                                            {"odd", "misaligned write of 4 bytes"},
                                            {"trap", "trap in kernel '_Z4stopv'"}};
    if (cannot_run())
        return;
    STATUS(HEDDLE_FAULT, "exec -c turing -m %s %s/test/cuda/programs/errors.out %s", _i % 2 ? "spe" : "functional",
           cli_root, faults[_i][0]);
    SAYS(out, "0 mistakes\n");
    SAYS(err, faults[_i][1]);
    SAYS(err, "lane 0");
    SAYS(err, "help: nvcc -lineinfo adds the line of CUDA\n");
}
END_TEST

/* A kernel faults if it accesses a reserved address that has no memory, or writes to memory that is mapped
 * read-only. */
START_TEST(virtual_memory_is_guarded) {
    static const char *const faults[][2] = {{"unmapped", "an address range without mapped memory"},
                                            {"closed", "which no access was given to (cuMemSetAccess)"},
                                            {"read", "which is read-only (cuMemSetAccess)"}};
    if (cannot_run())
        return;
    STATUS(HEDDLE_FAULT, "exec -c turing -m %s %s/test/cuda/programs/virtual.out %s", _i % 2 ? "spe" : "functional",
           cli_root, faults[_i][0]);
    SAYS(out, "0 mistakes\n");
    SAYS(err, faults[_i][1]);
    SAYS(err, "the address is 12 bytes into buffer");
}
END_TEST

/* The message about a refused launch names what the programmer can change. */
START_TEST(refused_launches_say_what_to_do) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing -m functional %s/test/cuda/programs/pathfinder.out", cli_root);
    SAYS(err,
         "60000 bytes of dynamic shared memory, but a block may have 49152 beside the 0 of the kernel's variables");
    SAYS(err, "cudaFuncAttributeMaxDynamicSharedMemorySize");
    STATUS(HEDDLE_WRONG, "exec -c turing -s sm.shared_bytes=49152 -m functional %s/test/cuda/programs/pathfinder.out",
           cli_root);
    SAYS(err, "an SM of this machine has less; choose a machine with more");
    STATUS(HEDDLE_OK, "exec -c turing -m functional %s/test/cuda/programs/errors.out", cli_root);
    SAYS(err,
         "20000 bytes of dynamic shared memory, but a block may have 9152 beside the 40000 of the kernel's variables");
    SAYS(err, "a grid of 0 x 1 x 1 CTAs");
    SAYS(err, "a block of 1025 x 1 x 1 threads");
}
END_TEST

/* The program launches.out, whose PTX is for compute_75, expects this number in cudaFuncAttributes on any machine. CUB
 * chooses its kernels by the number. */
START_TEST(the_version_of_ptx_is_not_that_of_the_machine) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -q -c h100 -m functional %s/test/cuda/programs/launches.out", cli_root);
    SAYS(out, "0 mistakes\n");
}
END_TEST

SUITE(cli_cuda_programs) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(what_kernels_do_is_what_the_host_computes, 0, N_PROGRAMS);
    TEST_LOOP(kernels_wait_for_the_host, 0, 6);
    TEST(work_waits_in_its_stream);
    TEST_LOOP(kernels_wait_for_each_other, 0, 5);
    TEST(matrices_in_every_model);
    TEST(kernels_print);
    TEST_LOOP(faults_are_told_and_end_by_a_reset, 0, 4);
    TEST_LOOP(virtual_memory_is_guarded, 0, 3);
    TEST(refused_launches_say_what_to_do);
    TEST(the_version_of_ptx_is_not_that_of_the_machine);
}
