/* Tests the affine warp of an SM on kernels small enough to follow by hand. random.c has random kernels. */
#include "test/bases.h"
#include "test/every_model.h"
#include "test/mechanisms/dac/dac_rig.h"
#include <stdio.h>

/* Runs the kernel of the paper's Figure 4 on one SM: B[i * num + t] = A[i * num + t] + 1. A row has `num` words. */
static void figure_4(const char *const *set, const char *model, uint32_t ctas, uint32_t threads, uint32_t dim,
                     uint32_t num) {
    static uint32_t in[BUFFER / 8], out[BUFFER / 8];
    open_with(model, set, 1000000);
    for (uint32_t i = 0; i < BUFFER / 8; i++)
        in[i] = 3 * i;
    heddle_write(h, buffer, in, sizeof in);
    uint64_t to = buffer + sizeof in;
    struct heddle_arg args[] = {{&buffer, 8}, {&to, 8}, {&dim, 4}, {&num, 4}};
    struct heddle_module *m = heddle_module_file(h, "kernels/affine.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_msg(start(m, "example", ctas, threads, args, 4) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, out, sizeof out);
    for (uint32_t i = 0; i < dim; i++)
        for (uint32_t t = 0; t < num; t++)
            ck_assert_uint_eq(out[i * num + t], t < ctas * threads ? 3 * (i * num + t) + 1 : 0);
}

/* One CTA of 64 threads executes 5 iterations on rows of 64 words. A row has two lines, one for each warp.
 * - Affine warp: 4 parameter loads and 6 instructions before the loop, 9 instructions in each iteration, and the exit:
 *   11 + 5 * 9 = 56.
 * - A warp of the kernel issues 4 instructions in each iteration, so 20, and two warps issue 40. Its exit is a
 *   reconvergence point and takes no issue slot.
 * - In each iteration, a warp gets the addresses of a load and a store, and a predicate. dim and i are scalars, so one
 *   comparison computes the predicates of both warps.
 * - Address unit: 10 entries (5 iterations with a load and a store). An entry takes a cycle for the start address and a
 *   cycle for the line of each of two warps: 10 * 3 cycles.
 * - Predicate unit: one cycle per iteration, for both warps: 5 cycles.
 * - Words of tuple registers: each word of an operand counts four times if the result has offsets, otherwise once.
 * - Words read before the loop: tid 4, r1 4, two sums 2 * 16, together 40. Words read in an iteration: two enqs 2 * 8,
 *   i 1, r3 1, sums 2 * 16, setp 2, together 52.
 * - Words written before the loop: parameters 6, r0 1, tid 4, r1 8, sums 16, i 1, together 36. Words written in an
 *   iteration: i 1, r3 2, sums 16, together 19.
 * - Affine tuple queue (ATQ): each of 15 entries is written once and, since there is one CTA, read once. */
START_TEST(figure_4_by_hand) {
    static const char *const set[] = {"gpu.sms=1", NULL};
    figure_4(set, "spe+dac", 1, 64, 5, 64);
    STAT("dac.decoupled_kernels", 1);
    STAT("dac.static_instructions", 10 + 9 + 1); /* 10 instructions before the loop, 9 in the loop, and the return */
    STAT("dac.static_affine",
         20 - 4); /* the kernel's stream has only the load, the addition, the store and the return */
    STAT("dac.affine_instructions", 56);
    STAT("dac.affine_slots", 56);
    STAT("gpu.warp_instructions", 56 + 40);
    STAT("dac.nonlinear_instructions", 0);
    STAT("dac.vector_instructions", 0);
    STAT("dac.fallbacks", 0);
    STAT("dac.batches", 1);
    STAT("dac.batch_ctas", 1);
    STAT("dac.loads", 10);
    STAT("dac.decoupled_loads", 10);
    STAT("dac.decoupled_addresses", 10);
    STAT("dac.decoupled_predicates", 10);
    STAT("dac.predicates_cta", 10);
    STAT("dac.predicates_ends", 0);
    STAT("dac.predicates_lanes", 0);
    STAT("dac.records", 20);
    STAT("dac.masks", 10);
    STAT("dac.lines", 10);
    STAT("dac.lines_without_lock", 0);
    STAT("dac.unlocks", 0); /* each load uses all sectors of its line, which unlocks the line without a request */
    STAT("dac.spills", 0);
    STAT("dac.wide_records", 0);
    STAT("dac.address_cycles", 30);
    STAT("dac.predicate_cycles", 5);
    STAT("dac.tuple_reads", 40 + 5 * 52);
    STAT("dac.tuple_writes", 36 + 5 * 19);
    STAT("dac.atq_accesses", 30);
    /* in 5 iterations, each of two warps reads and writes r2 and tmp; addresses and predicates are in the queues */
    STAT("collector.read_words", 20);
    STAT("collector.write_words", 20);
    ck_assert_double_gt(stat("energy.affine_joules"), 0);
}
END_TEST

/* Three CTAs of 40 threads (a warp of 32 lanes and a warp of 8 lanes) execute 2 iterations on rows of 120 words.
 * - Byte addresses: those of CTA c in row i start at i * 480 + c * 160. The warps of CTAs 0, 1 and 2 access in row 0:
 *   [0,128) [128,160), [160,288) [288,320), [320,448) [448,480); in row 1: [480,608) [608,640), [640,768) [768,800),
 *   [800,928) [928,960).
 * - Numbers of lines of 128 bytes: in row 0: 1 1, 2 1, 2 1; in row 1: 2 1 (480 is in line 3, 607 in line 4), 1 1 (640
 *   to 767 is line 5), 2 1 (800 is in line 6, 927 in line 7).
 * - So loads read 8 + 8 = 16 lines. B is 32768 bytes further, so stores write 16 lines, too. A record of two lines
 *   takes two cycles. */
START_TEST(ragged_warps_and_lines) {
    static const char *const set[] = {"gpu.sms=1", "dac.batch=3", NULL};
    figure_4(set, "spe+dac", 3, 40, 2, 120);
    STAT("dac.lines", 16);
    STAT("dac.records", 24); /* 3 CTAs x 2 warps x 2 iterations x (a load and a store) */
    STAT("dac.masks", 12);
    STAT("dac.predicates_cta", 12);
    STAT("dac.decoupled_loads", 12);
    STAT("dac.batch_ctas", 3);
    /* 12 start addresses (3 CTAs x 2 iterations x 2 accesses), 16 lines of loads and 16 lines of stores */
    STAT("dac.address_cycles", 12 + 32);
    STAT("dac.affine_instructions", stat("dac.batches") * (11 + 2 * 9));
}
END_TEST

/* The number of batches depends on dac.batch. When the affine warp becomes free, the CTAs that are resident form a
 * batch, and later CTAs form the next batch. With one CTA per batch, each CTA has its own stream. */
START_TEST(batches) {
    static const char *const one[] = {"gpu.sms=1", "dac.batch=1", NULL};
    static const char *const all[] = {"gpu.sms=1", NULL};
    figure_4(one, "spe+dac", 20, 64, 3, 1280);
    STAT("dac.batches", 20);
    STAT("dac.batch_ctas", 20);
    STAT("dac.affine_instructions", 20 * (11 + 3 * 9));
    figure_4(all, "spe+dac", 20, 64, 3, 1280);
    STAT("dac.batch_ctas", 20);
    ck_assert_double_lt(stat("dac.batches"), 20);
    ck_assert_double_ge(stat("dac.batches"), 3); /* at least 20 / 8 batches, since 8 CTAs fit on the SM */
    STAT("dac.affine_instructions", stat("dac.batches") * (11 + 3 * 9));
    figure_4(all, "spe+dac", 8, 64, 3,
             512); /* one CTA arrives in each cycle; the affine warp waits until all have arrived */
    STAT("dac.batches", 1);
    STAT("dac.batch_ctas", 8);
}
END_TEST

/* The L1 has four sets of two ways, and only one way of a set may be locked. 8 warps read 4 lines each, and all lines
 * are in set 0: the word of thread t in load i (0 to 3) is at t / 32 * 512 + t % 32 * 4 + i * 4096. So only one line
 * can be locked at a time. If a warp's second line were locked before its first, the warp would wait for itself. If
 * `lock_timeout` is longer than the launch, each line gets its lock. If it is 0, each line that is refused a lock
 * continues without one. */
START_TEST(lines_wait_for_their_locks) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%tid.y;\n"
        " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,512,%a2;\n"
        " ld.global.u32 %r3,[%a2]; ld.global.u32 %r4,[%a2+4096]; ld.global.u32 %r5,[%a2+8192];\n"
        " ld.global.u32 %r6,[%a2+12288]; add.u32 %r3,%r3,%r4; add.u32 %r5,%r5,%r6; add.u32 %r3,%r3,%r5;\n"
        " st.global.u32 [%a2+16384],%r3; ret;\n}\n";
    static const char *const waits[] = {"dac.lock_timeout=0", "dac.lock_timeout=1000000"};
    static const char *const queue[] = {"lsu.prefetch_queue=16", "lsu.prefetch_queue=1"};
    static uint32_t in[BUFFER / 4], out[1024];
    for (uint32_t i = 0; i < BUFFER / 4; i++)
        in[i] = i * i;
    for (int late = 0; late < 2; late++) {
        const char *const set[] = {"gpu.sms=1", "l1.size=1024", "l1.ways=2", waits[late], queue[_i], NULL};
        open_with("spe+dac", set, 100000);
        heddle_write(h, buffer, in, sizeof in);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_msg(heddle_launch(h, load(text), "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 8, 1}, 0,
                                    args, 1) == HEDDLE_OK,
                      "%s", heddle_error(h));
        heddle_read(h, buffer + 16384, out, sizeof out);
        for (uint32_t i = 0; i < 1024; i++)
            ck_assert_uint_eq(out[i], i % 128 < 32 ? in[i] + in[i + 1024] + in[i + 2048] + in[i + 3072] : in[i + 4096]);
        STAT("dac.lines", 32);
        STAT("dac.locked_max", 1);
        if (late)
            STAT("dac.lines_without_lock", 0);
        else
            ck_assert_double_gt(stat("dac.lines_without_lock"), 0);
    }
}
END_TEST

