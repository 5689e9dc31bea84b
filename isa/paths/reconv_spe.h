#ifndef ISA_RECONV_SPE_H
#define ISA_RECONV_SPE_H
/* Single-path execution: the reconvergence stack. Open here because the interpreter keeps the common step, a uniform
 * change of PC, inline; everybody else uses the table reconv_spe. */
#include "reconv.h"

struct spe_entry {
    uint32_t pc, rpc;
    lanemask_t lanes;
    uint16_t depth, rpc_depth; /* calls that the lanes are in, and were in where they diverged */
};

/* An entry of m lanes never has more than 2m - 1 entries in its subtree, itself included: a divergence pushes two or
 * more disjoint parts of it, or one proper part, and it diverges again only when these are gone. Hence 63 for a warp.
 */
enum { SPE_MAX_DEPTH = 2 * WARP_LANES };

struct spe_stack {
    uint32_t n;
    uint32_t max_depth;
    uint32_t first; /* reconv.first */
    uint32_t pad;
    struct spe_entry e[SPE_MAX_DEPTH];
};

/* Pops entries that have reached their reconvergence point, and those whose lanes have all left. */
static inline void spe_settle(struct spe_stack *s) {
    for (; s->n; s->n--) {
        const struct spe_entry *top = &s->e[s->n - 1];
        if (top->lanes && (top->pc != top->rpc || top->depth != top->rpc_depth))
            return;
    }
}
static inline bool spe_is_empty(const struct spe_stack *s) { return !s->n; }
/* The path that may issue: PC and lanes of the top entry. Requires that the stack is not empty. */
static inline struct path spe_top(const struct spe_stack *s) {
    return (struct path){.pc = s->e[s->n - 1].pc, .lanes = s->e[s->n - 1].lanes};
}
/* The top entry goes on at `next`. */
static inline void spe_advance(struct spe_stack *s, uint32_t next) {
    s->e[s->n - 1].pc = next;
    if (next == s->e[s->n - 1].rpc)
        spe_settle(s);
}
/* The lanes of the top entry call a function (1), or return from one (-1). */
static inline void spe_calls(struct spe_stack *s, int calls) {
    s->e[s->n - 1].depth = (uint16_t)(s->e[s->n - 1].depth + calls);
}
/* Lanes that are not at the top of the stack. */
lanemask_t spe_others(const struct spe_stack *s);
/* Threads are independent, and the top entry gets nowhere: it joins one level further down, where the entry that waits
 * for it joins, and comes below that one. An entry that joins nowhere comes to the bottom. `waiting` are lanes that
 * cannot run. False: there is nobody else to run. */
bool spe_take_turns(struct spe_stack *s, lanemask_t waiting);
/* Entries beside each other that stand at one PC and join at one place become one. */
void spe_merge(struct spe_stack *s);
#endif
