#ifndef TEST_FUZZ_TIME_H
#define TEST_FUZZ_TIME_H
/* One launch on a machine of random options: the part of the fuzz targets that has time. */
#include "isa/machine/launch.h"

/* The model and whether its programs have convergence barriers, from the low bits of `seed`. */
struct reconv_ops;
const struct reconv_ops *fuzz_model(uint64_t seed);
/* Runs `l` for a few thousand cycles in that model, with a preset's options and some at random from `seed`. True when
 * it ended without a fault. */
bool fuzz_time(const struct launch *l, uint64_t seed, FILE *quiet);
#endif
