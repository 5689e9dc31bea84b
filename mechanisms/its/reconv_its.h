#ifndef MECHANISMS_RECONV_ITS_H
#define MECHANISMS_RECONV_ITS_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_its;
#endif
