#ifndef ISA_CTA_STACK_H
#define ISA_CTA_STACK_H
/* A reconvergence stack for the warps of a CTA, or one for each set of its warps. An entry has threads of any warps, a
 * PC and an rpc. The threads of the top entry run as paths, one for each warp and group: a group is a compacted warp,
 * in which each thread keeps its lane.
 *
 * A path that reaches a conditional branch waits until all paths of its entry have arrived. Then each target becomes an
 * entry, and its threads are compacted. A path that reaches the rpc of its entry ends; the entry below holds its
 * threads, and continues when all entries above have ended.
 *
 * The entries are the nodes of a tree: an entry that waits for others has them as children. If no path of the top
 * entry can run because paths wait at CTA barriers or for lanes of their member mask, another entry becomes the top
 * (our reading of the paper). The same happens if all paths of the top entry poll, that is, repeat a loop that waits
 * for other threads. If nothing else can run, the other paths of an entry do not wait for paths that poll or wait. */
#include "reconv.h"

enum { CTA_NO_NODE = 0xffff };
/* With a predictor, a compacted warp that diverges at a branch where no warp waits has a stack of its own until the
 * branch reconverges. The bottom of this stack is an aside node. It hangs aside of a node whose other paths continue
 * meanwhile. In its own stack, the warp is not compacted with others (our reading of the paper). */

/* RUNS and POLLS: the path can issue, if its entry is the top. POLLS: it has last repeated a loop that waits for other
 * threads. SLEEPS: it waits at a CTA barrier or for lanes of its member mask. ARRIVED: it waits at a branch that it has
 * executed. */
enum cta_path_state { CTA_RUNS, CTA_POLLS, CTA_SLEEPS, CTA_ARRIVED, N_CTA_STATES };

struct cta_path {
    uint32_t pc;        /* CTA_ARRIVED: target of the branch */
    uint32_t site, rpc; /* CTA_ARRIVED: PC and rpc of the branch */
    lanemask_t lanes;   /* enum of the states above; 0: the slot is free */
    uint16_t node;
    uint16_t group;             /* number of the compacted warp */
    bool shared;                /* the compacted warp has threads of several warps */
    bool alone;                 /* CTA_ARRIVED: the compacted warp does not wait for others */
    uint16_t depth, site_depth; /* call depths of the lanes at `pc`, and before the branch */
    uint8_t state, rank;        /* rank: number of this target among the targets of the path's branch */
};

struct cta_node {
    uint32_t pc, rpc;          /* pc: where the threads start, or continue when all children have ended */
    uint16_t depth, rpc_depth; /* call depths at these PCs */
    uint16_t parent;
    uint16_t children;
    uint16_t paths[N_CTA_STATES]; /* number of paths in each state; there are none while there are children */
    bool used;
    bool home;     /* the threads run in their own warps, not in compacted ones */
    bool aside;    /* the node is aside of its parent, and not one of its `children` */
    uint16_t away; /* number of nodes that are aside of this node */
    /* the aside node at the bottom of the stack to which this node belongs; CTA_NO_NODE if it belongs to the stack of
     * the CTA */
    uint16_t stack;
    uint16_t own_top; /* for an aside node: the top of the stack that begins at it */
    /* a runnable node with a higher number has priority; the node with the highest number is the top */
    uint32_t order;
};

struct cta_stack_plan {
    /* each set of this number of consecutive warps of a CTA shares a stack; if 0, all warps of the CTA share one */
    uint32_t warps;
    bool fallthrough_first; /* the fall-through of a branch runs first */
    bool home;              /* threads run in their own warps until a branch diverges, and again when all threads have
                             * returned */
    bool any_lane;          /* a thread may take any lane of a compacted warp; false: each thread keeps its lane */
    /* Returns true if a compacted warp with these targets, which arrives at a branch that `set` warps will pass, must
     * wait for the others. `predictor` is memory of the stack, which is zero at first. If the function is NULL,
     * compacted warps wait at every branch. */
    bool (*waits)(void *predictor, uint32_t pc, const struct target *t, int n, uint32_t set);
    size_t predictor; /* bytes */
};

