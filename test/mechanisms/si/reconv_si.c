/* Tests subwarps step by step: entries of the thread status table, the choice of the next subwarp, and merging. */
#include "test/isa/paths/subwarps_rig.h"

static void start(const struct reconv_ops *model, uint32_t entries) {
    reconv_cfg_default(&cfg);
    cfg.si_max_subwarps = entries;
    start_with(model);
}

/* Makes the active subwarp diverge: `lanes` branch to `pc` and become READY. The other lanes fall through and stay
 * ACTIVE. */
static void diverge(uint32_t pc, lanemask_t lanes) {
    struct path p[2];
    ops->paths(st, p, 2);
    struct target t[2] = {{p[0].pc + 1, p[0].lanes & ~lanes}, {pc, lanes}};
    struct branch_site site = {.pc = p[0].pc, .rpc = 90, .rpc_block = 1, .taken_pc = pc};
    ops->branch(st, p[0].id, t, 2, &site);
}

/* Reports a load-to-use stall of the active subwarp to the model, as an SM does. Returns the id of the stalled subwarp,
 * or -1 if the subwarp stays active. */
static int stall(void) {
    int was = id();
    ops->stall(st, was, STALL_LOAD_USE);
    if (ops->select(st))
        return was;
    ops->wake(st, was);
    return -1;
}

/* Four subwarps are at PCs 20, 30, 40 and 3 (ACTIVE), and the table has two entries. The first stall takes one entry.
 * The other entry is reserved for the subwarp that becomes active. So at the second stall, no other subwarp can become
 * active. When the first subwarp wakes, its entry is free again. */
START_TEST(stalled_subwarps_hold_entries) {
    start(&reconv_si, 2);
    diverge(20, 0x0f);
    diverge(30, 0x30);
    diverge(40, 0x40);
    ck_assert_str_eq(all(), "20:fr 30:30r 40:40r 3:80a ");
    int first = stall();
    ck_assert_int_ge(first, 0);
    ck_assert_str_eq(active(), "20:f"); /* next in rotation */
    ck_assert_int_eq(stall(), -1);
    ck_assert_str_eq(active(), "20:f");
    ops->wake(st, first);
    int second = stall();
    ck_assert_int_ge(second, 0);
    ck_assert_str_eq(active(), "30:30");
    ck_assert_int_eq(stall(), -1);
}
END_TEST

/* With 1 entry, no subwarp can stall or yield to another. With 3 entries, two subwarps can be stalled beside the active
 * subwarp. With 32 entries, the number is not limited. */
START_TEST(entries_limit_overlap) {
    static const uint32_t entries[] = {1, 2, 3, 4, 32};
    static const int aside[] = {0, 1, 2, 3, 3};
    for (int i = 0; i < 5; i++) {
        start(&reconv_si, entries[i]);
        diverge(20, 0x0f);
        diverge(30, 0x30);
        diverge(40, 0x40);
        int n = 0;
        while (n < 8 && stall() >= 0)
            n++;
        ck_assert_msg(n == aside[i], "%u entries: %d stalled", entries[i], n);
    }
    start(&reconv_si, 1);
    diverge(20, 0x0f);
    ops->yield(st, id());
    ck_assert_str_eq(active(), "1:f0");
}
END_TEST

/* A BLOCKED subwarp holds no entry. The subwarp with lane mask 80 (hexadecimal) waits at the BSYNC, and another subwarp
 * can still stall. */
START_TEST(blocked_subwarps_hold_no_entry) {
    start(&reconv_si, 2);
    ops->bssy(st, id(), 3, 90, 1);
    diverge(20, 0x0f);
    diverge(30, 0x30);
    diverge(40, 0x40);
    ops->bsync(st, id(), 3, 0, 91);
    ck_assert_str_eq(active(), "20:f");
    ck_assert_int_ge(stall(), 0);
    ck_assert_str_eq(active(), "30:30");
}
END_TEST

/* Subwarps f and 30 (hexadecimal lane masks) reach PC 20 one after the other, and merge to one subwarp. Lanes that
 * arrive later also merge with it. */
START_TEST(ready_subwarps_at_one_pc_merge) {
    for (int m = 0; m < 2; m++) {
        start(m ? &reconv_si : &reconv_its, 32);
        diverge(20, 0x0f);
        diverge(20, 0x30);
        ck_assert_str_eq(all(), "20:3fr 2:c0a ");
        diverge(40, 0x40);
        ops->yield(st, id()); /* 80 yields to 3f */
        ck_assert_str_eq(active(), "20:3f");
        ops->advance(st, id(), 40);
        /* subwarp 3f (lane mask), now at PC 40, yields to the next subwarp in rotation, which has lane mask 40; both
         * are at PC 40, so they merge */
        ops->yield(st, id());
        ck_assert_str_eq(all(), "40:7fa 3:80r ");
    }
}
END_TEST

