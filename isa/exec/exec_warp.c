/* Operations across the lanes of a warp: shuffles, votes, matches, reductions; also clocks. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_warp.h"
#include "isa/machine/lane_vectors.h"
#include "isa/rows.h"
#include "isa/softfloat.h"

enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

/* Returns the lane that `lane` reads (PTX ISA 9.7.9.6); sets *in_range to the predicate that shfl returns. */
static inline int shuffle_source(enum shuffle mode, int lane, uint32_t b, uint32_t c, bool *in_range) {
    int distance = b & 31, segment = c >> 8 & 31, clamp = c & 31;
    int last = (lane & segment) | (clamp & ~segment), first = lane & segment, from;
    switch (mode) {
    case SHUFFLE_UP:
        from = lane - distance;
        *in_range = from >= last;
        break;
    case SHUFFLE_DOWN:
        from = lane + distance;
        *in_range = from <= last;
        break;
    case SHUFFLE_BFLY:
        from = lane ^ distance;
        *in_range = from <= last;
        break;
    default:
        from = first | (distance & ~segment);
        *in_range = from <= last;
    }
    return *in_range ? from : lane;
}

/* Executes a shuffle. A lane that does not execute the shuffle supplies 0. The manual leaves the value undefined, but
 * NVIDIA GPUs return 0. Reductions whose last step does not use all lanes rely on the 0. */
static inline __attribute__((always_inline)) void shuffle(struct warp *w, const struct inst *in, rowmask_t m,
                                                          enum shuffle mode) {
    const uint32_t *a = reg_ptr(w, in->a), *b = reg_ptr(w, in->b), *c = reg_ptr(w, in->c);
    uint32_t d[WARP_LANES], valid[WARP_LANES], given[WARP_LANES];
    int from[WARP_LANES];
    rowmask_t p = 0;
    LANES(l) { /* this loop is separate from the loop that fetches values, so that it becomes vector code */
        bool in_range;
        from[l] = shuffle_source(mode, l, b[l], c[l], &in_range);
        valid[l] = in_range ? lane_bit[l] : 0;
    }
    if (m != LANES_ALL) {
        LANES(l) given[l] = m & lane_bit[l] ? a[l] : 0;
        a = given;
    }
    for (int l = 0; l < WARP_LANES; l++) {
        d[l] = a[from[l]];
        p |= valid[l];
    }
    blend_lanes(reg_ptr(w, in->d), d, m, sizeof d[0]);
    if (in->d2 != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d2), &p, m, 0);
}

#define SHUFFLE(name, mode)                                                                                            \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        (void)fx;                                                                                                      \
        shuffle(w, in, m, mode);                                                                                       \
    }
SHUFFLE(shuffle_up, SHUFFLE_UP)
SHUFFLE(shuffle_down, SHUFFLE_DOWN)
SHUFFLE(shuffle_bfly, SHUFFLE_BFLY)
SHUFFLE(shuffle_idx, SHUFFLE_IDX)

int shuffle_lane(const struct warp *w, const struct inst *in, int lane) {
    static warp_fn *const fn[] = {shuffle_up, shuffle_down, shuffle_bfly, shuffle_idx};
    const uint32_t *b = reg_ptr(w, in->b), *c = reg_ptr(w, in->c);
    enum shuffle mode = SHUFFLE_UP;
    bool in_range;
    while (fn[mode] != in->fn.warp)
        mode++;
    return shuffle_source(mode, lane, b[lane], c[lane], &in_range);
}

/* Returns the executing lanes that are in the member mask. For a form without a mask, returns all executing lanes. */
static rowmask_t members(const struct warp *w, const struct inst *in, rowmask_t m) {
    return in->e == OPND_ZERO ? m : m & ((const uint32_t *)reg_ptr(w, in->e))[__builtin_ctz(m)];
}

