/* Tests what small kernels cost on the affine warp and its expansion units: rows of threads, exact values, predicates,
 * branches, and each warp's part of the queues. Expected numbers were derived by hand. */
#include "test/mechanisms/dac/dac_rig.h"
#include <stdio.h>

/* Each thread stores a word at its index in the CTA. Expanding this address costs one cycle for the start address of
 * the CTA, and one cycle for the line of each warp. If the CTA has several rows, the address needs an adjustment for
 * the next row. The adjustment has the same value in all threads, so it costs one more cycle for the whole CTA. */
START_TEST(rows_cost_an_adjustment) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<3>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%tid.y;\n"
        " mov.u32 %r3,%tid.z; mov.u32 %r4,%ntid.x; mov.u32 %r5,%ntid.y; mul.lo.u32 %r6,%r4,%r5;\n"
        " mad.lo.u32 %r1,%r2,%r4,%r1; mad.lo.u32 %r1,%r3,%r6,%r1; mad.wide.u32 %a1,%r1,4,%a1;\n"
        " mov.u32 %r7,%clock; st.global.u32 [%a1],%r7; ret;\n}\n";
    static const struct {
        struct heddle_dim block;
        int warps, turns;
    } rows[] = {
        {{64, 1, 1}, 2, 0}, /* one row */
        {{16, 4, 1}, 2, 1}, /* two rows in each warp */
        {{32, 2, 1}, 2, 1}, /* one row in each warp; tid.y differs in the second warp */
        {{32, 1, 2}, 2, 1}, /* tid.z differs in the second warp */
        {{64, 2, 1}, 4, 1}, /* two warps in each row: the third warp starts the second row */
        {{64, 1, 2}, 4, 1}, {{8, 2, 2}, 1, 1},
        {{48, 2, 1}, 3, 1}, /* row 1 starts in the middle of warp 1; warp 1 starts in row 0, and warp 2 in row 1 */
        {{1, 1, 1}, 1, 0}};
    static const char *const set[] = {"gpu.sms=1", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_with("spe+dac", set, 100000);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_int_eq(heddle_launch(h, load(text), "k", (struct heddle_dim){1, 1, 1}, rows[i].block, 0, args, 1),
                         HEDDLE_OK);
        STAT("dac.records", rows[i].warps);
        STAT("dac.address_cycles", 1 + rows[i].warps + rows[i].turns);
        STAT("dac.fallbacks", 0);
    }
}
END_TEST

/* A 16-bit index wraps in lane 16 of warp 0, so it cannot be a tuple. The index, and the results computed from it, have
 * exact values; each takes one issue slot for each of the two warps. The address of the store costs one cycle for each
 * lane, and one for the start address. Values in the affine stream: the parameter is a scalar; tid, cvt to 16 bits and
 * the sum are tuples; cvt back, the product, the address, and the enq that sends it are exact. */
