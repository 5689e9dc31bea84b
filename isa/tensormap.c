/* Tensor maps: their rules, their encoding, and the order in which a copy visits a tensor. */
#include "tensormap.h"
#include "isa/arith.h"
#include "isa/types.h"
#include <stddef.h>
#include <string.h>

uint32_t tensor_element(enum tensor_type t) {
    static const uint8_t bytes[N_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};
    return t < N_TENSOR_TYPES ? bytes[t] : 1;
}

uint32_t tensor_global_bits(enum tensor_type t) {
    return t == TENSOR_16U6_ALIGN16B ? 6 : tensor_is_packed(t) ? 4 : 8 * tensor_element(t);
}
uint32_t tensor_shared_bits(enum tensor_type t) { return t == TENSOR_16U4_ALIGN8B ? 4 : 8 * tensor_element(t); }
uint32_t tensor_global_bytes(const struct tensor_map *m, uint32_t bytes) {
    return bytes * tensor_global_bits(m->type) / tensor_shared_bits(m->type);
}

/* Returns true for the types whose numbers have padding in shared memory. */
static bool is_padded(enum tensor_type t) { return t == TENSOR_16U4_ALIGN16B || t == TENSOR_16U6_ALIGN16B; }

static bool tensor_is_float(enum tensor_type t) { return t >= TENSOR_F16 && !tensor_is_packed(t); }

/* ---- rules ---- */

static const char *wrong_dimensions(const struct tensor_map *m) {
    const uint64_t align = m->interleave == TENSOR_32B || is_padded(m->type) ? 32 : 16;
    if (m->address % align)
        return "the global address is a multiple of 16, with INTERLEAVE_32B or types of ALIGN16B of 32";
    if (m->dim[0] % (is_padded(m->type) ? 128 : tensor_is_packed(m->type) ? 2 : 1))
        return "the first dimension of a type of ALIGN16B is a multiple of 128, and of ALIGN8B of 2";
    for (unsigned i = 0; i < m->rank; i++) {
        if (m->dim[i] == 0 || m->dim[i] > 1ull << 32)
            return "a dimension has 1 to 2^32 elements";
        if (i && (m->stride[i] % align || m->stride[i] >= 1ull << 40))
            return "a stride is a multiple of 16 (with INTERLEAVE_32B or types of ALIGN16B of 32) and less than 2^40";
        if ((i || m->interleave) && (m->step[i] == 0 || m->step[i] > 8))
            return "an element stride is 1 to 8";
    }
    return NULL;
}

/* Returns the bytes of the innermost row of a box. */
static uint32_t inner_bytes(const struct tensor_map *m) {
    return (m->im2col ? m->channels : m->box[0]) * tensor_shared_bits(m->type) / 8;
}

/* Checks the rules for types with padding. Returns the broken rule, or NULL. */
static const char *wrong_packed(const struct tensor_map *m) {
    const bool six = m->type == TENSOR_16U6_ALIGN16B;
    if (!is_padded(m->type))
        return NULL;
    if ((m->im2col ? m->channels : m->box[0]) != 128)
        return "the inner dimension of a box of a type of ALIGN16B has 128 elements";
    if (six && m->interleave)
        return "16U6_ALIGN16B requires INTERLEAVE_NONE";
    return m->swizzle == SWIZZLE_NONE || m->swizzle == SWIZZLE_128B || m->swizzle == SWIZZLE_128B_32B
               ? NULL
               : "a type of ALIGN16B has SWIZZLE_NONE, SWIZZLE_128B or SWIZZLE_128B_ATOM_32B";
}

static const char *wrong_layout(const struct tensor_map *m) {
    if (m->interleave == TENSOR_32B && m->swizzle != SWIZZLE_32B)
        return "INTERLEAVE_32B requires SWIZZLE_32B";
    if (m->interleave)
        return inner_bytes(m) <= (m->interleave == TENSOR_16B ? 16u : 32u)
                   ? NULL
                   : "the inner dimension of an interleaved box has at most the bytes of a slice";
    if (inner_bytes(m) % 16)
        return "the inner dimension of a box has a multiple of 16 bytes";
    if (m->swizzle && inner_bytes(m) > swizzle_span(m->swizzle))
        return "the inner dimension of a box has at most the bytes of the swizzle";
    return NULL;
}

