#ifndef TEST_FUZZ_TIME_H
#define TEST_FUZZ_TIME_H
/* A launch on a random machine, for the fuzz targets with timing. */
#include "isa/machine/launch.h"

/* Returns the model that the low bits of `seed` select. The model decides whether programs have convergence
 * barriers. */
struct reconv_ops;
const struct reconv_ops *fuzz_model(uint64_t seed);
/* Runs launch `l` for a few thousand cycles in model fuzz_model(seed). `seed` also selects a preset and some random
 * options. Returns true if the launch ended without a fault. */
bool fuzz_time(const struct launch *l, uint64_t seed, FILE *quiet);
#endif
