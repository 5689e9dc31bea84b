#ifndef TEST_TOYS_MODELS_H
#define TEST_TOYS_MODELS_H
/* A reconvergence model for tests, not part of the product. */
#include "isa/paths/reconv.h"

/* solo.c: lanes never converge; each lane is its own path from the first instruction. */
extern const struct reconv_ops reconv_solo;
#endif
