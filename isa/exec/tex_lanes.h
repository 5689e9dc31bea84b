#ifndef ISA_TEX_LANES_H
#define ISA_TEX_LANES_H
/* Fetches of all lanes of a warp from one texture at once, with exactly the results of tex_fetch() (tex_sample.h). Each
 * loop over 32 lanes becomes vector code. Lanes that do not execute are computed like others, and read inside the
 * texture. Cube maps and mipmaps are not supported. Internal to isa/. */
#include "isa/machine/lane_vectors.h"
#include "isa/rows.h"
#include "isa/softfloat.h"
#include "tex_sample.h"
#include <math.h>

enum {
    TEX_EXTENT_MAX = 1 << 28, /* textures with more texels in a dimension are fetched lane by lane */
    TEX_FAR = 1 << 30         /* coordinates beyond this are out of range in all address modes */
};

/* The texels of a texture in the host's memory. */
struct tex_plane {
    const struct texture *t;
    const unsigned char *host; /* address of texel 0 */
    unsigned bytes;            /* bytes of a texel */
    unsigned channels;         /* number of channels of the result that the instruction needs */
    bool is_float;
};

/* One dimension of a fetch: for each lane, the indices of up to two texels, or -1 outside of the texture. `weight` is
 * the weight of the second texel. */
struct tex_axis {
    _Alignas(64) int32_t index[2][WARP_LANES];
    _Alignas(64) float weight[WARP_LANES];
};

struct tex_lanes {
    _Alignas(64) uint32_t c[4][WARP_LANES];
    /* offset from texel 0 of the first texel that the lane read; 0 if it read no texel */
    _Alignas(64) uint32_t first[WARP_LANES];
    _Alignas(64) uint32_t found[WARP_LANES]; /* all bits set: the lane has read a texel */
};

/* Source operands of a fetch, each an array indexed by lane, or NULL if the fetch has no such source. */
struct tex_rows {
    const uint32_t *layer, *at[3], *offset[3], *reference;
};

static inline unsigned tex_slices(const struct texture *t, unsigned geometry) {
    return geometry == GEOM_3D ? tex_extent(t, 2) : t->layers ? t->layers : 1;
}

/* Finds all texels that a geometry can read. Returns false if the texture is too large, or not inside one live
 * allocation. */
static inline bool tex_plane_find(const struct texture *t, unsigned geometry, const struct memory *memory,
                                  uint32_t *hint, unsigned channels, struct tex_plane *p) {
    const uint64_t rows = tex_extent(t, 1) - 1, slices = tex_slices(t, geometry) - 1;
    uint64_t row_bytes, slice_bytes, span;
    *p = (struct tex_plane){.t = t, .bytes = tex_texel_bytes(t), .channels = channels, .is_float = tex_is_float(t)};
    if (tex_extent(t, 0) > TEX_EXTENT_MAX || rows >= TEX_EXTENT_MAX || slices >= TEX_EXTENT_MAX ||
        __builtin_mul_overflow(rows, t->pitch, &row_bytes) || __builtin_mul_overflow(slices, t->slice, &slice_bytes) ||
        __builtin_add_overflow(row_bytes, slice_bytes, &span) ||
        __builtin_add_overflow(span, (uint64_t)tex_extent(t, 0) * p->bytes, &span) || span > UINT32_MAX / 2)
        return false;
    const struct allocation *in = mem_find(memory, t->data, span, hint);
    if (!in)
        return false;
    p->host = in->host + (t->data - in->begin);
    return true;
}

/* ---- coordinates ---- */

/* Returns the address mode of a dimension. Wrapping and mirroring exist for normalised coordinates only; with other
 * coordinates they become clamping. */
static inline enum texture_address tex_real_mode(const struct texture *t, int dimension) {
    enum texture_address m = (enum texture_address)t->address[dimension];
    return (m == TEX_WRAP || m == TEX_MIRROR) && !t->normalized_coords ? TEX_CLAMP : m;
}

/* Applies the address mode to indices of magnitude below 2^31 - 32, so that they are inside the texture. Index -1 means
 * that the border is read. */
