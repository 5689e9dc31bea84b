#ifndef ISA_REPEAT_H
#define ISA_REPEAT_H
/* What an instruction that was executed means for someone who wants to know whether a path does the same again and
 * again: threads that run on registers and memory alone, in a memory that does not change, must repeat themselves once
 * they are back at an instruction with the registers that they had there before. */
#include "isa/exec/exec.h"

enum repeat {
    REPEAT_FINE,    /* used and changed registers of its own lanes; read memory; left memory as it was */
    REPEAT_UNKNOWN, /* time, calls, local memory: registers alone do not tell what its path does next */
    REPEAT_ALONE,   /* depends on other lanes or queues: nothing is known of its path any more */
    REPEAT_CHANGES  /* may have changed memory, or ended threads */
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
    uint8_t rounds[WARP_LANES]; /* branches back in loops that wait for others (inst_info.waits) */
    struct repeat_snapshot at[WARP_LANES];
};
/* Nothing is known any more. */
void repeat_forget(struct repeat_warp *r);
/* Others had their turn: rounds of loops that wait are kept, but four more must follow. */
void repeat_again(struct repeat_warp *r);
/* After REPEAT_UNKNOWN: only rounds of loops that wait for others count, since these end by memory alone. */
void repeat_unknown(struct repeat_warp *r);
void repeat_free(struct repeat_warp *r);
/* `lanes` of `w` take the backward branch at `pc`. */
void repeat_visit(struct repeat_warp *r, const struct warp *w, uint32_t pc, lanemask_t lanes);
/* The same at a branch of a loop that waits for others: after enough rounds the lanes repeat themselves whatever their
 * registers are, since all that ends the loop is memory. */
void repeat_wait(struct repeat_warp *r, lanemask_t lanes);
#endif
