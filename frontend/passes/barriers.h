#ifndef FRONTEND_BARRIERS_H
#define FRONTEND_BARRIERS_H
/* Data shared by the files of the barriers pass: divergent regions, and the rewriting of the program. region.c has
 * the regions. barriers.c finds regions that end where all threads join, and numbers all regions. leaving.c finds
 * regions that some threads leave before the join. Names: anchor = block where a region begins, join = block where it
 * ends. */
#include "edit.h"
#include "frontend/analysis/waits.h"

enum { N_BARRIERS = 32, NO_BARRIER = -1 };
#define NO_REGION UINT32_MAX

struct region {
    uint32_t anchor; /* block of the branch, or header of the loop, where the region begins */
    uint32_t join;   /* block where the region ends */
    /* true: the BSSY is in the preheader of the loop with header `anchor`; false: it is before the branch at the end of
     * block `anchor` */
    bool at_header;
    /* true if edges lead from the region to blocks from which no path leads to the join; these edges get a BREAK */
    bool leaves;
    bool covered; /* another region with the same join makes this region unnecessary */
    /* true if threads in the region can reach the anchor again; with at_header, the back edges of the anchor's loop do
     * not count */
    bool reentered;
    int number;         /* barrier number; NO_BARRIER: no number is free, or no barrier is needed */
    uint64_t *blocks;   /* bit set of its blocks, from the anchor to before the join; NULL until blocks_of() */
    uint32_t low, high; /* lowest and highest block of the set */
    /* next region with the same anchor, and next region with the same join; NO_REGION: end of list */
    uint32_t next_at_anchor, next_at_join;
};

struct work {
    struct ir *ir;
    uint32_t words; /* 64-bit words in a set of blocks */
    struct dom_tree dom;
    struct loops loops;
    struct region *regions;
    uint32_t n, cap;
    struct waits waits; /* loops that wait for other threads */
    /* block -> true if its branch may part lanes: find_parting(); NULL: any branch with a guard may */
    const unsigned char *parting;
    uint32_t *join;               /* block -> join of its branch: find_joins() */
    unsigned char *has_barrier;   /* function -> true if the function or a callee has a CTA barrier */
    unsigned char *returns_apart; /* function -> true if its threads may diverge and return without reconverging */
    /* block -> first region that begins there, and first region that ends there; the lists through next_at_anchor and
     * next_at_join are in ascending order */
    uint32_t *at_anchor, *at_join;
    int *base;          /* function -> its first barrier number */
    uint32_t *stack;    /* scratch, one element per block */
    uint32_t *numbered; /* indices of the regions of the current function that have a barrier number */
};

/* The program being rewritten. A BSSY or BSYNC for threads that enter a loop from outside goes into the loop's
 * preheader, if `outer` has one. */
struct rewrite {
    struct work *w;
    struct edit *e;
    uint32_t *outer; /* loop header -> its preheader; NO_BLOCK: none */
};

/* Sets of blocks. */
static inline bool set_has(const uint64_t *set, uint32_t b) { return set[b / 64] >> (b % 64) & 1; }
static inline void set_add(uint64_t *set, uint32_t b) { set[b / 64] |= 1ull << (b % 64); }
/* Returns the last instruction of block b. */
static inline const struct inst *last_of(const struct work *w, uint32_t b) {
    return &w->ir->code[w->ir->blocks[b].end - 1];
}

/* region.c */
/* Returns the loop whose header is block b, or NULL. */
const struct loop *region_loop(const struct work *w, uint32_t b);
/* Returns a region for the branch of block b with this join. It has no number and is in no list yet. */
struct region region_of(const struct work *w, uint32_t b, uint32_t join);
/* Adds a region to the list of all regions. */
void region_add(struct work *w, const struct region *r);
/* Returns true if the list has a region that begins and ends at the same blocks as this region. */
bool region_known(const struct work *w, const struct region *r);
/* Returns the blocks of a region. Blocks in which threads only exit are in no region. */
const uint64_t *blocks_of(struct work *w, struct region *r);
/* Returns the blocks of `reached` that lead to the join of r without passing its anchor again, and the anchor. */
uint64_t *lead_to_join(struct work *w, const struct region *r, const uint64_t *reached);
/* Returns true if block b has at least two successors in which threads do more than exit. */
bool region_diverges(const struct work *w, uint32_t b);
/* Returns true if threads in region `a` may reach the BSYNC of region `b` before they reach the join of `a`. */
bool region_passes(const struct work *w, const struct region *a, const struct region *b);
/* Returns true if the region, or a function it calls, contains a loop that waits for other threads. */
bool waits_inside(struct work *w, struct region *r);
/* Returns a #bssy, #bsync or #break instruction. */
struct inst barrier_inst(const char *name);

/* leaving.c */
/* Finds the regions that some threads leave before the join. */
void find_leaving(struct work *w);
/* Drops regions until threads at the joins of two regions cannot wait for each other. */
void drop_cycles(struct work *w);
/* Adds the BREAKs on edges that leave a region. */
void put_breaks(const struct rewrite *rw);
#endif
