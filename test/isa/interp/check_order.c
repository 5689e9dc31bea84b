/* Tests the order of accesses, for warps that the test steps by hand: order between lanes of a warp, order by barriers,
 * and order by fences, also between CTAs. The expected results follow from docs/checking.md:
 * - Accesses of two lanes are ordered if the lanes executed an instruction together, or waited for each other, between
 *   the accesses.
 * - Accesses of two warps are ordered by a barrier.
 * - Accesses of any threads are ordered by a release and an acquire that reads the released value. */
#include "order_rig.h"

enum { LOW = 0xffff, ONLY_0 = 1, ONLY_1 = 2, LANE_16 = 1 << 16 };
static const lanemask_t ALL = LANES_ALL, HIGH = LANES_ALL ^ LOW;
static struct order_rig r;

static void setup(void) { rig_begin(&r, asm_new()); }
static void teardown(void) { rig_end(&r); }

/* Returns true if the access of `lane` at `time`, in warp 0 of CTA 0, is ordered before the current instruction of lane
 * `of`. */
static bool lane_before(int lane, uint32_t time, int of) { return rig_before(&r, 0, 0, lane, time, WEAK, 0, 0, of); }
static uint32_t step(lanemask_t lanes) { return rig_step(&r, 0, 0, lanes); }
/* Returns true if a weak access of lane 7 of warp `warp` of CTA `cta` at `time` is ordered before the current
 * instruction of lane 3 of warp `of_warp` of CTA `of_cta`. */
static bool weak_before(int cta, int warp, uint32_t time, int of_cta, int of_warp) {
    return rig_before(&r, cta, warp, 7, time, WEAK, of_cta, of_warp, 3);
}
static bool strong_before(int cta, int warp, uint32_t time, int of_cta, int of_warp) {
    return rig_before(&r, cta, warp, 7, time, STRONG_GPU, of_cta, of_warp, 3);
}

START_TEST(lanes_are_ordered_by_what_they_execute_together) {
    ck_assert_uint_eq(step(ALL), 1);
    ck_assert_uint_eq(step(ALL), 2);
    ck_assert(lane_before(0, 2, 1)); /* both executed instruction 2 */
    ck_assert_uint_eq(step(LOW), 3);
    ck_assert(lane_before(16, 2, 0));
    ck_assert_uint_eq(step(HIGH), 4);
    ck_assert(lane_before(0, 2, 16));
    /* lane 16 is on the other side of the branch, so the access of lane 0 at time 3 is unordered */
    ck_assert(!lane_before(0, 3, 16));
    ck_assert(lane_before(17, 4, 16));
    ck_assert_uint_eq(step(LOW), 5);
    ck_assert(lane_before(16, 2, 0));
    ck_assert(!lane_before(16, 4, 0));
    ck_assert(lane_before(0, 3, 0)); /* its own access */
    ck_assert_uint_eq(step(ALL), 6);
    ck_assert_uint_eq(step(HIGH), 7);
    ck_assert(lane_before(0, 5, 16)); /* both executed instruction 6 */
    ck_assert(lane_before(0, 6, 16));
    ck_assert_uint_eq(step(LOW), 8);
    ck_assert(lane_before(16, 6, 0));
    ck_assert(!lane_before(16, 7, 0));
}
END_TEST

/* Lanes 0-7 execute at time 2, lanes 8-15 at time 3, and lanes 0-8 at time 4. Lane 8 passes on its order: the accesses
 * of lane 9 up to time 3 are ordered before later instructions of lanes 0-7. The accesses of time 4 are not ordered
 * before instructions of lane 9. */
