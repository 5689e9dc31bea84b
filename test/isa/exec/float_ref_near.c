/* Error bounds of approximate instructions, from PTX ISA 9.0, sections 9.7.3.8 to 9.7.3.22, 9.7.4.9 and 9.7.4.10. */
#include "float_ref.h"
#include <math.h>

enum measure { ULP, RELATIVE, ABSOLUTE };
/* An error bound: |result - exact| <= size, in the unit that `measure` selects. */
struct bound {
    enum measure measure;
    double size;
};

static bool is_full(const struct isa_row *row) { return form_get(row->form, CAT_APPROX) == APPROX_FULL; }
static bool has_ftz(const struct isa_row *row) { return form_get(row->form, CAT_FTZ) != 0; }

bool float_ref_is_near(const struct isa_row *row) {
    switch (row->op) {
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH:
    case OP_RSQRT:
        return true;
    case OP_DIV:
    case OP_RCP:
    case OP_SQRT:
        return form_get(row->form, CAT_APPROX) != APPROX_NONE;
    }
    return false;
}

/* Returns the error bound of a row for operand x. For rsqrt.approx.f64, PTX states no bound; our bound is two double
 * ulps. For rcp and rsqrt.approx.ftz.f64, PTX only states that 20 bits are kept; our bound is one unit of the 20-bit
 * significand. For sin and cos beyond 100 pi, PTX states no bound; we use the bound of the range up to 2 pi. */
static struct bound bound_of(const struct isa_row *row, enum type t, double x) {
    switch (row->op) {
    case OP_SIN:
    case OP_COS:
        return (struct bound){ABSOLUTE, fabs(x) > 2 * M_PI && fabs(x) < 100 * M_PI ? exp2(-14.7) : exp2(-20.5)};
    case OP_LG2:
        return (struct bound){x > 0.5 && x < 2 ? ABSOLUTE : RELATIVE, exp2(-22)};
    case OP_EX2:
        return t == T_F16    ? (struct bound){RELATIVE, exp2(-9.9)}
               : t == T_BF16 ? (struct bound){RELATIVE, exp2(-7)}
                             : (struct bound){ULP, 2};
    case OP_TANH:
        return t == T_F16    ? (struct bound){ABSOLUTE, exp2(-10.987)}
               : t == T_BF16 ? (struct bound){ABSOLUTE, exp2(-8)}
                             : (struct bound){RELATIVE, exp2(-11)};
    case OP_RSQRT:
        return t == T_F64 ? has_ftz(row) ? (struct bound){RELATIVE, exp2(-20)} : (struct bound){ULP, 2}
                          : (struct bound){RELATIVE, exp2(-22.9)};
    case OP_RCP:
        return t == T_F64 ? (struct bound){RELATIVE, exp2(-20)} : (struct bound){ULP, 1};
    case OP_SQRT:
        return (struct bound){RELATIVE, exp2(-23)};
    default:
        return (struct bound){ULP, 2};
    }
}

/* MPFR's numbers, created once. */
static struct {
    bool ready;
    mpfr_t exact[2]; /* for f32: 60 bits, which are 36 more than f32 has; for f64: 100 bits */
    mpfr_t x, y, got, size, least;
} pool;
static void make_pool(void) {
    if (pool.ready)
        return;
    mpfr_init2(pool.exact[0], 60);
    mpfr_init2(pool.exact[1], 100);
    mpfr_inits2(53, pool.x, pool.y, pool.least, (mpfr_ptr)0);
    mpfr_inits2(100, pool.got, pool.size, (mpfr_ptr)0);
    pool.ready = true;
}

static void exact_value(const struct isa_row *row, mpfr_t r, mpfr_t x, mpfr_t y) {
    switch (row->op) {
    case OP_SIN:
        mpfr_sin(r, x, MPFR_RNDN);
        break;
    case OP_COS:
        mpfr_cos(r, x, MPFR_RNDN);
        break;
    case OP_LG2:
        mpfr_log2(r, x, MPFR_RNDN);
        break;
    case OP_EX2:
        mpfr_exp2(r, x, MPFR_RNDN);
        break;
    case OP_TANH:
        mpfr_tanh(r, x, MPFR_RNDN);
        break;
    case OP_RSQRT: /* rsqrt of -0 is -inf here, but +inf in MPFR */
        mpfr_rec_sqrt(r, x, MPFR_RNDN);
        if (mpfr_zero_p(x))
            mpfr_set_inf(r, mpfr_signbit(x) ? -1 : 1);
        break;
    case OP_RCP:
        mpfr_ui_div(r, 1, x, MPFR_RNDN);
        break;
    case OP_SQRT:
        mpfr_sqrt(r, x, MPFR_RNDN);
        break;
    default:
        mpfr_div(r, x, y, MPFR_RNDN);
    }
}

