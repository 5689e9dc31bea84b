#ifndef ISA_REPEAT_H
#define ISA_REPEAT_H
/* What an instruction that was executed means for someone who wants to know whether a path does the same again and
 * again: threads that run on registers and memory alone, in a memory that does not change, must repeat themselves once
 * they are back at an instruction with the registers that they had there before. */
#include "exec.h"

enum repeat {
    REPEAT_FINE,   /* used and changed registers of its own lanes; read memory; left memory as it was */
    REPEAT_ALONE,  /* depends on time, on other lanes or on calls: nothing is known of its path any more */
    REPEAT_CHANGES /* may have changed memory, or ended threads */
};
/* After exec_inst() of `in` by the path `lanes` of `w` with effects `fx`. May say less than is true, never more. */
enum repeat inst_repeats(const struct warp *w, const struct inst *in, lanemask_t lanes, const struct effects *fx);
/* Are the registers of `lanes` in two copies of bank 0 the same? */
bool regs_same(const struct program *p, const unsigned char *a, const unsigned char *b, lanemask_t lanes);
#endif