START_TEST(wrapping_values_are_exact) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<4>; .reg .b16 %h<3>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
        " cvt.u16.u32 %h1,%r1; add.u16 %h2,%h1,0xfff0; cvt.u32.u16 %r2,%h2; mul.wide.u32 %a2,%r2,4;\n"
        " add.u64 %a3,%a1,%a2; mov.u32 %r7,%clock; st.global.u32 [%a3],%r7; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL}, *const models[] = {"functional+dac", "spe+dac"};
    for (int i = 0; i < 2; i++) { /* the functional model has the statistics that do not depend on timing */
        open_with(models[i], set, 100000);
        uint64_t big = heddle_alloc(h, 1 << 19);
        struct heddle_arg args[] = {{&big, 8}};
        ck_assert_msg(start(load(text), "k", 1, 64, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
        STAT("dac.fallbacks", 1); /* once, because there is only one CTA */
        STAT("dac.scalar_instructions", 1);
        STAT("dac.tuple_instructions", 3);
        STAT("dac.vector_instructions", 4);
        STAT("dac.nonlinear_instructions", 0);
        STAT("dac.affine_instructions", 1 + 3 + 4 + 1); /* the exit */
        STAT("dac.affine_slots", 1 + 3 + 2 * 4 + 1);
    }
    STAT("dac.address_cycles", 1 + 32 + 32);
    STAT("dac.records", 2);
}
END_TEST

/* Each warp has four loads. The two loads of global and local memory are candidates for decoupling. The loads of shared
 * memory and parameters are not. A load that no lane of a warp executes takes no queue entry. */
START_TEST(candidate_loads) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %p;\n .local .b32 l[2]; .shared .b32 s[64];\n"
        " ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mad.wide.u32 %a2,%r1,4,%a1; mov.u32 %r6,s;\n"
        " mad.lo.u32 %r6,%r1,4,%r6; setp.gt.u32 %p,%r1,31; mov.u32 %r5,%clock;\n"
        " st.local.u32 [l],%r5; st.shared.u32 [%r6],%r5;\n"
        " ld.local.u32 %r2,[l]; ld.shared.u32 %r3,[%r6]; @%p ld.global.u32 %r5,[%a2];\n"
        " add.u32 %r2,%r2,%r3; add.u32 %r2,%r2,%r5; st.global.u32 [%a2],%r2; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL};
    open_with("spe+dac", set, 100000);
    struct heddle_arg args[] = {{&buffer, 8}};
    ck_assert_msg(start(load(text), "k", 1, 64, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
    STAT("dac.loads", 2 * 2);
    STAT("dac.decoupled_loads", 1); /* for local memory at a constant address, decoupling gives no benefit */
    STAT("dac.decoupled_addresses", 2);
    STAT("dac.decoupled_predicates", 2);
    STAT("dac.lines", 1); /* one line in global memory, by warp 1 */
}
END_TEST

/* The first of three branches diverges only between the two warps. The second branch diverges within warp 1, and
 * between warp 1 and warp 0. The third branch does not diverge. */
START_TEST(divergent_branches) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %p<4>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
        " mad.wide.u32 %a2,%r1,4,%a1; mov.u32 %r5,%clock; setp.gt.u32 %p1,%r1,31; @%p1 bra A;\n"
        " st.global.u32 [%a2],%r5; st.global.u32 [%a2+4096],%r5;\nA: setp.gt.u32 %p2,%r1,40; @%p2 bra B;\n"
        " st.global.u32 [%a2+512],%r5; st.global.u32 [%a2+4608],%r5;\nB: setp.gt.u32 %p3,%r1,99; @%p3 bra C;\n"
        " st.global.u32 [%a2+1024],%r5; st.global.u32 [%a2+5120],%r5;\nC: ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL};
    open_with("spe+dac", set, 100000);
    struct heddle_arg args[] = {{&buffer, 8}};
    ck_assert_msg(start(load(text), "k", 1, 64, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
    STAT("dac.warp_divergences", 2);
    STAT("dac.thread_divergences", 1);
    STAT("dac.decoupled_addresses", 2 * (1 + 2 + 2));
}
END_TEST

/* The guard of a store in two warps is a predicate of the affine stream. The fields cta, ends, corners and lanes count
 * the warps whose predicate is expanded in this way:
 * - cta: the comparison has two scalars; it costs 1 cycle for the whole CTA
 * - ends: the values of the first and the last lane determine the result: 2 cycles
 * - corners: the warp has two rows of threads, and its least and greatest value determine the result: 2 cycles
 * - lanes: the lanes must be compared: 1 cycle, and an issue slot of the affine warp. Without dac.corners, warps with
 *   two rows count here.
 * Two values determine a test of equality if both are larger than the scalar, both are smaller, or both are equal to
 * it. `threads` is the mask of the threads that store. In rows of 16 threads, r3 = 8 - tid.x + 16 tid.y is -7 to 24 in
 * warp 0 and 25 to 56 in warp 1. In warp 0, its first and last lane have the values 8 and 9. */
START_TEST(predicates_by_hand) {
    static const struct {
        const char *compare;
        uint32_t x;
        int cta, ends, corners, lanes, stores, cycles;
        uint64_t threads;
    } rows[] = {{"setp.gt.u32 %p,%r1,31", 64, 0, 2, 0, 0, 1, 4, ~0ull << 32},
                {"setp.gt.u32 %p,%r1,39", 64, 0, 1, 0, 1, 1, 3, ~0ull << 40},
                {"setp.lt.s32 %p,%r1,5", 64, 0, 1, 0, 1, 1, 3, 31},
                {"setp.le.u32 %p,%r1,31", 64, 0, 2, 0, 0, 1, 4, 0xffffffff},
                /* 5 lies inside warp 0, and below all values of warp 1 */
                {"setp.eq.u32 %p,%r1,5", 64, 0, 1, 0, 1, 1, 3, 1 << 5},
                {"setp.ne.s32 %p,%r1,5", 64, 0, 1, 0, 1, 2, 3, ~(1ull << 5)},
                {"setp.eq.u32 %p,%r1,77", 64, 0, 2, 0, 0, 0, 4, 0},
                {"setp.eq.u32 %p,%r1,32", 64, 0, 1, 0, 1, 1, 3, 1ull << 32}, /* the first lane of warp 1 is equal */
                {"setp.eq.s32 %p,%r4,1", 32, 0, 2, 0, 0, 1, 4, ~0ull << 32}, /* tid.y: both lanes are equal to 1 */
                {"setp.ne.s32 %p,%r4,0", 16, 0, 0, 1, 1, 2, 3, ~0xffffull},  /* tid.y is 0 and 1 in warp 0 */
                /* rows of 16 threads, so a warp has two rows; %r1 is tid.x, and %r3 depends on tid.x and tid.y */
                {"setp.ge.u32 %p,%r1,0", 16, 0, 0, 2, 0, 2, 4, ~0ull},
                {"setp.lt.u32 %p,%r1,8", 16, 0, 0, 0, 2, 2, 2, 0x00ff00ff00ff00ff},
                {"setp.eq.s32 %p,%r3,25", 16, 0, 0, 1, 1, 1, 3, 1ull << 47},
                {"setp.lt.s32 %p,%r3,25", 16, 0, 0, 2, 0, 1, 4, 0xffffffff},
                {"setp.lt.s32 %p,%r3,10", 16, 0, 0, 1, 1, 1, 3, 0x8000ffff},
                /* a predicate of two comparisons costs as much as the costlier one. In the next row, the first
                 * comparison needs all lanes in warp 0, but only the first and the last lane in warp 1. */
                {"setp.gt.u32 %q,%r1,15; setp.le.and.u32 %p,%r1,31,%q", 64, 0, 1, 0, 1, 1, 3, 0xffff0000},
                {"setp.gt.u32 %q,%r2,31; setp.le.and.u32 %p,%r1,31,%q", 64, 0, 2, 0, 0, 1, 4, 0xffffffff},
                {"setp.gt.u32 %p,%r2,31", 64, 2, 0, 0, 0, 2, 1, ~0ull}};
    uint32_t word[64];
    for (size_t k = 0; k < 2 * sizeof rows / sizeof rows[0]; k++) {
        const char *const set[] = {"gpu.sms=1", k % 2 ? "dac.corners=off" : NULL, NULL};
        const size_t i = k / 2;
        const int corners = k % 2 ? 0 : rows[i].corners, lanes = rows[i].lanes + rows[i].corners - corners;
        char text[1024];
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                 ".reg .b32 %%r<9>; .reg .b64 %%a<4>; .reg .pred %%p,%%q;\n ld.param.u64 %%a1,[p];\n"
                 " mov.u32 %%r1,%%tid.x; mov.u32 %%r2,%%ntid.x; mov.u32 %%r4,%%tid.y;\n"
                 " mad.lo.u32 %%r6,%%r4,%%r2,%%r1; mad.wide.u32 %%a2,%%r6,4,%%a1; sub.u32 %%r7,8,%%r1;\n"
                 " mad.lo.u32 %%r3,%%r4,16,%%r7; %s;\n"
                 " mov.u32 %%r5,%%clock; or.b32 %%r5,%%r5,1; @%%p st.global.u32 [%%a2],%%r5; ret;\n}\n",
                 rows[i].compare);
        open_with("spe+dac", set, 100000);
        heddle_clear(h, buffer, sizeof word);
        struct heddle_arg args[] = {{&buffer, 8}};
        const struct heddle_dim block = {rows[i].x, 64 / rows[i].x, 1};
        ck_assert_msg(heddle_launch(h, load(text), "k", (struct heddle_dim){1, 1, 1}, block, 0, args, 1) == HEDDLE_OK,
                      "%s", heddle_error(h));
        heddle_read(h, buffer, word, sizeof word);
        for (uint32_t t = 0; t < 64; t++)
            ck_assert_msg((word[t] != 0) == (rows[i].threads >> t & 1), "%s: thread %u", rows[i].compare, t);
        STAT("dac.predicates_cta", rows[i].cta);
        STAT("dac.predicates_ends", rows[i].ends + corners);
        STAT("dac.predicates_lanes", lanes);
        STAT("dac.predicate_cycles", rows[i].cycles - rows[i].corners + corners);
        STAT("dac.masks", 2);
        const double slots = stat("dac.affine_instructions") + lanes, issued = stat("gpu.warp_instructions");
        STAT("dac.affine_slots", slots);
        STAT("issue.issued", issued); /* each issue slot counts as one warp instruction */
        STAT("dac.decoupled_predicates", 2);
        STAT("dac.decoupled_addresses", rows[i].stores);
        open_with("functional+dac", set, 100000);
        ck_assert_int_eq(heddle_launch(h, load(text), "k", (struct heddle_dim){1, 1, 1}, block, 0, args, 1), HEDDLE_OK);
        STAT("dac.affine_slots", slots);
        STAT("gpu.warp_instructions", issued);
    }
}
END_TEST

/* Each warp has an equal part of the queues, and needs two records for its two lines. Up to 8 CTAs of 2 warps fit, so
 * 32 entries are enough, and 31 are not. With dac.share_idle=all, the warps that the SM holds share the places of empty
 * slots: 3 CTAs need 3 * 2 * 2 = 12 entries. A ninth CTA follows another one, and needs no more. */
START_TEST(queues_are_shared_by_resident_warps) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<3>; .reg .b64 %a<3>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
        " mad.wide.u32 %a1,%r1,8,%a1; ld.global.u32 %r2,[%a1]; st.global.u32 [%a1+4],%r2; ret;\n}\n";
    static const struct {
        uint32_t ctas, needs;
        const char *share;
    } rows[] = {{1, 32, "dac.share_idle=none"}, {3, 32, "dac.share_idle=predicates"}, {1, 4, "dac.share_idle=all"},
                {3, 12, "dac.share_idle=all"},  {8, 32, "dac.share_idle=all"},        {9, 32, "dac.share_idle=all"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t entries = rows[i].needs - 1; entries <= rows[i].needs + 1; entries++) {
            const uint32_t n = rows[i].ctas;
            const bool wide = entries < rows[i].needs;
            char option[32];
            snprintf(option, sizeof option, "dac.pwaq=%u", entries);
            const char *const set[] = {"gpu.sms=1", option, rows[i].share, NULL};
            open_with("spe+dac", set, 100000);
            struct heddle_arg args[] = {{&buffer, 8}};
            ck_assert_int_eq(start(load(text), "k", n, 64, args, 1), HEDDLE_OK);
            STAT("dac.wide_records", wide ? 4 * n : 0);
            STAT("dac.lines", wide ? 0 : 4 * n);
            /* for each CTA: two start addresses, and one cycle for each record */
            STAT("dac.address_cycles", n * (2 + (wide ? 4 : 8)));
        }
}
END_TEST

/* Two warps start with 40 dependent products and then take eight predicates. The queues have 16 places for the 16 warps
 * that fit, so each warp's predicate queue has room for one predicate. With dac.enq_waits, the affine warp sends no
 * predicate while this queue is full. So the affine tuple queue (ATQ) holds only the predicates that were sent before
 * the first one was expanded. With dac.enq_waits=off, the first predicate leaves the ATQ, and the other seven wait
 * there. With dac.share_idle=predicates, the two warps have room for eight predicates each, so nothing waits. */
START_TEST(an_enqueue_waits_for_the_predicate_queue) {
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                                 ".reg .b32 %%r<9>; .reg .b64 %%a<4>; .reg .pred %%p<9>;\n ld.param.u64 %%a1,[p];\n"
                                 " mov.u32 %%r1,%%tid.x; mad.wide.u32 %%a2,%%r1,4,%%a1; mov.u32 %%r2,%%clock;\n");
    for (int i = 0; i < 40; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " mad.lo.u32 %%r2,%%r2,%%r2,%%r2;\n");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               " setp.gt.u32 %%p%d,%%r1,%d; selp.u32 %%r2,%%r2,%%r1,%%p%d;\n", i, 7 * i, i);
    snprintf(text + at, sizeof text - at, " st.global.u32 [%%a2],%%r2; ret;\n}\n");
    static const char *const rows[] = {"dac.enq_waits=off", "dac.share_idle=none", "dac.share_idle=predicates"};
    for (int i = 0; i < 3; i++) {
        const bool waits = i == 1;
        const char *const set[] = {"gpu.sms=1", "dac.pwpq=16", rows[i], NULL};
        open_with("spe+dac", set, 100000);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_msg(start(load(text), "k", 1, 64, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
        STAT("dac.masks", 2 * 8);
        ck_assert_msg((stat("dac.enq_full") > 0) == waits, "%g cycles", stat("dac.enq_full"));
        ck_assert_msg(i ? stat("dac.atq_max") < 5 : stat("dac.atq_max") >= 7, "%g entries", stat("dac.atq_max"));
    }
}
END_TEST

/* The kernel has three loads; the first and the third are decoupled. At the second load, lanes 0 to 15 hit and continue
 * alone, while lanes 16 to 31 miss. Each half then executes the third load, whose line was locked for the whole warp.
 * These two accesses do not unlock the line, so a separate request does. All lanes read the line of the first load at
 * once, so it needs no separate request. */
START_TEST(halves_unlock_by_request) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<6>; .reg .pred %q;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%laneid;\n"
        " mov.u32 %r5,%tid.x; mad.wide.u32 %a4,%r5,4,%a1; ld.global.u32 %r2,[%a1]; setp.lt.u32 %q,%r1,16;\n"
        " selp.b64 %a2,0,1024,%q; cvt.u64.u32 %a3,%r2; add.u64 %a2,%a2,%a3; add.u64 %a2,%a2,%a1;\n"
        " ld.global.u32 %r3,[%a2]; add.u32 %r3,%r3,%r1; ld.global.u32 %r4,[%a4+256]; add.u32 %r4,%r4,%r3;\n"
        " mul.wide.u32 %a2,%r4,4; add.u64 %a2,%a2,%a1; st.global.u32 [%a2+512],%r4; ret;\n}\n";
    static const char *const models[] = {"spe+dac", "dws50+dac"}, *const set[] = {
                                                                      "gpu.sms=1", "dws.memory=branch_bypass",
                                                                      "memory.model=fixed", "memory.latency=600", NULL};
    for (int i = 0; i < 2; i++) {
        open_with(models[i], set, 100000);
        heddle_clear(h, buffer, BUFFER);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_int_eq(start(load(text), "k", 1, 32, args, 1), HEDDLE_OK);
        STAT("sm.memory_splits", i);
        STAT("dac.decoupled_loads", 2 + i); /* each half executes the third load on its own */
        STAT("dac.lines", 2);
        STAT("dac.lines_without_lock", 0);
        STAT("dac.unlocks", i);
    }
}
END_TEST

/* If a load is the first instruction of a warp, it waits for its line, and counts once as late. If 40 dependent
 * products of at least 20 cycles come before the load, the line has already arrived, since memory takes 100 cycles. */
START_TEST(a_late_load_counts_once) {
    static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               ".reg .b32 %r<9>; .reg .b64 %a<6>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
                               " mad.wide.u32 %a2,%r1,4,%a1; mov.u32 %r2,%clock;\n";
    static const char *const set[] = {"gpu.sms=1", "memory.model=fixed", "memory.latency=100", NULL};
    for (int after = 0; after < 2; after++) {
        char text[4096];
        size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
        for (int i = 0; after && i < 40; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, " mad.lo.u32 %%r2,%%r2,%%r2,%%r2;\n");
        snprintf(text + at, sizeof text - at,
                 " ld.global.u32 %%r3,[%%a2]; add.u32 %%r3,%%r3,%%r2; st.global.u32 [%%a2+1024],%%r3; ret;\n}\n");
        open_with("spe+dac", set, 100000);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_int_eq(start(load(text), "k", 1, 32, args, 1), HEDDLE_OK);
        STAT("dac.decoupled_loads", 1);
        STAT("dac.data_late", !after);
    }
}
END_TEST

/* Runs a kernel whose address needs a chain of `n` dependent additions of the scalar 0, and returns the statistic
 * `name`. The threads of CTA 0 end before the chain. Only the affine stream contains the chain. */
static double chain(const char *model, const char *const *set, uint32_t ctas, int n, const char *name) {
    static char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n"
                                 ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                                 ".reg .b32 %%r<9>; .reg .b64 %%a<9>; .reg .pred %%p;\n ld.param.u64 %%a1,[p];\n"
                                 " ld.param.u32 %%r2,[n]; mov.u32 %%r1,%%tid.x; mov.u32 %%r4,%%ctaid.x;\n"
                                 " setp.eq.u32 %%p,%%r4,0; @%%p bra E; mov.u32 %%r3,%%r2;\n");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " add.u32 %%r3,%%r3,%%r2;\n");
    snprintf(text + at, sizeof text - at,
             " add.u32 %%r3,%%r3,%%r1; mad.wide.u32 %%a2,%%r3,4,%%a1; mov.u32 %%r5,%%clock;\n"
             " st.global.u32 [%%a2],%%r5;\nE: ret;\n}\n");
    const uint32_t zero = 0;
    open_with(model, set, 1000000);
    struct heddle_arg args[] = {{&buffer, 8}, {&zero, 4}};
    ck_assert_msg(start(load(text), "k", ctas, 32, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
    return stat(name);
}

/* How long CTAs wait while the affine warp runs for older CTAs. The instruction cache is perfect, so a chain that is
 * longer by 200 additions takes 200 * D cycles more, also under spe (D: cycles from an addition to the next).
 * - CTAs 0 and 1 in one batch: no wait.
 * - CTAs 0 to 2, one per batch: CTA 0 has no chain, CTA 2 waits while the chain of CTA 1 runs: 200 * D.
 * - CTAs 0 to 2, of which two fit on the SM: CTA 2 comes when CTA 0 ends. The chain of CTA 1 still runs: 200 * D.
 * With two affine warps:
 * - CTAs 0 to 2, one per batch: CTA 2 waits only for CTA 0, which has no chain.
 * - CTAs 0 to 2, of which two fit: no wait. The chains of CTAs 1 and 2 overlap, so the launch takes 200 * D cycles more
 *   for longer chains, and not 400 * D. */
START_TEST(new_ctas_wait_for_the_affine_warp) {
    static const char *const all[] = {"gpu.sms=1", "l1i.size=0", NULL},
                             *const single[] = {"gpu.sms=1", "l1i.size=0", "dac.batch=1", NULL},
                             *const few[] = {"gpu.sms=1", "l1i.size=0", "sm.ctas=2", NULL};
    const char *contexts = _i == 0 ? NULL : _i == 1 ? "dac.contexts=2" : "dac.contexts=4";
    const char *const more_single[] = {"gpu.sms=1", "l1i.size=0", "dac.batch=1", contexts, NULL}, *const more_few[] = {
                                                                                                      "gpu.sms=1",
                                                                                                      "l1i.size=0",
                                                                                                      "sm.ctas=2",
                                                                                                      contexts, NULL};
    static const char wait[] = "dac.cta_wait_cycles", time[] = "gpu.cycles";
    const double more = chain("spe", all, 2, 300, time) - chain("spe", all, 2, 100, time);
    ck_assert_double_ge(more, 200 * 4); /* int_add has a latency of 4 cycles */
    ck_assert_double_eq(chain("spe+dac", all, 2, 300, wait), 0);
    ck_assert_double_eq(chain("spe+dac", single, 3, 300, wait) - chain("spe+dac", single, 3, 100, wait), more);
    ck_assert_double_eq(chain("spe+dac", few, 3, 300, wait) - chain("spe+dac", few, 3, 100, wait), more);
    ck_assert_double_eq(stat("dac.batches"), 2);
    ck_assert_double_gt(stat("dac.cta_cycles"), stat(wait));
    STAT("dac.cta_wait_share", stat(wait) / stat("dac.cta_cycles"));
    ck_assert_double_eq(chain("spe+dac", few, 3, 300, time) - chain("spe+dac", few, 3, 100, time), 2 * more);
    if (contexts) {
        const double waits = chain("spe+dac", more_single, 3, 300, wait);
        STAT("dac.batches", 3);
        ck_assert_int_eq(waits > 0, _i == 1);
        ck_assert_double_eq(waits, chain("spe+dac", more_single, 3, 100, wait));
        ck_assert_double_eq(chain("spe+dac", more_few, 3, 300, wait), 0);
        STAT("dac.batches", 2);
        ck_assert_double_eq(chain("spe+dac", more_few, 3, 300, time) - chain("spe+dac", more_few, 3, 100, time), more);
    }
}
END_TEST

SUITE(mechanisms_dac_costs) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(rows_cost_an_adjustment);
    TEST(wrapping_values_are_exact);
    TEST(candidate_loads);
    TEST(divergent_branches);
    TEST(predicates_by_hand);
    TEST(queues_are_shared_by_resident_warps);
    TEST(an_enqueue_waits_for_the_predicate_queue);
    TEST(halves_unlock_by_request);
    TEST(a_late_load_counts_once);
    TEST_LOOP(new_ctas_wait_for_the_affine_warp, 0, 3);
}
