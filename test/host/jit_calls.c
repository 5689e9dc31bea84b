/* Tests native code for calls of functions: memory after a run must equal memory after a run in the interpreter. */
#include "jit_rig.h"

/* Functions with arguments of all sizes, local memory, early returns and nested calls. The %s are replaced by the code
 * before the loop, the selection of lanes, the selection of the callee, and the call. */
static const char call_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".func (.param .b32 r) leaf(.param .b32 a, .param .b64 b) {\n"
    ".reg .b32 %%x<4>; .reg .b64 %%y<4>; .reg .pred %%p;\n"
    "ld.param.u32 %%x1, [a]; ld.param.u64 %%y1, [b]; cvt.u32.u64 %%x2, %%y1; shr.u64 %%y2, %%y1, 32;\n"
    "cvt.u32.u64 %%x3, %%y2; mad.lo.u32 %%x1, %%x1, %%x2, %%x3; setp.gt.u32 %%p, %%x1, 0x80000000;\n"
    "@%%p bra HIGH; add.u32 %%x1, %%x1, 7; st.param.u32 [r], %%x1; ret;\n"
    "HIGH: xor.b32 %%x1, %%x1, %%x2; st.param.u32 [r], %%x1; ret;\n}\n"
    ".func (.param .b32 r) other(.param .b32 a, .param .b64 b) {\n"
    ".reg .b32 %%x<4>; .reg .b64 %%y<4>; .local .align 8 .b8 kept[48];\n"
    "ld.param.u32 %%x1, [a]; ld.param.u64 %%y1, [b]; st.local.u64 [kept+8], %%y1; st.local.u32 [kept+20], %%x1;\n"
    "st.local.u8 [kept+9], %%x1; st.local.v2.u32 [kept+24], {%%x1, %%x1}; ld.local.u16 %%x2, [kept+22];\n"
    "and.b32 %%x3, %%x1, 12; mov.u64 %%y2, kept; cvt.u64.u32 %%y3, %%x3; add.u64 %%y2, %%y2, %%y3;\n"
    "ld.local.u32 %%x3, [%%y2+8]; ld.local.u64 %%y3, [kept+8]; cvt.u32.u64 %%x1, %%y3; add.u32 %%x1, %%x1, %%x2;\n"
    "add.u32 %%x1, %%x1, %%x3; st.param.u32 [r], %%x1; ret;\n}\n"
    ".func (.param .align 4 .b8 r[12]) middle(.param .align 4 .b8 s[12], .param .b8 c, .param .b16 h) {\n"
    ".reg .b32 %%x<9>; .reg .b64 %%y<4>; .reg .b16 %%h<3>;\n"
    "ld.param.u32 %%x1, [s]; ld.param.u32 %%x2, [s+4]; ld.param.u32 %%x3, [s+8]; ld.param.u8 %%x4, [c];\n"
    "ld.param.u16 %%h1, [h]; cvt.u32.u16 %%x5, %%h1; add.u32 %%x4, %%x4, %%x5; mul.wide.u32 %%y1, %%x2, %%x3;\n"
    "{ .param .b32 a; .param .b64 b; .param .b32 q; st.param.u32 [a], %%x4; st.param.u64 [b], %%y1;\n"
    "call (q), leaf, (a, b); ld.param.u32 %%x6, [q]; }\n"
    "st.param.u32 [r], %%x6; st.param.u32 [r+4], %%x1; st.param.u32 [r+8], %%x2; ret;\n}\n"
    ".global .u64 table[2] = {leaf, other};\n.global .b8 word[4] = {120, 10, 0, 0};\n"
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out) {\n"
    ".reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%rd<20>; .reg .b16 %%h<4>;\n"
    "ld.param.u64 %%rd2, [k_out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r15, %%ctaid.x; mov.u32 %%r2, 0; mov.u32 %%r3, 1;\n"
    "mad.lo.u32 %%r16, %%r15, 256, %%r1; mul.wide.u32 %%rd3, %%r16, 8; add.u64 %%rd4, %%rd2, %%rd3;\n"
    "setp.eq.u32 %%p4, %%r15, 77;\n%s\n%s"
    "LOOP: mul.wide.u32 %%rd5, %%r3, 48271; add.u64 %%rd5, %%rd5, %%rd3;\n"
    "%s\n{ .param .b32 a; .param .b64 b; .param .b32 q; st.param.u32 [a], %%r3; st.param.u64 [b], %%rd5;\n"
    "%s; ld.param.u32 %%r4, [q]; }\n"
    "{ .param .align 4 .b8 s[12]; .param .b8 c; .param .b16 h; .param .align 4 .b8 q[12]; cvt.u16.u32 %%h1, %%r2;\n"
    "st.param.u32 [s], %%r4; st.param.u32 [s+4], %%r1; st.param.u32 [s+8], %%r3; st.param.u8 [c], %%r4;\n"
    "st.param.u16 [h], %%h1; call (q), middle, (s, c, h); ld.param.u32 %%r5, [q]; ld.param.u32 %%r6, [q+4];\n"
    "ld.param.u32 %%r7, [q+8]; }\n"
    "add.u32 %%r3, %%r5, %%r6; xor.b32 %%r3, %%r3, %%r7; st.global.u32 [%%rd4], %%r3;\n"
    "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 24; @%%p1 bra LOOP;\nEND: ret;\n}\n";

/* Four kinds of calls: a direct call, an indirect call of a fixed function, an indirect call whose function depends on
 * the iteration, and an indirect call whose function depends on the lane. */
static const char *const callees[][2] = {
    {"", "call (q), other, (a, b)"},
    {"ld.global.u64 %rd6, [table];", "call (q), %rd6, (a, b), proto"},
    {"and.b32 %r8, %r2, 1;", "call (q), %rd6, (a, b), proto"},
    {"and.b32 %r8, %r3, 1;", "call (q), %rd6, (a, b), proto"},
};
enum { CALLEES = sizeof callees / sizeof callees[0] };

static void call_kernel(char *text, size_t size, int callee, int part, bool prints) {
    static const char choose[] = "mul.wide.u32 %rd7, %r8, 8; mov.u64 %rd8, table; add.u64 %rd8, %rd8, %rd7; "
                                 "ld.global.u64 %rd6, [%rd8];";
    char chosen[512];
    snprintf(chosen, sizeof chosen, "%s %s", callees[callee][0], callee > 1 ? choose : "");
    snprintf(text, size, call_text,
             prints ? "@!%p4 bra AFTER; { .param .b64 f; .param .b64 a; .param .b32 q; mov.u64 %rd9, word;\n"
                      "cvta.global.u64 %rd9, %rd9; st.param.b64 [f], %rd9; st.param.b64 [a], 0;\n"
                      "call (q), vprintf, (f, a); }\nAFTER:"
                    : "",
             parts[part], chosen, callees[callee][1]);
    if (callee) { /* the prototype must precede its first use */
        char *loop = strstr(text, "LOOP:");
        static const char proto[] = "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n";
        memmove(loop + sizeof proto - 1, loop, strlen(loop) + 1);
        memcpy(loop, proto, sizeof proto - 1);
    }
}

/* Calls give equal results with and without native code. This also holds if the program calls printf(), for which the
 * arguments of a lane are stored contiguously (call.h). */
START_TEST(calls_end_alike) {
    enum { CALL_TEXT = 8192 };
    static const char *const set[] = {"gpu.jit=off", NULL};
    static struct outcome words, lanes;
    static char text[CALL_TEXT];
    jit_level(_i);
    for (int callee = 0; callee < CALLEES; callee++)
        for (int part = 0; part < N_PARTS; part++) {
            call_kernel(text, sizeof text, callee, part, true);
            EXPECT(run_with(text, 2, 96, set, 0, 1, &lanes) && lanes.status == HEDDLE_OK, "%s\n%s", lanes.error, text);
            EXPECT(both(text, 2, 96, 0) >= 0, "a fault\n%s", text);
            call_kernel(text, sizeof text, callee, part, false);
            EXPECT(run_with(text, 2, 96, set, 0, 1, &words) && words.status == HEDDLE_OK, "%s\n%s", words.error, text);
            EXPECT(both(text, 2, 96, 0) > 0 || !jit_runs(), "nothing was compiled\n%s", text);
            EXPECT(memcmp(words.out, lanes.out, BYTES) == 0, "other results without printf()\n%s", text);
            both(text, 2, 96, 700);
        }
}
END_TEST

SUITE(host_jit_calls) { TEST_LEVELS(calls_end_alike, 1); }
