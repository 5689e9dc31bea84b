/* Tests which of two schedulers has priority if both need the same pipe (peer.sched_alternate). */
#include "slots_rig.h"
#include <stdlib.h>

enum { BEGIN = 5, ADDS = 32 }; /* five instructions precede the body of the kernel */

/* Runs two warps, one for each scheduler, with independent additions. The pipe takes one instruction per cycle.
 * Instruction buffers never run empty, since a fetch brings 8 instructions. */
static void run_two_warps(const char *alternate) {
    char body[4096];
    size_t at = 0;
    for (int i = 0; i < ADDS; i++)
        at += (size_t)snprintf(body + at, sizeof body - at, "add.u32 %%r%d,%%t,%d;\n", i % 20, i);
    const char *set[] = {"sm.schedulers=2",
                         "pipe.sp.units=1",
                         "pipe.sp.in_ports=1",
                         "pipe.sp.out_ports=1",
                         "fetch.width=8",
                         "pipe.result_bus=4",
                         alternate,
                         NULL};
    rig_run("spe", set, body, 64);
}

/* Returns the number of additions that warp `w` has issued when the other warp issues its 24th. */
static int issued_by(uint32_t w) {
    uint64_t when = rig_at(1 - w, BEGIN + 23, UINT32_MAX);
    int n = 0;
    for (uint32_t i = 0; i < rig_n; i++)
        n += rig_slot[i].warp == w && rig_slot[i].pc >= BEGIN && rig_slot[i].cycle <= when;
    return n;
}

/* With alternating priority, neither warp is ahead by more than 4 instructions, half of what a fetch brings. */
START_TEST(schedulers_take_turns) {
    run_two_warps("peer.sched_alternate=true");
    ck_assert_int_le(abs(issued_by(0) - issued_by(1)), 4);
}
END_TEST

/* With fixed priority, the second scheduler issues only while the first scheduler waits for a fetch. So the warp of the
 * second scheduler is behind by at least the instructions of one fetch. */
START_TEST(the_first_scheduler_comes_first) {
    run_two_warps("peer.sched_alternate=false");
    ck_assert_int_ge(issued_by(0) - issued_by(1), 8);
}
END_TEST

/* With three schedulers, each scheduler has priority in every third cycle. */
START_TEST(three_take_turns) {
    char body[4096];
    size_t at = 0;
    for (int i = 0; i < ADDS; i++)
        at += (size_t)snprintf(body + at, sizeof body - at, "add.u32 %%r%d,%%t,%d;\n", i % 20, i);
    const char *set[] = {"sm.schedulers=3",
                         "sm.warps=9",
                         "pipe.sp.units=1",
                         "pipe.sp.in_ports=1",
                         "pipe.sp.out_ports=1",
                         "fetch.width=8",
                         "pipe.result_bus=4",
                         "peer.sched_alternate=true",
                         NULL};
    rig_run("spe", set, body, 96);
    uint64_t end[3];
    for (uint32_t w = 0; w < 3; w++)
        end[w] = rig_at(w, BEGIN + ADDS - 1, UINT32_MAX);
    /* A fetch brings 8 instructions. The three warps take turns, so a warp issues the instructions of one fetch in
     * 3 * 8 cycles. So no warp ends more than 3 * 8 cycles after another warp. */
    for (uint32_t w = 0; w < 3; w++)
        ck_assert_uint_le(end[(w + 1) % 3], end[w] + 3 * 8);
}
END_TEST

SUITE(timing_alternate) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST(schedulers_take_turns);
    TEST_SPEED(the_first_scheduler_comes_first);
    TEST(three_take_turns);
}
