/* Tests that the modern core (timing/sm/modern.h) gives the cycles that R. Huerta et al. measured on real GPUs
 * ("Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025), with control bits set by hand. */
#include "modern_rig.h"
#include <string.h>

static void reads(uint32_t i, int position, int reg, int words) {
    rig_bits[i].read[position] = (uint8_t)reg;
    rig_bits[i].read_words[position] = (uint8_t)words;
}

/* ---- Table 1: a sub-core buffers five memory instructions ---- */

/* The cycles in which instructions 1 to 9 issue, for 1 to 4 active sub-cores. The first issues in cycle 2. From the
 * sixth on, the sub-cores take turns, so their cycles are sorted here. */
static const uint8_t table1[4][9][4] = {
    {{2}, {3}, {4}, {5}, {6}, {13}, {17}, {21}, {25}},
    {{2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {13, 15}, {17, 19}, {21, 23}, {25, 27}},
    {{2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {13, 15, 17}, {19, 21, 23}, {25, 27, 29}, {31, 33, 35}},
    {{2, 2, 2, 2},
     {3, 3, 3, 3},
     {4, 4, 4, 4},
     {5, 5, 5, 5},
     {6, 6, 6, 6},
     {13, 15, 17, 19},
     {21, 23, 25, 27},
     {29, 31, 33, 35},
     {37, 39, 41, 43}},
};
static const char *const accesses[] = {"ld.global.u32 %%r1,[%%a+4*%d];\n", "st.global.u32 [%%a+4*%d],%%r1;\n",
                                       "ld.shared.u32 %%r1,[s];\n"};

START_TEST(memory_instructions_issue_as_in_table_1) {
    char body[4096];
    const uint32_t n = (uint32_t)_i % 4 + 1, first = rig_lead_in(body);
    rig_repeat(body, accesses[_i / 4], 0, 9);
    rig_run(rig_one_sm, body, n * WARP, 2);
    const uint64_t from = rig_at(0, first) - 2;
    for (uint32_t k = 0; k < 9; k++)
        for (uint32_t c = 0; c < n; c++) {
            uint32_t found = 0;
            for (uint32_t w = 0; w < n; w++)
                found += rig_at(w, first + k) - from == table1[n - 1][k][c];
            uint32_t wanted = k < 5 ? n : 1;
            ck_assert_msg(found == wanted, "%u sub-cores, instruction %u: %u of %u issue in cycle %u; warp 0 in %u", n,
                          k + 1, found, wanted, table1[n - 1][k][c], (uint32_t)(rig_at(0, first + k) - from));
        }
}
END_TEST

/* ---- Listing 1: ports of the register banks ---- */

/* The code is CLOCK, NOP, FFMA R11=R10,R12,R14, FFMA R13=R16,RX,RY, NOP, CLOCK. From the first CLOCK to the second it
 * takes 5 cycles, and one cycle more for each of X and Y that is even. The bank of even registers delivers one register
 * per cycle, and already reads R10, R12, R14 and R16. */
START_TEST(operands_of_one_bank_make_bubbles) {
    static const struct { int x, y, cycles; } row[] = {{19, 21, 5}, {18, 21, 6}, {19, 20, 6}, {18, 20, 7}};
    char body[4096];
    const uint32_t at = rig_lead_in(body);
    rig_repeat(body, "fma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n", 0, 6);
    for (int i = 0; i < 3; i++)
        reads(at + 2, i, 10 + 2 * i, 1);
    reads(at + 3, 0, 16, 1);
    reads(at + 3, 1, row[_i].x, 1);
    reads(at + 3, 2, row[_i].y, 1);
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_int_eq((int)(rig_at(0, at + 5) - rig_at(0, at)), row[_i].cycles);
    /* a CLOCK in the place of the last NOP would not notice the wait: it passes the stage Control while the FFMA waits
     * in the stage Allocate */
    ck_assert_int_eq((int)(rig_at(0, at + 4) - rig_at(0, at)), 4);
}
END_TEST

/* With two read ports a bank, the operands need no additional cycle. */
START_TEST(more_ports_make_no_bubbles) {
    static const char *const set[] = {"gpu.sms=1", "core.assembly=off", "core.read_ports=2", NULL};
    char body[4096];
    const uint32_t at = rig_lead_in(body);
    rig_repeat(body, "fma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n", 0, 6);
    for (uint32_t i = 2; i < 4; i++)
        for (int k = 0; k < 3; k++)
            reads(at + i, k, 10 + 2 * k, 1);
    rig_run(set, body, WARP, 2);
    ck_assert_int_eq((int)(rig_at(0, at + 5) - rig_at(0, at)), 5);
    ck_assert_double_eq(rig_stat("core.port_bubbles"), 0);
}
END_TEST

/* ---- Listing 4: the register-file cache ---- */

START_TEST(reuse_bits_keep_operands) {
    /* row[].reg: registers that the second instruction reads, by operand position. row[].reuse: its reuse bits.
     * row[].hits: expected reads from the register-file cache. The first instruction keeps R2, its operand at position
     * 0. */
    static const struct {
        int reg[3], reuse, hits;
    } row[] = {
        {{2, 7, 8}, 0, 1}, /* hit, then miss */
        {{2, 7, 8}, 1, 2}, /* hit, hit */
        {{7, 2, 8}, 0, 1}, /* miss: R7 is in the other bank, so R2 stays and the third instruction hits */
        {{4, 7, 8}, 0, 0}, /* miss, miss: R4 drops R2, which is in the same bank and position */
    };
    static const char *const no_cache[] = {"gpu.sms=1", "core.assembly=off", "core.reuse_cache=off", NULL};
    static const int first[] = {2, 3, 4}, third[] = {2, 12, 13};
    char body[4096];
    const uint32_t at = rig_lead_in(body);
    rig_repeat(body, "fma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n", 0, 3);
    for (int i = 0; i < 3; i++) {
        reads(at, i, first[i], 1);
        reads(at + 1, i, row[_i].reg[i], 1);
        reads(at + 2, i, third[i], 1);
    }
    rig_bits[at].reuse = 1;
    rig_bits[at + 1].reuse = (uint8_t)row[_i].reuse;
    for (int cached = 1; cached >= 0; cached--) {
        rig_run(cached ? rig_one_sm : no_cache, body, WARP, 1);
        ck_assert_double_eq(rig_stat("core.reuse_hits"), cached * row[_i].hits);
        ck_assert_double_eq(rig_stat("core.port_reads"), 9 - cached * row[_i].hits);
    }
}
END_TEST

/* ---- Figure 4: the scheduler ---- */

enum { EACH = 32 };

/* Writes the order in which the warps of sub-core 0 issue the instructions from `first` on, as runs: "3x33 2x33" for 32
 * instructions of warp 3 and its exit, then those of warp 2. "-x4" stands for four cycles without an instruction. */
static void order(uint32_t first, char *out) {
    uint64_t at = UINT64_MAX;
    uint32_t last = UINT32_MAX, n = 0;
    char *end = out;
    for (uint32_t i = 0; i <= rig_n; i++) {
        const bool stop = i == rig_n;
        uint32_t k = stop ? 0 : rig_slot[i].pc - rig_first - first;
        if (!stop && (k > EACH || rig_slot[i].warp % 4))
            continue;
        if (n && (stop || rig_slot[i].warp != last || rig_slot[i].cycle != at)) {
            end += sprintf(end, "%s%ux%u", end > out ? " " : "", last / 4, n);
            n = 0;
        }
        if (stop)
            break;
        if (at != UINT64_MAX && rig_slot[i].cycle != at)
            end += sprintf(end, " -x%u", (unsigned)(rig_slot[i].cycle - at));
        last = rig_slot[i].warp;
        at = rig_slot[i].cycle + 1;
        n++;
    }
}

/* Runs four warps of 32 independent instructions on each sub-core. They begin in the order of their ages, the youngest
 * first, with full instruction buffers. */
static void run_four(const struct control_bits *second, const char *const *set, int launches, const char *wanted) {
    char body[4096], got[1024];
    const uint32_t first = rig_lead_in(body) + 1;
    sprintf(body + strlen(body), "bar.sync 0;\n");
    rig_repeat(body, "add.f32 %%f%d, %%f38, %%f39;\n", 0, EACH);
    rig_bits[first - 1].stall = 2; /* so that the warp that arrives last at the barrier does not issue first */
    rig_bits[first + 1] = *second;
    rig_run(set, body, 16 * WARP, launches);
    order(first, got);
    ck_assert_str_eq(got, wanted);
}

/* (a) The youngest warp issues until it misses the L0 instruction cache. When the next warp needs the line, the line
 * has arrived, so this warp issues all its instructions. Then the youngest warp issues the rest. A line has 32
 * instructions: the first line has ld.param, 5 instructions of the lead-in, and 26 of the 32 additions. */
START_TEST(the_scheduler_is_greedy_then_youngest) {
    static const char *const set[] = {"gpu.sms=1",    "core.assembly=off", "sm.inst_bytes=8",
                                      "l0i.line=256", "l1i.line=256",      NULL};
    struct control_bits none = CONTROL_NONE;
    run_four(&none, set, 1, "3x26 2x33 3x7 1x33 0x33");
}
END_TEST

/* (b) A stall count of 4 on the second instruction: a warp that issues it in cycle t issues again in t + 4 at the
 * earliest. */
START_TEST(a_stall_count_switches_warps) {
    struct control_bits second = CONTROL_NONE;
    second.stall = 4;
    run_four(&second, rig_one_sm, 2, "3x2 2x2 1x2 3x31 2x31 1x31 0x2 -x3 0x31");
}
END_TEST

/* (c) The second instruction has the yield bit. W0 can yield only to W1, because W2 and W3 have ended. */
START_TEST(a_yield_switches_warps) {
    struct control_bits second = CONTROL_NONE;
    second.yields = true;
    run_four(&second, rig_one_sm, 2, "3x2 2x2 3x31 2x31 1x2 0x2 1x31 0x31");
}
END_TEST

/* A warp that is alone waits one cycle after a yield. */
START_TEST(a_yield_to_nobody_costs_a_cycle) {
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "add.f32 %%f%d, %%f38, %%f39;\n", 0, 3);
    rig_bits[first].yields = true;
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), 2);
    ck_assert_uint_eq(rig_at(0, first + 2) - rig_at(0, first + 1), 1);
}
END_TEST

