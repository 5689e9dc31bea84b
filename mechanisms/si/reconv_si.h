#ifndef MECHANISMS_RECONV_SI_H
#define MECHANISMS_RECONV_SI_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_si;
#endif
