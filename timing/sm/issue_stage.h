#ifndef TIMING_SM_ISSUE_STAGE_H
#define TIMING_SM_ISSUE_STAGE_H
/* The issue stage: executes an instruction, and reserves or queues its later steps. */
#include "isa/exec/exec.h"
#include "isa/paths/host_poll.h"
#include "timing/report/profile.h"
#include "timing/sm/sched/sched.h"
#include "warps.h"

struct sm;

/* An instruction that waits for the next edge (timing/windows.h), where it is performed. */
struct ordered_inst {
    uint64_t cycle;
    uint32_t pc, mem; /* mem: index into sm_memory.inst; MEM_QUEUE for a system call */
    lanemask_t active;
    uint16_t warp;
};

/* Instructions of one PC that were issued on the fast path and are not in sm->n yet. */
struct sm_tally {
    uint64_t issued, lanes; /* lanes: number of lanes that executed, summed over the instructions */
};

/* State of the issue stage: the schedulers, the effects of the instruction that issues, and the instructions that
 * wait to be performed. */
struct sm_issue_stage {
    _Alignas(64) uint64_t mine[8]; /* by scheduler: the first word of its warps, for SMs whose sets have one word */
    struct sched sched[8];
    struct sched_sm sm;           /* the fields that the scheduler policy can read */
    uint32_t first;               /* scheduler that picks first while a table is nearly full */
    struct sm_tally *tally;       /* by PC */
    struct gpu_profile *profile;  /* by PC; NULL: off */
    struct ordered_inst *ordered; /* MAX_PATHS entries per warp slot, of which sm_status.n_ordered are in use */
    uint32_t ordered_at;          /* index of the next instruction to perform */
    /* by warp slot; NULL: no ordered instruction was performed while threads of the host may run */
    struct host_polls *host_polls;
    uint64_t polled[POLL_HOST + 1]; /* by kind of memory: number of times that 16 reads found the same value */
};

/* Updates sm_issue_stage.mine, after the warps of a scheduler have changed. */
static inline void issue_warps_changed(struct sm_issue_stage *s) {
    for (int i = 0; i < 8; i++)
        s->mine[i] = s->sched[i].mine.word[0];
}
bool issue_init(struct sm_issue_stage *s, const struct config *cfg, uint32_t slots);
void issue_free(struct sm_issue_stage *s);
/* Issues the next instruction of a path. Returns false if the path must wait for lanes that were split from it. The
 * issue slot is then lost. */
bool sm_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
/* Ends an instruction whose results have been written to the registers. (write_back.c) */
void sm_complete(struct sm *sm, uint32_t inflight, uint64_t now);
/* Handles the event EVENT_TENSOR. A product that ends may let its warp continue. (write_back.c) */
void sm_tensor_event(struct sm *sm, uint32_t value, uint64_t now);
/* Stops the SM with the fault of sm->fx at instruction `pc` of warp slot `w`. (faults.c) */
void sm_fault(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now);
#endif
