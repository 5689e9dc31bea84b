/* Tests affine tuples, and cells (the values of a register in one CTA, isa/affine/value.h), against their definition:
 * the value is computed for each thread. */
#include "isa/affine/value.h"
#include "test/test.h"

static uint64_t rng;
static uint32_t below(uint32_t n) { return test_random_below(&rng, n); }

static const struct dim3 blocks[] = {{64, 1, 1}, {7, 1, 1}, {16, 5, 1}, {7, 3, 4}, {1, 33, 1}, {3, 2, 11}};
enum { N_BLOCKS = sizeof blocks / sizeof blocks[0] };

/* Tests 8-bit tuples: each base with each offset along x, and with some offsets along y and z. A tuple is in range if
 * no thread's value, computed with signed offsets, exceeds the type. */
START_TEST(ranges_of_boxes) {
    struct affine_shape s;
    affine_shape_init(&s, blocks[_i], WARP_LANES);
    uint32_t inside = 0;
    rng = 5;
    for (uint32_t base = 0; base < 256; base++)
        for (uint32_t x = 0; x < 256; x++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                struct affine_tuple t = {base, {x, below(4) ? below(4) : (256 - below(4)) & 255, below(3)}};
                bool fits = true;
                for (uint32_t i = 0; i < dim3_count(s.block); i++) {
                    int v = is_signed ? (int8_t)base : (int)base;
                    v += (int8_t)t.off[0] * (int)(i % s.block.x) + (int8_t)t.off[1] * (int)(i / s.block.x % s.block.y) +
                         (int8_t)t.off[2] * (int)(i / s.block.x / s.block.y);
                    fits &= is_signed ? v >= -128 && v <= 127 : v >= 0 && v <= 255;
                }
                EXPECT(affine_in_range(&t, 8, is_signed, &s) == fits, "base %u x %u signed %d", base, x, is_signed);
                inside += fits;
            }
    ck_assert_uint_gt(inside, 100);
}
END_TEST

/* Tests 64-bit tuples at the limits of their type: the last base that is in range, and the next base. */
START_TEST(ranges_at_the_edges) {
    struct affine_shape s;
    affine_shape_init(&s, (struct dim3){4, 1, 1}, WARP_LANES);
    struct affine_tuple t = {UINT64_MAX - 3, {1, 0, 0}}; /* the fourth thread has the greatest value */
    ck_assert(affine_in_range(&t, 64, false, &s));
    t.base++;
    ck_assert(!affine_in_range(&t, 64, false, &s));
    ck_assert(affine_in_range(&t, 64, true, &s)); /* -3 to 0 */
    t.base = INT64_MAX - 2;
    ck_assert(!affine_in_range(&t, 64, true, &s));
    ck_assert(affine_in_range(&t, 64, false, &s));
}
END_TEST

START_TEST(ranges_of_rows) {
    struct affine_shape s;
    affine_shape_init(&s, (struct dim3){32, 2, 1}, WARP_LANES); /* all threads of a warp have the same tid.y */
    struct affine_tuple t = {0, {1, 0xfffffff0, 0}};
    /* Row 1 starts at -16 = 0xfffffff0 and passes 2^32 in lane 16. So it wraps as an unsigned number, but not as a
     * signed number. */
    ck_assert(affine_warp_in_range(&t, 32, false, &s, 0));
    ck_assert(!affine_warp_in_range(&t, 32, false, &s, 1));
    ck_assert(affine_warp_in_range(&t, 32, true, &s, 1));
    ck_assert(s.one_row[0] && s.one_row[1]);
}
END_TEST

START_TEST(rows_of_warps) {
    struct affine_shape s;
    affine_shape_init(&s, blocks[_i], WARP_LANES);
    for (uint32_t w = 0; w < s.n_warps; w++) {
        uint32_t first = w * WARP_LANES, rows = 0;
        for (uint32_t t = first; t < first + WARP_LANES && t < dim3_count(s.block); t++) {
            ck_assert_uint_eq(s.tid[0][t], t % s.block.x);
            ck_assert_uint_eq(s.tid[1][t], t / s.block.x % s.block.y);
            ck_assert_uint_eq(s.tid[2][t], t / s.block.x / s.block.y);
            ck_assert(s.launched[w] >> (t - first) & 1);
            rows += t == first || t % s.block.x == 0;
        }
        ck_assert(s.one_row[w] == (rows == 1));
    }
}
END_TEST

