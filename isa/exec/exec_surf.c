/* Surface loads, stores and reductions (PTX ISA 9.7.10). .b: x counts bytes, and data is not converted. .p: x counts
 * texels, and data is converted to the surface's format. Lanes execute in ascending order. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_surf.h"
#include "exec_tex.h"
#include "isa/machine/blend.h"
#include "tex_lanes.h"

/* SURF_NOTHING: the access is out of range, and its modifier is .zero. So a load returns 0, and a store does
 * nothing. */
enum outcome { SURF_INSIDE, SURF_NOTHING, SURF_FAULT };

struct surf_access {
    const struct texture *t;
    uint32_t x, y, z; /* x is in bytes for .b and in texels for .p */
    unsigned char *host;
    uint64_t address;
};

/* Brings a coordinate into [0, n - width]. A coordinate out of range is clamped (.clamp), suppresses the access
 * (.zero), or stops the kernel (.trap). If the surface is smaller than the access, .clamp suppresses the access,
 * too. */
static enum outcome bring_inside(uint32_t *x, uint32_t n, uint32_t width, unsigned clamp) {
    uint32_t last = n >= width ? n - width : 0;
    if (n >= width && *x <= last)
        return SURF_INSIDE;
    if (clamp == MODE2_CLAMP) {
        *x = (int32_t)*x < 0 ? 0 : last / width * width;
        return n >= width ? SURF_INSIDE : SURF_NOTHING;
    }
    return clamp == MODE2_ZERO ? SURF_NOTHING : SURF_FAULT;
}

/* Reads the coordinates as written: in arrays, the layer is first. */
static void coordinates(const struct warp *w, const struct inst *in, unsigned geometry, int lane,
                        struct surf_access *s) {
    unsigned first = geometry == GEOM_A1D || geometry == GEOM_A2D;
    s->x = tex_source(w, in, first, lane);
    s->y = geometry == GEOM_1D || geometry == GEOM_A1D ? 0 : tex_source(w, in, first + 1, lane);
    s->z = first ? tex_source(w, in, 0, lane) : geometry == GEOM_3D ? tex_source(w, in, 2, lane) : 0;
}

/* Finds the address of a lane's access to `bytes` bytes (.b) or to one texel (.p). On a fault, fills fx. */
static enum outcome locate(struct warp *w, const struct inst *in, const struct isa_row *row, int lane, unsigned bytes,
                           struct effects *fx, struct surf_access *s) {
    unsigned geometry = form_get(row->form, CAT_GEOM), clamp = form_get(row->form, CAT_MODE2);
    bool by_byte = form_get(row->form, CAT_MODE) == MODE_B;
    s->t = tex_object(w, in, lane, fx);
    if (!s->t)
        return SURF_FAULT;
    tex_effects(fx, s->t);
    coordinates(w, in, geometry, lane, s);
    unsigned texel = tex_texel_bytes(s->t), width = by_byte ? bytes : 1;
    uint32_t extent = s->t->width * (by_byte ? texel : 1), layers = s->t->layers ? s->t->layers : 1;
    bool layered = geometry == GEOM_A1D || geometry == GEOM_A2D;
    enum outcome o[3] = {bring_inside(&s->x, extent, width, clamp), bring_inside(&s->y, tex_extent(s->t, 1), 1, clamp),
                         bring_inside(&s->z, layered ? layers : tex_extent(s->t, 2), 1, clamp)};
    for (int d = 0; d < 3; d++) {
        if (o[d] == SURF_FAULT)
            fx_fault_text(fx, FAULT_OUT_OF_BOUNDS, lane,
                          "surface access outside %u x %u x %u texels of %u bytes at (%d, %d, %d)", s->t->width,
                          tex_extent(s->t, 1), layered ? layers : tex_extent(s->t, 2), texel, (int32_t)s->x,
                          (int32_t)s->y, (int32_t)s->z);
        if (o[d] != SURF_INSIDE)
            return o[d];
    }
    if (by_byte && s->x % bytes) {
        fx_fault_text(fx, FAULT_MISALIGNED, lane, "surface access of %u bytes at byte %u", bytes, s->x);
        return SURF_FAULT;
    }
    s->address = by_byte ? tex_address(s->t, 0, s->y, s->z) + s->x : tex_address(s->t, s->x, s->y, s->z);
    unsigned size = by_byte ? bytes : texel;
    const struct allocation *a = mem_find(w->cta->launch->memory, s->address, size, &w->alloc_hint);
    fx->addr[lane] = s->address;
    if (!a) {
        tex_outside(fx, lane, s->t, s->address);
        return SURF_FAULT;
    }
    s->host = a->host + (s->address - a->begin);
    return SURF_INSIDE;
}

