/* Tests register banks, collector units and pipes against cycles derived by hand. */
#include "timing/sm/regfile/collector.h"
#include "test/test.h"
#include "timing/sm/regfile/pipes.h"

static struct regfile file;

static void begin(uint32_t banks, uint32_t operands, uint32_t result_bus) {
    file = (struct regfile){0};
    regfile_init(&file, banks, operands, result_bus);
}

static struct bank_list list(const uint8_t *bank, uint8_t reads, uint8_t writes) {
    return (struct bank_list){.bank = bank, .n_reads = reads, .n_writes = writes};
}

START_TEST(one_operand_a_cycle) {
    const uint8_t b[] = {1, 2, 3};
    struct bank_list l = list(b, 3, 0);
    begin(16, 1, 2);
    ck_assert_uint_eq(regfile_read(&file, &l, 0, 10), 13); /* operands are read at 10, 11 and 12 */
    ck_assert_uint_eq(file.n.read_waits, 0);
}
END_TEST

START_TEST(several_operands_a_cycle_from_different_banks) {
    const uint8_t b[] = {1, 2, 2};
    struct bank_list l = list(b, 3, 0);
    begin(16, 3, 2);
    ck_assert_uint_eq(regfile_read(&file, &l, 0, 10), 12); /* banks 1 and 2 are read at 10, and bank 2 again at 11 */
    ck_assert_uint_eq(file.n.read_waits, 1);
}
END_TEST

/* Register 1 of warp 0 and register 0 of warp 1 share bank 1. */
START_TEST(warps_conflict_where_their_banks_meet) {
    const uint8_t r1[] = {1}, r0[] = {0};
    struct bank_list a = list(r1, 1, 0), b = list(r0, 1, 0);
    begin(16, 1, 2);
    ck_assert_uint_eq(regfile_read(&file, &a, 0, 5), 6);
    ck_assert_uint_eq(regfile_read(&file, &b, 1, 5), 7); /* the read waits one cycle for the bank */
    ck_assert_uint_eq(regfile_read(&file, &b, 0, 5), 6); /* another bank */
    ck_assert_uint_eq(file.n.read_waits, 1);
}
END_TEST

START_TEST(results_come_before_reads) {
    const uint8_t b[] = {4};
    struct bank_list write = list(b, 0, 1), read = list(b, 1, 0);
    begin(16, 1, 2);
    ck_assert_uint_eq(regfile_write(&file, &write, 0, 20, 10), 20);
    ck_assert_uint_eq(regfile_read(&file, &read, 0, 20), 22); /* the write uses the bank at 20 */
}
END_TEST

START_TEST(two_results_of_one_bank_follow_each_other) {
    const uint8_t b[] = {4};
    struct bank_list write = list(b, 0, 1);
    begin(16, 1, 2);
    ck_assert_uint_eq(regfile_write(&file, &write, 0, 20, 10), 20);
    ck_assert_uint_eq(regfile_write(&file, &write, 0, 20, 10), 21);
    ck_assert_uint_eq(file.n.write_waits, 1);
}
END_TEST

START_TEST(the_result_bus_carries_so_many_a_cycle) {
    begin(16, 1, 2);
    ck_assert_uint_eq(regfile_result(&file, 30, 10), 30);
    ck_assert_uint_eq(regfile_result(&file, 30, 10), 30);
    ck_assert_uint_eq(regfile_result(&file, 30, 10), 31);
    ck_assert_uint_eq(regfile_result(&file, 30 + REGFILE_RING, 40),
                      30 + REGFILE_RING); /* uses the same ring entry, one full turn of the ring later */
}
END_TEST

/* Two banks with ports of 16 lanes: an operand of 32 lanes takes two cycles, and two operands of a bank are read in
 * parallel.
 * - three operands of bank 1 are six half operands, of which two are read per cycle
 * - the operands begin at 20, 20 and 21, and the last read ends with cycle 22 */
START_TEST(half_banks_read_two_operands_side_by_side) {
    const uint8_t b[] = {1, 1, 1};
    struct bank_list one = list(b, 1, 0), two = list(b, 2, 0), three = list(b, 3, 0);
    begin(2, 3, 2);
    regfile_ports(&file, 16, 32, 1, true);
    ck_assert_uint_eq(regfile_read(&file, &two, 0, 10), 11);
    ck_assert_uint_eq(regfile_read(&file, &two, 0, 10), 13); /* the bank is busy at 10 and 11 */
    ck_assert_uint_eq(regfile_read(&file, &three, 0, 20), 22);
    ck_assert_uint_eq(regfile_read(&file, &one, 0, 20), 24); /* the bank is busy at 20, 21 and 22 */
    /* the last read occupied both halves of the bank in cycle 23 */
    ck_assert_uint_eq(regfile_read(&file, &one, 0, 20), 25);
    ck_assert_uint_eq(regfile_read(&file, &three, 1, 30), 32); /* warp 1's registers are in the other bank */
    ck_assert_uint_eq(regfile_read(&file, &(struct bank_list){.bank = b}, 0, 30), 30);
}
END_TEST

