/* Tests instruction forms of PTX 8 and 9: the results of their execution, and the error messages for invalid
 * spellings. */
#include "frontend_help.h"
#include "isa/interp/interp.h"
#include "isa/machine/memory.h"
#include "test/test.h"

enum { WORDS = 256 };

/* Runs the body in one warp. In thread t, register %out holds the address of word 4 * t of out[], so each thread has 16
 * bytes. */
static void run_body(const char *body, uint32_t out[WORDS]) {
    static char text[16384];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
             ".reg .pred %%p<9>; .reg .b8 %%c<9>; .reg .b16 %%h<12>; .reg .b32 %%r<20>; .reg .b64 %%d<12>; "
             ".reg .f32 %%f<12>; .reg .b64 %%base, %%out; .reg .u32 %%t;\n"
             "ld.param.u64 %%base, [p]; mov.u32 %%t, %%tid.x; mad.wide.u32 %%out, %%t, 16, %%base;\n%s\nret;\n}\n",
             body);
    struct lowered *low = lower_text(text, "k");
    char errors[1024];
    ck_assert_msg(low->program != NULL, "%s", lowered_errors(low, errors, sizeof errors));
    struct memory m;
    mem_init(&m, 0);
    uint64_t at = mem_alloc(&m, WORDS * 4, 256, NULL, false);
    unsigned char params[64] = {0};
    memcpy(params, &at, sizeof at);
    struct launch l = {.program = low->program, .memory = &m, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params};
    struct interp_cfg cfg = {.threads = 1};
    struct interp_stats stats = {0};
    struct fault fault = {0};
    bool done = interp_run(&l, &cfg, &stats, &fault);
    if (!done)
        fault_print(&fault, &l, stderr);
    ck_assert(done);
    ck_assert(mem_read(&m, at, out, WORDS * 4));
    mem_free_all(&m);
    lowered_free(low);
}

