#ifndef ISA_EXEC_WARP_H
#define ISA_EXEC_WARP_H
#include "exec.h"

/* Returns the lane that `lane` reads when it executes the shfl `in` (PTX ISA 9.7.9.6); `lane` itself if the source is
 * out of range. Call it before the instruction executes, since it reads the operands. */
int shuffle_lane(const struct warp *w, const struct inst *in, int lane);
#endif
