#ifndef TIMING_DAC_H
#define TIMING_DAC_H
/* Decoupled affine computation: the hardware of "Decoupled Affine Computation for SIMT GPUs", section 4, as a unit of
 * the SM. One affine warp an SM runs the affine stream for batches of CTAs (isa/affine/engine.h computes what it
 * computes); what it sends waits in the affine tuple queue (ATQ), is expanded for each warp by the address and the
 * predicate expansion unit, and waits in the warp's own queues until its instructions take it. Data are asked for when
 * addresses are expanded, and their L1 lines are locked until they are read. docs/dac.md says what is the paper's and
 * what is not. */
#include "timing/sm/unit.h"

extern const struct sm_unit_ops unit_dac;
#endif
