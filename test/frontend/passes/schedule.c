/* Tests the order of the pass `schedule`, and how many registers it uses to issue loads early. */
#include "frontend/passes/pass.h"
#include "host/context.h"
#include "test/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens a kernel on `ampere`, whose SM holds 48 warps and 16 CTAs, with this many registers in an SM. Without
 * core.select, the address of the parameter is a register. */
static struct heddle *open_kernel_with(const char *option, const char *directives, const char *body, unsigned registers,
                                       const struct program **p) {
    char err[512], sm[32], text[4096];
    const char *const set[] = {"core.select=off", "core.check=on", "sm.register_unit=32", sm, option, NULL};
    snprintf(sm, sizeof sm, "sm.registers=%u", registers);
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n"
             ".visible .entry k(.param .u64 p) %s { .reg .pred %%p<2>; .reg .b32 %%r<99>; .reg .b64 %%d<2>;\n%s\n}\n",
             directives, body);
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = "functional", .config = "ampere", .set = set, .cycle_limit = 1000000}, err,
        sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    *p = module_program(h, m, "k");
    ck_assert_msg(*p != NULL, "%s", heddle_error(h));
    return h;
}

static struct heddle *open_kernel(const char *directives, const char *body, unsigned registers,
                                  const struct program **p) {
    return open_kernel_with(NULL, directives, body, registers, p);
}

/* Seven loads, each followed by an addition to the sum. In this order the kernel needs 4 registers: two for the
 * address, the sum and one value. With all loads first, it needs 6 more. Each thread has three more in any case. */
START_TEST(loads_use_registers_that_occupancy_leaves) {
    static const struct {
        const char *directives;
        unsigned registers, least, most;
    } rows[] = {
        /* CTAs of 128 threads are assumed: 12 have 48 warps. With 6 x 256 x 7 registers, each thread has 7 of them. */
        {"", 6 * 256 * 7, 7, 7},
        {"", 6 * 256 * 9, 8, 9},
        {"", 6 * 256 * 13, 13, 13},
        {"", 6 * 256 * 40, 13, 13},
        /* 16 CTAs of one warp: each thread may have 9 x 256 x 6 / (16 x 32) = 27 registers */
        {".reqntid 32", 6 * 256 * 9, 13, 13},
        {".maxntid 32", 6 * 256 * 6, 13, 13},
        /* one CTA of 1024 threads: 32 warps, and a second one has no room in 48; 9216 / 1024 = 9 registers a thread */
        {".reqntid 32, 32", 9216, 8, 9},
        /* the limit includes the three */
        {".maxnreg 9", 6 * 256 * 40, 8, 9},
    };
    char body[1024] = "ld.param.u64 %d1, [p]; mov.u32 %r8, 0;\n";
    for (int i = 1; i < 8; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%d1+%d]; add.u32 %%r8, %%r8, %%r%d;\n", i, 4 * i, i);
    strcat(body, "st.global.u32 [%d1], %r8; ret;");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct program *p;
        struct heddle *h = open_kernel(rows[i].directives, body, rows[i].registers, &p);
        EXPECT(p->thread_regs >= rows[i].least && p->thread_regs <= rows[i].most, "row %zu: %u registers, not %u to %u",
               i, p->thread_regs, rows[i].least, rows[i].most);
        heddle_close(h);
    }
}
END_TEST

/* Ten loads come before nine additions. In this order the kernel needs 12 registers, two for the address, and three in
 * any case. With each addition after its load, it needs 4 and three. The pass leaves the loads first where that keeps
 * the occupancy, and puts some off where 48 warps have only 9 registers a thread. ptxas 13 does so from sm_75 to
 * sm_120. */
