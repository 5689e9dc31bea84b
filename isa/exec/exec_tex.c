/* Texture fetches and queries. exec_tex.h describes the operands; tex_sample.h reads texels. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_tex.h"
#include "exec_surf.h"
#include "isa/machine/blend.h"
#include "isa/rows.h"
#include "isa/softfloat.h"
#include "tex_lanes.h"
#include <string.h>

/* Returns the object that a handle names. If there is none, stores a fault in fx and returns NULL. */
static const struct texture *object_at(const struct launch *l, uint64_t handle, int lane, struct effects *fx) {
    uint64_t index = handle - TEXTURE_HANDLE;
    if (index < l->n_textures)
        return &l->textures[index];
    fx_fault_text(fx, FAULT_BAD_TEXTURE, lane, "0x%llx is not the handle of a texture or surface",
                  (unsigned long long)handle);
    return NULL;
}

static uint64_t handle_of(const struct warp *w, opnd_t o, int lane) { return ((const uint64_t *)reg_ptr(w, o))[lane]; }

const struct texture *tex_object(const struct warp *w, const struct inst *in, int lane, struct effects *fx) {
    const struct texture *t = object_at(w->cta->launch, handle_of(w, in->a, lane), lane, fx);
    if (!t)
        return NULL;
    const char *name = t->name ? t->name : "the object";
    if (t->kind == TEXTURE_SAMPLER)
        fx_fault_text(fx, FAULT_BAD_TEXTURE, lane, "%s is a sampler, where a texture or surface is needed", name);
    else if (!t->data)
        fx_fault_text(fx, FAULT_BAD_TEXTURE, lane, "nothing is bound to '%s'", t->name ? t->name : "texture object");
    return fx->fault ? NULL : t;
}

/* Returns the texture with the sampler that in->b names. If there is none, stores a fault in fx and returns NULL. */
static const struct texture *with_sampler(const struct warp *w, const struct inst *in, const struct texture *t,
                                          struct texture *merged, int lane, struct effects *fx) {
    const struct texture *s = object_at(w->cta->launch, handle_of(w, in->b, lane), lane, fx);
    if (!s)
        return NULL;
    *merged = *t;
    memcpy(merged->address, s->address, sizeof s->address);
    merged->linear = s->linear;
    merged->linear_levels = s->linear_levels;
    memcpy(merged->border, s->border, sizeof merged->border);
    if (s->kind != TEXTURE_SAMPLER)
        merged->normalized_coords = s->normalized_coords;
    else if (s->texel_coords)
        merged->normalized_coords = false;
    return merged;
}

void tex_effects(struct effects *fx, const struct texture *t) {
    fx->space = SPACE_TEX;
    fx->n_elems = 1;
    fx->halves.shape = SHAPE_ANY;
    /* a sampler has no texels, so its size is set to 4, a valid size */
    fx->msize = (uint8_t)(t->kind == TEXTURE_SAMPLER ? 4 : tex_texel_bytes(t));
    fx->shared_lanes = fx->local_lanes = 0;
}

void tex_outside(struct effects *fx, int lane, const struct texture *t, uint64_t address) {
    fx->fault = FAULT_OUT_OF_BOUNDS;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_bytes = (uint8_t)tex_texel_bytes(t);
    fx->fault_address = address;
    fx->fault_text = NULL;
    fx->space = SPACE_GLOBAL;
}

/* Returns source i as 32 bits. In the operand list, the sources follow the destinations. */
uint32_t tex_source(const struct warp *w, const struct inst *in, unsigned i, int lane) {
    opnd_t o = w->program->lists[in->list + in->msize + i];
    return ((const uint32_t *)reg_ptr(w, o))[lane];
}

