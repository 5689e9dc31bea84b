#ifndef MECHANISMS_RECONV_FRONTIERS_H
#define MECHANISMS_RECONV_FRONTIERS_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_frontiers;
#endif
