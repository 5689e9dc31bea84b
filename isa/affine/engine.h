#ifndef ISA_AFFINE_ENGINE_H
#define ISA_AFFINE_ENGINE_H
/* The affine warp: executes the affine stream of a program once for a batch of CTAs, one instruction a step. It has no
 * timing. Source: "Decoupled Affine Computation for SIMT GPUs", sections 4.2 to 4.6. docs/dac.md describes our
 * additions: CTAs that differ in more than a linear function of their index, exact values, and the two-level stack.
 *
 * Values are always exact. A value without a tuple is computed thread by thread, and counted. The row's own executor
 * computes bases, with the value of thread (0,0,0) of each CTA in one lane. The engine itself computes linear
 * operations only: the same for base and thread offsets. */
#include "isa/machine/effects.h"
#include "value.h"

struct affine_engine;
struct supply;

/* How a predicate of a warp was computed, cheapest first: one comparison for the CTA, one for each end of the warp, one
 * for each lane. */
enum affine_compare { COMPARE_CTA, COMPARE_ENDS, COMPARE_LANES, N_COMPARES };

/* A queue entry that an enq sends to one warp. */
struct affine_entry {
    uint32_t site;    /* index into program.sites */
    lanemask_t lanes; /* lanes that have not taken it yet; 0: empty */
    uint32_t marker;  /* barriers that its lanes must have passed before it is expanded */
    lanemask_t value; /* SITE_PRED */
    uint8_t kind;     /* enum site_kind */
    uint8_t compare;  /* SITE_PRED: enum affine_compare */
    uint64_t *exact;  /* addresses by lane, malloc'ed, owned by the entry; NULL: use the tuple */
    struct affine_tuple at;
};
void affine_entry_free(struct affine_entry *e);
/* Computes the addresses of the entry's lanes; other lanes are undefined. */
void affine_entry_addresses(const struct affine_entry *e, const struct affine_shape *s, uint32_t warp,
                            uint64_t out[WARP_LANES]);

/* Class of a step's values, cheapest first. */
enum affine_step_class {
    STEP_CONTROL, /* no values: branches, markers, enq, exits */
    STEP_SCALAR,  /* thread offsets are zero */
    STEP_AFFINE,
    STEP_EACH,   /* not linear in the CTA's index: a scalar for each CTA */
    STEP_VECTOR, /* thread by thread */
    N_STEP_CLASSES
};

/* Result of a step. */
struct affine_step {
    uint32_t pc;
    const struct inst *in;
    uint8_t class;      /* enum affine_step_class */
    bool counts;        /* false: inserted for convergence barriers, counted separately */
    uint32_t slots;     /* issue slots: 1, one for each CTA (STEP_EACH), or one for each warp (STEP_VECTOR) */
    uint32_t fallbacks; /* CTAs for which this step turned a tuple into exact values */
    bool splits_warps, splits_threads; /* a branch that diverges between warps, inside a warp */
    uint32_t number;                   /* of an enq of a predicate, counted from 1 */
    uint32_t waits;                    /* of a branch or guard: number of the enq that sends its predicate; 0: none */
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

/* Returns the issue slots of a step or tally, each counted as a warp instruction: its `slots`, and one for each
 * predicate that SIMT lanes compare. */
static inline uint64_t affine_issue_slots(uint64_t slots, uint64_t lane_compares) { return slots + lane_compares; }

/* Sums over the steps of engine_compute_on(). */
struct affine_tally {
    uint32_t n, warp_divergences,
        thread_divergences;        /* n: steps; branches that diverged between warps, inside a warp */
    uint32_t compared[N_COMPARES]; /* predicates sent, by how they were computed */
    bool sent;                     /* the last step sent entries */
    uint64_t slots, fallbacks, by_class[N_STEP_CLASSES];
};

struct affine_cta {
    struct dim3 id;
};

/* Creates an engine for batches of up to `ctas` CTAs of a launch, which must outlive it. The program must have an
 * affine stream. `first`: reconv.first, the side of a branch that runs first. NULL: out of memory. */
struct affine_engine *engine_new(const struct launch *l, uint32_t ctas, uint32_t first);
void engine_free(struct affine_engine *e);
const struct affine_shape *engine_shape(const struct affine_engine *e);
/* Starts all threads of n CTAs at the first instruction. False: out of memory; each step will then fail. */
bool engine_start(struct affine_engine *e, const struct dim3 *ids, uint32_t n);
/* Sends entries for CTA `cta` of the batch to these queues, until the next engine_start(). Entries for other CTAs are
 * dropped. Only engine_compute_on() uses them; for untimed execution of one CTA. */
void engine_send_to(struct affine_engine *e, struct supply *to, uint32_t cta);
/* Returns true if all threads have ended. After out of memory it is false: the next step reports that. */
bool engine_done(const struct affine_engine *e);
/* Returns the next instruction; NULL: engine_done(), or out of memory at the start. */
const struct inst *engine_next(const struct affine_engine *e);
/* Executes the next instruction; there must be one. False: step->fault has the reason, and no further step is
 * allowed. */
bool engine_step(struct affine_engine *e, struct affine_step *step);
/* Executes up to `most` instructions without timing. Stops before an instruction that neither computes nor branches.
 * With engine_send_to(), it also executes a send, and stops after it. Adds to `t`. Result and `step`: as
 * engine_step(). */
bool engine_compute_on(struct affine_engine *e, uint32_t most, struct affine_tally *t, struct affine_step *step);
#endif