static float source_float(const struct warp *w, const struct inst *in, unsigned i, int lane) {
    uint32_t bits = tex_source(w, in, i, lane);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Reads the operands of one lane, in the order of exec_tex.h. */
static void read_fetch(const struct warp *w, const struct inst *in, const struct isa_row *row, const struct texture *t,
                       int lane, struct tex_fetch *f) {
    unsigned g = form_get(row->form, CAT_GEOM), level = form_get(row->form, CAT_LEVEL), n = tex_dimensions(g), at = 0;
    *f = (struct tex_fetch){.geometry = g, .integer = row->types[1] != T_F32};
    if (tex_has_layer(g))
        f->layer = tex_source(w, in, at++, lane);
    for (unsigned i = 0; i < n; i++, at++)
        if (f->integer)
            f->texel[i] = (int32_t)tex_source(w, in, at, lane);
        else
            f->at[i] = source_float(w, in, at, lane);
    if (level == LEVEL_LEVEL) {
        f->level = f->integer ? (float)(int32_t)tex_source(w, in, at, lane) : source_float(w, in, at, lane);
        at++;
    } else if (level == LEVEL_GRAD) {
        float d[2][3] = {{0, 0, 0}, {0, 0, 0}};
        for (unsigned i = 0; i < 2 * n; i++)
            d[i / n][i % n] = source_float(w, in, at + i, lane);
        f->level = tex_gradient_level(t, f, d[0], d[1]);
        at += 2 * n;
    }
    for (unsigned i = 0; i < n && in->imm & TEX_OFFSET; i++, at++)
        f->offset[i] = (int32_t)(tex_source(w, in, at, lane) << 28) >> 28; /* the offset has four bits: -8 to 7 */
    if (in->imm & TEX_COMPARE) {
        f->compare = true;
        f->reference = source_float(w, in, at, lane);
    }
}

/* Writes the results in the type of the row. For f16, both float and integer texels are converted. */
static void write_texel(const struct warp *w, const struct inst *in, enum type type, bool is_float, int lane,
                        const struct texel *x) {
    uint16_t half[4];
    for (unsigned c = 0; c < 4 && (type == T_F16 || type == T_F16X2); c++)
        half[c] = f16_from_f32(is_float ? f32_from_bits(x->c[c]) : (float)(int32_t)x->c[c], RND_RN);
    for (unsigned c = 0; c < in->msize && c < 4; c++) {
        void *d = reg_ptr(w, w->program->lists[in->list + c]);
        if (type == T_F16)
            ((uint16_t *)d)[lane] = half[c];
        else
            ((uint32_t *)d)[lane] = type == T_F16X2 ? half[2 * c & 3] | (uint32_t)half[(2 * c + 1) & 3] << 16 : x->c[c];
    }
}

/* The type of a function that fetches for one lane. The function returns false if the texel is outside memory. */
typedef bool sample_fn(const struct texture *t, struct tex_access *access, const struct tex_fetch *f,
                       const struct isa_row *row, struct texel *out);

static bool fetch(const struct texture *t, struct tex_access *access, const struct tex_fetch *f,
                  const struct isa_row *row, struct texel *out) {
    (void)row;
    return tex_fetch(t, access, f, out);
}

static bool gather(const struct texture *t, struct tex_access *access, const struct tex_fetch *f,
                   const struct isa_row *row, struct texel *out) {
    unsigned mode = form_get(row->form, CAT_MODE);
    return tex_gather(t, access, f, mode == MODE_R ? 0 : mode == MODE_G ? 1 : mode == MODE_B ? 2 : 3, out);
}

const struct texture *tex_common_object(const struct warp *w, opnd_t o, rowmask_t m) {
    const uint64_t *handle = reg_ptr(w, o);
    const struct launch *l = w->cta->launch;
    const uint64_t first = handle[__builtin_ctz(m)], index = first - TEXTURE_HANDLE;
    uint64_t differ = 0;
    if (!(o & 1)) {
        LANES(i) differ |= m & lane_bit[i] ? handle[i] ^ first : 0;
    }
    return !differ && index < l->n_textures ? &l->textures[index] : NULL;
}

/* Returns the sources of a fetch, in the order of exec_tex.h. */
static struct tex_rows fetch_rows(const struct warp *w, const struct inst *in, unsigned geometry, unsigned level) {
    const unsigned n = tex_dimensions(geometry);
    const opnd_t *o = w->program->lists + in->list + in->msize;
    struct tex_rows r = {.layer = tex_has_layer(geometry) ? reg_ptr(w, *o++) : NULL};
    for (unsigned i = 0; i < n; i++)
        r.at[i] = reg_ptr(w, *o++);
    /* skips the operands of the level, since the texture has only one level */
    o += level == LEVEL_LEVEL ? 1 : level == LEVEL_GRAD ? 2 * n : 0;
    for (unsigned i = 0; i < n && in->imm & TEX_OFFSET; i++)
        r.offset[i] = reg_ptr(w, *o++);
    if (in->imm & TEX_COMPARE)
        r.reference = reg_ptr(w, *o);
    return r;
}

/* Writes the results in the type of the row, as write_texel() does. */
static void write_lanes(const struct warp *w, const struct inst *in, enum type type, bool is_float, unsigned wanted,
                        rowmask_t m, uint32_t c[4][WARP_LANES]) {
    _Alignas(64) uint16_t half[4][WARP_LANES];
    _Alignas(64) uint32_t pair[WARP_LANES];
    for (unsigned k = 0; k < wanted && (type == T_F16 || type == T_F16X2); k++)
        LANES(l) half[k][l] = f16_from_f32(is_float ? f32_from_bits(c[k][l]) : (float)(int32_t)c[k][l], RND_RN);
    for (unsigned k = 0; k < in->msize && k < 4; k++) {
        void *d = reg_ptr(w, w->program->lists[in->list + k]);
        if (type == T_F16) {
            blend_elems(d, half[k], m, WARP_LANES, 2);
        } else if (type == T_F16X2) {
            LANES(l) pair[l] = half[2 * k & 3][l] | (uint32_t)half[(2 * k + 1) & 3][l] << 16;
            blend_elems(d, pair, m, WARP_LANES, 4);
        } else {
            blend_elems(d, c[k], m, WARP_LANES, 4);
        }
    }
}

/* Executes tex for all lanes at once. Returns false, without effects, if the lanes must be executed one by one. */
static bool sample_lanes(struct warp *w, const struct inst *in, const struct isa_row *row, rowmask_t m,
                         struct effects *fx) {
    const unsigned geometry = form_get(row->form, CAT_GEOM);
    const struct texture *t = tex_common_object(w, in->a, m);
    const unsigned results = row->types[0] == T_F16X2 ? 2u * in->msize : in->msize, wanted = results < 4 ? results : 4;
    struct texture merged;
    struct tex_plane plane;
    struct tex_lanes x;
    if (__builtin_popcount(m) <= TEX_FEW_LANES || geometry == GEOM_CUBE || geometry == GEOM_ACUBE || !t ||
        t->kind == TEXTURE_SAMPLER || !t->data || t->levels > 1)
        return false;
    if (in->imm & TEX_SAMPLER) {
        if (!tex_common_object(w, in->b, m))
            return false;
        t = with_sampler(w, in, t, &merged, __builtin_ctz(m), fx);
    }
    if (!tex_plane_find(t, geometry, w->cta->launch->memory, &w->alloc_hint, wanted, &plane))
        return false;
    const bool integer = row->types[1] != T_F32;
    const struct tex_rows from = fetch_rows(w, in, geometry, form_get(row->form, CAT_LEVEL));
    const struct texel border = tex_border(t, integer && geometry == GEOM_1D);
    tex_fetch_lanes(&plane, geometry, integer, &from, &border, &x);
    tex_effects(fx, t);
    _Alignas(64) uint64_t address[WARP_LANES];
    LANES(l) address[l] = t->data + x.first[l];
    blend_elems(fx->addr, address, m, WARP_LANES, 8);
    write_lanes(w, in, (enum type)row->types[0], from.reference || plane.is_float, wanted, m, x.c);
    return true;
}

static void sample(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, sample_fn *one) {
    uint32_t n_rows;
    const struct isa_row *row = &isa_rows(&n_rows)[in->row];
    const rowmask_t all = LANES_ALL;
    if (in->d2 != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d2), &all, m, 0);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct texture *t = tex_object(w, in, l, fx);
        struct tex_access access = {.memory = w->cta->launch->memory, .hint = &w->alloc_hint};
        struct texture merged;
        struct tex_fetch f;
        struct texel x;
        if (t && in->imm & TEX_SAMPLER)
            t = with_sampler(w, in, t, &merged, l, fx);
        if (!t)
            return;
        tex_effects(fx, t);
        read_fetch(w, in, row, t, l, &f);
        if (!one(t, &access, &f, row, &x)) {
            tex_outside(fx, l, t, access.address);
            return;
        }
        fx->addr[l] = access.address ? access.address : t->data;
        write_texel(w, in, row->types[0], f.compare || tex_is_float(t), l, &x);
    }
}

