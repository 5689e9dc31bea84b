#ifndef BENCHMARKS_BENCH_HALF_H
#define BENCHMARKS_BENCH_HALF_H
/* The format f16 (IEEE binary16) for benchmarks of tensor cores. The host's C compiler may not have the type. */
#include <math.h>
#include <stdint.h>

/* Returns the value of the f16 number with these bits. It is finite or infinite; no benchmark makes a NaN. */
static inline double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? INFINITY : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

/* Returns the f16 number nearest to x; of two that are equally near, the one with an even fraction. |x| < 65520. */
static inline uint16_t half_bits(double x) {
    int exponent;
    double size = fabs(x);
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    frexp(size, &exponent); /* size = m * 2^exponent, 0.5 <= m < 1 */
    int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    double units = nearbyint(ldexp(size, -unit)); /* at most 2048, which stands for 1024 units of the next exponent */
    if (units < 1024)
        return (uint16_t)(sign | (uint16_t)units);
    return (uint16_t)(sign + ((unit + 24) << 10) + (uint16_t)units);
}
#endif
