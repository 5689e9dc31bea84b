#ifndef TIMING_SM_UNIT_EVENTS_H
#define TIMING_SM_UNIT_EVENTS_H
/* The structs that the stages of an SM pass to its units (unit.h). */
#include "timed.h"

struct effects;
struct inst;

/* A path that can issue unless a unit refuses (may_issue()). */
struct sm_candidate {
    uint32_t warp, path; /* warp slot; index of the path among the warp's paths */
    uint32_t pc;
    lanemask_t lanes;
    const struct inst *in;
    const struct timed_inst *ti;
};

enum issue_phase {
    ISSUE_DONE,      /* executed, with effects; the model has not been notified yet */
    ISSUE_ORDERED,   /* waits for the next edge, where ISSUE_PERFORMED follows; no effects yet */
    ISSUE_PERFORMED, /* effects of an ordered instruction, which was reported as ISSUE_ORDERED before */
    ISSUE_WAITS,     /* took its issue slot and waits for other lanes of its member mask; no effects */
    ISSUE_UNIT,      /* like ISSUE_DONE, but executed by a unit, in a warp of its own (a context, unit_context.h) */
};

struct sm_issued {
    uint64_t cycle; /* cycle of its slot */
    uint32_t warp, pc;
    lanemask_t lanes; /* lanes of the path; only the lanes in fx->lanes executed */
    uint8_t phase;    /* enum issue_phase */
    const struct inst *in;
    const struct timed_inst *ti; /* timing of the instruction's form, if it has one */
    const struct effects *fx;    /* NULL if the phase has no effects */
};

/* A form of an instruction: another pipe, another latency, or registers in another register file. The form reads and
 * writes the same registers as the instruction, and uses the scoreboard in the same way. */
struct sm_form {
    /* replaces the program's timing; ti.banks has only the registers that the SM's banks hold */
    struct timed_inst ti;
    /* the register file that holds the other registers, one per part of a divided SM; NULL: none */
    struct regfile *file;
    struct bank_list other; /* the registers that `file` holds; a result in `file` uses the result bus of `file` */
};

/* A result that has been written to the registers, or the end of an instruction without a result. */
struct sm_written {
    uint64_t from, to; /* cycles of issue and end; the end may be in the future if the instruction has no result */
    uint32_t warp, pc;
    lanemask_t lanes;
    bool missed; /* true for a load that missed the L1 */
};
#endif
