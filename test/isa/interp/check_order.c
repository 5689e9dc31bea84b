/* Who came before whom, for warps that are led by hand: lanes of a warp, barriers, fences and what they hand on to
 * other CTAs. Expected answers follow from docs/checking.md: lanes are ordered when they have executed an instruction
 * together or waited for each other in between, warps by barriers, all by what a release has told an acquire. */
#include "order_rig.h"

enum { LOW = 0xffff, ONLY_0 = 1, ONLY_1 = 2, LANE_16 = 1 << 16 };
static const lanemask_t ALL = LANES_ALL, HIGH = ~(lanemask_t)LOW;
static struct order_rig r;

static void setup(void) { rig_begin(&r, asm_new()); }
static void teardown(void) { rig_end(&r); }

/* In warp 0 of CTA 0: what `lane` did at `time`, as `of` sees it now. */
static bool lane_before(int lane, uint32_t time, int of) { return rig_before(&r, 0, 0, lane, time, WEAK, 0, 0, of); }
static uint32_t step(lanemask_t lanes) { return rig_step(&r, 0, 0, lanes); }
/* What warp `warp` of CTA `cta` did at `time`, as lane 3 of another one sees it. */
static bool weak_before(int cta, int warp, uint32_t time, int of_cta, int of_warp) {
    return rig_before(&r, cta, warp, 7, time, WEAK, of_cta, of_warp, 3);
}
static bool strong_before(int cta, int warp, uint32_t time, int of_cta, int of_warp) {
    return rig_before(&r, cta, warp, 7, time, STRONG_GPU, of_cta, of_warp, 3);
}

START_TEST(lanes_are_ordered_by_what_they_execute_together) {
    ck_assert_uint_eq(step(ALL), 1);
    ck_assert_uint_eq(step(ALL), 2);
    ck_assert(lane_before(0, 2, 1)); /* one instruction of both */
    ck_assert_uint_eq(step(LOW), 3);
    ck_assert(lane_before(16, 2, 0));
    ck_assert_uint_eq(step(HIGH), 4);
    ck_assert(lane_before(0, 2, 16));
    ck_assert(!lane_before(0, 3, 16)); /* the other side of the branch */
    ck_assert(lane_before(17, 4, 16));
    ck_assert_uint_eq(step(LOW), 5);
    ck_assert(lane_before(16, 2, 0));
    ck_assert(!lane_before(16, 4, 0));
    ck_assert(lane_before(0, 3, 0)); /* its own */
    ck_assert_uint_eq(step(ALL), 6);
    ck_assert_uint_eq(step(HIGH), 7);
    ck_assert(lane_before(0, 5, 16)); /* together at 6 */
    ck_assert(lane_before(0, 6, 16));
    ck_assert_uint_eq(step(LOW), 8);
    ck_assert(lane_before(16, 6, 0));
    ck_assert(!lane_before(16, 7, 0));
}
END_TEST

/* 0-7 at 2, 8-15 at 3, 0-8 at 4: lane 8 has told 0-7 what 9 did with it at 3; 9 knows nothing of 4. */
START_TEST(lanes_pass_on_what_they_know) {
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
    ck_assert_uint_eq(step(3 << 8), 6); /* 8 and 9 */
    ck_assert(lane_before(0, 4, 9));
    ck_assert(!lane_before(0, 5, 9));
    ck_assert_uint_eq(step(1 << 10), 7);
    ck_assert(lane_before(9, 3, 10));
    ck_assert(!lane_before(8, 4, 10));
    ck_assert(!lane_before(9, 5, 10));
    ck_assert(!lane_before(0, 2, 10));
}
END_TEST

/* Rows of the CTA before are nothing to this one. */
START_TEST(a_cta_begins_without_a_past) {
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
    ck_assert_ptr_null(order_told(&n));
    ck_assert_uint_eq(step(LOW), 2);
    ck_assert_uint_eq(step(HIGH), 3);
    ck_assert(lane_before(0, 1, 16));
    ck_assert(!lane_before(0, 2, 16));
    ck_assert(!rig_before(&r, 0, 0, 0, 2, STRONG_GPU, 0, 0, 16));
}
END_TEST

/* From the path of 16-31, at 3: after it all lanes know what all did up to 3. */
START_TEST(lanes_that_wait_for_each_other) {
    struct warp_order *o = rig_order(&r, 0, 0);
    step(ALL);
    step(LOW);
    ck_assert_uint_eq(step(HIGH), 3);
    ck_assert(!lane_before(0, 2, 16));
    ck_assert_uint_eq(o->synced, 0);
    order_meet(o, ALL, ALL);
    ck_assert_uint_eq(o->synced, 3);
    ck_assert(lane_before(0, 2, 16));
    ck_assert_uint_eq(step(HIGH), 4);
    ck_assert(lane_before(0, 2, 16));
    ck_assert_uint_eq(step(LOW), 5);
    ck_assert(lane_before(16, 3, 0));
    ck_assert(!lane_before(16, 4, 0));
    ck_assert_uint_eq(step(ALL), 6);
    order_meet(o, ALL, ALL);
    ck_assert_uint_eq(o->synced, 6);
}
END_TEST

