/* Computes an upper bound for the speedup of the timing model by host threads. The model simulates in rounds
 * of jobs (timing/windows.h), which host threads can share: a job runs one SM or the memory side, in passes
 * (timing/passes.h). Here each benchmark runs on one thread, and each SM's job and each part of a pass is timed. Then
 * the time with 2, 4, 8 and 16 threads is computed. A round takes the longer of two times:
 * - all its parts, in the order of decreasing length, each on the thread that is free first
 * - the memory side alone: in each pass all threads share the partitions, and then one runs the rest. Another thread
 *   moves requests at the same time. A pass waits for the requests that it needs.
 * All other work stays on one thread.
 * The result is an upper bound because it assumes that synchronisation costs nothing and that each thread finds its
 * data in its caches.
 *
 * Usage: threads_speed [-c PRESET] [-p] [ROUNDS [BENCHMARK...]]
 *
 * Without names it runs the six benchmarks of `make bench`, in model spe, on preset fermi unless -c names another one,
 * with size small, or paper with -p. Every time is the minimum of ROUNDS equal runs. Prints one line for each
 * benchmark:
 * - the milliseconds on one thread
 * - the percentages of this time for work outside jobs (alone), for jobs that are too few to share (few), and, of each
 *   shared round, for the longest job of an SM or the memory side with 16 threads (longest)
 * - the number of rounds, and the number of rounds whose jobs can be shared
 * - the bounds for 2, 4, 8 and 16 threads */
#include "benchmarks/bench.h"
#include "host/context.h"
#include "timing/windows.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct part {
    enum windows_event what;
    double seconds; /* minimum of the times in all runs */
};

/* Where the benchmarks run. */
struct setting {
    const char *preset;
    enum bench_size size;
};

struct parts {
    struct part *part;
    size_t n, cap, told; /* numbers of parts: in `part`; allocated; reported by the present run */
    double last;         /* time when the last part ended */
    double look;         /* time between two consecutive clock readings */
    bool differs;        /* the parts are not the parts of the previous run, or memory ran out */
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the least number of seconds between two consecutive clock readings. */
static double look(void) {
    double least = 1;
    for (int i = 0; i < 10000; i++) {
        double t = now();
        t = now() - t;
        least = t < least ? t : least;
    }
    return least;
}

static bool add(struct parts *p, enum windows_event what) {
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 4096;
        struct part *part = realloc(p->part, cap * sizeof *part);
        if (!part)
            return false;
        p->part = part;
        p->cap = cap;
    }
    p->part[p->n++] = (struct part){what, 1e9};
    return true;
}

static void told(void *ctx, enum windows_event what) {
    struct parts *p = ctx;
    double seconds = now() - p->last - p->look;
    if (p->told == p->n && !add(p, what)) {
        p->differs = true;
        return;
    }
    struct part *part = &p->part[p->told++];
    p->differs |= part->what != what;
    if (seconds < part->seconds)
        part->seconds = seconds < 0 ? 0 : seconds;
    p->last = now();
}

/* Runs the benchmark once and times its parts: a part ends at each event of a window (timing/windows.h). A repeated run
 * must have the same parts as the first run. */
static bool run(const struct bench *b, const struct setting *how, struct parts *p) {
    char err[512] = "", path[4096];
    struct windows_watch watch = {told, p};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "spe", .config = how->preset}, err, sizeof err);
    size_t before = p->n;
    p->told = 0;
    p->last = now();
    bool ok = h && bench_kernel_path(b->ptx, path, sizeof path);
    struct heddle_module *m = ok ? heddle_module_file(h, path) : NULL;
    if (m) {
        gpu_watch(h->gpu, &watch);
        ok = b->run(h, m, how->size, err, sizeof err) == HEDDLE_OK;
    }
    if (h && (!m || !ok) && !err[0])
        snprintf(err, sizeof err, "%s", heddle_error(h));
    if (!m || !ok || p->differs || (before && p->told != before))
        fprintf(stderr, "threads_speed: %s: %s\n", b->name, err[0] ? err : "its runs differ");
    heddle_close(h);
    return m && ok && !p->differs && (!before || p->told == before);
}

static int longer(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Returns the seconds that `threads` threads need for `n` jobs, which are sorted by duration. */
static double dealt(const double *job, size_t n, uint32_t threads) {
    double busy[16] = {0}, most = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t least = 0;
        for (uint32_t t = 1; t < threads; t++)
            least = busy[t] < busy[least] ? t : least;
        busy[least] += job[i];
        most = busy[least] > most ? busy[least] : most;
    }
    return most;
}

enum { JOBS = 8192, COUNTS = 5 };
static const uint32_t counts[COUNTS] = {1, 2, 4, 8, 16};

struct sums {
    double seconds[COUNTS]; /* time with the number of threads in counts[] */
    /* times: of work outside jobs; of jobs that are too few to share; of the longest part of each shared round */
    double alone, few, longest;
    size_t rounds, shared; /* number of rounds; number of rounds whose jobs are shared */
};

