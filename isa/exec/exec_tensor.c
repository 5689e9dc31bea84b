/* Tensor copies, and instructions that change tensor maps. */
#include "bulk_combine.h"
#include "exec_bulk.h"
#include "exec_mem.h"
#include "isa/softfloat.h"

/* A tensor copy. */
struct tensor {
    struct bulk *b;
    struct tensor_map map;
    struct cluster_place to[MAX_CLUSTER_CTAS]; /* or the source, if the instruction is a store */
    unsigned n;
};

static bool fail(const struct bulk *b, const char *why) {
    fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane, "tensor map at 0x%llx: %s",
                  (unsigned long long)bulk_operand(b, BULK_MAP), why);
    return false;
}

/* Returns the host address of 128 bytes at a generic address. On a fault, stores the fault in fx and returns NULL. */
static unsigned char *map_at(const struct bulk *b, uint64_t address, unsigned align) {
    uint64_t left = 0;
    unsigned char *raw = NULL;
    if (address % align) {
        mem_fault(b->fx, FAULT_MISALIGNED, b->lane, mem_space(address), address, (unsigned char)align);
        return NULL;
    }
    if (mem_space(address) != SPACE_LOCAL)
        raw = mem_generic(b->w, b->lane, address, &left);
    if (!raw || left < TENSOR_MAP_BYTES) {
        fail(b, "there are no 128 bytes of global, constant or parameter memory");
        return NULL;
    }
    return raw;
}

static bool read_map(const struct bulk *b, struct tensor_map *m) {
    unsigned char copy[TENSOR_MAP_BYTES];
    const uint64_t address = bulk_operand(b, BULK_MAP);
    const unsigned char *raw = map_at(b, address, TENSOR_MAP_ALIGN);
    if (!raw)
        return false;
    if (mem_space(address) == SPACE_GLOBAL)
        bulk_read_global(b, copy, raw, sizeof copy);
    else
        memcpy(copy, raw, sizeof copy);
    if (!tensor_map_read(copy, m))
        return fail(b, "the 128 bytes are not what cuTensorMapEncode*() wrote; pass CUtensorMap by value as "
                       "__grid_constant__, or copy all its bytes");
    const char *wrong = tensor_map_wrong(m);
    return !wrong || fail(b, wrong);
}

/* ---- loads ---- */

static void fill_outside(const struct tensor_map *m, unsigned char *to, uint32_t bytes) {
    static const uint64_t f64_nan = 0x7fffffffffffffffull;
    const unsigned element = tensor_element(m->type);
    memset(to, 0, bytes);
    for (uint32_t i = 0; m->fills_nan && i < bytes; i += element) /* packed types are never filled with NaN */
        if (element == 2)
            memcpy(to + i, &(uint16_t){F16_NAN}, 2);
        else if (element == 4)
            memcpy(to + i, &(uint32_t){F32_NAN}, 4);
        else
            memcpy(to + i, &f64_nan, 8);
}

/* Converts elements of the types that a load changes. TF32 keeps 10 bits of the fraction, rounded to nearest, ties
 * away from zero, as cvt.rna.tf32 does (our reading of the manual). */
static void convert(const struct tensor_map *m, unsigned char *to, uint32_t bytes) {
    const bool flush = m->type == TENSOR_F32_FTZ || m->type == TENSOR_TF32_FTZ;
    const bool tf32 = m->type == TENSOR_TF32 || m->type == TENSOR_TF32_FTZ;
    for (uint32_t i = 0; (flush || tf32) && i < bytes; i += 4) {
        uint32_t x;
        memcpy(&x, to + i, 4);
        if (flush)
            x = f32_flush_bits(x);
        if (tf32 && (x & 0x7f800000u) != 0x7f800000u)
            x = (x + 0x1000u) & ~0x1fffu;
        memcpy(to + i, &x, 4);
    }
}

/* Writes `bytes` bytes of a box to shared memory, or reads them from it, one unit of the swizzle at a time. `offset` is
 * the offset in the box. */