static const char *wrong_im2col(const struct tensor_map *m) {
    const int32_t most[] = {32767, 127, 15};
    if (m->rank < 3)
        return "im2col has 3 to 5 dimensions";
    for (unsigned i = 0; i < m->rank - 2u; i++) {
        const int32_t limit = most[m->rank - 3];
        if (m->lower[i] < -limit - 1 || m->lower[i] > limit || m->upper[i] < -limit - 1 || m->upper[i] > limit)
            return "an offset of a corner of the bounding box is in -32768 to 32767 (3 dimensions), -128 to 127 (4) "
                   "or -16 to 15 (5)";
        if (m->lower[i] > (int64_t)m->dim[i + 1] - 1 + m->upper[i])
            return "the bounding box has at least one pixel";
    }
    return NULL;
}

static const char *wrong_wide(const struct tensor_map *m) {
    if (m->rank < 3 || m->lower[0] < -32768 || m->lower[0] > 32767 || m->upper[0] < -32768 || m->upper[0] > 32767)
        return "im2col::w has 3 to 5 dimensions, and offsets of corners from -32768 to 32767";
    if (m->lower[0] > (int64_t)m->dim[1] - 1 + m->upper[0])
        return "the bounding box has at least one pixel";
    return m->swizzle == SWIZZLE_64B || m->swizzle == SWIZZLE_128B || m->swizzle == SWIZZLE_128B_32B
               ? NULL
               : "im2col::w has SWIZZLE_64B, SWIZZLE_128B or SWIZZLE_128B_ATOM_32B";
}

static const char *wrong_columns(const struct tensor_map *m) {
    const bool counts = m->im2col != TENSOR_COLUMNS_WIDE_128; /* the map has the number of pixels */
    const char *wrong = m->im2col == TENSOR_COLUMNS_ALL ? wrong_im2col(m) : wrong_wide(m);
    if (!wrong && (m->channels == 0 || m->channels > 256 || (counts && (m->pixels == 0 || m->pixels > 1024))))
        wrong = "a column has 1 to 256 channels of 1 to 1024 pixels";
    return wrong;
}

const char *tensor_map_wrong(const struct tensor_map *m) {
    if (m->type >= N_TENSOR_TYPES)
        return "the data type is known";
    if (m->rank == 0 || m->rank > TENSOR_DIMS || (m->interleave && m->rank < 3))
        return "a tensor has 1 to 5 dimensions, interleaved at least 3";
    if (m->interleave >= N_TENSOR_INTERLEAVES || m->swizzle >= N_SWIZZLES || m->promotion > 3)
        return "interleave, swizzle and L2 promotion are known values";
    if (m->fills_nan && !tensor_is_float(m->type))
        return "only tensors of floating-point numbers are filled with NaN";
    const char *wrong = wrong_dimensions(m);
    if (!wrong && m->im2col)
        wrong = wrong_columns(m);
    for (unsigned i = 0; !wrong && !m->im2col && i < m->rank; i++)
        if (m->box[i] == 0 || m->box[i] > 256)
            wrong = "a box has 1 to 256 elements along each dimension";
    wrong = wrong ? wrong : wrong_packed(m);
    return wrong ? wrong : wrong_layout(m);
}

/* ---- encoding ---- */

enum { MAGIC = 0x4d54, VERSION = 1 };
struct raw {
    uint16_t magic;
    uint8_t version, im2col;
    uint32_t checksum;
    uint64_t address, stride[TENSOR_DIMS - 1];
    uint32_t last[TENSOR_DIMS]; /* dimensions, less 1 */
    uint16_t box[TENSOR_DIMS], channels, pixels;
    int16_t lower[3], upper[3];
    uint8_t type, rank, interleave, swizzle, promotion, fills_nan, step[TENSOR_DIMS], rest[23];
};
_Static_assert(sizeof(struct raw) == TENSOR_MAP_BYTES, "the size of CUtensorMap");

