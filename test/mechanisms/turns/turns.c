/* Tests warps that take turns (sm.running_warps): their order, the registers that move, and the CTAs that fit. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>
#include <stdlib.h>

#define HEAD ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"

static struct heddle *open_run(const char *model, const char *config, const char *const *set) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s %s: %s", model, config, err);
    return h;
}

/* Runs `text` with a zeroed buffer of `bytes` bytes, and copies the buffer to `out`. */
static void run(struct heddle *h, const char *text, uint32_t ctas, uint32_t threads, void *out, uint64_t bytes) {
    struct heddle_module *m = heddle_module_text(h, "core.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, bytes);
    unsigned char *zero = calloc(1, bytes);
    ck_assert_int_eq(heddle_write(h, p, zero, bytes), HEDDLE_OK);
    free(zero);
    struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, &arg,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    if (out)
        ck_assert_int_eq(heddle_read(h, p, out, bytes), HEDDLE_OK);
}

static double stat(const struct heddle *h, const char *name) { return heddle_stat(h, -1, name); }

/* Each warp takes a ticket before, between and after two barriers. The tickets give the order in which warps run. At
 * most three registers and a predicate are live. */
static const char tickets[] =
    HEAD ".reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
         "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nsetp.ne.u32 %p, %r2, 0;\n"
         "shr.u32 %r1, %r1, 5;\nmul.wide.u32 %d2, %r1, 12;\nadd.u64 %d2, %d2, %d1;\n"
         "@!%p atom.global.add.u32 %r3, [%d1+124], 1;\n@!%p st.global.u32 [%d2], %r3;\nbar.sync 0;\n"
         "@!%p atom.global.add.u32 %r3, [%d1+124], 1;\n@!%p st.global.u32 [%d2+4], %r3;\nbar.sync 0;\n"
         "@!%p atom.global.add.u32 %r3, [%d1+124], 1;\n@!%p st.global.u32 [%d2+8], %r3;\nret;\n}\n";

/* Four warps, one running at a time. The order of the warps is:
 * - 0 1 2 3 arrive in order
 * - 3 releases the barrier and continues to the second barrier: 3 0 1 2
 * - 2 releases the second barrier and ends: 2 0 1 3
 * A machine on which all warps run may have another order. */
START_TEST(warps_take_turns) {
    static const uint32_t first[] = {0, 1, 2, 3}, second[] = {5, 6, 7, 4}, third[] = {9, 10, 8, 11};
    const int bases = base_models()->n, i = _i % (bases + 1);
    const char *const *set = (const char *const[]){"gpu.poll=on", NULL};
    uint32_t out[32];
    struct heddle *h = open_run(i < bases ? base_models()->name[i] : "pepsc", "pepsc", _i == i ? NULL : set);
    run(h, tickets, 1, 128, out, sizeof out);
    for (int w = 0; w < 4; w++) {
        ck_assert_uint_eq(out[3 * w], first[w]);
        ck_assert_uint_eq(out[3 * w + 1], second[w]);
        ck_assert_uint_eq(out[3 * w + 2], third[w]);
    }
    /* - nine swaps, as old warp > new warp: 0>1 1>2 2>3 at the first barrier, then 3>0 0>1 1>2, then 2>0 0>1 1>3 when
     *   warps end
     * - six swaps store the old warp, and six load the new warp, since the first three start new warps
     * - %d1, %d2 and %r3 (whose writes are guarded) are live at both barriers; these are five words, and one word moves
     *   per cycle */
    ck_assert_double_eq(stat(h, "sm.warp_swaps"), 9);
    ck_assert_double_eq(stat(h, "sm.swap_stores"), 6. * 5);
    ck_assert_double_eq(stat(h, "sm.swap_loads"), 6. * 5);
    ck_assert_double_eq(stat(h, "sm.swap_cycles"), 12. * 5);
    ck_assert_double_eq(stat(h, "gpu.max_resident_warps"), 4);
    heddle_close(h);
}
END_TEST

/* A kernel with two places, FIRST and SECOND, at which a barrier swaps warps. A swap stores and loads the live words of
 * a warp: three words (%d2 and %r6) at FIRST, and none at SECOND. The largest number of live words is nine, at `add
 * %r3`: %d1, %d2, %r1 and the terms of the sum. */
#define MOVES(FIRST, SECOND)                                                                                           \
    ".reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<3>;\n"                                                               \
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nshl.b32 %r2, %r1, 1;\n"                  \
    "shl.b32 %r3, %r1, 2;\nshl.b32 %r4, %r1, 3;\nshl.b32 %r5, %r1, 4;\nadd.u32 %r3, %r3, %r2;\n"                       \
    "add.u32 %r4, %r4, %r3;\nadd.u32 %r6, %r5, %r4;\nadd.u32 %r6, %r6, %r1;\nadd.u64 %d2, %d2, %d1;\n" FIRST           \
    "st.global.u32 [%d2], %r6;\n" SECOND "ret;\n}\n"

