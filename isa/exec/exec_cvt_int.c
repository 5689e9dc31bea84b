/* cvt from integers to integers (PTX ISA 9.0, section 9.7.9.21): extension, truncation, and .sat. */
#include "isa/rows.h"

#define INLINE static inline __attribute__((always_inline))

#define MIN_U8  0
#define MIN_U16 0
#define MIN_U32 0
#define MIN_U64 0
#define MIN_S8  INT8_MIN
#define MIN_S16 INT16_MIN
#define MIN_S32 INT32_MIN
#define MIN_S64 INT64_MIN
#define MAX_U8  UINT8_MAX
#define MAX_U16 UINT16_MAX
#define MAX_U32 UINT32_MAX
#define MAX_U64 UINT64_MAX
#define MAX_S8  INT8_MAX
#define MAX_S16 INT16_MAX
#define MAX_S32 INT32_MAX
#define MAX_S64 INT64_MAX

/* a within [min, max], as bits */
INLINE uint64_t clamp_unsigned(uint64_t a, uint64_t max) { return a < max ? a : max; }
INLINE uint64_t clamp_signed(int64_t a, int64_t min, uint64_t max) {
    int64_t top = max < INT64_MAX ? (int64_t)max : INT64_MAX;
    int64_t low = a < top ? a : top;
    return (uint64_t)(low > min ? low : min);
}

#define CVT_FROM_ALL(D)                                                                                                \
    CVT_PLAIN(D, U8)                                                                                                   \
    CVT_PLAIN(D, U16)                                                                                                  \
    CVT_PLAIN(D, U32)                                                                                                  \
    CVT_PLAIN(D, U64)                                                                                                  \
    CVT_PLAIN(D, S8)                                                                                                   \
    CVT_PLAIN(D, S16)                                                                                                  \
    CVT_PLAIN(D, S32)                                                                                                  \
    CVT_PLAIN(D, S64)
#define CVT_PLAIN(D, S) CVT(cvt_##D##_##S, CVT, T2(D, S), 0, INT_OTHER, DA(D, S), d = (lane_##D)a)
#define SAT_UNSIGNED(D, S)                                                                                             \
    CVT(cvt_sat_##D##_##S, CVT, T2(D, S), FLAG(SAT), INT_OTHER, DA(D, S), d = (lane_##D)clamp_unsigned(a, MAX_##D))
#define SAT_SIGNED(D, S)                                                                                               \
    CVT(cvt_sat_##D##_##S, CVT, T2(D, S), FLAG(SAT), INT_OTHER, DA(D, S),                                              \
        d = (lane_##D)clamp_signed(a, MIN_##D, MAX_##D))

#define ROWS_FILE "isa/exec/exec_cvt_int.def"
#define ROWS_NAME cvt_int
#include "isa/rows_expand.h"
