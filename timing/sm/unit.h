#ifndef TIMING_UNIT_H
#define TIMING_UNIT_H
/* Extensions of an SM. A unit has a state of its own in each SM and a table of calls, each of which may be NULL. The
 * stages call those who listen, and pay one predictable branch where nobody does. Livelock search (livelock.c) and
 * trace (unit_trace.c) are units; test/toys has the smallest ones.
 *
 * A unit includes unit_access.h and reads what it needs of the SM; what it changes, it changes by the calls that are named
 * under "For units" there. What comes from one SM must stay there: SMs run on several host threads. */
#include "timed.h"
#include "timing/report/stat.h"
#include "timing/report/states.h"
#include <stdio.h>

struct sm;
struct launch;
struct config;
struct effects;
struct inst;

/* A path that could issue as far as the SM itself is concerned. */
struct sm_candidate {
    uint32_t warp, path; /* slot; its place among the warp's paths */
    uint32_t pc;
    lanemask_t lanes;
    const struct inst *in;
    const struct timed_inst *ti;
};

enum issue_phase {
    ISSUE_DONE,      /* executed, with effects; the paths have not been told yet */
    ISSUE_ORDERED,   /* it waits for the window's end, when ISSUE_PERFORMED follows; no effects yet */
    ISSUE_PERFORMED, /* an ordered instruction's effects; it took its slot before */
    ISSUE_WAITS,     /* it took its slot and waits for other lanes of its member mask; no effects */
    ISSUE_UNIT,      /* as ISSUE_DONE, but the unit whose context it is has executed it */
};

struct sm_issued {
    uint64_t cycle; /* of its slot */
    uint32_t warp, pc;
    lanemask_t lanes; /* of the path; those that executed are fx->lanes */
    uint8_t phase;    /* enum issue_phase */
    const struct inst *in;
    const struct timed_inst *ti; /* of its form, if it has one */
    const struct effects *fx;    /* NULL: see phase */
};

/* Another way through the SM for an instruction than the program's: other pipe, other latency, registers that lie
 * elsewhere. What it reads and writes stays the same, for the scoreboard too. */
struct sm_form {
    struct timed_inst ti; /* in place of the program's; its banks are those registers that still lie in the SM's */
    struct regfile *file; /* the others lie there: one for each part of a divided SM, else one; NULL: there are none */
    struct bank_list other; /* which; a result that is among them takes the result bus of that file */
};

/* A result in the registers; of an instruction without one, the end of its work. */
struct sm_written {
    uint64_t from, to; /* cycles: issue; the end, which may be a cycle to come where there is no result */
    uint32_t warp, pc;
    lanemask_t lanes;
    bool missed; /* a load that missed the L1 */
};

/* A warp of a unit's own, without a CTA, in a slot of its own behind those of the CTAs' warps: a context. It runs a
 * stream of the program (struct program_stream) under the model of all warps: paths, fetch, scoreboard, pipes, one
 * issue slot an instruction; schedulers know it as one more warp. It has registers, local memory and barriers of its
 * own, no shared memory; special registers say what they say to a warp 0 of CTA (0,0,0). It counts in no statistic of
 * CTAs and warps, but in sm.context_cycles and sm.context_instructions, and in what its instructions do.
 * It runs while the SM has a CTA that has begun. Else it sleeps (PATH_ASLEEP): what is in flight is finished, and no
 * more. So it neither keeps an SM or a launch alive nor takes a place that a CTA could have. */
struct sm_context_start {
    const char *name; /* "affine warp of dac": how reports and traces call it; the caller's, as long as the SM lives */
    uint32_t stream;  /* of the program: it begins at that one's entry */
    lanemask_t lanes; /* that exist; not 0 */
    bool driven;      /* where it goes on is the unit's business: sm_context_goto(); execute() has exits, too, and says
                         in fx->lanes how many lanes of the pipe work, and, with a fault, in the context's warp and its
                         CTA whose it was; collector.* leaves its operands to the unit */
};
enum { NO_CONTEXT = UINT32_MAX };