/* ---- execution of all lanes at once ---- */

/* The accesses of a warp to one surface. */
struct surf_lanes {
    struct tex_plane plane;
    rowmask_t inside; /* a lane that is not in `inside` loads 0 and stores nothing */
    _Alignas(64) uint32_t x[WARP_LANES], y[WARP_LANES], z[WARP_LANES]; /* as in struct surf_access */
    _Alignas(64) uint32_t at[WARP_LANES];                              /* offsets from texel 0 */
};

/* Calls bring_inside() for all lanes. Removes lanes that access nothing from `inside`. Returns false if a lane of `m`
 * faults. */
static inline bool bring_all_inside(uint32_t *x, uint32_t n, uint32_t width, unsigned clamp, rowmask_t m,
                                    rowmask_t *inside) {
    const uint32_t last = n >= width ? n - width : 0, end = last / width * width;
    uint32_t beyond = 0;
    if (n < width && clamp != MODE2_TRAP) {
        *inside = 0;
        return true;
    }
    LANES(l) beyond |= x[l] > last || n < width ? lane_bit[l] : 0;
    if (clamp == MODE2_CLAMP)
        LANES(l) x[l] = x[l] <= last ? x[l] : (int32_t)x[l] < 0 ? 0 : end;
    if (clamp == MODE2_ZERO)
        *inside &= ~beyond;
    return clamp != MODE2_TRAP || !(beyond & m);
}

/* Calls locate() for all lanes of `m`. Returns false, without effects, if the lanes must be executed one by one, for
 * example because a lane faults or the lanes use several surfaces. */
static bool locate_lanes(struct warp *w, const struct inst *in, const struct isa_row *row, rowmask_t m, unsigned bytes,
                         struct effects *fx, struct surf_lanes *s) {
    const unsigned geometry = form_get(row->form, CAT_GEOM), clamp = form_get(row->form, CAT_MODE2);
    const bool by_byte = form_get(row->form, CAT_MODE) == MODE_B;
    const bool layered = geometry == GEOM_A1D || geometry == GEOM_A2D;
    const bool has_y = geometry != GEOM_1D && geometry != GEOM_A1D;
    const struct texture *t = tex_common_object(w, in->a, m);
    if (!t || t->kind == TEXTURE_SAMPLER || !t->data || __builtin_popcount(m) <= TEX_FEW_LANES ||
        !tex_plane_find(t, geometry, w->cta->launch->memory, &w->alloc_hint, 4, &s->plane))
        return false;
    const opnd_t *o = w->program->lists + in->list + in->msize;
    const uint32_t size = by_byte ? bytes : s->plane.bytes, width = by_byte ? bytes : 1,
                   extent = t->width * (by_byte ? s->plane.bytes : 1);
    memset(s->y, 0, sizeof s->y);
    memset(s->z, 0, sizeof s->z);
    memcpy(s->x, reg_ptr(w, o[layered]), sizeof s->x);
    if (has_y)
        memcpy(s->y, reg_ptr(w, o[layered + 1]), sizeof s->y);
    if (layered || geometry == GEOM_3D)
        memcpy(s->z, reg_ptr(w, o[layered ? 0 : 2]), sizeof s->z);
    s->inside = m;
    if (!bring_all_inside(s->x, extent, width, clamp, m, &s->inside) ||
        !bring_all_inside(s->y, tex_extent(t, 1), 1, clamp, m, &s->inside) ||
        !bring_all_inside(s->z, layered ? tex_slices(t, geometry) : tex_extent(t, 2), 1, clamp, m, &s->inside))
        return false;
    uint32_t wrong = 0;
    const uint32_t scale = by_byte ? 1 : s->plane.bytes, pitch = (uint32_t)t->pitch, slice = (uint32_t)t->slice;
    _Alignas(64) uint64_t address[WARP_LANES];
    LANES(l) {
        const uint32_t there = s->inside & lane_bit[l] ? 0xffffffffu : 0;
        wrong |= there & (by_byte ? s->x[l] & (size - 1) : 0);
        s->at[l] = there & (s->z[l] * slice + s->y[l] * pitch + s->x[l] * scale);
        address[l] = t->data + s->at[l];
    }
    if (wrong)
        return false;
    tex_effects(fx, t);
    blend_elems(fx->addr, address, s->inside, WARP_LANES, 8);
    return true;
}