/* A stalled subwarp wakes at a PC where another subwarp is READY. The two subwarps merge. */
START_TEST(a_waking_subwarp_merges) {
    start(&reconv_si, 32);
    diverge(20, 0x0f);
    int first = stall(); /* f0 at 1 */
    ck_assert_str_eq(active(), "20:f");
    struct target back[2] = {{21, 0x3}, {1, 0xc}};
    struct branch_site site = {.pc = 20, .rpc = 90, .rpc_block = 1, .taken_pc = 1};
    ops->branch(st, id(), back, 2, &site);
    ck_assert_str_eq(all(), "21:3a 1:cr 1:f0s ");
    ops->wake(st, first);
    ck_assert_str_eq(all(), "21:3a 1:fcr ");
}
END_TEST

/* Subwarps f and 30 (hexadecimal lane masks) come from two calls of one function. They registered separately for
 * barrier 4, and both are in its region. They would have to split at the BSYNC, so they do not merge. */
START_TEST(different_groups_do_not_merge) {
    start(&reconv_its, 32);
    diverge(20, 0x0f);
    diverge(50, 0x30);              /* c0 continues */
    ops->yield(st, id());           /* f at 20 */
    ops->bssy(st, id(), 4, 70, 21); /* registers f */
    ops->advance(st, id(), 60);
    ops->yield(st, id());           /* 30 at 50 */
    ops->bssy(st, id(), 4, 70, 51); /* registers 30 */
    ops->advance(st, id(), 60);
    ops->yield(st, id());
    ck_assert_str_eq(all(), "60:fr 60:30r 2:c0a ");
}
END_TEST

/* At PC 0, all lanes diverge to three targets. Returns the active subwarp after this. */
static const char *order_of(int order, uint32_t hinted) {
    start(&reconv_si, 32);
    cfg.si_order = (uint32_t)order;
    const struct target t[3] = {{20, 0x0f}, {30, 0x30}, {40, 0xc0}};
    ops->branch(st, id(), t, 3, &(struct branch_site){.pc = 0, .rpc = 90, .rpc_block = 1, .hinted = hinted});
    return active();
}

/* The hinted target runs first under si.order=loads only. A hint may name a target that no lane takes. */
START_TEST(a_hint_names_the_first_subwarp) {
    ck_assert_str_eq(order_of(SI_ORDER_LOADS, 30 + 1), "30:30");
    ck_assert_str_eq(order_of(SI_ORDER_LOADS, 40 + 1), "40:c0");
    ck_assert_str_eq(order_of(SI_ORDER_LOADS, 50 + 1), "20:f");
    ck_assert_str_eq(order_of(SI_ORDER_LOADS, 0), "20:f");
    ck_assert_str_eq(order_of(SI_ORDER_FIRST, 30 + 1), "20:f");
}
END_TEST

/* Of 600 branches, each of two paths is first in about half of the cases: between 240 and 360 times, five standard
 * deviations from the mean. */
START_TEST(random_order_is_even) {
    uint32_t taken = 0;
    start(&reconv_si, 32);
    cfg.si_order = SI_ORDER_RANDOM;
    ops->bssy(st, id(), 3, 90, 1);
    for (uint32_t i = 0; i < 600; i++) {
        const struct target t[2] = {{20, 0x0f}, {30, 0xf0}};
        ops->branch(st, id(), t, 2, &(struct branch_site){.pc = 1 + i % 3, .rpc = 90, .rpc_block = 1});
        taken += strcmp(active(), "20:f") == 0;
        ops->bsync(st, id(), 3, 0, 91); /* both subwarps arrive, and begin again */
        ops->bsync(st, id(), 3, 0, 91);
        ops->bssy(st, id(), 3, 90, 1);
    }
    ck_assert_uint_gt(taken, 240);
    ck_assert_uint_lt(taken, 360);
}
END_TEST

SUITE(mechanisms_si) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(stalled_subwarps_hold_entries);
    TEST(entries_limit_overlap);
    TEST(blocked_subwarps_hold_no_entry);
    TEST(ready_subwarps_at_one_pc_merge);
    TEST(a_waking_subwarp_merges);
    TEST(different_groups_do_not_merge);
    TEST(a_hint_names_the_first_subwarp);
    TEST(random_order_is_even);
}
