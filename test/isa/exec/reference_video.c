/* Reference results of video instructions: the pseudo-code of PTX ISA 9.7.17 and 9.7.18 in 128-bit integers. */
#include "isa/exec/video.h"
#include "test/isa/isa_reference.h"

static unsigned form(const struct isa_row *row, enum category c) { return form_get(row->form, c); }
static bool is_signed(enum type t) { return t == T_S32; }

/* Whether dtype, atype and btype are signed. vset has no dtype; its result is a u32. */
struct signs {
    bool d, a, b;
};
static struct signs signs_of(const struct isa_row *row) {
    const bool set = row->types[2] == T_NONE;
    return set ? (struct signs){false, is_signed(row->types[0]), is_signed(row->types[1])}
               : (struct signs){is_signed(row->types[0]), is_signed(row->types[1]), is_signed(row->types[2])};
}

struct place {
    unsigned at, width;
};
static struct place place_of(unsigned selector) {
    static const struct place places[] = {{0, 32}, {0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}};
    return places[selector];
}
static wide select_part(uwide x, unsigned selector, bool sign) {
    const struct place p = place_of(selector);
    return ref_extend(x >> p.at, p.width, sign);
}
static wide saturate(wide x, unsigned width, bool sign) {
    return sign ? ref_clamp(x, -(wide)ref_ones(width - 1) - 1, (wide)ref_ones(width - 1))
                : ref_clamp(x, 0, (wide)ref_ones(width));
}

enum verb { ADD, SUB, ABSDIFF, MIN, MAX, AVRG, SHL, SHR, SET };
static enum verb verb_of(unsigned op) {
    switch (op) {
    case OP_VADD:
    case OP_VADD2:
    case OP_VADD4:
        return ADD;
    case OP_VSUB:
    case OP_VSUB2:
    case OP_VSUB4:
        return SUB;
    case OP_VABSDIFF:
    case OP_VABSDIFF2:
    case OP_VABSDIFF4:
        return ABSDIFF;
    case OP_VMIN:
    case OP_VMIN2:
    case OP_VMIN4:
        return MIN;
    case OP_VMAX:
    case OP_VMAX2:
    case OP_VMAX4:
        return MAX;
    case OP_VAVRG2:
    case OP_VAVRG4:
        return AVRG;
    case OP_VSHL:
        return SHL;
    case OP_VSHR:
        return SHR;
    default:
        return SET;
    }
}

static wide primary(const struct isa_row *row, wide a, wide b) {
    const wide by = form(row, CAT_MODE2) == MODE2_WRAP ? b % 32 : b > 32 ? 32 : b;
    wide sum = a + b;
    switch (verb_of(row->op)) {
    case ADD:
        return sum;
    case SUB:
        return a - b;
    case ABSDIFF:
        return a > b ? a - b : b - a;
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case AVRG: /* rounds halves away from zero */
        return sum >= 0 ? (sum + 1) / 2 : -((1 - sum) / 2);
    case SHL:
        return a * ((wide)1 << by);
    case SHR: /* towards minus infinity */
        return a >> by;
    default:
        return ref_compare(form(row, CAT_CMP), a, b);
    }
}

static uwide secondary(unsigned opn, wide r, wide c) {
    return (uwide)(opn == OPN_ADD ? r + c : opn == OPN_MIN ? (r < c ? r : c) : (r > c ? r : c));
}

static uwide ref_scalar(const struct isa_row *row, const struct ref_lane *x) {
    const struct signs sign = signs_of(row);
    const uwide e = x->e.bits;
    const struct place d = place_of(e >> VIDEO_D & 15);
    wide r = primary(row, select_part(x->a.bits, e >> VIDEO_A & 15, sign.a),
                     select_part(x->b.bits, e >> VIDEO_B & 15, sign.b));
    if (form(row, CAT_SAT))
        r = saturate(r, d.width, sign.d);
    if (form(row, CAT_OPN))
        return secondary(form(row, CAT_OPN), r, ref_extend(x->c.bits, 32, sign.d));
    const uwide hole = ref_ones(d.width) << d.at;
    return ((uwide)r << d.at & hole) | (x->c.bits & ~hole);
}

static uwide ref_mad(const struct isa_row *row, const struct ref_lane *x) {
    const struct signs sign = signs_of(row);
    const uwide e = x->e.bits;
    const bool po = form(row, CAT_PO), minus = (e & VIDEO_NEGATE_A ? 1 : 0) != (e & VIDEO_NEGATE_B ? 1 : 0);
    const bool minus_c = e & VIDEO_NEGATE_C, final = sign.a || sign.b || minus || minus_c;
    wide product =
        select_part(x->a.bits, e >> VIDEO_A & 15, sign.a) * select_part(x->b.bits, e >> VIDEO_B & 15, sign.b);
    uwide c = x->c.bits;
    int lsb = 0;
    if (po)
        lsb = 1;
    else if (minus) {
        product = ~product;
        lsb = 1;
    }
    if (minus_c) {
        c = ~c;
        lsb = minus && !po ? 2 : 1;
    }
    wide r = product + ref_extend(c, 32, final) + lsb;
    r >>= form(row, CAT_MODE) == MODE_SHR7 ? 7 : form(row, CAT_MODE) == MODE_SHR15 ? 15 : 0;
    return (uwide)(form(row, CAT_SAT) ? saturate(r, 32, final) : r);
}

static uwide ref_simd(const struct isa_row *row, const struct ref_lane *x, unsigned n) {
    const struct signs sign = signs_of(row);
    const unsigned width = 32 / n;
    const uwide pair = x->b.bits << 32 | x->a.bits;
    uwide d = form(row, CAT_OPN) ? x->c.bits : 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned a = x->e.bits >> 3 * i & 7, b = x->e.bits >> (VIDEO_SIMD_B + 3 * i) & 7;
        wide r =
            primary(row, ref_extend(pair >> a * width, width, sign.a), ref_extend(pair >> b * width, width, sign.b));
        const bool write = x->e.bits >> (VIDEO_SIMD_MASK + i) & 1;
        if (form(row, CAT_SAT))
            r = saturate(r, width, sign.d);
        if (form(row, CAT_OPN))
            d += write ? (uwide)r : 0;
        else
            d |= ((write ? (uwide)r : x->c.bits >> i * width) & ref_ones(width)) << i * width;
    }
    return d;
}

bool ref_video(const struct isa_row *row, struct ref_lane *x) {
    if (!video_is(row->op))
        return false;
    const uint32_t selectors = video_default(row->op);
    x->d2 = 0;
    if (row->op == OP_VMAD)
        x->d = ref_mad(row, x);
    else
        x->d = selectors == 0 ? ref_scalar(row, x) : ref_simd(row, x, selectors >> (VIDEO_SIMD_MASK + 2) ? 4 : 2);
    return true;
}
