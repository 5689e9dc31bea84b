/* Micro-benchmarks: tests of the cost of one more instruction, access or byte. The cost is derived by hand from the
 * configuration, and measured as the difference between a short and a long kernel, so that start and end cancel.
 * configs/tiny.cfg has one SM, one scheduler, fixed memory, no instruction cache, and the latencies of fermi.cfg.
 * Tests of exact models demand the exact number of cycles. */
#include "micro_rig.h"

#define FULL "memory.model=full"

/* Additional cycles, beyond the latency, until the result of an arithmetic pipe can be used:
 * - collector unit: 1 cycle
 * - operands: 2 cycles (all are read in one cycle and used in the next)
 * - pipe: 1 cycle
 * - write-back: 2 cycles */
enum { ARITH = 1 + 2 + 1 + 2 };

/* Latencies in fermi.cfg: int add 4, other 1, multiply 4, mad 5, fma 5, special function 8, f64 8, f64 division 330 */
static const struct {
    const char *inst;
    int latency;
} chains[] = {
    {"add.u32 %r1,%r1,%r2;", 4},        {"xor.b32 %r1,%r1,%r2;", 1},        {"mul.lo.u32 %r1,%r1,%r2;", 4},
    {"mad.lo.u32 %r1,%r1,%r2,%r3;", 5}, {"fma.rn.f32 %f1,%f1,%f1,%f1;", 5}, {"ex2.approx.f32 %f1,%f1;", 8},
    {"fma.rn.f64 %d1,%d1,%d1,%d1;", 8}, {"sqrt.rn.f64 %d1,%d1;", 330},
};
enum { N_CHAINS = sizeof chains / sizeof chains[0] };

START_TEST(a_dependent_instruction_waits_for_the_whole_pipeline) {
    ck_assert_double_eq(each((struct micro){.repeat = chains[_i].inst}), ARITH + chains[_i].latency);
}
END_TEST

START_TEST(latencies_come_from_the_configuration) {
    ck_assert_double_eq(each((struct micro){.repeat = "add.u32 %r1,%r1,%r2;", .set = {"latency.int_add=20"}}),
                        ARITH + 20);
    ck_assert_double_eq(each((struct micro){.repeat = "add.u32 %r1,%r1,%r2;", .set = {"pipe.writeback=5"}}),
                        ARITH + 3 + 4);
    ck_assert_double_eq(each((struct micro){.repeat = "add.u32 %r1,%r1,%r2;", .set = {"pipe.latch=4"}}), ARITH + 3 + 4);
    ck_assert_double_eq(each((struct micro){.repeat = "add.u32 %r1,%r1,%r2;", .set = {"collector.latch=3"}}),
                        ARITH + 2 + 4);
}
END_TEST

#define ADD(n) "add.u32 %r" #n ",%r" #n ",%r2;\n"
/* ADDS: 16 independent additions, which take at least 16 cycles to issue. An addition can use the result of another
 * addition after 10 cycles, so no addition waits for the previous repetition of ADDS. */
#define ADDS                                                                                                           \
    ADD(10)                                                                                                            \
    ADD(11)                                                                                                            \
    ADD(12) ADD(13) ADD(14) ADD(15) ADD(16) ADD(17) ADD(18) ADD(19) ADD(20) ADD(21) ADD(22) ADD(23) ADD(24) ADD(25)
#define ROOM "sm.registers=32768"

/* With a single warp:
 * - a fetch brings two instructions, which issue at t and t + 1
 * - the next fetch leaves at t + 1, when the buffer is empty, and takes fetch.latency + fetch.decode
 * - so two instructions take 1 + latency + decode cycles */
START_TEST(a_lone_warp_is_bound_by_its_fetches) {
    struct micro m = {.repeat = ADDS, .few = 4, .many = 20, .set = {ROOM}};
    ck_assert_double_eq_tol(each(m) / 16, (1 + 1 + 1) / 2., 0.02);
    m.set[1] = "fetch.latency=3";
    ck_assert_double_eq_tol(each(m) / 16, (1 + 3 + 1) / 2., 0.02);
    m.set[2] = "fetch.decode=3";
    ck_assert_double_eq_tol(each(m) / 16, (1 + 3 + 3) / 2., 0.02);
}
END_TEST

/* One scheduler issues one instruction per cycle, whatever the number of warps. With 2 or more warps, fetching is
 * fast enough for this. */
