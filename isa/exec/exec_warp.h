#ifndef ISA_EXEC_WARP_H
#define ISA_EXEC_WARP_H
#include "exec.h"

/* The lane that `lane` reads when it executes `in`, a shfl (PTX ISA 9.7.9.6): itself when that is out of its range.
 * Its operands are still as before the instruction. */
int shuffle_lane(const struct warp *w, const struct inst *in, int lane);
#endif
