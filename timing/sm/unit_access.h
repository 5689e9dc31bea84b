#ifndef TIMING_SM_UNIT_ACCESS_H
#define TIMING_SM_UNIT_ACCESS_H
/* What units may do to an SM, beside the calls in unit.h. */
#include <stdint.h>

struct sm;

/* The unit's answer to may_issue() about the warp may have changed. */
void sm_reconsider(struct sm *sm, uint32_t w, uint64_t now);
#endif
