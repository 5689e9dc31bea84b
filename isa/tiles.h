#ifndef ISA_TILES_H
#define ISA_TILES_H
/* Matrices in shared memory, as wgmma and tcgen05 describe them (PTX ISA 9.7.15.5.1, 9.7.16.4.1). A matrix consists of
 * chunks of 16 bytes. The elements of a chunk are adjacent along the major dimension: K, or M and N ("across"). The
 * position of a chunk is a sum of multiples of the two strides of the descriptor. The swizzle (swizzle.h) then
 * exchanges the chunks of a row of 32, 64 or 128 bytes. */
#include "each.h"
#include "softfloat.h"
#include "swizzle.h"

enum { TILE_CHUNK = 16, TILE_LINES = 8 };

/* A loop whose iterations do not depend on each other. */
#define TILE_EACH(i, n) INDEPENDENT for (unsigned i = 0; i < (n); i++)

struct tile {
    uint32_t start, leading, stride; /* bytes: address of the matrix in shared memory, and the two strides */
    uint32_t base;                   /* the swizzle pattern begins this number of 128-byte rows after a multiple of
                                      * 1024 */
    uint32_t row;                    /* bytes that the swizzle exchanges: 16 (none), 32, 64 or 128 */
    uint32_t lines;                  /* lines that follow each other at a distance of `row` */
    uint8_t moves[TILE_LINES];       /* by row of 128 bytes of the pattern: what is exclusive-ored with an address */
    bool across;                     /* elements along M or N are adjacent */
};

/* Decodes bits 0 to 51, which are the same for wgmma and tcgen05. */
static inline struct tile tile_of(uint64_t d, enum swizzle s, bool across) {
    struct tile t = {(uint32_t)(d & 0x3fff) << 4,
                     (uint32_t)(d >> 16 & 0x3fff) << 4,
                     (uint32_t)(d >> 32 & 0x3fff) << 4,
                     (uint32_t)(d >> 49 & 7),
                     s == SWIZZLE_NONE ? TILE_CHUNK : swizzle_span(s),
                     s == SWIZZLE_128B_32B && across ? TILE_LINES / 2 : TILE_LINES,
                     {0},
                     across};
    for (unsigned i = 0; i < TILE_LINES; i++)
        t.moves[i] = (uint8_t)(swizzle_address(s, i * 128) - i * 128);
    return t;
}
/* Returns the swizzle of a wgmma descriptor (bits 62 and 63). */
static inline enum swizzle tile_swizzle_of_group(uint64_t d) {
    static const uint8_t modes[] = {SWIZZLE_NONE, SWIZZLE_128B, SWIZZLE_64B, SWIZZLE_32B};
    return modes[d >> 62];
}

/* Returns the address of the chunk with line `line` (a row of a, a column of b, or an element along K if the matrix is
 * `across`) and number `chunk` along the major dimension. */
static inline uint32_t tile_at(const struct tile *t, uint32_t line, uint32_t chunk) {
    const uint32_t in_row = t->row / TILE_CHUNK, wide = t->row > TILE_CHUNK;
    uint32_t at = t->start + line % t->lines * t->row;
    if (!t->across && !wide)
        at += line / TILE_LINES * t->stride + chunk * t->leading;
    else if (!t->across) { /* only the 48 bytes of k = 96 may continue in the next swizzled row */
        const bool next = (t->start & (t->row - 1)) + chunk * TILE_CHUNK >= t->row;
        at += line / TILE_LINES * t->stride + chunk * TILE_CHUNK + (next ? t->leading - t->row : 0);
    } else if (wide)
        at += line / t->lines * t->stride + chunk % in_row * TILE_CHUNK + chunk / in_row * t->leading;
    else
        at += line / TILE_LINES * t->leading + chunk * t->stride;
    return at ^ t->moves[((at >> 7) - t->base) % TILE_LINES];
}

/* Returns the value of e4m3, whose NaN is 0x7f and 0xff, and of e5m2. */
FP_INLINE float tile_e4m3(uint8_t b) {
    const float x = f32_from_bits((uint32_t)(b & 0x7f) << 20) * 0x1p120f;
    return f32_from_bits((b & 0x7f) == 0x7f ? F32_NAN : f32_bits(x) | (uint32_t)(b & 0x80) << 24);
}
FP_INLINE float tile_e5m2(uint8_t b) { return f32_from_f16((uint16_t)(b << 8)); }

/* Converts n elements of this type, of group_bits() bits, to numbers. The loops become vector code. */
FP_INLINE void tile_numbers(unsigned type, const unsigned char *from, float *to, unsigned n) {
    if (type == T_F16)
        TILE_EACH(i, n) {
            uint16_t h;
            memcpy(&h, from + 2 * i, sizeof h);
            to[i] = f32_from_f16(h);
        }
    else if (type == T_BF16)
        TILE_EACH(i, n) {
            uint16_t h;
            memcpy(&h, from + 2 * i, sizeof h);
            to[i] = f32_from_bf16(h);
        }
    else if (type == T_TF32)
        TILE_EACH(i, n) {
            uint32_t word;
            memcpy(&word, from + 4 * i, sizeof word);
            to[i] = f32_from_bits(word & 0xffffe000u);
        }
    else if (type == T_B1)
        TILE_EACH(i, n) to[i] = from[i / 8] >> i % 8 & 1;
    else if (type == T_S8)
        TILE_EACH(i, n) to[i] = (int8_t)from[i];
    else if (type == T_U8)
        TILE_EACH(i, n) to[i] = from[i];
    else if (type == T_E4M3)
        TILE_EACH(i, n) to[i] = tile_e4m3(from[i]);
    else
        TILE_EACH(i, n) to[i] = tile_e5m2(from[i]);
}
#endif