static inline void tex_into_range(int32_t *index, int32_t n, enum texture_address mode) {
    if (mode == TEX_CLAMP) {
        LANES(l) index[l] = index[l] < 0 ? 0 : index[l] >= n ? n - 1 : index[l];
        return;
    }
    if (mode == TEX_BORDER) {
        LANES(l) index[l] = index[l] < 0 || index[l] >= n ? -1 : index[l];
        return;
    }
    uint32_t outside = 0;
    LANES(l) outside |= (uint32_t)((index[l] < 0) | (index[l] >= n));
    for (int l = 0; outside && l < WARP_LANES; l++) {
        const int32_t period = mode == TEX_WRAP ? n : 2 * n;
        const int32_t i = (index[l] % period + period) % period;
        index[l] = i < n ? i : 2 * n - 1 - i;
    }
}

/* Converts coordinates to units of texels. */
static inline void tex_in_texels(const struct texture *t, int dimension, const float *at, float *x) {
    const float n = (float)tex_extent(t, dimension), far = (float)TEX_FAR;
    const enum texture_address mode = tex_real_mode(t, dimension);
    const float scale = t->normalized_coords ? n : 1.0f, above = mode == TEX_WRAP || mode == TEX_MIRROR ? 0.0f : far;
    if (mode == TEX_WRAP)
        LANES(l) x[l] = at[l] - floorf(at[l]);
    else if (mode == TEX_MIRROR)
        LANES(l) {
            const float whole = floorf(at[l]), odd = whole - 2.0f * floorf(whole * 0.5f);
            x[l] = odd != 0.0f ? 1.0f - (at[l] - whole) : at[l] - whole;
        }
    else
        LANES(l) x[l] = at[l];
    LANES(l) {
        const float scaled = x[l] * scale, low = scaled < -far ? -far : scaled, both = low > far ? far : low;
        const float endless = at[l] > 0 ? above : at[l] < 0 ? -far : 0.0f;
        x[l] = fabsf(at[l]) < INFINITY ? both : endless;
    }
}

/* Computes the texel indices of floating-point coordinates. Without a filter, only index[0] is set. */
static inline void tex_axis_real(const struct texture *t, int dimension, const struct tex_rows *from, bool linear,
                                 struct tex_axis *out) {
    const int32_t n = (int32_t)tex_extent(t, dimension);
    const enum texture_address mode = tex_real_mode(t, dimension);
    _Alignas(64) float x[WARP_LANES], given[WARP_LANES];
    _Alignas(64) int32_t shift[WARP_LANES] = {0};
    memcpy(given, from->at[dimension], sizeof given);
    if (from->offset[dimension])
        LANES(l) shift[l] = (int32_t)(from->offset[dimension][l] << 28) >> 28;
    if (mode == TEX_MIRROR) /* in this mode, the offset is added before the coordinate is reflected */
        LANES(l) {
            given[l] += (float)shift[l] / (float)n;
            shift[l] = 0;
        }
    tex_in_texels(t, dimension, given, x);
    const float half = linear ? 0.5f : 0.0f;
    LANES(l) {
        const float exact = x[l] - half, whole = floorf(exact);
        out->weight[l] = floorf((exact - whole) * 256.0f + 0.5f) / 256.0f;
        out->index[0][l] = (int32_t)whole + shift[l];
        out->index[1][l] = (int32_t)whole + shift[l] + 1;
    }
    tex_into_range(out->index[0], n, mode);
    if (linear)
        tex_into_range(out->index[1], n, mode);
}

/* Computes the texel indices of integer coordinates. Coordinates out of range read zero in one dimension
 * (tex1Dfetch()); otherwise the address mode applies. */
static inline void tex_axis_integer(const struct texture *t, int dimension, unsigned geometry,
                                    const struct tex_rows *from, struct tex_axis *out) {
    const uint32_t *at = from->at[dimension], *offset = from->offset[dimension];
    LANES(l) {
        const int32_t i = (int32_t)at[l];
        out->index[0][l] = i < -TEX_FAR ? -TEX_FAR : i > TEX_FAR ? TEX_FAR : i;
    }
    if (offset)
        LANES(l) out->index[0][l] += (int32_t)(offset[l] << 28) >> 28;
    tex_into_range(out->index[0], (int32_t)tex_extent(t, dimension),
                   geometry == GEOM_1D || t->address[dimension] == TEX_BORDER ? TEX_BORDER : TEX_CLAMP);
}

