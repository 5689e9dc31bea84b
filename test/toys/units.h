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

/* side_warp.c: a warp without a CTA that runs stream 1 of the program beside each launch. With `takes` it executes its
 * subtractions itself, as taking what CTAs' warps make: each of their additions makes one thing, and it waits (in a
 * queue) where there is none; after so many its loop ends, whatever its registers say. CTAs' warps wait before their
 * next addition while more than `room` things lie there (0: they never wait).
 * Its row's ctx is this. What each SM sees is its own, so SMs may run on several host threads. */
enum { SIDE_SMS = 32, SIDE_SEEN = 4096 };
struct side_seen {
    uint64_t issued, by_unit, ended, first, last; /* its slots; those it executed; ends; cycles of the first and last */
    uint64_t made, taken, refused;
    uint32_t n; /* entries that follow, SIDE_SEEN at most */
    struct {
        uint64_t cycle;
        uint32_t warp, pc;
    } slot[SIDE_SEEN];
};
struct side_warp {
    lanemask_t lanes;
    uint32_t registers, takes, room;
    bool late;              /* it is opened when the first CTA begins */
    bool driven;            /* with `takes`: all that it executes is the unit's, which says where it goes on */
    uint64_t close_at;      /* it is closed in the first walked cycle from this one on; 0: never */
    struct side_seen *seen; /* SIDE_SMS */
};
extern const struct sm_unit_ops side_warp_unit;
#endif