START_TEST(lanes_pass_on_their_knowledge) {
    step(ALL);
    ck_assert_uint_eq(step(0xff), 2);
    ck_assert_uint_eq(step(0xff00), 3);
    ck_assert(!lane_before(0, 2, 9));
    ck_assert_uint_eq(step(0x1ff), 4);
    ck_assert(lane_before(9, 3, 0));
    ck_assert(!lane_before(9, 4, 0));
    ck_assert(lane_before(20, 1, 0));
    ck_assert_uint_eq(step(1 << 9), 5);
    ck_assert(lane_before(0, 1, 9));
    ck_assert(!lane_before(0, 2, 9));
    ck_assert(lane_before(8, 3, 9));
    ck_assert(!lane_before(8, 4, 9));
    ck_assert_uint_eq(step(3 << 8), 6); /* lanes 8 and 9 */
    ck_assert(lane_before(0, 4, 9));
    ck_assert(!lane_before(0, 5, 9));
    ck_assert_uint_eq(step(1 << 10), 7);
    ck_assert(lane_before(9, 3, 10));
    ck_assert(!lane_before(8, 4, 10));
    ck_assert(!lane_before(9, 5, 10));
    ck_assert(!lane_before(0, 2, 10));
}
END_TEST

/* A CTA does not inherit the order of the previous CTA in its slot. */
START_TEST(a_cta_starts_without_history) {
    step(ALL);
    for (int i = 0; i < 4; i++) {
        step(LOW);
        step(HIGH);
        step(LOW | LANE_16);
    }
    rig_step(&r, 0, 1, ALL);
    const struct now n = rig_now(&r, 0, 0, 0);
    order_fence(&n);
    rig_barrier(&r, 0, 0, true, (lanemask_t[]){ALL, ALL, ALL, ALL});
    ck_assert(weak_before(0, 1, 1, 0, 0));
    check_cta_start(r.c[0]);
    ck_assert_uint_eq(step(ALL), 1);
    ck_assert(!weak_before(0, 1, 1, 0, 0));
    ck_assert(!strong_before(0, 1, 1, 0, 0));
    ck_assert_ptr_null(order_released(&n));
    ck_assert_uint_eq(step(LOW), 2);
    ck_assert_uint_eq(step(HIGH), 3);
    ck_assert(lane_before(0, 1, 16));
    ck_assert(!lane_before(0, 2, 16));
    ck_assert(!rig_before(&r, 0, 0, 0, 2, STRONG_GPU, 0, 0, 16));
}
END_TEST

/* Lanes 16 to 31 execute the instruction of time 3, and then all lanes wait for each other. From then on, the accesses
 * of any lane up to time 3 are ordered before the instructions of every lane. */
START_TEST(lanes_that_wait_for_each_other) {
    struct warp_order *o = rig_order(&r, 0, 0);
    step(ALL);
    step(LOW);
    ck_assert_uint_eq(step(HIGH), 3);
    ck_assert(!lane_before(0, 2, 16));
    ck_assert_uint_eq(o->synced, 0);
    order_join_lanes(o, ALL, ALL);
    ck_assert_uint_eq(o->synced, 3);
    ck_assert(lane_before(0, 2, 16));
    ck_assert_uint_eq(step(HIGH), 4);
    ck_assert(lane_before(0, 2, 16));
    ck_assert_uint_eq(step(LOW), 5);
    ck_assert(lane_before(16, 3, 0));
    ck_assert(!lane_before(16, 4, 0));
    ck_assert_uint_eq(step(ALL), 6);
    order_join_lanes(o, ALL, ALL);
    ck_assert_uint_eq(o->synced, 6);
}
END_TEST

/* Lanes 0 and 16 wait for each other; lane 1 does not. Lane 0 arrives at time 2 and lane 16 at time 4, so both join at
 * time 4. */
