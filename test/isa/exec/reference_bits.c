/* Reference results of logic, shifts, bit fields and byte permutation, computed bit by bit. */
#include "test/isa/isa_reference.h"

static unsigned width_of(const struct isa_row *row) {
    return row->types[0] == T_PRED ? 1 : 8 * type_bytes(row->types[0]);
}
static unsigned form(const struct isa_row *row, enum category c) { return form_get(row->form, c); }
static bool bit(uwide x, unsigned n) { return n < 128 && (x >> n & 1); }
static bool is_signed(const struct isa_row *row) { return type_class(row->types[0]) == 's'; }

static bool ref_logic(const struct isa_row *row, struct ref_lane *x) {
    for (unsigned n = 0; n < width_of(row); n++) {
        const bool a = bit(x->a.bits, n), b = bit(x->b.bits, n), c = bit(x->c.bits, n);
        bool r;
        switch (row->op) {
        case OP_AND:
            r = a && b;
            break;
        case OP_OR:
            r = a || b;
            break;
        case OP_XOR:
            r = a != b;
            break;
        case OP_NOT:
            r = !a;
            break;
        default: /* lop3 */
            r = bit(x->e.bits, (unsigned)a * 4 + (unsigned)b * 2 + (unsigned)c);
        }
        x->d |= (uwide)r << n;
    }
    return true;
}

static bool ref_shift(const struct isa_row *row, struct ref_lane *x) {
    const unsigned w = width_of(row);
    const uint64_t by = (uint64_t)x->b.bits;
    for (unsigned n = 0; n < w; n++) {
        bool r;
        if (row->op == OP_SHL)
            r = by <= n && bit(x->a.bits, n - (unsigned)by);
        else if (n + by < w)
            r = bit(x->a.bits, n + (unsigned)by);
        else
            r = is_signed(row) && bit(x->a.bits, w - 1);
        x->d |= (uwide)r << n;
    }
    return true;
}

/* Computes shf, which extracts a window of 32 bits from the 64-bit value b:a. */
static bool ref_funnel(const struct isa_row *row, struct ref_lane *x) {
    uint64_t by = (uint64_t)x->c.bits;
    if (form(row, CAT_MODE2) == MODE2_WRAP)
        by %= 32;
    else if (by > 32)
        by = 32;
    const unsigned from = form(row, CAT_MODE) == MODE_L ? 32 - (unsigned)by : (unsigned)by;
    for (unsigned n = 0; n < 32; n++) {
        const unsigned at = from + n;
        x->d |= (uwide)(at < 32 ? bit(x->a.bits, at) : bit(x->b.bits, at - 32)) << n;
    }
    return true;
}

static unsigned count(uwide x, unsigned w) {
    unsigned n = 0;
    for (unsigned i = 0; i < w; i++)
        n += bit(x, i);
    return n;
}

static uwide find(const struct isa_row *row, const struct ref_lane *x) {
    const unsigned w = width_of(row);
    const bool sought = !(is_signed(row) && x->a.value < 0);
    for (unsigned n = w; n-- > 0;)
        if (bit(x->a.bits, n) == sought)
            return form(row, CAT_SHIFTAMT) ? w - 1 - n : n;
    return ref_ones(32);
}

static uwide extract(const struct isa_row *row, const struct ref_lane *x) {
    const unsigned w = width_of(row), pos = x->b.bits & 0xff, len = x->c.bits & 0xff;
    const unsigned last = pos + len - 1 < w - 1 ? pos + len - 1 : w - 1;
    const bool sign = is_signed(row) && len != 0 && bit(x->a.bits, last);
    uwide d = 0;
    for (unsigned n = 0; n < w; n++)
        d |= (uwide)(n < len && pos + n < w ? bit(x->a.bits, pos + n) : sign) << n;
    return d;
}

static uwide insert(const struct isa_row *row, const struct ref_lane *x) {
    const unsigned w = width_of(row), pos = x->c.bits & 0xff, len = x->e.bits & 0xff;
    uwide d = x->b.bits;
    for (unsigned n = 0; n < len && pos + n < w; n++) {
        d &= ~((uwide)1 << (pos + n));
        d |= (uwide)bit(x->a.bits, n) << (pos + n);
    }
    return d;
}

