#ifndef ISA_HOT_ASSERT_H
#define ISA_HOT_ASSERT_H
/* assert() for what is run in every cycle or for every instruction of a warp, where all of them together take 1.6 % of
 * the host's instructions. The builds that look for mistakes have it: SAN=1, POLL=1, TINY=1, fuzz targets, and any
 * with ASSERTS=1 (docs/building.md); elsewhere the condition is compiled and not evaluated. */
#ifdef HEDDLE_HOT_ASSERTS
#include <assert.h>
#define hot_assert(condition) assert(condition)
#else
#define hot_assert(condition) ((void)sizeof(!(condition)))
#endif
#endif
