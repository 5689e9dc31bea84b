/* Tests that an instruction of a whole warp or warp group is a fault, at its line, if one lane has branched away. Under
 * models that let the other lane wait, the report is a deadlock at this line. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static const struct {
    const char *target, *statement;
} cases[] = {
    {"sm_90a", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},"
               "{%f0,%f1,%f2,%f3}"},
    {"sm_90a", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},"
               "{%r4,%r5,%r6,%r7},{%f0,%f1,%f2,%f3},%r8,0"},
    {"sm_90a", "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[s]"},
    {"sm_90a", "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [s],{%r0,%r1,%r2,%r3}"},
    {"sm_90a", "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},"
               "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3}"},
    {"sm_90a", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0},[s]"},
    {"sm_90a", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s],{%r0}"},
    {"sm_90a", "movmatrix.sync.aligned.m8n8.trans.b16 %r0,%r1"},
    {"sm_90a", "setmaxnreg.inc.sync.aligned.u32 64"},
    {"sm_90a", "setmaxnreg.dec.sync.aligned.u32 24"},
    {"sm_90a", "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0],[s],128"},
    {"sm_90a", "wgmma.fence.sync.aligned"},
    {"sm_90a", "wgmma.commit_group.sync.aligned"},
    {"sm_90a", "wgmma.wait_group.sync.aligned 0"},
    {"sm_90a", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%d1,%d1,1,1,1,0,0"},
    {"sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s],32"},
    {"sm_100a", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0,32"},
    {"sm_100a", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"},
    {"sm_100a", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0},[%r1]"},
    {"sm_100a", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1],{%r0}"},
    {"sm_100a", "tcgen05.wait::ld.sync.aligned"},
    {"sm_100a", "tcgen05.wait::st.sync.aligned"},
};
enum { N_CASES = sizeof cases / sizeof cases[0], LINE = 8 };

static enum heddle_status run(const char *model, int i, const char *before, char error[2048]) {
    char text[2048];
    snprintf(
        text, sizeof text,
        ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .pred %%p; .reg .b32 %%t,%%r<9>; .reg .b64 %%d<3>; .reg .f32 %%f<4>; .shared .align 128 .b8 s[2048];\n"
        "ld.param.u64 %%d0,[p]; mov.u64 %%d1,0; mov.u32 %%t,%%tid.x; setp.eq.u32 %%p,%%t,5;\n%s\n%s;\nEND: ret;\n}\n",
        cases[i].target, before, cases[i].statement);
    const struct heddle_options options = {.model = model};
    struct heddle *h = heddle_open(&options, error, 2048);
    ck_assert_msg(h != NULL, "%s", error);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const uint64_t memory = heddle_alloc(h, 4096);
    const struct heddle_arg arg = {&memory, sizeof memory};
    const enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){128, 1, 1}, 0, &arg, 1);
    snprintf(error, 2048, "%s", heddle_error(h));
    heddle_close(h);
    return s;
}

static const char *const models[] = {"functional", "spe", "its"};
START_TEST(a_lane_is_missing) {
    char error[2048], line[16];
    snprintf(line, sizeof line, "t.ptx:%d", LINE);
    for (int i = 0; i < N_CASES; i++) {
        test_case("%s", cases[i].statement);
        const enum heddle_status s = run(models[_i], i, "@%p bra END;", error);
        EXPECT(s == HEDDLE_FAULT || s == HEDDLE_DEADLOCK, "%s in %s: %d %s", cases[i].statement, models[_i], s, error);
        EXPECT(strstr(error, line) != NULL, "%s in %s: %s", cases[i].statement, models[_i], error);
    }
}
END_TEST

/* A guard that is false in one lane causes the same fault. */
START_TEST(a_guard_leaves_a_lane_out) {
    char error[2048];
    for (int i = 0; i < N_CASES; i++) {
        const enum heddle_status s = run(models[_i], i, "@!%p", error);
        EXPECT((s == HEDDLE_FAULT || s == HEDDLE_DEADLOCK) && strstr(error, "t.ptx:7"), "%s in %s: %d %s",
               cases[i].statement, models[_i], s, error);
    }
}
END_TEST

SUITE(isa_exec_aligned) {
    TEST_LOOP(a_lane_is_missing, 0, 3);
    TEST_LOOP(a_guard_leaves_a_lane_out, 0, 3);
}
