#ifndef MECHANISMS_FOLD_H
#define MECHANISMS_FOLD_H
/* Parts of the pass `fold`. Internal to this folder. */
#include "frontend/passes/fuse.h"

enum { FOLD_SIDE = 3 }; /* operations of a chain on one side: "limited to 2- or 3-long chains" */

/* fold_select.c: selections between what a few f32 operations make; `length`: FPUs of an instruction; `wide`:
 * operations in between are not rounded. False: there is no memory. Notes say what was folded, and why others were left
 * alone. */
bool fold_selections(struct ir *ir, unsigned length, bool wide);
#endif
