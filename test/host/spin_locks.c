/* Tests spin locks between the threads of a warp: test/kernels/spin_locks.cu and spin_std.cu, compiled by nvcc and
 * clang. Each thread takes the lock, adds 1 to counter 0 by a load and a store, releases the lock, and then writes 7 to
 * its own word. If the lock works, counter 0 equals the number of threads. The run ends only if all threads make
 * progress. The kernels of spin_waits.cu wait in other ways. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { CTAS = 2, THREADS = 40, N = CTAS * THREADS, MUTEXES = 4 };

static const char *const plain[] = {
    "nanosleep_mutex", "fence_in_loop", "ticket_lock",   "growing_backoff", "try_lock_loop",
    "try_lock_called", "lock_called",   "test_and_set",  "bit_lock",        "flag_variable",
    "body_in_loop",    "nested_locks",  "clock_backoff", "counted_tries",   NULL};
static const char *const standard[] = {"std_atomic", "std_semaphore", NULL};
static const char *const waiting[] = {"shared_lock", "mbarrier_wait", "sleep_alone", "late_flag", NULL};
static const struct {
    const char *path;
    const char *const *kernels;
} files[] = {
    {"test/kernels/spin_locks_o0.ptx", plain},    {"test/kernels/spin_locks_o1.ptx", plain},
    {"test/kernels/spin_locks_o3.ptx", plain},    {"test/kernels/spin_locks_g.ptx", plain},
    {"test/kernels/spin_locks_clang.ptx", plain}, {"test/kernels/spin_locks_clang_o0.ptx", plain},
    {"test/kernels/spin_std_o3.ptx", standard},   {"test/kernels/spin_waits_o3.ptx", waiting},
    {"test/kernels/spin_waits_g.ptx", waiting},
};
enum { N_FILES = sizeof files / sizeof files[0] };

/* Returns the expected value of counter 0. In nested_locks, a thread runs threadIdx.x % 3 + 1 iterations, and takes the
 * locks in every second iteration. */
static uint32_t wanted(const char *kernel) {
    uint32_t n = N;
    for (uint32_t t = 0; strcmp(kernel, "nested_locks") == 0 && t < N; t++)
        n += t % THREADS % 3 == 2;
    return n;
}

struct machine {
    const char *model, *config;
    const char *set[4];
    uint32_t host_threads;
    bool check;
};

static enum heddle_status run(const struct machine *on, const char *path, const char *kernel, char *message) {
    char err[512];
    struct heddle_options o = {.model = on->model,
                               .config = on->config,
                               .set = on->set,
                               .cycle_limit = 30000000,
                               .threads = on->host_threads,
                               .check = on->check};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, path);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint32_t zero[N + 1] = {0}, got[N + 1];
    uint64_t mutexes = heddle_alloc(h, 4 * MUTEXES), counters = heddle_alloc(h, sizeof got);
    heddle_write(h, mutexes, zero, 4 * MUTEXES);
    heddle_write(h, counters, zero, sizeof zero);
    const struct heddle_arg args[] = {{&mutexes, 8}, {&counters, 8}};
    enum heddle_status s =
        heddle_launch(h, m, kernel, (struct heddle_dim){CTAS, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, args, 2);
    snprintf(message, 256, "%s", s == HEDDLE_OK ? "" : heddle_error(h));
    heddle_read(h, counters, got, sizeof got);
    heddle_close(h);
    if (s != HEDDLE_OK)
        return s;
    ck_assert_msg(got[0] == wanted(kernel), "%s of %s, %s on %s: %u threads were inside, not %u", kernel, path,
                  on->model, on->config, got[0], wanted(kernel));
    for (int i = 1; i <= N; i++)
        ck_assert_msg(got[i] == 7, "%s of %s, %s on %s: thread %d wrote %u", kernel, path, on->model, on->config, i - 1,
                      got[i]);
    return s;
}

static void ends(const struct machine *on, const char *path, const char *kernel) {
    char message[256];
    enum heddle_status s = run(on, path, kernel, message);
    ck_assert_msg(s == HEDDLE_OK, "%s of %s, %s on %s %s: %s", kernel, path, on->model, on->config,
                  on->set[0] ? on->set[0] : "", message);
}

/* Runs a kernel that cannot end. heddle must report a deadlock, before it reaches a limit. */
static void is_a_deadlock(const struct machine *on, const char *path, const char *kernel) {
    char message[256];
    enum heddle_status s = run(on, path, kernel, message);
    ck_assert_msg(s == HEDDLE_DEADLOCK && strstr(message, "deadlock"), "%s of %s, %s on %s%s: %d, %s", kernel, path,
                  on->model, on->config, on->check ? ", checked" : "", (int)s, message);
}

