/* Tests threads that exit before other threads reach a barrier or collective operation, in all models. The kernels of
 * test/kernels/early_exit.cu, compiled by nvcc at three optimisation levels, are compared with C. Also compares
 * branches to an exit with exits that have a guard. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { N = 96 };

static bool odd(int i) { return i & 1; }

/* These functions compute the expected results in C. At first out[i] is 1000 + i. Threads from number n on exit early.
 * Each function has the name of its kernel. */
static void want_sum(uint32_t *out, int n, uint32_t (*value)(int)) {
    uint32_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += value(i);
    for (int i = 0; i < n; i++)
        out[i] = sum;
}
static uint32_t one_more(int i) { return (uint32_t)i + 1; }
static uint32_t twice(int i) { return 2 * (uint32_t)i; }
static uint32_t fourth_is_one(int i) { return i % 4 == 3 ? 1 : (uint32_t)i; }
static uint32_t by_case(int i) {
    uint32_t u = (uint32_t)i;
    return i % 3 == 0 ? u * 3 : i % 3 == 1 ? (u ^ 5) : u + 100;
}

static void guard(uint32_t *out, int n) { want_sum(out, n, one_more); }
static void in_function(uint32_t *out, int n) { want_sum(out, n, twice); }
static void else_return(uint32_t *out, int n) { want_sum(out, n, fourth_is_one); }
static void switch_return(uint32_t *out, int n) { want_sum(out, n, by_case); }
static void two_guards(uint32_t *out, int n) {
    want_sum(out, n, one_more);
    for (int i = 1; i < n; i += 2)
        out[i] = (uint32_t)(i + 1) % (uint32_t)n + 1;
}
/* Computes the results of the kernel loop_return. Iteration r has n - r active threads, 0 to n - r - 1. Thread i reads
 * from thread (i + 1) % (n - 3), which is active in every iteration. */
static void loop_return(uint32_t *out, int n) {
    for (int i = 0; i < n; i++) {
        uint32_t t = 0;
        for (int r = 0; r < 4 && i < n - r; r++)
            out[i] = t += (uint32_t)((i + 1) % (n - 3) + r);
    }
}
/* Computes the results of the kernel loop_fall. In each of three iterations, thread i adds the value `left` (3, 2, 1)
 * of thread i / 2 * 2, which is below n if i is. */
static void loop_fall(uint32_t *out, int n) {
    for (int i = 0; i < n; i++)
        out[i] += 3 + 2 + 1;
}
static void ballot(uint32_t *out, int n) {
    for (int first = 0; first < n; first += 32) {
        uint32_t bits = 0, here = 0;
        for (int i = first; i < first + 32 && i < n; i++, here++)
            bits |= (uint32_t)odd(i) << (i - first);
        for (int i = first; i < first + 32 && i < n; i++)
            out[i] = bits + (uint32_t)first * 7 + here;
    }
}
static void vote_then_store(uint32_t *out, int n) {
    for (int i = 0; i < N; i++)
        out[i] = i >= n ? 5 : i < 32 ? 7 : 8;
}
static void half_barrier(uint32_t *out, int n) {
    for (int i = 0; i < n; i++)
        out[i] = (uint32_t)(n - 1 - i);
}
/* Computes the results of the kernel search_rounds: three rounds add the steps from i + 1 down to 1, times the value of
 * the next thread, which is its number plus the round. */
static void search_rounds(uint32_t *out, int n) {
    for (int i = 0; i < n; i++) {
        uint32_t steps = 1;
        for (uint32_t at = (uint32_t)i + 1; at > 1; at = at & 1 ? at - 1 : at / 2)
            steps++;
        out[i] += steps * (3 * (uint32_t)((i + 1) % n) + 0 + 1 + 2);
    }
}

