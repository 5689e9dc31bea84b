/* Texture fetches and queries. Operands: exec_tex.h; what a texel is: tex_sample.h. */
#include "exec_tex.h"
#include "exec_surf.h"
#include "rows.h"
#include "tex_sample.h"

const struct texture *tex_object(const struct warp *w, const struct inst *in, int lane, struct effects *fx) {
    const struct launch *l = w->cta->launch;
    uint64_t handle = ((const uint64_t *)reg_ptr(w, in->a))[lane], index = handle - TEXTURE_HANDLE;
    const struct texture *t = index < l->n_textures ? &l->textures[index] : NULL;
    if (!t)
        fx_fault_text(fx, FAULT_BAD_TEXTURE, lane, "0x%llx is not the handle of a texture or surface",
                      (unsigned long long)handle);
    else if (!t->data)
        fx_fault_text(fx, FAULT_BAD_TEXTURE, lane, "nothing is bound to '%s'", t->name ? t->name : "texture object");
    return fx->fault ? NULL : t;
}

void tex_effects(struct effects *fx, const struct texture *t) {
    fx->space = SPACE_TEX;
    fx->n_elems = 1;
    fx->msize = (uint8_t)tex_texel_bytes(t);
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

/* Source i behind the destinations, as 32 bits. */
uint32_t tex_source(const struct warp *w, const struct inst *in, unsigned i, int lane) {
    opnd_t o = w->program->lists[in->list + in->msize + i];
    return ((const uint32_t *)reg_ptr(w, o))[lane];
}

static bool has_layer(unsigned geometry) {
    return geometry == GEOM_A1D || geometry == GEOM_A2D || geometry == GEOM_ACUBE;
}

/* One lane's fetch. False: the texel is outside memory. */
static bool fetch(const struct warp *w, const struct inst *in, const struct isa_row *row, const struct texture *t,
                  struct tex_access *access, int lane, struct texel *out) {
    unsigned geometry = form_get(row->form, CAT_GEOM), n = tex_coordinates(geometry), first = has_layer(geometry);
    uint32_t layer = first ? tex_source(w, in, 0, lane) : 0, at[3] = {0, 0, 0};
    for (unsigned i = first; i < n; i++)
        at[i - first] = tex_source(w, in, i, lane);
    if (row->types[1] == T_F32) {
        float x[3];
        memcpy(x, at, sizeof x);
        return tex_fetch(t, access, geometry, x, layer, out);
    }
    int32_t x[3];
    memcpy(x, at, sizeof x);
    return tex_fetch_integer(t, access, geometry, x, layer, out);
}

static bool gather(const struct warp *w, const struct inst *in, const struct isa_row *row, const struct texture *t,
                   struct tex_access *access, int lane, struct texel *out) {
    unsigned mode = form_get(row->form, CAT_MODE);
    int channel = mode == MODE_R ? 0 : mode == MODE_G ? 1 : mode == MODE_B ? 2 : 3;
    float at[2];
    for (unsigned i = 0; i < 2; i++) {
        uint32_t bits = tex_source(w, in, i, lane);
        memcpy(&at[i], &bits, sizeof bits);
    }
    return tex_gather(t, access, at, channel, out);
}

typedef bool sample_fn(const struct warp *w, const struct inst *in, const struct isa_row *row, const struct texture *t,
                       struct tex_access *access, int lane, struct texel *out);

static void sample(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx, sample_fn *one) {
    uint32_t n_rows;
    const struct isa_row *row = &isa_rows(&n_rows)[in->row];
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct texture *t = tex_object(w, in, l, fx);
        struct tex_access access = {.memory = w->cta->launch->memory, .hint = &w->alloc_hint};
        struct texel x;
        if (!t)
            return;
        tex_effects(fx, t);
        if (!one(w, in, row, t, &access, l, &x)) {
            tex_outside(fx, l, t, access.address);
            return;
        }
        fx->addr[l] = access.address ? access.address : t->data;
        for (unsigned c = 0; c < in->msize && c < 4; c++)
            ((uint32_t *)reg_ptr(w, w->program->lists[in->list + c]))[l] = x.c[c];
    }
}

static void exec_tex(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    sample(w, in, m, fx, fetch);
}

static void exec_tld4(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    sample(w, in, m, fx, gather);
}

/* Channel types and orders have OpenCL's numbers, address and filter modes those of PTX's .samplerref fields. */
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
        return !t->normalized_coords;
    case MODE_FILTER_MODE:
        return t->linear;
    case MODE_ADDR_MODE_0:
        return address_number(t->address[0]);
    case MODE_ADDR_MODE_1:
        return address_number(t->address[1]);
    case MODE_ADDR_MODE_2:
        return address_number(t->address[2]);
    case MODE_NUM_MIPMAP_LEVELS:
    case MODE_NUM_SAMPLES:
        return 1;
    default:
        return 0; /* memory_layout: pitch linear */
    }
}

static void exec_query(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    uint32_t n_rows;
    const struct isa_row *row = &isa_rows(&n_rows)[in->row];
    uint32_t *d = reg_ptr(w, w->program->lists[in->list]);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct texture *t = tex_object(w, in, l, fx);
        if (!t)
            return;
        tex_effects(fx, t);
        fx->addr[l] = t->data;
        d[l] = query(t, form_get(row->form, CAT_MODE));
    }
}

#define TEX_ROW(geometry, level, D, C)                                                                                 \
    WARP_FN(TEX, T2(D, C), FORM(GEOM, geometry) | FORM(LEVEL, level), TEX, MEM, NO_OPDS, exec_tex)
#define TEX_ROWS(geometry, C)                                                                                          \
    TEX_ROW(geometry, NONE, F32, C)                                                                                    \
    TEX_ROW(geometry, NONE, S32, C)                                                                                    \
    TEX_ROW(geometry, NONE, U32, C)                                                                                    \
    TEX_ROW(geometry, BASE, F32, C)                                                                                    \
    TEX_ROW(geometry, BASE, S32, C)                                                                                    \
    TEX_ROW(geometry, BASE, U32, C)                                                                                    \
    TEX_ROW(geometry, LEVEL, F32, C)                                                                                   \
    TEX_ROW(geometry, LEVEL, S32, C)                                                                                   \
    TEX_ROW(geometry, LEVEL, U32, C)
#define TLD4_ROWS(channel)                                                                                             \
    WARP_FN(TLD4, T2(F32, F32), FORM(MODE, channel) | FORM(GEOM, 2D), TEX, MEM, NO_OPDS, exec_tld4)                    \
    WARP_FN(TLD4, T2(S32, F32), FORM(MODE, channel) | FORM(GEOM, 2D), TEX, MEM, NO_OPDS, exec_tld4)                    \
    WARP_FN(TLD4, T2(U32, F32), FORM(MODE, channel) | FORM(GEOM, 2D), TEX, MEM, NO_OPDS, exec_tld4)
#define TXQ_ROW(what) WARP_FN(TXQ, T1(B32), FORM(MODE, what), TEX, MEM, NO_OPDS, exec_query)
#define SUQ_ROW(what) WARP_FN(SUQ, T1(B32), FORM(MODE, what), TEX, MEM, NO_OPDS, exec_query)

#define ROWS_FILE "exec_tex.def"
#define ROWS_NAME tex
#include "rows_expand.h"