/* The stage Control increments a dependence counter in the cycle after issue. So an instruction that issues in that
 * cycle does not see the increment. */
START_TEST(a_counter_rises_a_cycle_after_issue) {
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "ld.shared.u32 %%r%d,[s];\nadd.f32 %%f1, %%f38, %%f39;\n", 1, 1);
    rig_bits[first].raise_write = 3;
    rig_bits[first].stall = (uint8_t)(1 + _i);
    rig_bits[first + 1].wait = 1 << 3;
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), _i ? 24 : 1);
}
END_TEST

/* ---- Table 2: latencies of accesses that hit ---- */

/* The latencies until a source may be written (WAR) and until a consumer may issue (RAW; 0: none). */
static const struct {
    const char *text;
    bool uniform;
    uint8_t war, raw;
} table2[] = {
    {"ld.global.u32 %r1,[%a];", true, 9, 29},
    {"ld.global.v2.u32 {%v0,%v1},[%a];", true, 9, 31},
    {"ld.global.v4.u32 {%v0,%v1,%v2,%v3},[%a];", true, 9, 35},
    {"ld.global.u32 %r1,[%q4];", false, 11, 32},
    {"ld.global.v2.u32 {%v0,%v1},[%q8];", false, 11, 34},
    {"ld.global.v4.u32 {%v0,%v1,%v2,%v3},[%q16];", false, 11, 38},
    {"st.global.u32 [%a],%r1;", true, 10, 0},
    {"st.global.v2.u32 [%a],{%v0,%v1};", true, 12, 0},
    {"st.global.v4.u32 [%a],{%v0,%v1,%v2,%v3};", true, 16, 0},
    {"st.global.u32 [%q4],%r1;", false, 14, 0},
    {"st.global.v2.u32 [%q8],{%v0,%v1};", false, 16, 0},
    {"st.global.v4.u32 [%q16],{%v0,%v1,%v2,%v3};", false, 20, 0},
    {"ld.shared.u32 %r1,[s];", true, 9, 23},
    {"ld.shared.v2.u32 {%v0,%v1},[s];", true, 9, 23},
    {"ld.shared.v4.u32 {%v0,%v1,%v2,%v3},[s];", true, 9, 25},
    {"ld.shared.u32 %r1,[%r4];", false, 9, 24},
    {"ld.shared.v2.u32 {%v0,%v1},[%r8];", false, 9, 24},
    {"ld.shared.v4.u32 {%v0,%v1,%v2,%v3},[%r16];", false, 9, 26},
    {"st.shared.u32 [s],%r1;", true, 10, 0},
    {"st.shared.v2.u32 [s],{%v0,%v1};", true, 12, 0},
    {"st.shared.v4.u32 [s],{%v0,%v1,%v2,%v3};", true, 16, 0},
    {"st.shared.u32 [%r4],%r1;", false, 12, 0},
    {"st.shared.v2.u32 [%r8],{%v0,%v1};", false, 14, 0},
    {"st.shared.v4.u32 [%r16],{%v0,%v1,%v2,%v3};", false, 18, 0},
    {"ld.const.u32 %r1,[k0];", true, 10, 26},
    {"ld.const.u32 %r1,[%q1];", false, 29, 29},
    {"ld.const.v2.u32 {%v0,%v1},[%q1];", false, 29, 29},
    {"cp.async.ca.shared.global [%r4],[%q4],4;", false, 13, 39},
    {"cp.async.ca.shared.global [%r8],[%q8],8;", false, 13, 39},
    {"cp.async.ca.shared.global [%r16],[%q16],16;", false, 13, 39},
};

