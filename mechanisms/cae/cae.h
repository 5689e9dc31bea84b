#ifndef MECHANISMS_CAE_H
#define MECHANISMS_CAE_H
/* Compact affine execution, as "Decoupled Affine Computation for SIMT GPUs" compares with it (its reference [13]): an
 * instruction of all live lanes of a warp whose operands are compact, and whose result is, executes once for the warp
 * on an affine unit (PIPE_AFFINE) and reads and writes the compact register file. It takes an issue slot as ever.
 * docs/cae-mta.md says what is the papers' and what this project's. Options: struct cae_cfg, pipe.affine.*. */
#include "timing/sm/unit.h"

extern const struct sm_unit_ops cae_unit;

/* For tests: the first register whose compact form differs from what live lanes of its warp hold; false: none does. */
bool cae_mistake(const struct sm *sm, uint32_t *warp, uint32_t *number);
#endif
