/* Reads textures for one lane (tex_sample.h). A texel is an element of a texture. A filter computes the weighted mean
 * of several texels. */
#include "tex_sample.h"
#include "isa/softfloat.h"
#include <math.h>

enum { OUTSIDE = -1 };
static const float COORDINATE_MAX = 0x1p30f; /* coordinates beyond this are out of range in all address modes */

static unsigned channel_bytes(const struct texture *t) {
    switch (t->format) {
    case TEX_U8:
    case TEX_S8:
        return 1;
    case TEX_U16:
    case TEX_S16:
    case TEX_F16:
        return 2;
    default:
        return 4;
    }
}

unsigned tex_texel_bytes(const struct texture *t) { return t->channels * channel_bytes(t); }

static bool is_small_integer(const struct texture *t) {
    return t->format == TEX_U8 || t->format == TEX_S8 || t->format == TEX_U16 || t->format == TEX_S16;
}

bool tex_is_float(const struct texture *t) {
    return t->format == TEX_F16 || t->format == TEX_F32 || (t->normalized_read && is_small_integer(t));
}

uint32_t tex_extent(const struct texture *t, int dimension) {
    uint32_t n = dimension == 0 ? t->width : dimension == 1 ? t->height : t->depth;
    return n ? n : 1;
}

uint64_t tex_address(const struct texture *t, uint32_t x, uint32_t y, uint32_t z) {
    return t->data + z * t->slice + y * t->pitch + (uint64_t)x * tex_texel_bytes(t);
}

/* ---- formats ---- */

/* Returns the largest value of an integer format, which represents 1.0 in normalised reads. */
static float integer_one(const struct texture *t) {
    switch (t->format) {
    case TEX_U8:
        return 255.0f;
    case TEX_S8:
        return 127.0f;
    case TEX_U16:
        return 65535.0f;
    default:
        return 32767.0f;
    }
}

static uint32_t load_channel(const struct texture *t, const unsigned char *from) {
    uint32_t v = 0;
    memcpy(&v, from, channel_bytes(t));
    bool is_signed = t->format == TEX_S8 || t->format == TEX_S16;
    if (t->format == TEX_S8)
        v = (uint32_t)(int8_t)v;
    if (t->format == TEX_S16)
        v = (uint32_t)(int16_t)v;
    if (t->format == TEX_F16)
        return f32_bits(f32_from_f16((uint16_t)v));
    if (!tex_is_float(t) || t->format == TEX_F32)
        return v;
    float x = (is_signed ? (float)(int32_t)v : (float)v) / integer_one(t);
    return f32_bits(x < -1.0f ? -1.0f : x);
}

/* Limits an integer to the range of the format. */
static uint32_t saturated(const struct texture *t, uint32_t v, bool is_signed_source) {
    int64_t x = is_signed_source ? (int64_t)(int32_t)v : (int64_t)v, top = (int64_t)integer_one(t);
    int64_t bottom = t->format == TEX_S8 || t->format == TEX_S16 ? -top - 1 : 0;
    return (uint32_t)(x < bottom ? bottom : x > top ? top : x);
}

static void store_channel(const struct texture *t, unsigned char *to, uint32_t v, bool from_float) {
    if (t->format == TEX_F16) {
        uint16_t h = f16_from_f32(f32_from_bits(v), RND_RN);
        memcpy(to, &h, sizeof h);
        return;
    }
    if (from_float && is_small_integer(t)) {
        float x = f32_from_bits(v), low = t->format == TEX_S8 || t->format == TEX_S16 ? -1.0f : 0.0f;
        x = x > low ? x : low; /* a NaN becomes `low` */
        v = (uint32_t)(int32_t)rintf((x < 1.0f ? x : 1.0f) * integer_one(t));
    } else if (is_small_integer(t)) {
        v = saturated(t, v, t->format == TEX_S8 || t->format == TEX_S16);
    }
    memcpy(to, &v, channel_bytes(t));
}

static unsigned char *texel_host(const struct texture *t, const struct tex_access *a, uint64_t address) {
    const struct allocation *in = mem_find(a->memory, address, tex_texel_bytes(t), a->hint);
    return in ? in->host + (address - in->begin) : NULL;
}

bool tex_load(const struct texture *t, struct tex_access *a, uint32_t x, uint32_t y, uint32_t z, struct texel *out) {
    uint64_t address = tex_address(t, x, y, z);
    const unsigned char *from = texel_host(t, a, address);
    if (!from) {
        a->address = address;
        return false;
    }
    if (!a->address)
        a->address = address;
    *out = (struct texel){{0, 0, 0, tex_is_float(t) ? f32_bits(1.0f) : 1}};
    for (unsigned c = 0; c < t->channels; c++)
        out->c[c] = load_channel(t, from + c * channel_bytes(t));
    return true;
}

