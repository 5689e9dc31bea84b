/* Tests the places of the gaps of a launch, and the estimates of their statistics. */
#include "timing/gaps.h"
#include "test/test.h"
#include <math.h>

/* A launch of 40 waves of 10 CTAs. Each CTA has 400 warp instructions. */
enum { WAVE = 10, CTAS = 400, EACH = 400 };

static bool never(void *ctx, uint64_t first, uint64_t n, uint64_t warm_from, struct stats *exact, struct fault *fault) {
    (void)ctx, (void)first, (void)n, (void)warm_from, (void)exact, (void)fault;
    return false;
}
static const struct gap_orders orders = {.forward = never};

/* Runs the launch, with `ctas` CTAs, on a machine whose waves take rate(CTA) * 4000 cycles. Returns the simulated
 * cycles, and the number of CTAs that ran in time in *timed. */
static double run(struct gaps *g, uint64_t ctas, double (*rate)(uint64_t cta), struct stats *all, uint64_t *timed) {
    uint64_t begun = 0, now = 0, warm;
    double cycles = 0;
    *timed = 0;
    while (begun < ctas) {
        const double c = rate(begun) * WAVE * EACH;
        for (int k = 0; k < 2; k++) {
            struct stats *s = k ? all : gaps_unit(g);
            stats_add(s, "gpu.cycles", c);
            stats_add(s, "gpu.warp_instructions", WAVE * EACH);
            stats_add(s, "gpu.thread_instructions", WAVE * EACH * 16);
        }
        begun += WAVE;
        *timed += WAVE;
        cycles += c;
        now += (uint64_t)c;
        /* a unit ends 5 cycles after its last CTA has begun */
        if (!gaps_due(g, begun, 0, now, 5) && !gaps_settles(g))
            continue;
        ck_assert(gaps_due(g, begun, 0, now + 5, 5));
        const uint64_t n = gaps_next(g, begun, &warm);
        ck_assert(warm >= begun && warm <= begun + n);
        struct stats exact;
        ck_assert(stats_init(&exact));
        stats_add(&exact, "gpu.warp_instructions", (double)n * EACH);
        stats_add(&exact, "gpu.thread_instructions", (double)n * EACH * 32);
        if (n)
            gaps_passed(g, n, &exact, GAP_FULL);
        stats_free(&exact);
        begun += n;
    }
    ck_assert_uint_eq(begun, ctas);
    return cycles;
}

/* What a launch with sampled waves gives. */
struct outcome {
    struct gap_result r;
    uint64_t timed;              /* CTAs with timing */
    double clock;                /* cycles of these CTAs */
    double cycles, instructions; /* the estimates for the whole launch */
};

static struct outcome sample_ctas(uint64_t ctas, double (*rate)(uint64_t cta)) {
    bool whole;
    struct outcome o;
    struct stats s;
    struct gaps *g = gaps_new(&orders, ctas, WAVE, 1, &whole);
    ck_assert(g && !whole && stats_init(&s));
    o.clock = run(g, ctas, rate, &s, &o.timed);
    gaps_finish(g, &s, &o.r);
    o.cycles = stats_get(&s, "gpu.cycles");
    o.instructions = stats_get(&s, "gpu.warp_instructions");
    gaps_free(g);
    stats_free(&s);
    return o;
}

static struct outcome sample(double (*rate)(uint64_t cta)) { return sample_ctas(CTAS, rate); }

static double same(uint64_t cta) {
    (void)cta;
    return 1;
}

/* The first wave is no sample. The waves 2 to 4 are equal, so the first gap begins after wave 4. The 39 units before
 * the tail have samples at (2 k + 1) * 39 / 6 = units 6, 19, 32. So 4 + 3 waves and the tail of one wave run in time: 8
 * waves. A unit has 4,000 instructions and takes 4,000 cycles, so the sum is
 * 160,000 cycles. */
