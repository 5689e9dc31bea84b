/* Tests several simulators in one process, each in its own thread. Also tests that other threads can stop them. `make
 * tsan` runs this suite under the thread sanitizer. */
#include "host/heddle.h"
#include "test/test.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
/* Computes to[i] += i * by, through shared memory, with a divergent branch and an atomic counter. */
static const char work[] =
    HEAD ".global .u32 count = 0;\n.visible .entry work(.param .u64 to, .param .u32 by) {\n"
         ".shared .align 4 .b8 s[512]; .reg .pred %p; .reg .u64 %t,%o,%c; .reg .u32 %i,%x,%b,%n,%v,%w,%m;\n"
         "mov.u32 %x,%tid.x; mov.u32 %b,%ctaid.x; mov.u32 %n,%ntid.x; mad.lo.u32 %i,%b,%n,%x;\n"
         "ld.param.u32 %m,[by]; mul.lo.u32 %v,%i,%m; shl.b32 %w,%x,2; st.shared.u32 [%w],%v; bar.sync 0;\n"
         "ld.shared.u32 %v,[%w]; setp.lt.u32 %p,%x,16; @%p bra SMALL; add.u32 %v,%v,0; bra.uni JOIN;\n"
         "SMALL: add.u32 %v,%v,0; JOIN: ld.param.u64 %t,[to]; mul.wide.u32 %o,%i,4; add.u64 %t,%t,%o;\n"
         "ld.global.u32 %b,[%t]; add.u32 %v,%v,%b; st.global.u32 [%t],%v;\n"
         "mov.u64 %c,count; atom.global.add.u32 %v,[%c],1; ret; }\n"
         ".visible .entry spin() { .reg .u32 %r; mov.u32 %r,0; L: add.u32 %r,%r,1; bra L; }\n";

enum { GRID = 8, BLOCK = 128, N = GRID * BLOCK, ROUNDS = 3, SIMULATORS = 6 };

struct simulator {
    const char *model;
    uint32_t host_threads, by;
    double cycles;
    char *json;
    const char *wrong;
};

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            s->wrong = #condition;                                                                                     \
            heddle_close(h);                                                                                           \
            return NULL;                                                                                               \
        }                                                                                                              \
    } while (0)

/* Runs one simulator from heddle_open() to heddle_close(). Writes errors to s->wrong, which the main
 * thread checks. */
static void *live(void *at) {
    struct simulator *s = at;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = s->model,
                                                            .threads = s->host_threads,
                                                            .profile = strcmp(s->model, "functional") != 0},
                                   NULL, 0);
    MUST(h != NULL);
    struct heddle_module *m = heddle_module_text(h, "work.ptx", work, sizeof work - 1);
    uint64_t to = heddle_alloc(h, 4 * N);
    MUST(m && to);
    const struct heddle_arg args[] = {{&to, 8}, {&s->by, 4}};
    for (int i = 0; i < ROUNDS; i++) {
        MUST(heddle_launch(h, m, "nothing", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, NULL, 0) ==
             HEDDLE_USAGE);
        MUST(strstr(heddle_error(h), "nothing") != NULL);
        MUST(heddle_launch(h, m, "work", (struct heddle_dim){GRID, 1, 1}, (struct heddle_dim){BLOCK, 1, 1}, 0, args,
                           2) == HEDDLE_OK);
        MUST(heddle_status(h) == HEDDLE_OK && !*heddle_error(h));
    }
    uint32_t got[N], count = 0;
    MUST(heddle_read(h, to, got, sizeof got) == HEDDLE_OK);
    for (uint32_t i = 0; i < N; i++)
        MUST(got[i] == ROUNDS * i * s->by);
    MUST(heddle_read(h, heddle_symbol(h, m, "count", NULL), &count, 4) == HEDDLE_OK && count == ROUNDS * N);
    s->cycles = heddle_stat(h, -1, "gpu.cycles");
    size_t len;
    FILE *out = open_memstream(&s->json, &len);
    MUST(out != NULL);
    MUST(heddle_write_json(h, out, 0, NULL, -1) == HEDDLE_OK);
    fclose(out);
    heddle_close(h);
    return NULL;
}

/* Removes the lines about host time and host memory from statistics. */
static void drop_host(char *json) {
    for (char *at; (at = strstr(json, "\"host."));) {
        char *end = strchr(at, '\n');
        memmove(at, end + 1, strlen(end));
    }
}

static const struct simulator kinds[] = {
    {.model = "functional", .host_threads = 1}, {.model = "functional", .host_threads = 3},
    {.model = "spe", .host_threads = 1},        {.model = "dws", .host_threads = 2},
    {.model = "its", .host_threads = 1},        {.model = "spe", .host_threads = 1},
};
_Static_assert(sizeof kinds / sizeof kinds[0] == SIMULATORS, "a kind a simulator");

