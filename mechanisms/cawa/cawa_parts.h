#ifndef CAWA_PARTS_H
#define CAWA_PARTS_H
/* The criticality of a warp (the paper's CPL) grows with its remaining work and its past stalls:
 *
 *   left x CPI + stalls
 *
 *   left     estimate of the instructions left: each issued instruction subtracts one, and each branch adds the lengths
 *            of the paths that lanes take. If lanes fall through a forward branch, the length is the distance from the
 *            branch to its target. If lanes take it, it is the distance from the target to the reconvergence point. If
 *            lanes take a backward branch, it is the length of the loop's body
 *   CPI      cycles from the start of the warp to its last issue, per issued instruction
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
