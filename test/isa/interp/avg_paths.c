/* Tests the statistic gpu.avg_paths of the functional model. A path that waits at a barrier counts as a path, as in the
 * timing model. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

/* Returns gpu.avg_paths of a kernel that diverges: one half of the warp goes to the barrier at once, and the other half
 * first executes 200 additions. If `long_half_taken` is true, the half with the additions takes the branch. Whichever
 * half runs first, both paths exist during the 200 additions and the barrier after them. About 8 further instructions,
 * before the branch and after the barrier, have one path. So the average is about (8 + 2 * 201) / (8 + 201), which is
 * more than 1.9. */
static double mean_of(const char *model, const char *set, int long_half_taken) {
    static char text[8192];
    char err[512] = "";
    size_t at = (size_t)snprintf(text, sizeof text,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                                 " .reg .b32 %%r<4>; .reg .b64 %%a; .reg .pred %%q;\n ld.param.u64 %%a,[p];\n"
                                 " mov.u32 %%r1,%%tid.x;\n setp.lt.u32 %%q,%%r1,16;\n @%sq bra SHORT;\n",
                                 long_half_taken ? "!%" : "%");
    for (int i = 0; i < 200; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " add.u32 %%r1,%%r1,1;\n");
    snprintf(text + at, sizeof text - at,
             " barrier.sync 0;\n bra JOIN;\nSHORT: barrier.sync 0;\nJOIN: st.global.u32 [%%a],%%r1;\n ret;\n}\n");
    const char *const sets[] = {set, NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .set = sets}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4);
    const struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    double mean = heddle_stat(h, 0, "gpu.avg_paths");
    heddle_close(h);
    return mean;
}

START_TEST(a_path_that_waits_is_alive) {
    static const char *const models[] = {"dpe", "dws"};
    char set[32];
    snprintf(set, sizeof set, "reconv=%s", models[_i]);
    for (int side = 0; side < 2; side++) {
        double without = mean_of("functional", set, side), with = mean_of(models[_i], "sm.warps=8", side);
        ck_assert_msg(without > 1.9 && without <= 2, "side %d: %g", side, without);
        ck_assert_msg(with > 1.9 && with <= 2, "side %d in time: %g", side, with);
    }
}
END_TEST

SUITE(isa_interp_avg_paths) { TEST_LOOP(a_path_that_waits_is_alive, 0, 2); }