START_TEST(some_lanes_wait_for_each_other) {
    struct warp_order *o = rig_order(&r, 0, 0);
    step(ALL);
    ck_assert_uint_eq(step(ONLY_0), 2);
    ck_assert_uint_eq(step(ONLY_1), 3);
    ck_assert_uint_eq(step(LANE_16), 4);
    order_join_lanes(o, ONLY_0 | LANE_16, ALL);
    ck_assert_uint_eq(o->synced, 4);
    ck_assert(lane_before(0, 2, 16));
    ck_assert(!lane_before(1, 3, 16));
    ck_assert_uint_eq(step(ONLY_0), 5);
    ck_assert(lane_before(16, 4, 0));
    ck_assert(!lane_before(1, 3, 0));
    ck_assert_uint_eq(step(ONLY_1), 6);
    ck_assert(lane_before(0, 1, 1));
    ck_assert(!lane_before(0, 2, 1));
    ck_assert(!lane_before(16, 4, 1));
    ck_assert_uint_eq(step(LANE_16), 7);
    ck_assert_uint_eq(step(ONLY_0), 8);
    ck_assert(lane_before(16, 4, 0));
    ck_assert(!lane_before(16, 7, 0));
    /* all lanes execute a sync whose mask has only some lanes; lane 20 then continues alone, ordered after the accesses
     * of all lanes */
    ck_assert_uint_eq(step(ALL), 9);
    order_join_lanes(o, LOW, ALL);
    ck_assert_uint_eq(step(1 << 20), 10);
    ck_assert(lane_before(0, 9, 20));
    ck_assert(!lane_before(0, 10, 20));
}
END_TEST

/* Warps 0 to 2 wait at the barrier, where their times are 3, 1 and 1. Warp 3 has exited after time 1. The barrier
 * advances the time of each waiting warp by one. */
START_TEST(a_barrier_of_the_cta) {
    for (int w = 0; w < RIG_WARPS; w++)
        rig_step(&r, 0, w, ALL);
    step(ALL);
    step(ALL);
    ck_assert(!weak_before(0, 0, 1, 0, 1));
    r.cta[0]->warps[3].live = 0;
    r.c[0]->use[2].active = true;
    rig_barrier(&r, 0, 2, true, (lanemask_t[]){ALL, ALL, ALL, 0});
    ck_assert(!r.c[0]->use[2].active);
    ck_assert(weak_before(0, 0, 3, 0, 1));
    ck_assert(strong_before(0, 0, 3, 0, 1));
    ck_assert(!weak_before(0, 0, 4, 0, 1));
    ck_assert(!strong_before(0, 0, 4, 0, 1));
    ck_assert(weak_before(0, 1, 1, 0, 0));
    ck_assert(!weak_before(0, 1, 2, 0, 0));
    ck_assert(weak_before(0, 3, 1, 0, 2));
    ck_assert(!weak_before(0, 0, 3, 0, 3));
    ck_assert_uint_eq(rig_order(&r, 0, 0)->now, 4);
    ck_assert_uint_eq(rig_order(&r, 0, 2)->now, 2);
    ck_assert_uint_eq(rig_order(&r, 0, 3)->now, 1);
    ck_assert_uint_eq(rig_order(&r, 0, 0)->synced, 3);
    ck_assert_uint_eq(step(ALL), 5);
    ck_assert(!weak_before(0, 0, 4, 0, 1));
}
END_TEST

/* Only some warps take part in a barrier. The barrier does not order accesses of the other warps. The accesses of a
 * warp that only arrives are ordered before the instructions of the warps that wait. The next use of the barrier starts
 * without earlier order. */
START_TEST(barriers_of_some_warps) {
    for (int w = 0; w < RIG_WARPS; w++)
        rig_step(&r, 0, w, ALL);
    rig_barrier(&r, 0, 5, false, (lanemask_t[]){ALL, ALL, 0, 0});
    ck_assert(weak_before(0, 0, 1, 0, 1) && weak_before(0, 1, 1, 0, 0));
    ck_assert(!weak_before(0, 2, 1, 0, 0) && !weak_before(0, 0, 1, 0, 2));
    rig_barrier(&r, 0, 5, false, (lanemask_t[]){0, 0, ALL, ALL});
    ck_assert(weak_before(0, 2, 1, 0, 3) && weak_before(0, 3, 1, 0, 2));
    ck_assert(!weak_before(0, 0, 1, 0, 3));
    ck_assert_uint_eq(rig_step(&r, 0, 3, ALL), 3);
    knowledge_add_warp(r.c[0], &r.c[0]->arrived[5], 3);
    ck_assert_uint_eq(rig_step(&r, 0, 3, ALL), 4);
    rig_barrier(&r, 0, 5, false, (lanemask_t[]){ALL, 0, 0, 0});
    ck_assert(weak_before(0, 3, 3, 0, 0) && strong_before(0, 3, 3, 0, 0));
    ck_assert(!weak_before(0, 3, 4, 0, 0));
    ck_assert(!weak_before(0, 0, 1, 0, 3));
    rig_barrier(&r, 0, 5, false, (lanemask_t[]){0, ALL, ALL, 0});
    ck_assert(!weak_before(0, 3, 3, 0, 1));
    /* ordered through warp 2, which was at an earlier barrier together with warp 3 */
    ck_assert(weak_before(0, 3, 1, 0, 1));
}
END_TEST