/* A bank reads at most 32 lanes per cycle, whatever its number of ports. So an instruction with n operands of one
 * bank takes n cycles. */
START_TEST(banks_read_32_lanes_a_cycle) {
    const uint8_t b[] = {0, 0, 0};
    for (uint32_t lanes = 1; lanes <= 32; lanes *= 2)
        for (uint8_t n = 1; n <= 3; n++) {
            struct bank_list l = list(b, n, 0);
            begin(2, 3, 2);
            regfile_ports(&file, lanes, 32, 1, true);
            uint64_t first = regfile_read(&file, &l, 0, 0), last = first;
            for (int i = 1; i < 64; i++)
                last = regfile_read(&file, &l, 0, 0);
            ck_assert_uint_eq(last - first, 63 * n);
        }
}
END_TEST

/* A bank reads two operands in a cycle: three operands that begin at 10 end with cycle 11. A write at 20 replaces one
 * of the two reads of that cycle, so of two operands the second is read at 21. */
START_TEST(banks_read_several_operands) {
    const uint8_t b[] = {1, 1, 1};
    struct bank_list write = list(b, 0, 1), two = list(b, 2, 0), three = list(b, 3, 0);
    begin(2, 3, 2);
    regfile_ports(&file, 32, 32, 2, false);
    ck_assert_uint_eq(regfile_read(&file, &three, 0, 10), 12);
    ck_assert_uint_eq(regfile_write(&file, &write, 0, 20, 10), 20);
    ck_assert_uint_eq(regfile_read(&file, &two, 0, 20), 22);
    ck_assert_uint_eq(regfile_read(&file, &two, 0, 30), 31);
}
END_TEST

START_TEST(a_write_port_leaves_reads_alone) {
    const uint8_t b[] = {1};
    struct bank_list write = list(b, 0, 1), read = list(b, 1, 0);
    for (uint32_t lanes = 16; lanes <= 32; lanes *= 2) {
        begin(2, 3, 2);
        regfile_ports(&file, lanes, 32, 1, _i);
        ck_assert_uint_eq(regfile_write(&file, &write, 0, 20, 10), 20);
        ck_assert_uint_eq(regfile_write(&file, &write, 0, 20, 10), 21); /* one result a cycle */
        ck_assert_uint_eq(regfile_read(&file, &read, 0, 20), _i ? 21 : 23);
    }
}
END_TEST

static struct collector make(uint32_t units, uint32_t ports) {
    struct pipe_cfg cfg = {.in_ports = ports, .out_ports = ports};
    struct collector c = {0};
    collector_init(&c, &cfg, units, 1);
    begin(16, 1, 2);
    return c;
}

/* Returns the first cycle in which an instruction of warp 0 that is issued at `now` can be dispatched to its pipe. */
static uint64_t collect(struct collector *c, const struct bank_list *l, uint64_t now, uint32_t *unit) {
    uint64_t reads = collector_accept(c, now, unit);
    return collector_leaves(c, regfile_read(&file, l, 0, reads));
}

/* Issued at 10: allocated at 11, operands read at 12 and 13, dispatched at 14. */
START_TEST(an_instruction_passes_a_collector) {
    const uint8_t b[] = {1, 2};
    struct bank_list l = list(b, 2, 0);
    struct collector c = make(2, 1);
    uint32_t unit;
    ck_assert(collector_can_accept(&c, 10));
    ck_assert_uint_eq(collect(&c, &l, 10, &unit), 14);
    collector_dispatched(&c, unit, 14, 15);
    ck_assert(!collector_can_accept(&c, 10)); /* the dispatch latch is occupied until 11 */
    ck_assert(collector_can_accept(&c, 11));
}
END_TEST

/* With one collector unit, which is occupied until 14, the next instruction is allocated at 14 and occupies the
 * latch until 14. */