/* Tests random writes to some lanes of a cell. A write may fail if the cell has no room for another tuple. */
START_TEST(cells_hold_what_was_written) {
    enum { TUPLES = 7 };
    struct affine_shape s;
    struct affine_cell c;
    uint64_t want[MAX_CTA_THREADS] = {0}, got[WARP_LANES];
    uint32_t exact = 0, several = 0;
    affine_shape_init(&s, blocks[_i], WARP_LANES);
    cell_init(&c);
    rng = 99;
    for (int round = 0; round < 400; round++) {
        rowmask_t lanes[MAX_CTA_WARPS];
        uint32_t k = 1 + below(TUPLES), dense = below(5);
        struct affine_tuple t = {k, {k, 2 * k, 0 - (uint64_t)k}};
        bool expanded = false;
        for (uint32_t w = 0; w < s.n_warps; w++)
            lanes[w] = s.launched[w] & (dense == 0   ? LANES_ALL
                                        : dense == 1 ? (rowmask_t)test_random(&rng)
                                                     : 1u << below(32));
        ck_assert(cell_write(&c, 64, &s, lanes, s.launched, &t, &expanded));
        ck_assert(!expanded || c.n == 0);
        exact += c.n == 0;
        several += c.n > 1;
        for (uint32_t w = 0; w < s.n_warps; w++) {
            cell_read(&c, 64, &s, w, got);
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                uint32_t i = w * WARP_LANES + l;
                if (lanes[w] >> l & 1)
                    want[i] = affine_at(&t, &s, w, l);
                EXPECT(!(s.launched[w] >> l & 1) || got[l] == want[i], "round %d thread %u", round, i);
            }
        }
    }
    ck_assert_uint_gt(exact, 5);
    ck_assert_uint_gt(several, 20);
    cell_free(&c);
}
END_TEST

/* A cell has room for four tuples: the default and three further values. A fifth value does not fit. A tuple without
 * lanes is dropped. */
START_TEST(four_variants) {
    struct affine_shape s;
    struct affine_cell c;
    bool expanded = false;
    affine_shape_init(&s, (struct dim3){32, 1, 1}, WARP_LANES);
    cell_init(&c);
    for (uint32_t k = 1; k <= 3; k++) {
        struct affine_tuple t = {100 * k, {k, 0, 0}};
        ck_assert(cell_write(&c, 32, &s, &(rowmask_t){1u << k}, s.launched, &t, &expanded));
        ck_assert_uint_eq(c.n, k + 1);
    }
    struct affine_tuple t = {7, {0}};
    ck_assert(cell_write(&c, 32, &s, &(rowmask_t){1u << 3}, s.launched, &t, &expanded)); /* replaces the last */
    ck_assert_uint_eq(c.n, 4);
    ck_assert(!expanded);
    t.base = 8;
    ck_assert(cell_write(&c, 32, &s, &(rowmask_t){1u << 4}, s.launched, &t, &expanded));
    ck_assert(expanded);
    ck_assert_uint_eq(c.n, 0);
    /* after a write by all threads, the cell has one tuple again */
    ck_assert(cell_write(&c, 32, &s, s.launched, s.launched, &t, &expanded));
    ck_assert_uint_eq(c.n, 1);
    cell_free(&c);
}
END_TEST

SUITE(isa_affine_value) {
    TEST_LOOP(ranges_of_boxes, 0, N_BLOCKS);
    TEST(ranges_at_the_edges);
    TEST(ranges_of_rows);
    TEST_LOOP(rows_of_warps, 0, N_BLOCKS);
    TEST_LOOP(cells_hold_what_was_written, 0, N_BLOCKS);
    TEST(four_variants);
}