START_TEST(equal_waves_are_exact) {
    const struct outcome o = sample(same);
    ck_assert_uint_eq(o.timed, 8 * WAVE);
    ck_assert_uint_eq(o.r.skipped, CTAS - 8 * WAVE);
    ck_assert(fabs(o.r.after - 0.9) < 1e-12); /* of 40 waves, 36 begin after the first gap */
    ck_assert(fabs(o.cycles - 160000) < 1e-6);
    ck_assert(fabs(o.instructions - 160000) < 1e-6);
    ck_assert(o.r.variance[GAP_CYCLES] < 1e-6);
    ck_assert_uint_eq(o.r.n, 6);
    ck_assert(o.r.freedom > 4.9 && o.r.freedom < 5.1);
    ck_assert(o.r.unit[3].first == 6 * WAVE && o.r.unit[4].first == 19 * WAVE && o.r.unit[5].first == 32 * WAVE);
}
END_TEST

/* A launch of 20 waves has 19 units before the tail, and one sample after the first gap, at unit 19 / 2 = 9. So 4 + 1
 * waves and the tail run in time. A launch of 29 waves has 28 units, and three samples at (2 k + 1) * 28 / 6 = units 4,
 * 14 and 23. Unit 4 follows wave 4 without a gap. */
START_TEST(short_launches_have_one_sample) {
    struct outcome o = sample_ctas(20 * WAVE, same);
    ck_assert_uint_eq(o.timed, 6 * WAVE);
    ck_assert_uint_eq(o.r.n, 4);
    ck_assert(o.r.unit[3].first == 9 * WAVE && fabs(o.cycles - 20 * 4000) < 1e-6);
    o = sample_ctas(29 * WAVE, same);
    ck_assert_uint_eq(o.timed, 8 * WAVE);
    ck_assert_uint_eq(o.r.n, 6);
    ck_assert(o.r.unit[4].first == 14 * WAVE && o.r.unit[5].first == 23 * WAVE);
}
END_TEST

/* A model that regroups threads: a CTA has 400 warp instructions of 16 threads in time, and 400 of 32 threads in gaps.
 * A wave in time takes 4,000 cycles for 64,000 thread instructions, so a wave in a gap, with 128,000, takes 8,000
 * cycles and 8,000 warp instructions. */
START_TEST(regrouped_threads_are_the_weight) {
    static const struct gap_orders regroups = {.forward = never, .regroups = true};
    bool whole;
    struct stats s;
    uint64_t timed;
    struct gap_result r;
    struct gaps *g = gaps_new(&regroups, CTAS, WAVE, 1, &whole);
    ck_assert(g && !whole && stats_init(&s));
    run(g, CTAS, same, &s, &timed);
    gaps_finish(g, &s, &r);
    ck_assert_uint_eq(timed, 8 * WAVE);
    /* 8 waves in time, and 32 waves in gaps, with twice the thread instructions */
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - (8 + 2 * 32) * 4000) < 1e-6);
    ck_assert(fabs(stats_get(&s, "gpu.warp_instructions") - (8 + 2 * 32) * 4000) < 1e-6);
    ck_assert(fabs(stats_get(&s, "gpu.thread_instructions") - (8 + 2 * 32) * 4000 * 16) < 1e-6);
    gaps_free(g);
    stats_free(&s);
}
END_TEST

/* From unit 20 on, waves take 3 cycles per instruction in place of 1. The samples are then 3 waves of the beginning and
 * units 6 and 19 with the rate 1, and unit 32 with the rate 3. The gaps have the units 4 and 5, 7 to 18, 20 to 31, and
 * 33 to 38: the sample before a gap counts half, and that after it half. So the last wave of the beginning stands for 1
 * unit, unit 6 for 1 + 6, unit 19 for 6 + 6, and unit 32 for 6 + 6, as no sample follows the last gap: 20 units of
 * 4,000 cycles and 12 of 12,000. The 8 waves in time take 4 + 2 of 4,000 and 1 + 1 of 12,000 cycles. */
