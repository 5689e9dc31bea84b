#ifndef MECHANISMS_RECONV_DWS_H
#define MECHANISMS_RECONV_DWS_H
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_dws;
#endif