bool tex_store(const struct texture *t, const struct tex_access *a, uint32_t x, uint32_t y, uint32_t z,
               const struct texel *from, unsigned channels, bool from_float) {
    unsigned char *to = texel_host(t, a, tex_address(t, x, y, z));
    for (unsigned c = 0; to && c < t->channels && c < channels; c++)
        store_channel(t, to + c * channel_bytes(t), from->c[c], from_float);
    return to != NULL;
}

/* ---- coordinates ---- */

/* Returns the address mode of a dimension. Wrapping and mirroring exist for normalised coordinates only; with other
 * coordinates they become clamping. */
static enum texture_address address_mode(const struct texture *t, int dimension) {
    enum texture_address m = t->address[dimension];
    return (m == TEX_WRAP || m == TEX_MIRROR) && !t->normalized_coords ? TEX_CLAMP : m;
}

/* Returns the index of the texel that index i reads in a dimension of n texels; OUTSIDE means the border. */
static int64_t texel_index(int64_t i, int64_t n, enum texture_address mode) {
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case TEX_WRAP:
        return (i % n + n) % n;
    case TEX_MIRROR:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case TEX_BORDER:
        return OUTSIDE;
    default:
        return i < 0 ? 0 : n - 1;
    }
}

/* Converts a coordinate to units of texels. */
static float in_texels(const struct texture *t, int dimension, float x) {
    float n = (float)tex_extent(t, dimension), whole = floorf(x);
    enum texture_address mode = address_mode(t, dimension);
    if (!(fabsf(x) < INFINITY))
        return x > 0 && mode != TEX_WRAP && mode != TEX_MIRROR ? COORDINATE_MAX : x < 0 ? -COORDINATE_MAX : 0.0f;
    if (mode == TEX_WRAP)
        x -= whole;
    if (mode == TEX_MIRROR)
        x = fmodf(whole, 2.0f) != 0.0f ? 1.0f - (x - whole) : x - whole;
    x = t->normalized_coords ? x * n : x;
    return x < -COORDINATE_MAX ? -COORDINATE_MAX : x > COORDINATE_MAX ? COORDINATE_MAX : x;
}

/* One dimension of a linear filter: two texels and the weight of the second. The weight has eight fractional bits, as
 * in the CUDA programming guide ("9-bit fixed point format with 8 bits of fractional value"), rounded to nearest.
 * Without a filter, the first texel is the result and the weight is 0. */
struct taps {
    int64_t index[2];
    float weight;
};

static struct taps taps_of(const struct texture *t, int dimension, const struct tex_fetch *f, bool linear) {
    int64_t n = tex_extent(t, dimension), shift = f->offset[dimension];
    enum texture_address mode = address_mode(t, dimension);
    float x = f->at[dimension];
    if (mode == TEX_MIRROR) { /* in this mode, the offset is added before the coordinate is reflected */
        x += (float)shift / (float)n;
        shift = 0;
    }
    x = in_texels(t, dimension, x);
    float from = linear ? x - 0.5f : x, whole = floorf(from);
    struct taps p = {.weight = linear ? floorf((from - whole) * 256.0f + 0.5f) / 256.0f : 0.0f};
    p.index[0] = texel_index((int64_t)whole + shift, n, mode);
    p.index[1] = texel_index((int64_t)whole + shift + 1, n, mode);
    return p;
}

/* Sets each component to 1 if the reference is at most the component, else to 0. */
static void compare_depth(const struct texture *t, float reference, struct texel *x) {
    for (int c = 0; c < 4; c++) {
        float depth = tex_is_float(t) ? f32_from_bits(x->c[c]) : (float)x->c[c];
        x->c[c] = f32_bits(reference <= depth ? 1.0f : 0.0f);
    }
}

struct texel tex_border(const struct texture *t, bool zero) {
    struct texel x = {{0, 0, 0, 0}};
    for (int c = 0; c < 4 && !zero; c++) {
        float v = t->border[c];
        x.c[c] = tex_is_float(t)                            ? f32_bits(v)
                 : v >= -2147483648.0f && v < 4294967296.0f ? (uint32_t)(int64_t)rintf(v)
                                                            : 0;
    }
    return x;
}

/* Reads one texel of a filter. */
static bool load_tap(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, int64_t x, int64_t y,
                     int64_t z, struct texel *out) {
    if (x < 0 || y < 0 || z < 0)
        *out = tex_border(t, f->integer && f->geometry == GEOM_1D);
    else if (!tex_load(t, a, (uint32_t)x, (uint32_t)y, (uint32_t)z, out))
        return false;
    if (f->compare)
        compare_depth(t, f->reference, out);
    return true;
}