/* Kernel bodies, and the words that must be at the address %out of thread 0 after the run. */
static const struct {
    const char *body;
    uint32_t word[4];
} bodies[] = {
    /* the pairs of results are (1 + 2, 10 + 20) and (1 * 2 + 0.5, 10 * 20 + 0.25) */
    {"mov.b64 %d1, {0x3f800000, 0x41200000}; mov.b64 %d2, {0x40000000, 0x41a00000}; mov.b64 %d3, {0x3f000000, "
     "0x3e800000};"
     "add.f32x2 %d4, %d1, %d2; fma.rn.ftz.f32x2 %d5, %d1, %d2, %d3; st.global.v2.b64 [%out], {%d4, %d5};",
     {0x40400000, 0x41f00000, 0x40200000, 0x43484000}},
    /* In e2m1, 6 is encoded as 7, -1 as 0xa, and 0.5 as 1. A byte holds two values, the first in the upper half. In
     * f16, 6 is 0x4600 and -1 is 0xbc00. */
    {"cvt.rn.satfinite.e2m1x2.f32 %c1, 0f40C00000, 0fBF800000; cvt.rn.satfinite.e2m1x2.f32 %c2, 0f3F000000, 0f00000000;"
     "mov.b32 %r1, {%c1, %c2, %c1, %c2}; cvt.rn.f16x2.e2m1x2 %r2, %c1; cvt.u32.u8 %r3, %c1;"
     "st.global.v4.b32 [%out], {%r1, %r2, %r3, %r3};",
     {0x107a107a, 0x4600bc00, 0x7a, 0x7a}},
    /* all values are exact, so the random bits have no effect; 1, 2, 3 and 4 are encoded as 2, 4, 5 and 6 in e2m1; the
     * second conversion encodes the same values in e4m3 */
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000; mov.f32 %f4, 0f40800000;"
     "mov.b32 %r9, 0xffffffff; cvt.rs.satfinite.e2m1x4.f32 %h1, {%f1, %f2, %f3, %f4}, %r9;"
     "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r9; cvt.u32.u16 %r2, %h1;"
     "st.global.v4.b32 [%out], {%r1, %r2, %r1, %r2};",
     {0x38404448, 0x2456, 0x38404448, 0x2456}},
    /* the same instruction with a false guard: nothing is written */
    {"mov.f32 %f1, 0f3F800000; mov.b32 %r1, 5; mov.b32 %r9, 0; setp.eq.u32 %p1, %t, 99;"
     "@%p1 cvt.rs.satfinite.e3m2x4.f32 %r1, {%f1, %f1, %f1, %f1}, %r9; st.global.v4.b32 [%out], {%r1, %r1, %r1, %r1};",
     {5, 5, 5, 5}},
    /* 1 (0x3c00) plus half an f16 ulp is rounded up if all random bits are set, and down if none is set; the upper half
     * of the random bits belongs to operand a */
    {"mov.b32 %r9, 0xffff0000; cvt.rs.f16x2.f32 %r1, 0f3F801000, 0f3F801000, %r9; mov.b32 %r8, 0x1fff;"
     "cvt.rs.f16x2.f32 %r2, 0f3F801000, 0f3F801000, %r8; st.global.v4.b32 [%out], {%r1, %r2, %r1, %r2};",
     {0x3c013c00, 0x3c003c01, 0x3c013c00, 0x3c003c01}},
    /* the scale factors 2^3 and 2^-1 are encoded as 130 and 126; converted back to bf16, they are 0x4100 and 0x3f00 */
    {"cvt.rp.satfinite.ue8m0x2.f32 %h1, 0f40E00000, 0f3F000000; cvt.rn.bf16x2.ue8m0x2 %r1, %h1; cvt.u32.u16 %r2, %h1;"
     "st.global.v4.b32 [%out], {%r1, %r2, %r1, %r2};",
     {0x41003f00, 0x827e, 0x41003f00, 0x827e}},
    /* thread t has the value t - 16.0, so the minimum is -16, and the largest magnitude is 16 */
    {"cvt.rn.f32.u32 %f1, %t; sub.f32 %f1, %f1, 0f41800000; redux.sync.min.f32 %f2, %f1, 0xffffffff;"
     "redux.sync.max.abs.f32 %f3, %f1, 0xffffffff; redux.sync.max.NaN.f32 %f4, %f1, 0xffffffff;"
     "st.global.v4.f32 [%out], {%f2, %f3, %f4, %f1};",
     {0xc1800000, 0x41800000, 0x41700000, 0xc1800000}},
    /* 3 < 5 is true, so the result is 1.0 in the format of the destination */
    {"mov.u32 %r1, 3; mov.u32 %r2, 5; set.lt.f16.u32 %h1, %r1, %r2; set.hi.bf16.u32 %h2, %r1, %r2;"
     "set.lt.bf16.f32 %h3, 0f3F800000, 0f40000000; set.ne.f16.f32 %h4, 0f3F800000, 0f40000000;"
     "mov.b32 %r3, {%h1, %h2}; mov.b32 %r4, {%h3, %h4}; st.global.v4.b32 [%out], {%r3, %r4, %r3, %r4};",
     {0x00003c00, 0x3c003f80, 0x00003c00, 0x3c003f80}},
    /* 32 threads add (1, 2, 3, 4) to zeros at the start of out[] */
    {"red.global.v4.f32.add [%base], {0f3F800000, 0f40000000, 0f40400000, 0f40800000};",
     {0x42000000, 0x42800000, 0x42c00000, 0x43000000}},
    /* asynchronous accesses of global memory are complete at once: out[0] = 5 + 32 * 3 */
    {"mov.u32 %r1, 5; st.async.release.gpu.global.u32 [%base], %r1; membar.proxy.alias; bar.warp.sync -1; mov.u32 %r2, "
     "3; red.async.release.gpu.global.add.u32 [%base], %r2;",
     {101, 0, 0, 0}},
    /* max(0, 2) in eight f16 elements */
    {"mov.b16 %h1, 0x4000; red.global.v8.f16.max.noftz [%base], {%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};",
     {0x40004000, 0x40004000, 0x40004000, 0x40004000}},
    /* the lower half computes 2 * 3 + 1; in the upper half, operand a is the NaN for elements out of bounds, so the
     * result is 0 */
    {"mov.b32 %r1, 0x7ff74000; mov.b32 %r2, 0x42004200; mov.b32 %r3, 0x3c003c00; fma.rn.oob.f16x2 %r4, %r1, %r2, %r3;"
     "st.global.v4.b32 [%out], {%r4, %r4, %r4, %r4};",
     {0x00004700, 0x00004700, 0x00004700, 0x00004700}},
};
START_TEST(results) {
    uint32_t out[WORDS];
    run_body(bodies[_i].body, out);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(out[i] == bodies[_i].word[i], "word %d of %s: %x", i, bodies[_i].body, out[i]);
}
END_TEST

