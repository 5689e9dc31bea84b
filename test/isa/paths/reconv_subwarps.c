/* Tests convergence barriers and the rotation of subwarps (subwarp-interleaving paper, section III-A): how lanes
 * register at barriers and wait there, and in which order subwarps run. A warp has eight lanes here. */
#include "isa/paths/reconv_subwarps.h"
#include "test/isa/paths/subwarps_rig.h"

static void setup(void) {
    reconv_cfg_default(&cfg);
    start_with(&reconv_its);
}
static void restart(void) { setup(); }

/* Makes `lanes` of the active subwarp branch to `pc`. Its other lanes fall through. */
static unsigned branch(uint32_t pc, lanemask_t lanes) {
    struct path p[2];
    ck_assert_int_eq(ops->paths(st, p, 2), 1);
    struct target t[2];
    int n = 0;
    if (lanes)
        t[n++] = (struct target){pc, lanes};
    if (p[0].lanes & ~lanes)
        t[n++] = (struct target){p[0].pc + 1, p[0].lanes & ~lanes};
    struct branch_site site = {.pc = p[0].pc, .rpc = 90, .rpc_block = 1, .taken_pc = pc};
    return ops->branch(st, p[0].id, t, n, &site);
}
static void bssy(uint32_t bar) {
    struct path p[2];
    ck_assert_int_eq(ops->paths(st, p, 2), 1);
    ops->bssy(st, p[0].id, bar, 90, p[0].pc + 1);
}
static void bsync(uint32_t bar) { ops->bsync(st, id(), bar, 0, 91); }

/* All lanes register at the barrier. The taken side runs first and blocks at the BSYNC. The other side then completes
 * the barrier. */
START_TEST(a_barrier_reconverges_two_sides) {
    bssy(3);
    ck_assert_str_eq(active(), "1:ff");
    ck_assert_uint_eq(branch(20, 0x0f), RECONV_CHANGED);
    ck_assert_str_eq(all(), "20:fa 2:f0r ");
    bsync(3);
    ck_assert_str_eq(all(), "90:fb 2:f0a ");
    ck_assert_uint_eq(ops->runnable(st), 0xf0);
    bsync(3);
    ck_assert_str_eq(all(), "91:ffa ");
    ck_assert_uint_eq(ops->runnable(st), 0xff);
    bsync(3); /* no lane is registered any more, so the subwarp does not wait */
    ck_assert_str_eq(all(), "91:ffa ");
    ops->leave(st, id(), 0xff, 92);
    ck_assert(ops->finished(st));
    ck_assert_str_eq(all(), "");
}
END_TEST

START_TEST(the_other_side_first) {
    cfg.first = 1;
    bssy(0);
    branch(20, 0x0f);
    ck_assert_str_eq(all(), "20:fr 2:f0a ");
    cfg.first = 0;
}
END_TEST

/* Two of three sides wait at the barrier, and the third side exits. The barrier then opens. */
START_TEST(exited_lanes_are_not_awaited) {
    bssy(5);
    branch(20, 0x0f);
    branch(30, 0x03);
    ck_assert_str_eq(all(), "30:3a 21:cr 2:f0r ");
    bsync(5);
    ck_assert_str_eq(active(), "2:f0"); /* it diverged first */
    ops->yield(st, id());
    bsync(5);
    ck_assert_str_eq(all(), "90:3b 90:cb 2:f0a ");
    ops->leave(st, id(), 0x30, 4); /* part of the subwarp exits */
    ck_assert_str_eq(all(), "90:3b 90:cb 4:c0a ");
    ops->leave(st, id(), 0xc0, PC_NOWHERE);
    ck_assert_str_eq(all(), "91:fa ");
}
END_TEST

/* All lanes are registered at barrier 5. Lanes 0 and 1 wait at it. Some of the other lanes break from the barrier and
 * continue. The barrier still waits for the remaining lanes, and opens when the last of them breaks. A lane that broke
 * does not wait at the BSYNC. */
START_TEST(lanes_that_break_are_not_awaited) {
    bssy(5);
    branch(20, 0x03);
    bsync(5);
    ck_assert_str_eq(all(), "90:3b 2:fca ");
    ops->leave_barrier(st, id(), 5, 0x0f, 3); /* the mask contains lane 3, but lane 3 is not in this path */
    ck_assert_str_eq(all(), "90:3b 3:fca ");
    ops->leave_barrier(st, id(), 5, 0, 4);
    ck_assert_str_eq(all(), "90:3b 4:fca ");
    ops->leave_barrier(st, id(), 4, 0xfc, 5); /* breaks from a barrier at which these lanes are not registered */
    ck_assert_str_eq(all(), "90:3b 5:fca ");
    ops->leave_barrier(st, id(), 5, 0xf0, 6);
    ck_assert_str_eq(all(), "91:3r 6:fca ");
    bsync(5);
    ck_assert_str_eq(all(), "91:3r 91:fca ");
}
END_TEST

/* Barrier 1 is nested in barrier 0. Subwarp f is inside barrier 1. It diverges into subwarps 3 and c (masks in
 * hexadecimal). */
