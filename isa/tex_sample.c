#include "tex_sample.h"
#include "softfloat.h"
#include <math.h>

enum { OUTSIDE = -1 };
static const float COORDINATE_MAX = 0x1p30f; /* beyond it all address modes have long decided */

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

/* The largest value of an integer format: what 1.0 is in normalised reads. */
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

/* An integer brought into the range of the format. */
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
        x = x > low ? x : low; /* NaN too */
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

/* Wrapping and mirroring exist for normalised coordinates only. */
static enum texture_address address_mode(const struct texture *t, int dimension) {
    enum texture_address m = t->address[dimension];
    return (m == TEX_WRAP || m == TEX_MIRROR) && !t->normalized_coords ? TEX_CLAMP : m;
}

/* The texel that stands at index i of n; OUTSIDE for the border. */
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

/* A coordinate in texels. */
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

/* Along one dimension: the two texels of a linear filter and the weight of the second, of eight fractional bits as in
 * the guide ("9-bit fixed point format with 8 bits of fractional value"), rounded to nearest. Without filter the first
 * is the texel and the weight 0. */
struct taps {
    int64_t index[2];
    float weight;
};

static struct taps taps_of(const struct texture *t, int dimension, float x, bool linear) {
    int64_t n = tex_extent(t, dimension);
    enum texture_address mode = address_mode(t, dimension);
    x = in_texels(t, dimension, x);
    float from = linear ? x - 0.5f : x, whole = floorf(from);
    struct taps p = {.weight = linear ? floorf((from - whole) * 256.0f + 0.5f) / 256.0f : 0.0f};
    p.index[0] = texel_index((int64_t)whole, n, mode);
    p.index[1] = texel_index((int64_t)whole + 1, n, mode);
    return p;
}

/* A texel of a filter; the border is zero. */
static bool load_tap(const struct texture *t, struct tex_access *a, int64_t x, int64_t y, int64_t z,
                     struct texel *out) {
    if (x < 0 || y < 0 || z < 0) {
        *out = (struct texel){{0, 0, 0, 0}};
        return true;
    }
    return tex_load(t, a, (uint32_t)x, (uint32_t)y, (uint32_t)z, out);
}

static int dimensions(unsigned geometry) {
    return geometry == GEOM_1D || geometry == GEOM_A1D ? 1 : geometry == GEOM_3D ? 3 : 2;
}

static uint32_t layer_index(const struct texture *t, uint32_t layer) {
    uint32_t n = t->layers ? t->layers : 1;
    return layer < n ? layer : n - 1;
}

/* The mean of up to 8 texels. */
static bool mix(const struct texture *t, struct tex_access *a, const struct taps p[3], int64_t slice, int n_dims,
                struct texel *out) {
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
        if (!load_tap(t, a, at[0], at[1], at[2], &x))
            return false;
        for (int c = 0; c < 4; c++)
            sum[c] += w * f32_from_bits(x.c[c]);
    }
    for (int c = 0; c < 4; c++)
        out->c[c] = f32_bits(sum[c]);
    return true;
}

/* The face of a cube map that a direction meets, and where: CUDA programming guide, "Cubemap Textures". */
static uint32_t cube_face(const float d[3], float at[2]) {
    float ax = fabsf(d[0]), ay = fabsf(d[1]), az = fabsf(d[2]), m, s, t;
    uint32_t face;
    if (ax >= ay && ax >= az) {
        face = d[0] >= 0 ? 0 : 1;
        m = ax;
        s = d[0] >= 0 ? -d[2] : d[2];
        t = -d[1];
    } else if (ay >= az) {
        face = d[1] >= 0 ? 2 : 3;
        m = ay;
        s = d[0];
        t = d[1] >= 0 ? d[2] : -d[2];
    } else {
        face = d[2] >= 0 ? 4 : 5;
        m = az;
        s = d[2] >= 0 ? d[0] : -d[0];
        t = -d[1];
    }
    at[0] = m > 0 ? (s / m + 1.0f) / 2.0f : 0.5f;
    at[1] = m > 0 ? (t / m + 1.0f) / 2.0f : 0.5f;
    return face;
}

bool tex_fetch(const struct texture *t, struct tex_access *a, unsigned geometry, const float at[3], uint32_t layer,
               struct texel *out) {
    bool linear = t->linear && tex_is_float(t);
    bool layered = geometry == GEOM_A1D || geometry == GEOM_A2D || geometry == GEOM_ACUBE;
    int64_t slice = layered ? layer_index(t, layer) : 0;
    float face_at[2];
    struct texture cube;
    if (geometry == GEOM_CUBE || geometry == GEOM_ACUBE) {
        slice = 6 * slice + cube_face(at, face_at);
        at = face_at;
        cube = *t; /* a direction is normalised, whatever the object says, and ends at the edges of its face */
        cube.normalized_coords = true;
        cube.address[0] = cube.address[1] = TEX_CLAMP;
        t = &cube;
    }
    int n = dimensions(geometry);
    struct taps p[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
    for (int d = 0; d < n; d++)
        p[d] = taps_of(t, d, at[d], linear);
    if (linear)
        return mix(t, a, p, slice, n, out);
    return load_tap(t, a, p[0].index[0], p[1].index[0], n == 3 ? p[2].index[0] : slice, out);
}

bool tex_fetch_integer(const struct texture *t, struct tex_access *a, unsigned geometry, const int32_t at[3],
                       uint32_t layer, struct texel *out) {
    int n = dimensions(geometry);
    int64_t i[3] = {0, 0, geometry == GEOM_A1D || geometry == GEOM_A2D ? layer_index(t, layer) : 0};
    for (int d = 0; d < n; d++) /* out of range reads zero in one dimension (tex1Dfetch), else as the mode says */
        i[d] = texel_index(at[d], tex_extent(t, d),
                           geometry == GEOM_1D           ? TEX_BORDER
                           : t->address[d] == TEX_BORDER ? TEX_BORDER
                                                         : TEX_CLAMP);
    return load_tap(t, a, i[0], i[1], i[2], out);
}

bool tex_gather(const struct texture *t, struct tex_access *a, const float at[2], int c, struct texel *out) {
    /* counter-clockwise from below left, as PTX lists them: (0,1) (1,1) (1,0) (0,0) */
    static const unsigned char corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct taps x = taps_of(t, 0, at[0], true), y = taps_of(t, 1, at[1], true);
    for (int i = 0; i < 4; i++) {
        struct texel one;
        if (!load_tap(t, a, x.index[corner[i][0]], y.index[corner[i][1]], 0, &one))
            return false;
        out->c[i] = one.c[c];
    }
    return true;
}
