#ifndef MECHANISMS_LARGE_UNIT_H
#define MECHANISMS_LARGE_UNIT_H
#include "timing/sm/unit.h"

/* Issues the instructions of large warps, sub-warp by sub-warp. */
extern const struct sm_unit_ops unit_large;
#endif