/* A shared round. */
struct round {
    double part[JOBS]; /* seconds */
    size_t n;
    double memory[COUNTS]; /* seconds of the memory side with the number of threads in counts[] */
    double longest;        /* seconds of the longest job of an SM */
};

/* Adds a pass whose partitions are the parts from `pass` on. It begins `begin` seconds after the round or later. The
 * rest of the memory side takes `rest` seconds. */
static void add_pass(struct round *r, size_t pass, double rest, double begin) {
    qsort(&r->part[pass], r->n - pass, sizeof *r->part, longer);
    for (int k = 0; k < COUNTS; k++) {
        r->memory[k] = r->memory[k] > begin ? r->memory[k] : begin;
        r->memory[k] += rest + dealt(&r->part[pass], r->n - pass, counts[k]);
    }
}

/* Adds the parts of a round from part `i` on. Returns the number of the part after them. */
static size_t add_round(struct round *r, const struct parts *p, size_t i) {
    size_t pass = 0;   /* the first part of the present pass */
    double follow = 0; /* seconds of the requests so far */
    *r = (struct round){.n = 0};
    for (; i < p->n && p->part[i].what >= WINDOWS_PARTITION && r->n < JOBS; i++) {
        const double seconds = p->part[i].seconds;
        const enum windows_event what = p->part[i].what;
        if (what == WINDOWS_JOB)
            r->longest = seconds > r->longest ? seconds : r->longest;
        if (what == WINDOWS_FOLLOW)
            follow += seconds;
        if (what == WINDOWS_LEAD)
            add_pass(r, pass, seconds, follow);
        if (what == WINDOWS_LEAD || what == WINDOWS_FOLLOW)
            pass = r->n + 1;
        r->part[r->n++] = seconds;
    }
    for (int k = 0; k < COUNTS; k++)
        r->memory[k] = r->memory[k] > follow ? r->memory[k] : follow;
    qsort(r->part, r->n, sizeof *r->part, longer);
    return i;
}

static struct sums sum(const struct parts *p) {
    struct sums s = {.rounds = 0};
    struct round r;
    for (size_t i = 0; i < p->n;) {
        const bool shared = p->part[i].what == WINDOWS_ALONE;
        const double alone = p->part[i].what == WINDOWS_OUTSIDE ? 0 : p->part[i].seconds;
        i = add_round(&r, p, i + 1);
        for (int k = 0; k < COUNTS; k++) {
            const double jobs = dealt(r.part, r.n, shared ? counts[k] : 1);
            s.seconds[k] += alone + (shared && r.memory[k] > jobs ? r.memory[k] : jobs);
        }
        s.alone += alone;
        s.few += shared ? 0 : dealt(r.part, r.n, 1);
        if (shared)
            s.longest += r.memory[COUNTS - 1] > r.longest ? r.memory[COUNTS - 1] : r.longest;
        s.rounds++;
        s.shared += shared;
    }
    return s;
}

static bool measure(const char *name, const struct setting *how, int rounds) {
    const struct bench *b = bench_find(name);
    struct parts p = {.look = look()};
    bool ok = b != NULL;
    if (!b)
        fprintf(stderr, "threads_speed: there is no benchmark '%s'\n", name);
    for (int i = 0; ok && i < rounds; i++)
        ok = run(b, how, &p);
    if (ok) {
        struct sums s = sum(&p);
        printf("%-10s %8.1f %8.1f %8.1f %8.1f %8zu %8zu", name, s.seconds[0] * 1e3, 100 * s.alone / s.seconds[0],
               100 * s.few / s.seconds[0], 100 * s.longest / s.seconds[0], s.rounds, s.shared);
        for (int k = 1; k < COUNTS; k++)
            printf(" %6.2f", s.seconds[0] / s.seconds[k]);
        printf("\n");
    }
    free(p.part);
    return ok;
}

int main(int argc, char **argv) {
    static const char *const six[] = {"lud", "bfs", "hotspot", "sgemm", "reduction", "vecadd"};
    struct setting how = {"fermi", BENCH_SMALL};
    for (int option; (option = getopt(argc, argv, "c:p")) != -1;)
        if (option == 'c')
            how.preset = optarg;
        else if (option == 'p')
            how.size = BENCH_PAPER;
        else
            return 2;
    argc -= optind;
    argv += optind;
    const int rounds = argc > 0 ? atoi(argv[0]) : 5;
    bool ok = rounds > 0;
    printf("%-10s %8s %8s %8s %8s %8s %8s %s\n", "", "ms", "% alone", "% few", "% longest", "rounds", "shared",
           "at most, of 2, 4, 8, 16 threads");
    for (int i = 0; ok && i < (argc > 1 ? argc - 1 : 6); i++)
        ok = measure(argc > 1 ? argv[i + 1] : six[i], &how, rounds);
    return ok ? 0 : 2;
}