static double slower(uint64_t cta) { return cta < 20 * WAVE ? 1 : 3; }
START_TEST(changing_waves_have_a_variance) {
    const struct outcome o = sample(slower);
    ck_assert(fabs(o.clock - 48000) < 1e-6);
    ck_assert(fabs(o.cycles - (48000 + 20 * 4000 + 12 * 12000)) < 1e-6);
    /* of five steps between successive samples, one is 8,000 cycles: the variance of a unit is 8000^2 / 2 / 5; the
     * squares of the numbers of units are 1 + 7^2 + 12^2 + 12^2 = 338, and 32 units were not measured */
    ck_assert(fabs(o.r.variance[GAP_CYCLES] / (8e3 * 8e3 / 10 * (338 + 32)) - 1) < 1e-9);
}
END_TEST

/* Waves whose rates alternate by 20 % are never stable: the first gap begins after 8 waves. Of the three kept waves,
 * one or two have the rate 1.2: the variation is about 10 %, so the wanted 3 % need (2.5 * 10 / 3)^2 = 70 samples. 9
 * samples at (2 k + 1) * 39 / 18 = units 2, 6, 10, 15, 19, 23, 28, 32 and 36 are the most that leave gaps between them.
 * Seven of them follow the eighth wave. */
static double alternating(uint64_t cta) { return cta / WAVE % 2 ? 1.2 : 1; }
START_TEST(unstable_waves_run_longer) {
    const struct outcome o = sample(alternating);
    ck_assert_uint_eq(o.timed, (8 + 7 + 1) * WAVE);
    ck_assert_uint_eq(o.r.unit[3].first, 10 * WAVE);
}
END_TEST

/* Waves of 1,000 cycles are short: 2,500 cycles are 2.5 waves, so a unit is 3 waves. Timing covers the first 8 waves:
 * two units of one wave, then two units of 3 waves, up to CTA 80. Samples begin at the waves 6, 19 and 32, as with long
 * waves; wave 6 is among the first 8. Timing also covers the units at waves 19 and 32, and the last wave. */
static double short_wave(uint64_t cta) {
    (void)cta;
    return 0.25;
}
START_TEST(short_waves_make_longer_units) {
    const struct outcome o = sample(short_wave);
    ck_assert_uint_eq(o.timed, (8 + 2 * 3 + 1) * WAVE);
    ck_assert(o.r.unit[3].first == 19 * WAVE && o.r.unit[4].first == 32 * WAVE && o.r.unit[4].cycles == 3000);
}
END_TEST

/* Waves of 500 cycles would make units of 5 waves, and the 39 waves before the tail are fewer than 9 such units. */
static double shorter_wave(uint64_t cta) {
    (void)cta;
    return 0.125;
}
START_TEST(very_short_waves_are_whole) {
    const struct outcome o = sample(shorter_wave);
    ck_assert_uint_eq(o.timed, CTAS);
    ck_assert_uint_eq(o.r.skipped, 0);
}
END_TEST

/* A launch with fewer than 9 waves and the tail has no gaps between CTAs, unless their ages are mixed. */
START_TEST(short_launches_are_whole) {
    bool whole;
    ck_assert(!gaps_new(&orders, 10 * WAVE - 1, WAVE, 1, &whole) && whole);
    struct gaps *g = gaps_new(&orders, 10 * WAVE, WAVE, 1, &whole);
    ck_assert(g && !whole);
    gaps_free(g);
    static const struct gap_orders inside = {.forward = never, .inside = true};
    for (uint64_t waves = 9; waves <= 10; waves++) {
        g = gaps_new(&inside, waves * WAVE, WAVE, 1, &whole);
        ck_assert(g && !whole && gaps_are_inside(g) == (waves == 9));
        gaps_free(g);
    }
}
END_TEST

