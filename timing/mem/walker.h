#ifndef TIMING_WALKER_H
#define TIMING_WALKER_H
/* The walk unit of an SM: a part of the load/store unit that executes heddle.walk (isa/walk.h). It models a unit for
 * ray tracing, which walks a tree of boxes for all rays of a warp.
 *
 * Up to walk.queue instructions wait in a queue. The unit handles the rays of up to walk.warps warps at a time. Each
 * ray has a list of addresses, and makes one access after another: it reads the 64 bytes around the next address of its
 * list, and then computes intersection tests for walk.latency cycles. Rays of a warp that are ready for the same 64
 * bytes in the same cycle share the access. The unit begins up to walk.rate accesses per cycle; the oldest warp has
 * priority. With walk.memory, accesses go to the L1, through ports that other accesses leave free, or to a memory of
 * the unit's own. The instruction ends when the walks of all its lanes have ended. */
#include "isa/types.h"

struct lsu;
struct lsu_access;
struct walk_cfg;

/* The walks of one instruction. */
struct walk {
    uint64_t came, next; /* cycle in which the instruction arrived; next cycle in which one of its rays is ready */
    lanemask_t left;     /* lanes whose walks have not ended */
    uint32_t pc, tag;
    uint16_t slot; /* the slot of the instruction in the load/store unit */
    uint16_t warp;
    bool noted; /* reported by lsu_missed() */
    struct ray {
        const uint64_t *at, *end; /* rest of the ray's list of addresses */
        uint64_t ready;           /* cycle of the ray's next step; UINT64_MAX: the ray waits for data */
    } ray[MAX_WARP_LANES];
};

struct walker {
    struct walk *walk;
    uint16_t *order;  /* indices into walk[]: first the walks in use, oldest first, then the free entries */
    uint32_t n, size; /* number of walks in use; number of entries of walk[] */
    uint64_t now, next;
    uint64_t moved; /* number of visits (accesses of rays) since the start of the simulation */
    struct walk_access {
        lanemask_t lanes;
        uint16_t walk;
    } * access; /* for each slot of the load/store unit: the rays that wait for the access in this slot */
    struct walk_counts {
#define COUNT_FIELDS
#include "walk_stats.def"
    } n_of;
};

/* Allocates the unit. Returns false when memory runs out. */
bool walker_init(struct walker *w, const struct walk_cfg *cfg);
void walker_free(struct walker *w);
/* Returns true if the unit can accept one more instruction. */
bool walker_has_place(const struct walker *w);
/* Accepts an instruction with slot `slot`. a->addr has the host address of the list of each lane. */
void walker_accept(struct lsu *l, const struct lsu_access *a, uint16_t slot, uint64_t now);
/* Runs one cycle; `ports` ports of the L1 are free. */
void walker_tick(struct lsu *l, uint32_t ports, uint64_t now);
#endif