/* Four warps run in the order of the test above: three warps leave at the first barrier and return to it. At the second
 * barrier no word is live.
 * - rows[0]: the kernel above
 * - rows[1]: half of the lanes have exited, and need no words
 * - rows[2]: half of the lanes wait at the barrier and half elsewhere, so all nine words are moved
 * - rows[3]: the warp waits inside a function, so all nine words are moved
 * In each case, 3 swaps store words and 3 swaps load words. */
START_TEST(live_words_move) {
    static const struct {
        const char *text;
        double stored;
    } rows[] = {
        {HEAD MOVES("bar.sync 0;\n", "bar.sync 0;\n"), 3 * 3},
        {HEAD MOVES("and.b32 %r7, %r1, 31;\nsetp.gt.u32 %p, %r7, 15;\n@%p exit;\nbar.sync 0;\n", "bar.sync 0;\n"),
         3 * 3},
        {HEAD MOVES(
             "and.b32 %r7, %r1, 31;\nsetp.gt.u32 %p, %r7, 15;\n@%p bra J;\nbar.sync 0, 64;\nadd.u32 %r6, %r6, 1;\nJ:\n",
             ""),
         3 * 9},
        {".version 7.0 .target sm_70 .address_size 64\n.func f() {\nbar.sync 0;\nret;\n}\n"
         ".visible .entry k(.param .u64 p) {\n" MOVES("call f;\n", ""),
         3 * 9},
    };
    struct heddle *h = open_run("spe", "pepsc", (const char *const[]){"pepsc.registers=0", NULL});
    uint32_t out[128];
    run(h, rows[_i].text, 1, 128, out, sizeof out);
    for (uint32_t t = 0; t < 128; t++) /* %r6 is t x (4 + 2 + 8 + 16 + 1) */
        if (_i == 0 || _i == 3 || (t & 31) < 16)
            ck_assert_uint_eq(out[t], 31 * t + (_i == 2));
    ck_assert_double_eq(stat(h, "sm.warp_swaps"), 6);
    ck_assert_double_eq(stat(h, "sm.swap_stores"), rows[_i].stored);
    ck_assert_double_eq(stat(h, "sm.swap_loads"), rows[_i].stored);
    ck_assert_double_eq(stat(h, "sm.swap_cycles"), 2 * rows[_i].stored);
    heddle_close(h);
}
END_TEST

/* With one warp, or if all warps may run at the same time, there are no swaps, and cycles are the same as without
 * swapping. */
START_TEST(no_swaps_without_other_warps) {
    static const struct {
        const char *turn;
        uint32_t threads;
    } rows[] = {{"sm.running_warps=1", 32}, {"sm.running_warps=4", 128}};
    double cycles[2];
    for (int k = 0; k < 2; k++) {
        struct heddle *h =
            open_run("spe", "pepsc",
                     (const char *const[]){k ? rows[_i].turn : "sm.running_warps=0", "sm.registers=16384", NULL});
        run(h, tickets, 3, rows[_i].threads, NULL, 128);
        cycles[k] = stat(h, "gpu.cycles");
        ck_assert_double_eq(stat(h, "sm.warp_swaps"), 0);
        heddle_close(h);
    }
    ck_assert_double_eq(cycles[0], cycles[1]);
}
END_TEST

/* The first of three warps spins until another warp has written a word. With one warp running at a time, the two
 * others wait for their turn for ever, and the deadlock report must count them. */
