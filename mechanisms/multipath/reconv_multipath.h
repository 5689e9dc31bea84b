#ifndef MECHANISMS_RECONV_MULTIPATH_H
#define MECHANISMS_RECONV_MULTIPATH_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_multipath;
#endif