START_TEST(a_scheduler_issues_one_a_cycle) {
    for (uint32_t warps = 2; warps <= 8; warps *= 2)
        ck_assert_double_eq_tol(
            each((struct micro){.repeat = ADDS, .few = 4, .many = 20, .block = 32 * warps, .set = {ROOM}}) / 16, warps,
            warps * .02);
}
END_TEST

/* Two schedulers and two pipes issue two instructions per cycle if a fetch brings four instructions. (If a fetch brings
 * two instructions per cycle, no fetch bandwidth is spare, and a tenth of the issue rate is lost.) */
START_TEST(two_schedulers_issue_two_a_cycle) {
    struct micro m = {.repeat = ADDS,
                      .few = 4,
                      .many = 20,
                      .block = 256,
                      .set = {ROOM, "sm.schedulers=2", "fetch.width=4", "pipe.result_bus=4"}};
    ck_assert_double_eq_tol(each(m) / 16, 8 / 2., .08);
}
END_TEST

/* The initiation intervals of fermi.cfg. Two SP pipes share the multiplications. The single SFU pipe executes all
 * f64 and SFU instructions. Eight warps execute one dependence chain each. An instruction of all warps takes the
 * larger of two times: the latency of the chain, and eight initiation intervals divided by the number of pipes. */
START_TEST(pipes_start_one_an_initiation_interval) {
    ck_assert_double_eq(each((struct micro){.repeat = "ex2.approx.f32 %f1,%f1;", .block = 256}), 8 * 8);
    ck_assert_double_eq(each((struct micro){.repeat = "fma.rn.f64 %d1,%d1,%d1,%d1;", .block = 256}), 8 * 8);
    ck_assert_double_eq(each((struct micro){.repeat = "sqrt.rn.f64 %d1,%d1;", .block = 256}), 8 * 130);
    ck_assert_double_eq(
        each((struct micro){.repeat = "ex2.approx.f32 %f1,%f1;", .block = 256, .set = {"initiation.sfu=3"}}), 8 * 3);
}
END_TEST

/* Additional cycles of a memory access:
 * - between issue and access: collector unit 1, operands 2, pipe 1, address generation 1
 * - after the access: write-back 2, one cycle of which overlaps the last cycle of the access */
enum { ACCESS = 1 + 2 + 1 + 1 + 2 - 1 };
#define SHARED_LIST "mov.u32 %r6,%tid.x; mul.lo.u32 %r1,%r6,"

/* Each lane's word holds its own address. With 32 banks of 4 bytes and lanes 4 n bytes apart, n lanes access the same
 * bank, which takes n passes. */
START_TEST(shared_memory_takes_a_pass_for_each_word_of_a_bank) {
    char before[128];
    uint32_t ways = 1u << _i;
    snprintf(before, sizeof before, "%s%u; st.shared.u32 [%%r1],%%r1;", SHARED_LIST, ways * 4);
    ck_assert_double_eq(each((struct micro){.before = before, .repeat = "ld.shared.u32 %r1,[%r1];"}),
                        ACCESS + 10 + (ways - 1));
}
END_TEST

/* All lanes read one word, which takes one pass. */
START_TEST(shared_memory_broadcasts) {
    ck_assert_double_eq(
        each((struct micro){.before = "mov.u32 %r1,0; st.shared.u32 [%r1],%r1;", .repeat = "ld.shared.u32 %r1,[%r1];"}),
        ACCESS + 10);
}
END_TEST

/* With many warps the banks are the bottleneck: they handle one pass per cycle. Two loads in each of eight warps,
 * with 4 passes per load, take 64 cycles. */
START_TEST(shared_memory_does_one_pass_a_cycle) {
    ck_assert_double_eq_tol(each((struct micro){.before = SHARED_LIST "16; and.b32 %r1,%r1,511; ",
                                                .repeat = "ld.shared.u32 %r7,[%r1]; ld.shared.u32 %r8,[%r1];",
                                                .block = 256}),
                            8 * 2 * 4, .02 * 64);
}
END_TEST

/* CHASE, repeated, is a chain of dependent loads. One thread executes it, because a load of 8 bytes per lane by all
 * lanes would be two accesses, one per half warp. */
#define CHASE "ld.global.u64 %a2,[%a2];"
#define FULL  "memory.model=full"
/* WARM makes a linked list of one element, which is in the caches when the chain of loads begins. */
#define WARM "st.global.u64 [%a1],%a1; bar.sync 0; ld.global.u64 %a2,[%a1];"

