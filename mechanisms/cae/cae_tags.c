#include "cae_tags.h"
#include "isa/machine/effects.h"
#include <stdlib.h>
#include <string.h>

/* Returns the bytes per lane of the register at an offset of bank 0. */
static uint8_t bytes_at(const struct program *p, uint32_t at) {
    static const uint8_t bytes[N_REG_AREAS] = {0, 1, 2, 4, 8, 16};
    for (int a = 0; a < N_REG_AREAS; a++)
        if (at < p->reg_area[a + 1])
            return bytes[a];
    return 16;
}

static void place(struct cae_map *m, uint16_t number, uint32_t at) {
    m->reg[number] = (struct cae_register){at, bytes_at(m->program, at)};
    m->number[at / 4] = number;
}

/* Numbers the registers that an instruction writes. The scoreboard numbers are in the order of its operands: d, d2, the
 * elements of a vector. A register that this instruction only reads gets its number from an instruction that writes it.
 * If no instruction writes it, it has no number. */
static void place_writes(struct cae_map *m, const struct inst *in, const struct inst_info *info) {
    const uint16_t *number = m->program->regs + info->regs + info->n_reads, *end = number + info->n_writes;
    const opnd_t two[2] = {in->d, in->d2};
    for (int i = 0; i < 2 && number < end; i++)
        if (two[i] >> 1 && !(two[i] & 1))
            place(m, *number++, two[i] >> 1);
    for (unsigned i = 0; i < in->n_list && number < end; i++) {
        opnd_t o = m->program->lists[in->list + i];
        if (o >> 1 && !(o & 1))
            place(m, *number++, o >> 1);
    }
}

bool cae_map_init(struct cae_map *m, const struct program *p) {
    *m = (struct cae_map){.program = p, .n = p->n_regs + p->n_specials};
    m->reg = calloc((size_t)m->n + 1, sizeof *m->reg);
    m->number = malloc(((size_t)p->reg_bytes / 4 + 1) * sizeof *m->number);
    if (!m->reg || !m->number || m->n >= CAE_CONSTANT) {
        cae_map_free(m);
        return false;
    }
    memset(m->number, 0xff, ((size_t)p->reg_bytes / 4 + 1) * sizeof *m->number);
    for (uint32_t pc = 0; pc < p->n; pc++)
        place_writes(m, &p->code[pc], &p->info[pc]);
    for (uint32_t s = 0; s < p->n_specials; s++)
        place(m, (uint16_t)(p->n_regs + s), p->specials[s].offset);
    for (uint32_t f = 0; f < p->n_functions; f++)
        m->restores |= p->functions[f].recursive;
    return true;
}

void cae_map_free(struct cae_map *m) {
    free(m->reg);
    free(m->number);
    m->reg = NULL;
    m->number = NULL;
}

uint16_t cae_number(const struct cae_map *m, opnd_t o) {
    return o & 1 ? CAE_CONSTANT : o >> 1 < m->program->reg_bytes ? m->number[(o >> 1) / 4] : CAE_NO_TAG;
}

static uint64_t low(uint64_t v, unsigned bytes) { return bytes < 8 ? v & ((1ull << 8 * bytes) - 1) : v; }

static int64_t extended(uint64_t v, unsigned bytes, bool is_signed) {
    unsigned shift = 64 - 8 * bytes;
    return is_signed ? (int64_t)(v << shift) >> shift : (int64_t)low(v, bytes);
}

static uint64_t lane_value(const unsigned char *reg, unsigned bytes, uint32_t lane) {
    uint64_t v = 0;
    memcpy(&v, reg + (size_t)lane * bytes, bytes); /* copies the lowest bytes (little-endian) */
    return v;
}

/* Returns true if the register's value is base + lane * offset in all `lanes`. */
static bool fits(const unsigned char *reg, unsigned bytes, rowmask_t lanes, uint64_t base, uint64_t offset) {
    bool all = true;
    switch (bytes) {
    case 4:
        for (uint32_t l = 0; l < WARP_LANES; l++)
            all &= ((const uint32_t *)(const void *)reg)[l] == (uint32_t)(base + l * offset) || !(lanes >> l & 1);
        return all;
    case 8:
        for (uint32_t l = 0; l < WARP_LANES; l++)
            all &= ((const uint64_t *)(const void *)reg)[l] == base + l * offset || !(lanes >> l & 1);
        return all;
    default:
        for (uint32_t l = 0; l < WARP_LANES; l++)
            all &= lane_value(reg, bytes, l) == low(base + l * offset, bytes) || !(lanes >> l & 1);
        return all;
    }
}

