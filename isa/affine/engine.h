#ifndef ISA_AFFINE_ENGINE_H
#define ISA_AFFINE_ENGINE_H
/* The affine warp: runs the affine stream of a program once for a batch of CTAs, an instruction a step, without time.
 * "Decoupled Affine Computation for SIMT GPUs", sections 4.2 to 4.6; CTAs of a batch that differ in more than a linear
 * function of their index, exact values and the two-level stack are described in docs/dac.md.
 *
 * Values are exact whatever the analysis thought: what has no tuple is computed thread by thread, and counted. What an
 * instruction computes is said by its row's own executor, on the values of thread (0,0,0) of every CTA, a CTA a lane;
 * only what is linear is known here: what it makes of base and thread offsets alike. */
#include "isa/machine/effects.h"
#include "value.h"

struct affine_engine;
struct supply;

/* How a predicate of a warp's lanes came about, from the cheapest on: one comparison for the CTA; one of each end of
 * the warp; every lane's. */
enum affine_compare { COMPARE_CTA, COMPARE_ENDS, COMPARE_LANES, N_COMPARES };

/* What an enq sends to one warp. */
struct affine_entry {
    uint32_t site;    /* index into program.sites */
    lanemask_t lanes; /* that it is for and that have not taken it yet; 0: nothing */
    uint32_t marker;  /* barriers that its lanes must have passed before it may be expanded */
    lanemask_t value; /* SITE_PRED */
    uint8_t kind;     /* enum site_kind */
    uint8_t compare;  /* SITE_PRED: enum affine_compare */
    uint64_t *exact;  /* addresses by lane, malloc'ed and the entry's own; NULL: tuple */
    struct affine_tuple at;
};
void affine_entry_free(struct affine_entry *e);
/* Addresses of an entry's lanes (others get something). */
void affine_entry_addresses(const struct affine_entry *e, const struct affine_shape *s, uint32_t warp,
                            uint64_t out[WARP_LANES]);

/* Of which kind a step's values were, from the cheapest on. */
enum affine_step_class {
    STEP_CONTROL, /* no value: branches, markers, enq, exits */
    STEP_SCALAR,  /* thread offsets are zero */
    STEP_AFFINE,
    STEP_EACH,   /* not linear in the CTA's index: a scalar for each CTA */
    STEP_VECTOR, /* thread by thread */
    N_STEP_CLASSES
};

/* What a step did. */
struct affine_step {
    uint32_t pc;
    const struct inst *in;
    uint8_t class;      /* enum affine_step_class */
    bool counts;        /* false: put in for convergence barriers, counted apart */
    uint32_t slots;     /* issue slots that it takes: 1, one a CTA (STEP_EACH), or one a warp (STEP_VECTOR) */
    uint32_t fallbacks; /* CTAs for which a tuple became exact values here */
    bool splits_warps, splits_threads; /* a branch that parts warps from warps, lanes of a warp from each other */
    uint32_t number;                   /* of an enq of a predicate, from 1 */
    uint32_t waits;                    /* of a branch, or a guard: the number of the enq that sends its predicate; 0 */
    struct affine_entry *
        entries; /* of an enq, by warp of the batch: CTA * n_warps + warp; NULL else. Whoever takes one sets its lanes 0
                                      and owns what it points to; the rest is freed by the next step */
    uint8_t fault;                  /* enum fault_kind */
    uint32_t fault_cta, fault_lane; /* the CTA's place in the batch; its first thread that got there, as lane of warp */
    uint32_t fault_warp;
    uint64_t fault_address;
    uint32_t fault_bytes;
    uint8_t fault_space;
};

/* Issue slots of a step, each of which counts as a warp instruction: `slots` of the step or the tally, and one for each
 * predicate that the SIMT lanes compare. */
static inline uint64_t affine_issue_slots(uint64_t slots, uint64_t lane_compares) { return slots + lane_compares; }

/* What several steps did that computed or branched, or sent to engine_send_to(). */
struct affine_tally {
    uint32_t n, warp_divergences, thread_divergences; /* steps; branches that parted warps, lanes of a warp */
    uint32_t compared[N_COMPARES];                    /* predicates that were sent, by how they came about */
    bool sent;                                        /* the last one sent something */
    uint64_t slots, fallbacks, by_class[N_STEP_CLASSES];
};

struct affine_cta {
    struct dim3 id;
};

/* For batches of up to `ctas` CTAs of a launch whose program has an affine stream; `first`: reconv.first, which side of
 * a branch runs first. NULL: memory is out. The launch must outlive it. */
struct affine_engine *engine_new(const struct launch *l, uint32_t ctas, uint32_t first);
void engine_free(struct affine_engine *e);
const struct affine_shape *engine_shape(const struct affine_engine *e);
/* All threads of these CTAs at the beginning of the stream. False: memory is out, and every step will say so. */
bool engine_start(struct affine_engine *e, const struct dim3 *ids, uint32_t n);
/* From now on until the next engine_start(), what is sent to the CTA at place `cta` of the batch goes to these queues,
 * and what is sent to others nowhere; engine_compute_on() does it. For who has no time, and one CTA. */
void engine_send_to(struct affine_engine *e, struct supply *to, uint32_t cta);
/* Have all threads ended? Not when memory was out: the next step says so. */
bool engine_done(const struct affine_engine *e);
/* The next instruction; NULL: engine_done(), or memory was out at the start. */
const struct inst *engine_next(const struct affine_engine *e);
/* Executes it. Requires that there is one. False: step->fault says why; nothing more can be done. */
bool engine_step(struct affine_engine *e, struct affine_step *step);
/* Executes instructions as long as they only compute or branch, or the first that sends, if engine_send_to() says where
 * to; at most `most`. Adds to `t`: for who has no time. False, and `step`: as engine_step(). */
bool engine_compute_on(struct affine_engine *e, uint32_t most, struct affine_tally *t, struct affine_step *step);
#endif