START_TEST(an_l1_hit_takes_the_l1_latency) {
    struct micro m = {.before = WARM, .repeat = CHASE, .block = 1};
    ck_assert_double_eq(each(m), ACCESS + 10);
    m.set[0] = "l1.latency=35";
    ck_assert_double_eq(each(m), ACCESS + 35);
}
END_TEST

/* The request of a load past the L1 leaves in the first cycle of the access, so no cycle of the access overlaps the
 * write-back. */
enum { BEYOND = ACCESS + 1 };

START_TEST(fixed_memory_takes_its_latency) {
    struct micro m = {.stride = 128, .repeat = CHASE, .block = 1, .set = {"l1.size=0"}};
    ck_assert_double_eq(each(m), BEYOND + 100);
    m.set[1] = "memory.latency=300";
    ck_assert_double_eq(each(m), BEYOND + 300);
}
END_TEST

/* The L1 detects a miss in the last cycle of its latency. */
START_TEST(an_l1_miss_adds_the_l1) {
    ck_assert_double_eq(each((struct micro){.stride = 128, .repeat = CHASE, .block = 1}), BEYOND + 10 - 1 + 100);
}
END_TEST

/* Latencies in cycles: crossbar 8 in each direction, rop_latency 120, tags and data 1. */
enum { L2_HIT = BEYOND + 8 + 120 + 1 + 8 };

START_TEST(an_l2_hit_takes_the_crossbar_and_the_slice) {
    struct micro m = {.before = WARM, .repeat = CHASE, .block = 1, .set = {"l1.size=0", FULL}};
    ck_assert_double_eq(each(m), L2_HIT);
    m.set[2] = "l2.rop_latency=60";
    ck_assert_double_eq(each(m), L2_HIT - 60);
    m.set[2] = "l2.latency=11";
    ck_assert_double_eq(each(m), L2_HIT + 10);
    m.set[2] = "icnt.latency=4";
    ck_assert_double_eq(each(m), L2_HIT - 2 * 4);
}
END_TEST

/* DRAM has one bank, and its clock period is one core cycle.
 * - a line is two bursts of 64 bytes: 8 transfers at 2 per clock take 4 clocks per burst
 * - dram.latency is 100, the second column command comes 4 clocks after the first, CL is 12, and the data take 4
 *   clocks */
#define ONE_BANK                                                                                                       \
    "l1.size=0", "dram.data_rate=2", FULL, "clock.dram_mhz=700", "dram.banks=1", "dram.groups=1", "l2.slices=1"
enum { ROW_HIT = L2_HIT + 100 + 4 + 12 + 4 };

START_TEST(a_dram_row_hit_takes_the_column_and_the_data) {
    struct micro m = {
        .stride = 128, .repeat = CHASE, .block = 1, .few = 2, .many = 30, .set = {ONE_BANK, "dram.row_bytes=65536"}};
    ck_assert_double_eq(each(m), ROW_HIT);
    m.set[8] = "dram.cl=32";
    ck_assert_double_eq(each(m), ROW_HIT + 20);
    m.set[8] = "dram.latency=50";
    ck_assert_double_eq_tol(each(m), ROW_HIT - 50, .5);
}
END_TEST

/* Each access is in another row of the bank: precharge (RP 12) and activate (RCD 12) come first. */
START_TEST(a_dram_row_miss_adds_precharge_and_activate) {
    struct micro m = {.stride = 65536, .repeat = CHASE, .block = 1, .few = 4, .many = 34, .set = {ONE_BANK}};
    ck_assert_double_eq_tol(each(m), ROW_HIT + 12 + 12, 0.2);
    m.set[7] = "dram.rp=22";
    ck_assert_double_eq_tol(each(m), ROW_HIT + 22 + 12, 0.2);
}
END_TEST

/* Each of 60 x 256 threads reads its own word in each of 4 consecutive blocks of 61,440 bytes. The next repetition
 * reads the next 4 blocks, so no line is read twice. */
enum { PIECE = 60 * 256 * 4 };
static struct micro read_all(void) {
    return (struct micro){.config = "fermi",
                          .grid = 60,
                          .block = 256,
                          .few = 4,
                          .many = 16,
                          .before = "mad.lo.u32 %r7,%r3,%r2,%r1; mul.wide.u32 %a3,%r7,4; add.u64 %a3,%a3,%a1;",
                          .repeat = "ld.global.u32 %r10,[%a3]; ld.global.u32 %r11,[%a3+61440];\n"
                                    "ld.global.u32 %r12,[%a3+122880]; ld.global.u32 %r13,[%a3+184320];\n"
                                    "add.u64 %a3,%a3,245760;"};
}

