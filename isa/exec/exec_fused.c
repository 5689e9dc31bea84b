/* Executes fused f32 operations. Each part of a fused instruction replaces one instruction of the program, and the lane
 * function of that instruction computes the part. So results are equal bit for bit to those of the separate
 * instructions. With `wide`, a value goes from part to part as a double and is rounded once, at the end. A sum or
 * product in double differs from the exact value by at most half an ulp of a double. For the statistics of rounding,
 * the program's result, with a rounding after each operation, is computed, too. */
#include "isa/decode.h"
#include "isa/fused.h"
#include "isa/machine/effects.h"
#include "isa/softfloat.h"
#include <math.h>

static const float *source(const struct warp *w, const struct inst *in, unsigned place) {
    return reg_ptr(w, w->program->lists[in->list + place]);
}

static void exact(const struct warp *w, const struct inst *in, const struct fused *c, unsigned from, unsigned to,
                  float *out) {
    for (unsigned k = from; k < to; k++) {
        const struct fused_part *p = &c->part[k];
        const void *s[3], *zero = reg_ptr(w, OPND_ZERO);
        for (unsigned i = 0; i < 3; i++)
            s[i] = i >= p->n_src ? zero : p->src[i] == FUSED_PREVIOUS ? out : (const void *)source(w, in, p->src[i]);
        p->lane(out, out, s[0], s[1], s[2], zero);
    }
}

static double wide_result(enum fused_op op, const double s[3]) {
    switch (op) {
    case FUSED_ADD:
        return s[0] + s[1];
    case FUSED_SUB:
        return s[0] - s[1];
    case FUSED_MUL:
        return s[0] * s[1];
    case FUSED_FMA:
        return fma(s[0], s[1], s[2]);
    case FUSED_MIN:
        return fmin(s[0], s[1]);
    case FUSED_MAX:
        return fmax(s[0], s[1]);
    case FUSED_NEG:
        return -s[0];
    case FUSED_ABS:
        return fabs(s[0]);
    case FUSED_MOVE:
        break;
    }
    return s[0];
}

static double wide_operation(const struct fused_part *p, const double s[3]) {
    double r = wide_result(p->op, s);
    if (p->sat)
        r = r > 0 ? r < 1 ? r : 1 : 0; /* a NaN becomes 0 */
    return r;
}

/* Rounds to f32 in the mode of the last part. */
static float rounded(const struct fused_part *p, double x) {
    float f = (float)x;
    if (x != x)
        return f32_result(f, p->ftz, p->sat);
    double back = f;
    bool low = p->rounding == RND_RM || (p->rounding == RND_RZ && x > 0);
    bool high = p->rounding == RND_RP || (p->rounding == RND_RZ && x < 0);
    if ((low && back > x) || (high && back < x))
        f = nextafterf(f, low ? -INFINITY : INFINITY);
    return f32_result(f, p->ftz, p->sat);
}

static float wide_lane(const struct warp *w, const struct inst *in, const struct fused *c, unsigned from, unsigned to,
                       int lane) {
    double previous = 0;
    for (unsigned k = from; k < to; k++) {
        const struct fused_part *p = &c->part[k];
        double s[3] = {0};
        for (unsigned i = 0; i < p->n_src; i++)
            s[i] = p->src[i] == FUSED_PREVIOUS ? previous : (double)f32_flush(source(w, in, p->src[i])[lane], p->ftz);
        previous = wide_operation(p, s);
    }
    while (c->part[to - 1].op > FUSED_FMA) /* The last parts may be min, max, sign or move, which do not round. */
        to--;
    return rounded(&c->part[to - 1], previous);
}

/* Returns true if one of the parts [from, to) rounds. If none does, the result is the same with and without `wide`. */
static bool rounds(const struct fused *c, unsigned from, unsigned to) {
    for (unsigned k = from; k < to; k++)
        if (c->part[k].op <= FUSED_FMA)
            return true;
    return false;
}

static void run_sequence(struct warp *w, const struct inst *in, const struct fused *c, unsigned from, unsigned to,
                         rowmask_t m, float *out) {
    exact(w, in, c, from, to, out);
    for (rowmask_t left = c->wide && rounds(c, from, to) ? m : 0; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        float have = wide_lane(w, in, c, from, to, l);
        if (w->cta)
            rounding_error_see(&w->cta->rounding_error, have, out[l]);
        out[l] = have;
    }
}

void fused_execute(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    _Alignas(64) float first[WARP_LANES], second[WARP_LANES];
    const struct fused *c = w->program->compounds[in->imm].what;
    rowmask_t holds = c->folded ? pred_get(w, in->c) : LANES_ALL, others = c->folded ? m & ~holds : m;
    fx->taken = m & holds;
    run_sequence(w, in, c, 0, c->split, m & holds, first);
    if (c->split < c->n)
        run_sequence(w, in, c, c->split, c->n, others, second);
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), first, m & holds, sizeof *first);
    opnd_t to = c->folded && in->d2 == OPND_SINK ? in->d : in->d2;
    if (c->split < c->n && to != OPND_SINK)
        blend_lanes(reg_ptr(w, to), second, others, sizeof *second);
}
