#ifndef TEST_RANDOM_PEPSC_DRAWN_H
#define TEST_RANDOM_PEPSC_DRAWN_H
/* A machine with all that PEPSC adds, drawn: the core in its widths or a GPU, a model with chains, folding, sums and
 * often a prefetcher or another extension, and options from the ends of their ranges. Nothing of it may change what is
 * computed. */
#include <stddef.h>
#include <stdint.h>

enum { DRAWN_SET = 64 };

struct drawn {
    const char *config;
    char model[80];
    const char *set[DRAWN_SET];
    int n; /* options; NULL comes behind them */
};

struct drawn draw_pepsc(uint64_t seed);
/* As the command line has it: "-c pepsc -m spe+chain -s chain.length=5". */
void drawn_text(const struct drawn *d, char *out, size_t size);
/* Is an error of a launch that the drawn limit of registers is too low for an instruction? */
int drawn_too_few(const char *error);
#endif
