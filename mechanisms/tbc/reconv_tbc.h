#ifndef MECHANISMS_RECONV_TBC_H
#define MECHANISMS_RECONV_TBC_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_tbc;
#endif