/* Each simulator that runs together with others has the same statistics as when it runs alone. */
START_TEST(several_simulators) {
    struct simulator alone[SIMULATORS], together[SIMULATORS];
    pthread_t threads[SIMULATORS];
    for (int i = 0; i < SIMULATORS; i++) {
        alone[i] = together[i] = kinds[i];
        alone[i].by = together[i].by = (uint32_t)i + 1;
        live(&alone[i]);
        ck_assert_msg(!alone[i].wrong, "%d: %s", i, alone[i].wrong);
    }
    for (int i = 0; i < SIMULATORS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, live, &together[i]), 0);
    for (int i = 0; i < SIMULATORS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SIMULATORS; i++) {
        ck_assert_msg(!together[i].wrong, "%d: %s", i, together[i].wrong);
        ck_assert_double_eq(alone[i].cycles, together[i].cycles);
        drop_host(alone[i].json);
        drop_host(together[i].json);
        ck_assert_msg(strcmp(alone[i].json, together[i].json) == 0, "%d: other statistics than alone", i);
        free(alone[i].json);
        free(together[i].json);
    }
}
END_TEST

static struct heddle *_Atomic stopped;

static void on_alarm(int number) {
    (void)number;
    heddle_stop(atomic_load(&stopped));
}

static struct heddle *opened(const char *model, uint32_t threads, struct heddle_module **m) {
    char err[256];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    *m = heddle_module_text(h, "work.ptx", work, sizeof work - 1);
    ck_assert_msg(*m != NULL, "%s", heddle_error(h));
    return h;
}

static enum heddle_status spin(struct heddle *h, struct heddle_module *m) {
    return heddle_launch(h, m, "spin", (struct heddle_dim){4, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, NULL, 0);
}

START_TEST(a_signal_ends_a_launch) {
    struct heddle_module *m;
    struct heddle *h = opened(_i & 1 ? "spe" : "functional", _i & 2 ? 2 : 1, &m);
    struct sigaction mine = {.sa_handler = on_alarm}, old;
    atomic_store(&stopped, h);
    ck_assert_int_eq(sigaction(SIGALRM, &mine, &old), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 50000}, NULL), 0);
    ck_assert_int_eq(spin(h, m), HEDDLE_STOPPED);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "stopped after"));
    ck_assert_str_eq(heddle_incomplete(h, -1), "stopped");
    sigaction(SIGALRM, &old, NULL);
    ck_assert_int_ne(heddle_alloc(h, 4), 0); /* which clears it */
    ck_assert_int_eq(heddle_status(h), HEDDLE_OK);
    ck_assert_str_eq(heddle_error(h), "");
    heddle_close(h);
}
END_TEST

static atomic_bool over;

/* Calls heddle_stop() every 0.2 ms, with valid and invalid handles. */
static void *stop_all(void *at) {
    struct heddle *const *const h = at;
    while (!atomic_load(&over)) {
        heddle_stop(h[0]);
        heddle_stop(h[1]);
        heddle_stop(NULL);
        heddle_stop((struct heddle *)(void *)&over);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return NULL;
}

struct spinner {
    struct heddle *h;
    struct heddle_module *m;
    int stopped;
};

static void *spin_often(void *at) {
    struct spinner *s = at;
    for (int i = 0; i < 50; i++)
        s->stopped += spin(s->h, s->m) == HEDDLE_STOPPED;
    return NULL;
}

START_TEST(stops_from_two_threads_at_any_moment) {
    struct spinner a = {0}, b = {0};
    a.h = opened("functional", 1, &a.m);
    b.h = opened("spe", 2, &b.m);
    struct heddle *both[] = {a.h, b.h};
    pthread_t stoppers[2], spinners[2];
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&stoppers[i], NULL, stop_all, both), 0);
        ck_assert_int_eq(pthread_create(&spinners[i], NULL, spin_often, i ? &b : &a), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(spinners[i], NULL);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(stoppers[i], NULL);
    ck_assert_int_eq(a.stopped, 50);
    ck_assert_int_eq(b.stopped, 50);
    heddle_close(a.h);
    heddle_close(b.h);
}
END_TEST

/* Opens and closes contexts, and counts in *opened_ones how often both worked. After a context is closed, the handle of
 * its module must be invalid. Several threads execute this function at once. */
static void *open_and_close(void *at) {
    int *const opened_ones = at;
    for (int i = 0; i < 40; i++) {
        struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional"}, NULL, 0);
        struct heddle_module *m = h ? heddle_module_text(h, "work.ptx", work, sizeof work - 1) : NULL;
        *opened_ones += m && heddle_address_size(m) == 64 && heddle_alloc(h, 64) != 0;
        heddle_close(h);
        *opened_ones -= heddle_address_size(m) != 0;
    }
    return NULL;
}

START_TEST(handles_of_several_threads) {
    enum { THREADS = 4 };
    int good[THREADS] = {0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_and_close, &good[i]), 0);
    for (int i = 0; i < 2000; i++) {
        ck_assert_uint_eq(heddle_alloc(NULL, 4), 0);
        ck_assert_int_eq(heddle_status((struct heddle *)(void *)&good), HEDDLE_USAGE);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(good[i], 40);
    }
}
END_TEST

SUITE(host_threads) {
    tcase_set_timeout(tc, 60);
    TEST(several_simulators);
    TEST_LOOP(a_signal_ends_a_launch, 0, 4);
    TEST(stops_from_two_threads_at_any_moment);
    TEST(handles_of_several_threads);
}
