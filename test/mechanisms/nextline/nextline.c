/* Tests next-line prefetching: its requests, access by access, and the misses that it saves in a kernel. */
#include "host/heddle.h"
#include "test/mechanisms/prefetch_ask_rig.h"
#include <string.h>

static const struct mechanism *const m = &mechanism_nextline;

/* Only misses of loads, and first uses of prefetched lines, prefetch. */
START_TEST(misses_and_first_uses_prefetch) {
    static const char *const none[] = {NULL}, *const two[] = {"nextline.degree=2", "nextline.tagged=off", NULL};
    void *p = start(m, none);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MISS, false), 1);
    ck_assert_uint_eq(asked[0], 8);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MERGED, false), 0);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_HIT, false), 0);
    ck_assert_uint_eq(see(m, p, 8, SEEN_LOAD, SEEN_HIT, true), 1);
    ck_assert_uint_eq(asked[0], 9);
    ck_assert_uint_eq(see(m, p, 9, SEEN_STORE, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 9, SEEN_AHEAD, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 9, SEEN_LOAD, SEEN_PAST, false), 0);
    m->at_l1->free(p);
    p = start(m, two);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MISS, false), 2);
    ck_assert_uint_eq(asked[0], 8);
    ck_assert_uint_eq(asked[1], 9);
    ck_assert_uint_eq(see(m, p, 8, SEEN_LOAD, SEEN_HIT, true), 0);
    m->at_l1->free(p);
}
END_TEST

/* One warp loads 16 lines, one after another. Line 0 misses and prefetches line 1. Each further line is prefetched by
 * the first use of the line before it. So 16 lines are prefetched, of which the kernel uses 15. */
START_TEST(a_chain_of_lines) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"
        ".reg .b64 %a<3>; .reg .pred %q;\n ld.param.u64 %a1,[p]; mov.u32 %r2,0;\nL: ld.global.u32 %r1,[%a1];\n"
        " cvt.u64.u32 %a2,%r1; add.u64 %a1,%a1,%a2; add.u64 %a1,%a1,128; add.u32 %r2,%r2,1;\n"
        " setp.lt.u32 %q,%r2,16; @%q bra L; ret;\n}\n";
    char err[256];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe+nextline", .config = "tiny"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *k = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(k != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    heddle_clear(h, p, 4096);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_int_eq(heddle_launch(h, k, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
                     HEDDLE_OK);
    ck_assert_double_eq(heddle_stat(h, 0, "nextline.candidates"), 16);
    ck_assert_double_eq(heddle_stat(h, 0, "nextline.issued"), 16);
    ck_assert_double_eq(heddle_stat(h, 0, "nextline.useful"), 15);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.accesses"), 16);
    heddle_close(h);
}
END_TEST

SUITE(mechanisms_nextline) {
    TEST(misses_and_first_uses_prefetch);
    TEST(a_chain_of_lines);
}
