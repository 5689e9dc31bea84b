#ifndef FRONTEND_BARRIERS_H
#define FRONTEND_BARRIERS_H
/* What the files of the barriers pass share: divergent regions, and the program while barriers are put into it.
 * barriers.c finds regions that end where all threads join and gives them numbers; leaving.c finds regions that some
 * threads leave before the join. */
#include "edit.h"
#include "frontend/analysis/waits.h"

enum { N_BARRIERS = 32, NO_BARRIER = -1 };
#define NO_REGION UINT32_MAX

struct region {
    uint32_t anchor;    /* block: of the branch, or the header of the loop */
    uint32_t join;      /* block */
    bool at_header;     /* BSSY where the loop is entered; else before the branch that ends `anchor` */
    bool leaves;        /* threads may leave it for blocks that do not lead to the join: BREAK on these edges */
    bool covered;       /* another region with the same join does what this one would */
    bool again;         /* the anchor is reached again from inside, by other ways than the back edges of its loop */
    int number;         /* NO_BARRIER: none was left, or not needed */
    uint64_t *blocks;   /* bit set: from the anchor on, before the join; NULL: not asked for yet (blocks_of()) */
    uint32_t low, high; /* least and greatest of them */
    uint32_t next_at_anchor, next_at_join; /* the next region of the same block; NO_REGION ends */
};

struct work {
    struct ir *ir;
    uint32_t words; /* of a set of blocks */
    struct dom_tree dom;
    struct loops loops;
    struct region *regions;
    uint32_t n, cap;
    struct waits waits;            /* loops that wait for other threads */
    uint32_t *join;                /* block -> where the sides of its branch meet: find_joins() */
    unsigned char *has_barrier;    /* function -> it, or one that it calls, has a barrier of the CTA */
    unsigned char *returns_apart;  /* function -> its threads may diverge, and no barrier of its own joins them */
    uint32_t *at_anchor, *at_join; /* block -> its first region, ascending from there */
    int *base;                     /* function -> its first number */
    uint32_t *stack;               /* as many as there are blocks */
    uint32_t *numbered;            /* regions of the function at hand that have a number */
};

/* Where the barriers of what enters a block stand; NO_BLOCK in `outer`: in the block itself. */
struct rewrite {
    struct work *w;
    struct edit *e;
    uint32_t *outer; /* block -> the one that those pass who enter the loop it heads */
};

static inline bool set_has(const uint64_t *set, uint32_t b) { return set[b / 64] >> (b % 64) & 1; }
static inline void set_add(uint64_t *set, uint32_t b) { set[b / 64] |= 1ull << (b % 64); }
static inline const struct inst *last_of(const struct work *w, uint32_t b) {
    return &w->ir->code[w->ir->blocks[b].end - 1];
}

/* barriers.c */
/* The loop that a block is the header of; NULL for none. */
const struct loop *region_loop(const struct work *w, uint32_t b);
/* A region of the branch of block `b` with this join. It has no number yet and is in no list. */
struct region region_of(const struct work *w, uint32_t b, uint32_t join);
void region_add(struct work *w, const struct region *r);
/* Is there a region with the same begin and join? */
bool region_known(const struct work *w, const struct region *r);
/* Its blocks. Blocks in which threads only exit belong to no region. */
const uint64_t *blocks_of(struct work *w, struct region *r);
/* Can threads leave block `b` for different blocks in which they do not only exit? */
bool region_parts(const struct work *w, uint32_t b);
/* Do threads in region `a` come by the BSYNC of `b`? */
bool region_passes(const struct work *w, const struct region *a, const struct region *b);
/* Is there a loop in the region, or in a function that it calls, that waits for other threads? */
bool waits_inside(struct work *w, struct region *r);
/* #bssy, #bsync or #break. */
struct inst barrier_inst(const char *name);

/* leaving.c */
/* The blocks of `reached` that lead to the join of `r` without passing its begin again; the begin is among them. */
uint64_t *lead_to_join(struct work *w, const struct region *r, const uint64_t *reached);
void find_leaving(struct work *w);
/* Drops regions until no threads can wait for each other at the joins of two regions. */
void drop_circles(struct work *w);
void put_breaks(const struct rewrite *rw);
#endif