/* 6 channels of 8 bytes at 924 MHz have a peak of 88.7 GB/s with 2 transfers per clock, and of 177.4 GB/s with 4.
 * These are 126.7 and 253.4 bytes per core cycle at 700 MHz. */
START_TEST(dram_gives_the_configured_bandwidth) {
    struct micro m = read_all();
    double wanted = 6 * 8 * 2 * 924 / 700.;
    m.set[0] = "dram.data_rate=2";
    ck_assert_double_eq_tol(4 * PIECE / each(m), wanted, wanted * .02);
    m.set[0] = "dram.data_rate=4";
    ck_assert_double_eq_tol(4 * PIECE / each(m), 2 * wanted, 2 * wanted * .02);
    m.last = "dram.read_bytes";
    ck_assert_double_eq_tol(each(m), 4 * PIECE, 4 * PIECE * .001);
}
END_TEST

/* The kernel reads 8 KB that stay in the L2:
 * - one SM: its link takes 4 flits for a line of 128 bytes, 32 bytes per cycle
 * - more SMs: the two slices deliver 32 bytes per cycle each */
START_TEST(l2_gives_the_bandwidth_of_links_and_slices) {
    for (uint32_t sms = 1; sms <= 4; sms *= 2) {
        char option[32];
        snprintf(option, sizeof option, "gpu.sms=%u", sms);
        double bytes = 8192 * sms, wanted = sms == 1 ? 32 : 64;
        double cycles = each((struct micro){
            .grid = sms,
            .block = 256,
            .few = 8,
            .many = 40,
            .set = {FULL, "l1.size=0", "l2.size=65536", option},
            .before = "mul.wide.u32 %a3,%r1,4; add.u64 %a3,%a3,%a1;",
            .repeat = "ld.global.u32 %r10,[%a3]; ld.global.u32 %r11,[%a3+1024]; ld.global.u32 %r12,[%a3+2048];\n"
                      "ld.global.u32 %r13,[%a3+3072]; ld.global.u32 %r14,[%a3+4096]; ld.global.u32 %r15,[%a3+5120];\n"
                      "ld.global.u32 %r16,[%a3+6144]; ld.global.u32 %r17,[%a3+7168];"});
        ck_assert_double_eq_tol(bytes / cycles, wanted, wanted * .02);
    }
}
END_TEST

/* A barrier costs only its issue, one cycle per warp: the last arrival releases all warps in the same cycle. One
 * fetch brings two consecutive barriers. After the second barrier the instruction buffers are empty. The next
 * fetches start in the cycle of the release and take 2 cycles. */
START_TEST(a_barrier_costs_its_issue) {
    for (uint32_t warps = 1; warps <= 8; warps *= 2)
        ck_assert_double_eq(each((struct micro){.repeat = "bar.sync 0; bar.sync 0;", .block = 32 * warps}),
                            2 * warps + 1);
}
END_TEST

/* Straight-line code with a cold cache, 16 instructions of 8 bytes per line. Each instruction depends on the
 * instruction before it.
 * - the last 15 instructions of a line issue 7 cycles after the instruction before them
 * - for the first instruction of a line, the miss begins when the instruction before it issues; fetch and decode after
 *   the miss take 2 cycles
 * - instruction lines from memory take 100 cycles, and one cycle to reach the port */
START_TEST(an_instruction_cache_miss_stops_a_lone_warp) {
    struct micro m = {
        .repeat = "xor.b32 %r1,%r1,%r2;", .few = 64, .many = 192, .set = {"l1i.size=2048", "fetch.miss_latency=50"}};
    ck_assert_double_eq(each(m) * 16, 15 * 7 + 50 + 2);
    m.set[1] = "fetch.miss_latency=150";
    ck_assert_double_eq(each(m) * 16, 15 * 7 + 150 + 2);
    m.set[1] = NULL;
    ck_assert_double_eq(each(m) * 16, 15 * 7 + 1 + 100 + 2);
}
END_TEST

/* The same code runs twice, with an L1 that can hold the code and an L0 of four lines that cannot. The second run
 * misses the L0 once per line of 16 instructions, and waits for the L1's latency. */
START_TEST(an_l0_miss_stops_a_lone_warp) {
    struct micro m = {.before = "mov.u32 %r40,0;\nL: add.u32 %r40,%r40,1;",
                      .repeat = "xor.b32 %r1,%r1,%r2;",
                      .after = "setp.lt.u32 %q1,%r40,2; @%q1 bra L;",
                      .few = 96,
                      .many = 224,
                      .set = {"l1i.size=16384", "l0i.size=512", "l1i.latency=20"}};
    double quick = each(m);
    m.set[2] = "l1i.latency=80";
    ck_assert_double_eq((each(m) - quick) * 16, 80 - 20);
}
END_TEST

