/* Tests DAC with swapped-out warps (sm.running_warps) and several resident CTAs. A swapped-out CTA passes no barrier
 * until another CTA has ended. But that other CTA may wait for entries of the affine tuple queue (ATQ), which the
 * affine warp fills in order, behind the entries of the swapped-out CTA. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { CTAS = 3, LANES = 32, ROUNDS = 8, WORDS = CTAS * LANES * ROUNDS };

/* Writes a kernel whose threads wait at a barrier in each iteration, and then compute 3 * sum + word. */
static void write_kernel(char *text, size_t size) {
    int at = snprintf(text, size,
                      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                      ".reg .b32 %%r<9>; .reg .b64 %%a<9>;\nld.param.u64 %%a1,[p]; mov.u32 %%r1,%%tid.x;\n"
                      "mov.u32 %%r2,%%ctaid.x; mad.wide.u32 %%a2,%%r1,4,%%a1; mad.wide.u32 %%a2,%%r2,%d,%%a2;\n"
                      "mov.u32 %%r4,0;\n",
                      LANES * ROUNDS * 4);
    for (int i = 0; i < ROUNDS; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "bar.sync 0; ld.global.u32 %%r3,[%%a2+%d]; mad.lo.u32 %%r4,%%r4,3,%%r3;\n", i * LANES * 4);
    snprintf(text + at, size - (size_t)at, "st.global.u32 [%%a2],%%r4; ret; }\n");
}

/* An ATQ of one entry is soon full. Then the address units expand entries for code after a barrier ahead of time, for
 * CTAs that are swapped out: eight loads and a store for each warp. If all CTAs are swapped in, or if the ATQ has room
 * for the nine entries, no entry is expanded ahead. The same holds if each CTA has an affine warp of its own. */
static const struct {
    const char *turns, *atq, *batch;
    int batches, ahead;
} cases[] = {{"sm.running_warps=1", "dac.atq=1", "dac.batch=0", 1, 2 * (ROUNDS + 1)},
             {"sm.running_warps=2", "dac.atq=1", "dac.batch=0", 1, ROUNDS + 1},
             {"sm.running_warps=3", "dac.atq=1", "dac.batch=0", 1, 0},
             {"sm.running_warps=1", "dac.atq=10", "dac.batch=0", 1, 0},
             {"sm.running_warps=0", "dac.atq=1", "dac.batch=0", 1, 0},
             {"sm.running_warps=2", "dac.atq=1", "dac.batch=1", CTAS, ROUNDS + 1},
             {"sm.running_warps=0", "dac.atq=1", "dac.batch=1", CTAS, 0}};
enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(ctas_without_a_turn_do_not_block) {
    const struct every_model *models = bases_with("+dac");
    static uint32_t words[WORDS], got[WORDS];
    char text[4096], err[512];
    write_kernel(text, sizeof text);
    for (int m = 0; m < models->n; m++) {
        const char *const set[] = {"gpu.sms=1",      cases[_i].turns,  cases[_i].atq, cases[_i].batch,
                                   "dac.contexts=3", "dac.pwaq=65536", NULL};
        struct heddle *h = heddle_open(
            &(struct heddle_options){.model = models->name[m], .config = "fermi", .set = set}, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *k = heddle_module_text(h, "k.ptx", text, strlen(text));
        ck_assert_msg(k != NULL, "%s", heddle_error(h));
        for (uint32_t i = 0; i < WORDS; i++)
            words[i] = i * 2654435761u;
        uint64_t p = heddle_alloc(h, sizeof words);
        heddle_write(h, p, words, sizeof words);
        struct heddle_arg arg = {&p, 8};
        ck_assert_msg(heddle_launch(h, k, "k", (struct heddle_dim){CTAS, 1, 1}, (struct heddle_dim){LANES, 1, 1}, 0,
                                    &arg, 1) == HEDDLE_OK,
                      "%s: %s", models->name[m], heddle_error(h));
        heddle_read(h, p, got, sizeof got);
        for (uint32_t c = 0; c < CTAS; c++)
            for (uint32_t l = 0; l < LANES; l++) {
                uint32_t want = 0, *own = &words[c * LANES * ROUNDS + l];
                for (uint32_t i = 0; i < ROUNDS; i++)
                    want = want * 3 + own[i * LANES];
                ck_assert_uint_eq(got[c * LANES * ROUNDS + l], want);
            }
        ck_assert_msg((int)heddle_stat(h, 0, "dac.spills") == cases[_i].ahead, "%s: %g ahead", models->name[m],
                      heddle_stat(h, 0, "dac.spills"));
        ck_assert_double_eq(heddle_stat(h, 0, "dac.batches"), cases[_i].batches);
        heddle_close(h);
    }
}
END_TEST

SUITE(mechanisms_dac_turns) { TEST_LOOP(ctas_without_a_turn_do_not_block, 0, CASES); }
