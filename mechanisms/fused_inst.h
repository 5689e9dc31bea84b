#ifndef MECHANISMS_FUSED_INST_H
#define MECHANISMS_FUSED_INST_H
/* The instruction that the mechanisms `chain` and `fold` share: fused f32 operations (isa/fused.h), with their latency
 * and counts. Options and statistics: chain/chain.def. */
#include "isa/compound.h"

extern const struct compound_ops fused_ops;
#endif
