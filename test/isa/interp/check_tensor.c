/* Tests reports of `--check` about asynchronous matrix instructions, tensor memory and proxies
 * (isa/interp/check_tensor.c). The block has 128 threads. Thread t has stored 2048 bytes of ones in s. */
#include "benchmarks/bench.h"
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

#define BAR   "bar.sync 0;\n"
#define ASYNC "fence.proxy.async.shared::cta; "

static const char *error_of(const char *target, const char *body, enum heddle_status *status) {
    static char text[8192], error[4096];
    char err[512] = "";
    snprintf(
        text, sizeof text,
        ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %%r<32>, %%t; .reg .b64 %%d<8>; .reg .f32 %%f<12>; .reg .pred %%p, %%q, %%one;\n"
        ".shared .align 1024 .b8 s[8192]; .shared .align 8 .b8 b[16];\n"
        "ld.param.u64 %%d5,[p]; mov.u32 %%t,%%tid.x; setp.eq.u32 %%one,%%t,0; shl.b32 %%r1,%%t,4; mov.u32 %%r0,s;\n"
        "add.u32 %%r1,%%r1,%%r0; mov.u32 %%r2,0x3c003c00; shr.u32 %%r3,%%r0,4; cvt.u64.u32 %%d1,%%r3;\n"
        "or.b64 %%d1,%%d1,0x1000080000; mov.u64 %%d2,%%d1; mov.f32 %%f0,0f00000000; mov.f32 %%f1,%%f0; "
        "mov.f32 %%f2,%%f0; mov.f32 %%f3,%%f0; mov.f32 %%f4,%%f0; mov.f32 %%f5,%%f0; mov.f32 %%f6,%%f0; "
        "mov.f32 %%f7,%%f0; mov.u32 %%r20,%%r2; mov.u32 %%r21,%%r2; mov.u32 %%r22,%%r2; mov.u32 %%r23,%%r2;\n"
        "mov.u32 %%r10,0x8040010; @%%one mbarrier.init.shared.b64 [b],1;\n"
        "st.shared.v4.u32 [%%r1],{%%r2,%%r2,%%r2,%%r2}; st.shared.v4.u32 [%%r1+2048],{%%r2,%%r2,%%r2,%%r2};\n%s\n"
        "mov.b32 %%r4,%%f0; mov.b32 %%r5,%%f4; add.u32 %%r4,%%r4,%%r5; st.global.u32 [%%d5],%%r4; ret;\n}\n",
        target, body);
    struct heddle *h = heddle_open(&(struct heddle_options){.check = true}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s: %s", body, heddle_error(h));
    uint64_t buffer = heddle_alloc(h, 8192);
    const struct heddle_arg arg = {&buffer, 8};
    *status = heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){128, 1, 1}, 0, &arg, 1);
    snprintf(error, sizeof error, "%s", heddle_error(h));
    heddle_close(h);
    return error;
}

/* All threads store the same value to out[0], for which the checker prints a note. */
static void expect(const char *target, const char *body, const char *found) {
    enum heddle_status s;
    const char *error = error_of(target, body, &s);
    ck_assert_msg(s == (found ? HEDDLE_FAULT : HEDDLE_OK), "%s: %d %s", body, s, error);
    if (found)
        ck_assert_msg(strstr(error, found) != NULL, "%s: %s", body, error);
}

#define READY      ASYNC BAR
#define FENCE      "wgmma.fence.sync.aligned;\n"
#define COMMIT     "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n)    "wgmma.wait_group.sync.aligned " #n ";\n"
#define G1         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%d1,%d2,1,1,1,0,0;\n"
#define G2         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4,%f5,%f6,%f7},%d1,%d2,1,1,1,0,0;\n"
#define A          "{%r20,%r21,%r22,%r23},"
#define G_A        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}," A "%d2,1,1,1,0;\n"
#define UNFINISHED "of a register of an unfinished instruction in kernel 'k'\n  at k.ptx"
#define NO_FENCE   "wgmma without a wgmma.fence before it in kernel 'k'"

