/* Tests each integer entry ("row") of the instruction table against its reference. Operands are all combinations of
 * special values, then random values. A row without a reference fails. Rows of one opcode and the same types differ
 * in a modifier only, so they share the random values: with n such rows, at most 8, each row uses every n-th warp of
 * values. Of these warps, only a fifth are tested; with HEDDLE_EVERY, each row tests all warps. */
#include "isa/exec/video.h"
#include "test/isa/isa_reference.h"
#include "test/test.h"
#include <stdio.h>

enum { LANE_BYTES = 16, GUARD_BYTES = 64, RANDOM_WARPS = 3125 /* 100,000 lanes */, MOST_SHARES = 8, ONE_OF = 5 };

static const uint64_t special[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   15,
                                   16,
                                   17,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   65,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x100,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffff,
                                   0x800000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0xfffffffffffffffe,
                                   0xaaaaaaaaaaaaaaaa,
                                   0x5555555555555555,
                                   0x0123456789abcdef,
                                   0xfedcba9876543210,
                                   0xffffffffffffff80,
                                   0xffffffffffff8000,
                                   0x80017fff8001ff01,
                                   0xffffffe0,
                                   0x00ff00ff};
enum { N_SPECIAL = sizeof special / sizeof special[0] };

/* Returns random values of all magnitudes, so that small shift counts, small divisors and small differences occur. */
static uint64_t random_value(uint64_t *state) {
    const uint64_t bits = test_random(state), how = test_random(state) >> 32;
    if (how % 8 == 0)
        return special[bits % N_SPECIAL];
    return (how & 64 ? ~(uint64_t)0 : 0) ^ bits >> how % 64;
}

/* One warp's operands and results. */
struct warp_case {
    _Alignas(64) unsigned char a[512], b[512], c[512], e[512];
    _Alignas(64) unsigned char d[512 + GUARD_BYTES], d2[512 + GUARD_BYTES];
};

static void set_lane(unsigned char *operand, enum type t, int lane, uint64_t lo, uint64_t hi) {
    if (t == T_PRED) {
        uint32_t mask;
        memcpy(&mask, operand, sizeof mask);
        mask = (mask & ~(1u << lane)) | (uint32_t)(lo & 1) << lane;
        memcpy(operand, &mask, sizeof mask);
    } else {
        const uint64_t value[2] = {lo, hi};
        memcpy(operand + (size_t)lane * type_bytes(t), value, type_bytes(t));
    }
}

static uwide get_lane(const unsigned char *operand, enum type t, int lane) {
    uwide bits = 0;
    if (t == T_PRED) {
        uint32_t mask;
        memcpy(&mask, operand, sizeof mask);
        return mask >> lane & 1;
    }
    memcpy(&bits, operand + (size_t)lane * type_bytes(t), type_bytes(t));
    return bits;
}

/* Converts one operand of all lanes to operands of the reference. */
static void ref_operands(const unsigned char *operand, enum type t, struct ref_operand out[WARP_LANES]) {
    const unsigned bytes = type_bytes(t);
    const bool is_signed = type_class(t) == 's';
    for (int l = 0; l < WARP_LANES; l++) {
        uwide bits = 0;
        if (t == T_PRED)
            bits = get_lane(operand, t, l);
        else if (bytes == 4) { /* most types have 4 bytes, and memcpy() of a constant size is fast */
            uint32_t word;
            memcpy(&word, operand + 4 * l, sizeof word);
            bits = word;
        } else
            memcpy(&bits, operand + (size_t)l * bytes, bytes);
        out[l] = (struct ref_operand){bits, bytes ? ref_extend(bits, 8 * bytes, is_signed) : (wide)bits};
    }
}

static bool reference(const struct isa_row *row, struct ref_lane *x) {
    return ref_int(row, x) || ref_bits(row, x) || ref_video(row, x);
}

static uwide width_mask(enum type t) { return t == T_PRED ? 1 : ref_ones(8 * type_bytes(t)); }
static size_t warp_bytes(enum type t) { return t == T_PRED ? sizeof(rowmask_t) : (size_t)WARP_LANES * type_bytes(t); }

static void wrong(const struct isa_row *row, const struct ref_lane *x, const char *what, enum type t, uwide got,
                  uwide wanted) {
    char name[96];
    isa_row_name(row, name, sizeof name);
    ck_abort_msg("%s: %s is %llx, should be %llx for a=%llx b=%llx c=%llx e=%llx", name, what, (unsigned long long)got,
                 (unsigned long long)(wanted & width_mask(t)), (unsigned long long)x->a.bits,
                 (unsigned long long)x->b.bits, (unsigned long long)x->c.bits, (unsigned long long)x->e.bits);
}