START_TEST(a_busy_unit_holds_the_latch) {
    const uint8_t b[] = {1, 2};
    struct bank_list l = list(b, 2, 0);
    struct collector c = make(1, 1);
    uint32_t unit;
    collect(&c, &l, 10, &unit);
    collector_dispatched(&c, unit, 14, 15);
    ck_assert_uint_eq(collect(&c, &l, 11, &unit), 17); /* allocated at 14, read at 15 and 16 */
    collector_dispatched(&c, unit, 17, 18);
    ck_assert_uint_eq(collector_free(&c), 14);
}
END_TEST

/* The dispatch latch has one entry. So while an instruction in the latch cannot enter its pipe, the next instruction
 * stays in its collector unit. */
START_TEST(a_blocked_pipe_holds_the_collector) {
    struct bank_list l = list(NULL, 0, 0);
    struct collector c = make(2, 1);
    uint32_t unit;
    /* the instruction has no operands: it is allocated at 11 and leaves at 12 */
    ck_assert_uint_eq(collect(&c, &l, 10, &unit), 12);
    collector_dispatched(&c, unit, 12, 40);
    ck_assert_uint_eq(collect(&c, &l, 11, &unit), 40);
    collector_dispatched(&c, unit, 40, 41);
}
END_TEST

START_TEST(pipes_take_one_every_initiation_interval) {
    struct pipes p = {0};
    pipes_init(&p, 1);
    ck_assert_uint_eq(pipes_free(&p, pipes_earliest(&p), 5), 5);
    pipes_enter(&p, pipes_earliest(&p), 5, 8);
    ck_assert_uint_eq(pipes_free(&p, pipes_earliest(&p), 6), 13);
    pipes_enter(&p, pipes_earliest(&p), 13, 1);
    ck_assert_uint_eq(pipes_free(&p, pipes_earliest(&p), 13), 14);
    ck_assert_uint_eq(p.n.busy, 9);
}
END_TEST

START_TEST(two_pipes_take_two) {
    struct pipes p = {0};
    pipes_init(&p, 2);
    pipes_enter(&p, pipes_earliest(&p), 5, 4);
    ck_assert_uint_eq(pipes_free(&p, pipes_earliest(&p), 5), 5);
    pipes_enter(&p, pipes_earliest(&p), 5, 6);
    ck_assert_uint_eq(pipes_free(&p, pipes_earliest(&p), 5), 9);
}
END_TEST

/* Returns the cycle in which an instruction of `latency` cycles enters a pipe from cycle `from` on; it blocks the pipe
 * for a cycle. Sets *unit. */
static uint64_t enter(struct pipes *p, uint64_t from, uint32_t latency, uint32_t *unit) {
    *unit = pipes_find(p, &from, latency);
    pipes_enter(p, *unit, from, 1);
    pipes_note_end(p, *unit, from + latency);
    return from;
}

/* An instruction of 4 cycles enters at 10 and leaves at 14. So one of 1 cycle cannot enter at 13; it enters at 14.
 * Before and after that, the pipe is free. A second pipe accepts an instruction of 1 cycle at 13. */
START_TEST(one_instruction_leaves_a_pipe_in_a_cycle) {
    for (uint32_t units = 1; units <= 2; units++) {
        struct pipes p = {0};
        uint32_t unit;
        pipes_init(&p, units);
        ck_assert(pipes_end_singly(&p));
        ck_assert_uint_eq(enter(&p, 10, 4, &unit), 10);
        ck_assert_uint_eq(unit, 0);
        ck_assert_uint_eq(enter(&p, 11, 1, &unit), 11);
        ck_assert_uint_eq(unit, 0);
        ck_assert_uint_eq(enter(&p, 13, 1, &unit), units == 1 ? 14 : 13);
        ck_assert_uint_eq(unit, units - 1);
        ck_assert_uint_eq(enter(&p, 15, 1, &unit), 15);
        pipes_release(&p);
    }
}
END_TEST

SUITE(timing_collector) {
    TEST(one_operand_a_cycle);
    TEST(several_operands_a_cycle_from_different_banks);
    TEST(warps_conflict_where_their_banks_meet);
    TEST(results_come_before_reads);
    TEST(two_results_of_one_bank_follow_each_other);
    TEST(half_banks_read_two_operands_side_by_side);
    TEST(banks_read_32_lanes_a_cycle);
    TEST(banks_read_several_operands);
    TEST_LOOP(a_write_port_leaves_reads_alone, 0, 2);
    TEST(the_result_bus_carries_so_many_a_cycle);
    TEST(an_instruction_passes_a_collector);
    TEST(a_busy_unit_holds_the_latch);
    TEST(a_blocked_pipe_holds_the_collector);
    TEST(pipes_take_one_every_initiation_interval);
    TEST(two_pipes_take_two);
    TEST(one_instruction_leaves_a_pipe_in_a_cycle);
}
