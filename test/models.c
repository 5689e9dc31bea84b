/* Runs every kernel of test/kernels/divergence.ptx under every model, and also under each reconvergence model in the
 * interpreter. Memory must equal memory after a run of the interpreter with SPE. Comments in the PTX file describe how
 * each kernel diverges. Further tests check two promises of the models: instruction counts, and the behaviour of
 * locks. */
#include "host/heddle.h"
#include "test.h"
#include "test/every_model.h"
#include <math.h>

enum { THREADS = 256, BLOCKS = 6, N = THREADS * BLOCKS, SEED = 12345 };

static const char *const kernels[] = {
    "if_else",      "loop_trips",      "break_continue", "early_return",   "shared_tail",
    "switch_cases", "divergent_calls", "recursion",      "indirect_calls", "barrier_after_divergence",
    "nested_loops",
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

struct result {
    enum heddle_status status;
    uint32_t out[N];
    double instructions, utilization;
    char error[4096];
};

static struct heddle *open_gpu(const char *model, const char *const *set) {
    char err[1024];
    struct heddle_options o = {.model = model, .config = "fermi", .set = set, .cycle_limit = 20000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* Returns the next word of the kernel's input. */
static uint32_t input(uint64_t *seed) { return (uint32_t)(test_random(seed) >> 41); }
static uint32_t first_inputs(int n) {
    uint64_t seed = SEED;
    uint32_t sum = 0;
    while (n-- > 0)
        sum += input(&seed);
    return sum;
}

static void run(const char *kernel, const char *model, const char *const *set, uint32_t blocks, uint32_t threads,
                struct result *r) {
    memset(r, 0, sizeof *r);
    struct heddle *h = open_gpu(model, set);
    struct heddle_module *m = heddle_module_file(h, "test/kernels/divergence.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    static uint32_t in[N];
    uint64_t seed = SEED;
    for (int i = 0; i < N; i++)
        in[i] = input(&seed);
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof in);
    int n = N;
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}, {&n, 4}};
    r->status =
        heddle_launch(h, m, kernel, (struct heddle_dim){blocks, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, 3);
    snprintf(r->error, sizeof r->error, "%s", heddle_error(h));
    heddle_read(h, dout, r->out, sizeof r->out);
    r->instructions = heddle_stat(h, -1, "gpu.warp_instructions");
    r->utilization = heddle_stat(h, -1, "gpu.lane_utilization");
    heddle_close(h);
}

static struct result want, got;

static void same(const char *kernel, const char *what) {
    ck_assert_msg(got.status == HEDDLE_OK, "%s in %s: %s", kernel, what, got.error);
    for (int i = 0; i < N; i++)
        ck_assert_msg(got.out[i] == want.out[i], "%s in %s: out[%d] is %u, not %u", kernel, what, i, got.out[i],
                      want.out[i]);
}

START_TEST(memory_is_equal_in_the_interpreter) {
    const char *kernel = kernels[_i];
    run(kernel, "functional", NULL, BLOCKS, THREADS, &want);
    ck_assert_msg(want.status == HEDDLE_OK, "%s: %s", kernel, want.error);
    for (int m = 0; m < timed_models()->n; m++) {
        char key[32];
        snprintf(key, sizeof key, "reconv=%s", timed_models()->name[m]);
        const char *const set[] = {key, NULL};
        run(kernel, "functional", set, BLOCKS, THREADS, &got);
        same(kernel, key);
    }
}
END_TEST

START_TEST(memory_is_equal_in_time) {
    const char *kernel = kernels[_i];
    run(kernel, "functional", NULL, BLOCKS, THREADS, &want);
    for (int m = 0; m < timed_models()->n; m++) {
        /* By default this test skips half of the models. The test below runs these, with an active set of one warp. */
        if ((m + _i) % 2 == 0 && !test_every())
            continue;
        run(kernel, timed_models()->name[m], NULL, BLOCKS, THREADS, &got);
        same(kernel, timed_models()->name[m]);
    }
}
END_TEST

/* Options that change how a model schedules must not change results. */
START_TEST(memory_is_equal_with_options) {
    static const struct {
        const char *model, *set;
    } all[] = {{"dpe", "dpe.forwarding=on"},
               {"dpe", "dpe.scheduler=constrained"},
               {"dpe", "dpe.scoreboard=optimistic"},
               {"dpe", "reconv.first=fallthrough"},
               {"dpe", "dpe.memory_divergence=on"},
               {"multipath", "multipath.entries=2"},
               {"multipath", "multipath.opportunistic=on"},
               {"dws", "dws.wst_entries=4"},
               {"dws", "dws.memory=branch_bypass"},
               {"dws", "dws.memory=revive"},
               {"si", "si.yield=on"},
               {"si", "si.max_subwarps=2"},
               {"si", "si.trigger=any"},
               {"spe", "reconv.first=fallthrough"},
               {"its", "reconv.first=fallthrough"}};
    for (int k = 0; k < N_KERNELS; k++) {
        const char *const set[] = {all[_i].set, NULL};
        if ((k + _i) % 3 && !test_every()) /* by default each row runs every third kernel */
            continue;
        run(kernels[k], "functional", NULL, BLOCKS, THREADS, &want);
        run(kernels[k], all[_i].model, set, BLOCKS, THREADS, &got);
        same(kernels[k], all[_i].set);
    }
}
END_TEST

/* Each scheduler has an active set of one warp. A warp that waits must leave the active set, but a warp of which only
 * one path waits must stay. */
START_TEST(memory_is_equal_with_an_active_set_of_one) {
    static const char *const set[] = {"sched.policy=two_level", "sched.active_warps=1", NULL};
    run(kernels[_i], "functional", NULL, BLOCKS, THREADS, &want);
    for (int m = 0; m < timed_models()->n; m++) {
        if ((m + _i) % 4 && !test_every()) /* tests every fourth model; the next kernels use the other models */
            continue;
        run(kernels[_i], timed_models()->name[m], set, BLOCKS, THREADS, &got);
        same(kernels[_i], timed_models()->name[m]);
    }
}
END_TEST

/* On structured kernels, SPE, DPE and `its` must issue the same warp instructions with the same masks. DWS may issue
 * more instructions. */
START_TEST(structured_counts_are_equal) {
    static const char *const structured[] = {"if_else", "loop_trips", "barrier_after_divergence", "divergent_calls"};
    const char *kernel = structured[_i];
    run(kernel, "spe", NULL, BLOCKS, THREADS, &want);
    for (int m = 0; m < 2; m++) {
        run(kernel, (const char *[]){"dpe", "its"}[m], NULL, BLOCKS, THREADS, &got);
        ck_assert_double_eq(got.instructions, want.instructions);
        ck_assert_double_eq(got.utilization, want.utilization);
    }
    if (strcmp(kernel, "divergent_calls") == 0)
        return; /* splits from two call sites merge in the called function, so DWS may issue fewer instructions there */
    run(kernel, "dws100", NULL, BLOCKS, THREADS, &got);
    ck_assert_double_ge(got.instructions, want.instructions);
}
END_TEST

/* A spin lock between the threads of one warp, with the critical section after the loop. The thread that gets the lock
 * waits at the reconvergence point for the other threads, and these wait for the lock. So the kernel deadlocks on a
 * stack. */
START_TEST(spin_lock_deadlocks_on_a_stack) {
    const char *const set[] = {"deadlock.cycles=20000", NULL};
    run("spin_lock", (const char *[]){"spe", "dpe"}[_i], set, 1, 32, &got);
    ck_assert_msg(got.status == HEDDLE_DEADLOCK, "%d: %s", got.status, got.error);
    ck_assert_msg(strstr(got.error, "warp 0") != NULL, "%s", got.error);
    ck_assert_msg(strstr(got.error, "divergence.ptx:") != NULL, "%s", got.error);
}
END_TEST

/* Under DWS, the branch of the spin loop subdivides the warp. So the thread with the lock is in a split of its own,
 * which can run. */
START_TEST(spin_lock_ends_when_the_loop_subdivides) {
    uint32_t sum = first_inputs(32);
    run("spin_lock", "dws100", NULL, 1, 32, &got);
    ck_assert_msg(got.status == HEDDLE_OK, "%s", got.error);
    ck_assert_uint_eq(got.out[1], sum);
}
END_TEST

START_TEST(spin_lock_ends_with_forward_progress) {
    uint32_t sum = first_inputs(32);
    const char *const set[] = {"si.yield=on", NULL};
    run("spin_lock", (const char *[]){"its", "si"}[_i], set, 1, 32, &got);
    ck_assert_msg(got.status == HEDDLE_OK, "%s", got.error);
    ck_assert_uint_eq(got.out[1], sum);
}
END_TEST

SUITE(models) {
    TEST_LOOP(memory_is_equal_in_the_interpreter, 0, N_KERNELS);
    TEST_LOOP(memory_is_equal_in_time, 0, N_KERNELS);
    TEST_LOOP(memory_is_equal_with_an_active_set_of_one, 0, N_KERNELS);
    TEST_LOOP(memory_is_equal_with_options, 0, 15);
    TEST_LOOP(structured_counts_are_equal, 0, 4);
    TEST_LOOP(spin_lock_deadlocks_on_a_stack, 0, 2);
    TEST(spin_lock_ends_when_the_loop_subdivides);
    TEST_LOOP(spin_lock_ends_with_forward_progress, 0, 2);
}
