/* Tests the places of the gaps of a launch, and the estimates of their statistics. */
#include "timing/gaps.h"
#include "test/test.h"
#include <math.h>

/* A launch of 40 waves of 10 CTAs. Each CTA has 100 warp instructions. */
enum { WAVE = 10, CTAS = 400, EACH = 100 };

static bool never(void *ctx, uint64_t first, uint64_t n, uint64_t warm_from, struct stats *exact, struct fault *fault) {
    (void)ctx, (void)first, (void)n, (void)warm_from, (void)exact, (void)fault;
    return false;
}
static const struct gap_orders orders = {.samples = 4, .forward = never};

/* Runs the launch on a machine whose waves take rate(CTA) * 1000 cycles. Returns the simulated cycles, and the number
 * of CTAs that ran in time in *timed. */
static double run(struct gaps *g, double (*rate)(uint64_t cta), struct stats *all, uint64_t *timed) {
    uint64_t begun = 0, now = 0, warm;
    double cycles = 0;
    *timed = 0;
    while (begun < CTAS) {
        const double c = rate(begun) * WAVE * EACH;
        for (int k = 0; k < 2; k++) {
            struct stats *s = k ? all : gaps_unit(g);
            stats_add(s, "gpu.cycles", c);
            stats_add(s, "gpu.warp_instructions", WAVE * EACH);
        }
        begun += WAVE;
        *timed += WAVE;
        cycles += c;
        now += (uint64_t)c;
        /* a unit ends 5 cycles after its last CTA has begun */
        if (!gaps_due(g, begun, now, 5) && !gaps_settles(g))
            continue;
        ck_assert(gaps_due(g, begun, now + 5, 5));
        const uint64_t n = gaps_next(g, begun, &warm);
        ck_assert(warm >= begun && warm <= begun + n);
        struct stats exact;
        ck_assert(stats_init(&exact));
        stats_add(&exact, "gpu.warp_instructions", (double)n * EACH);
        if (n)
            gaps_passed(g, n, &exact);
        stats_free(&exact);
        begun += n;
    }
    ck_assert_uint_eq(begun, CTAS);
    return cycles;
}

static double same(uint64_t cta) {
    (void)cta;
    return 1;
}

/* The first wave is no sample. The waves 2 to 4 are equal, so the first gap begins after wave 4. The 39 units before
 * the tail have samples at (2 k + 1) * 39 / 8 = units 4, 14, 24, 34. Unit 4 follows at once. So 4 + 4 waves and the
 * tail of one wave run in time: 9 waves. A unit has 1,000 instructions and takes 1,000 cycles, so the sum is 40,000
 * cycles. */
START_TEST(equal_waves_are_exact) {
    bool whole;
    struct gap_result r;
    struct stats s;
    uint64_t timed;
    struct gaps *g = gaps_new(&orders, CTAS, WAVE, &whole);
    ck_assert(g && !whole && stats_init(&s));
    run(g, same, &s, &timed);
    gaps_finish(g, &s, &r);
    ck_assert_uint_eq(timed, 9 * WAVE);
    ck_assert_uint_eq(r.skipped, CTAS - 9 * WAVE);
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - 40000) < 1e-6);
    ck_assert(fabs(stats_get(&s, "gpu.warp_instructions") - 40000) < 1e-6);
    ck_assert(r.variance[GAP_CYCLES] < 1e-6);
    ck_assert_uint_eq(r.n, 7);
    ck_assert(r.freedom > 5.9 && r.freedom < 6.1);
    ck_assert(r.unit[3].first == 4 * WAVE && r.unit[4].first == 14 * WAVE && r.unit[6].first == 34 * WAVE);
    gaps_free(g);
    stats_free(&s);
}
END_TEST

/* From unit 20 on, waves take 3 cycles per instruction in place of 1. The samples are then 3 waves of the beginning and
 * unit 4 and 14 with the rate 1, and units 24 and 34 with the rate 3: 11 / 7 per instruction for 31 skipped waves of
 * 1,000 instructions, or 48,714 cycles. The 9 waves in time take 4 + 2 of 1,000 and 2 + 1 of 3,000 cycles: 15,000. */
static double slower(uint64_t cta) { return cta < 20 * WAVE ? 1 : 3; }
START_TEST(changing_waves_have_a_variance) {
    bool whole;
    struct gap_result r;
    struct stats s;
    uint64_t timed;
    struct gaps *g = gaps_new(&orders, CTAS, WAVE, &whole);
    ck_assert(g && stats_init(&s));
    const double cycles = run(g, slower, &s, &timed);
    gaps_finish(g, &s, &r);
    ck_assert(fabs(cycles - 15000) < 1e-6);
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - (15000 + 31000. * 11 / 7)) < 1e-6);
    /* the deviations are 5 * (4 / 7)^2 + 2 * (10 / 7)^2 = 280 / 49, so the square of a unit's deviation is 10^6 * 280 /
     * 49 / 6; the 31 units count with 31^2 / 7 + 31 */
    ck_assert(fabs(r.variance[GAP_CYCLES] / (1e6 * 280 / 49 / 6 * (31. * 31 / 7 + 31)) - 1) < 1e-9);
    gaps_free(g);
    stats_free(&s);
}
END_TEST

/* Waves whose rates alternate by 20 % are never stable: the first gap begins after 8 waves. */
static double alternating(uint64_t cta) { return cta / WAVE % 2 ? 1.2 : 1; }
START_TEST(unstable_waves_run_longer) {
    bool whole;
    struct gap_result r;
    struct stats s;
    uint64_t timed;
    struct gaps *g = gaps_new(&orders, CTAS, WAVE, &whole);
    ck_assert(g && stats_init(&s));
    run(g, alternating, &s, &timed);
    gaps_finish(g, &s, &r);
    ck_assert_uint_eq(timed, (8 + 3 + 1) * WAVE);
    ck_assert_uint_eq(r.unit[3].first, 14 * WAVE);
    gaps_free(g);
    stats_free(&s);
}
END_TEST

/* A launch with fewer than 12 waves and the tail has no gaps. */
START_TEST(short_launches_are_whole) {
    bool whole;
    ck_assert(!gaps_new(&orders, 13 * WAVE - 1, WAVE, &whole) && whole);
    struct gaps *g = gaps_new(&orders, 13 * WAVE, WAVE, &whole);
    ck_assert(g && !whole);
    gaps_free(g);
}
END_TEST

SUITE(timing_gaps) {
    TEST(equal_waves_are_exact);
    TEST(changing_waves_have_a_variance);
    TEST(unstable_waves_run_longer);
    TEST(short_launches_are_whole);
}
