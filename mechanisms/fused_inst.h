#ifndef MECHANISMS_FUSED_INST_H
#define MECHANISMS_FUSED_INST_H
/* The instruction that the mechanisms `chain` and `fold` share: fused f32 operations (isa/fused.h), with their latency
 * and counts. Options and statistics: chain/chain.def. */
#include "frontend/frontend.h"
#include "isa/compound.h"
#include "timing/config/config.h"

struct config;

extern const struct compound_ops fused_ops;
/* Returns the latency, in cycles from the pipe's entry to the result, of `n` dependent operations in one instruction
 * (1 to FUSED_LENGTH): chain.latency<n>, or latency.f32_add and two cycles for each operation beyond the first (PEPSC
 * paper, Figure 9a: a chain of five takes 11 cycles, five instructions take 15). */
uint32_t fused_latency(const struct config *cfg, unsigned n);
/* Returns the options of passes that make the instruction. */
const struct fused_cfg *fused_options(const struct pass_context *c);
#endif
