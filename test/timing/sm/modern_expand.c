/* Tests that a modern core issues the machine instructions of an expansion (timing/sm/modern_expand.c): each takes an
 * issue slot and its pipe, and the next one issues after its gap. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <string.h>

struct counts {
    double cycles, machine, issued, hazards, fetches, lines, expanded;
};

/* Runs a kernel with `n` times the instruction on one SM of `ampere`. */
static struct heddle *launch(const char *inst, int n, unsigned threads, const char *option, bool perfect) {
    char text[8192] = ".version 7.0 .target sm_80 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
                      ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;\n"
                      "ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; ld.global.u32 %r1, [%d1]; mov.b32 %f1, %r1;\n",
         err[512];
    for (int i = 0; i < n; i++)
        strcat(text, inst);
    strcat(text, "cvt.u32.u64 %r2, %d2; mov.b32 %r3, %f1; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;\n"
                 "st.global.u32 [%d1], %r1; ret; }\n");
    const char *const set[] = {"gpu.sms=1", perfect ? "fetch.perfect=on" : "fetch.prefetch=0", option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "ampere", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t out = heddle_alloc(h, 8);
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0,
                                   &(struct heddle_arg){&out, 8}, 1),
                     HEDDLE_OK);
    return h;
}

static struct counts run(const char *inst, int n, unsigned threads, const char *option, bool perfect) {
    struct heddle *h = launch(inst, n, threads, option, perfect);
    struct counts c = {heddle_stat(h, 0, "gpu.cycles"),    heddle_stat(h, 0, "core.machine_instructions"),
                       heddle_stat(h, 0, "issue.issued"),  heddle_stat(h, 0, "core.hazards"),
                       heddle_stat(h, 0, "fetch.fetches"), heddle_stat(h, 0, "fetch.l0_misses"),
                       heddle_stat(h, 0, "core.expanded")};
    heddle_close(h);
    return c;
}

/* Returns the cycles and machine instructions of one of many equal instructions. */
static struct counts each_of(const char *inst, unsigned threads, const char *option, bool perfect) {
    const struct counts few = run(inst, 8, threads, option, perfect), many = run(inst, 24, threads, option, perfect);
    ck_assert_double_eq(many.hazards, 0);
    return (struct counts){
        (many.cycles - few.cycles) / 16,   (many.machine - few.machine) / 16, (many.issued - few.issued) / 16,    0,
        (many.fetches - few.fetches) / 16, (many.lines - few.lines) / 16,     (many.expanded - few.expanded) / 16};
}

static struct counts each(const char *inst, unsigned threads, const char *option) {
    return each_of(inst, threads, option, true);
}

/* Cycles from an instruction to the next one, which uses its result. `ampere` has a latency of 4 for additions,
 * products and logic, and one cycle more for a result that another unit reads.
 * - 64-bit addition: 4 until the second addition has the carry, and 4 for its result.
 * - 64-bit logic: the second half issues 2 cycles after the first, because the pipe has 16 lanes; 4 for its result. An
 *   addition follows each, because logic after logic becomes one instruction.
 * - 64-bit product: gaps of 2, 4 and 5; 4 for the last addition; 1, because a product reads the sum. */
START_TEST(cycles_of_an_expansion) {
    static const struct {
        const char *inst;
        double cycles, count;
    } row[] = {{"add.u64 %d2, %d2, %d2;\n", 4 + 4, 2},
               {"xor.b64 %d2, %d2, 77; add.u64 %d2, %d2, %d1;\n", 2 + 4 + 4 + 4, 4},
               {"mul.lo.u64 %d2, %d2, %d2;\n", 2 + 4 + 5 + 4 + 1, 4},
               {"add.u32 %r1, %r1, %r1;\n", 4, 1}};
    const struct counts c = each(row[_i].inst, 1, "core.select=on");
    EXPECT(c.cycles == row[_i].cycles, "%s: %g cycles, not %g", row[_i].inst, c.cycles, row[_i].cycles);
    EXPECT(c.machine == row[_i].count, "%s: %g machine instructions", row[_i].inst, c.machine);
}
END_TEST

/* The sine is a product, whose result arrives after 4 cycles, and the sine of the special function unit, which is the
 * whole instruction without the option. */
START_TEST(the_last_instruction_has_a_variable_latency) {
    const char *inst = "sin.approx.f32 %f1, %f1;\n";
    const struct counts one = each(inst, 1, "core.select=off"), two = each(inst, 1, "core.select=on");
    ck_assert_double_eq(one.machine, 1);
    ck_assert_double_eq(two.machine, 2);
    ck_assert_double_eq(two.cycles, one.cycles + 4);
}
END_TEST

/* A scoreboard waits for the pipes that control bits wait for. `ampere` takes 13 cycles from a comparison to an
 * instruction with its guard, and 4 from an addition to the comparison.
 * - 64-bit comparison: 4 until its second half, 13 to the guard; 4 until the second addition has the carry, 4 to the
 *   next comparison. */
START_TEST(a_scoreboard_waits_as_long_as_control_bits) {
    static const struct {
        const char *inst;
        double cycles;
    } row[] = {{"setp.ne.u32 %p1, %r1, 77; @%p1 add.u32 %r1, %r1, 1;\n", 13 + 4},
               {"setp.ne.u64 %p1, %d2, %d1; @%p1 add.u64 %d2, %d2, %d1;\n", 4 + 13 + 4 + 4},
               {"add.u32 %r1, %r1, %r1;\n", 4}};
    static const char *const option[] = {"core.control_bits=on", "core.control_bits=off"};
    const struct counts c = each(row[_i / 2].inst, 1, option[_i % 2]);
    EXPECT(c.cycles == row[_i / 2].cycles, "%s%s: %g cycles, not %g", row[_i / 2].inst, option[_i % 2], c.cycles,
           row[_i / 2].cycles);
}
END_TEST

