/* Builds and runs the mechanism that docs/extending.md adds. The mechanism has a scheduler, a replacement policy and a
 * CTA policy, which options select by name. */
#include "build_toy.h"

/* One warp loads lines A, B, A, C, A from an L1 of one set of two ways: three misses under lru, and four under fifo,
 * where C replaces A (test/timing/policies.c). */
START_TEST(a_mechanism_brings_policies) {
    build_toy("add_policies.sh");
    STATUS(0, "list options");
    SAYS(out, "lrr gto two_level oldest youngest cggty highest");
    SAYS(out, "lru fifo lip bip dip srrip brrip drrip");
    SAYS(out, "none odd all hinted stall reuse");
    SAYS(out, "in_order chunks lcs");
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p];\n"
                                  "ld.global.u32 %r1,[%rd1]; add.u32 %r1,%r1,%r1; cvt.u64.u32 %rd2,%r1;"
                                  "add.u64 %rd1,%rd1,%rd2; ld.global.u32 %r1,[%rd1+128]; cvt.u64.u32 %rd2,%r1;"
                                  "add.u64 %rd1,%rd1,%rd2; ld.global.u32 %r1,[%rd1]; cvt.u64.u32 %rd2,%r1;"
                                  "add.u64 %rd1,%rd1,%rd2; ld.global.u32 %r1,[%rd1+256]; cvt.u64.u32 %rd2,%r1;"
                                  "add.u64 %rd1,%rd1,%rd2; ld.global.u32 %r1,[%rd1];");
    const char *run = "run k.ptx -k k -g 1 -b 32 -a zero:4K -c tiny --json o.json -s l1.size=256 -s l1.ways=2 %s";
    STATUS(0, run, "");
    ck_assert_double_eq(toy_statistic("l1.misses"), 3);
    STATUS(0, run, "-s l1.replacement=fifo -s sched.policy=highest -s gpu.cta_policy=chunks");
    ck_assert_double_eq(toy_statistic("l1.misses"), 4);
    STATUS(0, run, "-s l1.bypass=odd"); /* B goes past, so A and C stay: C misses once, and A only at first */
    ck_assert_double_eq(toy_statistic("l1.misses"), 3);
    ck_assert_double_eq(toy_statistic("l1.bypassed"), 1);
    STATUS(2, run, "-s sched.policy=newest");
    SAYS(err, "sched.policy is one of: lrr gto two_level oldest youngest cggty highest baws cta_groups cta_locality "
              "cta_banks prefetch_aware gcaws; not \"newest\"");
}
END_TEST

SUITE(toys_policies) {
    tcase_add_checked_fixture(tc, NULL, cli_teardown);
    TEST(a_mechanism_brings_policies);
}
