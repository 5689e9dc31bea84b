/* Tests that the modern core (timing/sm/modern.h) gives the cycles that R. Huerta et al. measured on real GPUs
 * ("Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025), with control bits set by hand. */
#include "modern_rig.h"
#include <string.h>

enum { WARP = 32 };
static const char *const one_sm[] = {"gpu.sms=1", NULL};

/* Appends `n` instructions `line`, in which %d is the number of the instruction, to the body. */
static uint32_t repeat(char *body, const char *line, uint32_t from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        sprintf(body + strlen(body), line, from + i, from + i, from + i);
    return from + n;
}

/* Begins a body with instructions that let ld.param end and that make all warps start in one cycle. */
static uint32_t lead_in(char *body) {
    *body = 0;
    rig_first = 1;
    repeat(body, "add.f32 %%f38, %%f39, %%f39;\n", 0, 4);
    for (int i = 0; i < 4; i++)
        rig_bits[i].stall = 15;
    return 4;
}

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
    const uint32_t n = (uint32_t)_i % 4 + 1, first = lead_in(body);
    repeat(body, accesses[_i / 4], 0, 9);
    rig_run(one_sm, body, n * WARP, 2);
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

/* CLOCK, NOP, FFMA R11=R10,R12,R14, FFMA R13=R16,RX,RY, NOP, CLOCK: 5 cycles from CLOCK to CLOCK, and one more for each
 * of X and Y that is even, because the bank of even registers then has 5 or 6 reads in 4 or 5 cycles. */
START_TEST(operands_of_one_bank_make_bubbles) {
    static const struct {
        int x, y, cycles;
    } row[] = {{19, 21, 5}, {18, 21, 6}, {19, 20, 6}, {18, 20, 7}};
    char body[4096];
    const uint32_t at = lead_in(body);
    repeat(body, "fma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n", 0, 6);
    for (int i = 0; i < 3; i++)
        reads(at + 2, i, 10 + 2 * i, 1);
    reads(at + 3, 0, 16, 1);
    reads(at + 3, 1, row[_i].x, 1);
    reads(at + 3, 2, row[_i].y, 1);
    rig_run(one_sm, body, WARP, 2);
    ck_assert_int_eq((int)(rig_at(0, at + 5) - rig_at(0, at)), row[_i].cycles);
    /* without the last NOP, CLOCK waits for nothing: Allocate holds the FFMA while CLOCK is in Control */
    ck_assert_int_eq((int)(rig_at(0, at + 4) - rig_at(0, at)), 4);
}
END_TEST

/* ---- Listing 4: the register-file cache ---- */

START_TEST(reuse_bits_keep_operands) {
    /* reg and position of the operand of the second instruction; reuse bits of the first two; hits */
    static const struct {
        int reg[3], reuse, hits;
    } row[] = {
        {{2, 7, 8}, 0, 1}, /* hit, then miss */
        {{2, 7, 8}, 1, 2}, /* hit, hit */
        {{7, 2, 8}, 0, 1}, /* miss, and R2 stays for the third: R7 is in the other bank */
        {{4, 7, 8}, 0, 0}, /* R4 is in the bank and position of R2: miss, miss */
    };
    static const int first[] = {2, 3, 4}, third[] = {2, 12, 13};
    char body[4096];
    const uint32_t at = lead_in(body);
    repeat(body, "fma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n", 0, 3);
    for (int i = 0; i < 3; i++) {
        reads(at, i, first[i], 1);
        reads(at + 1, i, row[_i].reg[i], 1);
        reads(at + 2, i, third[i], 1);
    }
    rig_bits[at].reuse = 1;
    rig_bits[at + 1].reuse = (uint8_t)row[_i].reuse;
    rig_run(one_sm, body, WARP, 1);
    ck_assert_double_eq(rig_stat("core.reuse_hits"), row[_i].hits);
    ck_assert_double_eq(rig_stat("core.port_reads"), 9 - row[_i].hits);
}
END_TEST

SUITE(timing_sm_modern_core) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST_LOOP(memory_instructions_issue_as_in_table_1, 0, 12);
    TEST_LOOP(operands_of_one_bank_make_bubbles, 0, 4);
    TEST_LOOP(reuse_bits_keep_operands, 0, 4);
}
