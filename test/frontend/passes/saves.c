/* Tests the pass `saves`: how many registers functions save, and that a kernel stores the same. */
#include "frontend/passes/pass.h"
#include "isa/decode.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>

enum { WORDS = 32, TEXT = 16384 };

/* A kernel that calls a function through a pointer. The function loads `values` words, and stores them in another order
 * after an instruction on the argument q. */
static void write_kernel(char *text, int values, const char *instruction) {
    char *t = text;
    t += sprintf(t, ".version 7.0 .target sm_70 .address_size 64\n"
                    ".func (.param .b32 r) f(.param .b64 p, .param .b32 q) { .reg .b64 %%d<2>; .reg .f32 %%f<70>;\n"
                    "ld.param.b64 %%d1, [p]; ld.param.f32 %%f60, [q];\n");
    for (int i = 0; i < values; i++)
        t += sprintf(t, "ld.f32 %%f%d, [%%d1+%d];\n", i, 4 * i);
    t += sprintf(t, "st.f32 [%%d1+112], %%f60; %s st.f32 [%%d1+116], %%f61;\n", instruction);
    for (int i = 0; i < values; i++)
        t += sprintf(t, "st.f32 [%%d1+%d], %%f%d;\n", 4 * i, (7 * i + 1) % values);
    sprintf(t, "st.param.f32 [r], %%f0; ret; }\n"
               ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %%d<9>; .reg .b32 %%r<9>;\n"
               "ld.param.u64 %%d1, [p]; ld.param.u32 %%r1, [n]; mov.u64 %%d2, f;\n"
               "{ .param .b64 p; .param .b32 q; .param .b32 r; st.param.b64 [p], %%d1; st.param.b32 [q], %%r1;\n"
               "P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _); call (r), %%d2, (p, q), P;\n"
               "ld.param.b32 %%r2, [r]; } st.global.u32 [%%d1+120], %%r2; ret; }\n");
}

#define SUM      "add.f32 %f61, %f60, %f60;"
#define DIVISION "div.rn.f32 %f61, %f60, %f1;"

/* ptxas 13 saves as many for sm_86. The values, an address (two words) and the return address (two words) live across
 * the division: values + 4 words. Without the division, 9 values, the address and a sum are 12 words. The function may
 * use 8 registers without saving them, so it saves 4. */
static const struct {
    int values;
    const char *instruction;
    uint32_t saves;
} rows[] = {{2, SUM, 1},      {6, SUM, 1},       {9, SUM, 4},        {12, SUM, 7},
            {2, DIVISION, 6}, {6, DIVISION, 10}, {12, DIVISION, 16}, {24, DIVISION, 28}};

START_TEST(functions_save_registers) {
    uint32_t count[2][2] = {{0}}, out[2][WORDS];
    char *text = malloc(TEXT);
    ck_assert_ptr_nonnull(text);
    write_kernel(text, rows[_i].values, rows[_i].instruction);
    for (int on = 0; on < 2; on++) {
        const struct program *p;
        for (int i = 0; i < WORDS; i++)
            out[on][i] = 0x3f800000u + 0x10000u * (uint32_t)i;
        struct heddle *h =
            late_run(&(struct late_run){text, "ampere", "functional", on ? "core.saves=on" : "core.saves=off", 1, 1,
                                        .n = 0x40000000, .words = WORDS},
                     out[on], &p);
        for (uint32_t pc = 0; pc < p->n; pc++)
            if (p->code[pc].space == SPACE_LOCAL)
                count[on][p->code[pc].kind == K_STORE]++;
        heddle_close(h);
    }
    free(text);
    ck_assert_mem_eq(out[0], out[1], sizeof out[0]);
    for (int store = 0; store < 2; store++)
        ck_assert_uint_eq(count[1][store] - count[0][store], rows[_i].saves);
}
END_TEST

SUITE(frontend_passes_saves) { TEST_LOOP(functions_save_registers, 0, (int)(sizeof rows / sizeof rows[0])); }