START_TEST(barriers_nest) {
    bssy(0);
    branch(20, 0x0f);
    bssy(1);
    branch(30, 0x03);
    ck_assert_str_eq(all(), "30:3a 22:cr 2:f0r ");
    bsync(1);
    ck_assert_str_eq(active(), "2:f0"); /* next in rotation */
    ops->yield(st, id());
    ck_assert_str_eq(active(), "22:c");
    ops->bsync(st, id(), 1, 0, 91);
    ck_assert_str_eq(all(), "91:fa 2:f0r ");
    ops->bsync(st, id(), 0, 0, 95);
    ck_assert_str_eq(all(), "94:fb 2:f0a ");
    ops->bsync(st, id(), 0, 0, 95);
    ck_assert_str_eq(all(), "95:ffa ");
}
END_TEST

/* Four waiting lanes open a soft barrier. Lanes 0 to 3 open it together and stay in it. When lanes 0 and 1 come again,
 * they wait until lanes 4 to 7 arrive. When all other lanes have left the barrier, lane 0 waits for nobody. */
START_TEST(enough_lanes_open_a_soft_barrier) {
    bssy(6);
    branch(20, 0x03);
    ops->bsync(st, id(), 6, 4, 91);
    ck_assert_str_eq(all(), "90:3b 2:fca ");
    branch(30, 0x0c);
    ops->bsync(st, id(), 6, 4, 91);
    ck_assert_str_eq(all(), "91:fa 3:f0r ");
    branch(40, 0x03);
    ops->bsync(st, id(), 6, 4, 91);
    ck_assert_str_eq(all(), "90:3b 92:ca 3:f0r ");
    ops->yield(st, id());
    ops->bsync(st, id(), 6, 4, 91);
    ck_assert_str_eq(all(), "91:f3a 92:cr ");
    branch(40, 0x01);
    ops->bsync(st, id(), 6, 4, 91);
    ops->leave_barrier(st, id(), 6, 0x0c, 93);
    ops->yield(st, id());
    ops->leave_barrier(st, id(), 6, 0xf2, 93);
    ck_assert_int_eq(subwarps_in(st, SUBWARP_BLOCKED), 0);
}
END_TEST

/* Three subwarps (lanes f0, 3 and c, hexadecimal) yield one after another. Each runs once before the first runs
 * again. */
START_TEST(subwarps_rotate) {
    branch(20, 0x03);
    ops->yield(st, id()); /* fc at 1 */
    branch(30, 0x0c);
    ops->yield(st, id());
    static const lanemask_t masks[] = {0xf0, 0x3, 0xc};
    lanemask_t seen = 0;
    char first[32];
    snprintf(first, sizeof first, "%s", active());
    for (int i = 0; i < 3; i++) {
        struct path p[2];
        ops->paths(st, p, 2);
        ck_assert_uint_eq(seen & p[0].lanes, 0); /* no subwarp runs twice */
        seen |= p[0].lanes;
        bool known = false;
        for (int k = 0; k < 3; k++)
            known |= p[0].lanes == masks[k];
        ck_assert(known);
        ck_assert_uint_eq(ops->yield(st, p[0].id), RECONV_CHANGED);
    }
    ck_assert_uint_eq(seen, 0xff);
    ck_assert_str_eq(active(), first);
}
END_TEST

/* The 32nd taken backward branch of a subwarp makes it yield. Forward branches do not count. A new subwarp starts to
 * count at 0. */
START_TEST(a_loop_yields) {
    branch(20, 0x0f); /* subwarp f0 is READY at PC 1 */
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 31; i++) {
            ck_assert_uint_eq(branch(20, 0x0f), 0);
            ck_assert_str_eq(active(), "20:f");
        }
        ck_assert_uint_eq(branch(25, 0x0f), 0); /* forward */
        ops->advance(st, id(), 20);
        ck_assert_str_eq(active(), "20:f");
        ck_assert_uint_eq(branch(20, 0x0f), RECONV_CHANGED);
        ck_assert_str_eq(active(), "1:f0");
        ck_assert_uint_eq(ops->yield(st, id()), RECONV_CHANGED);
    }
    restart();
    for (int i = 0; i < 100; i++) /* there is no other subwarp, so this one continues */
        branch(0, 0xff);
    ck_assert_str_eq(active(), "0:ff");
}
END_TEST

/* A subwarp that waits at a CTA barrier is WAITING, and another subwarp runs. When it is woken, it becomes READY, or
 * ACTIVE if no subwarp is ACTIVE. */
START_TEST(cta_barriers) {
    branch(20, 0x0f);
    int first = id();
    ck_assert_uint_eq(ops->stall(st, first, STALL_LOAD_USE), 0); /* ITS ignores loads */
    ck_assert_uint_eq(ops->stall(st, first, STALL_OTHER), RECONV_CHANGED);
    ck_assert_str_eq(all(), "20:fw 1:f0a ");
    ck_assert_uint_eq(ops->runnable(st), 0xf0);
    ck_assert_uint_eq(ops->stall(st, first, STALL_OTHER), 0); /* already waiting */
    int second = id();
    ck_assert_uint_eq(ops->wake(st, second), 0); /* another subwarp runs */
    ops->stall(st, second, STALL_OTHER);
    ck_assert_str_eq(active(), "");
    ck_assert(!ops->finished(st));
    ck_assert_uint_eq(ops->wake(st, second), RECONV_CHANGED);
    ck_assert_str_eq(all(), "20:fw 1:f0a ");
    ops->wake(st, first);
    ck_assert_str_eq(all(), "20:fr 1:f0a ");
}
END_TEST

