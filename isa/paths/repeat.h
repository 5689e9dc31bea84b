#ifndef ISA_REPEAT_H
#define ISA_REPEAT_H
/* What an instruction that was executed means for someone who wants to know whether a path does the same again and
 * again: threads that run on registers and memory alone, in a memory that does not change, must repeat themselves once
 * they are back at an instruction with the registers that they had there before. */
#include "isa/exec/exec.h"

enum repeat {
    REPEAT_FINE,   /* used and changed registers of its own lanes; read memory; left memory as it was */
    REPEAT_ALONE,  /* depends on time, on other lanes or on calls: nothing is known of its path any more */
    REPEAT_CHANGES /* may have changed memory, or ended threads */
};
/* After exec_inst() of `in` by the path `lanes` of `w` with effects `fx`. May say less than is true, never more. */
enum repeat inst_repeats(const struct warp *w, const struct inst *in, lanemask_t lanes, const struct effects *fx);

/* A path at a backward branch that it took, with its registers. Taken anew after 1, 2, 4, ... more visits, so that a
 * cycle is found however many rounds it has and however many came before it (Brent). */
struct repeat_snapshot {
    uint32_t pc;
    lanemask_t lanes;
    uint32_t visits, again; /* since it was taken; when to take it anew */
    unsigned char *regs;    /* kept for the next user of the slot */
    size_t bytes;
};

/* What is known of one warp. All zero to begin with. */
struct repeat_warp {
    lanemask_t repeats; /* lanes that do the same again and again, as long as memory stays as it is */
    uint32_t n, visits;
    struct repeat_snapshot at[WARP_LANES];
};
/* Nothing is known any more. */
void repeat_forget(struct repeat_warp *r);
void repeat_free(struct repeat_warp *r);
/* `lanes` of `w` take the backward branch at `pc`. */
void repeat_visit(struct repeat_warp *r, const struct warp *w, uint32_t pc, lanemask_t lanes);
#endif