static void move_shared(const struct tensor *t, const struct cluster_place *place, uint32_t offset,
                        unsigned char *bytes, uint32_t n, bool write) {
    const uint32_t unit = swizzle_unit(t->map.swizzle);
    while (n) {
        const uint64_t at = place->offset + offset;
        const uint32_t left = unit - (uint32_t)(at % unit), some = n < left ? n : left;
        unsigned char *host = place->cta->shared + swizzle_address(t->map.swizzle, at);
        if (write)
            memcpy(host, bytes, some);
        else
            memcpy(bytes, host, some);
        offset += some;
        bytes += some;
        n -= some;
    }
}

enum { ROW_BYTES = 256 * 8, GROUP = 16 }; /* most bytes of a row of a box; padding follows each GROUP numbers */

/* Adds the padding of packed types, as zeros [reading], to `bytes` bytes of shared memory, or removes it. */
static void pad(const struct tensor_map *m, unsigned char *row, uint32_t bytes, bool add) {
    const uint32_t some = GROUP * tensor_global_bits(m->type) / 8, groups = bytes / GROUP;
    unsigned char from[ROW_BYTES];
    if (tensor_global_bits(m->type) == tensor_shared_bits(m->type))
        return;
    memcpy(from, row, sizeof from);
    memset(row, 0, add ? bytes : 0);
    for (uint32_t i = 0; i < groups; i++)
        memcpy(row + i * (add ? GROUP : some), from + i * (add ? some : GROUP), some);
}

static bool load_part(void *ctx, const struct tensor_part *p) {
    struct tensor *t = ctx;
    unsigned char row[ROW_BYTES];
    if (p->inside) {
        const uint32_t bytes = tensor_global_bytes(&t->map, p->bytes);
        const unsigned char *from = bulk_global(t->b, p->global, bytes, 1, false);
        if (!from)
            return false;
        bulk_read_global(t->b, row, from, bytes);
        convert(&t->map, row, bytes);
        pad(&t->map, row, p->bytes, true);
        bulk_moves_global(t->b, p->global, bytes);
    } else {
        fill_outside(&t->map, row, p->bytes);
    }
    for (unsigned i = 0; i < t->n; i++)
        move_shared(t, &t->to[i], p->offset, row, p->bytes, true);
    return true;
}

static void load(struct tensor *t, const struct tensor_place *place) {
    struct cluster_place mbarrier[MAX_CLUSTER_CTAS];
    const uint32_t bytes = tensor_box_bytes(&t->map, place);
    t->n = bulk_destinations(t->b, tensor_box_span(&t->map, place), 128, t->to, mbarrier);
    if (!t->n || !tensor_walk(&t->map, place, load_part, t))
        return;
    for (unsigned i = 0; i < t->n; i++) {
        bulk_moves_shared(t->b, &t->to[i], tensor_box_span(&t->map, place), true);
        if (!bulk_signal(t->b, &mbarrier[i], bytes))
            return;
    }
}

/* ---- stores and reductions ---- */

static bool store_part(void *ctx, const struct tensor_part *p) {
    struct tensor *t = ctx;
    unsigned char row[ROW_BYTES];
    if (!p->inside)
        return true;
    const uint32_t bytes = tensor_global_bytes(&t->map, p->bytes);
    unsigned char *to = bulk_global(t->b, p->global, bytes, 1, true);
    if (!to)
        return false;
    move_shared(t, &t->to[0], p->offset, row, p->bytes, false);
    pad(&t->map, row, p->bytes, false);
    if (t->b->form.what == BULK_RED)
        bulk_combine(t->b->form.op, t->b->form.type, to, row, p->bytes);
    else
        memcpy(to, row, bytes);
    bulk_moves_global(t->b, p->global, bytes);
    return true;
}

/* Returns the type in which a reduction combines elements of a tensor, or T_NONE if there is none. */
static uint8_t reduced_type(enum tensor_type t) {
    static const uint8_t types[N_TENSOR_TYPES] = {
        [TENSOR_U32] = T_U32,     [TENSOR_S32] = T_S32,  [TENSOR_U64] = T_U64,     [TENSOR_S64] = T_S64,
        [TENSOR_F16] = T_F16,     [TENSOR_F32] = T_F32,  [TENSOR_F64] = T_F64,     [TENSOR_BF16] = T_BF16,
        [TENSOR_F32_FTZ] = T_F32, [TENSOR_TF32] = T_F32, [TENSOR_TF32_FTZ] = T_F32};
    return types[t];
}