/* Who makes the unit for each SM: the configuration, which outlives it, the SM's number, and what came in the row. */
struct sm_unit_ops {
    const char *name;
    /* NULL: out of memory. Required. */
    void *(*make)(const struct config *cfg, uint32_t sm, void *ctx);
    void (*free)(void *u);
    /* A launch begins on an empty SM; false: out of memory. launch_end follows, after a fault or a limit, too. */
    bool (*launch)(void *u, struct sm *sm, uint64_t now);
    void (*launch_end)(void *u, struct sm *sm);
    /* The warps of the CTA in slot `cta` have begun; they are gone. */
    void (*cta_start)(void *u, struct sm *sm, uint32_t cta, uint64_t now);
    void (*cta_end)(void *u, struct sm *sm, uint32_t cta, uint64_t now);
    /* A barrier of the CTA opens: its lanes have not gone on yet. */
    void (*barrier)(void *u, struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
    /* PATH_READY, or what the path waits for (PATH_QUEUE, PATH_LOAD ...), which names the cause of its stalls. Who has
     * said no calls sm_reconsider() when that may be over, from tick(). Asked whenever something changed for the warp,
     * not in every cycle; the first unit that says no is heeded. */
    uint8_t (*may_issue)(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now);
    /* An instruction whose operands come from queues (HINT_DEQ), of a warp of a CTA, executes next: the unit fills
     * them. True: what it loads are lines that are locked, each once, and reading them unlocks them. At most one unit
     * has this call. */
    bool (*take)(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now);
    /* The form in which the path would issue now, NULL for the program's own; asked behind may_issue, whose rules hold
     * for changes, and when it issues. It must live until the launch ends. The first unit that has one is heeded. */
    const struct sm_form *(*form)(void *u, struct sm *sm, const struct sm_candidate *c);
    void (*issued)(void *u, struct sm *sm, const struct sm_issued *i);
    void (*written)(void *u, struct sm *sm, const struct sm_written *r);
    /* 32-bit registers that the unit's contexts take out of sm.registers in a launch: so many fewer have the CTAs. */
    uint32_t (*registers)(const struct config *cfg, const struct launch *l, void *ctx);
    /* An instruction of a context of the unit is issued. True: the unit has executed it, and has said in `fx` what
     * exec_inst() would have: fx->lanes that executed (as it comes: those whose guard holds), fx->taken of a branch,
     * and so on; fx->fault is FAULT_NONE as it comes. It takes its pipe and its latency then, but goes to no memory.
     * False: it is executed as any other. Exits are always. A search for livelocks takes what a unit executes for
     * progress. NULL: all is false. */
    bool (*execute)(void *u, struct sm *sm, const struct sm_candidate *c, struct effects *fx, uint64_t now);
    /* The context in slot `warp` has exited or was closed, and nothing of it is under way: the slot is free. */
    void (*context_end)(void *u, struct sm *sm, uint32_t warp, uint64_t now);
    /* Threads of the warp have exited. */
    void (*exited)(void *u, struct sm *sm, uint32_t warp, uint64_t now);
    /* In every cycle that is walked, behind the load/store unit and before issue. */
    void (*tick)(void *u, struct sm *sm, uint64_t now);
    /* At the end of it: to look, not to change. */
    void (*look)(void *u, struct sm *sm, uint64_t now);
    /* The next cycle > now in which tick() has something to do if nothing else happens; UINT64_MAX: none. */
    uint64_t (*next)(void *u, struct sm *sm, uint64_t now);
    /* Cycles for which tick() may have something to do while no instruction is issued and no access moves: so long
     * it is no deadlock. NULL: none. */
    uint64_t (*patience)(const struct config *cfg);
    /* Adds the counts since the last call under registered names, and clears them. */
    void (*stats)(void *u, struct stats *s);
    /* For deadlock reports: the rest of a line about lanes of a warp at a PC ("; repeats itself"); and lines about the
     * unit itself, two blanks before each. */
    void (*describe_path)(const void *u, const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out);
    void (*describe)(const void *u, const struct sm *sm, FILE *out);
};

/* A unit that each SM of a GPU gets, and what its make() is given. */
struct sm_unit_row {
    const struct sm_unit_ops *ops;
    void *ctx;
};

/* Calls for which there is a list of those who listen. */
enum sm_hook {
    HOOK_CTA_START,
    HOOK_CTA_END,
    HOOK_BARRIER,
    HOOK_MAY_ISSUE,
    HOOK_TAKE,
    HOOK_FORM,
    HOOK_ISSUED,
    HOOK_WRITTEN,
    HOOK_EXITED,
    HOOK_TICK,
    HOOK_LOOK,
    HOOK_NEXT,
    N_HOOKS
};
enum { MAX_UNITS = 8 };

struct sm_unit {
    const struct sm_unit_ops *ops;
    void *state, *ctx; /* ctx: of its row */
};
struct sm_units {
    uint8_t n[N_HOOKS], n_all;
    struct sm_unit all[MAX_UNITS];
    const struct sm_unit *list[N_HOOKS][MAX_UNITS];
};

/* Makes the unit and lets it listen to every call that it has. False when memory is out. Requires fewer than MAX_UNITS,
 * and that no launch is under way. */
bool sm_add_unit(struct sm *sm, const struct sm_unit_row *row);
/* The state of the unit with these calls; NULL: the SM has none. */
void *sm_unit_state(const struct sm *sm, const struct sm_unit_ops *ops);
/* The unit listens to a call, or no longer does, from now on; for calls that cost more than they are worth most of the
 * time. Allowed from within that very call. */
void sm_unit_listen(struct sm *sm, const struct sm_unit_ops *ops, enum sm_hook hook, bool on);

/* Opens a context of the unit; returns its warp slot, NO_CONTEXT when memory is out. Allowed from the unit's launch()
 * on, in cta_start(), cta_end(), barrier() and tick(); it may issue in the next cycle at the earliest. Requires that
 * fewer than MAX_CONTEXTS are open on the SM. All end with the launch, without a call. */
uint32_t sm_context_open(struct sm *sm, const struct sm_unit_ops *ops, const struct sm_context_start *how,
                         uint64_t now);
/* It issues nothing any more; its slot is free when nothing of it is under way, at once or later: context_end().
 * Allowed where opening is, but for an open one. */
void sm_context_close(struct sm *sm, uint32_t warp, uint64_t now);

/* From execute(), for a driven context: after this instruction it goes on at `pc`, otherwise at the next one. */
void sm_context_goto(struct sm *sm, uint32_t warp, uint32_t pc);

/* Registers that the unit's contexts take in a launch. */
static inline uint32_t sm_unit_registers(const struct sm_unit_ops *ops, void *ctx, const struct config *cfg,
                                         const struct launch *l) {
    return ops->registers ? ops->registers(cfg, l, ctx) : 0;
}

/* For the stages: to all who listen. Require nothing; callers look at sm->units.n[] first. */
void sm_units_free(struct sm *sm);
bool sm_units_launch(struct sm *sm, uint64_t now);
void sm_units_launch_end(struct sm *sm);
void sm_units_cta_start(struct sm *sm, uint32_t cta, uint64_t now);
void sm_units_cta_end(struct sm *sm, uint32_t cta, uint64_t now);
void sm_units_barrier(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
uint8_t sm_units_may_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
bool sm_units_take(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
const struct sm_form *sm_units_form(struct sm *sm, uint32_t w, uint32_t p);
void sm_units_issued(struct sm *sm, const struct sm_issued *i);
/* sm_units_issued() of an instruction with the effects sm->fx. */
void sm_units_tell_issued(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, const struct timed_inst *ti,
                          enum issue_phase phase, uint64_t cycle);
struct sm_candidate sm_candidate(const struct sm *sm, uint32_t w, uint32_t p);
void sm_units_written(struct sm *sm, const struct sm_written *r);
void sm_units_exited(struct sm *sm, uint32_t warp, uint64_t now);
void sm_units_tick(struct sm *sm, uint64_t now);
void sm_units_look(struct sm *sm, uint64_t now);
uint64_t sm_units_next(struct sm *sm, uint64_t now);
void sm_units_stats(struct sm *sm, struct stats *s);
void sm_units_describe_path(const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out);
void sm_units_describe(const struct sm *sm, FILE *out);
#endif
