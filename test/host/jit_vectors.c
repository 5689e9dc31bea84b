/* Tests native code for vector loads and stores: faults, and vectors that are loaded into their address register. */
#include "jit_rig.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 16 .b8 odd[40];\n"                                  \
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out) {\n"                                                       \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n"                                                         \
    ".shared .align 16 .b8 tile[2048];\n"                                                                              \
    "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x;\n"                                    \
    "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r14, tile; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd4, %rd2, %rd3;\n"

/* A vector access whose address is aligned to an element, but not to the vector, or whose last element is outside. */
START_TEST(faults_of_vectors_are_alike) {
    const int part = jit_level(_i);
    static char text[TEXT];
    static const char global[] = "and.b32 %r5, %r1, 1; mul.wide.u32 %rd5, %r5, 16; add.u64 %rd5, %rd1, %rd5;",
                      before[] = "and.b32 %r5, %r1, 1; mad.wide.u32 %rd5, %r5, 16, %rd1; add.u64 %rd5, %rd5, 8;",
                      odd[] = "and.b32 %r5, %r1, 1; mul.wide.u32 %rd5, %r5, 16; add.u64 %rd5, %rd10, %rd5;",
                      local[] = "and.b32 %r5, %r1, 1; mul.wide.u32 %rd5, %r5, 16; add.u64 %rd5, %rd13, %rd5;",
                      same[] = "and.b32 %r5, %r2, 1; mul.wide.u32 %rd5, %r5, 16; add.u64 %rd5, %rd13, %rd5;";
    static const struct {
        const char *base, *access;
        int step;
    } wrong[] = {
        {global, "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 4},
        {global, "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 8},
        {global, "ld.global.v2.u64 {%rd6, %rd7}, [%rd5];", 8},
        {global, "ld.global.v4.u8 {%r6, %r7, %r8, %r9}, [%rd5];", 2},
        {global, "st.global.v4.u32 [%rd5], {%r6, %r7, %r8, %r9};", 8},
        {global, "st.global.v2.u64 [%rd5], {%rd6, %rd7};", 8},
        {before, "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5+8];", 8},
        {odd, "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 16},
        {odd, "ld.global.v2.u64 {%rd6, %rd7}, [%rd5];", 16},
        {odd, "st.global.v4.u32 [%rd5], {%r6, %r7, %r8, %r9};", 16},
        {local, "ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 8},
        {local, "st.local.v2.u64 [%rd5], {%rd6, %rd7};", 8},
        {local, "ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 48},
        {same, "ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 8},
        {same, "st.local.v2.u64 [%rd5], {%rd6, %rd7};", 8},
        {same, "ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];", 48},
    };
    static const char *const who[] = {"setp.eq.u32 %p3, %r1, 3;", "setp.eq.u32 %p3, %r1, %r1;"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        for (int n = 0; n < 4; n++) {
            snprintf(text, sizeof text,
                     "%s%s.local .align 16 .b8 own[40]; mov.u64 %%rd13, own; mov.u64 %%rd10, odd; %s\n"
                     "LOOP: %s setp.eq.and.u32 %%p2, %%r2, %d, %%p3; mov.b64 %%rd7, 0; selp.b64 %%rd7, %d, 0, %%p2;\n"
                     "add.u64 %%rd5, %%rd5, %%rd7; %s\nst.global.u32 [%%rd4], %%r2;\n"
                     "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 16; @%%p1 bra LOOP;\nEND: ret;\n}\n",
                     HEAD, parts[part], who[n % 2], wrong[k].base, n < 2 ? 12 : 1, wrong[k].step, wrong[k].access);
            ck_assert_msg(both(text, 1, 64, 0) < 0, "not a fault of\n%s", text);
        }
}
END_TEST

/* A vector load into its address register, into a register twice, or into no register. After it, an access uses the
 * loaded address. The words at odd hold addresses; %rd10 and %r10 point to a vector of valid addresses. */
START_TEST(vectors_overwrite_addresses_alike) {
    const int part = jit_level(_i);
    static char text[TEXT];
    static const char *const loops[] = {
        "ld.global.v2.u64 {%rd5, %rd6}, [%rd10]; ld.global.u32 %r6, [%rd5]; ld.global.u32 %r7, [%rd6];",
        "mov.u64 %rd5, %rd10; ld.global.v2.u64 {%rd5, %rd6}, [%rd5]; ld.global.u32 %r6, [%rd5]; add.u32 %r7, %r6, 1;",
        "mov.u64 %rd5, %rd10; ld.global.v2.u64 {%rd6, %rd5}, [%rd5]; ld.global.u32 %r6, [%rd5]; ld.global.u32 %r7, "
        "[%rd6];",
        "mov.u64 %rd5, %rd10; ld.global.v2.u64 {%rd5, %rd5}, [%rd5]; ld.global.u32 %r6, [%rd5]; add.u32 %r7, %r6, 1;",
        "ld.global.v2.u64 {%rd5, %rd5}, [%rd10]; ld.global.v2.u32 {%r6, %r7}, [%rd5];",
        "ld.global.v2.u64 {_, %rd5}, [%rd10]; ld.global.v2.u32 {%r7, _}, [%rd5]; add.u32 %r6, %r6, %r7;",
        "mov.u64 %rd5, %rd10; ld.global.u32 %r6, [%rd5]; ld.global.v2.u64 {%rd6, %rd5}, [%rd10]; ld.global.u32 %r7, "
        "[%rd5];",
        "mad.wide.u32 %rd5, %r1, 8, %rd1; ld.global.u64 %rd7, [%rd5]; ld.global.v2.u64 {_, %rd5}, [%rd10];\n"
        "ld.global.u64 %rd8, [%rd5]; cvt.u32.u64 %r6, %rd7; cvt.u32.u64 %r7, %rd8;",
        "mov.u32 %r8, %r10; ld.shared.v4.u32 {%r8, %r6, %r7, %r9}, [%r8]; ld.shared.u32 %r9, [%r8]; add.u32 %r6, %r6, "
        "%r9;",
        "mov.u32 %r8, %r10; ld.shared.v4.u32 {%r6, %r7, %r8, %r8}, [%r8]; ld.shared.u32 %r9, [%r8]; add.u32 %r6, %r6, "
        "%r9;",
        "mov.u32 %r8, %r10; ld.shared.v4.u32 {%r8, %r6, %r8, %r7}, [%r8]; ld.shared.v2.u64 {%rd6, _}, [%r10];\n"
        "cvt.u32.u64 %r9, %rd6; add.u32 %r6, %r6, %r9;",
    };
    for (size_t k = 0; k < sizeof loops / sizeof loops[0]; k++) {
        snprintf(text, sizeof text,
                 "%s%smul.wide.u32 %%rd10, %%r1, 16; add.u64 %%rd10, %%rd10, %%rd2; add.u64 %%rd10, %%rd10, 16384;\n"
                 "mul.wide.u32 %%rd5, %%r1, 8; add.u64 %%rd5, %%rd5, %%rd1; add.u64 %%rd6, %%rd5, 800;\n"
                 "st.global.u64 [%%rd10], %%rd5; st.global.u64 [%%rd10+8], %%rd6;\n"
                 "mad.lo.u32 %%r10, %%r1, 16, %%r14; xor.b32 %%r8, %%r10, 16;\n"
                 "st.shared.v4.u32 [%%r10], {%%r8, %%r10, %%r10, %%r8}; bar.warp.sync -1;\n"
                 "LOOP: %s\nmad.lo.u32 %%r3, %%r3, 5, %%r6; xor.b32 %%r3, %%r3, %%r7; add.u32 %%r3, %%r3, %%r2;\n"
                 "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 16; @%%p1 bra LOOP;\nst.global.u32 [%%rd4], %%r3;\n"
                 "mov.b64 %%rd5, 0; st.global.v2.u64 [%%rd10], {%%rd5, %%rd5};\nEND: ret;\n}\n",
                 HEAD, part ? "and.b32 %r17, %r1, 6; setp.eq.u32 %p8, %r17, 2; @%p8 bra END;\n" : "", loops[k]);
        const double blocks = both(text, 1, 64, 0);
        ck_assert_msg(blocks >= jit_runs(), "%.0f blocks of\n%s", blocks, text);
    }
}
END_TEST

SUITE(host_jit_vectors) {
    TEST_LEVELS(faults_of_vectors_are_alike, N_PARTS);
    TEST_LEVELS(vectors_overwrite_addresses_alike, 2);
}
