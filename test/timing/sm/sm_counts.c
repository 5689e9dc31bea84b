/* Figures of an SM as differences of a short and a long kernel, on configs/tiny.cfg. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

/* What 64 more of this instruction add to a figure. */
static double added(const char *const *set, const char *inst, const char *name) {
    static char text[16384];
    double sum[2];
    for (int i = 0; i < 2; i++) {
        char err[512];
        size_t at = (size_t)snprintf(text, sizeof text,
                                     ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
                                     ".shared .align 16 .b8 s[1024];\n.reg .b32 %%r<20>;\n mov.u32 %%r9,s;\n"
                                     " st.shared.u32 [%%r9],%%r9;\n");
        for (int k = 0; k < (i ? 96 : 32); k++)
            at += (size_t)snprintf(text + at, sizeof text - at, " %s\n", inst);
        snprintf(text + at, sizeof text - at, " st.shared.u32 [%%r9+16],%%r5;\n ret;\n}\n");
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set}, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        const struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
        ck_assert_msg(heddle_launch(h, m, "k", one, warp, 0, NULL, 0) == HEDDLE_OK, "%s", heddle_error(h));
        sum[i] = heddle_stat(h, 0, name);
        heddle_close(h);
    }
    return sum[1] - sum[0];
}

/* A load of four words brings them at once: in one bank each but the first waits for those before it, in 16 none does.
 * A single word never waits. Each load needs the one before it, which stored its own address there. */
START_TEST(results_wait_for_their_bank) {
    static const char *const one[] = {"collector.banks=1", NULL}, *const many[] = {"collector.banks=16", NULL};
    static const char four[] = "ld.shared.v4.u32 {%r9,%r6,%r7,%r8},[%r9]; add.u32 %r5,%r6,%r9;",
                      word[] = "ld.shared.u32 %r9,[%r9]; add.u32 %r5,%r5,%r9;";
    ck_assert_double_eq(added(many, four, "collector.write_conflicts"), 0);
    ck_assert_double_eq(added(one, four, "collector.write_conflicts"), 64 * 3);
    ck_assert_double_eq(added(one, word, "collector.write_conflicts"), 0);
    ck_assert_double_eq(added(one, four, "collector.writes"), 64 * 5);
}
END_TEST

SUITE(timing_sm_counts) { TEST(results_wait_for_their_bank); }
