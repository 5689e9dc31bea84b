/* A shortage of entries in the model's tables never starves a warp. A build with the smallest tables (TINY=1) has
 * two memory instructions and eight instructions in flight. In other builds the tables are large enough, and the
 * kernels simply end. */
#include "host/heddle.h"
#include "test/test.h"
#include <string.h>

enum { CTAS = 16, ROUNDS = 6 };

/* In each iteration, every CTA arrives at a counter in memory and spins until all CTAs have arrived. Spinning warps
 * request the memory pipe again and again while other CTAs have not arrived. Some of the spinning warps have
 * priority over warps that have not arrived, because they are older or belong to an earlier scheduler. */
static const char meet[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                           ".reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %q<4>;\n"
                           "ld.param.u64 %d1,[p]; mov.u32 %r2,%nctaid.x; mov.u32 %r5,%tid.x; mov.u32 %r3,0;\n"
                           "LOOP: bar.sync 0; setp.ne.u32 %q1,%r5,0; add.u32 %r3,%r3,1; @%q1 bra MET;\n"
                           "mul.lo.u32 %r4,%r3,%r2; atom.global.add.u32 %r6,[%d1],1;\n"
                           "SPIN: ld.volatile.global.u32 %r7,[%d1]; setp.lt.u32 %q2,%r7,%r4; @%q2 bra SPIN;\n"
                           "MET: bar.sync 0; setp.lt.u32 %q3,%r3,6; @%q3 bra LOOP;\nret;\n}\n";

START_TEST(spinning_warps_starve_no_warp) {
    static const char *const configs[] = {"turing", "volta-classic", "fermi"};
    static const char *const policies[] = {"sched.policy=gto", "sched.policy=lrr", "sched.policy=two_level"};
    const char *config = configs[_i / 3];
    const char *const set[] = {"gpu.sms=1", "sm.ctas=16", policies[_i % 3], NULL};
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = config, .set = set, .cycle_limit = 1000000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", meet, strlen(meet));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t counter = heddle_alloc(h, 4);
    uint32_t count = 0;
    const struct heddle_arg arg = {&counter, 8};
    const struct heddle_dim grid = {CTAS, 1, 1}, block = {32, 1, 1};
    ck_assert_int_eq(heddle_write(h, counter, &count, sizeof count), HEDDLE_OK);
    ck_assert_msg(heddle_launch(h, m, "k", grid, block, 0, &arg, 1) == HEDDLE_OK, "%.999s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, counter, &count, sizeof count), HEDDLE_OK);
    ck_assert_uint_eq(count, CTAS * ROUNDS);
    heddle_close(h);
}
END_TEST

SUITE(timing_sm_scarce) { TEST_LOOP(spinning_warps_starve_no_warp, 0, 9); }
