#ifndef MECHANISMS_FOLD_H
#define MECHANISMS_FOLD_H
/* Parts of the pass `fold`. Internal to this folder. */
#include "frontend/passes/fuse.h"

enum { FOLD_SIDE = 3 }; /* operations of a chain on one side: "limited to 2- or 3-long chains" */

/* fold_select.c: folds selections between results of a few f32 operations. `length`: FPUs of an instruction; `wide`:
 * results in between are not rounded. False: out of memory. Notes say what was folded, and why others were not. */
bool fold_selections(struct ir *ir, unsigned length, bool wide);
#endif
