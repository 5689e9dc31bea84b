#ifndef OWL_PARTS_H
#define OWL_PARTS_H
#include "timing/mem/prefetch.h"
extern const struct prefetcher_ops owl_rows; /* prefetches lines of an open row of DRAM into a slice of the L2 */
#endif