static void put_u32(struct warp *w, opnd_t d, rowmask_t m, uint32_t value) {
    uint32_t all[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        all[l] = value;
    blend_lanes(reg_ptr(w, d), all, m, sizeof value);
}

static void put_pred(struct warp *w, opnd_t d, rowmask_t m, bool value) {
    rowmask_t all = value ? LANES_ALL : 0;
    if (d != OPND_SINK)
        blend_lanes(reg_ptr(w, d), &all, m, 0);
}

#define VOTE(name, expression)                                                                                         \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        rowmask_t who = members(w, in, m), yes = pred_get(w, in->a) & who;                                             \
        (void)fx;                                                                                                      \
        put_pred(w, in->d, m, expression);                                                                             \
    }
VOTE(vote_all, yes == who)
VOTE(vote_any, yes != 0)
VOTE(vote_uni, yes == who || !yes)

static void vote_ballot(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    put_u32(w, in->d, m, pred_get(w, in->a) & members(w, in, m));
}

/* The low and high words of a source with `bytes` (4 or 8) bytes per lane; 4-byte sources have a high word of 0. */
struct match_words {
    _Alignas(64) uint32_t low[WARP_LANES], high[WARP_LANES];
};

static inline struct match_words match_words(const struct warp *w, const struct inst *in, unsigned bytes) {
    struct match_words v;
    if (bytes == 4) {
        memcpy(v.low, reg_ptr(w, in->a), sizeof v.low);
        memset(v.high, 0, sizeof v.high);
        return v;
    }
    const uint64_t *a = reg_ptr(w, in->a);
    LANES(l) {
        v.low[l] = (uint32_t)a[l];
        v.high[l] = (uint32_t)(a[l] >> 32);
    }
    return v;
}

/* Compares each lane's value with the values of all members. The loop has no branches, so its time does not
 * depend on the values. */
static inline __attribute__((always_inline)) void match_any(struct warp *w, const struct inst *in, rowmask_t m,
                                                            unsigned bytes) {
    enum { N = VEC_BYTES / sizeof(uint32_t), VECTORS = WARP_LANES / N };
    const struct match_words v = match_words(w, in, bytes);
    const rowmask_t who = members(w, in, m);
    vec_u32 low[VECTORS], high[VECTORS], d[VECTORS] = {{0}};
    memcpy(low, v.low, sizeof low);
    memcpy(high, v.high, sizeof high);
    for (int k = 0; k < WARP_LANES; k++) {
        const uint32_t bit = who & lane_bit[k];
        for (unsigned i = 0; i < VECTORS; i++) {
            vec_u32 same = (vec_u32)(low[i] == v.low[k]);
            if (bytes == 8)
                same &= (vec_u32)(high[i] == v.high[k]);
            d[i] |= same & bit;
        }
    }
    blend_lanes(reg_ptr(w, in->d), d, m, sizeof(uint32_t));
}

static inline void match_all(struct warp *w, const struct inst *in, rowmask_t m, unsigned bytes) {
    const struct match_words v = match_words(w, in, bytes);
    const rowmask_t who = members(w, in, m);
    const int first = who ? __builtin_ctz(who) : 0;
    uint32_t differ = 0;
    LANES(l) differ |= (v.low[l] ^ v.low[first]) | (v.high[l] ^ v.high[first]) ? lane_bit[l] : 0;
    const bool all = who && !(differ & who);
    put_u32(w, in->d, m, all ? who : 0);
    put_pred(w, in->d2, m, all);
}

#define MATCH(name, how, bytes)                                                                                        \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        (void)fx;                                                                                                      \
        how(w, in, m, bytes);                                                                                          \
    }
MATCH(match_any_b32, match_any, 4)
MATCH(match_any_b64, match_any, 8)
MATCH(match_all_b32, match_all, 4)
MATCH(match_all_b64, match_all, 8)

/* `x` is the result so far, `y` is the next lane's value. */
#define REDUX(name, T, expression)                                                                                     \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        const T *a = reg_ptr(w, in->a);                                                                                \
        rowmask_t who = members(w, in, m);                                                                             \
        T x = who ? a[__builtin_ctz(who)] : 0;                                                                         \
        (void)fx;                                                                                                      \
        for (who &= who - 1; who; who &= who - 1) {                                                                    \
            T y = a[__builtin_ctz(who)];                                                                               \
            x = (expression);                                                                                          \
        }                                                                                                              \
        put_u32(w, in->d, m, (uint32_t)x);                                                                             \
    }