/* A launch of one wave of 10 CTAs of 4 warps, with gaps inside CTAs. A unit has at least 2,000 cycles and 16
 * instructions of each warp, thus 640. Returns the length of the gap after a unit of this many instructions and
 * cycles. After a gap, at least 500 cycles and 640 instructions belong to no unit, and up to 512 random cycles. A unit
 * after them has up to 1,024 random cycles more. */
static double next_of(struct gaps *g, uint64_t *now, double instructions, double cycles, double part) {
    stats_add(gaps_unit(g), "gpu.cycles", cycles);
    stats_add(gaps_unit(g), "gpu.warp_instructions", instructions);
    ck_assert(!gaps_due(g, WAVE, 639, *now + (uint64_t)cycles, 0));
    ck_assert(!gaps_due(g, WAVE, 640, *now + 1999, 0));
    *now += (uint64_t)cycles;
    ck_assert(gaps_due(g, WAVE, 640, *now, 0));
    const double length = gaps_next_inside(g, *now, part);
    if (length > 0) { /* the cycles after the gap */
        ck_assert(!gaps_due(g, WAVE, 640, *now + 499, 0));
        *now += 500 + 512;
        ck_assert(!gaps_due(g, WAVE, 639, *now, 0));
        ck_assert(gaps_due(g, WAVE, 640, *now, 0));
        ck_assert(gaps_next_inside(g, *now, part) <= 0);
    }
    return length;
}

static double next_inside(struct gaps *g, uint64_t *now, double instructions, double cycles) {
    return next_of(g, now, instructions, cycles, 1);
}

static struct gaps *inside_gaps(void) {
    static const struct gap_orders inside = {.forward = never, .inside = true};
    bool whole;
    struct gaps *g = gaps_new(&inside, WAVE, WAVE, 4, &whole);
    ck_assert(g && !whole && gaps_are_inside(g));
    ck_assert(!gaps_due(g, 0, 0, 0, 0)); /* the first unit begins at cycle 0 */
    return g;
}

/* The first unit is no sample. The next three are equal, and 4 units have run: a gap has at most a fifth of the
 * instructions before it, so no gap follows. After the fifth unit, a gap has one unit times a random number of 0.75 to
 * 1.25. A gap of 1,000 instructions takes the rate of its neighbours, which is 2. The run takes 5 + 1 units of 4,000
 * cycles, and the gap 2,000 cycles. */
START_TEST(equal_units_have_gaps_inside) {
    struct gaps *g = inside_gaps();
    struct gap_result r;
    struct stats s, exact;
    uint64_t now = 0;
    ck_assert(stats_init(&s) && stats_init(&exact));
    for (int i = 0; i < 4; i++)
        ck_assert(next_inside(g, &now, 2000, 4000) <= 0);
    const double length = next_inside(g, &now, 2000, 4000);
    ck_assert(length >= 0.75 && length <= 1.25);
    stats_add(&exact, "gpu.warp_instructions", 1000);
    gaps_passed(g, 0, &exact, GAP_FULL);
    next_inside(g, &now, 2000, 4000);
    stats_add(&s, "gpu.cycles", 6 * 4000);
    stats_add(&s, "gpu.warp_instructions", 6 * 2000);
    gaps_finish(g, &s, &r);
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - (6 * 4000 + 2000)) < 1e-6);
    ck_assert(fabs(stats_get(&s, "gpu.warp_instructions") - (6 * 2000 + 1000)) < 1e-6);
    ck_assert(fabs(r.instructions - 1000) < 1e-6);
    ck_assert(fabs(r.after - 3000.0 / 13000) < 1e-9); /* 10,000 of 13,000 instructions precede the gap */
    gaps_free(g);
    stats_free(&s);
    stats_free(&exact);
}
END_TEST

