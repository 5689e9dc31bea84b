/* Tests collector units that all kinds of pipes share (collector.shared). Warp 0 executes instructions that need much
 * time, the other warps independent integer additions. Two schedulers; the second one has the odd warps. */
#include "slots_rig.h"

enum { ADDS = 32, FIRST = 8 }; /* eight instructions precede the code of warp 0 */
enum parts { WHOLE, DIVIDED };

static const char add[] = "add.f32 %%g%d,%%f3,%%f3; // %d\n", load[] = "ld.global.u32 %%r%d,[%%c]; // %d\n";

static size_t append(char *text, size_t at, size_t size, const char *format, int n) {
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, size - at, format, i % 20, i);
    return at;
}

/* Runs `warps` warps, with `shared` collector units for the SM; 0: each kind of pipe has its own units. Warp 0 executes
 * `n` instructions `format`. Each scheduler, or the whole SM, has an f32 pipe that takes an instruction every 4 cycles,
 * and an integer pipe that takes one every cycle. */
static void run_warps(const char *format, int n, uint32_t warps, enum parts parts, int shared) {
    char body[8192], units[5][40];
    static const char *const pipe[] = {"sp", "int", "sfu"};
    size_t at = (size_t)snprintf(body, sizeof body,
                                 ".reg .f32 %%g<20>; mad.wide.u32 %%c,%%l,128,%%a; setp.lt.u32 "
                                 "%%o,%%t,32; @!%%o bra INTS;\n");
    at = append(body, at, sizeof body, format, n);
    at += (size_t)snprintf(body + at, sizeof body - at, "bra END; INTS:\n");
    at = append(body, at, sizeof body, "add.u32 %%r%d,%%t,%d;\n", ADDS);
    snprintf(body + at, sizeof body - at, "END:\n");
    for (int i = 0; i < 3; i++)
        snprintf(units[i], sizeof units[i], "pipe.%s.units=%d", pipe[i], parts == DIVIDED ? 2 : 1);
    snprintf(units[3], sizeof units[3], "sm.subcores=%s", parts == DIVIDED ? "true" : "false");
    snprintf(units[4], sizeof units[4], "collector.shared=%d", shared);
    const char *set[] = {"sm.schedulers=2",
                         units[0],
                         units[1],
                         units[2],
                         units[3],
                         units[4],
                         "pipe.int.collectors=8",
                         "initiation.f32_add=4",
                         "fetch.width=8",
                         "pipe.result_bus=4",
                         NULL};
    rig_run("spe", set, body, warps * 32);
}

/* Returns the cycles by which the last integer addition of warp `w` issues after the last of the `n` instructions of
 * warp 0. */
static int ints_after(int n, uint32_t w) {
    const uint64_t last = rig_at(0, (uint32_t)(FIRST + n - 1), UINT32_MAX);
    return (int)(rig_at(w, (uint32_t)(FIRST + n + ADDS), UINT32_MAX) - last);
}

/* Between issue and pipe there is room for at most 2 + 6 + 2 f32 additions (latches, units, latches). So the last of 48
 * issues at least 4 * (48 - 11) = 148 cycles after the first; the integer additions need 32 cycles and those of 4
 * fetches. If they share the units, each unit that becomes free goes to the f32 addition in the latch, and the integer
 * additions come last. */
START_TEST(the_first_kinds_take_the_units) {
    enum { N = 48 };
    run_warps(add, N, 2, WHOLE, 0);
    ck_assert_int_le(ints_after(N, 1), -40);
    for (int units = 1; units <= 2; units++) {
        run_warps(add, N, 2, WHOLE, units);
        ck_assert_int_ge(ints_after(N, 1), 1);
    }
}
END_TEST

/* The two parts of a divided SM have their own units. But if the oldest integer addition, of warp 2, gets no unit in
 * the part of warp 0, those of warp 1 get none in their part either. */
START_TEST(the_oldest_blocks_its_kind_in_all_parts) {
    enum { N = 48 };
    run_warps(add, N, 2, DIVIDED, 2);
    ck_assert_int_le(ints_after(N, 1), -40);
    run_warps(add, N, 3, DIVIDED, 2);
    ck_assert_int_ge(ints_after(N, 2), 1);
    ck_assert_int_ge(ints_after(N, 1), 1);
}
END_TEST

/* Each load of 32 lines needs 32 cycles in the load/store unit. With shared units, loads that wait for it occupy the
 * units; loads come before integer additions. */
START_TEST(waiting_loads_occupy_the_units) {
    enum { N = 16 };
    run_warps(load, N, 2, WHOLE, 0);
    ck_assert_int_le(ints_after(N, 1), -100);
    run_warps(load, N, 2, WHOLE, 2);
    ck_assert_int_ge(ints_after(N, 1), 1);
}
END_TEST

SUITE(timing_shared_collectors) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST(the_first_kinds_take_the_units);
    TEST(the_oldest_blocks_its_kind_in_all_parts);
    TEST(waiting_loads_occupy_the_units);
}
