#ifndef ISA_HOT_ASSERT_H
#define ISA_HOT_ASSERT_H
/* assert() for code that runs in every cycle or for every instruction of a warp. Together, these checks take 1.6 % of
 * the host's instructions. The following test builds evaluate them: SAN=1, POLL=1, TINY=1, fuzz targets, and any build
 * with ASSERTS=1 (docs/building.md). Other builds compile the condition but do not evaluate it. */
#ifdef HEDDLE_HOT_ASSERTS
#include <assert.h>
#define hot_assert(condition) assert(condition)
#else
#define hot_assert(condition) ((void)sizeof(!(condition)))
#endif
#endif