static void exec_tex(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    uint32_t n_rows;
    const struct isa_row *row = &isa_rows(&n_rows)[in->row];
    const rowmask_t all = LANES_ALL;
    if (!sample_lanes(w, in, row, m, fx))
        sample(w, in, m, fx, fetch);
    else if (in->d2 != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d2), &all, m, 0);
}

static void exec_tld4(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    sample(w, in, m, fx, gather);
}

/* These functions compute the results of txq and suq. A channel type or channel order is returned as its number in
 * OpenCL; an address or filter mode is returned as its number in a .samplerref of PTX. */
static uint32_t channel_type(const struct texture *t) {
    static const uint32_t plain[] = {[TEX_U8] = 0x10da,  [TEX_S8] = 0x10d7,  [TEX_U16] = 0x10db, [TEX_S16] = 0x10d8,
                                     [TEX_U32] = 0x10dc, [TEX_S32] = 0x10d9, [TEX_F16] = 0x10dd, [TEX_F32] = 0x10de};
    static const uint32_t normalized[] = {[TEX_U8] = 0x10d2, [TEX_S8] = 0x10d0, [TEX_U16] = 0x10d3, [TEX_S16] = 0x10d1};
    return t->normalized_read && t->format <= TEX_S16 ? normalized[t->format] : plain[t->format];
}

