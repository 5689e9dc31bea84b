#ifndef TEST_RANDOM_PEPSC_DRAWN_H
#define TEST_RANDOM_PEPSC_DRAWN_H
/* Draws a random machine with all of PEPSC's features: the PEPSC core with one of its widths, or a GPU; a model with
 * chains, folding and reductions, and often with a prefetcher or another extension; and options from the ends of their
 * ranges. Results must not depend on any of these. */
#include <stddef.h>
#include <stdint.h>

enum { DRAWN_SET = 64 };

struct drawn {
    const char *config;
    char model[80];
    const char *set[DRAWN_SET];
    int n; /* number of options; the option after the last is NULL */
};

struct drawn draw_pepsc(uint64_t seed);
/* Writes the options as command-line arguments, for example "-c pepsc -m spe+chain -s chain.length=5". */
void drawn_text(const struct drawn *d, char *out, size_t size);
/* Returns 1 if a launch failed because an instruction needs more registers than the drawn limit, else 0. */
int drawn_too_few(const char *error);
#endif