/* Lanes 16-31 exit at time 2. Lanes 0-7 arrive at a barrier of the whole CTA at time 3, and lanes 8-15 at time 4. The
 * barrier also orders the accesses of the lanes that have exited. */
START_TEST(lanes_meet_at_barriers) {
    for (int whole = 0; whole < 2; whole++) {
        check_cta_start(r.c[0]);
        step(ALL);
        step(HIGH);
        r.cta[0]->warps[0].live = LOW;
        step(0xff);
        ck_assert_uint_eq(step(0xff00), 4);
        rig_barrier(&r, 0, 1, whole, (lanemask_t[]){LOW, 0, 0, 0});
        ck_assert_uint_eq(step(0xff), 6);
        ck_assert(lane_before(8, 4, 0));
        ck_assert(lane_before(16, 1, 0));
        ck_assert_int_eq(lane_before(16, 2, 0), whole);
        ck_assert(!lane_before(8, 5, 0));
    }
}
END_TEST

/* Warp 0 of CTA 0 was at a barrier with warp 1 at time 1, so both are at time 2 now. Warp 0 executes a fence at time 3
 * and a release at time 4. The release covers all accesses before the fence, and strong accesses of warp 0 up to time
 * 4. */
START_TEST(a_release_after_a_fence) {
    const struct now n = rig_now(&r, 0, 0, 0), to = rig_now(&r, 1, 2, 0);
    step(ALL);
    ck_assert_ptr_null(order_released(&n)); /* no fence yet */
    ck_assert_ptr_null(order_released_cta(&n));
    rig_step(&r, 0, 1, ALL);
    rig_barrier(&r, 0, 0, false, (lanemask_t[]){ALL, ALL, 0, 0});
    ck_assert_uint_eq(step(ALL), 3);
    order_fence(&n);
    ck_assert_uint_eq(step(ALL), 4);
    struct clock *released = order_released(&n), *again = order_released(&n), *local = order_released_cta(&n);
    ck_assert_ptr_nonnull(released);
    ck_assert_ptr_eq(released, again);
    ck_assert_ptr_eq(released, local);
    rig_step(&r, 1, 2, ALL);
    ck_assert(!weak_before(0, 0, 1, 1, 2));
    order_acquire(&to, released, true); /* an acquire of CTA scope does not acquire from other CTAs */
    ck_assert(!weak_before(0, 0, 1, 1, 2));
    order_acquire(&to, released, false);
    ck_assert(weak_before(0, 0, 3, 1, 2));
    ck_assert(!weak_before(0, 0, 4, 1, 2));
    ck_assert(strong_before(0, 0, 4, 1, 2));
    ck_assert(!strong_before(0, 0, 5, 1, 2));
    ck_assert(weak_before(0, 1, 1, 1, 2) && strong_before(0, 1, 1, 1, 2));
    ck_assert(!weak_before(0, 1, 2, 1, 2));
    ck_assert(!weak_before(0, 2, 1, 1, 2)); /* warp 2 was not at the barrier */
    ck_assert(!weak_before(0, 0, 1, 1, 3)); /* in CTA 1 only warp 2 has executed the acquire */
    ck_assert_uint_eq(step(ALL), 5);
    struct clock *next = order_released(&n);
    order_acquire(&to, next, false);
    ck_assert(!weak_before(0, 0, 4, 1, 2)); /* no fence in between */
    ck_assert(strong_before(0, 0, 5, 1, 2));
    /* The fence extends what this instruction releases, so the clock `next`, which was computed before the fence, must
     * not be used again. */
    order_fence(&n);
    struct clock *last = order_released(&n);
    order_acquire(&to, last, false);
    ck_assert(weak_before(0, 0, 5, 1, 2));
    clock_unref(released), clock_unref(again), clock_unref(local), clock_unref(next), clock_unref(last);
}
END_TEST

