/* quasi: sequences of Niederreiter and Sobol, and the normal distribution's inverse (kernels/quasi.cu), for comparison
 * with a card. References of sequences compute a point from an earlier point and compare bit for bit. The inverse is
 * computed in double and compared within a tolerance.
 *   size small: a few thousand points, less than 0.03 M warp instructions
 *   size paper: a sixteenth of size card, 0.2 to 5 M warp instructions
 *   size card: niederreiter of 2^20 points in 3 dimensions, moro of 3 x 2^20 values, sobol of 100,000 points in 100
 *     dimensions, 3 to 23 M warp instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_niederreiter, bench_moro, bench_sobol;

/* Polynomials over the field of two elements: bit i is the coefficient of x^i. */

static uint32_t degree(uint64_t p) { return 63 - (uint32_t)__builtin_clzll(p); }

static uint64_t product(uint64_t p, uint64_t q) {
    uint64_t sum = 0;
    for (; q; q >>= 1, p <<= 1)
        sum ^= q & 1 ? p : 0;
    return sum;
}

/* ---- niederreiter ---- */

enum { DIMENSIONS = 3, DIGITS = 31 };

/* Computes the matrix of a dimension. Bit DIGITS - j of each column is its element in row j, from 1. Row j has elements
 * of a sequence v, whose recurrence is a power of the dimension's irreducible polynomial (P. Bratley, B. L. Fox,
 * H. Niederreiter, Implementation and tests of low-discrepancy sequences, ACM TOMACS 2(3), 1992). */
static void columns_of(uint64_t polynomial, uint32_t column[DIGITS]) {
    const uint32_t e = degree(polynomial);
    uint8_t v[2 * DIGITS + 4] = {0};
    uint64_t power = 1;
    for (uint32_t r = 0; r < DIGITS; r++)
        column[r] = 0;
    for (uint32_t row = 0; row < DIGITS; row++) {
        if (row % e == 0) {
            power = product(power, polynomial);
            const uint32_t m = degree(power);
            for (uint32_t n = 0; n < sizeof v; n++) {
                v[n] = n < m && n >= m - e;
                for (uint32_t k = 1; n >= m && k <= m; k++)
                    v[n] ^= (uint8_t)(power >> (m - k) & v[n - k]);
            }
        }
        for (uint32_t r = 0; r < DIGITS; r++)
            column[r] |= (uint32_t)v[r + row % e] << (DIGITS - 1 - row);
    }
}

/* The first 2^k points of a dimension, k a multiple of its polynomial's degree, lie in different intervals of length
 * 2^-k: the polynomials have degrees 1, 1 and 2. Returns whether the first 1024 points do. */
static bool spread(const uint32_t column[DIGITS]) {
    uint8_t met[1024] = {0};
    for (uint32_t i = 0; i < 1024; i++) {
        uint32_t sum = 0;
        for (uint32_t r = 0; r < 10; r++)
            sum ^= i >> r & 1 ? column[r] : 0;
        if (met[sum >> (DIGITS - 10)]++)
            return false;
    }
    return true;
}

static enum heddle_status niederreiter_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                           size_t why_size) {
    static const uint64_t polynomials[DIMENSIONS] = {2, 3, 7}; /* x, x + 1, x^2 + x + 1 */
    const uint32_t n = bench_pick(size, 1500, 1 << 16, 1 << 20), blocks = bench_pick(size, 8, 128, 128), first = 0;
    uint32_t column[DIMENSIONS][DIGITS], *sum = malloc(n * sizeof *sum);
    float *got = malloc(2 * DIMENSIONS * (size_t)n * sizeof *got);
    if (!sum || !got) {
        free(sum);
        free(got);
        return bench_no_memory(why, why_size);
    }
    float *want = got + DIMENSIONS * (size_t)n;
    enum heddle_status s = HEDDLE_OK;
    for (uint32_t d = 0; d < DIMENSIONS; d++) {
        columns_of(polynomials[d], column[d]);
        if (!spread(column[d])) {
            snprintf(why, why_size, "dimension %u is not evenly spread", d);
            s = HEDDLE_WRONG;
        }
        for (uint32_t i = 0; i < n; i++) { /* point i differs from the point without its lowest digit by a column */
            sum[i] = i ? sum[i & (i - 1)] ^ column[d][__builtin_ctz(i)] : 0;
            want[d * (size_t)n + i] = (float)(sum[i] + 1) * (1 / (float)0x80000001u);
        }
    }
    const size_t bytes = DIMENSIONS * (size_t)n * sizeof *got;
    const uint64_t to = bench_buffer(h, NULL, bytes), symbol = heddle_symbol(h, m, "quasi_columns", NULL);
    if (s == HEDDLE_OK)
        s = to && symbol ? heddle_write(h, symbol, column, sizeof column) : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "niederreiter", ((struct heddle_dim){blocks, 1, 1}),
                         ((struct heddle_dim){128, DIMENSIONS, 1}), BENCH_ARG(to), BENCH_ARG(first), BENCH_ARG(n));
    if (s == HEDDLE_OK && (s = heddle_read(h, to, got, bytes)) == HEDDLE_OK)
        s = bench_compare(got, want, DIMENSIONS * (size_t)n, 0, "coordinate", why, why_size);
    free(sum);
    free(got);
    return s;
}

const struct bench bench_niederreiter = {
    "niederreiter",   "points of a sequence; digits select constants, no divergence", "public", "quasi.ptx",
    niederreiter_run,
};

/* ---- moro ---- */