/* Queues of one entry must lose no entries, must never exceed their size, and must count how often they were full. */
START_TEST(smallest_queues) {
    static const char *const set[] = {"gpu.sms=1", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", NULL};
    figure_4(set, bases_with("+dac")->name[_i], 2, 64, 5, 128);
    STAT("dac.atq_max", 1);
    STAT("dac.decoupled_loads", 20);
    STAT("dac.spills", 0);
    ck_assert_double_gt(stat("dac.atq_full"), 0);
    ck_assert_double_gt(stat("dac.pwaq_full"), 0);
}
END_TEST

/* Up to four affine warps share one affine tuple queue (ATQ) with a single entry, and each CTA has its own affine warp.
 * The entry of one affine warp must not block the other affine warps forever, and it must not reach a CTA of another
 * affine warp. */
START_TEST(contexts_share_the_smallest_queues) {
    static const char *const contexts[] = {"dac.contexts=1", "dac.contexts=2", "dac.contexts=3", "dac.contexts=4"};
    for (int i = 0; i < 4; i++) {
        const char *const set[] = {"gpu.sms=1",   "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1",
                                   "dac.batch=1", "sm.ctas=5", contexts[i],  NULL};
        figure_4(set, bases_with("+dac")->name[_i], 8, 64, 5, 512);
        STAT("dac.atq_max", 1);
        STAT("dac.batches", 8);
        STAT("dac.decoupled_loads", 80);
        STAT("dac.affine_instructions", 8 * (11 + 5 * 9));
        STAT("dac.spills", 0);
        /* as many affine warps run at a time as there are contexts */
        ck_assert_double_gt(stat("sm.context_cycles"), 0.7 * (i + 1) * stat("gpu.cycles"));
        ck_assert_double_le(stat("sm.context_cycles"), (i + 1) * stat("gpu.cycles"));
    }
}
END_TEST

/* The addresses of a warp are in two lines, but its queue has room for one line. So the load computes its addresses
 * itself, and no line is requested early. */
START_TEST(wider_than_the_queue) {
    static const char *const set[] = {"gpu.sms=1", "dac.pwaq=1", NULL};
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<3>; .reg .b64 %a<3>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
        " mad.wide.u32 %a1,%r1,8,%a1; ld.global.u32 %r2,[%a1]; st.global.u32 [%a1+4],%r2; ret;\n}\n";
    struct heddle_arg args[] = {{&buffer, 8}};
    uint32_t word[128];
    open_with("spe+dac", set, 100000);
    for (uint32_t i = 0; i < 128; i++)
        word[i] = i % 2 ? 0 : i + 7;
    heddle_write(h, buffer, word, sizeof word);
    ck_assert_int_eq(start(load(text), "k", 1, 64, args, 1), HEDDLE_OK);
    heddle_read(h, buffer, word, sizeof word);
    for (uint32_t i = 0; i < 128; i++)
        ck_assert_uint_eq(word[i], i - i % 2 + 7);
    STAT("dac.records", 4);
    STAT("dac.wide_records", 4);
    STAT("dac.lines", 0);
    STAT("dac.spills", 0);
}
END_TEST

/* The queue has one record. A branch on tid has a load on each side. The side that comes second in the affine stream
 * gets its address as soon as the first side has read its own address. So the second side waits only for its line, and
 * no entry has to exceed the queue's size. */
START_TEST(a_warp_that_waits_for_lines_is_not_stuck) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n mov.u32 %r1,%tid.x;\n"
        " mad.wide.u32 %a2,%r1,4,%a1; setp.lt.u32 %p1,%r1,16; @%p1 bra A;\n"
        " ld.global.u32 %r2,[%a2+1024]; add.u32 %r2,%r2,1; bra E;\nA: ld.global.u32 %r2,[%a2]; add.u32 %r2,%r2,3;\n"
        "E: st.global.u32 [%a2+8192],%r2; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", "dac.pwaq=1", NULL};
    static const char *const models[] = {"spe+dac", "dpe+dac", "dws10+dac", "dws50+dac", "its+dac", "si+dac"};
    uint32_t word[288], got[32];
    open_with(models[_i], set, 100000);
    for (uint32_t i = 0; i < 288; i++)
        word[i] = i;
    heddle_write(h, buffer, word, sizeof word);
    struct heddle_arg args[] = {{&buffer, 8}};
    ck_assert_msg(start(load(text), "k", 1, 32, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, buffer + 8192, got, sizeof got);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(got[t], t < 16 ? t + 3 : t + 256 + 1);
    STAT("dac.lines", 2);
    STAT("dac.spills", 0);
}
END_TEST