/* ---- texels ---- */

/* Reads the texels at the offsets `at` as words 0, 1, ... A texel smaller than four bytes fills the low bytes of its
 * word. */
static inline void tex_words(const struct tex_plane *p, const uint32_t *at, uint32_t words[4][WARP_LANES]) {
    const unsigned char *host = p->host;
    switch (p->bytes) {
    case 1:
        for (int l = 0; l < WARP_LANES; l++)
            words[0][l] = host[at[l]];
        return;
    case 2:
        for (int l = 0; l < WARP_LANES; l++) {
            uint16_t word;
            memcpy(&word, host + at[l], sizeof word);
            words[0][l] = word;
        }
        return;
    default:
        for (unsigned k = 0; k < p->bytes / 4; k++)
            vec_gather_lanes(words[k], host + 4 * k, at);
    }
}

/* Converts the raw channel in the low bits of each v[l] to its value in the format of struct texel. */
static inline void tex_decode(const struct tex_plane *p, uint32_t *v) {
    const bool normalized = p->is_float;
    switch (p->t->format) {
    case TEX_U8:
        LANES(l) v[l] = normalized ? f32_bits((float)(int32_t)(v[l] & 0xff) / 255.0f) : v[l] & 0xff;
        return;
    case TEX_U16:
        LANES(l) v[l] = normalized ? f32_bits((float)(int32_t)(v[l] & 0xffff) / 65535.0f) : v[l] & 0xffff;
        return;
    case TEX_S8:
    case TEX_S16: {
        const int unused = p->t->format == TEX_S8 ? 24 : 16;
        const float one = p->t->format == TEX_S8 ? 127.0f : 32767.0f;
        LANES(l) {
            const int32_t i = (int32_t)(v[l] << unused) >> unused;
            const float x = (float)i / one;
            v[l] = normalized ? f32_bits(x < -1.0f ? -1.0f : x) : (uint32_t)i;
        }
        return;
    }
    case TEX_F16:
        LANES(l) v[l] = f32_bits(f32_from_f16((uint16_t)v[l]));
        return;
    default:
        return;
    }
}

/* Reads the channels of the texels at the offsets `at`. */
static inline void tex_texels(const struct tex_plane *p, const uint32_t *at, uint32_t c[4][WARP_LANES]) {
    const unsigned channels = p->t->channels, bytes = p->bytes / channels;
    const uint32_t last = p->is_float ? f32_bits(1.0f) : 1;
    _Alignas(64) uint32_t words[4][WARP_LANES];
    /* cppcheck-suppress uninitvar ; filled here */
    tex_words(p, at, words);
    for (unsigned k = 0; k < channels && k < p->channels; k++) {
        const uint32_t *word = words[k * bytes / 4];
        const unsigned low = 8 * (k * bytes % 4);
        LANES(l) c[k][l] = word[l] >> low;
        tex_decode(p, c[k]);
    }
    for (unsigned k = channels; k < p->channels; k++)
        LANES(l) c[k][l] = k == 3 ? last : 0;
}

/* Computes the texel offset of each lane, and the mask of lanes whose indices are all inside the texture. The other
 * lanes get offset 0. */
static inline void tex_offsets(const struct tex_plane *p, const int32_t *x, const int32_t *y, const int32_t *z,
                               uint32_t *at, uint32_t *inside) {
    const uint32_t bytes = p->bytes, pitch = (uint32_t)p->t->pitch, slice = (uint32_t)p->t->slice;
    LANES(l) {
        at[l] = (uint32_t)x[l] * bytes;
        inside[l] = (uint32_t)x[l];
    }
    if (y)
        LANES(l) {
            at[l] += (uint32_t)y[l] * pitch;
            inside[l] |= (uint32_t)y[l];
        }
    if (z)
        LANES(l) {
            at[l] += (uint32_t)z[l] * slice;
            inside[l] |= (uint32_t)z[l];
        }
    LANES(l) {
        inside[l] = (inside[l] >> 31) - 1;
        at[l] &= inside[l];
    }
}

