/* Tests that heddle_stop() ends any launch soon: in the functional model with native code, without native code and with
 * the checker, and in every timing model. The tests use one or several host threads, and also the option gpu.poll. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Kernel bodies that run for longer than a minute. In the text, %d is replaced by the buffer, %t by the thread's number
 * in the CTA, %l by its lane, and %b by the CTA's number. */
static const struct endless {
    const char *name, *body;
    uint32_t ctas, threads;
} endless[] = {
    {"counts", "L: add.u32 %r1,%r1,1; bra L;", 4, 128},
    {"jumps to itself", "L: bra L;", 2, 64},
    {"diverges", "L: add.u32 %r1,%r1,%t; and.b32 %r2,%r1,3; setp.eq.u32 %p,%r2,0; @%p bra L; add.u32 %r1,%r1,7; bra L;",
     4, 64},
    {"loads and stores", "L: ld.global.u32 %r1,[%d]; add.u32 %r1,%r1,1; st.global.u32 [%d],%r1; bra L;", 3, 96},
    {"atomics", "L: atom.global.add.u32 %r1,[%d],1; bra L;", 6, 64},
    {"volatile", "L: ld.volatile.global.u32 %r1,[%d]; add.u32 %r2,%r2,1; st.volatile.global.u32 [%d+4],%r2; bra L;", 2,
     32},
    {"reductions", "L: red.global.add.u32 [%d],%t; red.shared.add.u32 [s],%t; bra L;", 2, 64},
    {"barriers", "L: bar.sync 0; add.u32 %r1,%r1,1; bra L;", 2, 256},
    {"sleeps", "L: nanosleep.u32 1000000; add.u32 %r1,%r1,1; bra L;", 2, 32},
    {"reads the clock", "L: mov.u64 %c,%clock64; st.shared.u64 [s],%c; bra L;", 1, 32},
    {"calls", "L: call f; add.u32 %r1,%r1,1; bra L;", 2, 64},
    {"branches by index", "L: add.u32 %r1,%r1,1; and.b32 %r2,%r1,1; brx.idx %r2,T; M: add.u32 %r1,%r1,2; bra L;", 2,
     64},
    {"votes", "L: vote.sync.any.pred %p,%p,-1; add.u32 %r1,%r1,1; bra L;", 2, 64},
    {"copies", "L: cp.async.ca.shared.global [s],[%d],4; cp.async.wait_all; add.u32 %r1,%r1,1; bra L;", 2, 32},
    {"long block", "L: add.u32 %r1,%r1,1; sin.approx.f32 %f,%f; div.rn.f32 %f,%f,%f; sqrt.rn.f32 %f,%f; bra L;", 2,
     512},
    {"one lane", "setp.ne.u32 %p,%l,0; @%p exit; L: add.u32 %r1,%r1,1; bra L;", 3, 32},
    {"empty CTAs", "", 0x7fffffff, 32},
    {"short CTAs", "st.global.u32 [%d],%b;", 0x7fffffff, 64},
};
enum { N_ENDLESS = sizeof endless / sizeof endless[0] };

/* A configuration in which the kernels run: a timing model or "functional", a preset, and options. */
struct way {
    const char *model, *config, *set[2];
    uint32_t threads;
    bool check;
};

static struct heddle *h;

static double now_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double asked;
enum { AFTER_MS = 30 };
static void *stop_soon(void *unused) {
    (void)unused;
    usleep(AFTER_MS * 1000);
    asked = now_of(CLOCK_PROCESS_CPUTIME_ID);
    heddle_stop(h);
    return NULL;
}

static struct heddle_module *load(const struct endless *e) {
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { ret; }\n.visible .entry k(.param .u64 q) {\n"
             ".reg .b32 %%r<4>,%%t,%%l,%%b; .reg .b64 %%d,%%c; .reg .pred %%p; .reg .f32 %%f; .shared .b32 s[64];\n"
             "T: .branchtargets L, M;\nld.param.u64 %%d,[q]; mov.u32 %%t,%%tid.x; mov.u32 %%l,%%laneid;"
             " mov.u32 %%b,%%ctaid.x; mov.f32 %%f,0f3F000000;\n%s%s\nret;\n}\n",
             e->body,
             strstr(e->body, "M:")   ? ""
             : strstr(e->body, "L:") ? "\nM:"
                                     : "\nL: M:");
    return heddle_module_text(h, "endless.ptx", text, strlen(text));
}

