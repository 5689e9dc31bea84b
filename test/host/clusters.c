/* Tests clusters of one CTA in every model: special registers, barriers, and the instruction mapa for the rank of the
 * CTA itself. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"

static const char text[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) .explicitcluster .reqnctapercluster 1,1,1\n{\n"
    ".reg .b32 %r<40>; .reg .b64 %d<10>; .reg .pred %q<4>; .shared .align 8 .b8 s[512];\n"
    "ld.param.u64 %d1,[p]; mov.u32 %r30,%ctaid.x; mov.u32 %r31,%ctaid.y; mad.lo.u32 %r30,%r31,3,%r30;\n"
    "mov.u32 %r33,%tid.x; mad.lo.u32 %r32,%r30,64,%r33; mul.wide.u32 %d4,%r32,64; add.u64 %d1,%d1,%d4;\n"
    /* each thread stores 1000 + tid to shared memory of CTA 0 of its cluster, then loads the word of a thread in the
     * other warp */
    "mov.u32 %r20,s; mad.lo.u32 %r20,%r33,4,%r20; mapa.shared::cluster.u32 %r21,%r20,0; add.u32 %r22,%r33,1000;\n"
    "st.shared::cluster.u32 [%r21],%r22; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
    "mov.u32 %r23,s; xor.b32 %r24,%r33,32; mad.lo.u32 %r23,%r24,4,%r23; cvt.u64.u32 %d2,%r23;\n"
    "cvta.shared.u64 %d2,%d2; mov.u32 %r13,%cluster_ctarank; mapa.u64 %d3,%d2,%r13; ld.u32 %r25,[%d3];\n"
    "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n"
    "getctarank.u64 %r26,%d2; isspacep.shared::cluster %q2,%d2; selp.u32 %r27,1,0,%q2;\n"
    "mov.u32 %r1,%cluster_ctaid.x; mov.u32 %r2,%cluster_ctaid.z; mov.u32 %r3,%cluster_nctaid.x;\n"
    "mov.u32 %r4,%cluster_nctaid.y; mov.u32 %r5,%clusterid.x; mov.u32 %r6,%clusterid.y;\n"
    "mov.u32 %r7,%nclusterid.x; mov.u32 %r8,%nclusterid.y; mov.u32 %r14,%cluster_nctarank;\n"
    "mov.pred %q1,%is_explicit_cluster; selp.u32 %r15,1,0,%q1;\n"
    "st.global.v4.u32 [%d1],{%r1,%r2,%r3,%r4}; st.global.v4.u32 [%d1+16],{%r5,%r6,%r7,%r8};\n"
    "st.global.v4.u32 [%d1+32],{%r13,%r14,%r15,%r25}; st.global.v2.u32 [%d1+48],{%r26,%r27}; ret;\n}\n";

START_TEST(a_cluster_is_one_cta) {
    enum { CTAS = 6, THREADS = 64, WORDS = 16 };
    static uint32_t out[CTAS * THREADS][WORDS];
    char err[512] = "";
    const char *model = _i ? timed_models()->name[_i - 1] : "functional";
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t at = heddle_alloc(h, sizeof out);
    const struct heddle_arg arg = {&at, 8};
    const struct heddle_dim grid = {3, 2, 1}, block = {THREADS, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", grid, block, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, at, out, sizeof out), HEDDLE_OK);
    for (uint32_t i = 0; i < CTAS * THREADS; i++) {
        uint32_t cta = i / THREADS, t = i % THREADS;
        const uint32_t want[14] = {0, 0, 1, 1, cta % 3, cta / 3, 3, 2, 0, 1, 1, 1000 + (t ^ 32), 0, 1};
        for (int k = 0; k < 14; k++)
            ck_assert_msg(out[i][k] == want[k], "CTA %u, thread %u, word %d: %u, not %u", cta, t, k, out[i][k],
                          want[k]);
    }
    heddle_close(h);
}
END_TEST

SUITE(host_clusters) { TEST_LOOP(a_cluster_is_one_cta, 0, 1 + timed_models()->n); }
