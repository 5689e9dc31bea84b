#include "exec.h"
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

enum { LANE_BYTES_MAX = 16 };

void exec_lane_masked(struct warp *w, const struct inst *in, lanemask_t m) {
    _Alignas(64) unsigned char d[WARP_LANES * LANE_BYTES_MAX], d2[WARP_LANES * LANE_BYTES_MAX];
    in->fn.lane(d, d2, reg_ptr(w, in->a), reg_ptr(w, in->b), reg_ptr(w, in->c), reg_ptr(w, in->e));
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), d, m, in->dsize);
    if (in->d2 != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d2), d2, m, in->d2size);
}

/* The low `size` bytes of registers `reg` bytes wide. */
static void narrow(void *to, unsigned size, const unsigned char *from, unsigned reg) {
    unsigned char *t = to;
    for (int l = 0; l < WARP_LANES; l++)
        memcpy(t + l * size, from + l * reg, size);
}

/* Values of `size` bytes extended to registers of `reg` bytes (at most 8). */
static void widen(void *to, unsigned reg, const unsigned char *from, unsigned size, bool is_signed) {
    unsigned char *t = to;
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t v = 0;
        memcpy(&v, from + l * size, size);
        if (is_signed)
            v = (uint64_t)((int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size));
        memcpy(t + l * reg, &v, reg);
    }
}

void exec_cvt(struct warp *w, const struct inst *in, lanemask_t m) {
    _Alignas(64) unsigned char a[WARP_LANES * LANE_BYTES_MAX], d[WARP_LANES * LANE_BYTES_MAX],
        wide[WARP_LANES * LANE_BYTES_MAX];
    const void *from = reg_ptr(w, in->a);
    if (in->asize > in->msize) {
        narrow(a, in->msize, from, in->asize);
        from = a;
    }
    in->fn.lane(d, d, from, reg_ptr(w, in->b), reg_ptr(w, in->c), reg_ptr(w, in->e));
    const void *result = d;
    if (in->rsize > in->dsize) {
        widen(wide, in->rsize, d, in->dsize, in->is_signed);
        result = wide;
    }
    blend_lanes(reg_ptr(w, in->d), result, m, in->rsize);
}