/* The stacks of a CTA, which follow this struct in memory. */
struct cta_stacks {
    struct reconv_cta cta;
    uint32_t each; /* warps of a stack; the last one may have fewer */
    uint16_t last_group;
    size_t bytes; /* of a stack */
};

struct cta_stack {
    struct cta_stacks *of;
    struct cta_stack_plan plan;
    uint32_t first, n_warps; /* its warps in the CTA; below, a warp has its number in the stack */
    bool due;                /* meet() has work */
    uint32_t width;          /* number of threads of a full warp */
    uint32_t patience;       /* number of polls since a path that does not poll has run */
    uint16_t high, top;      /* number of nodes that were ever used; node whose paths may issue, or CTA_NO_NODE */
    uint32_t clock;
    lanemask_t *lanes; /* threads of node i in warp w: lanes[i * n_warps + w], children included */
    struct cta_path *path;
    void *predictor;
    struct reconv_warp who; /* copy of the data of a warp, to reach the levels that all warps share */
    struct cta_node node[];
};
static inline struct cta_stack *cta_stack_at(struct cta_stacks *all, uint32_t i) {
    return (struct cta_stack *)(void *)((char *)(all + 1) + i * all->bytes);
}
static inline void cta_stack_due(struct cta_stack *s) { s->due = s->of->cta.due = true; }

/* State of one warp. */
struct cta_stack_warp {
    struct cta_stack *s;
    struct cta_path *path; /* MAX_WARP_LANES slots; the id of a path is the number of its slot */
    uint32_t warp;
    lanemask_t alive;
};

/* Returns the threads of a node, by warp. */
static inline lanemask_t *cta_stack_lanes(const struct cta_stack *s, uint32_t node) {
    return s->lanes + (size_t)node * s->n_warps;
}
/* Returns true if paths of the node may issue. */
static inline bool cta_stack_is_top(const struct cta_stack *s, uint16_t node) {
    const struct cta_node *bottom = s->node[node].stack == CTA_NO_NODE ? NULL : &s->node[s->node[node].stack];
    return bottom ? bottom->parent == s->top && bottom->own_top == node : node == s->top;
}

/* The only level of this model (reconv_ops.levels): threads that wait at a branch for other warps to arrive. */
enum { CTA_LEVEL_WAITING };

/* Defines the functions for reconv_ops.cta_size and reconv_ops.join of a model, from these two functions and the
 * model's plan. */
size_t cta_stack_size(const struct cta_stack_plan *plan, uint32_t n_warps);
void cta_stack_join(void *st, const struct cta_stack_plan *plan, struct reconv_cta *cta, uint32_t warp);

/* Members of struct reconv_ops. */
size_t cta_stack_warp_size(const struct reconv_cfg *cfg, uint32_t lanes);
void cta_stack_inform(void *st, const struct reconv_warp *w);
void cta_stack_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes);
int cta_stack_paths(const void *st, struct path *out, int max);
bool cta_stack_finished(const void *st);
uint32_t cta_stack_group(const void *st, int id);
unsigned cta_stack_advance(void *st, int id, uint32_t next);
unsigned cta_stack_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site);
unsigned cta_stack_leave(void *st, int id, lanemask_t lanes, uint32_t next);
unsigned cta_stack_stall(void *st, int id, enum reconv_stall why);
unsigned cta_stack_wake(void *st, int id);
void cta_stack_meet(struct reconv_cta *cta);
int cta_stack_describe(const void *st, struct path_desc *out, int max);
int cta_stack_depth(const void *st);
/* The members of struct reconv_ops that all models with a CTA stack share, as initialisers. A model adds cta_size,
 * join, levels, board and storage. */
/* clang-format off */
#define CTA_STACK_CALLS                                                                                                \
    .size = cta_stack_warp_size, .meet = cta_stack_meet, .start = cta_stack_start, .inform = cta_stack_inform,         \
    .paths = cta_stack_paths, .group = cta_stack_group, .finished = cta_stack_finished,                                \
    .advance = cta_stack_advance, .branch = cta_stack_branch, .leave = cta_stack_leave, .stall = cta_stack_stall,      \
    .wake = cta_stack_wake, .describe = cta_stack_describe, .depth = cta_stack_depth
/* clang-format on */
#endif
