/* Tests many-thread aware prefetching together with prefetch instructions: lines that these instructions fetch must not
 * count as lines of the prefetcher. */
#include "host/heddle.h"
#include "test/test.h"

/* Runs the kernel `text` with the extension mta, in one warp, on a buffer of zeros. */
static struct heddle *run(const char *text, const char *const *set) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "mta", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
                     HEDDLE_OK);
    return h;
}

/* A prefetch instruction fetches the lines of all but the first 8 of the 64 loads, so these loads hit. The prefetcher
 * must not count these hits as uses of its own prefetches. Its own prefetches are 64 strides ahead, and no load uses
 * them. After the first period of 16 loads the prefetcher therefore counts no use, and stops until a period without
 * prefetches has passed. */
START_TEST(lines_of_others_do_not_count) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"
        ".reg .b64 %a,%b; .reg .pred %p;\n ld.param.u64 %a,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %b,%r1,4;\n"
        " add.u64 %b,%a,%b; mov.u32 %r2,0; mov.u32 %r3,0;\nL: prefetch.global.L1 [%b+1024];\n"
        " ld.global.u32 %r4,[%b]; add.u32 %r3,%r3,%r4; add.u64 %b,%b,128; add.u32 %r2,%r2,1;\n"
        " setp.lt.u32 %p,%r2,64; @%p bra L; st.global.u32 [%a],%r3; ret;\n}\n";
    static const char *const set[] = {"mta.period=16", "mta.min_prefetches=1", "mta.distance=64",       "l1.size=16384",
                                      "l1.ways=8",     "mta.accuracy_low=0.1", "mta.accuracy_high=0.5", NULL};
    struct heddle *h = run(text, set);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.loads"), 64);
    /* the third load is the first load with a known stride */
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.useful"), 0);
    /* at least 48 of the 64 lines: no instruction prefetches the first 8, and some prefetches are dropped */
    ck_assert_double_ge(heddle_stat(h, 0, "l1.prefetch_useful"), 48);
    ck_assert_double_ge(heddle_stat(h, 0, "mta.throttle_raised"), 1);
    /* at least all prefetches of the second period are throttled */
    ck_assert_double_ge(heddle_stat(h, 0, "mta.throttled"), 16);
    heddle_close(h);
}
END_TEST

/* Loads that bypass the L1 do not use prefetched lines, and do not train the prefetcher. */
START_TEST(loads_that_bypass_the_l1_do_not_train) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"
        ".reg .b64 %a,%b; .reg .pred %p;\n ld.param.u64 %a,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %b,%r1,4;\n"
        " add.u64 %b,%a,%b; mov.u32 %r2,0; mov.u32 %r3,0;\nL: ld.global.cg.u32 %r4,[%b];\n"
        " add.u32 %r3,%r3,%r4; add.u64 %b,%b,128; add.u32 %r2,%r2,1; setp.lt.u32 %p,%r2,16; @%p bra L;\n"
        " st.global.u32 [%a],%r3; ret;\n}\n";
    struct heddle *h = run(text, NULL);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.loads"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.lookups"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mem.prefetch_replies"), 0);
    heddle_close(h);
}
END_TEST

SUITE(mechanisms_mta_others) {
    TEST(lines_of_others_do_not_count);
    TEST(loads_that_bypass_the_l1_do_not_train);
}
