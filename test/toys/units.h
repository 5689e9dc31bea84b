#ifndef TEST_TOYS_UNITS_H
#define TEST_TOYS_UNITS_H
/* Extensions of an SM that are not part of the product. */
#include "timing/sm/unit.h"

/* issue_meter.c: counts what each warp slot issues, and lets one of them issue once in `gap` cycles at most. Its row's
 * ctx is this; the counts of all SMs come together here, so it is for one host thread. */
struct issue_meter {
    uint32_t slow_warp, gap; /* gap 0: nobody is slowed */
    uint64_t issued[256];    /* by warp slot: issue slots taken */
    uint64_t performed;      /* instructions with effects */
    uint64_t ctas, ended, barriers, exits, written, refused;
};
extern const struct sm_unit_ops issue_meter_unit;
#endif
