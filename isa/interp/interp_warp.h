#ifndef ISA_INTERP_WARP_H
#define ISA_INTERP_WARP_H
/* Running the warps of one CTA. Internal to the interpreter. */
#include "check.h"
#include "interp.h"
#include "interp_native.h"
#include "isa/paths/control.h"
#include "isa/paths/reconv_spe.h"

/* One warp and its paths. */
struct warp_run {
    struct warp_control control;
    bool done;
    bool starved;      /* it stopped before an instruction that wants what the affine warp has not sent yet */
    bool blocked;      /* none of its paths can run before a barrier opens */
    bool patient;      /* with cta_run.turns: its top path has waited once, while other warps ran */
    bool apart;        /* likewise: its paths have taken turns, so that some that would have joined did not */
    uint32_t rounds;   /* likewise: of loops that wait for other threads, since it last let others run */
    uint64_t since;    /* `executed` when these began */
    uint32_t rotation; /* which of several schedulable paths is preferred now */
    uint64_t executed; /* warp instructions; %clock */
    struct path_wait held[MAX_PATHS];
};

struct cta_run {
    struct cta *cta;
    const struct reconv_ops *model;
    const struct reconv_cfg *cfg;
    struct warp_run *warps;
    /* Called before the first instruction of a turn whose order among CTAs can be observed; NULL when there is nothing
     * to wait for. False: stop, another CTA has faulted. */
    bool (*wait_for_turn)(void *ctx);
    void *turn_ctx;
    struct cta_affine *affine;              /* NULL: the program has no affine stream; freed with the run */
    bool turns;                             /* interp_cfg.turns, of the stack model */
    bool counts_loads;                      /* for the statistics of affine streams */
    struct check_cta *check;                /* NULL: nothing is checked; freed with the run */
    struct cta_watch *watch, *watch_memory; /* NULL: not watched now; interp_watch.h */
    bool stands;       /* the block ended before its last instruction, whose member mask names lanes elsewhere, or: */
    bool wants_entry;  /* which wants what the affine warp has not sent yet */
    bool communicates; /* it executed such an instruction in this turn */
    struct interp_stats n;
    _Alignas(64) struct effects fx; /* so that its addresses lie in whole cache lines */
    uint32_t fault_pc, fault_warp;
    struct native_cta native;
};

/* What a block adds to the counts. */
struct tally {
    uint64_t warp, thread, barrier;
};

/* With cta_run.turns: do warps have other paths that could run? They run next. */
bool cta_has_others(const struct cta_run *r);
void cta_take_turns(struct cta_run *r);
enum warp_end { WARP_DONE, WARP_WAITS, WARP_SPENT, WARP_FAULT, WARP_STOPPED };

/* Memory for the paths of all warps; false when there is none. */
bool cta_run_init(struct cta_run *r, struct cta *c, const struct reconv_ops *model, const struct reconv_cfg *cfg);
void cta_run_free(struct cta_run *r);
/* All warps at the kernel's entry. */
void cta_run_start(struct cta_run *r);
/* Runs one warp until it ends, waits, faults, or has executed `budget` warp instructions (and the rest of a block). */
enum warp_end warp_run(struct cta_run *r, uint32_t warp, uint64_t budget);
/* Executes an instruction that changes no path; r->fx says what it did. False: it faulted, or the run is to stop. */
bool cta_execute(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes, uint64_t clock);
#endif
