#ifndef MECHANISMS_RECONV_DPE_H
#define MECHANISMS_RECONV_DPE_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_dpe;
#endif
