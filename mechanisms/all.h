#ifndef MECHANISMS_ALL_H
#define MECHANISMS_ALL_H
/* What there is: the mechanisms of all.def, and words for some of them together. */
#include "mechanism.h"

extern const struct model_tables model_tables;
#endif
