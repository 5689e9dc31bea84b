/* Tests reports of `--check` about asynchronous copies (isa/interp/check_copy.c). A block has 64 threads, and each
 * thread copies a word to s[tid]. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

#define COPY "cp.async.ca.shared.global [%r2],[%d1],4;\n"
/* OWN reads the thread's own word; OTHER reads the word of a thread in the other warp. */
#define OWN   "ld.shared.u32 %r4,[%r2];\n"
#define OTHER "ld.shared.u32 %r4,[%r3];\n"

static const struct {
    const char *body, *found; /* found: beginning of the report; NULL: no report */
} cases[] = {
    {COPY "cp.async.commit_group; cp.async.wait_group 0;\n" OWN, NULL},
    {COPY "cp.async.wait_all; bar.sync 0;\n" OTHER, NULL},
    /* two groups, of which only the first must be complete for the first read */
    {COPY "cp.async.commit_group; cp.async.ca.shared.global [%r2+256],[%d1],4; cp.async.commit_group; "
          "cp.async.wait_group 1;\n" OWN "cp.async.wait_group 0; ld.shared.u32 %r4,[%r2+256];",
     NULL},
    {COPY OWN, "unfinished copy: read of 4 bytes"},
    {COPY "cp.async.commit_group;\n" OWN, "unfinished copy: read of 4 bytes"},
    {COPY "cp.async.commit_group; cp.async.wait_group 1;\n" OWN, "unfinished copy: read of 4 bytes"},
    /* the copy is not committed to a group, so the wait does not wait for it */
    {COPY "cp.async.wait_group 0;\n" OWN, "unfinished copy: read of 4 bytes"},
    {COPY "cp.async.commit_group; membar.cta; bar.sync 0;\n" OTHER, "unfinished copy: read of 4 bytes"},
    {COPY "st.shared.u32 [%r2],%r1; cp.async.wait_all;", "unfinished copy: write of 4 bytes"},
    {COPY "st.shared.u8 [%r2+3],%r1; cp.async.wait_all;", "unfinished copy: write of 1 bytes"},
    {COPY "atom.shared.add.u32 %r4,[%r2],1; cp.async.wait_all;", "unfinished copy: write of 4 bytes"},
    /* a thread must wait for its copy before the barrier; only then may other threads read the word */
    {COPY "bar.sync 0; cp.async.wait_all;\n" OTHER, "unfinished copy: read of 4 bytes"},
    {COPY "cp.async.wait_all;\n" OTHER, "race: "},
    /* reads must be ordered before the next copy to the same word */
    {"st.shared.u32 [%r2],%r1; bar.sync 0;\n" OTHER COPY "cp.async.wait_all;", "race: "},
    {"st.shared.u32 [%r2],%r1; bar.sync 0;\n" OTHER "bar.sync 0;\n" COPY "cp.async.wait_all;", NULL},
    /* only half of the lanes commit their copies */
    {COPY "@%q1 cp.async.commit_group; cp.async.wait_group 0;\n@%q1 ld.shared.u32 %r4,[%r2];", NULL},
    {COPY "@%q1 cp.async.commit_group; cp.async.wait_group 0;\n@!%q1 ld.shared.u32 %r4,[%r2];",
     "unfinished copy: read of 4 bytes"},
    /* the second half of the buffer is uninitialised; the checker examines only the bytes that the copy reads */
    {"cp.async.ca.shared.global [%r2],[%d1+256],4; cp.async.wait_all;", "uninitialised read of 4 bytes"},
    {"cp.async.ca.shared.global [%r2],[%d1+256],4,0; cp.async.wait_all;\n" OWN, NULL},
    {"cp.async.ca.shared.global [%r2],[%d1+256],4,3; cp.async.wait_all;", "uninitialised read of 3 bytes"},
    {"cp.async.ca.shared.global [%r2],[%d1+256],4,%q1; cp.async.wait_all;", "uninitialised read of 4 bytes"},
    /* copies that arrive at an mbarrier; a thread that has waited for the end of the phase may read all of them */
    {COPY "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n"
          "L: mbarrier.test_wait.parity.shared.b64 %q2,[b],0; @!%q2 bra L;\n" OTHER,
     NULL},
    {COPY "cp.async.mbarrier.arrive.shared.b64 [b]; mbarrier.arrive.shared.b64 %d3,[b];\n"
          "L: mbarrier.test_wait.shared.b64 %q2,[b],%d3; @!%q2 bra L;\n" OTHER,
     NULL},
    {"cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n" COPY
     "L: mbarrier.test_wait.parity.shared.b64 %q2,[b],0; @!%q2 bra L;\n" OTHER,
     "unfinished copy: read of 4 bytes"},
    {COPY "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n" OTHER, "race: "},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

START_TEST(copies) {
    static char text[4096];
    char err[512] = "";
    uint32_t half[64] = {0};
    struct heddle *h = heddle_open(&(struct heddle_options){.check = true}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<8>; .reg "
        ".b64 %%d<8>; .reg .pred %%q<4>;\n.shared .align 16 .b8 s[512]; .shared .align 8 .b8 b[8];\n"
        "ld.param.u64 %%d1,[p]; mov.u32 %%r1,%%tid.x; mul.wide.u32 %%d2,%%r1,4; add.u64 %%d1,%%d1,%%d2;\n"
        "mov.u32 %%r5,s; shl.b32 %%r2,%%r1,2; add.u32 %%r2,%%r2,%%r5; xor.b32 %%r3,%%r1,32; shl.b32 %%r3,%%r3,2;\n"
        "add.u32 %%r3,%%r3,%%r5; and.b32 %%r6,%%r1,1; setp.eq.u32 %%q1,%%r6,0; setp.eq.u32 %%q2,%%r1,0;\n"
        "@%%q2 mbarrier.init.shared.b64 [b],64; bar.sync 0;\n%s\nbar.sync 0; ret;\n}\n",
        cases[_i].body);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t buffer = heddle_alloc(h, 512);
    ck_assert_int_eq(heddle_write(h, buffer, half, sizeof half), HEDDLE_OK);
    const struct heddle_arg arg = {&buffer, 8};
    const struct heddle_dim one = {1, 1, 1}, block = {64, 1, 1};
    enum heddle_status s = heddle_launch(h, m, "k", one, block, 0, &arg, 1);
    const char *error = heddle_error(h);
    ck_assert_msg(s == (cases[_i].found ? HEDDLE_FAULT : HEDDLE_OK), "%s: %s", cases[_i].body, error);
    if (cases[_i].found)
        ck_assert_msg(strstr(error, cases[_i].found) != NULL, "%s: %s", cases[_i].body, error);
    heddle_close(h);
}
END_TEST

SUITE(isa_interp_check_copies) { TEST_LOOP(copies, 0, N_CASES); }
