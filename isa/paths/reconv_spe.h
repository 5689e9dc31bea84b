#ifndef ISA_RECONV_SPE_H
#define ISA_RECONV_SPE_H
/* Single-path execution: the reconvergence stack. The struct is public because the interpreter and the SM execute the
 * most common step, a uniform change of PC, inline. All other code uses the table reconv_spe. */
#include "reconv.h"

struct spe_entry {
    uint32_t pc, rpc;
    lanemask_t lanes;
    uint16_t depth, rpc_depth; /* current call depth of the lanes, and their call depth at the divergence */
};

/* An entry of m lanes and all entries pushed for its lanes are at most 2m - 1 entries. A divergence pushes entries
 * for two or more disjoint subsets of its lanes, or for one proper subset. The entry diverges again only after these
 * entries are popped. The state of a warp of m lanes has 2m entries: reconv_ops.size. */
enum { SPE_MAX_DEPTH = 2 * MAX_WARP_LANES };

/* The stack starts in `near`. When the stack becomes deeper than `room`, all entries move to `far`. */
enum { SPE_NEAR = 6 };
struct spe_stack {
    uint32_t n;
    uint32_t max_depth;
    uint32_t first;        /* option reconv.first */
    uint32_t room;         /* number of entries for which `e` has room */
    struct spe_entry *e;   /* `near` or `far` */
    struct spe_entry *far; /* reconv_warp.far; NULL: none, and `near` has room for all entries */
    struct spe_entry near[SPE_MAX_DEPTH];
};

/* Pops entries that have reached their reconvergence point, and entries without lanes. */
static inline void spe_settle(struct spe_stack *s) {
    for (; s->n; s->n--) {
        const struct spe_entry *top = &s->e[s->n - 1];
        if (top->lanes && (top->pc != top->rpc || top->depth != top->rpc_depth))
            return;
    }
}
static inline bool spe_is_empty(const struct spe_stack *s) { return !s->n; }
/* Returns the path that may issue: PC and lanes of the top entry. Requires that the stack is not empty. */
static inline struct path spe_top(const struct spe_stack *s) {
    return (struct path){.pc = s->e[s->n - 1].pc, .lanes = s->e[s->n - 1].lanes};
}
/* Lets the top entry continue at `next`. */
static inline void spe_advance(struct spe_stack *s, uint32_t next) {
    s->e[s->n - 1].pc = next;
    if (next == s->e[s->n - 1].rpc)
        spe_settle(s);
}
/* Records that the lanes of the top entry call a function (calls = 1) or return from one (calls = -1). */
static inline void spe_calls(struct spe_stack *s, int calls) {
    s->e[s->n - 1].depth = (uint16_t)(s->e[s->n - 1].depth + calls);
}
/* Returns the lanes that are not in the top entry. */
lanemask_t spe_others(const struct spe_stack *s);
/* Defers the top entry when it makes no progress, for callers with independent threads. The entry moves below its
 * parent entry and gets the parent's reconvergence point. An entry without a parent moves to the bottom. Repeats this
 * until a lane runs that is neither in `waiting` nor in the old top entry. Returns false if there is no such lane. */
bool spe_take_turns(struct spe_stack *s, lanemask_t waiting);
/* Merges neighbouring entries with the same PC and the same reconvergence point. */
void spe_merge(struct spe_stack *s);
#endif