static uint32_t address_number(enum texture_address a) {
    return a == TEX_WRAP ? 0 : a == TEX_MIRROR ? 1 : a == TEX_CLAMP ? 3 : 4;
}

static uint32_t query(const struct texture *t, unsigned what) {
    switch (what) {
    case MODE_WIDTH:
        return t->width;
    case MODE_HEIGHT:
        return t->height;
    case MODE_DEPTH:
        return t->depth;
    case MODE_ARRAY_SIZE:
        return t->layers;
    case MODE_CHANNEL_DATA_TYPE:
        return channel_type(t);
    case MODE_CHANNEL_ORDER:
        return t->channels == 1 ? 0x10b0 : t->channels == 2 ? 0x10b2 : 0x10b5;
    case MODE_NORMALIZED_COORDS:
        return t->normalized_coords;
    case MODE_FORCE_UNNORMALIZED:
        return t->kind == TEXTURE_SAMPLER ? t->texel_coords : !t->normalized_coords;
    case MODE_FILTER_MODE:
        return t->linear;
    case MODE_ADDR_MODE_0:
        return address_number(t->address[0]);
    case MODE_ADDR_MODE_1:
        return address_number(t->address[1]);
    case MODE_ADDR_MODE_2:
        return address_number(t->address[2]);
    case MODE_NUM_MIPMAP_LEVELS:
        return t->levels ? t->levels : 1;
    case MODE_NUM_SAMPLES:
        return 1;
    default:
        return 0; /* the result of a query of memory_layout: pitch linear */
    }
}

static bool asks_sampler(unsigned what) {
    return what == MODE_FORCE_UNNORMALIZED || (what >= MODE_FILTER_MODE && what <= MODE_ADDR_MODE_2);
}

static void exec_query(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    uint32_t n_rows;
    const struct isa_row *row = &isa_rows(&n_rows)[in->row];
    unsigned what = form_get(row->form, CAT_MODE);
    uint32_t *d = reg_ptr(w, w->program->lists[in->list]);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct texture *t =
            asks_sampler(what) ? object_at(w->cta->launch, handle_of(w, in->a, l), l, fx) : tex_object(w, in, l, fx);
        if (!t)
            return;
        tex_effects(fx, t);
        fx->addr[l] = t->data;
        if (form_get(row->form, CAT_LEVEL) == LEVEL_LEVEL) {
            uint32_t level = tex_source(w, in, 0, l);
            struct texture at = tex_level(t, level < t->levels ? level : t->levels ? t->levels - 1u : 0);
            d[l] = query(&at, what);
        } else {
            d[l] = query(t, what);
        }
    }
}

/* Executes istypep. The result is false for a handle that names no object. */
static void exec_istypep(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    static const uint8_t kinds[] = {
        [MODE2_TEXREF] = TEXTURE_TEXTURE, [MODE2_SAMPLERREF] = TEXTURE_SAMPLER, [MODE2_SURFREF] = TEXTURE_SURFACE};
    uint32_t n_rows;
    uint8_t kind = kinds[form_get(isa_rows(&n_rows)[in->row].form, CAT_MODE2)];
    const struct launch *l = w->cta->launch;
    rowmask_t is = 0;
    (void)fx;
    for (rowmask_t left = m; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint64_t index = handle_of(w, in->a, lane) - TEXTURE_HANDLE;
        if (index < l->n_textures && l->textures[index].kind == kind)
            is |= 1u << lane;
    }
    blend_lanes(reg_ptr(w, in->d), &is, m, 0);
}

#define TEX_ROW(geometry, level, D, C)                                                                                 \
    WARP_FN(TEX, T2(D, C), FORM(GEOM, geometry) | FORM(LEVEL, level), TEX, MEM, NO_OPDS, exec_tex)
#define TEX_LEVEL_ROWS(geometry, level, C)                                                                             \
    TEX_ROW(geometry, level, F32, C)                                                                                   \
    TEX_ROW(geometry, level, S32, C)                                                                                   \
    TEX_ROW(geometry, level, U32, C)                                                                                   \
    TEX_ROW(geometry, level, F16, C)                                                                                   \
    TEX_ROW(geometry, level, F16X2, C)
