#ifndef TIMING_WALKER_H
#define TIMING_WALKER_H
/* The walk unit of an SM: a part of the load/store unit that executes heddle.walk (isa/walk.h). It models a unit for
 * ray tracing, which walks a tree of boxes for all rays of a warp.
 *
 * Warps wait in a queue (walk.queue); the unit follows the rays of walk.warps warps at once. A ray makes one access
 * after another: the 64 bytes around the next address of its list, then walk.latency cycles of tests. Rays of a warp
 * that are ready for the same 64 bytes in the same cycle share the access. The unit begins walk.rate accesses a cycle,
 * of the oldest warp first: in the L1, through ports that warps leave free, or in a memory of its own. The instruction
 * ends when the walks of all its lanes have ended. */
#include "isa/types.h"

struct lsu;
struct lsu_access;
struct walk_cfg;

/* The walks of one instruction. */
struct walk {
    uint64_t came, next; /* cycle of its arrival; next cycle in which a ray is ready */
    lanemask_t left;     /* lanes whose walks have not ended */
    uint32_t pc, tag;
    uint16_t slot; /* the slot of the instruction in the load/store unit */
    uint8_t warp;
    bool noted; /* reported by lsu_missed() */
    struct ray {
        const uint64_t *at, *end; /* rest of its list */
        uint64_t ready;           /* cycle of its next step; UINT64_MAX: it waits for data */
    } ray[WARP_LANES];
};

struct walker {
    struct walk *walk;
    uint16_t *order;  /* numbers of walks: first those in use, by age, then free ones */
    uint32_t n, size; /* walks in use, and all */
    uint64_t now, next;
    uint64_t moved; /* visits since the start of the simulation */
    struct walk_access {
        lanemask_t lanes;
        uint16_t walk;
    } * access; /* for each slot of the load/store unit: the rays that wait for it */
    struct walk_counts {
#define COUNT_FIELDS
#include "walk_stats.def"
    } n_of;
};

/* Allocates the unit. Returns false when memory runs out. */
bool walker_init(struct walker *w, const struct walk_cfg *cfg);
void walker_free(struct walker *w);
/* Returns true if there is a place for one more instruction. */
bool walker_has_place(const struct walker *w);
/* Accepts an instruction with slot `slot`. a->addr has the host address of the list of each lane. */
void walker_accept(struct lsu *l, const struct lsu_access *a, uint16_t slot, uint64_t now);
/* Runs one cycle; `ports` ports of the L1 are free. */
void walker_tick(struct lsu *l, uint32_t ports, uint64_t now);
#endif
