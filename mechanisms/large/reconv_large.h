#ifndef MECHANISMS_RECONV_LARGE_H
#define MECHANISMS_RECONV_LARGE_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_large;
#endif
