#ifndef TEST_TOYS_MODELS_H
#define TEST_TOYS_MODELS_H
/* A reconvergence model that is not part of the product. */
#include "isa/paths/reconv.h"

/* solo.c: lanes never meet; each is a path of its own from the first instruction on. */
extern const struct reconv_ops reconv_solo;
#endif
