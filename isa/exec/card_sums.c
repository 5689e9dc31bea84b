#include "card_sums.h"
#include "isa/types.h"
#include <math.h>

enum { MOST_TERMS = 128, VOLTA = 75, ADA = 89, HOPPER = 90 }; /* cards below compute capability 7.0 count as Volta */

/* How a card computes the sum of a block: F (see card_sums.h), and the number of fraction bits of the result. If the
 * latter is 0, the result is an f16. */
struct block_sum {
    int fraction, result;
    unsigned length; /* most products of a block */
};

static bool is_byte(uint8_t type) { return type == T_E4M3 || type == T_E5M2; }

static struct block_sum block_of(struct card_sums s) {
    const bool small = s.a != T_F16 && s.a != T_BF16 && s.a != T_TF32;
    const unsigned bytes = s.card < VOLTA ? 8 : s.card < HOPPER ? 16 : 32;
    struct block_sum b = {s.card < VOLTA    ? 23
                          : s.card < HOPPER ? 24
                                            : 25,
                          s.d == T_F16 ? 0 : 23,
                          bytes / (s.a == T_TF32 ? 4
                                   : small       ? 1
                                                 : 2)};
    if (s.card == ADA && is_byte(s.a) && is_byte(s.b)) {
        b.fraction = 13;
        b.result = b.result ? 13 : 0;
    } else if (s.card >= HOPPER && s.card < 100 && small) {
        b.length = 16; /* the compiler converts these numbers to f16 on Hopper, so blocks have the length for f16 */
    }
    return b;
}

/* Returns the exponent of x in a format whose smallest normal number is 2^least. */
static int exponent_of(double x, int least) {
    const int e = x == 0 ? -126 : ilogb(x);
    return x != 0 && e < least ? least : e;
}

static int least_exponent(uint8_t type) {
    switch (type) {
    case T_F16:
    case T_E5M2:
        return -14;
    case T_E4M3:
        return -6;
    case T_E3M2:
        return -2;
    case T_E2M3:
    case T_E2M1:
        return 0;
    default:
        return -126;
    }
}

/* Truncates x to `bits` bits behind the point of its significand, and to the range of f32. */
static double truncate_f32(double x, int bits) {
    const int e = exponent_of(x, -126);
    const double r = ldexp(trunc(ldexp(x, bits - e)), e - bits);
    return fabs(r) >= 0x1p128 ? copysign(INFINITY, r) : r;
}

static double nearest_f16(double x) {
    const int e = exponent_of(x, -14);
    const double r = ldexp(nearbyint(ldexp(x, 10 - e)), e - 10);
    return fabs(r) >= 0x1p16 ? copysign(INFINITY, r) : r;
}

/* Adds the terms, aligned to the largest of their exponents. */
static double aligned_sum(const double *term, const int *exponent, unsigned n, int fraction) {
    int most = exponent[0];
    double sum = 0;
    for (unsigned i = 1; i < n; i++)
        most = exponent[i] > most ? exponent[i] : most;
    for (unsigned i = 0; i < n; i++)
        sum += trunc(ldexp(term[i], fraction - most));
    return ldexp(sum, most - fraction);
}

double card_sum(struct card_sums s, const double *a, const double *b, unsigned step, double c, unsigned k) {
    const struct block_sum block = block_of(s);
    const int least_a = least_exponent(s.a), least_b = least_exponent(s.b);
    for (unsigned from = 0; from < k; from += block.length) {
        const unsigned n = k - from < block.length ? k - from : block.length;
        double term[MOST_TERMS + 1] = {c}, plain = c;
        int exponent[MOST_TERMS + 1] = {exponent_of(c, s.d == T_F16 ? -14 : -126)};
        for (unsigned i = 0; i < n; i++) {
            const double x = a[from + i], y = b[(from + i) * step];
            plain += term[i + 1] = ldexp(x * y, s.shift);
            exponent[i + 1] =
                isfinite(x) && isfinite(y) ? exponent_of(x, least_a) + exponent_of(y, least_b) + s.shift : 0;
        }
        if (!isfinite(plain)) {
            c = plain;
            continue;
        }
        const double sum = aligned_sum(term, exponent, n + 1, block.fraction);
        c = block.result ? truncate_f32(sum, block.result) : nearest_f16(sum);
    }
    return c;
}

double card_sum_scaled(const double *sums, const double *scale, unsigned n, double c) {
    enum { FRACTION = 35 };
    double term[MOST_TERMS + 1] = {c}, plain = c;
    int exponent[MOST_TERMS + 1] = {exponent_of(c, -126)};
    for (unsigned i = 0; i < n; i++) {
        plain += term[i + 1] = sums[i] * scale[i];
        exponent[i + 1] = isfinite(scale[i]) ? exponent_of(scale[i], -300) : 0;
    }
    return isfinite(plain) ? truncate_f32(aligned_sum(term, exponent, n + 1, FRACTION), 23) : plain;
}

void card_add(struct card_sums s, const double *a, unsigned stride, const double *b, double (*c)[8], unsigned m,
              unsigned k) {
    for (unsigned i = 0; i < m; i++)
        for (unsigned n = 0; n < 8; n++)
            c[i][n] = card_sum(s, a + i * stride, b + n, 8, c[i][n], k);
}