/* With the forward progress of Volta's independent thread scheduling, every lock kernel ends, whichever compiler
 * compiled it. Each kernel runs on one preset; with HEDDLE_EVERY on all presets. */
static const struct machine promising[] = {
    {"its", "turing", {NULL}, 1, false},
    {"si", "turing", {"si.yield=on"}, 1, false},
    {"si", "turing", {"si.yield=off"}, 1, false},
    {"its", "fermi", {NULL}, 1, false},
    {"its", "volta-classic", {NULL}, 1, false},
    {"si", "turing-rtx2060", {NULL}, 1, false},
    {"functional", "turing", {NULL}, 1, false},
    {"functional", "volta-classic", {NULL}, 2, false},
    {"functional", "turing", {"reconv.first=fallthrough"}, 1, false},
    {"functional", "fermi", {"reconv=its"}, 1, false},
    {"functional", "fermi", {"gpu.capability=7"}, 1, false},
};
enum { N_PROMISING = sizeof promising / sizeof promising[0] };

START_TEST(every_lock_ends) {
    for (int f = 0; f < N_FILES; f++)
        for (int k = 0; files[f].kernels[k]; k++)
            if (test_every() || (f + k + _i) % 8 == 0)
                ends(&promising[_i], files[f].path, files[f].kernels[k]);
}
END_TEST

/* Without independent thread scheduling, the lane with the lock is below the spinning lanes on the reconvergence stack,
 * so it never runs and the kernel does not end. The kernel body_in_loop ends on every machine. */
START_TEST(a_machine_without_the_promise_says_deadlock) {
    struct machine fermi = {"functional", "fermi", {NULL}, 1, false};
    for (int f = 0; f < N_FILES; f++)
        for (int k = 0; files[f].kernels[k]; k++) {
            const char *name = files[f].kernels[k];
            if (strcmp(name, "body_in_loop") == 0 || strcmp(name, "counted_tries") == 0 || files[f].kernels == waiting)
                continue; /* these kernels may end; for example, the waiting kernels end with some orders of warps */
            if (test_every() || (f + k) % 4 == 0)
                is_a_deadlock(&fermi, files[f].path, name);
        }
}
END_TEST

/* Machines and models on which kernels run that cannot end. In opposite_locks each thread holds a lock, or waits for a
 * lock that is never released. In the other kernels threads wait for a flag that no thread sets. */
static const struct machine all_kinds[] = {
    {"its", "turing", {NULL}, 1, false},         {"si", "volta-classic", {NULL}, 1, false},
    {"dws", "turing", {NULL}, 1, false},         {"dws10", "fermi", {NULL}, 1, false},
    {"spe", "turing-rtx2060", {NULL}, 1, false}, {"dpe", "gt200", {NULL}, 1, false},
    {"spe", "pepsc", {NULL}, 1, false},          {"dws100", "tiny", {NULL}, 1, false},
    {"its", "fermi-gpgpusim", {NULL}, 1, false}, {"functional", "turing", {NULL}, 2, false},
    {"functional", "fermi", {NULL}, 1, true},    {"functional", "volta-classic", {"gpu.jit=false"}, 1, false},
    {"functional", "turing", {NULL}, 1, true},
};
enum {
    N_ALL_KINDS = sizeof all_kinds / sizeof all_kinds[0],
    N_SLOW = 2
}; /* the last N_SLOW machines take seconds for the lock kernels */

START_TEST(what_cannot_end_is_reported) {
    static const char *const kernels[] = {"never_counting", "never_sleeping", "never_clock"};
    const struct machine *on = &all_kinds[_i];
    /* runs one of the kernels on each machine, in rotation; with HEDDLE_EVERY all kernels */
    for (int k = 0; k < 3; k++) {
        if (!test_every() && k != _i % 3)
            continue;
        is_a_deadlock(on, "test/kernels/spin_waits_o3.ptx", kernels[k]);
        if (test_every())
            is_a_deadlock(on, "test/kernels/spin_waits_g.ptx", kernels[k]);
    }
    if (test_every() || _i < N_ALL_KINDS - N_SLOW)
        is_a_deadlock(on, "test/kernels/spin_waits_g.ptx", "opposite_locks");
    if (test_every())
        is_a_deadlock(on, "test/kernels/spin_waits_o3.ptx", "opposite_locks");
}
END_TEST

SUITE(host_spin_locks) {
    TEST_LOOP(every_lock_ends, 0, N_PROMISING);
    TEST_LOOP(what_cannot_end_is_reported, 0, N_ALL_KINDS);
    TEST(a_machine_without_the_promise_says_deadlock);
}