static void store(struct tensor *t, const struct tensor_place *place) {
    struct bulk *b = t->b;
    const uint32_t span = tensor_box_span(&t->map, place);
    if (t->map.type == TENSOR_16U4_ALIGN16B) {
        fail(b, "a tensor of 16U4_ALIGN16B is only loaded");
        return;
    }
    if (!bulk_shared(b, bulk_operand(b, BULK_FROM), span, 128, false, &t->to[0]))
        return;
    if (b->form.what == BULK_RED) {
        b->form.type = reduced_type(t->map.type);
        b->job.element = (uint8_t)(tensor_element(t->map.type) == 8 ? 8 : 4);
        if (!b->form.type || !bulk_combines(b->form.op, b->form.type)) {
            fail(b, "elements of this type do not have this reduction");
            return;
        }
    }
    bulk_moves_shared(b, &t->to[0], tensor_box_bytes(&t->map, place), false);
    tensor_walk(&t->map, place, store_part, t);
}

static bool prefetch_part(void *ctx, const struct tensor_part *p) {
    struct tensor *t = ctx;
    if (p->inside)
        bulk_moves_global(t->b, p->global, tensor_global_bytes(&t->map, p->bytes));
    return true;
}

static enum tensor_mode mode_of(const struct bulk_form *f) {
    switch (f->mode) {
    case BULK_TILE:
        return TENSOR_TILE;
    case BULK_GATHER4:
    case BULK_SCATTER4:
        return TENSOR_ROWS4;
    case BULK_WIDE:
    case BULK_WIDE_128:
    case BULK_WIDE_NO_OFFS:
        return TENSOR_WIDE;
    default:
        return TENSOR_IM2COL;
    }
}

void bulk_tensor(struct bulk *b) {
    struct tensor t = {.b = b};
    struct tensor_place place = {.mode = mode_of(&b->form)};
    if (!read_map(b, &t.map))
        return;
    for (unsigned i = 0; i < bulk_coordinates(&b->form); i++)
        place.at[i] = (int32_t)bulk_operand(b, BULK_COORDINATE + i);
    for (unsigned i = 0; i < bulk_offsets(&b->form); i++)
        place.offset[i] = (uint32_t)bulk_operand(b, BULK_OFFSET + i);
    const char *wrong = tensor_place_wrong(&t.map, &place, b->form.dims, b->form.mode == BULK_WIDE_128);
    if (wrong) {
        fail(b, wrong);
        return;
    }
    if (b->form.what == BULK_PREFETCH)
        tensor_walk(&t.map, &place, prefetch_part, &t);
    else if (b->form.to == SPACE_GLOBAL)
        store(&t, &place);
    else
        load(&t, &place);
}

/* ---- changes of maps ---- */

/* Element types as tensormap.replace numbers them. */
static bool replace_type(struct tensor_map *m, uint64_t value) {
    static const uint8_t types[] = {TENSOR_U8,       TENSOR_U16,          TENSOR_U32,           TENSOR_S32,
                                    TENSOR_U64,      TENSOR_S64,          TENSOR_F16,           TENSOR_F32,
                                    TENSOR_F32_FTZ,  TENSOR_F64,          TENSOR_BF16,          TENSOR_TF32,
                                    TENSOR_TF32_FTZ, TENSOR_16U4_ALIGN8B, TENSOR_16U4_ALIGN16B, TENSOR_16U6_ALIGN16B};
    if (value >= sizeof types)
        return false;
    m->type = types[value];
    return true;
}

static bool replace_swizzle(struct tensor_map *m, enum bulk_map_field field, uint64_t value) {
    static const uint8_t atoms[] = {SWIZZLE_128B, SWIZZLE_128B_32B, SWIZZLE_128B_32B_FLIP_8B, SWIZZLE_128B_64B};
    if (value > 3)
        return false;
    if (field == BULK_MAP_SWIZZLE)
        m->swizzle = (uint8_t)value;
    else if (m->swizzle >= SWIZZLE_128B)
        m->swizzle = atoms[value];
    return true;
}