#define KERNEL(name) #name, name
static const struct {
    const char *name;
    void (*want)(uint32_t *out, int n);
    int least; /* least value of n */
} kernels[] = {{KERNEL(guard), 1},         {KERNEL(two_guards), 1},    {KERNEL(loop_return), 4},
               {KERNEL(loop_fall), 0},     {KERNEL(switch_return), 1}, {KERNEL(else_return), 0},
               {KERNEL(in_function), 1},   {KERNEL(ballot), 1},        {KERNEL(vote_then_store), 4},
               {KERNEL(half_barrier), 65}, /* a thread of the third warp must reach the barrier of 96 threads */
               {KERNEL(search_rounds), 1}};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

struct device {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t out;
};

/* Opens a device. If `timed` is true, `model` is a timing model. Otherwise it is the reconvergence model that the
 * functional model uses. */
static struct device open_device(const char *model, bool timed, const char *option, const char *path,
                                 const char *text) {
    char err[512], key[32];
    snprintf(key, sizeof key, "reconv=%s", model);
    const char *const set[] = {timed ? option : key, timed ? NULL : option, NULL};
    struct heddle_options o = {
        .model = timed ? model : "functional", .config = "fermi", .set = set, .cycle_limit = 1000000};
    struct device d = {.h = heddle_open(&o, err, sizeof err)};
    ck_assert_msg(d.h != NULL, "%s", err);
    d.m = text ? heddle_module_text(d.h, path, text, strlen(text)) : heddle_module_file(d.h, path);
    ck_assert_msg(d.m != NULL, "%s", heddle_error(d.h));
    d.out = heddle_alloc(d.h, 4 * N);
    return d;
}

static void launch(struct device *d, const char *kernel, int n, uint32_t out[N], const char *what) {
    for (uint32_t i = 0; i < N; i++)
        out[i] = 1000 + i;
    heddle_write(d->h, d->out, out, 4 * N);
    const struct heddle_arg args[] = {{&d->out, 8}, {&n, 4}};
    enum heddle_status s =
        heddle_launch(d->h, d->m, kernel, (struct heddle_dim){1, 1, 1}, (struct heddle_dim){N, 1, 1}, 0, args, 2);
    ck_assert_msg(s == HEDDLE_OK, "%s, %s, n = %d: %s", kernel, what, n, heddle_error(d->h));
    heddle_read(d->h, d->out, out, 4 * N);
}

static void all_kernels(const char *model, bool timed, const char *option) {
    static const char *const files[] = {"test/kernels/early_exit_o0.ptx", "test/kernels/early_exit_o1.ptx",
                                        "test/kernels/early_exit_o3.ptx"};
    static const int sizes[] = {0, 1, 31, 32, 33, 64, 70, 75, 95, 96};
    for (int f = 0; f < 3; f++) {
        struct device d = open_device(model, timed, option, files[f], NULL);
        for (int k = 0; k < N_KERNELS; k++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                uint32_t got[N], want[N];
                if (sizes[s] < kernels[k].least)
                    continue;
                for (uint32_t i = 0; i < N; i++)
                    want[i] = 1000 + i;
                kernels[k].want(want, sizes[s]);
                launch(&d, kernels[k].name, sizes[s], got, files[f]);
                for (int i = 0; i < N; i++)
                    ck_assert_msg(got[i] == want[i], "%s of %s, %s%s, n = %d: out[%d] is %u, not %u", kernels[k].name,
                                  files[f], timed ? "" : "functional, ", model, sizes[s], i, got[i], want[i]);
            }
        heddle_close(d.h);
    }
}

START_TEST(compiled_in_the_interpreter) { all_kernels(timed_models()->name[_i], false, NULL); }
END_TEST

START_TEST(compiled_in_time) { all_kernels(timed_models()->name[_i], true, NULL); }
END_TEST

START_TEST(compiled_with_options) {
    static const char *const with[][2] = {
        {"spe", "reconv.first=fallthrough"}, {"dpe", "reconv.first=fallthrough"},   {"its", "reconv.first=fallthrough"},
        {"dpe", "dpe.forwarding=on"},        {"dpe", "dpe.scheduler=constrained"},  {"dpe", "dpe.memory_divergence=on"},
        {"dws10", "dws.wst_entries=2"},      {"dws10", "dws.memory=branch_bypass"}, {"si", "si.yield=on"}};
    all_kernels(with[_i][0], true, with[_i][1]);
}
END_TEST