START_TEST(accesses_take_the_cycles_of_table_2) {
    char body[4096];
    const uint32_t lead = rig_lead_in(body), first = lead + 10;
    /* ten instructions make addresses; the access runs twice, so that the second one hits */
    sprintf(body + strlen(body),
            "cvta.const.u64 %%q0,k0; cvta.to.const.u64 %%q1,%%q0;\n"
            "mov.u32 %%r0,%%tid.x; mov.u32 %%r2,s; mad.wide.u32 %%q4,%%r0,4,%%a; mad.wide.u32 %%q8,%%r0,8,%%a; "
            "mad.wide.u32 %%q16,%%r0,16,%%a; mad.lo.u32 %%r4,%%r0,4,%%r2; mad.lo.u32 %%r8,%%r0,8,%%r2; "
            "mad.lo.u32 %%r16,%%r0,16,%%r2;\n%s\nadd.f32 %%f1,%%f38,%%f39;\n%s\nadd.f32 %%f2,%%f38,%%f39;\n",
            table2[_i / 2].text, table2[_i / 2].text);
    for (uint32_t i = first; i < first + 4; i += 2) {
        rig_bits[i].stall = 2;
        rig_bits[i].uniform = table2[_i / 2].uniform;
        rig_bits[i].raise_read = 0;
        rig_bits[i].raise_write = 1;
        rig_bits[i + 1].wait = i > first && _i % 2 == 0 ? 1 : 3;
    }
    rig_run(rig_one_sm, body, WARP, 2);
    const uint64_t took = rig_at(0, first + 3) - rig_at(0, first + 2);
    const uint32_t wanted = _i % 2 ? table2[_i / 2].raw : table2[_i / 2].war;
    ck_assert_msg(!wanted || took == wanted, "%s: %s after %u cycles, not %u", table2[_i / 2].text,
                  _i % 2 ? "RAW" : "WAR", (unsigned)took, wanted);
}
END_TEST

