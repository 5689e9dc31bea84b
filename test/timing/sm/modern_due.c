/* Tests that results and fetches of the modern core that arrive without an event (timing/sm/modern_due.h,
 * timing/sm/modern_place.h) change no statistic. A unit that observes instructions makes all of them events. */
#include "modern_rig.h"
#include <math.h>

enum { MOST = 1000 }; /* statistics */

/* Runs the body with an observer and without, and compares all statistics of the second launches. Returns the number of
 * hazards. */
static double compare(const char *const *set, const char *body, uint32_t threads) {
    static double seen[MOST];
    const char *name;
    rig_unseen = false;
    rig_run(set, body, threads, 2);
    for (int i = 0; i < MOST && (name = heddle_stat_name(i, NULL, NULL)); i++)
        seen[i] = heddle_stat(rig, 1, name);
    const double hazards = heddle_stat(rig, 1, "core.hazards");
    rig_unseen = true;
    rig_run(set, body, threads, 2);
    for (int i = 0; i < MOST && (name = heddle_stat_name(i, NULL, NULL)); i++) {
        const double now = heddle_stat(rig, 1, name);
        ck_assert_msg(now == seen[i] || (isnan(now) && isnan(seen[i])) || !strncmp(name, "host.", 5),
                      "%s: %.0f, with an observer %.0f", name, now, seen[i]);
    }
    return hazards;
}

/* An addition takes 14 cycles. Up to eight of them issue one after the other, more than may arrive without an event,
 * and the warp exits before the last results have arrived. The SM keeps it until then. If a fetch and the decoding
 * take 3 cycles, the buffer is empty after each issue, and nothing is fetched behind the last instructions. */
START_TEST(a_warp_waits_for_its_last_result) {
    char latency[32], body[4096];
    const char *const set[] = {"gpu.sms=1", "core.assembly=off", "latency.int_add=14", latency, NULL};
    snprintf(latency, sizeof latency, "fetch.latency=%d", _i % 3 + 1);
    uint32_t n = rig_lead_in(body);
    n = rig_repeat(body, "add.u32 %%r%d,%%r30,%%r31;\n", n, (uint32_t)_i / 3);
    for (uint32_t i = 4; i < n; i++)
        rig_bits[i].stall = 1;
    compare(set, body, WARP);
}
END_TEST

/* The load reads its address in the cycle in which the addition's result arrives. Without a bypass, this is a cycle
 * early. A distance of 13 is too short as well, and 15 is long enough. A reader with a bypass needs only 14. */
START_TEST(a_result_that_is_too_late_is_a_hazard) {
    static const char *const set[] = {"gpu.sms=1", "core.assembly=off", "latency.int_add=14", NULL};
    static const char *const reader[] = {"ld.shared.u32 %r2,[%r1];\n", "add.u32 %r2,%r1,1;\n"};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    const int distance = 12 + _i / 2;
    sprintf(body + strlen(body), "mov.u32 %%r1,0;\nadd.u32 %%r1,%%r1,4;\n%s", reader[_i % 2]);
    rig_bits[first].stall = 15;
    rig_bits[first + 1].stall = (uint8_t)distance;
    ck_assert_double_eq(compare(set, body, WARP), distance < (_i % 2 ? 14 : 15));
}
END_TEST

/* Four warps of each sub-core jump, wait at a barrier and diverge: fetches are dropped, and wait for lines. If a fetch
 * takes 8 cycles, the buffer of three instructions runs empty. */
START_TEST(jumps_drop_fetches) {
    static const char *const set[][4] = {{"gpu.sms=1", "core.assembly=off", NULL},
                                         {"gpu.sms=1", "core.assembly=off", "fetch.latency=8", NULL}};
    rig_first = 1;
    for (int i = 0; i < 40; i++)
        rig_bits[i].stall = (uint8_t)(_i > 1 ? _i / 2 : i % 5 + 1);
    compare(set[_i % 2],
            ".reg .pred %p;\nmov.u32 %r1,%tid.x;\nmov.u32 %r2,0;\n"
            "L: add.u32 %r2,%r2,1;\nmul.lo.u32 %r3,%r2,%r2;\nadd.u32 %r4,%r2,7;\nbar.sync 0;\n"
            "setp.lt.u32 %p,%r1,%r4;\n@%p bra A;\nadd.u32 %r5,%r5,1;\nadd.u32 %r6,%r6,1;\nadd.u32 %r7,%r7,1;\nbra J;\n"
            "A: add.u32 %r5,%r5,2;\nadd.u32 %r8,%r8,1;\nJ: add.u32 %r9,%r9,1;\nsetp.lt.u32 %p,%r2,9;\n@%p bra L;\n"
            "st.global.u32 [%a],%r2;\n",
            16 * WARP);
}
END_TEST

/* Expansions take machine instructions from the buffer. In a cycle with both events, a machine instruction that arrives
 * comes after an expansion that waits for it. */
START_TEST(expansions_see_the_same_buffer) {
    char latency[32];
    const char *const set[] = {"gpu.sms=1", latency, NULL};
    snprintf(latency, sizeof latency, "fetch.latency=%d", _i % 4 + 1);
    rig_compiled = true;
    compare(set,
            ".reg .pred %p;\nmov.u32 %r1,%tid.x;\nmov.u32 %r2,0;\ncvt.u64.u32 %q1,%r1;\ncvt.rn.f32.u32 %f1,%r1;\n"
            "L: add.u32 %r2,%r2,1;\nmul.lo.u64 %q1,%q1,%q1;\nadd.u64 %q2,%q1,%q2;\ndiv.u32 %r3,%r1,%r2;\n"
            "add.u32 %r4,%r4,%r3;\nsqrt.rn.f32 %f2,%f1;\nadd.f32 %f3,%f3,%f2;\nxor.b64 %q3,%q3,%q2;\n"
            "add.u32 %r5,%r5,%r4;\nadd.u32 %r6,%r6,%r5;\nsetp.lt.u32 %p,%r2,9;\n@%p bra L;\n"
            "cvt.rni.u32.f32 %r7,%f3;\ncvt.u32.u64 %r8,%q3;\nadd.u32 %r6,%r6,%r7;\nadd.u32 %r6,%r6,%r8;\n"
            "st.global.u32 [%a],%r6;\n",
            (uint32_t)(_i / 4 + 1) * 3 * WARP);
}
END_TEST

SUITE(timing_sm_modern_due) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST_LOOP(a_warp_waits_for_its_last_result, 0, 27);
    TEST_LOOP(a_result_that_is_too_late_is_a_hazard, 0, 8);
    /* with the least of tables, an event may wait for a free entry, so that an observer changes the time */
    TEST_LOOP(expansions_see_the_same_buffer, 0, LEAST_TABLES ? 0 : 16);
    TEST_LOOP(jumps_drop_fetches, 0, LEAST_TABLES ? 0 : 12);
}