/* Sets an entry of a list of dimensions. */
static bool replace_entry(struct tensor_map *m, enum bulk_map_field field, uint64_t i, uint64_t value) {
    if (i >= TENSOR_DIMS - (field == BULK_MAP_STRIDE))
        return false;
    switch (field) {
    case BULK_MAP_BOX_DIM:
        m->box[i] = (uint32_t)value;
        return value <= 256;
    case BULK_MAP_DIM:
        m->dim[i] = value;
        return value != 0;
    case BULK_MAP_STRIDE:
        m->stride[i + 1] = value;
        return true;
    default:
        m->step[i] = (uint32_t)value;
        return value <= 8;
    }
}

static bool replace(struct tensor_map *m, enum bulk_map_field field, uint64_t i, uint64_t value) {
    switch (field) {
    case BULK_MAP_ADDRESS:
        m->address = value;
        return true;
    case BULK_MAP_RANK: /* the value is the rank minus 1 */
        m->rank = (uint8_t)(value + 1);
        return value < TENSOR_DIMS;
    case BULK_MAP_TYPE:
        return replace_type(m, value);
    case BULK_MAP_INTERLEAVE:
        m->interleave = (uint8_t)value;
        return value < N_TENSOR_INTERLEAVES;
    case BULK_MAP_SWIZZLE:
    case BULK_MAP_ATOMICITY:
        return replace_swizzle(m, field, value);
    case BULK_MAP_FILL:
        m->fills_nan = value == 1;
        return value < 2;
    default:
        return replace_entry(m, field, i, value);
    }
}

/* Returns the host address of a map that the instruction writes. On a fault, stores the fault in fx and returns
 * NULL. */
static unsigned char *written_map(const struct bulk *b, unsigned operand) {
    struct cluster_place place;
    const uint64_t address = bulk_operand(b, operand);
    if (b->form.to == SPACE_GLOBAL || (b->form.to == SPACE_GENERIC && mem_space(address) == SPACE_GLOBAL))
        return bulk_global(b, address, TENSOR_MAP_BYTES, TENSOR_MAP_BYTES, true);
    return bulk_shared(b, address, TENSOR_MAP_BYTES, TENSOR_MAP_BYTES, true, &place);
}

void bulk_replace(struct bulk *b) {
    struct tensor_map m;
    unsigned char *raw = written_map(b, BULK_TO);
    if (!raw)
        return;
    if (!tensor_map_read(raw, &m)) {
        fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane,
                      "tensormap.replace at 0x%llx: there is no tensor map; copy one of cuTensorMapEncodeTiled() first",
                      (unsigned long long)bulk_operand(b, BULK_TO));
        return;
    }
    const uint64_t i = bulk_operand(b, BULK_CTAS), value = bulk_operand(b, BULK_BYTES);
    if (!replace(&m, b->form.field, i, value)) {
        fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane,
                      "tensormap.replace of entry %llu by 0x%llx: no such entry or value", (unsigned long long)i,
                      (unsigned long long)value);
        return;
    }
    tensor_map_write(&m, raw);
}

void bulk_copy_map(struct bulk *b) {
    struct cluster_place place;
    const uint64_t bytes = bulk_operand(b, BULK_BYTES);
    const unsigned char *from =
        bulk_shared(b, bulk_operand(b, BULK_FROM), TENSOR_MAP_BYTES, TENSOR_MAP_BYTES, false, &place);
    unsigned char *to = from ? written_map(b, BULK_TO) : NULL;
    if (to && bytes != TENSOR_MAP_BYTES)
        fx_fault_text(b->fx, FAULT_UNSUPPORTED, b->lane, "tensormap.cp_fenceproxy copies 128 bytes, not %llu",
                      (unsigned long long)bytes);
    else if (to)
        memcpy(to, from, TENSOR_MAP_BYTES);
}