/* Same code as in the test above, from a cold L1, with a stream buffer of 8 lines or of 1 line.
 * - 8 lines: the 16 instructions of a line take 16 x 7 cycles, so a line arrives long before it is needed; a fetch from
 *   the buffer takes one cycle more than a hit, which the dependence chain hides
 * - 1 line: the buffer requests a line one cycle after the warp needed the line before it, so two lines are in
 *   flight at a time. Two lines together take 1 cycle for the later request, 300 for a miss, 2 for fetch and decode,
 *   and 15 x 7 for the instructions */
START_TEST(a_stream_buffer_hides_misses_of_a_straight_line) {
    struct micro m = {
        .repeat = "xor.b32 %r1,%r1,%r2;",
        .few = 64,
        .many = 192,
        .set = {"l1i.size=16384", "l1i.mshrs=16", "l0i.size=2048", "fetch.prefetch=8", "fetch.miss_latency=300"}};
    ck_assert_double_eq(each(m), 7);
    m.set[3] = "fetch.prefetch=1";
    ck_assert_double_eq(each(m) * 16, (1 + 300 + 2 + 15 * 7) / 2.);
    m.set[3] = "fetch.prefetch=0";
    ck_assert_double_eq(each(m) * 16, 300 + 2 + 15 * 7);
    m.set[3] = "fetch.perfect=on";
    ck_assert_double_eq(each(m), 7);
}
END_TEST

/* Every block of code ends with a jump over 16 lines. The lines that the stream buffer requests are useless. Their
 * only cost is the queue room that the requests occupy. */
START_TEST(a_stream_buffer_does_not_help_jumps) {
    static char piece[16384];
    size_t at = (size_t)snprintf(piece, sizeof piece, "{ @%%q1 bra T;\n");
    for (int i = 0; i < 16 * 16 - 2; i++)
        at += (size_t)snprintf(piece + at, sizeof piece - at, "xor.b32 %%r3,%%r3,%%r2;\n");
    snprintf(piece + at, sizeof piece - at, "T: add.u32 %%r1,%%r1,%%r3; }\n");
    struct micro m = {
        .before = "setp.ne.u32 %q1,%r2,12345;",
        .repeat = piece,
        .few = 4,
        .many = 10,
        .set = {"l1i.size=16384", "l1i.mshrs=16", "l0i.size=2048", "fetch.prefetch=0", "fetch.miss_latency=300"}};
    double without = each(m);
    m.set[3] = "fetch.prefetch=8";
    ck_assert_double_eq(each(m), without);
    ck_assert_double_gt(without, 300);
    m.last = "fetch.prefetch_useful";
    ck_assert_double_eq(each(m), 0);
}
END_TEST

SUITE(timing_micro) {
    TEST(a_stream_buffer_hides_misses_of_a_straight_line);
    TEST(a_stream_buffer_does_not_help_jumps);
    TEST(an_l0_miss_stops_a_lone_warp);
    TEST_LOOP(a_dependent_instruction_waits_for_the_whole_pipeline, 0, N_CHAINS);
    TEST(latencies_come_from_the_configuration);
    TEST(a_lone_warp_is_bound_by_its_fetches);
    TEST_SPEED(a_scheduler_issues_one_a_cycle);
    TEST_SPEED(two_schedulers_issue_two_a_cycle);
    TEST(pipes_start_one_an_initiation_interval);
    TEST_LOOP(shared_memory_takes_a_pass_for_each_word_of_a_bank, 0, 6);
    TEST(shared_memory_broadcasts);
    TEST(shared_memory_does_one_pass_a_cycle);
    TEST(an_l1_hit_takes_the_l1_latency);
    TEST(fixed_memory_takes_its_latency);
    TEST(an_l1_miss_adds_the_l1);
    TEST(an_l2_hit_takes_the_crossbar_and_the_slice);
    TEST(a_dram_row_hit_takes_the_column_and_the_data);
    TEST(a_dram_row_miss_adds_precharge_and_activate);
    TEST_SPEED(dram_gives_the_configured_bandwidth);
    TEST_SPEED(l2_gives_the_bandwidth_of_links_and_slices);
    TEST(a_barrier_costs_its_issue);
    TEST(an_instruction_cache_miss_stops_a_lone_warp);
}
