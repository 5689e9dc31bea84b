#ifndef BENCHMARKS_BENCH_H
#define BENCHMARKS_BENCH_H
/* A benchmark: a seeded input, launches, and a check against plain C. One file a program, one row in table.c. */
#include "host/heddle.h"

enum bench_size { BENCH_SMALL, BENCH_PAPER };

struct bench {
    const char *name, *help; /* help: one line, with what is particular about its control flow */
    const char *sets;        /* those that it is in, with a space between their names */
    const char *ptx;         /* file name in kernels/ */
    /* Runs it on `h` with module `m` (already loaded). HEDDLE_OK when the results are right, HEDDLE_WRONG with a
     * sentence in `why` when not, and any other status of the library passed through. */
    enum heddle_status (*run)(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size);
};

/* Every benchmark; `n` is their number. */
extern const struct bench *const benches[];
extern const int n_benches;
const struct bench *bench_find(const char *name);

/* Groups of benchmarks: to choose by, and to take geometric means over. The table is in table.c. */
struct bench_set {
    const char *name, *help;
};
extern const struct bench_set bench_sets[];
extern const int n_bench_sets;
/* Is `b` in the set `name`? */
bool bench_in(const struct bench *b, const char *name);

/* Seeded generator (splitmix64): equal everywhere. */
static inline uint64_t bench_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
/* Uniform in [lo, hi). */
static inline float bench_uniform(uint64_t *state, float lo, float hi) {
    return lo + (hi - lo) * (float)(bench_random(state) >> 40) * 0x1p-24f;
}

/* How many blocks of `block` threads cover `threads`. */
static inline uint32_t bench_blocks(uint32_t threads, uint32_t block) { return (threads + block - 1) / block; }

/* Helpers of the programs. A run has a context of its own: device buffers live until that is closed. */
#define BENCH_ARG(x)                                                                                                   \
    { &(x), sizeof(x) }
#define BENCH_LAUNCH(h, m, kernel, grid, block, ...)                                                                   \
    heddle_launch(h, m, kernel, grid, block, 0, (const struct heddle_arg[]){__VA_ARGS__},                              \
                  (int)(sizeof((const struct heddle_arg[]){__VA_ARGS__}) / sizeof(struct heddle_arg)))
/* A device buffer with a copy of the `bytes` bytes at `data`, zeroed when NULL; 0 on failure (heddle_error() says why).
 */
uint64_t bench_buffer(struct heddle *h, const void *data, uint64_t bytes);
/* Is a value what it should be? `tolerance` 0: bit for bit, NaN equal to NaN; else the difference is at most
 * tolerance * max(1, |want|). */
bool bench_same(double got, double want, double tolerance);
/* Compares n floats. `tolerance` 0: bit for bit, NaN equal to NaN; else |got - want| <= tolerance * max(1, |want|).
 * HEDDLE_WRONG with the first difference in `why`. `what` names the array there. */
enum heddle_status bench_compare(const float *got, const float *want, size_t n, double tolerance, const char *what,
                                 char *why, size_t why_size);
/* Likewise n 32-bit words, which must be equal. */
enum heddle_status bench_compare_words(const uint32_t *got, const uint32_t *want, size_t n, const char *what, char *why,
                                       size_t why_size);
/* n floats uniform in [lo, hi). */
void bench_fill(float *out, size_t n, uint64_t *state, float lo, float hi);
/* HEDDLE_USAGE, and says in `why` that the host is out of memory. */
enum heddle_status bench_no_memory(char *why, size_t why_size);
/* Path of `file` in the kernels folder: $HEDDLE_KERNELS, beside the build folder, installed, or ./kernels; NULL when it
 * is in none of them. */
char *bench_kernel_path(const char *file, char *out, size_t size);
#endif
