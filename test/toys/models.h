#ifndef TEST_TOYS_MODELS_H
#define TEST_TOYS_MODELS_H
/* Reconvergence models for tests, not part of the product. */
#include "isa/paths/reconv.h"

/* solo.c: lanes never converge; each lane is its own path from the first instruction. */
extern const struct reconv_ops reconv_solo;
/* echo.c: spe, but the odd warps of a CTA issue long blocks twice, the second time without lanes. */
extern const struct reconv_ops reconv_echo;
#define ECHO_FACT  "toy.length"
#define ECHO_LEVEL "toy.empty"
#endif