/* Executes the row and compares all lanes. Bytes beyond the destination array must not change. */
static void check_warp(const struct isa_row *row, struct warp_case *w) {
    memset(w->d, 0xa5, sizeof w->d);
    memset(w->d2, 0xa5, sizeof w->d2);
    row->fn.lane(w->d, w->d2, w->a, w->b, w->c, w->e);
    struct ref_operand a[WARP_LANES], b[WARP_LANES], c[WARP_LANES], e[WARP_LANES], d[WARP_LANES], d2[WARP_LANES];
    ref_operands(w->a, row->a, a);
    ref_operands(w->b, row->b, b);
    ref_operands(w->c, row->c, c);
    ref_operands(w->e, row->e, e);
    ref_operands(w->d, row->d, d);
    ref_operands(w->d2, row->d2, d2);
    const uwide mask = row->d == T_NONE ? 0 : width_mask(row->d), mask2 = row->d2 == T_NONE ? 0 : width_mask(row->d2);
    for (int l = 0; l < WARP_LANES; l++) {
        struct ref_lane x = {.a = a[l], .b = b[l], .c = c[l], .e = e[l]};
        if (!reference(row, &x)) {
            char name[96];
            isa_row_name(row, name, sizeof name);
            ck_abort_msg("%s has no reference", name);
        }
        if ((d[l].bits ^ x.d) & mask)
            wrong(row, &x, "d", row->d, d[l].bits, x.d);
        if ((d2[l].bits ^ x.d2) & mask2)
            wrong(row, &x, "d2", row->d2, d2[l].bits, x.d2);
    }
    const size_t end = warp_bytes(row->d), end2 = row->d2 == T_NONE ? 0 : warp_bytes(row->d2);
    bool kept = true;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        kept &= w->d[end + i] == 0xa5 && w->d2[end2 + i] == 0xa5;
    if (!kept) /* compares all bytes with one assertion, since an assertion for each byte would dominate the run time */
        ck_abort_msg("something was written beyond a destination");
}

/* Executes the row again with d in the array of a source of the same size. The result must not change. */
static void check_in_place(const struct isa_row *row, struct warp_case *w, unsigned char *source, enum type t) {
    const size_t n = warp_bytes(row->d);
    unsigned char wanted[512];
    if (t == T_NONE || warp_bytes(t) != n)
        return;
    memcpy(wanted, w->d, n);
    row->fn.lane(source, w->d2, w->a, w->b, w->c, w->e);
    char name[96];
    isa_row_name(row, name, sizeof name);
    ck_assert_msg(memcmp(source, wanted, n) == 0, "%s: d in the place of a source changes the result", name);
}

/* Returns valid selectors for operand e of a video instruction. Returns `bits` for other rows. */
static uint64_t selectors(const struct isa_row *row, uint64_t bits) {
    const uint32_t simd = video_default(row->op);
    if (simd != 0) /* selectors of halves are at most 3, selectors of bytes at most 7 */
        return simd >> (VIDEO_SIMD_MASK + 2) ? bits : bits & 0x0301b01b;
    uint32_t word = (uint32_t)(bits % 7) << VIDEO_A | (uint32_t)(bits / 7 % 7) << VIDEO_B;
    if (row->op == OP_VMAD && !form_get(row->form, CAT_PO))
        word |= (uint32_t)(bits >> 20 & 7) * VIDEO_NEGATE_A;
    if (row->op != OP_VMAD && !form_get(row->form, CAT_OPN))
        word |= (uint32_t)(bits / 49 % 7) << VIDEO_D;
    return word;
}

static void fill_lane(const struct isa_row *row, struct warp_case *w, int l, const uint64_t v[4], uint64_t hi) {
    set_lane(w->a, row->a, l, v[0], hi);
    set_lane(w->b, row->b, l, v[1], ~hi);
    set_lane(w->c, row->c, l, v[2], hi);
    set_lane(w->e, row->e, l, video_is(row->op) ? selectors(row, v[3]) : v[3], hi);
}

static void check_special(const struct isa_row *row, struct warp_case *w) {
    unsigned lane = 0;
    for (unsigned i = 0; i < N_SPECIAL * N_SPECIAL * 2; i++) {
        const unsigned third = i / N_SPECIAL + i / (N_SPECIAL * N_SPECIAL) * 5 + i;
        const uint64_t v[4] = {special[i % N_SPECIAL], special[i / N_SPECIAL % N_SPECIAL], special[third % N_SPECIAL],
                               special[(third * 7 + 3) % N_SPECIAL] + i * 0x9e3779b9ull * (video_is(row->op) ? 1 : 0)};
        fill_lane(row, w, (int)lane, v, v[1]);
        if (++lane == WARP_LANES) {
            check_warp(row, w);
            lane = 0;
        }
    }
}

/* Returns the number of rows among the n rows that share random values with rows[at], at most MOST_SHARES. Stores the
 * index of rows[at] among these rows in *own. */
static int shares(const struct isa_row *rows, uint32_t n, uint32_t at, int *own) {
    int like = 0;
    *own = 0;
    for (uint32_t i = 0; i < n && !test_every(); i++)
        if (memcmp(rows[i].types, rows[at].types, sizeof rows[i].types) == 0) {
            like++;
            *own += i < at;
        }
    int share = (like > MOST_SHARES ? MOST_SHARES : like > 1 ? like : 1) * (test_every() ? 1 : ONE_OF);
    *own %= share;
    return share;
}

