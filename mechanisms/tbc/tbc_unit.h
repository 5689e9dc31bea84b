#ifndef MECHANISMS_TBC_UNIT_H
#define MECHANISMS_TBC_UNIT_H
#include "timing/sm/unit.h"

/* Issues the members of a compacted warp (reconv_ops.group) in one issue slot, in lock step. */
extern const struct sm_unit_ops unit_tbc;
#endif
