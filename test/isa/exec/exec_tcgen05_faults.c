/* Tests the allocation of tensor memory, and the faults of tcgen05. */
#include "test/every_model.h"
#include "test/isa/exec/tcgen05_kernel.h"

/* Runs two warps. The first allocates all columns, and frees them later unless `keep` is set. The second waits for 32
 * columns. */
static enum heddle_status contend(const char *model, bool keep, char *error, size_t size) {
    static char text[2048];
    struct heddle *h = tcgen05_open(model);
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.shared .b32 s[4]; .reg .b32 "
             "%%r<8>; .reg .pred %%p;\nmov.u32 %%r0, %%tid.x; setp.ge.u32 %%p, %%r0, 32; @%%p bra S;\n"
             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 512; bar.sync 0; ld.shared.u32 %%r1, [s];\n"
             "mov.u32 %%r2, 0;\nL: add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p, %%r2, 50; @%%p bra L;\n%s\nret;\n"
             "S: bar.sync 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4], 32; ld.shared.u32 %%r1, "
             "[s+4];\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r1, 32; ret;\n}\n",
             keep ? "" : "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 512;");
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim one = {1, 1, 1}, threads = {64, 1, 1};
    const enum heddle_status status = heddle_launch(h, m, "k", one, threads, 0, NULL, 0);
    snprintf(error, size, "%s", heddle_error(h));
    heddle_close(h);
    return status;
}

START_TEST(alloc_waits_for_columns) {
    const char *model = _i < timed_models()->n ? timed_models()->name[_i] : "functional";
    char error[4096];
    ck_assert_msg(contend(model, false, error, sizeof error) == HEDDLE_OK, "%s", error);
}
END_TEST

START_TEST(alloc_without_columns_is_a_deadlock) {
    static const char *const models[] = {"functional", "spe"};
    char error[4096];
    ck_assert_int_eq(contend(models[_i], true, error, sizeof error), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "tcgen05.alloc"), "%s", error);
}
END_TEST

#define ALLOC "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; "
/* A product with this instruction descriptor, with metadata, and with scales. */
#define MMA(name, descriptor, metadata, scales)                                                                        \
    "mov.u32 %r1, 0; mov.u64 %d1, 0x400000000000; mov.u32 %r2, " descriptor "; @%p tcgen05.mma" name                   \
    " [%r1], %d1, %d1, " metadata "%r2, " scales "0;"

START_TEST(faults) {
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s], 512;",
         ".cta_group::2 needs a pair of CTAs, and the cluster has no CTA 1 (it has 1)"},
        {ALLOC "mov.u32 %r1, 0x10000; tcgen05.shift.cta_group::1.down [%r1];",
         "the address of tcgen05.shift is in lane 0, 32, 64 or 96"},
        {ALLOC "mov.u32 %r1, 28; tcgen05.shift.cta_group::1.down [%r1];", "columns 28 to 35 of tensor memory"},
        {ALLOC "mov.u32 %r1, 0x200000; mov.u64 %d1, 0x400000000000; @%p tcgen05.cp.cta_group::1.4x256b [%r1], %d1;",
         "is in lane 0, or for .4x256b in lane 0 to 31"},
        {ALLOC MMA(".sp.cta_group::1.kind::f16", "0x04040010", "[%r1], ", ""), ".sp needs the sparsity bit"},
        {ALLOC MMA(".sp.cta_group::1.kind::f16", "0x04040014", "[%r1], ", ""),
         "metadata 0x0 of row 0 of a, elements 0 to 3, is undefined"},
        {ALLOC MMA(".cta_group::1.kind::f16", "0x04040014", "", ""), "the sparsity bit (bit 2) needs .sp"},
        {ALLOC MMA(".cta_group::1.kind::f16", "0x04040050", "", ""), "bits 6, 23 and 29 must be 0"},
        {ALLOC MMA(".cta_group::1.kind::f16", "0x44040010", "", ""), "only .ws shifts columns"},
        {ALLOC MMA(".cta_group::1.kind::i8", "0x040a0020", "", ""), "this N (bits 17 to 22, times 8) does not exist"},
        {ALLOC MMA(".ws.cta_group::1.kind::f16", "0x04040010", "", ""),
         "this N (bits 17 to 22, times 8) does not exist"},
        {ALLOC MMA(".cta_group::1.kind::mxf4.block_scale", "0x08040480", "", "[%r1], [%r1], "),
         "scales of ue4m3 (bit 23)"},
        {ALLOC MMA(".cta_group::1.kind::mxf4.block_scale", "0x288404a0", "", "[%r1], [%r1], "),
         "must be even with two scales"},
        {ALLOC MMA(".cta_group::1.kind::mxf4.block_scale", "0x88840480", "", "[%r1], [%r1], "),
         "k = 96 (bit 31) needs"},
        {ALLOC MMA(".cta_group::1.kind::mxf8f6f4.block_scale", "0x04840000", "", "[%r1], [%r1], "),
         "bits 0, 1, 3, 6 and 24 to 26"},
        {"mbarrier.init.shared.b64 [s+8], 1; mov.u16 %h, 2; "
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [s+8], %h;",
         "the cluster has no such CTA"},
        {"mov.u32 %r1, 48; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], %r1;",
         "48 columns of tensor memory"},
        {"mov.u32 %r1, 0; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;",
         "tcgen05.alloc returned no 64 columns"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0xffffffe0; "
         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
         "tcgen05.alloc returned no 32 columns at 0xffffffe0"},
        {"mov.u32 %r1, 0; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];",
         "columns 0 to 1 of tensor memory are "
         "not allocated"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0x100000; "
         "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];",
         "this warp accesses lanes 0 to 31"},
        {"@%p bra L; tcgen05.wait::ld.sync.aligned;\nL:", "here by lanes 0xfffffff7 alone"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0; mov.u64 %d1, 0; mov.u32 "
         "%r2, "
         "0x04040010; @%p tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d1, %r2, 0;",
         "descriptor 0x0000000000000000 of b: bits 46 to 48 must be 0b001"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0; mov.u64 %d1, "
         "0x400000000000; "
         "mov.u32 %r2, 0x06040010; @%p tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d1, %r2, 0;",
         "M (bits 24 to 28, times 16) must be 64 or 128"},
        {"mov.u32 %r1, 0; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; "
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s];",
         "there is no mbarrier"},
    };
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.shared .align 1024 .b8 s[4096]; "
             ".reg .b64 %%d<4>; .reg .b32 %%r<8>; .reg .b16 %%h; .reg .pred %%p; mov.u32 %%r7, %%laneid; setp.eq.u32 "
             "%%p, %%r7, 3;\n%s\n"
             "ret;\n}\n",
             cases[_i].text);
    struct heddle *h = tcgen05_open("functional");
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", one, warp, 0, NULL, 0), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), cases[_i].wanted), "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_tcgen05_faults) {
    TEST_LOOP(alloc_waits_for_columns, 0, timed_models()->n + 1);
    TEST_LOOP(alloc_without_columns_is_a_deadlock, 0, 2);
    TEST_LOOP(faults, 0, 25);
}