static uwide mask_of_ones(const struct isa_row *row, const struct ref_lane *x) {
    const bool wrap = form(row, CAT_MODE2) == MODE2_WRAP;
    const uint64_t from = wrap ? x->a.bits % 32 : (uint64_t)x->a.bits, n = wrap ? x->b.bits % 32 : (uint64_t)x->b.bits;
    uwide d = 0;
    for (uint64_t i = 0; i < 32; i++)
        d |= (uwide)(i >= from && i - from < n) << i;
    return d;
}

static uwide size_extend(const struct isa_row *row, const struct ref_lane *x) {
    const uint64_t n = form(row, CAT_MODE2) == MODE2_WRAP ? x->b.bits % 32 : (uint64_t)x->b.bits;
    if (n == 0)
        return 0;
    return n >= 32 ? x->a.bits : (uwide)ref_extend(x->a.bits, (unsigned)n, is_signed(row));
}

static uwide nth_set(const struct ref_lane *x) {
    const uint32_t mask = (uint32_t)x->a.bits, base = (uint32_t)x->b.bits;
    const int64_t n = (int64_t)x->c.value, step = n < 0 ? -1 : 1;
    int64_t found = 0;
    if (base > 31)
        return ref_ones(32);
    for (int64_t at = base; at >= 0 && at < 32; at += step) {
        found += mask >> at & 1;
        if ((mask >> at & 1) && (n == 0 ? at == base : found == n * step))
            return (uwide)at;
    }
    return ref_ones(32);
}

/* Returns the number of the byte that prmt selects for byte `byte` of the result, by the table of PTX ISA 9.7.9.7. Each
 * entry lists the bytes of the result, most significant byte first. */
static unsigned selector(unsigned mode, unsigned c, unsigned byte) {
    static const char *const table[][4] = {
        [MODE_F4E] = {"3210", "4321", "5432", "6543"}, [MODE_B4E] = {"5670", "6701", "7012", "0123"},
        [MODE_RC8] = {"0000", "1111", "2222", "3333"}, [MODE_ECL] = {"3210", "3211", "3222", "3333"},
        [MODE_ECR] = {"0000", "1110", "2210", "3210"}, [MODE_RC16] = {"1010", "3232", "1010", "3232"}};
    return (unsigned)(table[mode][c % 4][3 - byte] - '0');
}
static uwide permute(const struct isa_row *row, const struct ref_lane *x) {
    const unsigned mode = form(row, CAT_MODE);
    uwide pair = x->b.bits << 32 | x->a.bits, d = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned s = mode == MODE_NONE ? x->c.bits >> 4 * i & 15 : selector(mode, x->c.bits & 3, i);
        unsigned byte = pair >> 8 * (s & 7) & 0xff;
        if (s & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= (uwide)byte << 8 * i;
    }
    return d;
}

bool ref_bits(const struct isa_row *row, struct ref_lane *x) {
    const unsigned w = width_of(row);
    x->d = x->d2 = 0;
    switch (row->op) {
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_LOP3:
    case OP_LOGIC3:
        return ref_logic(row, x);
    case OP_MAPA: /* see isa/machine/cluster.h */
        x->d = (x->a.bits & ~(uint64_t)0xf80000) + ((x->b.bits < 30 ? x->b.bits : 30) + 1) * 0x80000;
        x->d = w == 32 ? (uint32_t)x->d : x->d;
        return true;
    case OP_MBARRIER: /* pending_count: see isa/exec/exec_mbarrier.h */
        x->d = x->a.bits % 0x100000;
        return true;
    case OP_CNOT:
        x->d = count(x->a.bits, w) == 0;
        return true;
    case OP_SHL:
    case OP_SHR:
        return ref_shift(row, x);
    case OP_SHF:
        return ref_funnel(row, x);
    case OP_POPC:
        x->d = count(x->a.bits, w);
        return true;
    case OP_CLZ:
        while (x->d < w && !bit(x->a.bits, w - 1 - (unsigned)x->d))
            x->d++;
        return true;
    case OP_BREV:
        for (unsigned n = 0; n < w; n++)
            x->d |= (uwide)bit(x->a.bits, n) << (w - 1 - n);
        return true;
    case OP_BFIND:
        x->d = find(row, x);
        return true;
    case OP_BFE:
        x->d = extract(row, x);
        return true;
    case OP_BFI:
        x->d = insert(row, x);
        return true;
    case OP_BMSK:
        x->d = mask_of_ones(row, x);
        return true;
    case OP_SZEXT:
        x->d = size_extend(row, x);
        return true;
    case OP_FNS:
        x->d = nth_set(x);
        return true;
    case OP_PRMT:
        x->d = permute(row, x);
        return true;
    default:
        return false;
    }
}
