#ifndef BENCHMARKS_BENCH_H
#define BENCHMARKS_BENCH_H
/* A benchmark: a seeded input, launches, and a check against C code. Each benchmark has its own file and an entry in
 * bench_table.c. */
#include "host/heddle.h"

/* BENCH_CARD: the size of launches that others measured on a real card (reproduce/card_kernels.c). A benchmark without
 * such a size runs its size BENCH_PAPER. */
enum bench_size { BENCH_SMALL, BENCH_PAPER, BENCH_CARD };
/* Returns "small", "paper" or "card". */
const char *bench_size_name(enum bench_size size);
/* Returns the value for a size. */
static inline uint32_t bench_pick(enum bench_size size, uint32_t small, uint32_t paper, uint32_t card) {
    return size == BENCH_SMALL ? small : size == BENCH_PAPER ? paper : card;
}

struct bench {
    const char *name, *help; /* help: one line that describes its control flow */
    const char *sets;        /* names of its sets, separated by spaces */
    const char *ptx;         /* file name in kernels/ */
    /* Runs the benchmark on `h` with the loaded module `m`. Returns HEDDLE_OK if the results are right, HEDDLE_WRONG
     * with a sentence in `why` if not, or another status of the library. */
    enum heddle_status (*run)(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size);
};

/* All benchmarks: first the `n_benches` that commands run by default, then the others. The sets "tensor" and "hopper"
 * are among the others because they need much shared memory or many registers, "large" because it runs long, and
 * "public" because its programs resemble others. `n_all_benches` is the number of all benchmarks. */
extern const struct bench *const benches[];
extern const int n_benches, n_all_benches;
const struct bench *bench_find(const char *name);

/* Sets of benchmarks, for selection and for geometric means. The table is in bench_table.c. */
struct bench_set {
    const char *name, *help;
};
extern const struct bench_set bench_sets[];
extern const int n_bench_sets;
/* Returns whether `b` is in the set `name`. */
bool bench_in(const struct bench *b, const char *name);

/* Returns 64 random bits of a seeded generator (splitmix64). Every machine gets the same bits. */
static inline uint64_t bench_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
/* Returns a random number, uniform in [lo, hi). */
static inline float bench_uniform(uint64_t *state, float lo, float hi) {
    return lo + (hi - lo) * (float)(bench_random(state) >> 40) * 0x1p-24f;
}

/* Returns the number of CTAs of `block` threads that cover `threads`. */
static inline uint32_t bench_blocks(uint32_t threads, uint32_t block) { return (threads + block - 1) / block; }

/* BENCH_ARG: a kernel argument as heddle_launch() expects it. BENCH_LAUNCH: launches a kernel with these arguments and
 * without dynamic shared memory. */
#define BENCH_ARG(x)                                                                                                   \
    { &(x), sizeof(x) }
#define BENCH_LAUNCH(h, m, kernel, grid, block, ...)                                                                   \
    heddle_launch(h, m, kernel, grid, block, 0, (const struct heddle_arg[]){__VA_ARGS__},                              \
                  (int)(sizeof((const struct heddle_arg[]){__VA_ARGS__}) / sizeof(struct heddle_arg)))
/* Allocates a device buffer and copies `bytes` bytes from `data`, or zeros it if `data` is NULL. The run's context
 * frees the buffer when it is closed. Returns 0 on failure (see heddle_error()). */
uint64_t bench_buffer(struct heddle *h, const void *data, uint64_t bytes);
/* Returns whether a value is as expected. With `tolerance` 0, the bits must be equal, and NaN equals NaN. Otherwise
 * |got - want| <= tolerance * max(1, |want|) must hold. */
bool bench_same(double got, double want, double tolerance);
/* Compares n floats as bench_same() does. Returns HEDDLE_WRONG with the first difference in `why`, where `what`
 * names the array. */
enum heddle_status bench_compare(const float *got, const float *want, size_t n, double tolerance, const char *what,
                                 char *why, size_t why_size);
/* Compares n 32-bit words, which must be equal. Reports a difference as bench_compare() does. */
enum heddle_status bench_compare_words(const uint32_t *got, const uint32_t *want, size_t n, const char *what, char *why,
                                       size_t why_size);
/* Fills n floats with random numbers, uniform in [lo, hi). */
void bench_fill(float *out, size_t n, uint64_t *state, float lo, float hi);
/* Writes to `why` that the host is out of memory. Returns HEDDLE_USAGE. */
enum heddle_status bench_no_memory(char *why, size_t why_size);
/* Writes the path of a kernel file. Searches $HEDDLE_KERNELS, the folder beside the build folder, the installed
 * folder, and ./kernels. Returns NULL if no folder has the file. */
char *bench_kernel_path(const char *file, char *out, size_t size);
#endif
