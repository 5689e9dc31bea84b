#ifndef MECHANISMS_FRONTIERS_PARTS_H
#define MECHANISMS_FRONTIERS_PARTS_H
#include "frontend/passes/pass.h"

/* Facts about a block: its priority (0 is the highest), and the block of highest priority in its thread frontier
 * (NO_BLOCK: the frontier is empty). */
#define FACT_PRIORITY "priority"
#define FACT_FRONTIER "frontier"
extern const struct pass pass_frontiers;
#endif