/* 0 and 16 meet, 1 does not: at 4, when 0 had come at 2 and 16 at 4. */
START_TEST(some_lanes_wait_for_each_other) {
    struct warp_order *o = rig_order(&r, 0, 0);
    step(ALL);
    ck_assert_uint_eq(step(ONLY_0), 2);
    ck_assert_uint_eq(step(ONLY_1), 3);
    ck_assert_uint_eq(step(LANE_16), 4);
    order_meet(o, ONLY_0 | LANE_16, ALL);
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
    /* a mask of some, executed by all: 20 goes on alone, and knows what all did */
    ck_assert_uint_eq(step(ALL), 9);
    order_meet(o, LOW, ALL);
    ck_assert_uint_eq(step(1 << 20), 10);
    ck_assert(lane_before(0, 9, 20));
    ck_assert(!lane_before(0, 10, 20));
}
END_TEST

/* Warps 0 to 2 wait, at their times 3, 1 and 1; warp 3 has exited, after 1. Who waits goes on one later. */
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

/* Of some warps: others neither tell nor learn. Who only arrives tells. Nothing is left for those who meet there next.
 */
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
    ck_assert(weak_before(0, 3, 1, 0, 1)); /* of warp 2, which had met it */
}
END_TEST

/* 16-31 left at 2; 0-7 came at 3 and 8-15 at 4. A barrier of the CTA is one of those who have left, too. */
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

/* Warp 0 of CTA 0, which has met warp 1 at 1 (and both are at 2), fences at 3 and tells at 4: what is before the fence,
 * and of its strong accesses that at 4. */
START_TEST(a_fence_and_what_is_told_after_it) {
    const struct now n = rig_now(&r, 0, 0, 0), to = rig_now(&r, 1, 2, 0);
    step(ALL);
    ck_assert_ptr_null(order_told(&n)); /* nothing is fenced */
    ck_assert_ptr_null(order_told_cta(&n));
    rig_step(&r, 0, 1, ALL);
    rig_barrier(&r, 0, 0, false, (lanemask_t[]){ALL, ALL, 0, 0});
    ck_assert_uint_eq(step(ALL), 3);
    order_fence(&n);
    ck_assert_uint_eq(step(ALL), 4);
    struct clock *told = order_told(&n), *again = order_told(&n), *local = order_told_cta(&n);
    ck_assert_ptr_nonnull(told);
    ck_assert_ptr_eq(told, again);
    ck_assert_ptr_eq(told, local);
    rig_step(&r, 1, 2, ALL);
    ck_assert(!weak_before(0, 0, 1, 1, 2));
    order_acquire(&to, told, true); /* of the CTA's scope: another CTA is not in it */
    ck_assert(!weak_before(0, 0, 1, 1, 2));
    order_acquire(&to, told, false);
    ck_assert(weak_before(0, 0, 3, 1, 2));
    ck_assert(!weak_before(0, 0, 4, 1, 2));
    ck_assert(strong_before(0, 0, 4, 1, 2));
    ck_assert(!strong_before(0, 0, 5, 1, 2));
    ck_assert(weak_before(0, 1, 1, 1, 2) && strong_before(0, 1, 1, 1, 2));
    ck_assert(!weak_before(0, 1, 2, 1, 2));
    ck_assert(!weak_before(0, 2, 1, 1, 2)); /* warp 2 met nobody */
    ck_assert(!weak_before(0, 0, 1, 1, 3)); /* of CTA 1 only warp 2 has heard it */
    ck_assert_uint_eq(step(ALL), 5);
    struct clock *next = order_told(&n);
    order_acquire(&to, next, false);
    ck_assert(!weak_before(0, 0, 4, 1, 2)); /* no fence since */
    ck_assert(strong_before(0, 0, 5, 1, 2));
    order_fence(&n); /* in the same instruction: what was told is not kept */
    struct clock *last = order_told(&n);
    order_acquire(&to, last, false);
    ck_assert(weak_before(0, 0, 5, 1, 2));
    clock_unref(told), clock_unref(again), clock_unref(local), clock_unref(next), clock_unref(last);
}
END_TEST

