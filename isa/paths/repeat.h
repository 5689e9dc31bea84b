#ifndef ISA_REPEAT_H
#define ISA_REPEAT_H
/* Detects paths that repeat themselves. Threads that use only registers and memory, while memory does not change,
 * repeat themselves once they are back at an instruction with the same registers. enum repeat says what one executed
 * instruction means for this. */
#include "isa/exec/exec.h"

enum repeat {
    REPEAT_FINE,    /* used and changed only registers of its own lanes; read memory; left memory unchanged */
    REPEAT_UNKNOWN, /* time, calls, local memory: registers alone do not determine the path's next steps */
    REPEAT_ALONE,   /* depends on other lanes or queues: forget all about the path */
    REPEAT_CHANGES  /* may have changed memory, or ended threads */
};
/* Call after path `lanes` of `w` has executed `in` with effects `fx`. The result may be more cautious than needed,
 * never less. */
enum repeat inst_repeats(const struct warp *w, const struct inst *in, lanemask_t lanes, const struct effects *fx);

/* A path at a backward branch that it took, with its registers. The snapshot is renewed after 1, 2, 4, ... further
 * visits. So a cycle of any length is found, whatever preceded it (Brent's algorithm). */
struct repeat_snapshot {
    uint32_t pc;
    lanemask_t lanes;
    uint32_t visits, again; /* visits since the snapshot; number of visits that renews it */
    unsigned char *regs;    /* buffer; kept for the next snapshot in this slot */
    size_t bytes;
};

/* Repetition state of one warp. All zero at the start. */
struct repeat_warp {
    lanemask_t repeats; /* lanes that repeat themselves as long as memory does not change */
    uint32_t n, visits;
    uint8_t rounds[WARP_LANES]; /* per lane: backward branches taken in loops that wait for others (inst_info.waits) */
    struct repeat_snapshot at[WARP_LANES];
};
/* Forgets everything. */
void repeat_forget(struct repeat_warp *r);
/* Call when other warps had a turn. The rounds of loops that wait are kept, but each loop must take four more. */
void repeat_again(struct repeat_warp *r);
/* Call after REPEAT_UNKNOWN. Only rounds of loops that wait for others still count, since only memory ends these. */
void repeat_unknown(struct repeat_warp *r);
void repeat_free(struct repeat_warp *r);
/* Call when `lanes` of `w` take the backward branch at `pc`. */
void repeat_visit(struct repeat_warp *r, const struct warp *w, uint32_t pc, lanemask_t lanes);
/* Call it at a branch of a loop that waits for others. After enough rounds the lanes count as repeating, whatever
 * their registers hold, since only memory ends the loop. */
void repeat_wait(struct repeat_warp *r, lanemask_t lanes);
#endif