/* core.load_latency and core.shared_latency replace the 32 and 24 cycles of 32-bit loads; wider loads and addresses in
 * uniform registers keep their distance to these: 38 - 32 = 6 cycles more for 128 bits, 3 or 1 fewer for uniform. */
START_TEST(cards_have_latencies_of_their_own) {
    static const char *const set[] = {"gpu.sms=1",
                                      "core.assembly=off",
                                      "core.load_latency=26",
                                      "core.shared_latency=19",
                                      "l1.latency=7",
                                      "shared.latency=5",
                                      NULL};
    static const struct {
        const char *text;
        bool uniform;
        uint32_t cycles;
    } row[] = {{"ld.global.u32 %r1,[%a];", false, 26},
               {"ld.global.u32 %r1,[%a];", true, 23},
               {"ld.global.v4.u32 {%v0,%v1,%v2,%v3},[%a];", false, 32},
               {"ld.shared.u32 %r1,[s];", false, 19},
               {"ld.shared.u32 %r1,[s];", true, 18}};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    for (int i = 0; i < 2; i++)
        sprintf(body + strlen(body), "%s\nadd.f32 %%f1,%%f38,%%f39;\n", row[_i].text);
    for (uint32_t i = first; i < first + 4; i += 2) { /* the second access hits */
        rig_bits[i].stall = 2;
        rig_bits[i].uniform = row[_i].uniform;
        rig_bits[i].raise_write = 1;
        rig_bits[i + 1].wait = 1 << 1;
    }
    rig_run(set, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 3) - rig_at(0, first + 2), row[_i].cycles);
}
END_TEST

