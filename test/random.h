#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H
/* The random number generator of all tests. A seed gives the same sequence on every machine. The file does not use
 * Check, because fuzz targets also include it. */
#include <stdint.h>

/* Returns 64 random bits (splitmix64). */
static inline uint64_t test_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
/* Returns a random number from 0 to n - 1. n must not be 0. */
static inline uint32_t test_random_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(test_random(state) >> 33) % n;
}
#endif
