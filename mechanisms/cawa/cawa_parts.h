#ifndef CAWA_PARTS_H
#define CAWA_PARTS_H
/* The criticality of a warp (the paper's CPL): an estimate of the cycles that it lacks,
 *
 *   left x CPI + stalls
 *
 *   left     at each branch, the instructions of the paths that the warp takes are added; each issued instruction
 *            subtracts one. The layout of the code gives the length of a path: from a forward branch to its target or
 *            from the target to the reconvergence point, and a loop's body for a taken backward branch
 *   CPI      cycles from the start of the warp to its last issue, by issued instruction
 *   stalls   cycles between one issue of the warp and the next one */
#include "isa/program.h"
#include "timing/sm/unit.h"

struct replacement_ops;

struct cpl {
    uint64_t start, last; /* cycles of its start and of its last issue */
    uint64_t issued;
    int64_t left;    /* instructions */
    uint64_t stalls; /* cycles */
};

/* Starts the history of a new warp. */
void cpl_start(struct cpl *w, uint64_t now);
/* Counts an instruction that a path with these lanes has issued at `pc`. `taken`: lanes that take a branch. */
void cpl_issue(struct cpl *w, uint64_t now, uint32_t pc, const struct inst *in, lanemask_t lanes, lanemask_t taken);
int64_t cpl_criticality(const struct cpl *w);

extern const struct sm_unit_ops cawa_unit; /* tells the L1 which warps are critical */
extern const struct replacement_ops cawa_cacp;
#endif