/* Sets *one to the access of one lane, and returns its outcome. */
static enum outcome lane_of(const struct surf_lanes *s, int lane, struct surf_access *one) {
    *one = (struct surf_access){.t = s->plane.t,
                                .x = s->x[lane],
                                .y = s->y[lane],
                                .z = s->z[lane],
                                .host = (unsigned char *)(uintptr_t)s->plane.host + s->at[lane],
                                .address = s->plane.t->data + s->at[lane]};
    return s->inside >> lane & 1 ? SURF_INSIDE : SURF_NOTHING;
}

/* Loads element `e`, of `bytes` bytes, of all lanes to registers of `rsize` bytes. */
static void load_elem(const struct surf_lanes *s, unsigned e, unsigned bytes, void *d, unsigned rsize, rowmask_t m) {
    _Alignas(64) unsigned char out[WARP_LANES * sizeof(uint64_t)];
    const unsigned char *host = s->plane.host + e * bytes;
    if (bytes == 4 && rsize == 4 && s->inside) { /* some lane is inside, so the surface has at least one element */
        _Alignas(64) uint32_t word[WARP_LANES];
        vec_gather_lanes(word, host, s->at);
        LANES(l) word[l] = s->inside & lane_bit[l] ? word[l] : 0;
        blend_elems(d, word, m, WARP_LANES, 4);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t v = 0;
        if (s->inside >> l & 1)
            memcpy(&v, host + s->at[l], bytes);
        memcpy(out + l * rsize, &v, rsize);
    }
    blend_lanes(d, out, m, rsize);
}

/* Executes suld for all lanes. */
static void load_lanes(const struct warp *w, const struct inst *in, const struct surf_lanes *s, bool by_byte,
                       unsigned bytes, rowmask_t m) {
    _Alignas(64) uint32_t c[4][WARP_LANES];
    if (!by_byte)
        tex_texels(&s->plane, s->at, c);
    for (unsigned e = 0; e < in->msize; e++) {
        void *d = reg_ptr(w, w->program->lists[in->list + e]);
        if (by_byte) {
            load_elem(s, e, bytes, d, in->rsize, m);
        } else {
            LANES(l) c[e & 3][l] = s->inside & lane_bit[l] ? c[e & 3][l] : 0;
            blend_elems(d, c[e & 3], m, WARP_LANES, 4);
        }
    }
}

/* ---- instructions ---- */

static unsigned char *elem(const struct warp *w, const struct inst *in, unsigned i, int lane) {
    return (unsigned char *)reg_ptr(w, w->program->lists[in->list + i]) + (unsigned)lane * in->rsize;
}

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

