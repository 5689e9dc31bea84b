/* setp of f32 and f64 (PTX ISA 9.0, section 9.7.6.2). The 16-bit formats are in exec_half_compare.c. */
#include "isa/rows.h"
#include "isa/softfloat.h"

#define SETP_ALL(word, cmp)                                                                                            \
    SETP(setp_##word##_f32, SETP, T1(F32), FORM(CMP, cmp), INT_OTHER, F32, F32, f32_compare(CMP_##cmp, a, b))          \
    SETP(setp_##word##_ftz_f32, SETP, T1(F32), FORM(CMP, cmp) | FLAG(FTZ), INT_OTHER, F32, F32,                        \
         f32_compare(CMP_##cmp, f32_flush(a, 1), f32_flush(b, 1)))                                                     \
    SETP(setp_##word##_f64, SETP, T1(F64), FORM(CMP, cmp), INT_OTHER, F64, F64, f64_compare(CMP_##cmp, a, b))

#define ROWS_FILE "isa/exec/exec_setp.def"
#define ROWS_NAME setp
#include "isa/rows_expand.h"