/* Sets each component to 1 if the reference is at most the component, else to 0. */
static inline void tex_compare(const struct tex_plane *p, const uint32_t *reference, uint32_t c[4][WARP_LANES]) {
    for (unsigned k = 0; k < p->channels; k++)
        LANES(l) {
            const float depth = p->is_float ? f32_from_bits(c[k][l]) : (float)c[k][l];
            c[k][l] = f32_bits(f32_from_bits(reference[l]) <= depth ? 1.0f : 0.0f);
        }
}

/* Reads a texel for each lane, or the border's colour if an index is outside. Lanes whose bits in `used` are all set
 * record the address of the first texel inside. */
static inline void tex_tap(const struct tex_plane *p, const struct tex_rows *from, const struct texel *border,
                           const int32_t *x, const int32_t *y, const int32_t *z, const uint32_t *used,
                           struct tex_lanes *out) {
    _Alignas(64) uint32_t at[WARP_LANES], inside[WARP_LANES];
    tex_offsets(p, x, y, z, at, inside);
    tex_texels(p, at, out->c);
    LANES(l) {
        const uint32_t now = inside[l] & used[l] & ~out->found[l];
        out->first[l] |= at[l] & now;
        out->found[l] |= now;
    }
    for (unsigned k = 0; k < p->channels; k++)
        LANES(l) out->c[k][l] = (out->c[k][l] & inside[l]) | (border->c[k] & ~inside[l]);
    if (from->reference)
        tex_compare(p, from->reference, out->c);
}

/* Computes the weighted mean of up to 8 texels. Sums corner by corner, as tex_sample.c does, and skips texels of
 * weight 0. */
static inline void tex_mix(const struct tex_plane *p, const struct tex_rows *from, const struct texel *border,
                           const struct tex_axis axis[3], int dimensions, const int32_t *slice, struct tex_lanes *out) {
    _Alignas(64) float sum[4][WARP_LANES] = {{0}};
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        _Alignas(64) float w[WARP_LANES];
        _Alignas(64) uint32_t used[WARP_LANES];
        LANES(l) w[l] = 1.0f;
        for (int d = 0; d < dimensions; d++) {
            const float *weight = axis[d].weight;
            if (corner >> d & 1)
                LANES(l) w[l] *= weight[l];
            else
                LANES(l) w[l] *= 1.0f - weight[l];
        }
        LANES(l) used[l] = w[l] != 0.0f ? 0xffffffffu : 0;
        tex_tap(p, from, border, axis[0].index[corner & 1], dimensions > 1 ? axis[1].index[corner >> 1 & 1] : NULL,
                dimensions > 2 ? axis[2].index[corner >> 2] : slice, used, out);
        for (unsigned k = 0; k < p->channels; k++)
            LANES(l) sum[k][l] = used[l] ? sum[k][l] + w[l] * f32_from_bits(out->c[k][l]) : sum[k][l];
    }
    memcpy(out->c, sum, sizeof sum);
}

/* Fetches for all lanes. `geometry` is not a cube. */
static inline void tex_fetch_lanes(const struct tex_plane *p, unsigned geometry, bool integer,
                                   const struct tex_rows *from, const struct texel *border, struct tex_lanes *out) {
    const struct texture *t = p->t;
    const int n = geometry == GEOM_1D || geometry == GEOM_A1D ? 1 : geometry == GEOM_3D ? 3 : 2;
    const bool linear = !integer && t->linear && p->is_float;
    struct tex_axis axis[3];
    _Alignas(64) int32_t layer[WARP_LANES];
    _Alignas(64) uint32_t used[WARP_LANES];
    const int32_t *slice = NULL;
    LANES(l) {
        used[l] = 0xffffffffu;
        out->first[l] = out->found[l] = 0;
    }
    if (from->layer) {
        const uint32_t last = tex_slices(t, geometry) - 1;
        LANES(l) layer[l] = (int32_t)(from->layer[l] < last ? from->layer[l] : last);
        slice = layer;
    }
    for (int d = 0; d < n; d++)
        if (integer)
            tex_axis_integer(t, d, geometry, from, &axis[d]);
        else
            tex_axis_real(t, d, from, linear, &axis[d]);
    if (linear)
        tex_mix(p, from, border, axis, n, slice, out);
    else
        tex_tap(p, from, border, axis[0].index[0], n > 1 ? axis[1].index[0] : NULL, n > 2 ? axis[2].index[0] : slice,
                used, out);
}
#endif
