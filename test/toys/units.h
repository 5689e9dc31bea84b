#ifndef TEST_TOYS_UNITS_H
#define TEST_TOYS_UNITS_H
/* Extensions of an SM for tests. They are not part of the product. */
#include "timing/sm/unit.h"

/* issue_meter.c: counts the issues of each warp slot, and limits one slot to one issue every `gap` cycles. The ctx
 * of the unit's sm_unit_row points to this struct. The struct sums the counts of all SMs, so it needs a single host
 * thread. */
struct issue_meter {
    uint32_t slow_warp, gap; /* if gap is 0, no warp is slowed */
    uint64_t issued[256];    /* number of issue slots used by each warp slot */
    uint64_t performed;      /* number of instructions that were reported with their effects */
    uint64_t ctas, ended, barriers, exits, written, refused;
};
extern const struct sm_unit_ops issue_meter_unit;

/* side_warp.c: a warp without a CTA that runs stream 1 of the program beside each launch. With `takes`, it is a
 * consumer:
 * - Each addition of a CTA warp produces an item; each subtraction of the side warp, which the unit executes, consumes
 *   one.
 * - The side warp waits (for a queue) while there is no item. After `takes` items its loop ends, whatever its registers
 *   contain.
 * - A CTA warp waits before its next addition while more than `room` items exist (0: it never waits).
 * The ctx of the unit's sm_unit_row points to struct side_warp. Each SM has its own side_seen, so SMs may run on
 * several host threads. */
enum { SIDE_SMS = 32, SIDE_SEEN = 4096 };
struct side_seen {
    uint64_t issued, by_unit; /* number of issues of the side warp; number of these issues that the unit executed */
    /* number of closed side warps; cycle of the side warp's first issue; cycle of its last issue */
    uint64_t ended, first, last;
    uint64_t made, taken, refused;
    uint32_t n; /* number of entries in `slot` */
    struct {
        uint64_t cycle;
        uint32_t warp, pc;
    } slot[SIDE_SEEN];
};
struct side_warp {
    lanemask_t lanes;
    uint32_t registers, takes, room;
    bool late;   /* true if the side warp opens with the first CTA, not with the launch */
    bool driven; /* with `takes`: true if the unit executes all instructions of the side warp and sets its next PC */
    /* the side warp closes in the first simulated cycle that is not earlier than this cycle; 0: never */
    uint64_t close_at;
    struct side_seen *seen; /* one entry for each SM, up to SIDE_SMS */
};
extern const struct sm_unit_ops side_warp_unit;
#endif