/* fma f1 = f2 * f2 + f4 names three operands and two registers. */
START_TEST(a_register_of_two_operands_is_read_once) {
    char body[4096];
    const uint32_t at = rig_lead_in(body);
    rig_repeat(body, "fma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n", 0, 1);
    reads(at, 0, 2, 1);
    reads(at, 1, 2, 1);
    reads(at, 2, 4, 1);
    rig_run(rig_one_sm, body, WARP, 1);
    ck_assert_double_eq(rig_stat("core.port_reads"), 2);
}
END_TEST

/* A load reads its address 11 cycles after its issue (Table 2). Without control bits, core.consumers makes the add that
 * writes the address register wait so long. With one consumer, a second load of the same address also waits for the
 * first; with two, it issues in the next cycle. */
START_TEST(writers_wait_for_consumers) {
    static const char *const consumers[] = {"core.consumers=0", "core.consumers=1", "core.consumers=2"};
    static const uint32_t writer[] = {1, 11, 11}, reader[] = {1, 11, 1};
    char body[4096];
    const char *set[] = {"gpu.sms=1", "core.assembly=off", consumers[_i / 2], NULL};
    const uint32_t first = rig_lead_in(body);
    sprintf(body + strlen(body),
            "mov.u64 %%q4,%%a;\nadd.f32 %%f1,%%f38,%%f39;\nbar.sync 0;\nld.global.u32 %%r1,[%%q4];\n%s\n",
            _i % 2 ? "ld.global.u32 %r2,[%q4];" : "mov.u64 %q4,%a;");
    rig_no_bits = true;
    rig_run(set, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 4) - rig_at(0, first + 3), (_i % 2 ? reader : writer)[_i / 2]);
}
END_TEST

/* When the first member of an access of a gang ends before the others, a new entry ends in its place. This entry has
 * the record now, so that the counter falls once. */
START_TEST(a_record_is_handed_over) {
    static struct modern_flight flight[2];
    static struct sm_modern m = {.flight = flight};
    static struct sm sm = {.modern = &m};
    flight[0] = (struct modern_flight){.lanes = 5, .write_counter = 3, .variable = true};
    modern_hand_over(&sm, 0, 1);
    ck_assert(flight[1].lanes == 5 && flight[1].write_counter == 3 && flight[1].variable);
    ck_assert(!flight[0].lanes && !flight[0].write_counter && !flight[0].variable);
}
END_TEST

/* ---- write ports ---- */

/* A load from shared memory is written 24 cycles after its issue. An FFMA is written 10 cycles after its issue:
 * Control, Allocate, three cycles of reads and 4 cycles of execution come before. So an FFMA that issues 14 cycles
 * after the load is written in the same cycle as the load. If it writes the same bank, the load is written one cycle
 * later. */