static int dimensions(unsigned geometry) {
    return geometry == GEOM_1D || geometry == GEOM_A1D ? 1 : geometry == GEOM_3D ? 3 : 2;
}

static uint32_t layer_index(const struct texture *t, uint32_t layer) {
    uint32_t n = t->layers ? t->layers : 1;
    return layer < n ? layer : n - 1;
}

/* Computes the weighted mean of up to 8 texels. Returns false if a texel is outside memory. */
static bool mix(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, const struct taps p[3],
                int64_t slice, int n_dims, struct texel *out) {
    float sum[4] = {0, 0, 0, 0};
    for (int corner = 0; corner < 1 << n_dims; corner++) {
        float w = 1.0f;
        int64_t at[3] = {p[0].index[0], p[1].index[0], n_dims == 3 ? p[2].index[0] : slice};
        for (int d = 0; d < n_dims; d++) {
            bool second = corner >> d & 1;
            at[d] = p[d].index[second];
            w *= second ? p[d].weight : 1.0f - p[d].weight;
        }
        struct texel x;
        if (w == 0.0f)
            continue;
        if (!load_tap(t, a, f, at[0], at[1], at[2], &x))
            return false;
        for (int c = 0; c < 4; c++)
            sum[c] += w * f32_from_bits(x.c[c]);
    }
    for (int c = 0; c < 4; c++)
        out->c[c] = f32_bits(sum[c]);
    return true;
}

/* ---- cube maps; source: CUDA programming guide, "Cubemap Textures" ---- */

static uint32_t cube_face(const float d[3]) {
    float ax = fabsf(d[0]), ay = fabsf(d[1]), az = fabsf(d[2]);
    if (ax >= ay && ax >= az)
        return d[0] >= 0 ? 0 : 1;
    if (ay >= az)
        return d[1] >= 0 ? 2 : 3;
    return d[2] >= 0 ? 4 : 5;
}

/* Converts a direction to the axes of a face: right, down, out. The conversion is linear in `d`, so it also converts
 * derivatives. */
static void cube_axes(uint32_t face, const float d[3], float out[3]) {
    static const struct {
        int8_t axis[3];
        float sign[3];
    } faces[6] = {{{2, 1, 0}, {-1, -1, 1}}, {{2, 1, 0}, {1, -1, -1}}, {{0, 2, 1}, {1, 1, 1}},
                  {{0, 2, 1}, {1, -1, -1}}, {{0, 1, 2}, {1, -1, 1}},  {{0, 1, 2}, {-1, -1, -1}}};
    for (int i = 0; i < 3; i++)
        out[i] = faces[face].sign[i] * d[faces[face].axis[i]];
}

static bool is_cube(unsigned geometry) { return geometry == GEOM_CUBE || geometry == GEOM_ACUBE; }

/* Chooses the slice that a fetch reads. For a cube, selects the face by the direction, and changes the fetch to a
 * two-dimensional fetch from this face. That fetch has normalised coordinates, which are clamped at the edges of the
 * face. */
static int64_t choose_slice(const struct texture **t, struct texture *cube, struct tex_fetch *f) {
    unsigned g = f->geometry;
    int64_t slice = g == GEOM_A1D || g == GEOM_A2D || g == GEOM_ACUBE ? layer_index(*t, f->layer) : 0;
    if (!is_cube(g))
        return slice;
    uint32_t face = cube_face(f->at);
    float axes[3];
    cube_axes(face, f->at, axes);
    for (int i = 0; i < 2; i++)
        f->at[i] = axes[2] > 0 ? (axes[i] / axes[2] + 1.0f) / 2.0f : 0.5f;
    *cube = **t;
    cube->normalized_coords = true;
    cube->address[0] = cube->address[1] = TEX_CLAMP;
    *t = cube;
    return 6 * slice + face;
}

/* ---- mipmaps ---- */

static uint32_t halved(uint32_t n, unsigned level) { return !n ? 0 : n >> level ? n >> level : 1; }

struct texture tex_level(const struct texture *t, unsigned level) {
    struct texture at = *t;
    for (unsigned k = 0; k < level; k++) {
        uint64_t slices = (uint64_t)(t->layers ? t->layers : 1) * (t->cube ? 6 : 1) * tex_extent(&at, 2);
        at.data += at.slice * slices;
        at.width = halved(t->width, k + 1);
        at.height = halved(t->height, k + 1);
        at.depth = halved(t->depth, k + 1);
        at.pitch = (uint64_t)at.width * tex_texel_bytes(t);
        at.slice = at.pitch * tex_extent(&at, 1);
    }
    return at;
}

