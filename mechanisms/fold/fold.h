#ifndef MECHANISMS_FOLD_H
#define MECHANISMS_FOLD_H
/* Parts of the pass `fold`. Internal to this folder. */
#include "frontend/passes/fuse.h"

enum {
    FOLD_SIDE = 3
}; /* largest number of operations in one side of an instruction: "limited to 2- or 3-long chains" */

/* fold_select.c: folds selections (d = p ? a : b) whose operands are results of a few f32 operations. `length` is the
 * number of FPUs of an instruction. Notes list the folded selections, and state why the other selections were not
 * folded. Returns false if out of memory. */
bool fold_selections(struct ir *ir, unsigned length, const struct fuse_kind *kind);
#endif
