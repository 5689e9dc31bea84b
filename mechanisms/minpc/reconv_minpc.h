#ifndef MECHANISMS_RECONV_MINPC_H
#define MECHANISMS_RECONV_MINPC_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_minpc, reconv_anypc;
#endif