/* Subwarp f registers a second time, when it enters the region by another BSSY. It leaves its old group. The barrier of
 * the old group then opens for f0, which waits there. */
START_TEST(registering_again) {
    bssy(2);
    branch(20, 0xf0);
    bsync(2); /* f0 */
    ck_assert_str_eq(all(), "2:fa 90:f0b ");
    bssy(2);
    ck_assert_str_eq(all(), "3:fa 91:f0r ");
    bsync(2); /* alone in its group */
    ck_assert_str_eq(active(), "91:f");
}
END_TEST

/* Subwarps f and f0 register separately, and then merge. At their BSYNC they split again. Lanes that are not registered
 * do not wait. */
START_TEST(groups_arrive_separately) {
    branch(20, 0x0f);
    bssy(7); /* f */
    branch(30, 0x03);
    ops->yield(st, id()); /* f0 at PC 1 is not registered at the barrier */
    ck_assert_str_eq(active(), "1:f0");
    bsync(7);
    ck_assert_str_eq(active(), "91:f0");
    restart();
    bssy(7);
    branch(20, 0x0f);
    struct subwarps *s = st;
    for (int l = 0; l < 8; l++) /* makes two groups, as two calls of one function would */
        s->group[7][l] = l < 2 ? 0x3 : l < 4 ? 0xc : 0;
    bsync(7);
    ck_assert_str_eq(all(), "91:3a 90:cr 2:f0r ");
    for (int l = 0; l < 4; l++) /* these lanes are in no group */
        s->group[7][l] = l < 2 ? 0 : 0xc;
    ops->advance(st, id(), 90);
    ops->yield(st, id());
    ops->yield(st, id());
    ck_assert_str_eq(all(), "90:3r 90:ca 2:f0r ");
}
END_TEST

/* Subwarp f waits at barrier 4 for f0. f0 waits, by a member mask, for lane 0, which is in f. So f must leave the
 * barrier. If f0 waits only for lanes of f0, f stays at the barrier. */
START_TEST(awaited_lanes_leave_the_barrier) {
    struct lane_waits ws = {.waiting = 0xf0};
    bssy(4);
    branch(20, 0x0f);
    bsync(4);
    ck_assert_str_eq(all(), "90:fb 2:f0a ");
    ck_assert_uint_eq(ops->give_way(st, &ws), 0);
    ws.wants[4] = 0x20;
    ck_assert_uint_eq(ops->give_way(st, &ws), 0);
    ck_assert_str_eq(all(), "90:fb 2:f0a ");
    ws.wants[7] = 0x01;
    ck_assert_uint_eq(ops->give_way(st, &ws), RECONV_CHANGED);
    ck_assert_str_eq(all(), "91:fr 2:f0a ");
    /* f0 is alone in its group, so it passes. The model does not know the PC of the active subwarp, which may have
     * advanced, so f and f0 do not merge. */
    bsync(4);
    ck_assert_str_eq(all(), "91:fr 91:f0a ");
}
END_TEST

/* Bits of a warp: a PC and two bits for each of 32 threads, and 16 barriers with 32 lanes each. */
START_TEST(storage) {
    ck_assert_uint_eq(ops->storage(&cfg).fixed, 32 * 34 + 16 * 32);
    cfg.subwarp_board = 0;
    ck_assert_int_eq(ops->board(&cfg), RECONV_BOARD_COUNTED);
    ck_assert_int_eq(reconv_si.board(&cfg), RECONV_BOARD_COUNTED_LANES);
    cfg.subwarp_board = 1;
    ck_assert_int_eq(ops->board(&cfg), RECONV_BOARD_LANES);
    ck_assert_int_eq(reconv_si.board(&cfg), RECONV_BOARD_LANES);
    cfg.si_max_subwarps = 6; /* SI adds a table of six subwarps, with 3 + 3 + 6 bits for each */
    ck_assert_uint_eq(reconv_si.storage(&cfg).fixed, 32 * 34 + 16 * 32 + 6 * 12);
}
END_TEST

SUITE(isa_paths_reconv_subwarps) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_barrier_reconverges_two_sides);
    TEST(the_other_side_first);
    TEST(exited_lanes_are_not_awaited);
    TEST(lanes_that_break_are_not_awaited);
    TEST(barriers_nest);
    TEST(enough_lanes_open_a_soft_barrier);
    TEST(subwarps_rotate);
    TEST(a_loop_yields);
    TEST(cta_barriers);
    TEST(registering_again);
    TEST(groups_arrive_separately);
    TEST(awaited_lanes_leave_the_barrier);
    TEST(storage);
}