/* Pairs of kernels with the same effect. In the first kernel of a pair, a branch goes to an exit; in the second, the
 * exit itself has the branch's guard. */
#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"            \
    ".reg .pred %p,%q; .reg .b32 %r<6>; .reg .b64 %a,%b;\nld.param.u64 %a,[out]; ld.param.u32 %r2,[n];\n"              \
    "mov.u32 %r1,%tid.x; mul.wide.u32 %b,%r1,4; add.u64 %a,%a,%b; setp.ge.u32 %p,%r1,%r2; mov.u32 %r3,0;\n"
#define STORE "st.global.u32 [%a],%r3; ret;\n"
/* A loop in which the lowest bits of the thread number give the number of iterations. The kernel ends after the
 * loop. */
#define ROUNDS                                                                                                         \
    "and.b32 %r4,%r1,3; L: add.u32 %r3,%r3,5; st.global.u32 [%a],%r3; setp.eq.u32 %q,%r4,0; sub.u32 %r4,%r4,1;\n"

/* Calls the function f at two places. Only the second call is executed, and it is the last call of the kernel. */
#define TWO_CALLS(leave)                                                                                               \
    ".version 7.0\n.target sm_70\n.address_size 64\n.func f(.param .u32 n)\n{\n.reg .pred %p; .reg .b32 %r<3>;\n"      \
    "ld.param.u32 %r2,[n]; mov.u32 %r1,%tid.x; setp.ge.u32 %p,%r1,%r2;\n" leave                                        \
    " bar.sync 0; E: ret;\n}\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n.reg .pred %q; .reg .b32 %r<4>;\n" \
    ".reg .b64 %a,%b;\nld.param.u64 %a,[out]; ld.param.u32 %r2,[n]; mov.u32 %r1,%tid.x; mul.wide.u32 %b,%r1,4;\n"      \
    "add.u64 %a,%a,%b; st.global.u32 [%a],%r1; setp.le.u32 %q,%r2,1000; @%q bra LAST;\n"                               \
    "{ .param .u32 x; st.param.u32 [x],%r2; call f,(x); } st.global.u32 [%a],%r2;\n"                                   \
    "LAST: { .param .u32 x; st.param.u32 [x],%r2; call f,(x); } ret;\n}\n"

static const struct {
    const char *name, *branch, *guard;
} pairs[] = {
    {"a bare ret", HEAD "@%p bra E; bar.sync 0; mov.u32 %r3,7;" STORE "E: ret; }",
     HEAD "@%p exit; bar.sync 0; mov.u32 %r3,7;" STORE "}"},
    {"the kernel's last ret", HEAD "@%p bra E; bar.sync 0; st.global.u32 [%a],%r3; E: ret; }",
     HEAD "@%p exit; bar.sync 0; st.global.u32 [%a],%r3; ret; }"},
    {"a chain of jumps", HEAD "@%p bra D; bar.sync 0; mov.u32 %r3,7;" STORE "C: bra.uni E; D: bra C; E: exit; }",
     HEAD "@%p exit; bar.sync 0; mov.u32 %r3,7;" STORE "}"},
    {"in a loop",
     HEAD "and.b32 %r4,%r1,3; L: @%p bra E; bar.sync 0; add.u32 %r3,%r3,1; setp.gt.u32 %p,%r3,%r4;\n"
          "bra L; E: ret; }",
     HEAD "and.b32 %r4,%r1,3; L: @%p exit; bar.sync 0; add.u32 %r3,%r3,1; setp.gt.u32 %p,%r3,%r4;\nbra L; }"},
    {"twice",
     HEAD "@%p bra E; vote.sync.ballot.b32 %r3,%p,-1; setp.lt.u32 %p,%r1,9; @%p bra E; bar.sync 0;" STORE "E: ret; }",
     HEAD "@%p exit; vote.sync.ballot.b32 %r3,%p,-1; setp.lt.u32 %p,%r1,9; @%p exit; bar.sync 0;" STORE "}"},
    {"out of a function called twice", TWO_CALLS("@%p bra E;"), TWO_CALLS("@%p exit;")},
    /* Threads that leave the loop do not execute the jump back to its start. In the first kernel they execute the
     * branch, which counts. In the second kernel they execute the exit. */
    {"out of a loop", HEAD ROUNDS "@!%q bra L; ret; }", HEAD ROUNDS "@%q exit; bra L; }"},
};
enum { N_PAIRS = sizeof pairs / sizeof pairs[0], LOOP_PAIR = N_PAIRS - 1 };