static const struct {
    const char *body, *found; /* found: part of the report; NULL: no report */
} groups[] = {
    {READY FENCE G1 COMMIT WAIT(0) "add.f32 %f8,%f0,%f1;", NULL},
    {READY FENCE G1 G1 COMMIT WAIT(0), NULL}, /* products that add to the same accumulators */
    {READY FENCE G1 COMMIT "add.f32 %f8,%f0,%f1;\n" WAIT(0), "read " UNFINISHED},
    {READY FENCE G1 COMMIT "st.global.f32 [%d5],%f3;\n" WAIT(0), "read " UNFINISHED},
    {READY FENCE G1 "mov.f32 %f2,0f3F800000;\n" COMMIT WAIT(0), "write " UNFINISHED},
    {READY FENCE G1 COMMIT "ld.global.f32 %f2,[%d5];\n" WAIT(0), "write " UNFINISHED},
    {READY FENCE G1 COMMIT "add.f32 %f8,%f4,%f5;\n" WAIT(0), NULL}, /* other registers */
    /* two groups in flight; the first has ended */
    {READY FENCE G1 COMMIT G2 COMMIT WAIT(1) "add.f32 %f8,%f0,%f1;\n" WAIT(0), NULL},
    {READY FENCE G1 COMMIT G2 COMMIT WAIT(1) "add.f32 %f8,%f4,%f5;\n" WAIT(0), "read " UNFINISHED},
    {READY FENCE G1 WAIT(0) "add.f32 %f8,%f0,%f1;\n", "read " UNFINISHED}, /* no commit_group */
    /* a in registers may be read, but not changed */
    {READY FENCE G_A COMMIT "add.u32 %r6,%r20,%r21;\n" WAIT(0), NULL},
    {READY FENCE G_A COMMIT "mov.u32 %r22,0;\n" WAIT(0), "write " UNFINISHED},
    {READY FENCE G_A COMMIT WAIT(0) "mov.u32 %r22,0;\n", NULL},
    /* fences */
    {READY G1 COMMIT WAIT(0), NO_FENCE},
    {READY FENCE "mov.f32 %f1,0f3F800000;\n" G1 COMMIT WAIT(0), NO_FENCE},
    {READY FENCE "mov.u32 %r21,0;\n" G_A COMMIT WAIT(0), NO_FENCE},
    {READY FENCE G1 COMMIT WAIT(0) "mov.f32 %f1,0f3F800000;\n" G1 COMMIT WAIT(0), NO_FENCE},
    {READY FENCE G1 COMMIT WAIT(0) "mov.f32 %f1,0f3F800000;\n" FENCE G1 COMMIT WAIT(0), NULL},
    {READY FENCE "mov.f32 %f8,0f3F800000;\n" G1 COMMIT WAIT(0), NULL}, /* the wgmma does not use this register */
    /* proxies: the matrices are written by threads */
    {BAR FENCE G1 COMMIT WAIT(0), "asynchronous read of shared memory at 0x0, without a fence.proxy.async"},
    {BAR ASYNC FENCE G1 COMMIT WAIT(0), NULL}, /* the reading threads execute the fence */
};
START_TEST(warp_groups) { expect("sm_90a", groups[_i].body, groups[_i].found); }
END_TEST

#define STORE "@%one cp.async.bulk.global.shared::cta.bulk_group [%d5],[s],2048;\n@%one cp.async.bulk.commit_group;\n"
#define DONE  "@%one cp.async.bulk.wait_group 0;\n"
#define READ  "@%one cp.async.bulk.wait_group.read 0;\n"
#define PROXY "asynchronous read of shared memory at 0x"
static const struct {
    const char *body, *found;
} stores[] = {
    {ASYNC BAR STORE DONE BAR, NULL},
    {"fence.proxy.async; " BAR STORE DONE BAR, NULL},
    {BAR "@%one " ASYNC STORE DONE BAR, NULL},
    {BAR STORE DONE BAR, PROXY},
    {"fence.proxy.async.global; " BAR STORE DONE BAR, PROXY},
    {"fence.mbarrier_init.release.cluster; " BAR STORE DONE BAR, PROXY},
    {ASYNC "st.shared.u32 [%r1],%r2;\n" BAR STORE DONE BAR, PROXY}, /* written after the fence */
    /* only the fence of thread 64 to 127: it does not follow the writes of the others */
    {"setp.ge.u32 %q,%t,64; @%q " ASYNC BAR STORE DONE BAR, PROXY},
    /* the source of the store is written again */
    {ASYNC BAR STORE READ BAR "st.shared.u32 [%r1],%r2;\n" BAR, NULL},
    {ASYNC BAR STORE "@%one st.shared.u32 [%r1],%r2;\n" DONE BAR, "unfinished copy: write of 4 bytes"},
    {ASYNC BAR STORE BAR "st.shared.u32 [%r1],%r2;\n" DONE BAR, "unfinished copy: write of 4 bytes"},
    {ASYNC BAR STORE "ld.shared.u32 %r6,[%r1];\n" DONE BAR, NULL}, /* threads may read the source */
    /* a bulk copy fills the memory, which needs no fence before the next bulk copy */
    {ASYNC BAR STORE DONE "@%one mbarrier.arrive.expect_tx.shared.b64 _,[b],2048;\n"
                          "@%one cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s],[%d5],2048,[b];\n"
                          "W: mbarrier.try_wait.parity.shared.b64 %q,[b],0; @!%q bra W;\n" STORE DONE BAR,
     NULL},
};
START_TEST(bulk_stores) { expect("sm_90a", stores[_i].body, stores[_i].found); }
END_TEST