static const struct {
    const char *instruction, *message;
} refused[] = {
    {"ld.async.global.u32 %r1, [%base]", "'ld' does not take '.async'"},
    {"add.sat.f32x2 %d1, %d2, %d3", "'.sat' does not go with 'add.f32x2'"},
    {"fma.f32x2 %d1, %d2, %d3, %d4", "'fma.f32x2' is incomplete"},
    {"mad.rn.f32x2 %d1, %d2, %d3, %d4", "'mad.rn' does not exist for '.f32x2'"},
    {"add.f32x2 %r1, %r2, %r3", "'add.f32x2' expects .f32x2, but '%r2' is a .b32 register"},
    {"fma.rn.oob.ftz.f16 %h1, %h2, %h3, %h4", "'.oob' does not go with 'fma.rn.ftz.f16'"},
    {"cvt.rs.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2", "'cvt.rs.e4m3x4.f32' is incomplete"},
    {"cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3}, %r2", "takes a vector of 4 elements, found 3"},
    {"cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}", "'cvt.rs.satfinite.e4m3x4.f32' takes 3 operands"},
    {"cvt.rs.satfinite.e2m1x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2",
     "'cvt.rs.satfinite.e2m1x4.f32' expects .e2m1x4, but '%r1' is a .b32 register"},
    {"cvt.rn.e2m1x2.f32 %c1, %f1, %f2", "'cvt.rn.e2m1x2.f32' is incomplete"},
    {"cvt.rn.satfinite.e2m1x2.f32 %h1, %f1, %f2",
     "'cvt.rn.satfinite.e2m1x2.f32' expects .e2m1x2, but '%h1' is a .b16 register"},
    {"cvt.rn.satfinite.ue8m0x2.f32 %h1, %f1, %f2", "'.rn' does not go with 'cvt.satfinite.ue8m0x2.f32'"},
    {"cvt.rs.f16.f32 %h1, %f1, %r2", "'.rs' does not go with 'cvt.f16.f32'"},
    {"cvt.sat.u32.u8 %r1, %h1", "'.sat' does not go with 'cvt.u32.u8'"},
    {"cvt.rn.sat.bf16.f32 %h1, %f1", "'.sat' does not go with 'cvt.rn.bf16.f32'"},
    {"set.lt.f16.bf16 %h1, %h2, %h3", "'set.lt.bf16' does not exist for '.f16'"},
    {"set.lo.f16.s32 %h1, %r2, %r3", "'.lo' does not go with 'set.f16.s32'"},
    {"set.ftz.lt.bf16.f32 %h1, %f2, %f3", "'.ftz' does not go with 'set.lt.bf16.f32'"},
    {"redux.sync.add.f32 %f1, %f2, -1", "'.add' does not go with 'redux.sync.f32'"},
    {"redux.sync.min.abs.s32 %r1, %r2, -1", "'.abs' does not go with 'redux.sync.min.s32'"},
    {"atom.global.add.f16 %h1, [%base], %h2", "'atom.global.add.f16' is incomplete"},
    {"atom.global.min.noftz.f16 %h1, [%base], %h2", "'.min' does not go with 'atom.global.noftz.f16'"},
    {"red.global.v2.u32.add [%base], {%r1, %r2}", "'.v2' does not go with 'red.global.u32.add'"},
    {"red.global.v8.f32.add [%base], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}",
     "'.v8' does not go with 'red.global.f32.add'"},
    {"red.global.add.noftz.f32 [%base], %f1", "'.noftz' does not go with 'red.global.add.f32'"},
    {"red.shared.v2.f32.add [%base], {%f1, %f2}", "vector atomics are only for global memory"},
    {"max.xorsign.abs.f32 %f1, %f2, %f3, %f4", "'max.xorsign.abs.f32' takes 3 operands"},
};
START_TEST(rejected_spellings) {
    static char text[4096];
    char errors[2048];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
             ".reg .pred %%p<9>; .reg .b8 %%c<9>; .reg .b16 %%h<12>; .reg .b32 %%r<20>; .reg .b64 %%d<12>; "
             ".reg .f32 %%f<12>; .reg .b64 %%base;\nld.param.u64 %%base, [p];\n%s;\nret;\n}\n",
             refused[_i].instruction);
    struct lowered *low = lower_text(text, "k");
    lowered_errors(low, errors, sizeof errors);
    ck_assert_msg(!low->program && strstr(errors, refused[_i].message), "%s: '%s'", refused[_i].instruction, errors);
    lowered_free(low);
}
END_TEST

SUITE(frontend_forms) {
    TEST_LOOP(results, 0, sizeof bodies / sizeof bodies[0]);
    TEST_LOOP(rejected_spellings, 0, sizeof refused / sizeof refused[0]);
}