static uint32_t checksum(const struct raw *r) {
    unsigned char bytes[sizeof *r];
    uint64_t sum = 14695981039346656037ull;
    memcpy(bytes, r, sizeof bytes);
    memset(bytes + offsetof(struct raw, checksum), 0, sizeof r->checksum);
    for (unsigned i = 0; i < sizeof bytes; i++)
        sum = (sum ^ bytes[i]) * 1099511628211ull;
    return (uint32_t)(sum ^ sum >> 32);
}

void tensor_map_write(const struct tensor_map *m, unsigned char raw[TENSOR_MAP_BYTES]) {
    struct raw r = {.magic = MAGIC,
                    .version = VERSION,
                    .im2col = m->im2col,
                    .address = m->address,
                    .channels = (uint16_t)m->channels,
                    .pixels = (uint16_t)m->pixels,
                    .type = m->type,
                    .rank = m->rank,
                    .interleave = m->interleave,
                    .swizzle = m->swizzle,
                    .promotion = m->promotion,
                    .fills_nan = m->fills_nan};
    for (unsigned i = 0; i < TENSOR_DIMS; i++) {
        r.last[i] = (uint32_t)(m->dim[i] - 1);
        r.box[i] = (uint16_t)m->box[i];
        r.step[i] = (uint8_t)m->step[i];
        if (i)
            r.stride[i - 1] = m->stride[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        r.lower[i] = (int16_t)m->lower[i];
        r.upper[i] = (int16_t)m->upper[i];
    }
    r.checksum = checksum(&r);
    memcpy(raw, &r, sizeof r);
}

bool tensor_map_read(const unsigned char raw[TENSOR_MAP_BYTES], struct tensor_map *m) {
    struct raw r;
    memcpy(&r, raw, sizeof r);
    if (r.magic != MAGIC || r.version != VERSION || r.checksum != checksum(&r))
        return false;
    *m = (struct tensor_map){.im2col = r.im2col,
                             .address = r.address,
                             .channels = r.channels,
                             .pixels = r.pixels,
                             .type = r.type,
                             .rank = r.rank,
                             .interleave = r.interleave,
                             .swizzle = r.swizzle,
                             .promotion = r.promotion,
                             .fills_nan = r.fills_nan};
    for (unsigned i = 0; i < TENSOR_DIMS; i++) {
        m->dim[i] = r.last[i] + 1ull;
        m->box[i] = r.box[i];
        m->step[i] = r.step[i];
        m->stride[i] = i ? r.stride[i - 1] : 0;
    }
    for (unsigned i = 0; i < 3; i++) {
        m->lower[i] = r.lower[i];
        m->upper[i] = r.upper[i];
    }
    return true;
}

/* ---- boxes ---- */

/* Returns the number of elements of a box along a dimension. */
static uint32_t box_count(const struct tensor_map *m, unsigned i) {
    return i == 0 && !m->interleave ? m->box[0] : (m->box[i] + m->step[i] - 1) / m->step[i];
}

static uint32_t row_bytes(const struct tensor_map *m) {
    return (m->im2col ? m->channels : box_count(m, 0)) * tensor_shared_bits(m->type) / 8;
}

/* Returns the bytes from one row of a box to the next in shared memory. */
static uint32_t row_pitch(const struct tensor_map *m) {
    if (m->interleave)
        return m->interleave == TENSOR_16B ? 16 : 32;
    return m->swizzle ? swizzle_span(m->swizzle) : row_bytes(m);
}

enum { WIDE_PIXELS = 128, WIDE_RUN = 32 }; /* im2col::w::128: pixels of a column; a halo follows each WIDE_RUN */

/* Returns the pixels of a wide column without its halos. */
static uint32_t wide_pixels(const struct tensor_map *m) {
    return m->im2col == TENSOR_COLUMNS_WIDE_128 ? WIDE_PIXELS : m->pixels;
}

/* Returns the number of rows of a box. `halo` is the wHalo of a wide column. */
static uint64_t n_rows(const struct tensor_map *m, enum tensor_mode mode, uint32_t halo) {
    uint64_t n = 1;
    if (mode == TENSOR_ROWS4)
        return 4;
    if (mode == TENSOR_IM2COL)
        return m->pixels;
    if (mode == TENSOR_WIDE)
        return wide_pixels(m) + halo * (m->im2col == TENSOR_COLUMNS_WIDE_128 ? WIDE_PIXELS / WIDE_RUN : 1);
    for (unsigned i = 1; i < m->rank; i++)
        n *= box_count(m, i);
    return n;
}

uint32_t tensor_box_bytes(const struct tensor_map *m, const struct tensor_place *p) {
    return (uint32_t)n_rows(m, p->mode, p->offset[0]) * row_bytes(m);
}

uint32_t tensor_box_span(const struct tensor_map *m, const struct tensor_place *p) {
    return (uint32_t)n_rows(m, p->mode, p->offset[0]) * row_pitch(m);
}

const char *tensor_place_wrong(const struct tensor_map *m, const struct tensor_place *p, unsigned dims, bool wide_128) {
    const enum tensor_mode mode = p->mode;
    const bool wide = m->im2col >= TENSOR_COLUMNS_WIDE;
    if (p->at[0] % (is_padded(m->type) ? 128 : tensor_is_packed(m->type) ? 2 : 1))
        return "the first coordinate of a type of ALIGN16B is a multiple of 128, and of ALIGN8B of 2";
    if (wide != (mode == TENSOR_WIDE))
        return wide ? "the tensor map is for .im2col::w" : "the tensor map is not for .im2col::w";
    if (wide && wide_128 != (m->im2col == TENSOR_COLUMNS_WIDE_128))
        return wide_128 ? "the tensor map is for .im2col::w" : "the tensor map is for .im2col::w::128";
    if (wide && (p->offset[0] >= (wide_128 ? 32u : 512u) || p->offset[1] >= 32))
        return "wHalo is below 512 (.im2col::w) or 32 (.im2col::w::128), and wOffset below 32";
    if (m->rank != dims)
        return "the tensor map has another number of dimensions";
    if (!wide && (m->im2col != 0) != (mode == TENSOR_IM2COL))
        return m->im2col ? "the tensor map is for .im2col" : "the tensor map is for .tile";
    if (mode == TENSOR_ROWS4 && m->box[1] != 1)
        return "the box of .tile::gather4 and .tile::scatter4 has one row";
    if (n_rows(m, p->mode, p->offset[0]) * row_pitch(m) > MAX_SHARED_BYTES)
        return "the box has more bytes than the shared memory of a CTA";
    return NULL;
}

/* ---- the visit ---- */

struct visit {
    const struct tensor_map *m;
    tensor_part_fn *part;
    void *ctx;
    uint32_t offset; /* of the row */
};

static bool visit_part(const struct visit *v, int64_t from, int64_t to, int64_t first, bool inside, uint64_t base) {
    const uint32_t in_global = tensor_global_bits(v->m->type), in_shared = tensor_shared_bits(v->m->type);
    if (from >= to)
        return true;
    const struct tensor_part p = {.global = inside ? base + (uint64_t)from * in_global / 8 : 0,
                                  .offset = v->offset + (uint32_t)(from - first) * in_shared / 8,
                                  .bytes = (uint32_t)(to - from) * in_shared / 8,
                                  .inside = inside};
    return v->part(v->ctx, &p);
}

/* Visits `n` elements of a row, from element `first` on. at[i], for i >= 1, are the coordinates of the row. */
static bool visit_row(struct visit *v, const int64_t at[TENSOR_DIMS], int64_t first, uint32_t n) {
    const struct tensor_map *m = v->m;
    const int64_t end = first + n;
    bool inside = true, go_on;
    uint64_t base = m->address;
    for (unsigned i = 1; i < m->rank; i++) {
        inside &= at[i] >= 0 && at[i] < (int64_t)m->dim[i];
        base += (uint64_t)at[i] * m->stride[i];
    }
    int64_t from = first > 0 ? first : 0, to = end < (int64_t)m->dim[0] ? end : (int64_t)m->dim[0];
    if (!inside || from >= to)
        from = to = end;
    go_on = visit_part(v, first, from, first, false, 0) && visit_part(v, from, to, first, true, base) &&
            visit_part(v, to, end, first, false, 0);
    v->offset += row_pitch(m);
    return go_on;
}

static bool visit_box(struct visit *v, const struct tensor_place *p) {
    const struct tensor_map *m = v->m;
    const uint32_t rows = (uint32_t)n_rows(m, TENSOR_TILE, 0);
    for (uint32_t r = 0; r < rows; r++) {
        int64_t at[TENSOR_DIMS] = {0};
        uint32_t left = r;
        for (unsigned i = 1; i < m->rank; i++) {
            at[i] = p->at[i] + (int64_t)(left % box_count(m, i)) * m->step[i];
            left /= box_count(m, i);
        }
        if (!visit_row(v, at, p->at[0], box_count(m, 0)))
            return false;
    }
    return true;
}

static bool visit_rows4(struct visit *v, const struct tensor_place *p) {
    for (unsigned r = 0; r < 4; r++) {
        const int64_t at[TENSOR_DIMS] = {0, p->at[1 + r]};
        if (!visit_row(v, at, p->at[0], v->m->box[0]))
            return false;
    }
    return true;
}

/* Visits pixels along W, then H, D and N. When a base position passes the upper corner of the bounding box, it
 * continues at the lower corner. The offsets of the filter are added to the base position. */
static bool visit_pixels(struct visit *v, const struct tensor_place *p) {
    const struct tensor_map *m = v->m;
    const unsigned spatial = m->rank - 2u;
    int64_t base[TENSOR_DIMS], at[TENSOR_DIMS] = {0};
    for (unsigned i = 0; i < m->rank; i++)
        base[i] = p->at[i];
    for (uint32_t n = 0; n < m->pixels; n++) {
        for (unsigned i = 1; i < m->rank; i++)
            at[i] = base[i] + (i <= spatial ? p->offset[i - 1] : 0);
        if (!visit_row(v, at, p->at[0], m->channels))
            return false;
        unsigned i = 1;
        for (; i <= spatial; i++) {
            base[i] += m->step[i];
            if (base[i] <= (int64_t)m->dim[i] - 1 + m->upper[i - 1])
                break;
            base[i] = m->lower[i - 1];
        }
        base[m->rank - 1] += i > spatial;
    }
    return true;
}

/* Visits the halo behind a run of pixels: the `n` pixels that follow the last pixel of the run along W, even beyond the
 * bounding box [reading]. */
static bool visit_halo(struct visit *v, const int64_t last[TENSOR_DIMS], int64_t channel, uint32_t n) {
    int64_t at[TENSOR_DIMS];
    memcpy(at, last, sizeof at);
    for (uint32_t i = 0; i < n; i++) {
        at[1] += v->m->step[1];
        if (!visit_row(v, at, channel, v->m->channels))
            return false;
    }
    return true;
}

/* Visits pixels along W, then along the last dimension (N); H and D do not change. wOffset moves the bounding box and
 * the first pixel. The first pixel may be to the left of the box. */
static bool visit_wide(struct visit *v, const struct tensor_place *p) {
    const struct tensor_map *m = v->m;
    const uint32_t pixels = wide_pixels(m), run = m->im2col == TENSOR_COLUMNS_WIDE_128 ? WIDE_RUN : pixels;
    const int64_t shift = p->offset[1], lower = m->lower[0] + shift,
                  upper = (int64_t)m->dim[1] - 1 + m->upper[0] + shift;
    int64_t at[TENSOR_DIMS] = {0};
    for (unsigned i = 1; i < m->rank; i++)
        at[i] = p->at[i];
    at[1] += shift;
    for (uint32_t n = 1; n <= pixels; n++) {
        if (!visit_row(v, at, p->at[0], m->channels) || (n % run == 0 && !visit_halo(v, at, p->at[0], p->offset[0])))
            return false;
        at[1] += m->step[1];
        if (at[1] > upper) {
            at[1] = lower;
            at[m->rank - 1]++;
        }
    }
    return true;
}

bool tensor_walk(const struct tensor_map *m, const struct tensor_place *p, tensor_part_fn *part, void *ctx) {
    struct visit v = {m, part, ctx, 0};
    switch (p->mode) {
    case TENSOR_ROWS4:
        return visit_rows4(&v, p);
    case TENSOR_IM2COL:
        return visit_pixels(&v, p);
    case TENSOR_WIDE:
        return visit_wide(&v, p);
    default:
        return visit_box(&v, p);
    }
}
