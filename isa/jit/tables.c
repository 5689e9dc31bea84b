/* Constants that native code loads. */
#include "jit.h"

const struct jit_tables jit_tables = {
#define STEPS(n)                                                                                                       \
    { 0, n, 2 * n, 3 * n, 4 * n, 5 * n, 6 * n, 7 * n, 8 * n, 9 * n, 10 * n, 11 * n, 12 * n, 13 * n, 14 * n, 15 * n }
    .step8 = {STEPS(4), STEPS(8)},
    .step4 = {STEPS(4), STEPS(8)},
#undef STEPS
#define SAME8(x)                                                                                                       \
    { x, x, x, x, x, x, x, x }
#define SAME16(x)                                                                                                      \
    { x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x }
    .ones = SAME16(0xffffffffu),
    .f32_nan = SAME16(0x7fffffffu),
    .f32_sign = SAME16(0x80000000u),
    .f32_magnitude = SAME16(0x7fffffffu),
    .f32_exponent = SAME16(0x7f800000u),
    .f32_one = SAME16(0x3f800000u),
    .f32_65536 = SAME16(0x47800000u),
    .low_5_bits = SAME16(31),
    .word_bits = SAME16(32),
    .bytes = {0, 0xff, 0xff00, 0xffff, 0xff0000, 0xff00ff, 0xffff00, 0xffffff, 0xff000000, 0xff0000ff, 0xff00ff00,
              0xff00ffff, 0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff},
    .f32_2p31 = SAME16(0x4f000000u),
    .f32_2p126 = SAME16(0x7e800000u),
    .sign8 = SAME8(1ull << 63),
    .magnitude8 = SAME8(INT64_MAX),
    .f64_s32_max = SAME8(0x41dfffffffc00000u),
#define LANES8(n) n, (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define WORDS8(n) n, (n) + 4, (n) + 8, (n) + 12, (n) + 16, (n) + 20, (n) + 24, (n) + 28
#define BITS8(n)  1u << n, 2u << n, 4u << n, 8u << n, 16u << n, 32u << n, 64u << n, 128u << n
    .bit4 = {BITS8(0), BITS8(8), BITS8(16), BITS8(24)},
    .bit8 = {BITS8(0), BITS8(8), BITS8(16), BITS8(24)},
    .lane = {LANES8(0), LANES8(8), LANES8(16), LANES8(24)},
    .lane_words = {WORDS8(0), WORDS8(32), WORDS8(64), WORDS8(96)},
};