/* Returns true if |got - r| is at most the bound b. In this comparison, infinity counts as twice the greatest finite
 * number. */
static bool within(enum type t, struct bound b, double got, mpfr_t r) {
    mpfr_ptr g = pool.got, size = pool.size, least = pool.least;
    mpfr_set_d(g, got, MPFR_RNDN);
    if (isinf(got))
        mpfr_set_d(g, copysign(float_max(t), got), MPFR_RNDN), mpfr_mul_2ui(g, g, 1, MPFR_RNDN);
    mpfr_sub(g, g, r, MPFR_RNDN);
    mpfr_abs(g, g, MPFR_RNDN);
    mpfr_set_d(size, b.size, MPFR_RNDN);
    if (b.measure == RELATIVE)
        mpfr_mul(size, size, r, MPFR_RNDN), mpfr_abs(size, size, MPFR_RNDN);
    if (b.measure == ULP) {
        int precision = t == T_F64 ? 53 : 24;
        mpfr_mul_2si(size, size, mpfr_get_exp(r) - precision, MPFR_RNDN);
    }
    /* the error bound is at least the least positive number, or half of it if the unit is not ULP */
    mpfr_set_d(least, float_min(t), MPFR_RNDN);
    if (b.measure != ULP)
        mpfr_div_2ui(least, least, 1, MPFR_RNDN);
    bool inside = mpfr_cmp(g, size) <= 0 || mpfr_cmp(g, least) <= 0;
    /* a value beyond the greatest number may give infinity */
    mpfr_set_d(size, float_max(t), MPFR_RNDN);
    inside |= isinf(got) && mpfr_cmpabs(r, size) > 0;
    return inside;
}

static bool near(const struct isa_row *row, enum type t, uint64_t a, uint64_t b, uint64_t got) {
    double min_normal = t == T_F64 ? 0x1p-1022 : t == T_F16 ? 0x1p-14 : 0x1p-126;
    double x = float_decode(t, a), y = float_decode(t, b), result = float_decode(t, got);
    bool upper = t == T_F64 && has_ftz(row); /* the instruction reads and writes only the upper word of the f64 */
    if (upper)
        x = float_decode(t, a & 0xffffffff00000000);
    if (has_ftz(row)) {
        x = fabs(x) < min_normal ? copysign(0, x) : x;
        y = fabs(y) < min_normal ? copysign(0, y) : y;
    }
    if (upper && (got & 0xffffffff))
        return false;
    if (row->op == OP_DIV && !is_full(row) && fabs(y) > 0x1p126 && !isinf(y)) { /* 1/y is flushed */
        if (isinf(x) || isnan(x))
            return got == 0x7fffffff;
        return result == 0 && !signbit(result) == (!signbit(x) == !signbit(y));
    }
    make_pool();
    mpfr_ptr r = pool.exact[t == T_F64], v = pool.x, w = pool.y;
    mpfr_set_d(v, x, MPFR_RNDN);
    mpfr_set_d(w, y, MPFR_RNDN);
    exact_value(row, r, v, w);
    bool ok;
    if (mpfr_nan_p(r)) {
        uint64_t nan = t == T_F64 ? 0 : t == T_F32 ? 0x7fffffff : 0x7fff;
        nan = upper ? 0x7fffffff00000000 : nan;
        ok = nan ? got == nan : isnan(x) ? got == (a | 0x0008000000000000) : got == 0xfff8000000000000;
    } else if (mpfr_inf_p(r) || mpfr_zero_p(r))
        ok = result == mpfr_get_d(r, MPFR_RNDN) && !signbit(result) == !mpfr_signbit(r);
    else if (has_ftz(row) && mpfr_cmp_d(v, 0) != 0 && result == 0) {
        mpfr_abs(v, r, MPFR_RNDN); /* the result is flushed to zero if it is subnormal before or after rounding */
        ok = mpfr_cmp_d(v, min_normal) < 0 && !signbit(result) == !mpfr_signbit(r);
    } else
        ok = within(t, bound_of(row, t, x), result, r) && (result == 0 || !has_ftz(row) || fabs(result) >= min_normal);
    return ok;
}

bool float_ref_near(const struct isa_row *row, const struct lane *x, uint64_t got) {
    enum type t = row->types[0], half = float_half(t);
    if (half == t)
        return near(row, t, x->a, x->b, got);
    return near(row, half, x->a & 0xffff, x->b & 0xffff, got & 0xffff) &&
           near(row, half, x->a >> 16, x->b >> 16, got >> 16);
}
