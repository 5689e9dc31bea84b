#include "effects.h"
#include <stdarg.h>
#include <stdio.h>
#if defined(__AVX512F__) && defined(__AVX512BW__)
#include <immintrin.h>
#define MASK_REGISTERS 1
#else
#define MASK_REGISTERS 0
#endif

#define BLEND_LANES(T)                                                                                                 \
    do {                                                                                                               \
        T *t = to;                                                                                                     \
        const T *f = from;                                                                                             \
        for (int l = 0; l < WARP_LANES; l++)                                                                           \
            t[l] = m >> l & 1 ? f[l] : t[l];                                                                           \
    } while (0)

#if MASK_REGISTERS
static void blend_16(void *to, const void *from, lanemask_t m) {
    _mm512_mask_storeu_epi16(to, m, _mm512_loadu_si512(from));
}

static void blend_32(void *to, const void *from, lanemask_t m) {
    uint32_t *t = to;
    const uint32_t *f = from;
    _mm512_mask_storeu_epi32(t, (__mmask16)m, _mm512_loadu_si512(f));
    _mm512_mask_storeu_epi32(t + 16, (__mmask16)(m >> 16), _mm512_loadu_si512(f + 16));
}

static void blend_64(void *to, const void *from, lanemask_t m) {
    uint64_t *t = to;
    const uint64_t *f = from;
    for (int i = 0; i < 4; i++)
        _mm512_mask_storeu_epi64(t + 8 * i, (__mmask8)(m >> 8 * i), _mm512_loadu_si512(f + 8 * i));
}
#else
static void blend_16(void *to, const void *from, lanemask_t m) { BLEND_LANES(uint16_t); }
static void blend_32(void *to, const void *from, lanemask_t m) { BLEND_LANES(uint32_t); }
static void blend_64(void *to, const void *from, lanemask_t m) { BLEND_LANES(uint64_t); }
#endif

static void blend_128(void *to, const void *from, lanemask_t m) {
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        memcpy((unsigned char *)to + 16 * l, (const unsigned char *)from + 16 * l, 16);
    }
}

void blend_lanes(void *to, const void *from, lanemask_t m, unsigned size) {
    switch (size) {
    case 0: {
        lanemask_t t, f;
        memcpy(&t, to, sizeof t);
        memcpy(&f, from, sizeof f);
        t = (t & ~m) | (f & m);
        memcpy(to, &t, sizeof t);
        return;
    }
    case 1:
        BLEND_LANES(uint8_t);
        return;
    case 2:
        blend_16(to, from, m);
        return;
    case 4:
        blend_32(to, from, m);
        return;
    case 8:
        blend_64(to, from, m);
        return;
    default:
        blend_128(to, from, m);
    }
}

void fx_target(struct effects *fx, uint32_t pc, int lane) {
    int i = 0;
    while (i < fx->n_targets && fx->targets[i].pc != pc)
        i++;
    if (i == fx->n_targets)
        fx->targets[fx->n_targets++] = (struct target){.pc = pc};
    fx->targets[i].lanes |= 1u << lane;
}

void fx_fault_text(struct effects *fx, enum fault_kind kind, int lane, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fx->fault = kind;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_bytes = 0;
    fx->fault_address = 0;
    fx->space = SPACE_GENERIC;
    fx->fault_text = strdup(text);
}