/* Rounding to an integral float is one machine instruction of the special function unit. 32 warps are 8 for
 * each sub-core, and take its unit of 4 lanes for 8 cycles each. */
START_TEST(special_function_units_convert) {
    const char *inst = "cvt.rni.f32.f32 %f1, %f1;\n";
    const struct counts apart = each(inst, 32 * 32, "core.select=on");
    ck_assert_double_ge(apart.cycles, 8 * 8);
    ck_assert_double_lt(apart.cycles, 8 * 8 + 8); /* until the first warp has its result and its turn, the unit idles */
    ck_assert_double_eq(apart.machine, 32);
}
END_TEST

/* 32 warps are 8 for each sub-core. The halves of 64-bit logic and of an addition take its pipe of 16 lanes for 2
 * cycles each, so the 8 warps need 8 * 4 * 2 cycles for both. Every machine instruction takes an issue slot. */
START_TEST(machine_instructions_share_slots_and_pipes) {
    const struct counts c = each("xor.b64 %d2, %d2, 77; add.u64 %d2, %d2, %d1;\n", 32 * 32, "core.select=on");
    ck_assert_double_eq(c.cycles, 8 * 4 * 2);
    ck_assert_double_eq(c.machine, 32 * 4);
    ck_assert_double_eq(c.expanded, 32 * 2); /* the second halves */
    ck_assert_double_eq(c.issued, 32 * 4);
}
END_TEST

/* A 64-bit product has four machine instructions of 16 bytes, so two products fill a line of 128 bytes. Without the
 * pass, a product has 16 bytes. A load whose offset folds into its address takes no bytes for the addition. */
START_TEST(machine_instructions_are_fetched) {
    const struct counts on = each_of("mul.lo.u64 %d2, %d2, %d2;\n", 1, "core.select=on", false),
                        off = each_of("mul.lo.u64 %d2, %d2, %d2;\n", 1, "core.select=off", false);
    ck_assert_double_eq(on.fetches, 4);
    ck_assert_double_eq(on.lines, 0.5);
    ck_assert_double_eq(off.fetches, 1);
    ck_assert_double_eq(off.lines, 0.125);
    const struct counts load = each_of("add.u64 %d3, %d1, 4; ld.global.u32 %r1, [%d3];\n", 1, "core.select=on", false);
    ck_assert_double_eq(load.fetches, 1);
    ck_assert_double_eq(load.lines, 0.125);
}
END_TEST

/* The energy follows from the operations and registers of the machine instructions, here of a lane. In pairs, each half
 * has its half of the operands. In others, a product has two operands, a multiply-add three, and the sine one:
 * - 64-bit product: a product of integers counts as a multiply-add, so three have 3 operands, the addition 2.
 * - sine: 2 of the product, 1 of the sine.
 * A register that two operands name is read once. No register is read for a constant or a parameter. */
START_TEST(machine_instructions_count_operations_and_registers) {
    static const char *const keys[] = {"core.op_int",          "core.op_int_mul",      "core.op_f32_mul",
                                       "core.op_sfu",          "op.expanded",          "op.int",
                                       "collector.read_words", "collector.write_words"};
    enum { N = sizeof keys / sizeof keys[0] };
    static const struct {
        const char *inst;
        double count[N];
    } rows[] = {{"xor.b64 %d2, %d2, 77; add.u64 %d2, %d2, %d1;\n", {4, 0, 0, 0, 2, 0, 2 + 2, 2 + 2}},
                {"mul.lo.u64 %d2, %d2, %d2;\n", {1, 3, 0, 0, 1, 0, 3 * 3 + 2, 4}},
                {"sin.approx.f32 %f1, %f1;\n", {0, 0, 1, 1, 1, 0, 2 + 1, 2}},
                {"add.u32 %r1, %r1, %r1;\n", {0, 0, 0, 0, 0, 1, 1, 1}},
                {"ld.param.u64 %d3, [p]; add.u64 %d2, %d2, %d3;\n", {2, 0, 0, 0, 1, 0, 2, 2}}};
    struct heddle *few = launch(rows[_i].inst, 8, 1, "core.select=on", true);
    struct heddle *many = launch(rows[_i].inst, 24, 1, "core.select=on", true);
    for (int k = 0; k < N; k++) {
        const double each_has = (heddle_stat(many, 0, keys[k]) - heddle_stat(few, 0, keys[k])) / 16;
        EXPECT(each_has == rows[_i].count[k], "%s: %s is %g, not %g", rows[_i].inst, keys[k], each_has,
               rows[_i].count[k]);
    }
    heddle_close(few);
    heddle_close(many);
}
END_TEST

SUITE(timing_sm_modern_expand) {
    TEST_LOOP(cycles_of_an_expansion, 0, 4);
    TEST(machine_instructions_are_fetched);
    TEST_LOOP(machine_instructions_count_operations_and_registers, 0, 5);
    TEST(the_last_instruction_has_a_variable_latency);
    TEST_LOOP(a_scoreboard_waits_as_long_as_control_bits, 0, 6);
    TEST_SPEED(special_function_units_convert);
    TEST_SPEED(machine_instructions_share_slots_and_pipes);
}