static void exec_suld(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct isa_row *row = row_of(in);
    unsigned bytes = type_bytes(row->types[0]), n = in->msize;
    bool by_byte = form_get(row->form, CAT_MODE) == MODE_B;
    struct surf_lanes all;
    if ((by_byte || in->rsize == 4) && locate_lanes(w, in, row, m, bytes * n, fx, &all)) {
        load_lanes(w, in, &all, by_byte, bytes, m);
        return;
    }
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct surf_access s;
        struct texel x = {{0, 0, 0, 0}};
        enum outcome o = locate(w, in, row, l, bytes * n, fx, &s);
        if (o == SURF_FAULT)
            return;
        struct tex_access a = {.memory = w->cta->launch->memory, .hint = &w->alloc_hint};
        if (!by_byte && o == SURF_INSIDE)
            tex_load(s.t, &a, s.x, s.y, s.z, &x);
        for (unsigned e = 0; e < n; e++) {
            unsigned char *d = elem(w, in, e, l);
            memset(d, 0, in->rsize);
            if (!by_byte)
                memcpy(d, &x.c[e & 3], sizeof x.c[0]);
            else if (o == SURF_INSIDE)
                memcpy(d, s.host + e * bytes, bytes);
        }
    }
}

static void exec_sust(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct isa_row *row = row_of(in);
    unsigned bytes = type_bytes(row->types[0]), first = tex_coordinates(form_get(row->form, CAT_GEOM));
    unsigned n = in->n_list - first;
    bool by_byte = form_get(row->form, CAT_MODE) == MODE_B;
    struct surf_lanes all;
    const bool together = locate_lanes(w, in, row, m, bytes * n, fx, &all);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct surf_access s;
        struct texel x = {{0, 0, 0, 0}};
        enum outcome o = together ? lane_of(&all, l, &s) : locate(w, in, row, l, bytes * n, fx, &s);
        if (o == SURF_FAULT)
            return;
        if (o == SURF_NOTHING)
            continue;
        for (unsigned e = 0; e < n; e++) {
            const unsigned char *from = elem(w, in, first + e, l);
            if (by_byte)
                memcpy(s.host + e * bytes, from, bytes);
            else
                memcpy(&x.c[e & 3], from, sizeof x.c[0]);
        }
        struct tex_access a = {.memory = w->cta->launch->memory, .hint = &w->alloc_hint};
        bool from_float = row->types[0] == T_F32 || (row->types[0] == T_B32 && tex_is_float(s.t));
        if (!by_byte)
            tex_store(s.t, &a, s.x, s.y, s.z, &x, n, from_float);
    }
}

static uint64_t reduced(unsigned opn, bool is_signed, uint64_t x, uint64_t v) {
    switch (opn) {
    case OPN_ADD:
        return x + v;
    case OPN_MIN:
        return (is_signed ? (int64_t)x < (int64_t)v : x < v) ? x : v;
    case OPN_MAX:
        return (is_signed ? (int64_t)x > (int64_t)v : x > v) ? x : v;
    case OPN_AND:
        return x & v;
    default:
        return x | v;
    }
}

static void exec_sured(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct isa_row *row = row_of(in);
    unsigned bytes = type_bytes(row->types[0]), first = tex_coordinates(form_get(row->form, CAT_GEOM));
    struct surf_lanes all;
    const bool together = locate_lanes(w, in, row, m, bytes, fx, &all);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct surf_access s;
        uint64_t x = 0, v = 0;
        enum outcome o = together ? lane_of(&all, l, &s) : locate(w, in, row, l, bytes, fx, &s);
        if (o == SURF_FAULT)
            return;
        if (o == SURF_NOTHING)
            continue;
        bool is_signed = type_class(row->types[0]) == 's' || (row->types[0] == T_B32 && s.t->format == TEX_S32);
        memcpy(&x, s.host, bytes);
        memcpy(&v, elem(w, in, first, l), bytes);
        if (is_signed && bytes == 4) {
            x = (uint64_t)(int32_t)x;
            v = (uint64_t)(int32_t)v;
        }
        x = reduced(form_get(row->form, CAT_OPN), is_signed, x, v);
        memcpy(s.host, &x, bytes);
    }
}