/* Returns the inverse of an odd number modulo 2^64. Each step doubles the number of correct bits, which is three at the
 * beginning. */
static uint64_t inverse(uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

/* Finds the offset from the values of the first live lane and another live lane. Returns false if there is no offset
 * that fits. Modulo 2^width, a difference of values can be divided only by the odd part of the lane distance. So the
 * function chooses the second lane such that the lane distance has the fewest factors of two. Then the unknown bits of
 * the offset do not affect the value of any live lane. */
static bool find_offset(const unsigned char *reg, unsigned bytes, rowmask_t lanes, uint64_t *offset) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes), other = 0, twos = 6;
    for (rowmask_t m = lanes & (lanes - 1); m && twos; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), t = (uint32_t)__builtin_ctz(lane - first);
        other = t < twos ? lane : other;
        twos = t < twos ? t : twos;
    }
    *offset = 0;
    if (twos == 6) /* a single lane */
        return true;
    uint64_t d = lane_value(reg, bytes, other) - lane_value(reg, bytes, first);
    uint64_t q = low(d * inverse((other - first) >> twos), bytes);
    *offset = low((uint64_t)(extended(q, bytes, true) >> twos), bytes);
    return (q & ((1u << twos) - 1)) == 0;
}

struct cae_tag cae_tag_of(const struct cae_map *m, uint16_t number, const struct warp *w, rowmask_t lanes) {
    const struct cae_register *r = &m->reg[number];
    const unsigned char *reg = w->bank[0] + r->at;
    const struct cae_tag vector = {.class = CLASS_VECTOR};
    if (r->bytes == 0) {
        rowmask_t set;
        memcpy(&set, reg, sizeof set);
        set &= lanes;
        return set == 0 || set == lanes ? (struct cae_tag){.base = set != 0, .class = CLASS_SCALAR} : vector;
    }
    if (!r->at || r->bytes > 8)
        return vector;
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    uint64_t value = lane_value(reg, r->bytes, first), offset;
    if (!find_offset(reg, r->bytes, lanes, &offset))
        return vector;
    uint64_t base = low(value - first * offset, r->bytes);
    if (!fits(reg, r->bytes, lanes, base, offset))
        return vector;
    return (struct cae_tag){.base = base, .offset = offset, .class = offset ? CLASS_AFFINE : CLASS_SCALAR};
}

bool cae_tag_fits(const struct cae_map *m, uint16_t number, const struct cae_tag *t, const struct warp *w) {
    const struct cae_register *r = &m->reg[number];
    const unsigned char *reg = w->bank[0] + r->at;
    if (t->class == CLASS_VECTOR || !w->live)
        return true;
    if (r->bytes) /* the register is not a predicate; if its tag is a scalar, the offset must be 0 */
        return r->bytes <= 8 && fits(reg, r->bytes, w->live, t->base, t->offset) &&
               (t->class == CLASS_AFFINE || !t->offset);
    rowmask_t set;
    memcpy(&set, reg, sizeof set);
    return t->class == CLASS_SCALAR && (set & w->live) == (t->base ? w->live : 0);
}

void cae_tags_start(const struct cae_map *m, struct cae_tag *tags, const struct warp *w) {
    uint32_t n = m->program->n_regs;
    for (uint32_t i = 0; i < n; i++)
        tags[i] = (struct cae_tag){.class = CLASS_VECTOR};
    for (uint32_t s = 0; s < m->program->n_specials; s++) {
        bool known = affine_special((enum special)m->program->specials[s].id) != CLASS_VECTOR;
        tags[n + s] = known && w->launched ? cae_tag_of(m, (uint16_t)(n + s), w, w->launched)
                                           : (struct cae_tag){.class = CLASS_VECTOR};
    }
}

bool cae_tag_widen(struct cae_tag *t, unsigned bytes, bool is_signed, rowmask_t lanes) {
    if (t->class == CLASS_VECTOR || !lanes || bytes > 8)
        return false;
    if (bytes == 8)
        return true;
    uint32_t first = (uint32_t)__builtin_ctz(lanes), last = 31u - (uint32_t)__builtin_clz(lanes);
    int64_t from = extended(t->base + first * t->offset, bytes, is_signed), offset = extended(t->offset, bytes, true);
    int64_t to = from + (int64_t)(last - first) * offset;
    int64_t least = is_signed ? -(1ll << (8 * bytes - 1)) : 0;
    int64_t most = is_signed ? (1ll << (8 * bytes - 1)) - 1 : (1ll << 8 * bytes) - 1;
    t->base = (uint64_t)(from - first * offset);
    t->offset = (uint64_t)offset;
    return to >= least && to <= most;
}