START_TEST(loads_wait_for_a_higher_occupancy) {
    static const struct {
        unsigned registers, least, most;
    } rows[] = {{6 * 256 * 40, 15, 15}, {6 * 256 * 9, 8, 9}, {6 * 256 * 7, 7, 7}};
    char body[1024] = "ld.param.u64 %d1, [p];\n";
    for (int i = 1; i <= 10; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    for (int i = 2; i <= 10; i++)
        sprintf(body + strlen(body), "add.u32 %%r1, %%r1, %%r%d;\n", i);
    strcat(body, "st.global.u32 [%d1], %r1; ret;");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct program *p;
        struct heddle *h = open_kernel("", body, rows[i].registers, &p);
        EXPECT(p->thread_regs >= rows[i].least && p->thread_regs <= rows[i].most, "row %zu: %u registers, not %u to %u",
               i, p->thread_regs, rows[i].least, rows[i].most);
        heddle_close(h);
    }
}
END_TEST

/* In each iteration of the loop, four sums pass four additions of a loaded value. Between its first read and its last
 * write, a sum's register is free, so each of the sums takes one register. With the address, the count of iterations
 * and the sums, 7 registers are live at the begin of the loop. With four more, all loads go first. */
START_TEST(sums_of_a_loop_take_one_register) {
    const struct program *p;
    char body[2048] = "ld.param.u64 %d1, [p]; mov.u32 %r9, 5;\n";
    for (int sum = 0; sum < 4; sum++)
        sprintf(body + strlen(body), "mov.u32 %%r%d, %d;\n", 10 + sum, sum);
    strcat(body, "LOOP:\n");
    for (int stage = 0; stage < 4; stage++) {
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%d1+%d];\n", stage + 1, 4 * stage);
        for (int sum = 0; sum < 4; sum++)
            sprintf(body + strlen(body), "add.u32 %%r%d, %%r%d, %%r%d;\n", 10 * ((stage + 1) % 4 + 1) + sum,
                    10 * (stage + 1) + sum, stage + 1);
    }
    strcat(body, "sub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra LOOP;\n");
    for (int sum = 0; sum < 4; sum++)
        sprintf(body + strlen(body), "st.global.u32 [%%d1+%d], %%r%d;\n", 4 * sum, 10 + sum);
    strcat(body, "ret;");
    struct heddle *h = open_kernel("", body, 6 * 256 * (7 + 4 + 3), &p);
    ck_assert_uint_eq(p->thread_regs, 7 + 4 + 3);
    uint32_t last = 0, loads = 0;
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_GLOBAL) {
            last = pc;
            loads++;
        }
    ck_assert_uint_eq(loads, 4);
    /* before the loop: a load, five moves; then four loads and perhaps the count of iterations and its comparison */
    ck_assert_uint_le(last, 6 + 4 + 2 - 1);
    heddle_close(h);
}
END_TEST

/* Loads of shared memory issue in cycles 0, 4, 8 and so on; the first result arrives 37 cycles after its load. So 10
 * loads come before the first addition, and one before each of the next. ptxas 13 orders this kernel so, from sm_75 to
 * sm_120. */
START_TEST(accesses_issue_four_cycles_apart) {
    enum { LOADS = 24, AHEAD = 10 };
    const struct program *p;
    char body[2048] = ".shared .b32 s[64]; ld.param.u64 %d1, [p];\n";
    for (int i = 0; i < LOADS; i++)
        sprintf(body + strlen(body), "ld.shared.u32 %%r%d, [s+%d]; add.u32 %%r98, %%r%d, %s;\n", i, 8 * i, i,
                i ? "%r98" : "1");
    strcat(body, "st.global.u32 [%d1], %r98; ret;");
    struct heddle *h = open_kernel("", body, 6 * 256 * 40, &p);
    uint32_t loads = 0, sums = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        loads += p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_SHARED;
        if (p->code[pc].kind != K_LANE || !loads)
            continue;
        const uint32_t want = AHEAD + sums < LOADS ? AHEAD + sums : LOADS;
        EXPECT(loads == want, "addition %u comes after %u loads, not %u", sums, loads, want);
        sums++;
    }
    ck_assert_uint_eq(sums, LOADS);
    heddle_close(h);
}
END_TEST