/* Units whose rates alternate by 20 % have no gap. */
START_TEST(phases_have_no_gaps_inside) {
    struct gaps *g = inside_gaps();
    uint64_t now = 0;
    for (int i = 0; i < 30; i++)
        ck_assert(next_inside(g, &now, 2000, i % 2 ? 4800 : 4000) <= 0);
    gaps_free(g);
}
END_TEST

/* If many warps have ended in a gap, the unit before the gap estimates the whole gap: the gap of 1,000 instructions
 * takes 2,000 cycles. */
START_TEST(a_cut_gap_is_like_the_unit_before) {
    struct gaps *g = inside_gaps();
    struct gap_result r;
    struct stats s, exact;
    uint64_t now = 0;
    ck_assert(stats_init(&s) && stats_init(&exact));
    for (int i = 0; i < 5; i++)
        next_inside(g, &now, 2000, 4000);
    stats_add(&exact, "gpu.warp_instructions", 1000);
    gaps_passed(g, 0, &exact, GAP_ENDING);
    ck_assert(next_inside(g, &now, 2000, 9000) <= 0);
    gaps_finish(g, &s, &r);
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - 2000) < 1e-6);
    gaps_free(g);
    stats_free(&s);
    stats_free(&exact);
}
END_TEST

/* A gap that ends at code without a unit, or that stops all gaps. Five units of the rate 2 precede a gap of 1,000
 * instructions, which takes the rate of the unit before, so 2,000 cycles, though the next unit has the rate 2.12. The
 * next gap follows when three units agree: the second and the third unit after the gap find a unit of the rate 2 among
 * the last three. After five units, six or seven have run, so a gap of a fifth of that is possible. */
START_TEST(new_code_waits_for_stable_units) {
    struct gaps *g = inside_gaps();
    struct gap_result r;
    struct stats s, exact;
    uint64_t now = 0;
    ck_assert(stats_init(&s) && stats_init(&exact));
    for (int i = 0; i < 5; i++)
        next_inside(g, &now, 2000, 4000);
    stats_add(&exact, "gpu.warp_instructions", 1000);
    gaps_passed(g, 0, &exact, GAP_NEW_CODE);
    ck_assert(next_inside(g, &now, 2000, 4240) <= 0);
    ck_assert(next_inside(g, &now, 2000, 4240) <= 0);
    ck_assert(next_inside(g, &now, 2000, 4240) > 0);
    gaps_finish(g, &s, &r);
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - 2000) < 1e-6);
    ck_assert(fabs(r.drift - 0.06) < 1e-9);
    gaps_stop(g);
    ck_assert(!gaps_due(g, WAVE, 100000, now + 100000, 0));
    gaps_free(g);
    stats_free(&s);
    stats_free(&exact);
}
END_TEST

/* Many warps end in the unit after a gap of 1,000 instructions. The unit of 10,000 cycles is no sample, so the gap
 * takes the rate of the unit before: 2,000 cycles. The warps that are left have rate 4. A gap is at least as long as a
 * unit, and at most a fifth as long as what these warps have run. So the next gap follows their fifth unit, and its 500
 * instructions take 2,000 cycles. No interval counts the step from 2 to 4: the units of both parts are equal, so
 * the variance is that of rounding. */
START_TEST(gaps_follow_units_that_drain) {
    struct gaps *g = inside_gaps();
    struct gap_result r;
    struct stats s, exact;
    uint64_t now = 0;
    ck_assert(stats_init(&s) && stats_init(&exact));
    for (int i = 0; i < 5; i++)
        next_inside(g, &now, 2000, 4000);
    stats_add(&exact, "gpu.warp_instructions", 1000);
    gaps_passed(g, 0, &exact, GAP_FULL);
    stats_add(gaps_unit(g), "gpu.cycles", 10000);
    stats_add(gaps_unit(g), "gpu.warp_instructions", 2000);
    now += 10000;
    gaps_restart(g, GAP_STABLE);
    ck_assert(gaps_next_inside(g, now, 1) <= 0);
    for (int i = 0; i < 4; i++)
        ck_assert(next_inside(g, &now, 2000, 8000) <= 0);
    ck_assert(next_inside(g, &now, 2000, 8000) > 0);
    stats_clear(&exact);
    stats_add(&exact, "gpu.warp_instructions", 500);
    gaps_passed(g, 0, &exact, GAP_NEW_CODE);
    gaps_finish(g, &s, &r);
    ck_assert_uint_eq(r.n, 9); /* all but the first unit and the draining unit */
    ck_assert(fabs(stats_get(&s, "gpu.cycles") - 4000) < 1e-6);
    ck_assert(r.variance[GAP_CYCLES] < 1e-6);
    gaps_free(g);
    stats_free(&s);
    stats_free(&exact);
}
END_TEST

