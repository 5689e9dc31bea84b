#ifndef TEST_FRONTEND_PASSES_SELECT_RUN_H
#define TEST_FRONTEND_PASSES_SELECT_RUN_H
/* Runs kernels of one thread, for tests of the pass `select`. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>

enum { WORDS = 16 };

/* Runs a kernel of one thread on `ampere` with late results. Stores the words that it wrote, and its program. */
static inline struct heddle *select_run(const char *body, const char *option, uint32_t out[WORDS],
                                        const struct program **p) {
    char text[4096];
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .pred %%p<9>; .reg .b16 %%h<9>; .reg .b32 %%r<9>; .reg .b64 %%d<9>;\nld.param.u64 %%d1, [p];\n%s "
             "ret;\n}\n",
             body);
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = 0x01234567u * (i + 1);
    return late_run(&(struct late_run){text, "ampere", "functional", option, 1, 1, .n = 5, .words = WORDS}, out, p);
}

#define TWO "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4];\n"
#define END "st.global.u32 [%d1+8], %r8;\n"
#endif
