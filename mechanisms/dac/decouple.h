#ifndef MECHANISMS_DECOUPLE_H
#define MECHANISMS_DECOUPLE_H
/* A kernel in two streams: the affine one computes addresses and predicates for all threads and sends them, the
 * kernel's own takes them and does the rest. "Decoupled Affine Computation for SIMT GPUs", section 4. Internal to
 * decouple*.c. */
#include "frontend/analysis/affine.h"
#include "frontend/passes/edit.h"
#include "frontend/passes/pass.h"

/* What is decoupled, by the numbers of instructions and definitions before anything changes. */
struct plan {
    struct ir *ir;
    struct arena *arena;
    struct affine a;
    struct loops loops;
    const char *whole;     /* why the kernel is left as it is; NULL: it is not */
    uint32_t whole_at;     /* the instruction that is the reason; NO_INST: none in particular */
    uint16_t *site;        /* instruction: its address comes from a queue: site + 1 */
    uint16_t *guard_site;  /* its guard does */
    uint16_t *def_site;    /* definition of a predicate: taken from a queue where it stands */
    unsigned char *own;    /* instruction -> it is needed in the kernel's own stream */
    unsigned char *affine; /* it is needed in the affine stream: sends and their marks apart */
    uint32_t n_sites;
    uint32_t *rank; /* instruction -> how many are worth more, if there is no room for all; NULL: there is */
};

/* decouple_whole.c: is there a reason to leave the whole kernel alone? Fills whole and whole_at. */
void plan_whole(struct plan *p);
/* decouple_live.c: which predicates are sent, and what each stream needs. Requires: sites of accesses. */
void plan_own(struct plan *p);
void plan_affine(struct plan *p);
/* decouple_streams.c: makes the streams. */
bool make_streams(struct plan *p);

/* decouple_site.c: adds a site and returns its number + 1; 0: there are too many. */
uint16_t plan_site(struct plan *p, enum site_kind kind, uint32_t inst);
/* The block of instruction i is one whose threads the affine stream knows. */
static inline bool plan_known(const struct plan *p, uint32_t i) { return !p->a.excluded[p->ir->info[i].block]; }
/* Does i end its block with two ways to go on, which each thread chooses? */
static inline bool plan_parts(const struct plan *p, uint32_t i) {
    uint32_t b = p->ir->info[i].block;
    return i + 1 == p->ir->blocks[b].end && control_parts(&p->a.control, b);
}
/* Does it choose by a guard that the affine stream knows? */
static inline bool plan_resolved(const struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    return plan_parts(p, i) && plan_known(p, i) && (in->kind == K_BRANCH || in->kind == K_EXIT || in->kind == K_TRAP) &&
           affine_guard(&p->a, i) != CLASS_VECTOR;
}

/* The pass. */
extern const struct pass pass_decouple;
bool decouple(struct ir *ir);
/* decouple_fit.c: lowers a kernel whose affine stream has no more registers than the tuple file. */
struct program *decouple_lower(const struct image *img, const char *kernel, const struct lower_options *opt);
/* decouple_fit.c: ranks of instructions; NULL: there is room for all. */
uint32_t *plan_ranks(const struct plan *p);
/* Is there room for what instruction i would send? */
static inline bool plan_has_room(const struct plan *p, uint32_t i) {
    return !p->rank || p->rank[i] < p->ir->decouple_limit;
}

/* decouple_verify.c: what is wrong with the two streams of a program under construction, or NULL: each thread must take
 * exactly what is sent to it, in that order, between the same barriers, whichever way it goes. Requires: blocks. */
const char *verify_streams(const struct ir *ir, char *buffer, size_t size);
#endif
