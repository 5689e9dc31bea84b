#ifndef TEST_RANDOM_PEPSC_DRAWN_H
#define TEST_RANDOM_PEPSC_DRAWN_H
/* Draws a machine with all of PEPSC's features: the core with one of its widths or a GPU; a model with chains,
 * folding and reductions, and often a prefetcher or another extension; options from the ends of their ranges.
 * Results do not depend on any of them. */
#include <stddef.h>
#include <stdint.h>

enum { DRAWN_SET = 64 };

struct drawn {
    const char *config;
    char model[80];
    const char *set[DRAWN_SET];
    int n; /* number of options; a NULL follows the last option */
};

struct drawn draw_pepsc(uint64_t seed);
/* Writes the options as on a command line: "-c pepsc -m spe+chain -s chain.length=5". */
void drawn_text(const struct drawn *d, char *out, size_t size);
/* Returns 1 if a launch failed because the drawn limit of registers is too low for an instruction, else 0. */
int drawn_too_few(const char *error);
#endif
