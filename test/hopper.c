/* Tests the benchmarks of the sets "tensor" and "hopper" in every model, what they count, and the meeting of warps at
 * wgmma.wait_group. */
#include "benchmarks/bench.h"
#include "host/cli/job.h"
#include "test/every_model.h"
#include "test/test.h"

static void bench_passes(const char *name, const char *model, struct job *j) {
    *j = (struct job){.bench = bench_find(name), .options = {.model = model, .config = "h100"}};
    job_run(j, 0, NULL);
    ck_assert_msg(j->status == HEDDLE_OK, "%s in %s: %.1000s", name, model, j->message ? j->message : "");
}

/* Each model runs one of the five programs; with HEDDLE_EVERY, all. */
START_TEST(programs_in_every_model) {
    static const char *const names[] = {"flash3", "gemm_f16", "gemm_e4m3", "flash2", "gemm_mx"};
    for (int i = 0; i < 5; i++) {
        struct job j;
        if (!test_every() && i != _i % 5)
            continue;
        bench_passes(names[i], _i ? timed_models()->name[_i - 1] : "functional", &j);
        job_free(&j);
    }
}
END_TEST

/* gemm_f16 computes 128 x 256 results with 2 CTAs. Each CTA copies 256 / 64 = 4 pairs of tiles of 128 rows of 128
 * bytes. Its 8 warps execute 4 wgmma m64n128k16 for each pair. The part of one warp, 16 x 128 x 16 products at 512 a
 * cycle, takes 64 cycles. */
START_TEST(counts_by_hand) {
    struct job j;
    bench_passes("gemm_f16", "spe", &j);
    ck_assert_double_eq(job_stat(&j, "tma.copies"), 2 * 4 * 2);
    ck_assert_double_eq(job_stat(&j, "tma.bytes"), 2 * 4 * 2 * 128 * 128);
    ck_assert_double_eq(job_stat(&j, "tensor.instructions"), 2 * 8 * 4 * 4);
    ck_assert_double_eq(job_stat(&j, "tensor.busy_cycles"), 2 * 8 * 4 * 4 * 64);
    job_free(&j);
}
END_TEST

/* All factors are 1.0 in f16, so each result is 16. Warp 3 comes late. When warp 0 has waited for the product, its
 * first thread overwrites the factors: the product of all four warps must have read them. */
START_TEST(warps_of_a_group_meet) {
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .f32 %f<4>; .shared .align 128 .b8 s[2304];\n"
        "mov.u32 %r0,%tid.x; mov.u32 %r1,s; mad.lo.u32 %r2,%r0,4,%r1;\n"
        "mov.u32 %r3,0x3c003c00; mov.u32 %r4,0;\n"
        "FILL: st.shared.u32 [%r2],%r3; add.u32 %r2,%r2,512; add.u32 %r4,%r4,512; setp.lt.u32 %p,%r4,2048;\n"
        "@%p bra FILL; setp.lt.u32 %p,%r0,64; @%p st.shared.u32 [%r2],%r3;\n"
        "fence.proxy.async.shared::cta; bar.sync 0;\n"
        /* descriptors without a swizzle: 128 bytes from one block of 8 x 8 to the next along k, 256 along rows */
        "shr.u32 %r5,%r1,4; cvt.u64.u32 %d1,%r5; or.b64 %d1,%d1,0x1000080000; add.u64 %d2,%d1,128;\n"
        "mov.f32 %f0,0f00000000; mov.f32 %f1,%f0; mov.f32 %f2,%f0; mov.f32 %f3,%f0;\n"
        "mov.u32 %r4,0; setp.lt.u32 %p,%r0,96; @%p bra READY;\n"
        "LATE: add.u32 %r4,%r4,1; setp.lt.u32 %p,%r4,500; @%p bra LATE;\nREADY:\n"
        "wgmma.fence.sync.aligned; setp.ne.u32 %p,%r0,%r0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%d1,%d2,%p,1,1,0,0;\n"
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
        "setp.ne.u32 %p,%r0,0; @%p bra DONE; mov.u32 %r4,0;\n"
        "CLEAR: add.u32 %r6,%r1,%r4; mov.u32 %r3,0; st.shared.u32 [%r6],%r3; add.u32 %r4,%r4,4;\n"
        "setp.lt.u32 %p,%r4,2304; @%p bra CLEAR;\nDONE:\n"
        "ld.param.u64 %d3,[out]; mul.wide.u32 %d4,%r0,4; add.u64 %d3,%d3,%d4; st.global.f32 [%d3],%f0; ret;\n}\n";
    const char *model = _i ? timed_models()->name[_i - 1] : "functional";
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .config = "h100", .cycle_limit = 1000000},
                                   err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t out = heddle_alloc(h, 512);
    const struct heddle_arg args[] = {{&out, sizeof out}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){128, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s: %s", model, heddle_error(h));
    float got[128];
    heddle_read(h, out, got, sizeof got);
    for (int i = 0; i < 128; i++)
        ck_assert_msg(got[i] == 16, "%s: thread %d has %g", model, i, (double)got[i]);
    heddle_close(h);
}
END_TEST

SUITE(hopper) {
    TEST_LOOP(programs_in_every_model, 0, timed_models()->n + 1);
    TEST(counts_by_hand);
    TEST_LOOP(warps_of_a_group_meet, 0, timed_models()->n + 1);
}