/* As above, with loads of 16 bytes, which issue core.shared_gap cycles apart: in cycles 0, 8, 16, 24 and 32 with the
 * value of sm_75, before the result of the first one arrives in cycle 37. */
START_TEST(wide_loads_issue_by_their_gap) {
    static const struct {
        const char *option;
        uint32_t ahead;
    } rows[] = {{"core.shared_gap=4", 10}, {"core.shared_gap=8", 5}, {"core.shared_gap=15", 3}};
    char body[2048] = ".shared .align 16 .b32 s[64]; ld.param.u64 %d1, [p];\n";
    for (int i = 0; i < 16; i++)
        sprintf(body + strlen(body),
                "ld.shared.v4.u32 {%%r%d, %%r%d, %%r%d, %%r%d}, [s+%d]; add.u32 %%r98, %%r%d, %s;\n", 4 * i, 4 * i + 1,
                4 * i + 2, 4 * i + 3, 16 * i, 4 * i, i ? "%r98" : "1");
    strcat(body, "st.global.u32 [%d1], %r98; ret;");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct program *p;
        struct heddle *h = open_kernel_with(rows[i].option, "", body, 6 * 256 * 80, &p);
        uint32_t loads = 0;
        for (uint32_t pc = 0; pc < p->n && !(loads && p->code[pc].kind == K_LANE); pc++)
            loads += p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_SHARED;
        EXPECT(loads == rows[i].ahead, "%s: %u loads, not %u", rows[i].option, loads, rows[i].ahead);
        heddle_close(h);
    }
}
END_TEST

/* A load from global memory, whose result arrives in cycle 200, and one from shared memory, before a product of both.
 * The load from shared memory is not put off until the other result arrives: it comes before the long chain of logic
 * operations, as in ptxas' code from sm_80 on. */
START_TEST(loads_from_shared_memory_are_not_put_off) {
    const struct program *p;
    char body[2048] = ".shared .b32 s[64]; ld.param.u64 %d1, [p]; mov.u32 %r3, %tid.x;\n"
                      "ld.global.u32 %r1, [%d1];\n";
    for (int i = 0; i < 20; i++)
        strcat(body, "xor.b32 %r3, %r3, 5;\n");
    strcat(body, "ld.shared.u32 %r2, [s]; mul.lo.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;\n"
                 "st.global.u32 [%d1], %r1; ret;");
    struct heddle *h = open_kernel("", body, 6 * 256 * 40, &p);
    uint32_t pc = 0;
    char text[256] = "";
    for (; pc < p->n && !(p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_SHARED); pc++) {
        program_print_inst(p, pc, text, sizeof text);
        EXPECT(!strstr(text, "xor"), "pc %u: a logic operation comes before the load from shared memory", pc);
    }
    ck_assert_uint_lt(pc, p->n);
    heddle_close(h);
}
END_TEST

/* Loads from constant memory issue in cycles 0, 8, 16 and so on; a result is expected after 48 cycles. In cycle 48,
 * the seventh load comes before the first addition, because it has the longer path. Then loads and additions alternate.
 * ptxas 13 orders products so, from sm_75 to sm_120. */
START_TEST(constants_are_loaded_eight_cycles_apart) {
    enum { LOADS = 24, AHEAD = 7 };
    const struct program *p;
    char body[2048] = ".const .b32 s[64]; ld.param.u64 %d1, [p]; mov.u32 %r97, %tid.x;\n";
    for (int i = 0; i < LOADS; i++)
        sprintf(body + strlen(body), "ld.const.u32 %%r%d, [%%r97+%d]; add.u32 %%r98, %%r%d, %s;\n", i, 4 * i, i,
                i ? "%r98" : "1");
    strcat(body, "st.global.u32 [%d1], %r98; ret;");
    struct heddle *h = open_kernel("", body, 6 * 256 * 40, &p);
    uint32_t loads = 0, sums = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        const bool load = p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_CONST;
        loads += load;
        if (load && loads < AHEAD)
            EXPECT(p->control[pc].stall == 8, "load %u has a stall count of %u, not 8", loads, p->control[pc].stall);
        if (p->code[pc].kind != K_LANE || !loads)
            continue;
        const uint32_t want = AHEAD + sums < LOADS ? AHEAD + sums : LOADS;
        EXPECT(loads == want, "addition %u comes after %u loads, not %u", sums, loads, want);
        sums++;
    }
    ck_assert_uint_eq(sums, LOADS);
    heddle_close(h);
}
END_TEST

