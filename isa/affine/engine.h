#ifndef ISA_AFFINE_ENGINE_H
#define ISA_AFFINE_ENGINE_H
/* The affine warp: executes the affine stream of a program once for a batch of CTAs, one instruction per step. It has
 * no timing. Source: "Decoupled Affine Computation for SIMT GPUs", sections 4.2 to 4.6. docs/dac.md describes our
 * additions: CTAs whose values are not linear in the CTA index, exact values, and the two-level stack.
 *
 * Values are always exact. A value without a tuple is computed thread by thread, and such computations are counted.
 * The executor of the instruction computes bases: each lane holds the value of thread (0,0,0) of one CTA. The engine
 * itself computes only linear operations, by the same formula for the base and the thread offsets. */
#include "isa/machine/effects.h"
#include "value.h"

struct affine_engine;
struct supply;

/* How a predicate of a warp was computed, cheapest first. CTA: one comparison for all warps of the CTA. ENDS: two for
 * the warp, of its first and its last lane. CORNERS: two for a warp with several rows of threads, of its least and its
 * greatest value. LANES: one for each lane. */
enum affine_compare { COMPARE_CTA, COMPARE_ENDS, COMPARE_CORNERS, COMPARE_LANES, N_COMPARES };
/* Returns how hardware computes a predicate that the engine computed by `compare`. COMPARE_CORNERS counts as
 * COMPARE_ENDS if the hardware can compare corners (`corners`), else as COMPARE_LANES. */
static inline enum affine_compare affine_compare_by(bool corners, uint8_t compare) {
    return compare != COMPARE_CORNERS ? (enum affine_compare)compare : corners ? COMPARE_ENDS : COMPARE_LANES;
}

/* A queue entry that an enq sends to one warp. */
struct affine_entry {
    uint32_t site;   /* index into program.sites */
    rowmask_t lanes; /* lanes that have not taken the entry yet; 0 if no lane is left */
    /* number of CTA barriers that the entry's lanes must have passed before the addresses of the entry are computed */
    uint32_t marker;
    rowmask_t value; /* SITE_PRED */
    uint8_t kind;    /* enum site_kind */
    uint8_t compare; /* SITE_PRED: enum affine_compare */
    uint64_t *exact; /* malloc'ed addresses of the lanes, owned by the entry; if NULL, the tuple is used */
    struct affine_tuple at;
};
void affine_entry_free(struct affine_entry *e);
/* Computes the addresses of the entry's lanes; other lanes are undefined. */
void affine_entry_addresses(const struct affine_entry *e, const struct affine_shape *s, uint32_t warp,
                            uint64_t out[WARP_LANES]);

/* Class of the values that a step computes, cheapest first. */
enum affine_step_class {
    STEP_CONTROL, /* no values: branches, markers, enq, exits */
    STEP_SCALAR,  /* thread offsets are zero */
    STEP_AFFINE,
    STEP_EACH,   /* the values are not linear in the CTA index, so each CTA has its own scalar */
    STEP_VECTOR, /* thread by thread */
    N_STEP_CLASSES
};

/* Result of a step. */
struct affine_step {
    uint32_t pc;
    const struct inst *in;
    uint8_t class; /* enum affine_step_class */
    bool counts;   /* false for instructions inserted for convergence barriers, which are counted separately */
    /* number of issue slots. STEP_EACH: one for each CTA; STEP_VECTOR: one for each warp; other classes: one. A min,
     * max or rem takes one more slot for each warp whose lanes select among its tuples */
    uint32_t slots;
    uint32_t fallbacks; /* CTAs for which this step turned a tuple into exact values */
    /* splits_warps: the branch diverges between warps; splits_threads: the branch diverges inside a warp */
    bool splits_warps, splits_threads;
    uint32_t number; /* if the step is the enq of a predicate: its number among these enqs, counted from 1 */
    /* if the step branches or has a guard: number of the enq that sends this predicate to the warps; 0 if no enq sends
     * it */
    uint32_t waits;
    /* The entries that an enq sends, one for each warp of the batch: [CTA * n_warps + warp]. NULL for other
     * instructions. To take an entry, set its lanes to 0; the caller then owns `exact`. The next step frees the other
     * entries. */
    struct affine_entry *entries;
    uint8_t fault;                   /* enum fault_kind */
    uint32_t fault_cta;              /* index in the batch */
    uint32_t fault_warp, fault_lane; /* first thread that faulted */
    uint64_t fault_address;
    uint32_t fault_bytes;
    uint8_t fault_space;
};

/* Returns the issue slots of a step or tally, in warp instructions: its `slots`, plus one for each predicate of a warp
 * that is compared in all lanes (`lane_compares`). */
static inline uint64_t affine_issue_slots(uint64_t slots, uint64_t lane_compares) { return slots + lane_compares; }

/* Sums over the steps of engine_compute_on(). */
struct affine_tally {
    /* n: number of steps; warp_divergences: number of branches that diverged between warps; thread_divergences:
     * number of branches that diverged inside a warp */
    uint32_t n, warp_divergences, thread_divergences;
    uint32_t compared[N_COMPARES]; /* enum affine_compare -> number of predicates sent that were computed in this way */
    bool sent;                     /* true if the last step sent entries */
    uint64_t slots, fallbacks, by_class[N_STEP_CLASSES];
};

struct affine_cta {
    struct dim3 id;
};

/* Creates an engine for batches of up to `ctas` CTAs of a launch, which must outlive the engine. The program must have
 * an affine stream. `first` is the option reconv.first: the side of a branch that runs first. Returns NULL when memory
 * runs out. */
struct affine_engine *engine_new(const struct launch *l, uint32_t ctas, uint32_t first);
void engine_free(struct affine_engine *e);
const struct affine_shape *engine_shape(const struct affine_engine *e);
/* Starts all threads of n CTAs at the first instruction. Returns false when memory runs out; each step then fails. */
bool engine_start(struct affine_engine *e, const struct dim3 *ids, uint32_t n);
/* Makes entries for CTA `cta` of the batch go to the queues `to`, until the next engine_start(). Entries for other CTAs
 * are dropped. Only engine_compute_on() uses these queues, for untimed execution of one CTA. */
void engine_send_to(struct affine_engine *e, struct supply *to, uint32_t cta);
/* Returns true if all threads have ended. Returns false when memory has run out; the next step then reports this. */
bool engine_done(const struct affine_engine *e);
/* Returns the next instruction. Returns NULL if engine_done() is true or memory ran out at the start. */
const struct inst *engine_next(const struct affine_engine *e);
/* Executes the next instruction, which must exist. On failure returns false with the reason in step->fault. Then no
 * further step is allowed. */
bool engine_step(struct affine_engine *e, struct affine_step *step);
/* Executes up to `most` instructions without timing. Stops before an instruction that neither computes nor branches.
 * With engine_send_to(), it also executes a send, and stops after it. Adds the counts to `t`. The result and `step` are
 * as for engine_step(). */
bool engine_compute_on(struct affine_engine *e, uint32_t most, struct affine_tally *t, struct affine_step *step);
#endif