struct counts {
    double warp, thread;
    uint32_t out[N];
};

static void count(const char *text, const char *model, bool timed, int n, struct counts *c) {
    struct device d = open_device(model, timed, NULL, "t.ptx", text);
    launch(&d, "k", n, c->out, model);
    c->warp = heddle_stat(d.h, -1, "gpu.warp_instructions");
    c->thread = heddle_stat(d.h, -1, "gpu.thread_instructions");
    heddle_close(d.h);
}

/* Tests every second combination of model and n. With HEDDLE_EVERY: tests all combinations. */
START_TEST(branches_to_exits_count_as_exits) {
    for (int m = 0; m < timed_models()->n; m++)
        for (int timed = 0; timed < 2; timed++)
            for (int n = 0; n <= N; n += 24) {
                struct counts a, b;
                if (!test_every() && (m + n / 24) % 2)
                    continue;
                count(pairs[_i].branch, timed_models()->name[m], timed, n, &a);
                count(pairs[_i].guard, timed_models()->name[m], timed, n, &b);
                ck_assert_msg(memcmp(a.out, b.out, sizeof a.out) == 0, "%s, %s: other results", pairs[_i].name,
                              timed_models()->name[m]);
                if (_i == LOOP_PAIR) /* the second kernel executes an additional jump, so counts differ */
                    continue;
                /* a branch makes `large` form sub-warps anew, but an exit does not, so counts differ */
                if (strcmp(timed_models()->name[m], "large") == 0)
                    continue;
                ck_assert_msg(a.warp == b.warp && a.thread == b.thread, "%s, %s%s, n = %d: %g and %g, not %g and %g",
                              pairs[_i].name, timed ? "" : "functional, ", timed_models()->name[m], n, a.warp, a.thread,
                              b.warp, b.thread);
            }
}
END_TEST

/* No lane waits for lanes that only exit. Therefore spe, dpe and its diverge at the same instructions, and issue the
 * same number of warp instructions with the same masks:
 * - three warps issue 7 instructions and the branch;
 * - the two warps that contain the n = 40 remaining threads then issue bar, mov, st and ret.
 * These numbers hold for the first pair of kernels. For the other pairs, the test only compares the models. */
START_TEST(counts_do_not_depend_on_the_model) {
    static const char *const same[] = {"spe", "dpe", "its"};
    for (int p = 0; p < N_PAIRS; p++)
        for (int m = 0; m < 3; m++)
            for (int timed = 0; timed < 2; timed++) {
                struct counts a, b;
                count(pairs[p].branch, "spe", false, 40, &a);
                count(pairs[p].branch, same[m], timed, 40, &b);
                ck_assert_msg(a.warp == b.warp && a.thread == b.thread, "%s, %s: %g and %g, not %g and %g",
                              pairs[p].name, same[m], b.warp, b.thread, a.warp, a.thread);
                if (p == 0) {
                    ck_assert_double_eq(b.warp, 3 * 8 + 2 * 4);
                    ck_assert_double_eq(b.thread, 96 * 7 + 56 + 40 * 4);
                }
            }
}
END_TEST

SUITE(host_early_exit) {
    TEST_LOOP(compiled_in_the_interpreter, 0, timed_models()->n);
    TEST_LOOP(compiled_in_time, 0, timed_models()->n);
    TEST_LOOP(compiled_with_options, 0, 9);
    TEST_LOOP(branches_to_exits_count_as_exits, 0, N_PAIRS);
    TEST(counts_do_not_depend_on_the_model);
}
