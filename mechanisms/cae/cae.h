#ifndef MECHANISMS_CAE_H
#define MECHANISMS_CAE_H
/* Compact affine execution, as evaluated in "Decoupled Affine Computation for SIMT GPUs" (reference [13] of that
 * paper). If all live lanes of a warp execute an instruction, and its operands and result are compact, the instruction
 * executes once for the warp on an affine unit (PIPE_AFFINE). It reads and writes the compact register file, and takes
 * an issue slot as other instructions do. docs/cae-mta.md separates rules of the papers from choices of this project.
 * Options: struct cae_cfg, pipe.affine.*. */
#include "timing/sm/unit.h"

extern const struct sm_unit_ops cae_unit;

/* Finds, for tests, the first register whose compact form differs from the values in live lanes of its warp. Returns
 * false if there is none. */
bool cae_mistake(const struct sm *sm, uint32_t *warp, uint32_t *number);
#endif
