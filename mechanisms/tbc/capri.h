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
    /* arrived: number of warps of the present set that have arrived at the branch; plain: number of warps that they
     * become at the branch without compaction, one for each target of each warp */
    uint32_t arrived, plain;
    /* by target (1: fall-through) and lane: number of threads of the arrived warps that go there */
    uint16_t need[2][MAX_WARP_LANES];
};
struct capri {
    uint32_t n;
    struct capri_entry entry[CAPRI_ENTRIES];
};

/* Records that a warp arrives at the branch at `pc`, with the targets t[0 .. n - 1]. `set`: number of warps that pass
 * the branch. Returns true if the warp should wait for the others. Returns false for a branch without an entry, also if
 * the table has no room for a new entry. `capri`: a struct capri. */
bool capri_arrive(void *capri, uint32_t pc, const struct target *t, int n, uint32_t set);
#endif