REDUX(redux_add, uint32_t, x + y)
REDUX(redux_and, uint32_t, x &y)
REDUX(redux_or, uint32_t, x | y)
REDUX(redux_xor, uint32_t, x ^ y)
REDUX(redux_min_u32, uint32_t, x < y ? x : y)
REDUX(redux_max_u32, uint32_t, x > y ? x : y)
REDUX(redux_min_s32, int32_t, x < y ? x : y)
REDUX(redux_max_s32, int32_t, x > y ? x : y)

/* Executes redux of f32. If an operand is NaN, the result is NaN with `nan`, and the other operand without `nan`. -0 is
 * below +0. */
static void redux_f32(struct warp *w, const struct inst *in, rowmask_t m, bool max, bool abs, bool nan) {
    const uint32_t *a = reg_ptr(w, in->a), keep = abs ? 0x7fffffffu : 0xffffffffu;
    float x = f32_from_bits(F32_NAN);
    bool first = true;
    for (rowmask_t who = members(w, in, m); who; who &= who - 1) {
        float y = f32_from_bits(a[__builtin_ctz(who)] & keep);
        x = f32_minmax(first ? y : x, y, max, nan, false);
        first = false;
    }
    put_u32(w, in->d, m, f32_bits(x));
}
#define REDUX_F32(name, max, abs, nan)                                                                                 \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        (void)fx;                                                                                                      \
        redux_f32(w, in, m, max, abs, nan);                                                                            \
    }
REDUX_F32(redux_min_f32, 0, 0, 0)
REDUX_F32(redux_min_nan_f32, 0, 0, 1)
REDUX_F32(redux_min_abs_f32, 0, 1, 0)
REDUX_F32(redux_min_abs_nan_f32, 0, 1, 1)
REDUX_F32(redux_max_f32, 1, 0, 0)
REDUX_F32(redux_max_nan_f32, 1, 0, 1)
REDUX_F32(redux_max_abs_f32, 1, 1, 0)
REDUX_F32(redux_max_abs_nan_f32, 1, 1, 1)

static void activemask(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    put_u32(w, in->d, m, m);
}

static void elect(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    rowmask_t who = members(w, in, m), leader = who & -who;
    (void)fx;
    if (in->d != OPND_SINK)
        put_u32(w, in->d, m, who ? (uint32_t)__builtin_ctz(who) : 0);
    if (in->d2 != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d2), &leader, m, 0);
}

/* Reads special registers that change. Clocks and the global timer have the value of the warp's clock, so the timer,
 * too, advances by one per cycle. Performance counters (%pm) read 0. */
static void read_special(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    bool high = in->imm == SPECIAL_CLOCK_HI || in->imm == SPECIAL_GLOBALTIMER_HI;
    bool clock = in->imm >= SPECIAL_CLOCK && in->imm <= SPECIAL_GLOBALTIMER_HI;
    uint64_t value = !clock ? 0 : high ? w->clock >> 32 : w->clock, all[WARP_LANES];
    (void)fx;
    if (in->dsize == 8) {
        for (int l = 0; l < WARP_LANES; l++)
            all[l] = value;
        blend_lanes(reg_ptr(w, in->d), all, m, sizeof value);
    } else {
        put_u32(w, in->d, m, (uint32_t)value);
    }
}

/* Advances the warp's clock by the longest time of the lanes, at most 1 ms (PTX ISA 9.7.13). The driver of a timing
 * model sets the clock before each instruction, and delays the path by the difference (sm_nap()). */
static void nanosleep(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    enum { LONGEST = 1000000 };
    const uint32_t *a = reg_ptr(w, in->a);
    uint32_t longest = 0;
    (void)fx;
    for (; m; m &= m - 1)
        longest = a[__builtin_ctz(m)] > longest ? a[__builtin_ctz(m)] : longest;
    w->clock += longest < LONGEST ? longest : LONGEST;
}

#define SHFL_ROW(mode, fn)                                                                                             \
    WARP_FN(SHFL, T1(B32), FORM(MODE, mode), WARP, SHFL, OPDS(B32, PRED, B32, B32, B32, B32), fn, .d2_optional = 1,    \
            .optional_sources = 1)