#define TEX_ROWS(geometry, C)                                                                                          \
    TEX_LEVEL_ROWS(geometry, NONE, C)                                                                                  \
    TEX_LEVEL_ROWS(geometry, BASE, C)                                                                                  \
    TEX_LEVEL_ROWS(geometry, LEVEL, C)
#define TEX_GRAD_ROWS(geometry) TEX_LEVEL_ROWS(geometry, GRAD, F32)
#define TLD4_ROW(channel, geometry, D)                                                                                 \
    WARP_FN(TLD4, T2(D, F32), FORM(MODE, channel) | FORM(GEOM, geometry), TEX, MEM, NO_OPDS, exec_tld4)
#define TLD4_GEOMETRY(channel, geometry)                                                                               \
    TLD4_ROW(channel, geometry, F32) TLD4_ROW(channel, geometry, S32) TLD4_ROW(channel, geometry, U32)
#define TLD4_ROWS(channel)                                                                                             \
    TLD4_GEOMETRY(channel, 2D)                                                                                         \
    TLD4_GEOMETRY(channel, A2D) TLD4_GEOMETRY(channel, CUBE) TLD4_GEOMETRY(channel, ACUBE)
#define TXQ_ROW(what)       WARP_FN(TXQ, T1(B32), FORM(MODE, what), TEX, MEM, NO_OPDS, exec_query)
#define TXQ_LEVEL_ROW(what) WARP_FN(TXQ, T1(B32), FORM(MODE, what) | FORM(LEVEL, LEVEL), TEX, MEM, NO_OPDS, exec_query)
#define SUQ_ROW(what)       WARP_FN(SUQ, T1(B32), FORM(MODE, what), TEX, MEM, NO_OPDS, exec_query)
#define ISTYPEP_ROW(kind)                                                                                              \
    WARP_FN(ISTYPEP, T0, FORM(MODE2, kind), WARP, INT_OTHER, OPDS(PRED, NONE, U64, NONE, NONE, NONE), exec_istypep)

#define ROWS_FILE "isa/exec/exec_tex.c"
#define ROWS_NAME tex
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Texture fetches and queries. */
TEX_ROWS(1D, F32)
TEX_ROWS(1D, S32)
TEX_ROWS(2D, F32)
TEX_ROWS(2D, S32)
TEX_ROWS(3D, F32)
TEX_ROWS(3D, S32)
TEX_ROWS(A1D, F32)
TEX_ROWS(A1D, S32)
TEX_ROWS(A2D, F32)
TEX_ROWS(A2D, S32)
TEX_ROWS(CUBE, F32)
TEX_ROWS(ACUBE, F32)
TEX_GRAD_ROWS(1D)
TEX_GRAD_ROWS(2D)
TEX_GRAD_ROWS(3D)
TEX_GRAD_ROWS(A1D)
TEX_GRAD_ROWS(A2D)
TEX_GRAD_ROWS(CUBE)
TEX_GRAD_ROWS(ACUBE)
TLD4_ROWS(R)
TLD4_ROWS(G)
TLD4_ROWS(B)
TLD4_ROWS(A)
TXQ_ROW(WIDTH)
TXQ_ROW(HEIGHT)
TXQ_ROW(DEPTH)
TXQ_ROW(ARRAY_SIZE)
TXQ_ROW(CHANNEL_DATA_TYPE)
TXQ_ROW(CHANNEL_ORDER)
TXQ_ROW(NORMALIZED_COORDS)
TXQ_ROW(FORCE_UNNORMALIZED)
TXQ_ROW(NUM_MIPMAP_LEVELS)
TXQ_ROW(NUM_SAMPLES)
TXQ_ROW(FILTER_MODE)
TXQ_ROW(ADDR_MODE_0)
TXQ_ROW(ADDR_MODE_1)
TXQ_ROW(ADDR_MODE_2)
TXQ_LEVEL_ROW(WIDTH)
TXQ_LEVEL_ROW(HEIGHT)
TXQ_LEVEL_ROW(DEPTH)
SUQ_ROW(WIDTH)
SUQ_ROW(HEIGHT)
SUQ_ROW(DEPTH)
SUQ_ROW(ARRAY_SIZE)
SUQ_ROW(CHANNEL_DATA_TYPE)
SUQ_ROW(CHANNEL_ORDER)
SUQ_ROW(MEMORY_LAYOUT)
ISTYPEP_ROW(TEXREF)
ISTYPEP_ROW(SAMPLERREF)
ISTYPEP_ROW(SURFREF)
/* clang-format on */
#endif
