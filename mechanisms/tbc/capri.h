#ifndef MECHANISMS_CAPRI_H
#define MECHANISMS_CAPRI_H
/* The compaction-adequacy predictor [Rhu and Erez, ISCA 2012]: tells for each branch whether warps should wait for each
 * other to be compacted. A branch that has never diverged has no entry, and no warp waits there. The first divergence
 * makes an entry that predicts that compaction is adequate. Later the entry predicts what compaction did, or would
 * have done, for the last set of warps: it is adequate if it reduces the number of warps. */
#include "isa/paths/reconv.h"

enum { CAPRI_ENTRIES = 64 };
struct capri_entry {
    uint32_t pc;
    bool adequate;
    uint32_t arrived, plain;      /* warps of the present set, and how many warps they need without compaction */
    uint16_t need[2][WARP_LANES]; /* threads of the present set, by side and lane */
};
struct capri {
    uint32_t n;
    struct capri_entry entry[CAPRI_ENTRIES];
};

/* A warp with these targets arrives at a branch, which `set` warps will pass. Returns true if it should wait. A table
 * that is full ignores further branches. `capri`: a struct capri. */
bool capri_arrive(void *capri, uint32_t pc, const struct target *t, int n, uint32_t set);
#endif