float tex_gradient_level(const struct texture *t, const struct tex_fetch *f, const float dx[3], const float dy[3]) {
    const float *step[2] = {dx, dy};
    float longest = 0;
    for (int s = 0; s < 2; s++) {
        float d[3] = {step[s][0], step[s][1], step[s][2]}, sum = 0;
        if (is_cube(f->geometry)) { /* derivatives of right / out and down / out */
            float at[3], by[3];
            uint32_t face = cube_face(f->at);
            cube_axes(face, f->at, at);
            cube_axes(face, d, by);
            for (int i = 0; i < 2; i++)
                d[i] = (by[i] * at[2] - at[i] * by[2]) / (2.0f * at[2] * at[2]);
        }
        for (int i = 0; i < dimensions(f->geometry); i++) {
            float texels = t->normalized_coords || is_cube(f->geometry) ? d[i] * (float)tex_extent(t, i) : d[i];
            sum += texels * texels;
        }
        longest = sum > longest ? sum : longest;
    }
    /* the factor is 0.5 because `longest` is the square of a length */
    return longest > 0 ? 0.5f * log2f(longest) : 0.0f;
}

/* ---- fetches ---- */

static bool fetch_real(const struct texture *t, struct tex_access *a, struct tex_fetch f, struct texel *out) {
    struct texture cube;
    bool linear = t->linear && tex_is_float(t);
    int64_t slice = choose_slice(&t, &cube, &f);
    int n = dimensions(f.geometry);
    struct taps p[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
    for (int d = 0; d < n; d++)
        p[d] = taps_of(t, d, &f, linear);
    if (linear)
        return mix(t, a, &f, p, slice, n, out);
    return load_tap(t, a, &f, p[0].index[0], p[1].index[0], n == 3 ? p[2].index[0] : slice, out);
}

static bool fetch_integer(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, struct texel *out) {
    int n = dimensions(f->geometry);
    int64_t i[3] = {0, 0, f->geometry == GEOM_A1D || f->geometry == GEOM_A2D ? layer_index(t, f->layer) : 0};
    /* a coordinate out of range reads zero in one dimension (tex1Dfetch()); otherwise it follows the address mode */
    for (int d = 0; d < n; d++)
        i[d] = texel_index((int64_t)f->texel[d] + f->offset[d], tex_extent(t, d),
                           f->geometry == GEOM_1D        ? TEX_BORDER
                           : t->address[d] == TEX_BORDER ? TEX_BORDER
                                                         : TEX_CLAMP);
    return load_tap(t, a, f, i[0], i[1], i[2], out);
}

static bool fetch_level(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, unsigned level,
                        struct texel *out) {
    struct texture at;
    if (level) {
        at = tex_level(t, level);
        t = &at;
    }
    return f->integer ? fetch_integer(t, a, f, out) : fetch_real(t, a, *f, out);
}

bool tex_fetch(const struct texture *t, struct tex_access *a, const struct tex_fetch *f, struct texel *out) {
    float last = t->levels ? (float)(t->levels - 1) : 0.0f;
    /* NaN gives level 0, the level with the largest image */
    float level = f->level > 0 ? (f->level < last ? f->level : last) : 0.0f;
    unsigned first = (unsigned)(t->linear_levels ? level : ceilf(level + 0.5f) - 1.0f);
    float weight = t->linear_levels ? floorf((level - (float)first) * 256.0f + 0.5f) / 256.0f : 0.0f;
    struct texel next;
    if (!fetch_level(t, a, f, first, out))
        return false;
    if (weight == 0.0f || !(tex_is_float(t) || f->compare))
        return true;
    if (!fetch_level(t, a, f, first + 1, &next))
        return false;
    for (int c = 0; c < 4; c++)
        out->c[c] = f32_bits((1.0f - weight) * f32_from_bits(out->c[c]) + weight * f32_from_bits(next.c[c]));
    return true;
}

bool tex_gather(const struct texture *t, struct tex_access *a, const struct tex_fetch *fetch, int c,
                struct texel *out) {
    /* counter-clockwise from below left, as PTX lists them: (0,1) (1,1) (1,0) (0,0) */
    static const unsigned char corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct tex_fetch f = *fetch;
    struct texture cube;
    int64_t slice = choose_slice(&t, &cube, &f);
    struct taps x = taps_of(t, 0, &f, true), y = taps_of(t, 1, &f, true);
    for (int i = 0; i < 4; i++) {
        struct texel one;
        if (!load_tap(t, a, &f, x.index[corner[i][0]], y.index[corner[i][1]], slice, &one))
            return false;
        out->c[i] = one.c[c];
    }
    return true;
}
