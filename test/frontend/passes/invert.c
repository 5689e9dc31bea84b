/* Tests the pass `invert`: which branches over a jump it inverts, and what dual-path execution sees of the result. */
#include "host/heddle.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n"                                                                    \
    ".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<3>;\n"                         \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; setp.lt.u32 %p2, %r1, 8;\n"

/* An `if` without `else`, as NVVM writes it: lanes 0 to 15 add 1. */
static const char if_only[] = HEAD "@%p1 bra X;\nbra.uni Y;\nX: add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n"
                                   "Y: st.global.u32 [%d1], %r1;\nret; }\n";

static const struct {
    const char *what, *text;
    int inverted;
} rows[] = {
    {"an if", if_only, 1},
    {"a negated guard", HEAD "@!%p1 bra X; bra Y; X: add.u32 %r1, %r1, 1; Y: ret; }\n", 1},
    {"the end of a loop", HEAD "H: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @!%p1 bra X; bra H; X: ret; }\n", 1},
    {"two in a row", HEAD "@%p1 bra X; bra Y; X: @%p2 bra Z; bra Y; Z: add.u32 %r1, %r1, 1; Y: ret; }\n", 2},
    {"two branches lead to the jump", HEAD "@%p2 bra M; @%p1 bra X; M: bra Y; X: add.u32 %r1, %r1, 1; Y: ret; }\n", 0},
    {"more than a jump", HEAD "@%p1 bra X; mov.u32 %r2, 1; bra Y; X: add.u32 %r1, %r1, 1; Y: ret; }\n", 0},
    {"the jump has a guard", HEAD "@%p1 bra X; @%p2 bra Y; X: add.u32 %r1, %r1, 1; Y: ret; }\n", 0},
    {"the target does not follow the jump",
     HEAD "@%p1 bra X; bra Y; Z: ret; X: add.u32 %r1, %r1, 1; Y: @%p2 bra Z; ret; }\n", 0},
    {"the branch has no guard", HEAD "bra X; X: bra Y; Y: ret; }\n", 0},
};

START_TEST(branches_over_a_jump_are_inverted) {
    char *shown = listing_of("spe", NULL, "invert", rows[_i].text);
    EXPECT(occurrences(shown, "inverted: it branches over a jump") == rows[_i].inverted, "%s: %s", rows[_i].what,
           shown);
    free(shown);
}
END_TEST

/* The inverted branch leads to Y where the guard is false, and the jump is gone. */
START_TEST(the_guard_is_negated) {
    char *shown = listing_of("spe", NULL, "invert", if_only), *off = NULL;
    ck_assert_msg(strstr(shown, "@!%p1 bra") && !strstr(shown, "bra.uni"), "%s", shown);
    off = listing_of("spe", (const char *const[]){"code.invert=off", NULL}, "invert", if_only);
    ck_assert_str_eq(off, "pass 'invert' is for machines with code.invert=on; model 'spe' does without\n");
    free(shown);
    free(off);
}
END_TEST

/* Runs `if_only` with 32 threads and returns a statistic. */
static double run(const char *model, const char *set, const char *statistic) {
    char err[256];
    const char *const sets[] = {set, NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .set = sets}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", if_only, strlen(if_only));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t word = heddle_alloc(h, 4);
    struct heddle_arg args[] = {{&word, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    double value = heddle_stat(h, -1, statistic);
    heddle_close(h);
    return value;
}

/* Lanes 0 to 15 add. In the form with two branches, the other lanes execute one more instruction, the jump, so two
 * paths can issue. In the inverted form, these lanes are at the reconvergence point at once, so the branch is not
 * interleavable (section 6.1 of the paper). */
START_TEST(an_if_has_one_path) {
    ck_assert_double_eq(run("dpe", "code.invert=on", "gpu.avg_paths"), 1);
    ck_assert_double_gt(run("dpe", "code.invert=off", "gpu.avg_paths"), 1);
    ck_assert_double_eq(run("spe", "code.invert=off", "gpu.warp_instructions") -
                            run("spe", "code.invert=on", "gpu.warp_instructions"),
                        1);
}
END_TEST

SUITE(frontend_passes_invert) {
    TEST_LOOP(branches_over_a_jump_are_inverted, 0, sizeof rows / sizeof rows[0]);
    TEST(the_guard_is_negated);
    TEST(an_if_has_one_path);
}
