/* Tests the L1 in banks of sectors, its queue of misses, and stores that allocate lines. Memory behind it takes 300
 * cycles, a hit 35. */
#include "test/timing/mem/lsu_rig.h"

static void setup_sectors(void) {
    setup();
    cfg.lsu.coalesce_line = 32;
    cfg.l1.sectored = true;
    cfg.l1.ports = 4;
}

/* Gives a load of one address as soon as the unit accepts it. */
static void give_word(uint64_t address, uint32_t tag) {
    for (; !lsu_can_accept(lsu); now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
    }
    strided(address, 0);
    give(SPACE_GLOBAL, MEM_READ, 4, tag);
}

/* The 32 lanes hit the first sectors of 32 lines. These are in bank 0, which takes one access per cycle, so the last
 * access reads its tags at 35 + 31. Without banks, four accesses enter per cycle, the last at 7. */
START_TEST(one_bank_takes_an_access_a_cycle) {
    uint32_t tag;
    bool missed;
    setup_sectors();
    cfg.lsu.l1_banks = _i;
    start();
    strided(0x10000000, 128);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    const uint64_t from = wait(&tag, &missed);
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    expect(from + (_i ? 66 : 42), 2, false);
    stop();
}
END_TEST

/* The only MSHR waits for load 2, so load 3 of bank 0 must wait, too. Load 4 hits in bank 1 before both. Without banks,
 * it waits behind load 3. */
START_TEST(a_bank_waits_alone) {
    uint32_t tag;
    bool missed;
    setup_sectors();
    cfg.lsu.l1_banks = _i;
    cfg.l1.mshrs = 1;
    start();
    give_word(0x10000020, 1);
    const uint64_t from = wait(&tag, &missed);
    give_word(0x10001000, 2);
    give_word(0x10002000, 3);
    give_word(0x10000020, 4);
    ck_assert_uint_lt(wait(&tag, &missed), from + (_i ? 40 : 340));
    ck_assert_uint_eq(tag, _i ? 4 : 2);
    stop();
}
END_TEST

/* Load 2 misses with four sectors. It reads its tags at 35; load 3, two cycles later, hits at 37. With a queue of two
 * packets, the sectors leave the tags one per cycle, since a load needs two free entries: at 35 to 38. Load 3 follows
 * the last of them in the same cycle. */
START_TEST(misses_queue_for_the_port) {
    setup_sectors();
    cfg.lsu.l1_miss_queue = _i ? 2 : 0;
    start();
    uint32_t tag;
    bool missed;
    give_word(0x10000000, 1);
    const uint64_t from = wait(&tag, &missed);
    strided(0x10001000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    give_word(0x10000000, 3);
    expect(from + (_i ? 38 : 37), 3, false);
    stop();
}
END_TEST

/* A store of whole sectors leaves them in the L1. A store of every other word leaves a line without valid sectors. */
START_TEST(stores_allocate) {
    static const struct {
        bool allocates;
        unsigned stride;
        bool misses;
    } cases[] = {{false, 4, true}, {true, 4, false}, {true, 8, true}};
    uint32_t tag;
    bool missed;
    setup_sectors();
    cfg.lsu.allocate_on_write = cases[_i].allocates;
    start();
    strided(0x10000000, cases[_i].stride);
    give(SPACE_GLOBAL, MEM_WRITE, 4, 1);
    wait(&tag, &missed);
    give_word(0x10000000, 2);
    wait(&tag, &missed);
    ck_assert_uint_eq(tag, 2);
    ck_assert_int_eq(missed, cases[_i].misses);
    stop();
}
END_TEST

SUITE(timing_mem_lsu_banks) {
    TEST_LOOP(one_bank_takes_an_access_a_cycle, 0, 2);
    TEST_LOOP(a_bank_waits_alone, 0, 2);
    TEST_LOOP(misses_queue_for_the_port, 0, 2);
    TEST_LOOP(stores_allocate, 0, 3);
}