#define VOTE_ROW(mode, type, fn)                                                                                       \
    WARP_FN(VOTE, T1(type), FORM(MODE, mode), WARP, INT_OTHER, OPDS(type, NONE, PRED, NONE, NONE, B32), fn,            \
            .optional_sources = 1)
#define MATCH_ROW(type, mode, ...)                                                                                     \
    WARP_FN(MATCH, T1(type), FORM(MODE, mode), WARP, INT_OTHER, OPDS(B32, PRED, type, NONE, NONE, B32), __VA_ARGS__)
#define REDUX_ROW(type, opn, fn) REDUX_FORM(type, FORM(OPN, opn), fn)
#define REDUX_FORM(type, form, fn)                                                                                     \
    WARP_FN(REDUX, T1(type), form, WARP, INT_OTHER, OPDS(type, NONE, type, NONE, NONE, B32), fn)
#define REDUX_F32_ROWS(opn, fn)                                                                                        \
    REDUX_FORM(F32, FORM(OPN, opn), fn##_f32)                                                                          \
    REDUX_FORM(F32, FORM(OPN, opn) | FLAG(NAN), fn##_nan_f32)                                                          \
    REDUX_FORM(F32, FORM(OPN, opn) | FLAG(ABS), fn##_abs_f32)                                                          \
    REDUX_FORM(F32, FORM(OPN, opn) | FLAG(ABS) | FLAG(NAN), fn##_abs_nan_f32)

#define ROWS_FILE "isa/exec/exec_warp.c"
#define ROWS_NAME warp
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* This row has no function: a compound instruction is executed by the function `execute` of its compound_ops
 * (isa/compound.h). */
NOTHING(COMPOUND, T0, 0, COMPOUND, F32_ADD, NO_OPDS)

/* Rows of operations across lanes, and of clocks. */
SHFL_ROW(UP, shuffle_up)
SHFL_ROW(DOWN, shuffle_down)
SHFL_ROW(BFLY, shuffle_bfly)
SHFL_ROW(IDX, shuffle_idx)
VOTE_ROW(ALL, PRED, vote_all)
VOTE_ROW(ANY, PRED, vote_any)
VOTE_ROW(UNI, PRED, vote_uni)
VOTE_ROW(BALLOT, B32, vote_ballot)
WARP_FN(MATCH, T1(B32), FORM(MODE, ANY), WARP, INT_OTHER, OPDS(B32, NONE, B32, NONE, NONE, B32), match_any_b32)
WARP_FN(MATCH, T1(B64), FORM(MODE, ANY), WARP, INT_OTHER, OPDS(B32, NONE, B64, NONE, NONE, B32), match_any_b64)
MATCH_ROW(B32, ALL, match_all_b32, .d2_optional = 1)
MATCH_ROW(B64, ALL, match_all_b64, .d2_optional = 1)
REDUX_ROW(U32, ADD, redux_add)
REDUX_ROW(S32, ADD, redux_add)
REDUX_ROW(U32, MIN, redux_min_u32)
REDUX_ROW(U32, MAX, redux_max_u32)
REDUX_ROW(S32, MIN, redux_min_s32)
REDUX_ROW(S32, MAX, redux_max_s32)
REDUX_ROW(B32, AND, redux_and)
REDUX_ROW(B32, OR, redux_or)
REDUX_ROW(B32, XOR, redux_xor)
REDUX_F32_ROWS(MIN, redux_min)
REDUX_F32_ROWS(MAX, redux_max)
WARP_FN(ACTIVEMASK, T1(B32), 0, WARP, INT_OTHER, OPDS(B32, NONE, NONE, NONE, NONE, NONE), activemask)
WARP_FN(ELECT, T0, 0, WARP, INT_OTHER, OPDS(B32, PRED, NONE, NONE, NONE, B32), elect)
WARP_FN(SREG, T0, 0, WARP, INT_OTHER, OPDS(B32, NONE, NONE, NONE, NONE, NONE), read_special)
WARP_FN(NANOSLEEP, T1(U32), 0, WARP, INT_OTHER, OPDS(NONE, NONE, U32, NONE, NONE, NONE), nanosleep)
/* clang-format on */
#endif