#define SURF_ROW(OP, fn, mode, geometry, clamp, T)                                                                     \
    WARP_FN(OP, T1(T), FORM(MODE, mode) | FORM(GEOM, geometry) | FORM(MODE2, clamp), TEX, MEM, NO_OPDS, fn)
#define SURF_TYPES(OP, fn, geometry, clamp)                                                                            \
    SURF_ROW(OP, fn, B, geometry, clamp, B8)                                                                           \
    SURF_ROW(OP, fn, B, geometry, clamp, B16)                                                                          \
    SURF_ROW(OP, fn, B, geometry, clamp, B32)                                                                          \
    SURF_ROW(OP, fn, B, geometry, clamp, B64)                                                                          \
    SURF_ROW(OP, fn, P, geometry, clamp, B32)                                                                          \
    SURF_ROW(OP, fn, P, geometry, clamp, U32)                                                                          \
    SURF_ROW(OP, fn, P, geometry, clamp, S32)                                                                          \
    SURF_ROW(OP, fn, P, geometry, clamp, F32)
#define SURF_CLAMPS(OP, fn, geometry)                                                                                  \
    SURF_TYPES(OP, fn, geometry, TRAP)                                                                                 \
    SURF_TYPES(OP, fn, geometry, CLAMP)                                                                                \
    SURF_TYPES(OP, fn, geometry, ZERO)
#define SURED_ROW(mode, opn, geometry, clamp, T)                                                                       \
    WARP_FN(SURED, T1(T), FORM(MODE, mode) | FORM(OPN, opn) | FORM(GEOM, geometry) | FORM(MODE2, clamp), TEX, MEM,     \
            NO_OPDS, exec_sured)
#define SURED_NUMBERS(opn, geometry, clamp)                                                                            \
    SURED_ROW(B, opn, geometry, clamp, U32)                                                                            \
    SURED_ROW(B, opn, geometry, clamp, S32)                                                                            \
    SURED_ROW(B, opn, geometry, clamp, U64)                                                                            \
    SURED_ROW(B, opn, geometry, clamp, S64)                                                                            \
    SURED_ROW(P, opn, geometry, clamp, B32)
#define SURED_BITS(opn, geometry, clamp)                                                                               \
    SURED_ROW(B, opn, geometry, clamp, B32)                                                                            \
    SURED_ROW(P, opn, geometry, clamp, B32)
#define SURED_TYPES(geometry, clamp)                                                                                   \
    SURED_NUMBERS(ADD, geometry, clamp)                                                                                \
    SURED_NUMBERS(MIN, geometry, clamp)                                                                                \
    SURED_NUMBERS(MAX, geometry, clamp)                                                                                \
    SURED_BITS(AND, geometry, clamp)                                                                                   \
    SURED_BITS(OR, geometry, clamp)
#define SURED_CLAMPS(geometry)                                                                                         \
    SURED_TYPES(geometry, TRAP)                                                                                        \
    SURED_TYPES(geometry, CLAMP)                                                                                       \
    SURED_TYPES(geometry, ZERO)

#define ROWS_FILE "isa/exec/exec_surf.c"
#define ROWS_NAME surf
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Surfaces. */
SURF_CLAMPS(SULD, exec_suld, 1D)
SURF_CLAMPS(SULD, exec_suld, 2D)
SURF_CLAMPS(SULD, exec_suld, 3D)
SURF_CLAMPS(SULD, exec_suld, A1D)
SURF_CLAMPS(SULD, exec_suld, A2D)
SURF_CLAMPS(SUST, exec_sust, 1D)
SURF_CLAMPS(SUST, exec_sust, 2D)
SURF_CLAMPS(SUST, exec_sust, 3D)
SURF_CLAMPS(SUST, exec_sust, A1D)
SURF_CLAMPS(SUST, exec_sust, A2D)
SURED_CLAMPS(1D)
SURED_CLAMPS(2D)
SURED_CLAMPS(3D)
/* clang-format on */
#endif