/* Returns the inverse of the normal distribution by bisection of its integral. The kernel's approximation has an error
 * of 3e-9 (B. Moro, The full Monte, Risk 8(2), 1995). */
static double inverse_normal(double share) {
    double low = -7, high = 7;
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        *(erfc(-middle * M_SQRT1_2) / 2 < share ? &low : &high) = middle;
    }
    return low;
}

static enum heddle_status moro_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                   size_t why_size) {
    enum { CHECKED = 4096 }; /* values that the reference computes */
    const uint32_t n = bench_pick(size, 5000, 3 << 16, 3 << 20), blocks = bench_pick(size, 8, 128, 128);
    const uint32_t distance = UINT32_MAX / (n + 1), every = bench_blocks(n, CHECKED);
    const uint64_t none = 0, to = bench_buffer(h, NULL, n * sizeof(float));
    float *got = malloc(n * sizeof *got);
    if (!got)
        return bench_no_memory(why, why_size);
    enum heddle_status s =
        to ? BENCH_LAUNCH(h, m, "moro", ((struct heddle_dim){blocks, 1, 1}), ((struct heddle_dim){128, 1, 1}),
                          BENCH_ARG(to), BENCH_ARG(none), BENCH_ARG(n))
           : heddle_status(h);
    if (s == HEDDLE_OK)
        s = heddle_read(h, to, got, n * sizeof *got);
    for (uint32_t i = 0; s == HEDDLE_OK && i < n; i += every) {
        const float want = (float)inverse_normal(((i + 1) * (double)distance + 0.5) / 0x1p32);
        s = bench_compare(&got[i], &want, 1, 1e-5, "value", why, why_size);
    }
    free(got);
    return s;
}

const struct bench bench_moro = {
    "moro", "normal numbers; an if with else for the distribution's tails", "public", "quasi.ptx", moro_run,
};

/* ---- sobol ---- */

enum { DIRECTIONS = 32, THREADS = 64 };

/* Returns whether x has order 2^d - 1 modulo a polynomial of degree d: a primitive polynomial. */
static bool primitive(uint32_t polynomial) {
    const uint32_t d = degree(polynomial);
    uint32_t x = 1, order = 0;
    do {
        x <<= 1;
        x ^= x >> d & 1 ? polynomial : 0;
        order++;
    } while (x > 1 && order >> d == 0);
    return x == 1 && order == (1u << d) - 1;
}

/* Writes direction numbers: dimension 0 has powers of two, each further dimension the next primitive polynomial. The
 * first numbers of a dimension are random odd numbers in place of Joe and Kuo's. All choices take the same time. */
static void directions_of(uint32_t dimensions, uint32_t *v) {
    uint64_t seed = 29;
    uint32_t polynomial = 2;
    for (uint32_t d = 0; d < dimensions; d++, v += DIRECTIONS) {
        while (d && !primitive(++polynomial))
            ;
        const uint32_t e = d ? degree(polynomial) : DIRECTIONS;
        for (uint32_t i = 0; i < DIRECTIONS; i++) {
            const uint32_t odd = d ? ((uint32_t)bench_random(&seed) & ((1u << i) - 1)) << 1 | 1 : 1;
            v[i] = odd << (31 - i);
            if (i >= e) {
                v[i] = v[i - e] ^ v[i - e] >> e;
                for (uint32_t k = 1; k < e; k++)
                    v[i] ^= polynomial >> (e - k) & 1 ? v[i - k] : 0;
            }
        }
    }
}

static enum heddle_status sobol_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    const uint32_t n = bench_pick(size, 3000, 25000, 100000), dimensions = bench_pick(size, 4, 25, 100);
    const uint32_t blocks = bench_pick(size, 16, 512, 512); /* four for each of 80 SMs, rounded up to a power of two */
    const size_t count = (size_t)n * dimensions, numbers = (size_t)dimensions * DIRECTIONS;
    uint32_t *direction = malloc(numbers * sizeof *direction);
    float *got = malloc(2 * count * sizeof *got);
    if (!direction || !got) {
        free(direction);
        free(got);
        return bench_no_memory(why, why_size);
    }
    float *want = got + count;
    directions_of(dimensions, direction);
    for (uint32_t d = 0; d < dimensions; d++) /* x[i] = x[i - 1] ^ direction of the rightmost 0 in i - 1 */
        for (uint32_t i = 0, x = 0; i < n; x ^= direction[d * DIRECTIONS + (uint32_t)__builtin_ctz(~i)], i++)
            want[d * (size_t)n + i] = (float)x * 0x1p-32f;
    const uint64_t from = bench_buffer(h, direction, numbers * sizeof *direction);
    const uint64_t to = bench_buffer(h, NULL, count * sizeof *got);
    enum heddle_status s = from && to ? HEDDLE_OK : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "sobol", ((struct heddle_dim){blocks, dimensions, 1}),
                         ((struct heddle_dim){THREADS, 1, 1}), BENCH_ARG(n), BENCH_ARG(dimensions), BENCH_ARG(from),
                         BENCH_ARG(to));
    if (s == HEDDLE_OK && (s = heddle_read(h, to, got, count * sizeof *got)) == HEDDLE_OK)
        s = bench_compare(got, want, count, 0, "coordinate", why, why_size);
    free(direction);
    free(got);
    return s;
}

const struct bench bench_sobol = {
    "sobol",   "points of a sequence from their predecessors; loops of one to four iterations", "public", "quasi.ptx",
    sobol_run,
};