/* Warp 0 allocates 32 columns at %r11. The product has 128 x 16 sums in f32; %r10 is its descriptor. */
#define ALLOC                                                                                                          \
    "setp.lt.u32 %p,%t,32; @!%p bra A; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [b+8],32;\nA: " ASYNC   \
    "bar.sync 0; ld.shared.u32 %r11,[b+8]; and.b32 %r12,%t,96; shl.b32 %r12,%r12,16; add.u32 %r12,%r12,%r11; "         \
    "or.b64 %d3,%d1,0x400000000000;\n"
#define FREE    BAR "setp.lt.u32 %p,%t,32; @!%p bra F; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11,32;\nF:\n"
#define MMA     "@%one tcgen05.mma.cta_group::1.kind::f16 [%r11],%d3,%d3,%r10,0;\n"
#define SIGNAL  "@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [b];\n"
#define SEEN    "S: mbarrier.try_wait.parity.shared.b64 %q,[b],0; @!%q bra S;\n"
#define LD      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13},[%r12];\n"
#define LD_FAR  "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13},[%r12+16];\n"
#define ST      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12],{%r13};\n"
#define WAIT_LD "tcgen05.wait::ld.sync.aligned;\n"
#define WAIT_ST "tcgen05.wait::st.sync.aligned;\n"
#define CELLS   "of column 0 of tensor memory, which an unfinished tcgen05.mma writes"
static const struct {
    const char *body, *found;
} tensors[] = {
    {ALLOC MMA SIGNAL SEEN LD WAIT_LD "add.u32 %r14,%r13,1;\n" FREE, NULL},
    {ALLOC MMA BAR LD WAIT_LD SIGNAL SEEN FREE, "read " CELLS},
    {ALLOC MMA SIGNAL BAR LD WAIT_LD SEEN FREE, "read " CELLS},
    {ALLOC MMA SIGNAL BAR ST WAIT_ST SEEN FREE, "write " CELLS},
    {ALLOC MMA SIGNAL BAR LD_FAR WAIT_LD SEEN FREE, NULL}, /* columns 16 and later are not written */
    {ALLOC LD "add.u32 %r14,%r13,1;\n" WAIT_LD FREE, "read " UNFINISHED},
    {ALLOC LD "mov.u32 %r13,1;\n" WAIT_LD FREE, "write " UNFINISHED},
    {ALLOC LD WAIT_LD "add.u32 %r14,%r13,1;\n" FREE, NULL},
    {ALLOC ST "mov.u32 %r13,1;\n" WAIT_ST FREE, "write " UNFINISHED},
    {ALLOC ST "add.u32 %r14,%r13,1;\n" WAIT_ST "mov.u32 %r13,1;\n" FREE, NULL},
};
START_TEST(tensor_memory) { expect("sm_100a", tensors[_i].body, tensors[_i].found); }
END_TEST

/* The checker finds no mistakes in Heddle's own programs with these instructions. */
START_TEST(programs_are_clean) {
    static const char *const names[] = {"flash3", "gemm_f16", "gemm_e4m3", "gemm_mx", "flash2"};
    char path[512], why[512] = "", err[512] = "";
    const struct bench *b = bench_find(names[_i]);
    struct heddle *h = heddle_open(&(struct heddle_options){.check = true, .config = "h100"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *k = heddle_module_file(h, bench_kernel_path(b->ptx, path, sizeof path));
    ck_assert_msg(k != NULL, "%s", heddle_error(h));
    const enum heddle_status s = b->run(h, k, BENCH_SMALL, why, sizeof why);
    ck_assert_msg(s == HEDDLE_OK, "%s: %s%.1500s", b->name, why, heddle_error(h));
    heddle_close(h);
}
END_TEST

SUITE(isa_interp_check_tensor) {
    TEST_LOOP(warp_groups, 0, sizeof groups / sizeof groups[0]);
    TEST_LOOP(bulk_stores, 0, sizeof stores / sizeof stores[0]);
    TEST_LOOP(programs_are_clean, 0, 5);
    TEST_LOOP(tensor_memory, 0, sizeof tensors / sizeof tensors[0]);
}