/* All warps poll a word of global memory until warp 0 sets it, after eight loads. Entries for code after the loop are
 * also sent to the polling warps, and fill their queues. Then warp 0 gets no more entries, because the entries of a CTA
 * are expanded in order. The kernel must still end, with all queue sizes: an expansion unit waits for a full queue only
 * up to a limit for each entry. */
START_TEST(polling_warps_do_not_block_their_cta) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n mov.u32 %r1,%tid.x;\n"
        " mad.wide.u32 %a2,%r1,4,%a1; shr.u32 %r2,%r1,5; mad.wide.u32 %a3,%r2,4,%a1;\n"
        "L: ld.global.u32 %r3,[%a3+1024]; setp.eq.u32 %p1,%r3,0; @%p1 bra L;\n mov.u32 %r4,0;\n"
        " ld.global.u32 %r5,[%a2]; add.u32 %r4,%r4,%r5;\n ld.global.u32 %r5,[%a2+4]; add.u32 %r4,%r4,%r5;\n"
        " ld.global.u32 %r5,[%a2+8]; add.u32 %r4,%r4,%r5;\n ld.global.u32 %r5,[%a2+12]; add.u32 %r4,%r4,%r5;\n"
        " ld.global.u32 %r5,[%a2+16]; add.u32 %r4,%r4,%r5;\n ld.global.u32 %r5,[%a2+20]; add.u32 %r4,%r4,%r5;\n"
        " ld.global.u32 %r5,[%a2+24]; add.u32 %r4,%r4,%r5;\n ld.global.u32 %r5,[%a2+28]; add.u32 %r4,%r4,%r5;\n"
        " st.global.u32 [%a3+1028],%r4; st.global.u32 [%a2+4096],%r4; ret;\n}\n";
    static const char *const small[] = {"gpu.sms=1", "dac.atq=1", "dac.pwaq=1", NULL},
                             *const medium[] = {"gpu.sms=1", "dac.atq=3", "dac.pwaq=48", NULL},
                             *const large[] = {"gpu.sms=1", "dac.pwaq=4096", NULL};
    static const char *const *const sets[] = {small, medium, large};
    /* not tested under tbc and large, where warp 0 would wait for the polling warp at the end of the loop: they do not
     * recognise a loop with ordinary loads as a loop that waits for other threads */
    const bool polls = base_models()->ops[_i] != &reconv_tbc && strcmp(base_models()->name[_i], "large") != 0;
    for (int k = 0; k < 3 && polls; k++) {
        uint32_t word[257], got[64];
        open_with(bases_with("+dac")->name[_i], sets[k], 2000000);
        for (uint32_t i = 0; i < 257; i++)
            word[i] = i == 256 ? 1 : i + 1;
        heddle_write(h, buffer, word, sizeof word);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_msg(start(load(text), "k", 1, 64, args, 1) == HEDDLE_OK, "%.900s", heddle_error(h));
        heddle_read(h, buffer + 4096, got, sizeof got);
        for (uint32_t t = 0; t < 64; t++)
            ck_assert_uint_eq(got[t], 8 * (t + 1) + 28);
        STAT("dac.decoupled_kernels", 1);
        ck_assert_double_ge(stat("dac.decoupled_loads"), 16);
        ck_assert(k != 0 || stat("dac.spills") > 0);
        ck_assert(k != 2 || stat("dac.spills") == 0);
    }
}
END_TEST

