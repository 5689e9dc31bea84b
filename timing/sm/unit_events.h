#ifndef TIMING_SM_UNIT_EVENTS_H
#define TIMING_SM_UNIT_EVENTS_H
/* The structs that the stages of an SM pass to its units (unit.h). */
#include "timed.h"

struct effects;
struct inst;

/* A path that could issue, unless a unit objects. */
struct sm_candidate {
    uint32_t warp, path; /* warp slot; index of the path among the warp's paths */
    uint32_t pc;
    lanemask_t lanes;
    const struct inst *in;
    const struct timed_inst *ti;
};

enum issue_phase {
    ISSUE_DONE,      /* executed, with effects; the model has not been notified yet */
    ISSUE_ORDERED,   /* waits for the end of the window, when ISSUE_PERFORMED follows; no effects yet */
    ISSUE_PERFORMED, /* effects of an ordered instruction, whose slot was reported before */
    ISSUE_WAITS,     /* took its slot and waits for other lanes of its member mask; no effects */
    ISSUE_UNIT,      /* like ISSUE_DONE, but executed by the unit that owns the context */
};

struct sm_issued {
    uint64_t cycle; /* cycle of its slot */
    uint32_t warp, pc;
    lanemask_t lanes; /* lanes of the path; the lanes in fx->lanes executed */
    uint8_t phase;    /* enum issue_phase */
    const struct inst *in;
    const struct timed_inst *ti; /* timing of the instruction's form, if it has one */
    const struct effects *fx;    /* NULL: no effects, see phase */
};

/* A form of an instruction: another pipe, another latency, or registers in another register file. The form reads and
 * writes the same registers as the instruction, also for the scoreboard. */
struct sm_form {
    struct timed_inst ti;   /* replaces the program's; its banks are the registers that stay in the SM's banks */
    struct regfile *file;   /* file of the other registers, one file per part of a divided SM; NULL: none */
    struct bank_list other; /* registers in `file`; a result there uses the result bus of that file */
};

/* A result that has been written to the registers; or the end of an instruction without a result. */
struct sm_written {
    uint64_t from, to; /* cycles of issue and end (may be in the future if it has no result) */
    uint32_t warp, pc;
    lanemask_t lanes;
    bool missed; /* a load that missed the L1 */
};
#endif