/* Units whose rates alternate between 2 and 2.4 have a gap if the ages of CTAs are mixed. The units 2 to 4 are samples:
 * the mean rate is 13,600 / 6,000. Their two steps and two units of 5 % make a variation of 9.5 %:
 * sqrt(((0.16 / 2 + 0.16 / 2) / 2.267^2 + 2 * 0.05^2) / 4). If 2 % of the CTAs have begun after 4 units, the launch has
 * 200 units. The wanted error of 3 % permits a gap of 200 * (0.03 / 2.5 / 0.095)^2 = 3.19 units, times 0.75 to 1.25. If
 * a quarter has begun, the same formula gives 0.26 units, so there is no gap. */
START_TEST(mixed_ages_need_no_stable_units) {
    for (int few = 0; few < 2; few++) {
        struct gaps *g = inside_gaps();
        uint64_t now = 0;
        const double part = few ? 0.02 : 0.25;
        for (int i = 0; i < 3; i++)
            ck_assert(next_of(g, &now, 2000, i % 2 ? 4800 : 4000, part) <= 0);
        const double length = next_of(g, &now, 2000, 4800, part);
        if (few)
            ck_assert_msg(length > 0.75 * 3.18 && length < 1.25 * 3.2, "%g", length);
        else
            ck_assert(length <= 0);
        gaps_free(g);
    }
}
END_TEST

/* CTAs begin in the tenth unit, so a gap needs only one later unit, if its rate is that of the units before. A unit of
 * another rate needs two more. */
START_TEST(one_stable_unit_of_new_ctas_suffices) {
    for (int other = 0; other < 2; other++) {
        struct gaps *g = inside_gaps();
        uint64_t now = 0;
        for (int i = 0; i < 9; i++)
            ck_assert(next_of(g, &now, 2000, 4000, 0) <= 0);
        gaps_restart(g, 1);
        stats_add(gaps_unit(g), "gpu.cycles", 3000);
        stats_add(gaps_unit(g), "gpu.warp_instructions", 2000);
        now += 3000;
        ck_assert(gaps_next_inside(g, now, 1) <= 0);
        for (int i = 0; i < (other ? 3 : 1); i++) {
            const double length = next_inside(g, &now, 2000, other ? 5000 : 4000);
            ck_assert((length > 0) == (i == (other ? 2 : 0)));
        }
        gaps_free(g);
    }
}
END_TEST

SUITE(timing_gaps) {
    TEST(mixed_ages_need_no_stable_units);
    TEST(one_stable_unit_of_new_ctas_suffices);
    TEST(gaps_follow_units_that_drain);
    TEST(new_code_waits_for_stable_units);
    TEST(equal_units_have_gaps_inside);
    TEST(phases_have_no_gaps_inside);
    TEST(a_cut_gap_is_like_the_unit_before);
    TEST(equal_waves_are_exact);
    TEST(short_launches_have_one_sample);
    TEST(regrouped_threads_are_the_weight);
    TEST(changing_waves_have_a_variance);
    TEST(unstable_waves_run_longer);
    TEST(short_waves_make_longer_units);
    TEST(very_short_waves_are_whole);
    TEST(short_launches_are_whole);
}