static void check_random(const struct isa_row *row, struct warp_case *w, int own, int share) {
    for (int i = own; i < RANDOM_WARPS; i += share) {
        uint64_t state = 0xd1342543de82ef95 * (uint64_t)(i + 1);
        for (int l = 0; l < WARP_LANES; l++) {
            const uint64_t v[4] = {random_value(&state), random_value(&state), random_value(&state),
                                   video_is(row->op) ? test_random(&state) >> 8 : random_value(&state)};
            fill_lane(row, w, l, v, test_random(&state));
        }
        check_warp(row, w);
    }
    check_in_place(row, w, w->a, row->a);
}

/* Returns true for mov, selp, and rows without a floating-point type, except conversions. For set and slct, only the
 * type of the compared operands counts. */
static bool is_integer(const struct isa_row *row) {
    if (row->kind != K_LANE)
        return false;
    if (row->op == OP_MOV || row->op == OP_SELP)
        return true;
    if (row->op == OP_SET || row->op == OP_SLCT)
        return type_class(row->types[1]) != 'f';
    for (int i = 0; i < 3; i++)
        if (type_class(row->types[i]) == 'f')
            return false;
    return row->op != OP_CVT && row->op != OP_CVTA;
}

START_TEST(rows_match_reference) {
    uint32_t n;
    const struct isa_row *rows = isa_op_rows((enum op_id)_i, &n);
    struct warp_case *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w);
    for (uint32_t i = 0; i < n; i++)
        if (is_integer(&rows[i])) {
            check_special(&rows[i], w);
            int own, share = shares(rows, n, i, &own);
            check_random(&rows[i], w, own, share);
        }
    free(w);
}
END_TEST

/* Tests dividends next to a multiple of the divisor, since division uses double arithmetic. If a + 1 is a multiple of
 * b, the quotient must not be rounded up: 4294967295 / 4294967294 = 1. */
START_TEST(division_next_to_multiples) {
    uint32_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES] = {0}, d[WARP_LANES];
    const struct isa_row *row = isa_find_row(OP_DIV, T_U32, T_NONE, 0);
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        for (int l = 0; l < WARP_LANES; l++) {
            b[l] = (uint32_t)(test_random(&state) >> 32 >> test_random(&state) % 31) | 1;
            a[l] = b[l] * (uint32_t)(test_random(&state) % (UINT32_MAX / b[l] + (uint64_t)1)) - (uint32_t)(i & 1);
        }
        row->fn.lane(d, c, a, b, c, c);
        for (int l = 0; l < WARP_LANES; l++)
            ck_assert_uint_eq(d[l], a[l] / b[l]);
    }
}
END_TEST

START_TEST(video_selectors) {
    uint32_t word = video_default(OP_VADD);
    ck_assert_uint_eq(word, 0);
    ck_assert(video_select(OP_VADD, 'a', "b2", &word));
    ck_assert(video_select(OP_VADD, 'b', "h1", &word));
    ck_assert(video_select(OP_VADD, 'd', "b0", &word));
    ck_assert_uint_eq(word, 3u << VIDEO_A | 6u << VIDEO_B | 1u << VIDEO_D);
    ck_assert(!video_select(OP_VADD, 'a', "b4", &word));
    ck_assert(!video_select(OP_VADD, 'a', "h10", &word));
    /* By default, a selects halves 0 and 1 of b:a, b selects halves 2 and 3, and both halves are written. The selectors
     * are then 0 | 1 << 3 | (2 | 3 << 3) << 12 | 3 << 24. */
    word = video_default(OP_VADD2);
    ck_assert_uint_eq(word, 0x0301a008);
    /* h32 names the most significant element first: element 1 is half 3, element 0 half 2 */
    ck_assert(video_select(OP_VADD2, 'a', "h32", &word));
    ck_assert_uint_eq(word, 0x0301a01a);
    ck_assert(video_select(OP_VADD2, 'd', "h1", &word));
    ck_assert_uint_eq(word, 0x0201a01a);
    ck_assert(!video_select(OP_VADD2, 'd', "h2", &word));
    ck_assert(!video_select(OP_VADD2, 'a', "h4", &word));
    word = video_default(OP_VADD4);
    ck_assert(video_select(OP_VADD4, 'd', "b20", &word));
    ck_assert_uint_eq(word >> VIDEO_SIMD_MASK, 5);
    ck_assert(video_select(OP_VADD4, 'b', "b7654", &word));
    ck_assert(!video_select(OP_VADD4, 'b', "b765", &word));
}
END_TEST

SUITE(isa_exec_int) {
    TEST_LOOP(rows_match_reference, 0, N_OPS);
    TEST(division_next_to_multiples);
    TEST(video_selectors);
}
