/* Reference results of floating-point instructions: see float_ref.h. */
#include "float_ref.h"
#include <math.h>
#include <string.h>

/* A floating-point format: its precision in bits, the exponents of its least subnormal and its greatest number (for
 * MPFR's significands in [1/2, 1)), and the numbers of stored bits of the significand and of the exponent. */
struct format {
    int prec, emin, emax, mantissa, exponent;
};
static inline struct format format_of(enum type t) {
    static const struct format formats[N_TYPES] = {
        [T_F16] = {11, -23, 16, 10, 5},      [T_BF16] = {8, -132, 128, 7, 8}, [T_TF32] = {11, -135, 128, 10, 8},
        [T_F32] = {24, -148, 128, 23, 8},    [T_E4M3X2] = {4, -8, 9, 3, 4},   [T_E5M2X2] = {3, -15, 16, 2, 5},
        [T_F64] = {53, -1073, 1024, 52, 11},
    };
    return formats[t];
}

enum type float_half(enum type t) { return t == T_F16X2 ? T_F16 : t == T_BF16X2 ? T_BF16 : t; }
static bool is_pair(enum type t) { return t == T_F16X2 || t == T_BF16X2; }
static bool is_float(enum type t) { return type_class(t) == 'f'; }
/* Returns 2^e, a normal double. */
static double power_of_two(int e) {
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
double float_min(enum type t) { return ldexp(1.0, format_of(t).emin - 1); }
double float_max(enum type t) {
    struct format f = format_of(t);
    return t == T_E4M3X2 ? 448.0 : ldexp(2.0 - ldexp(1.0, -f.mantissa), f.emax - 1);
}
/* Returns true if `bits` is a NaN of type `t`. E4M3 has no infinity and only one NaN. tf32 uses the upper bits of an
 * f32. */
bool float_is_nan(enum type t, uint64_t bits) {
    struct format f = format_of(t);
    if (t == T_E4M3X2)
        return (bits & 0x7f) == 0x7f;
    if (t == T_TF32)
        return float_is_nan(T_F32, bits);
    uint64_t m = bits & ((1ull << f.mantissa) - 1), e = bits >> f.mantissa & ((1ull << f.exponent) - 1);
    return e == (1ull << f.exponent) - 1 && m;
}
double float_decode(enum type t, uint64_t bits) {
    if (t == T_F64) {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    if (t == T_TF32)
        t = T_F32;
    struct format f = format_of(t);
    uint64_t m = bits & ((1ull << f.mantissa) - 1), e = bits >> f.mantissa & ((1ull << f.exponent) - 1);
    bool neg = bits >> (f.mantissa + f.exponent) & 1;
    double x;
    if (float_is_nan(t, bits))
        x = NAN;
    else if (e == (1ull << f.exponent) - 1 && t != T_E4M3X2)
        x = INFINITY;
    else
        x = (double)(e ? m | 1ull << f.mantissa : m) * power_of_two(f.emin - 1 + (e ? (int)e - 1 : 0));
    return neg ? -x : x;
}
uint64_t float_encode(enum type t, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (t == T_F64)
        return bits;
    if (t == T_TF32)
        t = T_F32;
    struct format f = format_of(t);
    uint64_t sign = bits >> 63 << (f.mantissa + f.exponent), top = (1ull << f.exponent) - 1;
    if (isinf(x))
        return sign | top << f.mantissa;
    int e = (int)(bits >> 52 & 0x7ff) - 1023 - (f.emin - 1 + f.mantissa) + 1; /* stored exponent */
    if (e < 1)
        return sign | (uint64_t)(fabs(x) * power_of_two(1 - f.emin));
    return sign | (uint64_t)e << f.mantissa | (bits << 12 >> (64 - f.mantissa));
}
static uint64_t canonical_nan(enum type t) {
    switch (t) {
    case T_F64:
        return 0xfff8000000000000;
    case T_F32:
    case T_TF32:
        return 0x7fffffff;
    case T_E4M3X2:
    case T_E5M2X2:
        return 0x7f;
    default:
        return 0x7fff;
    }
}
static bool is_subnormal(enum type t, uint64_t bits) {
    struct format f = format_of(t);
    return !(bits >> f.mantissa & ((1ull << f.exponent) - 1));
}
static uint64_t sign_bit(enum type t) { return 1ull << (8 * type_bytes(t) - 1); }
static uint64_t flush(enum type t, uint64_t bits, bool ftz) {
    return ftz && is_subnormal(t, bits) ? bits & sign_bit(t) : bits;
}
/* Returns the NaN that an instruction gives. For f64, this is the first NaN operand, as a quiet NaN; in all other
 * cases, the canonical NaN. */
static uint64_t nan_of(enum type t, const uint64_t *in, int n) {
    if (t == T_F64)
        for (int i = 0; i < n; i++)
            if (float_is_nan(t, in[i]))
                return in[i] | 0x0008000000000000;
    return canonical_nan(t);
}

static mpfr_rnd_t mpfr_mode(unsigned rnd) {
    switch (rnd) {
    case RND_RZ:
    case RND_RZI:
        return MPFR_RNDZ;
    case RND_RM:
    case RND_RMI:
        return MPFR_RNDD;
    case RND_RP:
    case RND_RPI:
        return MPFR_RNDU;
    default:
        return MPFR_RNDN;
    }
}
/* Returns the value of category `c` in the form of a row. This is an inline version of form_get(), since it is called
 * several times for each lane. */
static inline unsigned form(const struct isa_row *row, enum category c) {
#define X(name, first, bits) [CAT_##name] = {first, (1u << bits) - 1},
    static const struct { unsigned first, mask; } places[N_CATEGORIES] = {ISA_CATEGORIES(X)};
#undef X
    return (unsigned)(row->form >> places[c].first) & places[c].mask;
}
static unsigned rounding(const struct isa_row *row) { return form(row, CAT_RND); }
static bool has(const struct isa_row *row, enum category c) { return form(row, c) != 0; }

/* MPFR numbers that are created once, because creating them costs more than the arithmetic. Operands have the precision
 * of their type, for which MPFR has fast paths. */
static struct {
    bool ready;
    mpfr_exp_t emin, emax; /* widest exponent range */
    mpfr_t in[N_TYPES][3], result[N_TYPES];
    mpfr_t value, half; /* source of a conversion; half a unit in the last place, then its sum with a number */
} pool;

static void wide_range(void) {
    if (!pool.ready) {
        pool.emin = mpfr_get_emin();
        pool.emax = mpfr_get_emax();
        for (int t = 0; t < N_TYPES; t++) {
            int prec = format_of((enum type)t).prec;
            if (prec == 0) /* not a scalar floating-point type */
                continue;
            mpfr_init2(pool.result[t], prec);
            for (int i = 0; i < 3; i++)
                mpfr_init2(pool.in[t][i], prec);
        }
        mpfr_init2(pool.value, 64);
        mpfr_init2(pool.half, 200);
        pool.ready = true;
    }
    mpfr_set_emin(pool.emin);
    mpfr_set_emax(pool.emax);
}
/* Rounds r to its format. `ternary` is MPFR's ternary value: the sign of the error that r already has. */
static double finish(mpfr_t r, int ternary, enum type t, unsigned rnd) {
    struct format f = format_of(t);
    mpfr_set_emin(f.emin);
    mpfr_set_emax(f.emax);
    ternary = mpfr_check_range(r, ternary, mpfr_mode(rnd));
    mpfr_subnormalize(r, ternary, mpfr_mode(rnd));
    double x = mpfr_get_d(r, MPFR_RNDN);
    wide_range();
    return x;
}
/* Rounds x, which is exact, to type t. */
static double round_to(enum type t, mpfr_t x, unsigned rnd) {
    mpfr_ptr r = pool.result[t], h = pool.half;
    wide_range();
    int ternary;
    /* rounding ties away: adds half a unit, which is exact in the wider precision, then truncates */
    if (rnd == RND_RNA) {
        int e = mpfr_zero_p(x) || !mpfr_number_p(x) ? 0 : (int)mpfr_get_exp(x) - format_of(t).prec;
        e = e < format_of(t).emin - 1 ? format_of(t).emin - 1 : e;
        mpfr_set_si_2exp(h, mpfr_sgn(x) < 0 ? -1 : 1, e - 1, MPFR_RNDN);
        mpfr_add(h, x, h, MPFR_RNDN);
        ternary = mpfr_zero_p(x) ? mpfr_set(r, x, MPFR_RNDZ) : mpfr_set(r, h, MPFR_RNDZ);
        rnd = mpfr_number_p(r) && !mpfr_zero_p(r) && mpfr_get_exp(r) > format_of(t).emax ? RND_RN : RND_RZ;
    } else
        ternary = mpfr_set(r, x, mpfr_mode(rnd));
    return finish(r, ternary, t, rnd);
}

/* Applies the modifiers .relu, .sat and .ftz, then encodes the result or NaN. */
static uint64_t limited(const struct isa_row *row, enum type t, double x, uint64_t nan, bool ftz) {
    if (has(row, CAT_SAT))
        return flush(t, float_encode(t, isnan(x) || x <= 0 ? 0.0 : x >= 1 ? 1.0 : x), ftz);
    if (isnan(x))
        return nan;
    if (has(row, CAT_RELU) && x <= 0)
        return 0;
    return flush(t, float_encode(t, x), ftz);
}

/* Computes add, sub, mul, div, fma, mad, rcp or sqrt. */
static uint64_t arithmetic(const struct isa_row *row, enum type t, const uint64_t *from) {
    wide_range();
    mpfr_t *v = pool.in[t];
    mpfr_ptr r = pool.result[t];
    uint64_t in[3];
    unsigned rnd = rounding(row);
    int needed = row->op == OP_FMA || row->op == OP_MAD ? 3 : row->op == OP_RCP || row->op == OP_SQRT ? 1 : 2;
    for (int i = 0; i < needed; i++) {
        in[i] = flush(t, from[i], t != T_F64 && has(row, CAT_FTZ));
        mpfr_set_d(v[i], float_decode(t, in[i]), MPFR_RNDN);
    }
    mpfr_rnd_t mode = mpfr_mode(rnd);
    int ternary;
    switch (row->op) {
    case OP_ADD:
        ternary = mpfr_add(r, v[0], v[1], mode);
        break;
    case OP_SUB:
        ternary = mpfr_sub(r, v[0], v[1], mode);
        break;
    case OP_MUL:
        ternary = mpfr_mul(r, v[0], v[1], mode);
        break;
    case OP_DIV:
        ternary = mpfr_div(r, v[0], v[1], mode);
        break;
    case OP_RCP:
        ternary = mpfr_ui_div(r, 1, v[0], mode);
        break;
    case OP_SQRT:
        ternary = mpfr_sqrt(r, v[0], mode);
        break;
    default:
        ternary = mpfr_fma(r, v[0], v[1], v[2], mode);
    }
    double x = finish(r, ternary, t, rnd);
    return limited(row, t, x, nan_of(t, in, needed), has(row, CAT_FTZ));
}

static uint64_t minmax(const struct isa_row *row, enum type t, const uint64_t *from) {
    uint64_t a = flush(t, from[0], has(row, CAT_FTZ)), b = flush(t, from[1], has(row, CAT_FTZ));
    bool na = float_is_nan(t, a), nb = float_is_nan(t, b);
    if ((na && nb) || (has(row, CAT_NAN) && (na || nb)))
        return nan_of(t, (uint64_t[]){a, b}, 2);
    uint64_t sign = (a ^ b) & sign_bit(t);
    if (has(row, CAT_XORSIGN))
        a &= ~sign_bit(t), b &= ~sign_bit(t);
    double x = float_decode(t, a), y = float_decode(t, b);
    bool a_first = nb || (!na && (x < y || (x == y && signbit(x) && !signbit(y))));
    if (row->op == OP_MAX && !na && !nb)
        a_first = !a_first;
    uint64_t r = a_first ? a : b;
    return has(row, CAT_XORSIGN) ? (r & ~sign_bit(t)) | sign : r;
}

/* Returns the least or the greatest of three numbers. -0 counts as less than +0. */
static uint64_t minmax3(const struct isa_row *row, const uint64_t *from) {
    bool max = row->op == OP_MAX || row->op == OP_MAX3, any_nan = false;
    uint64_t best = canonical_nan(T_F32);
    for (int i = 0; i < 3; i++) {
        uint64_t bits = flush(T_F32, from[i], has(row, CAT_FTZ));
        if (float_is_nan(T_F32, bits)) {
            any_nan = true;
            continue;
        }
        if (has(row, CAT_ABS))
            bits &= ~sign_bit(T_F32);
        double x = float_decode(T_F32, bits), y = float_decode(T_F32, best);
        bool less = x < y || (x == y && signbit(x) && !signbit(y));
        bool more = x > y || (x == y && !signbit(x) && signbit(y));
        if (float_is_nan(T_F32, best) || (max ? more : less))
            best = bits;
    }
    return has(row, CAT_NAN) && any_nan ? canonical_nan(T_F32) : best;
}

static bool compare(unsigned cmp, double x, double y) {
    bool none = isnan(x) || isnan(y);
    switch (cmp) {
    case CMP_EQ:
        return !none && x == y;
    case CMP_NE:
        return !none && x != y;
    case CMP_LT:
        return !none && x < y;
    case CMP_LE:
        return !none && x <= y;
    case CMP_GT:
        return !none && x > y;
    case CMP_GE:
        return !none && x >= y;
    case CMP_EQU:
        return none || x == y;
    case CMP_NEU:
        return none || x != y;
    case CMP_LTU:
        return none || x < y;
    case CMP_LEU:
        return none || x <= y;
    case CMP_GTU:
        return none || x > y;
    case CMP_GEU:
        return none || x >= y;
    case CMP_NUM:
        return !none;
    default:
        return none;
    }
}
static bool boolean(const struct isa_row *row, bool t, bool c) {
    switch (form(row, CAT_OPN)) {
    case OPN_AND:
        return t && c;
    case OPN_OR:
        return t || c;
    case OPN_XOR:
        return t != c;
    default:
        return t;
    }
}
/* Compares half i of the sources. */
static bool compared(const struct isa_row *row, enum type s, const struct lane *x, int i) {
    enum type t = float_half(s);
    uint64_t mask = sign_bit(t) * 2 - 1;
    uint64_t a = (x->a >> 16 * i) & mask, b = (x->b >> 16 * i) & mask;
    bool ftz = has(row, CAT_FTZ);
    return compare(form(row, CAT_CMP), float_decode(t, flush(t, a, ftz)), float_decode(t, flush(t, b, ftz)));
}
static bool ref_setp(const struct isa_row *row, struct lane *x) {
    enum type s = row->types[0];
    bool t = compared(row, s, x, 0);
    x->d = boolean(row, t, x->c);
    x->d2 = boolean(row, is_pair(s) ? compared(row, s, x, 1) : !t, x->c);
    return true;
}
static bool ref_set(const struct isa_row *row, struct lane *x) {
    enum type d = row->types[0], s = row->types[1];
    uint64_t halves = d == T_F16X2 ? 0x3c00 : d == T_BF16X2 ? 0x3f80 : 0xffff;
    if (is_pair(s)) {
        x->d = boolean(row, compared(row, s, x, 0), x->c) ? halves : 0;
        x->d |= boolean(row, compared(row, s, x, 1), x->c) ? halves << 16 : 0;
    } else {
        uint64_t truth = is_float(d) ? float_encode(d, 1.0) : sign_bit(d) * 2 - 1;
        x->d = boolean(row, compared(row, s, x, 0), x->c) ? truth : 0;
    }
    return true;
}

/* --- cvt --- */

/* Sets v to the exact value of an integer of type t. */
static void integer_value(mpfr_t v, enum type t, uint64_t bits) {
    unsigned unused = 64 - 8 * type_bytes(t);
    if (type_class(t) == 's')
        mpfr_set_si(v, (long)(bits << unused) >> unused, MPFR_RNDN);
    else
        mpfr_set_ui(v, bits << unused >> unused, MPFR_RNDN);
}
/* Converts integer v to integer type t. The value is clamped or wraps. */
static uint64_t integer_bits(enum type t, mpfr_t v, bool clamp) {
    unsigned bits = 8 * type_bytes(t);
    bool is_signed = type_class(t) == 's';
    uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    int64_t min = is_signed ? (int64_t)(-(1ull << (bits - 1))) : 0;
    uint64_t max = is_signed ? mask >> 1 : mask;
    if (clamp && mpfr_cmp_si(v, min) < 0)
        return (uint64_t)min & mask;
    if (clamp && mpfr_cmp_ui(v, max) > 0)
        return max;
    return (mpfr_sgn(v) < 0 ? (uint64_t)mpfr_get_si(v, MPFR_RNDZ) : mpfr_get_ui(v, MPFR_RNDZ)) & mask;
}
static uint64_t to_integer(const struct isa_row *row, enum type d, enum type s, uint64_t bits, mpfr_t v) {
    if (float_is_nan(s, bits))
        return s == T_F64 || type_bytes(d) == 8 ? sign_bit(d) : 0;
    mpfr_rint(v, v, mpfr_mode(rounding(row)) == MPFR_RNDN ? MPFR_RNDN : mpfr_mode(rounding(row)));
    if (mpfr_inf_p(v))
        mpfr_set_si_2exp(v, mpfr_sgn(v), 70, MPFR_RNDN);
    return integer_bits(d, v, true);
}
static uint64_t to_float(const struct isa_row *row, enum type d, enum type s, uint64_t bits, mpfr_t v) {
    unsigned rnd = rounding(row);
    bool integral = rnd >= RND_RNI && rnd <= RND_RPI;
    if (integral) /* mpfr_rint() with RNDN rounds ties to even */
        mpfr_rint(v, v, mpfr_mode(rnd));
    double x = round_to(d, v, integral ? RND_RN : rnd);
    bool satfinite = has(row, CAT_SATFINITE);
    if (satfinite && fabs(x) > float_max(d))
        x = copysign(float_max(d), x);
    uint64_t nan = canonical_nan(d);
    /* the NaN's payload moves to the upper bits, and the NaN is quiet */
    if (d == T_F64 && is_float(s) && float_is_nan(s, bits)) {
        struct format f = format_of(s);
        uint64_t m = s == T_F64 || s == T_F32 ? bits & ((1ull << f.mantissa) - 1) : 0x7fffff;
        unsigned up = s == T_F64 ? 0 : 29;
        bool neg = (s == T_F64 || s == T_F32) && (bits & sign_bit(s));
        nan = m << up | 0x7ff8000000000000 | (neg ? sign_bit(T_F64) : 0);
    }
    return limited(row, d, x, nan, d == T_F32 && has(row, CAT_FTZ)); /* .ftz applies to f32 only */
}
/* Converts one element. */
static uint64_t convert(const struct isa_row *row, enum type d, enum type s, uint64_t bits) {
    wide_range();
    mpfr_ptr v = pool.value;
    if (is_float(s)) {
        bool ftz = has(row, CAT_FTZ) && s == T_F32;
        bits = flush(s, bits, ftz);
        mpfr_set_d(v, float_decode(s, bits), MPFR_RNDN);
    } else
        integer_value(v, s, bits);
    uint64_t r;
    if (is_float(d))
        r = to_float(row, d, s, bits, v);
    else if (is_float(s))
        r = to_integer(row, d, s, bits, v);
    else
        r = integer_bits(d, v, has(row, CAT_SAT));
    return r;
}
static bool ref_pack(const struct isa_row *row, struct lane *x) {
    enum type d = row->types[0];
    unsigned bits = 8 * type_bytes(d);
    wide_range();
    mpfr_ptr v = pool.value;
    integer_value(v, T_S32, x->a);
    uint64_t a = integer_bits(d, v, true);
    integer_value(v, T_S32, x->b);
    uint64_t b = integer_bits(d, v, true);
    x->d = a << bits | b;
    if (bits == 8)
        x->d = (x->c << 16 | x->d) & 0xffffffff;
    return true;
}
static bool ref_cvt(const struct isa_row *row, struct lane *x) {
    enum type d = row->types[0], s = row->types[1];
    if (form(row, CAT_MODE) == MODE_PACK)
        return ref_pack(row, x);
    bool to_bytes = d == T_E4M3X2 || d == T_E5M2X2, from_bytes = s == T_E4M3X2 || s == T_E5M2X2;
    if (to_bytes && s == T_F32)
        x->d = convert(row, d, s, x->a) << 8 | convert(row, d, s, x->b);
    else if (to_bytes)
        x->d = convert(row, d, T_F16, x->a >> 16) << 8 | convert(row, d, T_F16, x->a & 0xffff);
    else if (from_bytes)
        x->d = convert(row, T_F16, s, x->a >> 8 & 0xff) << 16 | convert(row, T_F16, s, x->a & 0xff);
    else if (is_pair(d))
        x->d = convert(row, float_half(d), s, x->a) << 16 | convert(row, float_half(d), s, x->b);
    else
        x->d = convert(row, d, s, x->a);
    return true;
}

static bool ref_testp(const struct isa_row *row, struct lane *x) {
    enum type t = row->types[0];
    double v = float_decode(t, x->a);
    bool subnormal = is_subnormal(t, x->a) && v != 0;
    switch (form(row, CAT_MODE)) {
    case MODE_FINITE:
        x->d = isfinite(v) != 0;
        return true;
    case MODE_INFINITE:
        x->d = isinf(v) != 0;
        return true;
    case MODE_NUMBER:
        x->d = !isnan(v);
        return true;
    case MODE_NOTANUMBER:
        x->d = isnan(v) != 0;
        return true;
    case MODE_NORMAL:
        x->d = isfinite(v) && !subnormal;
        return true;
    case MODE_SUBNORMAL:
        x->d = subnormal;
        return true;
    }
    return false;
}

/* Computes a product and then a sum or difference, as mul and add or sub do. */
static uint64_t product_and_sum(const struct isa_row *row, enum type t, const uint64_t *in) {
    struct isa_row step = *row;
    step.op = OP_MUL;
    const uint64_t p = arithmetic(&step, t, in);
    step.op = row->op == OP_MUL_ADD ? OP_ADD : OP_SUB;
    return arithmetic(&step, t, row->op == OP_SUB_MUL ? (uint64_t[]){in[2], p} : (uint64_t[]){p, in[2]});
}

/* Computes fma with the signs of the product and of the addend, as neg and fma do. */
static uint64_t signed_fma(const struct isa_row *row, enum type t, const uint64_t *in) {
    const uint64_t sign = t == T_F64 ? 1ull << 63 : 1u << 31;
    struct isa_row step = *row;
    step.op = OP_FMA;
    return arithmetic(
        &step, t,
        (uint64_t[]){in[0] ^ (row->op == OP_FMA_SUB ? 0 : sign), in[1], in[2] ^ (row->op == OP_SUB_FMA ? 0 : sign)});
}

/* Computes one half of a pair, or a scalar. */
static bool element(const struct isa_row *row, enum type t, const uint64_t *in, uint64_t *d) {
    bool ftz = has(row, CAT_FTZ);
    switch (row->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_FMA:
    case OP_MAD:
    case OP_RCP:
    case OP_SQRT:
        *d = arithmetic(row, t, in);
        return true;
    case OP_MUL_ADD:
    case OP_MUL_SUB:
    case OP_SUB_MUL:
        *d = product_and_sum(row, t, in);
        return true;
    case OP_FMA_SUB:
    case OP_SUB_FMA:
    case OP_NEG_FMA:
        *d = signed_fma(row, t, in);
        return true;
    case OP_MIN:
    case OP_MAX:
        *d = row->c != T_NONE ? minmax3(row, in) : minmax(row, t, in);
        return true;
    case OP_MIN3:
    case OP_MAX3:
        *d = minmax3(row, in);
        return true;
    case OP_ABS:
        *d = flush(t, in[0], ftz) & ~sign_bit(t);
        return true;
    case OP_NEG:
        *d = flush(t, in[0], ftz) ^ sign_bit(t);
        return true;
    case OP_COPYSIGN:
        *d = (in[0] & sign_bit(t)) | (in[1] & ~sign_bit(t));
        return true;
    }
    return false;
}

static uint64_t widened(enum type h, uint64_t bits) {
    return float_is_nan(h, bits) ? canonical_nan(T_F32) : float_encode(T_F32, float_decode(h, bits));
}

bool float_ref(const struct isa_row *row, struct lane *x) {
    switch (row->op) {
    case OP_CVT:
        return ref_cvt(row, x);
    case OP_SETP:
        return ref_setp(row, x);
    case OP_SET:
        return ref_set(row, x);
    case OP_TESTP:
        return ref_testp(row, x);
    case OP_SLCT:
        x->d = float_decode(T_F32, flush(T_F32, x->c, has(row, CAT_FTZ))) >= 0 ? x->a : x->b;
        return true;
    }
    enum type t = row->types[0], h = row->types[1];
    if (h != T_NONE) { /* f32 from 16-bit operands: widens them exactly, then computes in f32 */
        uint64_t a = widened(h, x->a), b = row->op == OP_FMA ? widened(h, x->b) : x->b;
        return element(row, t, (uint64_t[]){a, b, x->c}, &x->d);
    }
    if (!is_pair(t))
        return element(row, t, (uint64_t[]){x->a, x->b, x->c}, &x->d);
    uint64_t lo, hi;
    bool known = element(row, float_half(t), (uint64_t[]){x->a & 0xffff, x->b & 0xffff, x->c & 0xffff}, &lo);
    known &= element(row, float_half(t), (uint64_t[]){x->a >> 16, x->b >> 16, x->c >> 16}, &hi);
    x->d = hi << 16 | lo;
    return known;
}