/* A fence of CTA scope orders accesses only within its own CTA. */
START_TEST(a_fence_of_the_cta) {
    const struct now cta = rig_now(&r, 0, 0, ORDER_CTA), gpu = rig_now(&r, 0, 0, 0), to = rig_now(&r, 0, 2, ORDER_CTA);
    ck_assert_uint_eq(step(ALL), 1);
    order_fence(&cta);
    ck_assert_uint_eq(step(ALL), 2);
    ck_assert_ptr_null(order_released(&gpu));
    struct clock *local = order_released_cta(&gpu), *again = order_released_cta(&gpu);
    ck_assert_ptr_nonnull(local);
    ck_assert_ptr_eq(local, again);
    rig_step(&r, 0, 2, ALL);
    order_acquire(&to, local, true);
    ck_assert(weak_before(0, 0, 1, 0, 2));
    ck_assert(!weak_before(0, 0, 2, 0, 2));
    ck_assert(strong_before(0, 0, 2, 0, 2));
    ck_assert_uint_eq(step(ALL), 3);
    struct clock *later = order_released_cta(&gpu);
    ck_assert_ptr_ne(later, local);
    order_acquire(&to, later, true);
    ck_assert(strong_before(0, 0, 3, 0, 2));
    /* The fence extends what this instruction releases, so the clock `later`, which was computed before the fence, must
     * not be used again. */
    order_fence(&cta);
    struct clock *last = order_released_cta(&gpu);
    order_acquire(&to, last, true);
    ck_assert(weak_before(0, 0, 3, 0, 2));
    clock_unref(local), clock_unref(again), clock_unref(later), clock_unref(last);
}
END_TEST

/* A relaxed strong read sees a release. The release takes effect at the reader's next fence of sufficient scope. */
START_TEST(pending_releases_wait_for_a_fence) {
    const struct now n = rig_now(&r, 0, 0, 0), to = rig_now(&r, 1, 0, 0), to_cta = rig_now(&r, 1, 0, ORDER_CTA);
    ck_assert_uint_eq(step(ALL), 1);
    struct clock *all = order_everything(&n);
    rig_step(&r, 1, 0, ALL);
    clock_add(&r.k.clocks, &to.order->pending, all);
    ck_assert(!weak_before(0, 0, 1, 1, 0));
    order_fence(&to_cta);
    ck_assert(!weak_before(0, 0, 1, 1, 0));
    ck_assert_ptr_nonnull(to.order->pending);
    order_fence(&to);
    ck_assert(weak_before(0, 0, 1, 1, 0));
    ck_assert(!weak_before(0, 0, 2, 1, 0));
    ck_assert_ptr_null(to.order->pending);
    clock_unref(all);
}
END_TEST

/* CTA 0 releases to warp 0 of CTA 1. Warp 0 passes this order to warp 1 of its CTA by a barrier. Warp 1 releases to CTA
 * 2 without a fence of its own. This release covers the accesses that were fenced before the barrier. For warp 1
 * itself, the other accesses before the barrier are ordered, too. */