START_TEST(a_load_waits_for_the_write_port) {
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    sprintf(body + strlen(body), "ld.shared.u32 %%r1,[s];\n");
    rig_repeat(body, "add.f32 %%f1, %%f38, %%f39;\n", 0, 2);
    rig_bits[first].raise_write = 5;
    rig_bits[first].write = 6;
    rig_bits[first].stall = 14;
    rig_bits[first + 1].write = _i ? 8 : 9;
    rig_bits[first].write_words = rig_bits[first + 1].write_words = 1;
    rig_bits[first + 2].wait = 1 << 5;
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), 14);
    ck_assert_uint_eq(rig_at(0, first + 2) - rig_at(0, first), _i ? 25 : 24);
    ck_assert_double_eq(rig_stat("core.late_loads"), 2 * _i); /* in two launches */
}
END_TEST

/* DEPBAR.LE waits until a counter is at most its limit. Three loads increment a counter. An instruction whose limit is
 * one issues when the second load has been written. The address unit finishes a load every four cycles. */
START_TEST(a_limit_lets_some_loads_stay_outstanding) {
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "ld.shared.u32 %%r%d,[s];\n", 1, 3);
    rig_repeat(body, "add.f32 %%f1, %%f38, %%f39;\n", 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        rig_bits[first + i].raise_write = 2;
    rig_bits[first + 2].stall = 2;
    rig_bits[first + 3].limit_counter = 2;
    rig_bits[first + 3].limit = (uint8_t)_i;
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 3) - rig_at(0, first), 24 + 4 * (2 - (uint32_t)_i));
}
END_TEST

/* The statistic core.hazards counts instructions that issue before an operand has arrived. A dependent FFMA needs a
 * stall count of 4 before it, and a consumer of a load needs the counter of the load. A store of the result of an add
 * needs a distance of 5. */
START_TEST(insufficient_bits_are_counted) {
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    sprintf(body + strlen(body), "add.f32 %%f1,%%f38,%%f39;\nadd.f32 %%f2,%%f1,%%f39;\nld.shared.u32 %%r1,[s];\n"
                                 "add.u32 %%r2,%%r1,1;\nst.global.f32 [%%a],%%f2;\nst.global.u32 [%%a+4],%%r2;\n");
    rig_bits[first].stall = _i == 1 ? 3 : 4;
    rig_bits[first + 1].stall = 1;
    rig_bits[first + 2].raise_write = 0;
    rig_bits[first + 2].stall = _i == 2 ? 1 : 2; /* with 1, the next instruction issues before the counter has risen */
    rig_bits[first + 3].stall = _i == 3 ? 3 : 4;
    rig_bits[first + 3].wait = 1; /* the store of r2 issues one cycle after that of f2 */
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_double_eq(heddle_stat(rig, 1, "core.hazards"), _i != 0);
}
END_TEST

/* The lanes of both sides add to a register of their own with one number. An addition takes 14 cycles, so the second
 * side issues before the sum of the first side has arrived. That is no hazard: the lanes differ. Before the store, the
 * lanes of each side wait for 15 cycles. */
START_TEST(results_of_other_lanes_are_no_hazards) {
    static const char *const set[] = {"gpu.sms=1", "core.assembly=off", "latency.int_add=14", NULL};
    static const uint8_t stall[] = {15, 15, 15, 1, 1, 15, 15, 15};
    rig_first = 1;
    for (int i = 0; i < 8; i++)
        rig_bits[i].stall = stall[i];
    rig_run(set,
            ".reg .pred %p;\nmov.u32 %r1,%tid.x;\nmov.u32 %r3,1;\nsetp.lt.u32 %p,%r1,16;\n@%p bra A;\n"
            "add.u32 %r3,%r3,1;\nbra J;\nA: add.u32 %r3,%r3,2;\nJ: st.global.u32 [%a],%r3;",
            WARP, 2);
    const uint64_t a = rig_at(0, 4), b = rig_at(0, 6);
    ck_assert_uint_lt(a < b ? b - a : a - b, 14);
    ck_assert_double_eq(heddle_stat(rig, 1, "core.hazards"), 0);
}
END_TEST

