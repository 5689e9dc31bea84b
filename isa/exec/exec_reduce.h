#ifndef ISA_EXEC_REDUCE_H
#define ISA_EXEC_REDUCE_H
#include "isa/machine/effects.h"

/* The lane that `lane` reads in the shuffle of a step of `in`, a K_REDUCE: itself when that is out of its range. */
int reduce_lane(const struct warp *w, const struct inst *in, unsigned step, int lane);
#endif