START_TEST(knowledge_passes_through_barriers) {
    const struct now n = rig_now(&r, 0, 0, 0), mid = rig_now(&r, 1, 0, 0), other = rig_now(&r, 1, 1, 0),
                     to = rig_now(&r, 2, 0, 0);
    ck_assert_uint_eq(step(ALL), 1);
    struct clock *all = order_everything(&n);
    ck_assert_uint_eq(rig_step(&r, 1, 0, ALL), 1);
    order_acquire(&mid, all, false);
    rig_step(&r, 1, 1, ALL);
    ck_assert(!weak_before(0, 0, 1, 1, 1));
    order_fence(&mid);
    ck_assert_uint_eq(rig_step(&r, 1, 0, ALL), 2);
    rig_barrier(&r, 1, 0, true, (lanemask_t[]){ALL, ALL, ALL, ALL});
    ck_assert(weak_before(0, 0, 1, 1, 1));
    rig_step(&r, 1, 1, ALL);
    struct clock *released = order_released(&other);
    rig_step(&r, 2, 0, ALL);
    order_acquire(&to, released, false);
    ck_assert(weak_before(0, 0, 1, 2, 0));
    ck_assert(weak_before(1, 0, 1, 2, 0));
    ck_assert(!weak_before(1, 0, 2, 2, 0)); /* warp 0 of CTA 1 has executed no fence after this access */
    ck_assert(weak_before(1, 0, 2, 1, 1));
    clock_unref(all), clock_unref(released);
}
END_TEST

/* Lane 0 executes a fence at time 2 and sets a flag at time 3. Lane 1 of the same warp reads the flag at time 4. */
START_TEST(a_flag_between_lanes) {
    const struct now n = rig_now(&r, 0, 0, 0);
    step(ALL);
    ck_assert_uint_eq(step(ONLY_0), 2);
    order_fence(&n);
    ck_assert_uint_eq(step(ONLY_0), 3);
    struct clock *released = order_released(&n);
    ck_assert_uint_eq(step(ONLY_1), 4);
    ck_assert(!lane_before(0, 2, 1));
    ck_assert(!rig_before(&r, 0, 0, 0, 3, STRONG_CTA, 0, 0, 1));
    order_acquire(&n, released, true);
    ck_assert(lane_before(0, 2, 1));
    ck_assert(!lane_before(0, 3, 1));
    ck_assert(rig_before(&r, 0, 0, 0, 3, STRONG_CTA, 0, 0, 1));
    ck_assert(!rig_before(&r, 0, 0, 0, 4, STRONG_CTA, 0, 0, 1));
    ck_assert_uint_eq(step(4), 5);
    ck_assert(!lane_before(0, 2, 2));
    clock_unref(released);
}
END_TEST

START_TEST(ends_of_ranges) {
    struct now n = rig_now(&r, 0, 0, 0);
    const struct access earlier = {.time = 9, .cta = r.k.base - 1, .thread = 40};
    step(ALL);
    ck_assert(order_is_before(&n, &earlier, 0)); /* the access belongs to an earlier launch */
    rig_order(&r, 0, 0)->now = UINT32_MAX - 1;
    ck_assert_uint_eq(step(ALL), UINT32_MAX);
    /* the time stays at its maximum; it must not wrap to 0, which is not a valid time */
    ck_assert_uint_eq(step(ALL), UINT32_MAX);
    rig_barrier(&r, 0, 0, true, (lanemask_t[]){ALL, ALL, ALL, ALL});
    ck_assert_uint_eq(rig_order(&r, 0, 0)->now, UINT32_MAX);
    ck_assert(!weak_before(1, 0, 1, 0, 0));
    /* if memory for clocks runs out, all accesses count as ordered, so that no false race is reported */
    r.k.clocks.failed = true;
    ck_assert(weak_before(1, 0, 1, 0, 0));
}
END_TEST

SUITE(isa_check_order) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(lanes_are_ordered_by_what_they_execute_together);
    TEST(lanes_pass_on_their_knowledge);
    TEST(a_cta_starts_without_history);
    TEST(lanes_that_wait_for_each_other);
    TEST(some_lanes_wait_for_each_other);
    TEST(a_barrier_of_the_cta);
    TEST(barriers_of_some_warps);
    TEST(lanes_meet_at_barriers);
    TEST(a_release_after_a_fence);
    TEST(a_fence_of_the_cta);
    TEST(pending_releases_wait_for_a_fence);
    TEST(knowledge_passes_through_barriers);
    TEST(a_flag_between_lanes);
    TEST(ends_of_ranges);
}