/* Calls heddle_stop() AFTER_MS milliseconds after the launch begins. The launch must end within one more second of
 * processor time. */
static void stop_one(const struct endless *e, const struct way *way) {
    char err[512], what[256];
    snprintf(what, sizeof what, "%s in %s on %s %s %s, %u threads%s", e->name, way->model, way->config,
             way->set[0] ? way->set[0] : "", way->set[0] && way->set[1] ? way->set[1] : "", way->threads,
             way->check ? ", checked" : "");
    const char *const set[] = {way->set[0], way->set[0] ? way->set[1] : NULL, NULL};
    h = heddle_open(
        &(struct heddle_options){
            .model = way->model, .config = way->config, .set = set, .threads = way->threads, .check = way->check},
        err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", what, err);
    struct heddle_module *m = load(e);
    ck_assert_msg(m != NULL, "%s: %s", what, heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    heddle_clear(h, p, 4096);
    const struct heddle_arg arg = {&p, 8};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){e->ctas, 1, 1}, (struct heddle_dim){e->threads, 1, 1}, 0, &arg, 1);
    double spent = now_of(CLOCK_PROCESS_CPUTIME_ID) - asked;
    pthread_join(thread, NULL);
    ck_assert_msg(s == HEDDLE_STOPPED, "%s: status %d, not stopped: %s", what, s, heddle_error(h));
    ck_assert_msg(spent < 1.0 * way->threads, "%s: %g seconds of a processor after heddle_stop()", what, spent);
    heddle_close(h);
}

static const struct way functional[] = {
    {"functional", "fermi", {NULL}, 1, false},
    {"functional", "fermi", {NULL}, 3, false},
    {"functional", "turing", {"gpu.jit=off"}, 1, false},
    {"functional", "turing", {"gpu.jit=off"}, 2, false},
    {"functional", "turing", {"gpu.jit_after=0"}, 1, false},
    {"functional", "volta-classic", {"reconv=its"}, 2, false},
    {"functional", "fermi", {"reconv=dws", "gpu.jit=off"}, 1, false},
    {"functional", "fermi", {"reconv=minpc"}, 1, false},
    {"functional+dac", "fermi", {NULL}, 1, false},
    {"functional+dac", "fermi", {NULL}, 2, false},
    {"functional+chain+fold+reduce", "pepsc", {NULL}, 2, false},
    {"functional", "fermi", {"gpu.order=strict"}, 2, false},
    {"functional", "fermi", {NULL}, 1, true},
    {"functional", "turing", {"reconv=its"}, 1, true},
};
enum { N_FUNCTIONAL = sizeof functional / sizeof functional[0] };

/* Returns true if the kernel runs in the configuration `way`. By default each kernel runs in some configurations, and
 * each configuration runs some kernels. With HEDDLE_EVERY, all pairs run. */
static bool taken(int kernel, int way) { return test_every() || (kernel + way) % 8 == 0; }

START_TEST(the_functional_model_stops) {
    for (int i = 0; i < N_ENDLESS; i++)
        if (taken(i, _i))
            stop_one(&endless[i], &functional[_i]);
}
END_TEST

START_TEST(the_timing_model_stops) {
    static const char *const configs[] = {"fermi", "turing", "volta-classic", "pepsc", "turing-rtx2060", "gt200"};
    static const char *const options[] = {"gpu.poll=false", "gpu.poll=true"};
    const struct every_model *all = mixed_models();
    const char *model = all->name[_i];
    for (int i = 0; i < N_ENDLESS; i++) {
        struct way way = {.model = model,
                          .config = configs[(i + _i / 2) % 6],
                          .set = {options[(i + _i) / 3 % 2],
                                  /* with a lower limit, deadlock detection could end the launch before the stop */
                                  "deadlock.cycles=2147483647"},
                          .threads = 1 + (uint32_t)(i + _i) / 5 % 3};
        if (taken(i, _i))
            stop_one(&endless[i], &way);
    }
}
END_TEST

SUITE(host_stop) {
    TEST_LOOP(the_functional_model_stops, 0, N_FUNCTIONAL);
    TEST_LOOP(the_timing_model_stops, 0, mixed_models()->n);
}