START_TEST(a_report_counts_the_waiting_warps) {
    static const char spins[] = HEAD ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;\nld.param.u64 %d, [p];\n"
                                     "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p, %r1, 31;\n@%p bra W;\n"
                                     "L: ld.volatile.global.u32 %r2, [%d];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n"
                                     "W: st.volatile.global.u32 [%d], 1;\nret;\n}\n";
    static const struct {
        const char *turns, *line;
    } rows[] = {{"sm.running_warps=1", "  2 warps wait for a turn on the lanes (sm.running_warps)\n"},
                {"sm.running_warps=2", NULL}};
    struct heddle *h = open_run("spe", "fermi", (const char *const[]){"gpu.sms=1", rows[_i].turns, NULL});
    struct heddle_module *m = heddle_module_text(h, "spins.ptx", spins, strlen(spins));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4), zero = 0;
    ck_assert_int_eq(heddle_write(h, p, &zero, 4), HEDDLE_OK);
    struct heddle_arg arg = {&p, 8};
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){96, 1, 1}, 0, &arg, 1);
    ck_assert_int_eq(s, rows[_i].line ? HEDDLE_DEADLOCK : HEDDLE_OK);
    if (rows[_i].line)
        ck_assert_msg(strstr(heddle_error(h), rows[_i].line) != NULL, "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

/* One of two warps runs at a time. In each warp, the upper half waits at a CTA barrier, and the lower half waits for
 * the upper half, because the mask of its vote has all lanes. The first warp must give up its turn, because both warps
 * must arrive at the barrier. Under spe and dpe, such a barrier is a deadlock. */
START_TEST(a_wait_for_a_member_mask_keeps_no_turn) {
    static const char *const models[] = {"its", "dws", "si", "tbc", "capri"};
    static const char text[] = HEAD ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;\nld.param.u64 %d1, [p];\n"
                                    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\n"
                                    "and.b32 %r2, %r1, 16;\nsetp.eq.u32 %p, %r2, 0;\n@%p bra V;\n"
                                    "barrier.sync 0, 32;\n"
                                    "V: vote.sync.ballot.b32 %r3, %p, -1;\nst.global.u32 [%d1], %r3;\nret;\n}\n";
    struct heddle *h = open_run(models[_i], "fermi", (const char *const[]){"gpu.sms=1", "sm.running_warps=1", NULL});
    uint32_t out[64];
    run(h, text, 1, 64, out, sizeof out);
    for (int t = 0; t < 64; t++)
        ck_assert_uint_eq(out[t], 0xffff);
    heddle_close(h);
}
END_TEST

/* An SM has 16384 registers. A CTA has 8 warps with 32 registers per thread, that is, 1024 registers per warp.
 * - if all warps may run (0 or 128), a CTA needs 8192 registers, so 2 CTAs fit
 * - with n running warps a CTA needs only n x 1024 registers: 4 CTAs for n = 4, 5 CTAs for n = 3
 * - with n = 1, registers would suffice for 16 CTAs, but the limit of 48 warps allows only 6
 * The occupancy is the same in the functional model. */
START_TEST(more_ctas_fit) {
    static const struct {
        const char *turns;
        int ctas;
    } rows[] = {{"sm.running_warps=0", 2},
                {"sm.running_warps=1", 6},
                {"sm.running_warps=3", 5},
                {"sm.running_warps=4", 4},
                {"sm.running_warps=128", 2}};
    static const char *const models[] = {"spe", "functional", "its+chain"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct heddle *h = open_run(
            models[i], "fermi",
            (const char *const[]){rows[_i].turns, "sm.registers=16384", "sm.thread_registers=32", "gpu.sms=1", NULL});
        struct heddle_module *m = heddle_module_text(h, "core.ptx", tickets, strlen(tickets));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        ck_assert_int_eq(heddle_occupancy(h, m, "k", (struct heddle_dim){256, 1, 1}, 0), rows[_i].ctas);
        if (i != 1) {
            run(h, tickets, 20, 256, NULL, 256);
            ck_assert_double_eq(stat(h, "gpu.max_resident_warps"), 8 * rows[_i].ctas);
        }
        heddle_close(h);
    }
}
END_TEST

SUITE(mechanisms_turns) {
    TEST_LOOP(warps_take_turns, 0, 2 * (base_models()->n + 1));
    TEST_LOOP(live_words_move, 0, 4);
    TEST_LOOP(no_swaps_without_other_warps, 0, 2);
    TEST_LOOP(a_report_counts_the_waiting_warps, 0, 2);
    TEST_LOOP(a_wait_for_a_member_mask_keeps_no_turn, 0, 5);
    TEST_LOOP(more_ctas_fit, 0, 5);
}