/* A fence of the CTA's scope covers for the CTA only. */
START_TEST(a_fence_of_the_cta) {
    const struct now cta = rig_now(&r, 0, 0, ORDER_CTA), gpu = rig_now(&r, 0, 0, 0), to = rig_now(&r, 0, 2, ORDER_CTA);
    ck_assert_uint_eq(step(ALL), 1);
    order_fence(&cta);
    ck_assert_uint_eq(step(ALL), 2);
    ck_assert_ptr_null(order_told(&gpu));
    struct clock *local = order_told_cta(&gpu), *again = order_told_cta(&gpu);
    ck_assert_ptr_nonnull(local);
    ck_assert_ptr_eq(local, again);
    rig_step(&r, 0, 2, ALL);
    order_acquire(&to, local, true);
    ck_assert(weak_before(0, 0, 1, 0, 2));
    ck_assert(!weak_before(0, 0, 2, 0, 2));
    ck_assert(strong_before(0, 0, 2, 0, 2));
    ck_assert_uint_eq(step(ALL), 3);
    struct clock *later = order_told_cta(&gpu);
    ck_assert_ptr_ne(later, local);
    order_acquire(&to, later, true);
    ck_assert(strong_before(0, 0, 3, 0, 2));
    order_fence(&cta); /* in the same instruction */
    struct clock *last = order_told_cta(&gpu);
    order_acquire(&to, last, true);
    ck_assert(weak_before(0, 0, 3, 0, 2));
    clock_unref(local), clock_unref(again), clock_unref(later), clock_unref(last);
}
END_TEST

/* What a strong read has seen counts from the next fence on: of its scope. */
START_TEST(what_is_pending_waits_for_a_fence) {
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

/* CTA 0 tells 1, whose warp 0 hands it to its warp 1 at a barrier; that tells CTA 2 without a fence of its own, what
 * was fenced before the barrier, and knows the rest itself. */
START_TEST(knowledge_goes_on) {
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
    struct clock *told = order_told(&other);
    rig_step(&r, 2, 0, ALL);
    order_acquire(&to, told, false);
    ck_assert(weak_before(0, 0, 1, 2, 0));
    ck_assert(weak_before(1, 0, 1, 2, 0));
    ck_assert(!weak_before(1, 0, 2, 2, 0)); /* after the fence of warp 0 */
    ck_assert(weak_before(1, 0, 2, 1, 1));
    clock_unref(all), clock_unref(told);
}
END_TEST

/* Lane 0 fences at 2 and sets a flag at 3, lane 1 of the same warp sees it at 4. */
START_TEST(a_flag_between_lanes) {
    const struct now n = rig_now(&r, 0, 0, 0);
    step(ALL);
    ck_assert_uint_eq(step(ONLY_0), 2);
    order_fence(&n);
    ck_assert_uint_eq(step(ONLY_0), 3);
    struct clock *told = order_told(&n);
    ck_assert_uint_eq(step(ONLY_1), 4);
    ck_assert(!lane_before(0, 2, 1));
    ck_assert(!rig_before(&r, 0, 0, 0, 3, STRONG_CTA, 0, 0, 1));
    order_acquire(&n, told, true);
    ck_assert(lane_before(0, 2, 1));
    ck_assert(!lane_before(0, 3, 1));
    ck_assert(rig_before(&r, 0, 0, 0, 3, STRONG_CTA, 0, 0, 1));
    ck_assert(!rig_before(&r, 0, 0, 0, 4, STRONG_CTA, 0, 0, 1));
    ck_assert_uint_eq(step(4), 5);
    ck_assert(!lane_before(0, 2, 2));
    clock_unref(told);
}
END_TEST

START_TEST(ends_of_ranges) {
    struct now n = rig_now(&r, 0, 0, 0);
    const struct access earlier = {.time = 9, .cta = r.k.base - 1, .thread = 40};
    step(ALL);
    ck_assert(order_is_before(&n, &earlier, 0)); /* of a launch before this one */
    rig_order(&r, 0, 0)->now = UINT32_MAX - 1;
    ck_assert_uint_eq(step(ALL), UINT32_MAX);
    ck_assert_uint_eq(step(ALL), UINT32_MAX); /* and not 0, which is no time */
    rig_barrier(&r, 0, 0, true, (lanemask_t[]){ALL, ALL, ALL, ALL});
    ck_assert_uint_eq(rig_order(&r, 0, 0)->now, UINT32_MAX);
    ck_assert(!weak_before(1, 0, 1, 0, 0));
    r.k.clocks.failed = true; /* what is not known for want of memory is no race */
    ck_assert(weak_before(1, 0, 1, 0, 0));
}
END_TEST

SUITE(isa_check_order) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(lanes_are_ordered_by_what_they_execute_together);
    TEST(lanes_pass_on_what_they_know);
    TEST(a_cta_begins_without_a_past);
    TEST(lanes_that_wait_for_each_other);
    TEST(some_lanes_wait_for_each_other);
    TEST(a_barrier_of_the_cta);
    TEST(barriers_of_some_warps);
    TEST(lanes_meet_at_barriers);
    TEST(a_fence_and_what_is_told_after_it);
    TEST(a_fence_of_the_cta);
    TEST(what_is_pending_waits_for_a_fence);
    TEST(knowledge_goes_on);
    TEST(a_flag_between_lanes);
    TEST(ends_of_ranges);
}
