#ifndef ISA_REPEAT_H
#define ISA_REPEAT_H
/* Detects paths that repeat themselves. A path that depends only on registers and memory repeats itself once it returns
 * to an instruction with the same register values, as long as memory does not change. enum repeat classifies an
 * executed instruction for this purpose. */
#include "isa/exec/exec.h"

enum repeat {
    /* the instruction used and changed only registers of its own lanes; it may have read memory but did not change
     * it */
    REPEAT_FINE,
    /* the instruction uses time, calls or local memory: registers alone do not determine the next steps of the path */
    REPEAT_UNKNOWN,
    /* the instruction depends on other lanes or queues: everything recorded about the path is discarded */
    REPEAT_ALONE,
    REPEAT_CHANGES /* the instruction may have changed memory or ended threads */
};
/* Returns how the instruction `in`, which path `lanes` of `w` has executed with effects `fx`, affects a search for
 * repetition. The result may hide a repetition, but never reports a false one. */
enum repeat inst_repeats(const struct warp *w, const struct inst *in, lanemask_t lanes, const struct effects *fx);

/* A snapshot of a path's registers at a backward branch that it took. The snapshot is renewed after 1, 2, 4, ...
 * further visits. So a cycle of any length is found, even if other iterations precede it (Brent's algorithm). */
struct repeat_snapshot {
    uint32_t pc;
    lanemask_t lanes;
    /* number of visits of the branch since the snapshot; number of visits after which the snapshot is renewed */
    uint32_t visits, again;
    unsigned char *regs; /* buffer; it is reused for the next snapshot in this slot */
    size_t bytes;
};

/* Repetition state of one warp. All zero at the start. */
struct repeat_warp {
    lanemask_t repeats; /* lanes that repeat themselves as long as memory does not change */
    uint32_t n, visits;
    /* for each lane: number of backward branches taken in loops that wait for other threads (inst_info.waits) */
    uint8_t rounds[WARP_LANES];
    struct repeat_snapshot at[WARP_LANES];
};
/* Discards everything that was recorded about the warp. */
void repeat_forget(struct repeat_warp *r);
/* Call this after other warps have run. The iteration counts of loops that wait are kept, but each such loop must
 * execute four more iterations. */
void repeat_again(struct repeat_warp *r);
/* Call this after REPEAT_UNKNOWN. Only the iteration counts of loops that wait for other threads are kept, since only a
 * change of memory ends these loops. */
void repeat_unknown(struct repeat_warp *r);
void repeat_free(struct repeat_warp *r);
/* Call this when `lanes` of `w` take the backward branch at `pc`. */
void repeat_visit(struct repeat_warp *r, const struct warp *w, uint32_t pc, lanemask_t lanes);
/* Call this at a branch of a loop that waits for other threads. After enough iterations, the lanes count as repeating,
 * whatever their registers contain, since only a change of memory ends the loop. */
void repeat_wait(struct repeat_warp *r, lanemask_t lanes);
#endif