/* Lines of loads from local memory are also requested early. Each thread of the two warps has 64 words, and stores
 * words n to n + 3 and word tid. A word at a scalar offset is in one line for all lanes. Lines of each warp: u32 [n] 1;
 * v2.u32 [n + 2] 2; u8 [n + 1] 1; u32 [tid] 32 (one for each lane); and 1 line in global memory for `n`. With 64
 * records for each warp in the per-warp address queue, all lines are requested. With fewer records, the load of [tid]
 * has too many lines. */
START_TEST(local_loads_request_their_lines) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".local .align 16 .b8 depot[256];\n.reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n"
        " ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mov.u64 %a2,depot; mul.wide.u32 %a3,%r1,4; add.u64 %a4,%a2,%a3;\n"
        " mad.wide.u32 %a5,%r2,4,%a2; mad.wide.u32 %a6,%r2,4,%a1; st.local.u32 [%a5],%r2;\n"
        " ld.global.u32 %r3,[%a6]; st.local.u32 [%a4],%r3; st.local.v2.u32 [%a4+8],{%r3,%r2};\n"
        " st.local.u32 [%a4+4],%r3;\n"
        " ld.local.u32 %r4,[%a4]; ld.local.v2.u32 {%r5,%r6},[%a4+8]; ld.local.u8 %r7,[%a4+4];\n"
        " ld.local.u32 %r8,[%a5];\n add.u32 %r4,%r4,%r5; add.u32 %r4,%r4,%r6; add.u32 %r4,%r4,%r7;\n"
        " add.u32 %r4,%r4,%r8; st.global.u32 [%a6],%r4; ret;\n}\n";
    static const char *const wide[] = {"gpu.sms=1", "dac.pwaq=1024", NULL}, *const narrow[] = {"gpu.sms=1", NULL};
    const uint32_t n = 40;
    uint32_t word[64];
    for (int k = 0; k < 2; k++) {
        open_with("spe+dac", k ? narrow : wide, 100000);
        for (uint32_t i = 0; i < 64; i++)
            word[i] = 1000 + i;
        heddle_write(h, buffer, word, sizeof word);
        struct heddle_arg args[] = {{&buffer, 8}, {&n, 4}};
        ck_assert_msg(start(load(text), "k", 1, 64, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
        heddle_read(h, buffer, word, sizeof word);
        for (uint32_t t = 0; t < 64; t++) {
            uint32_t v = 1000 + t, own = t >= n && t < n + 3 ? v : t; /* word n + 3 has the value tid */
            ck_assert_uint_eq(word[t], v + v + t + (v & 255) + own);
        }
        STAT("dac.decoupled_loads", 10);
        STAT("dac.lines", k ? 2 * 5 : 2 * 37);
    }
}
END_TEST

/* The second launch of a context must start without state of the first launch. Its loads miss, because fermi empties
 * the L1 between launches. */
START_TEST(launches_have_their_own_state) {
    static const char *const names[] = {
        "dac.affine_slots", "dac.tuple_reads",  "dac.atq_accesses", "dac.lines",           "dac.batches",
        "dac.records",      "dac.masks",        "dac.unlocks",      "dac.loads",           "dac.address_cycles",
        "dac.spills",       "dac.tuple_writes", "dac.batch_ctas",   "dac.predicate_cycles"};
    static const char *const set[] = {"gpu.sms=1", NULL};
    uint32_t dim = 5, num = 64;
    open_with("spe+dac", set, 1000000);
    uint64_t to = buffer + BUFFER / 2;
    struct heddle_arg args[] = {{&buffer, 8}, {&to, 8}, {&dim, 4}, {&num, 4}};
    struct heddle_module *m = heddle_module_file(h, "kernels/affine.ptx");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(start(m, "example", 1, 64, args, 4), HEDDLE_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(heddle_stat(h, 1, names[i]) == heddle_stat(h, 0, names[i]), "%s: %g, then %g", names[i],
                      heddle_stat(h, 0, names[i]), heddle_stat(h, 1, names[i]));
}
END_TEST

/* Thread t reads the word that thread 63 - t, which is in the other warp, stores before a barrier. Warp 1 executes
 * `rounds` loop iterations before its store, so the barrier completes late. The address of the load is in the ATQ
 * early, but must not be expanded before the barrier, because the line would have the old value. The line is requested
 * once, after the barrier. The load waits for its entry in the empty queue. */
START_TEST(nothing_is_expanded_across_a_barrier) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p]; ld.param.u32 %r7,[n];\n"
        " mov.u32 %r1,%tid.x; mad.wide.u32 %a2,%r1,4,%a1;\n"
        " ld.global.u32 %r2,[%a2+4096];\n" /* data: number of iterations */
        "W: setp.eq.u32 %p1,%r2,0; @%p1 bra D; sub.u32 %r2,%r2,1; bra W;\n"
        "D: add.u32 %r3,%r1,100; st.global.u32 [%a2],%r3;\n bar.sync 0;\n"
        " xor.b32 %r4,%r1,32; sub.u32 %r5,63,%r1; mad.wide.u32 %a3,%r5,4,%a1; ld.global.u32 %r6,[%a3];\n"
        " st.global.u32 [%a2+8192],%r6; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL};
    uint32_t rounds[64], got[64], n = 0;
    double cycles[2], waited[2];
    for (uint32_t late = 0; late < 2; late++) {
        open_with("spe+dac", set, 1000000);
        for (uint32_t i = 0; i < 64; i++)
            rounds[i] = late && i >= 32 ? 200 : 0;
        heddle_write(h, buffer + 4096, rounds, sizeof rounds);
        struct heddle_arg args[] = {{&buffer, 8}, {&n, 4}};
        ck_assert_msg(start(load(text), "k", 1, 64, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
        heddle_read(h, buffer + 8192, got, sizeof got);
        for (uint32_t i = 0; i < 64; i++)
            ck_assert_uint_eq(got[i], 100 + 63 - i);
        cycles[late] = stat("gpu.cycles");
        waited[late] = stat("dac.atq_cycles");
        STAT("dac.lines", 4);
        STAT("dac.decoupled_loads", 4);
    }
    /* 200 iterations of four dependent instructions take at least 800 cycles; meanwhile the ATQ holds the two entries
     * for code after the barrier */
    ck_assert_double_gt(cycles[1] - cycles[0], 800);
    ck_assert_double_ge(waited[1] - waited[0], 2 * (cycles[1] - cycles[0]) * 0.95);
}
END_TEST

/* The machine has fewer tuple registers than the stream of Figure 4 needs: a, b, num, dim, tid, r0, r1, addrA, addrB, i
 * and r3, some of which share a register. With one register, the kernel is not decoupled, and takes as many cycles as
 * without dac. With more registers, more instructions are decoupled. The results are equal. */
START_TEST(too_few_tuple_registers) {
    char option[64];
    const char *const set[] = {"gpu.sms=1", option, NULL};
    uint32_t enough;
    double whole, before = 0;
    snprintf(option, sizeof option, "dac.tuples=1");
    figure_4(set, "spe+dac", 2, 64, 5, 128);
    whole = stat("gpu.cycles");
    const char *at = strstr(heddle_notes(h), "needs ");
    ck_assert_msg(at && strstr(heddle_notes(h), "kernel 'example'") && strstr(heddle_notes(h), "warp has 1 ("), "%s",
                  heddle_notes(h));
    ck_assert_ptr_nonnull(strstr(heddle_notes(h), "left whole"));
    enough = (uint32_t)strtoul(at + 6, NULL, 10);
    ck_assert_msg(enough >= 6 && enough <= 11, "%u", enough);
    STAT("dac.kernels", 1);
    STAT("dac.limited_kernels", 1);
    STAT("dac.decoupled_kernels", 0);
    STAT("dac.affine_instructions", 0);
    figure_4((const char *const[]){"gpu.sms=1", NULL}, "spe", 2, 64, 5, 128);
    STAT("gpu.cycles", whole);
    for (uint32_t k = 2; k <= enough; k++) {
        snprintf(option, sizeof option, "dac.tuples=%u", k);
        figure_4(set, "spe+dac", 2, 64, 5, 128);
        double sent = stat("dac.decoupled_loads") + stat("dac.decoupled_addresses");
        STAT("dac.limited_kernels", k < enough);
        ck_assert_int_eq(*heddle_notes(h) != 0, k < enough);
        ck_assert_double_ge(sent, before);
        ck_assert(k < enough ? sent < 40 : sent == 40); /* 2 CTAs x 2 warps x 5 iterations x (a load and a store) */
        if (k + 1 == enough)
            ck_assert_double_gt(sent, 0);
        before = sent;
        figure_4(set, "functional+dac", 2, 64, 5, 128);
        STAT("dac.limited_kernels", k < enough);
        ck_assert_double_eq(stat("dac.decoupled_loads") + stat("dac.decoupled_addresses"), sent);
    }
}
END_TEST

/* Sizes outside their ranges. */
START_TEST(bad_sizes) {
    static const char *const bad[] = {"dac.atq=0",  "dac.atq=4097",  "dac.pwaq=0",     "dac.pwaq=65537",  "dac.pwpq=0",
                                      "dac.pwpq=x", "dac.batch=33",  "dac.tuples=0",   "dac.tuples=4097", "dac.atq=-1",
                                      "dac.size=4", "dac.pwaq=1e99", "dac.contexts=0", "dac.contexts=5"};
    char err[512];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const set[] = {bad[i], NULL};
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(bad[i], "="), bad[i]);
        struct heddle *none = heddle_open(&(struct heddle_options){.model = "spe+dac", .set = set}, err, sizeof err);
        ck_assert_msg(!none && strstr(err, key), "%s: %s", bad[i], none ? "taken" : err);
    }
}
END_TEST