/* As above, with a guard for each load, whose comparison could come before all loads. The comparisons that do not fit
 * in seven predicates must not keep the loads from issuing before the first addition. */
START_TEST(comparisons_without_room_let_loads_pass) {
    enum { LOADS = 24, AHEAD = 7 };
    const struct program *p;
    char body[4096] = ".reg .pred %q<24>; .const .b32 s[64]; ld.param.u64 %d1, [p]; mov.u32 %r97, %tid.x;\n";
    for (int i = 0; i < LOADS; i++)
        sprintf(body + strlen(body),
                "setp.ne.u32 %%q%d, %%r97, %d; @%%q%d ld.const.u32 %%r%d, [%%r97+%d]; @%%q%d add.u32 %%r98, %%r98, "
                "%%r%d;\n",
                i, i, i, i, 4 * i, i, i);
    strcat(body, "st.global.u32 [%d1], %r98; ret;");
    struct heddle *h = open_kernel("", body, 6 * 256 * 60, &p);
    uint32_t loads = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        loads += p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_CONST;
        if (p->code[pc].kind == K_LANE && loads && p->code[pc].guard != NO_GUARD)
            break;
    }
    ck_assert_uint_eq(loads, AHEAD);
    heddle_close(h);
}
END_TEST

/* Twelve comparisons, each before the load that its predicate guards. A comparison may pass earlier loads only while
 * seven predicates are enough: when comparison number k issues, k - 7 loads have read their guards. */
START_TEST(seven_predicates_are_live) {
    enum { LOADS = 12, PREDICATES = 7 };
    const struct program *p;
    char text[256],
        body[4096] = ".reg .pred %q<12>; .shared .b32 s[64]; ld.param.u64 %d1, [p]; mov.u32 %r90, %tid.x;\n";
    for (int i = 0; i < LOADS; i++)
        sprintf(body + strlen(body),
                "setp.ne.u32 %%q%d, %%r90, %d; mov.u32 %%r%d, 0; @%%q%d ld.shared.u32 %%r%d, [s+%d];\n", i, i, i, i, i,
                8 * i);
    for (int i = 1; i < LOADS; i++)
        sprintf(body + strlen(body), "add.u32 %%r0, %%r0, %%r%d;\n", i);
    strcat(body, "st.global.u32 [%d1], %r0; ret;");
    struct heddle *h = open_kernel("", body, 6 * 256 * 40, &p);
    uint32_t loads = 0, comparisons = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        loads += p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_SHARED;
        program_print_inst(p, pc, text, sizeof text);
        if (!strstr(text, "setp"))
            continue;
        comparisons++;
        EXPECT(comparisons <= PREDICATES + loads, "comparison %u comes after %u loads", comparisons, loads);
    }
    ck_assert_uint_eq(comparisons, LOADS);
    heddle_close(h);
}
END_TEST

SUITE(frontend_passes_schedule) {
    TEST(seven_predicates_are_live);
    TEST(accesses_issue_four_cycles_apart);
    TEST(wide_loads_issue_by_their_gap);
    TEST(loads_from_shared_memory_are_not_put_off);
    TEST(constants_are_loaded_eight_cycles_apart);
    TEST(comparisons_without_room_let_loads_pass);
    TEST(loads_use_registers_that_occupancy_leaves);
    TEST(loads_wait_for_a_higher_occupancy);
    TEST(sums_of_a_loop_take_one_register);
}
