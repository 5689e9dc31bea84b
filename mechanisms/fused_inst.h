#ifndef MECHANISMS_FUSED_INST_H
#define MECHANISMS_FUSED_INST_H
/* The instruction that the mechanisms `chain` and `fold` share: fused f32 operations (isa/fused.h), with their latency
 * and counts. Options and statistics: chain/chain.def. */
#include "frontend/frontend.h"
#include "isa/compound.h"
#include "timing/config/config.h"

extern const struct compound_ops fused_ops;

/* Returns the options of passes that make the instruction. */
const struct fused_cfg *fused_options(const struct pass_context *c);
#endif
