#ifndef DAWS_PARTS_H
#define DAWS_PARTS_H
#include "frontend/passes/pass.h"
/* For each block, the number of the outermost loop around it, from 1; 0: none. */
#define FACT_LOOP "loop"
extern const struct pass pass_daws_loops;
#endif