/* Without control bits, or if core.control_bits turns them off, the scoreboard makes a dependent instruction wait. */
START_TEST(the_scoreboard_stands_in_for_control_bits) {
    static const char *const off[] = {"gpu.sms=1", "core.control_bits=off", "core.assembly=off", NULL};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "add.f32 %%f1,%%f1,%%f39;\n", 0, 2);
    rig_no_bits = _i == 1;
    rig_run(_i == 2 ? off : rig_one_sm, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), _i ? 4 : 1);
    ck_assert_double_eq(heddle_stat(rig, 1, "core.hazards"), _i == 0);
}
END_TEST

/* Without control bits, a variable-latency instruction that reads a fixed-latency result issues 4 + 1 cycles after the
 * instruction that computes it (the paper's Listing 3), a fixed-latency instruction after 4. */
START_TEST(a_variable_latency_has_no_bypass) {
    static const char *const readers[] = {"add.f32 %%f2,%%f1,%%f39;\n", "sin.approx.f32 %%f2,%%f1;\n",
                                          "st.shared.f32 [s],%%f1;\n"};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "add.f32 %%f1,%%f38,%%f39;\n", 0, 1);
    rig_repeat(body, readers[_i], 0, 1);
    rig_no_bits = true;
    rig_run(rig_one_sm, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), _i ? 5 : 4);
}
END_TEST

/* ---- constant operands ---- */

/* A fixed-latency instruction whose constant operand is not in the sub-core's cache issues 79 cycles later, although a
 * ld.const has loaded the line: ld.const uses another cache. */
START_TEST(a_constant_operand_that_misses_costs_79_cycles) {
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    sprintf(body + strlen(body), "ld.const.u32 %%r1,[k0];\n");
    rig_repeat(body, "add.f32 %%f1, %%f38, %%f39;\n", 0, 4);
    rig_bits[first].raise_write = 0;
    rig_bits[first].stall = 2;
    rig_bits[first + 1].wait = 1;
    rig_bits[first + 2].constant = rig_bits[first + 3].constant = 0;
    rig_run(rig_one_sm, body, WARP, 1);
    ck_assert_uint_eq(rig_at(0, first + 2) - rig_at(0, first + 1), 1 + 79);
    ck_assert_uint_eq(rig_at(0, first + 3) - rig_at(0, first + 2), 1);
    ck_assert_double_eq(rig_stat("core.constant_misses"), 1);
}
END_TEST

SUITE(timing_sm_modern_core) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST_SPEED_LOOP(memory_instructions_issue_as_in_table_1, 0, 12);
    TEST_LOOP(operands_of_one_bank_make_bubbles, 0, 4);
    TEST(more_ports_make_no_bubbles);
    TEST_LOOP(reuse_bits_keep_operands, 0, 4);
    TEST_SPEED(the_scheduler_is_greedy_then_youngest);
    TEST_SPEED(a_stall_count_switches_warps);
    TEST_SPEED(a_yield_switches_warps);
    TEST(a_yield_to_nobody_costs_a_cycle);
    TEST_LOOP(a_counter_rises_a_cycle_after_issue, 0, 2);
    TEST_LOOP(accesses_take_the_cycles_of_table_2, 0, 60);
    TEST_LOOP(cards_have_latencies_of_their_own, 0, 5);
    TEST(a_register_of_two_operands_is_read_once);
    TEST_LOOP(writers_wait_for_consumers, 0, 6);
    TEST(a_record_is_handed_over);
    TEST_LOOP(a_load_waits_for_the_write_port, 0, 2);
    TEST_SPEED_LOOP(a_limit_lets_some_loads_stay_outstanding, 0, 3);
    TEST_LOOP(insufficient_bits_are_counted, 0, 4);
    TEST_SPEED(results_of_other_lanes_are_no_hazards);
    TEST_LOOP(the_scoreboard_stands_in_for_control_bits, 0, 3);
    TEST_LOOP(a_variable_latency_has_no_bypass, 0, 3);
    TEST(a_constant_operand_that_misses_costs_79_cycles);
}
