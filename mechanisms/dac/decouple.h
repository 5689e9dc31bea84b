#ifndef MECHANISMS_DECOUPLE_H
#define MECHANISMS_DECOUPLE_H
/* Splits a kernel into two streams. The affine stream computes addresses and predicates for all threads and sends them;
 * the kernel's own stream takes them from queues and executes all other instructions. "Decoupled Affine Computation for
 * SIMT GPUs", section 4. Internal to decouple*.c. */
#include "frontend/analysis/affine.h"
#include "frontend/passes/edit.h"
#include "frontend/passes/pass.h"

/* The decisions of the pass. Indices of instructions and definitions refer to the program before any change. */
struct plan {
    struct ir *ir;
    struct arena *arena;
    struct affine a;
    struct loops loops;
    const char *whole; /* reason why the whole kernel is left unchanged; NULL if the pass may change it */
    uint32_t whole_at; /* the instruction that causes `whole`; NO_INST if no single instruction does */
    /* indexed by instruction: number of the site that supplies its address, + 1; 0 if the address is not decoupled */
    uint16_t *site;
    /* indexed by instruction: number of the site that supplies its guard, + 1; 0 if the guard is not decoupled */
    uint16_t *guard_site;
    /* indexed by definition: number of the site + 1 if this predicate is taken from a queue at its definition;
     * else 0 */
    uint16_t *def_site;
    unsigned char *own; /* indexed by instruction: true if the kernel's own stream needs it */
    /* indexed by instruction: true if the affine stream needs a copy of it; sends and marks of barriers do not count */
    unsigned char *affine;
    uint32_t n_sites;
    /* indexed by instruction: number of instructions with a higher priority for decoupling; NULL if all fit */
    uint32_t *rank;
};

/* decouple_whole.c: fills whole and whole_at if the whole kernel must be left unchanged. */
void plan_whole(struct plan *p);
/* decouple_live.c: find the predicates that are sent, and the instructions that each stream needs. Requires: the sites
 * of accesses have been assigned. */
void plan_own(struct plan *p);
void plan_affine(struct plan *p);
/* decouple_streams.c: creates the streams. */
bool make_streams(struct plan *p);

/* decouple_site.c: adds a site and returns its number + 1, or 0 if there are too many. */
uint16_t plan_site(struct plan *p, enum site_kind kind, uint32_t inst);
/* Returns true if the affine stream knows which threads execute the block of instruction i. */
static inline bool plan_known(const struct plan *p, uint32_t i) { return !p->a.excluded[p->ir->info[i].block]; }
/* Returns true if instruction i ends a block with two successors, and each thread chooses one of them. */
static inline bool plan_parts(const struct plan *p, uint32_t i) {
    uint32_t b = p->ir->info[i].block;
    return i + 1 == p->ir->blocks[b].end && control_parts(&p->a.control, b);
}
/* Returns true if plan_parts(p, i) is true, and the affine stream knows the guard by which each thread chooses. */
static inline bool plan_resolved(const struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    return plan_parts(p, i) && plan_known(p, i) && (in->kind == K_BRANCH || in->kind == K_EXIT || in->kind == K_TRAP) &&
           affine_guard(&p->a, i) != CLASS_VECTOR;
}

/* The pass. */
extern const struct pass pass_decouple;
bool decouple(struct ir *ir);
/* decouple_fit.c: lowers a kernel so that its affine stream needs at most as many registers as the tuple file has. */
struct program *decouple_lower(const struct image *img, const char *kernel, const struct lower_options *opt);
/* decouple_fit.c: returns the rank of each instruction (the number of instructions with a higher priority for
 * decoupling), or NULL if all instructions fit. */
uint32_t *plan_ranks(const struct plan *p);
/* Returns true if the rank of instruction i is within the limit, so that its value may be sent. */
static inline bool plan_has_room(const struct plan *p, uint32_t i) {
    return !p->rank || p->rank[i] < p->ir->decouple_limit;
}

/* decouple_verify.c: returns what is wrong with the two streams of a program under construction, or NULL. On every
 * path, each thread must dequeue exactly the entries that were enqueued for it, in the same order, between the same
 * barriers. Requires: blocks. */
const char *verify_streams(const struct ir *ir, char *buffer, size_t size);
#endif
