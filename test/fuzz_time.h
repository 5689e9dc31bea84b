#ifndef TEST_FUZZ_TIME_H
#define TEST_FUZZ_TIME_H
/* A launch on a random machine, for the fuzz targets with timing. */
#include "isa/machine/launch.h"

/* Returns the model that the low bits of `seed` select; it decides whether programs have convergence barriers. */
struct reconv_ops;
const struct reconv_ops *fuzz_model(uint64_t seed);
/* Runs `l` for a few thousand cycles in that model, on a preset with some random options from `seed`. Returns true
 * if it ended without a fault. */
bool fuzz_time(const struct launch *l, uint64_t seed, FILE *quiet);
#endif