/* A kernel without affine code takes as many cycles with dac as without it. */
START_TEST(nothing_to_decouple) {
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               ".reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n"
                               " atom.global.add.u32 %r1,[%a1],1; mad.wide.u32 %a2,%r1,4,%a1;\n"
                               " st.global.u32 [%a2+4],%r1; ret;\n}\n";
    static const char *const models[] = {"spe", "spe+dac"};
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        open_with(models[i], (const char *const[]){"gpu.sms=1", NULL}, 100000);
        struct heddle_arg args[] = {{&buffer, 8}};
        ck_assert_int_eq(start(load(text), "k", 2, 64, args, 1), HEDDLE_OK);
        cycles[i] = stat("gpu.cycles");
    }
    STAT("dac.kernels", 1);
    STAT("dac.decoupled_kernels", 0);
    STAT("dac.affine_instructions", 0);
    ck_assert_double_eq(cycles[0], cycles[1]);
}
END_TEST

SUITE(mechanisms_dac) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(figure_4_by_hand);
    TEST(ragged_warps_and_lines);
    TEST(batches);
    TEST_LOOP(lines_wait_for_their_locks, 0, 2);
    TEST_LOOP(smallest_queues, 0, base_models()->n);
    TEST_LOOP(contexts_share_the_smallest_queues, 0, base_models()->n);
    TEST(wider_than_the_queue);
    TEST(launches_have_their_own_state);
    TEST(nothing_is_expanded_across_a_barrier);
    TEST(too_few_tuple_registers);
    TEST(bad_sizes);
    TEST(nothing_to_decouple);
    TEST_LOOP(a_warp_that_waits_for_lines_is_not_stuck, 0, 6);
    TEST_LOOP(polling_warps_do_not_block_their_cta, 0, base_models()->n);
    TEST(local_loads_request_their_lines);
}
