/* Tests the effects of prefetch, prefetchu, discard and applypriority on a load that executes much later. One warp
 * loads one line of 128 bytes. tiny.cfg with full memory has no instruction cache, so all packets belong to the
 * warp. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

struct counts {
    double hits, misses, prefetches, packets, bursts;
};

static struct counts load_after(const char *hint, const char *option) {
    char text[4096], err[512] = "", wait[512] = "";
    for (int i = 0; i < 6; i++) /* each sqrt takes 330 cycles; memory answers within the 1980 cycles of all six */
        strcat(wait, "sqrt.rn.f64 %f1,%f1; ");
    snprintf(text, sizeof text,
             ".version 7.4\n.target sm_80\n.address_size 64\n.shared .align 8 .b8 s[8];\n"
             ".visible .entry k(.param .u64 p)\n{\n.local .align 8 .b8 own[8]; .reg .b32 %%r<3>; .reg .f64 %%f<2>;\n"
             ".reg .b64 %%d<6>; .reg .pred %%q;\n ld.param.u64 %%d1,[p]; mov.f64 %%f1,0d4000000000000000;\n"
             " mov.u64 %%d2,s; cvta.shared.u64 %%d2,%%d2; mov.u64 %%d3,0; mov.u64 %%d4,0x7fffffffffffff00;\n"
             " %s\n %s\n setp.eq.f64 %%q,%%f1,0d0000000000000000; @%%q bra END;\n"
             " ld.global.u32 %%r1,[%%d1]; setp.ne.u32 %%q,%%r1,0; @%%q trap;\nEND: ret;\n}\n",
             hint, wait);
    const char *const set[] = {"memory.model=full", option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "prefetch.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 256);
    const struct heddle_arg arg = {&p, 8};
    struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, warp, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
    struct counts c = {heddle_stat(h, 0, "l1.hits"), heddle_stat(h, 0, "l1.misses"), heddle_stat(h, 0, "l1.prefetches"),
                       heddle_stat(h, 0, "icnt.request_packets"), heddle_stat(h, 0, "dram.reads")};
    heddle_close(h);
    return c;
}

/* Checks the counts. A line is two bursts of 64 bytes, and is read once, by the first access. The parameter's line is
 * an additional line. */
static void check(const char *hint, const char *option, struct counts want) {
    struct counts c = load_after(hint, option);
    ck_assert_msg(c.hits == want.hits && c.misses == want.misses && c.prefetches == want.prefetches &&
                      c.packets == want.packets && c.bursts == want.bursts,
                  "%s %s: %g hits, %g misses, %g prefetches, %g packets, %g bursts", hint, option ? option : "", c.hits,
                  c.misses, c.prefetches, c.packets, c.bursts);
}

static const struct counts cold = {0, 1, 0, 2, 4}, in_l1 = {1, 0, 1, 2, 4}, in_l2 = {0, 1, 0, 3, 4};

START_TEST(a_prefetched_line_is_where_it_was_asked_for) {
    check("", NULL, cold);
    check("prefetch.global.L1 [%d1];", NULL, in_l1);
    check("prefetch.global.L1 [%d1+124];", NULL, in_l1);
    check("prefetch.L1 [%d1];", NULL, in_l1);
    check("prefetchu.L1 [%d1];", NULL, in_l1);
    check("prefetch.global.L2 [%d1];", NULL, in_l2);
    check("prefetch.L2 [%d1];", NULL, in_l2);
    check("prefetch.global.L2::evict_last [%d1];", NULL, in_l2);
    /* prefetch of the next line: it adds one packet and two bursts, and the load misses */
    check("prefetch.global.L2 [%d1+128];", NULL, (struct counts){0, 1, 0, 3, 6});
}
END_TEST

START_TEST(without_an_l1_it_goes_to_the_l2) {
    check("", "l1.size=0", (struct counts){0, 0, 0, 2, 4});
    check("prefetch.global.L1 [%d1];", "l1.size=0", (struct counts){0, 0, 0, 3, 4});
}
END_TEST

/* Tests instructions without effect: hints, prefetches of invalid addresses, and prefetches of shared memory (a
 * no-op according to the PTX manual). */
START_TEST(the_rest_moves_nothing) {
    static const char *const hints[] = {"discard.global.L2 [%d1], 128;",
                                        "discard.L2 [%d1], 128;",
                                        "applypriority.global.L2::evict_normal [%d1], 128;",
                                        "applypriority.L2::evict_normal [%d1], 128;",
                                        "prefetch.L1 [%d2];",
                                        "prefetch.L1 [%d3];",
                                        "prefetch.L2 [%d4];",
                                        "prefetch.global.L1 [%d4];",
                                        "prefetch.local.L1 [own+1000000];",
                                        "@!%q prefetch.L1 [%d4];"};
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        check(hints[i], NULL, cold);
}
END_TEST

/* A perfect L1 has every line, so the prefetch sends nothing. */
START_TEST(perfect_memory_is_not_asked) {
    check("prefetch.global.L1 [%d1];", "memory.perfect_l1=on", (struct counts){1, 0, 0, 1, 2});
}
END_TEST

SUITE(timing_prefetch) {
    TEST(a_prefetched_line_is_where_it_was_asked_for);
    TEST(without_an_l1_it_goes_to_the_l2);
    TEST(the_rest_moves_nothing);
    TEST(perfect_memory_is_not_asked);
}
