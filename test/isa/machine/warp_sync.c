/* Tests instructions with a member mask whose member threads are on different paths. At every kind of instruction with
 * a member mask, the members must wait for each other (PTX ISA 9.7.9.6, 9.7.13.2), under every model. If threads wait
 * forever, the error message names them. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>, %x<9>, "     \
    "%lane;\n.reg .pred %q, %o; .reg .b64 %a<5>; .shared .b32 s[32];\n"                                                \
    " ld.param.u64 %a0,[p]; mov.u32 %lane,%laneid; mul.wide.u32 %a1,%lane,4; add.u64 %a0,%a0,%a1; mov.u64 %a2,s;\n"    \
    " add.u64 %a2,%a2,%a1; setp.lt.u32 %q,%lane,16; mov.u32 %r0,0;\n"
#define TAIL " st.global.u32 [%a0],%r0; ret;\n}\n"

/* Lanes 16 to 31 store three times their lane number to words that the other lanes read. */
static const char produce[] = HEAD " @%q bra C; mul.lo.u32 %r1,%lane,3; st.shared.u32 [%a2-64],%r1; bar.warp.sync -1;\n"
                                   " bra J;\nC: bar.warp.sync -1; ld.shared.u32 %r0,[%a2];\nJ:" TAIL;
static uint32_t produced(uint32_t l) { return l < 16 ? (l + 16) * 3 : 0; }

/* The lanes exchange words ten times, as in `produce`. A second bar.warp.sync comes before the next store. Each reader
 * adds up 3 * lane + iteration of its writer. */
static const char rounds[] =
    HEAD " mov.u32 %r2,0; @%q bra C;\nP: mad.lo.u32 %r1,%lane,3,%r2; st.shared.u32 [%a2-64],%r1; bar.warp.sync -1;\n"
         " bar.warp.sync -1; add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,10; @%o bra P; bra J;\n"
         "C: bar.warp.sync -1; ld.shared.u32 %r3,[%a2]; add.u32 %r0,%r0,%r3; bar.warp.sync -1; add.u32 %r2,%r2,1;\n"
         " setp.lt.u32 %o,%r2,10; @%o bra C;\nJ:" TAIL;
static uint32_t ten_rounds(uint32_t l) { return l < 16 ? 10 * 3 * (l + 16) + 45 : 0; }

/* The halves of the warp exchange values by two shuffle instructions of the same form, which use different
 * registers. */
static const char two_shuffles[] =
    HEAD " @%q bra C; add.u32 %x1,%lane,100; shfl.sync.bfly.b32 %r0,%x1,16,31,-1; bra J;\n"
         "C: add.u32 %x2,%lane,200; mov.u32 %x3,16; shfl.sync.bfly.b32 %r4,%x2,%x3,31,-1; mov.u32 %r0,%r4;\nJ:" TAIL;
static uint32_t shuffled(uint32_t l) { return l < 16 ? l + 16 + 100 : l - 16 + 200; }

/* Both halves execute the same instruction, each with a mask of its own lanes. The results are ballots of the odd
 * lanes. */
static const char tiles[] = HEAD " selp.b32 %r1,65535,-65536,%q; and.b32 %r2,%lane,1; setp.ne.u32 %o,%r2,0;\n"
                                 " vote.sync.ballot.b32 %r0,%o,%r1;\n" TAIL;
static uint32_t tile(uint32_t l) { return l < 16 ? 0xaaaa : 0xaaaa0000; }

/* The quarters of the warp vote. In each half, the two quarters execute different vote instructions. */
static const char quarters[] =
    HEAD " selp.b32 %r1,65535,-65536,%q; and.b32 %r2,%lane,8; setp.ne.u32 %o,%r2,0; @%o bra C;\n"
         " vote.sync.ballot.b32 %r0,%o,%r1; bra J;\nC: vote.sync.ballot.b32 %r0,%o,%r1;\nJ:" TAIL;
static uint32_t quarter(uint32_t l) { return l < 16 ? 0xff00 : 0xff000000; }

/* No thread may wait for a thread that has exited. */
static const char exits[] =
    HEAD " st.global.u32 [%a0],%lane; @%q bra C; ret;\nC: bar.warp.sync -1; mov.u32 %r0,7;\n" TAIL;
static uint32_t exited(uint32_t l) { return l < 16 ? 7 : l; }

/* Each lane executes one of two shuffles with opposite guards. */
static const char guarded[] = HEAD " add.u32 %x1,%lane,5; @%q shfl.sync.bfly.b32 %r0,%x1,16,31,-1;\n"
                                   " @!%q shfl.sync.bfly.b32 %r0,%x1,16,31,-1;\n" TAIL;
static uint32_t guard(uint32_t l) { return (l ^ 16) + 5; }

/* Some lanes are in the mask of a vote, but skip it and exit later. The vote waits until these lanes have exited. */
static const char skips[] = HEAD " mov.u32 %r0,9; setp.ne.u32 %o,%lane,3; @!%q bra J;\n"
                                 " vote.sync.ballot.b32 %r0,%o,-1;\nJ: add.u32 %r0,%r0,%lane;\n" TAIL;
static uint32_t skipped(uint32_t l) { return (l < 16 ? 0xfff7 : 9) + l; }

/* Lanes 0 to 3 and lanes 28 to 31 vote together, at two vote instructions. Lanes 4 to 27 vote at a third instruction.
 * The two groups that vote together are not the two sides of one branch. Then all lanes vote. All votes must complete.
 */
static const char crossed[] =
    HEAD " setp.lt.u32 %o,%lane,28; @!%o bra C; setp.lt.u32 %o,%lane,4; @!%o bra B;\n"
         " vote.sync.ballot.b32 %r0,%q,0xf000000f; bra D;\nB: vote.sync.ballot.b32 %r0,%q,0x0ffffff0; bra D;\n"
         "C: vote.sync.ballot.b32 %r0,%o,0xf000000f;\nD: setp.ge.u32 %o,%lane,30; vote.sync.ballot.b32 %r1,%o,-1;\n"
         " add.u32 %r0,%r0,%r1;\n" TAIL;
static uint32_t cross(uint32_t l) { return (l < 4 || l >= 28 ? 0xf : 0xfff0) + 0xc0000000; }

static const struct {
    const char *name, *text;
    uint32_t (*want)(uint32_t lane);
} kernels[] = {
    {"produce", produce, produced}, {"rounds", rounds, ten_rounds},  {"two_shuffles", two_shuffles, shuffled},
    {"tiles", tiles, tile},         {"quarters", quarters, quarter}, {"exits", exits, exited},
    {"guarded", guarded, guard},    {"skips", skips, skipped},       {"crossed", crossed, cross},
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

static enum heddle_status run(const char *text, const char *model, const char *const *set, uint32_t out[32],
                              char error[2048]) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .cycle_limit = 100000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 128);
    const struct heddle_arg args[] = {{&p, 8}};
    struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    enum heddle_status s = heddle_launch(h, m, "k", one, warp, 0, args, 1);
    snprintf(error, 2048, "%s", heddle_error(h));
    heddle_read(h, p, out, 128);
    heddle_close(h);
    return s;
}

static void check_all(const char *model, const char *const *set, const char *what) {
    uint32_t out[32];
    char error[2048];
    for (int k = 0; k < N_KERNELS; k++) {
        ck_assert_msg(run(kernels[k].text, model, set, out, error) == HEDDLE_OK, "%s, %s: %s", kernels[k].name, what,
                      error);
        for (uint32_t l = 0; l < 32; l++)
            ck_assert_msg(out[l] == kernels[k].want(l), "%s, %s: lane %u has %u, not %u", kernels[k].name, what, l,
                          out[l], kernels[k].want(l));
    }
}

START_TEST(members_on_different_paths_act_together) {
    check_all(timed_models()->name[_i], NULL, timed_models()->name[_i]);
}
END_TEST

START_TEST(members_act_together_in_the_interpreter) {
    char key[32];
    snprintf(key, sizeof key, "reconv=%s", timed_models()->name[_i]);
    const char *const set[] = {key, NULL};
    check_all("functional", set, key);
}
END_TEST

START_TEST(members_act_together_with_any_options) {
    static const char *const options[][2] = {
        {"dpe", "dpe.scheduler=constrained"},
        {"dpe", "dpe.scoreboard=optimistic"},
        {"dpe", "reconv.first=fallthrough"},
        {"its", "reconv.first=fallthrough"},
        {"si", "si.yield=on"},
        {"dws", "dws.wst_entries=4"},
    };
    const char *const set[] = {options[_i][1], NULL};
    check_all(options[_i][0], set, options[_i][1]);
}
END_TEST

/* Each half waits for all lanes in an instruction of another form, so both wait forever. The launch must fail, and the
 * report must list which lanes wait for which lanes. */
START_TEST(endless_waits_are_named) {
    static const char apart[] =
        HEAD " @%q bra C; bar.warp.sync -1; bra J;\nC: vote.sync.ballot.b32 %r0,%q,-1;\nJ:" TAIL;
    uint32_t out[32];
    char error[2048];
    const char *model = _i < timed_models()->n ? timed_models()->name[_i] : "functional";
    ck_assert_int_eq(run(apart, model, NULL, out, error), HEDDLE_DEADLOCK);
    for (int half = 0; half < 2; half++)
        ck_assert_msg(strstr(error, _i < timed_models()->n
                                        ? half ? "for lanes ffff0000 of its" : "for lanes 0000ffff of its"
                                    : half ? "waits for lanes 0xffff0000 of its member mask"
                                           : "waits for lanes 0x0000ffff of its member mask") != NULL,
                      "%s: %s", model, error);
    ck_assert_msg(strstr(error, "t.ptx:") != NULL, "%s", error);
}
END_TEST

/* Lanes that execute one vote together wait for each other forever if a mask lacks its own lane, or if masks differ.
 * The report says which of the two is the case. In the second kernel, lanes 0 to 15 wait for all lanes, and lanes 16 to
 * 31 for all but lane 0. */
START_TEST(wrong_masks_are_named) {
    static const char *const mask[] = {"mov.u32 %r1,1; shl.b32 %r1,%r1,%lane; not.b32 %r1,%r1;",
                                       "mov.u32 %r1,0xfffffffe; @%q mov.u32 %r1,-1;"};
    static const char *const what[] = {
        "of its member mask; a member mask without the calling thread is undefined in PTX",
        "of its member mask; lanes that wait here for each other have different member masks"};
    char kernel[1024], error[2048];
    uint32_t out[32];
    for (int k = 0; k < 2; k++) {
        snprintf(kernel, sizeof kernel, "%s %s vote.sync.ballot.b32 %%r0,%%q,%%r1; %s", HEAD, mask[k], TAIL);
        for (int timed = 0; timed < 2; timed++) {
            ck_assert_int_eq(run(kernel, timed ? "spe" : "functional", NULL, out, error), HEDDLE_DEADLOCK);
            ck_assert_msg(strstr(error, what[k]) != NULL, "%s", error);
            ck_assert_msg(strstr(error, "models with independent threads") == NULL, "%s", error);
        }
    }
}
END_TEST

/* All lanes execute an instruction together, with a mask of all lanes. */
START_TEST(a_converged_warp_does_not_wait) {
    static const char sync[] = HEAD " shfl.sync.bfly.b32 %r0,%lane,16,31,-1;\n" TAIL;
    uint32_t out[32];
    char error[2048];
    for (int m = 0; m < timed_models()->n; m++) {
        ck_assert_int_eq(run(sync, timed_models()->name[m], NULL, out, error), HEDDLE_OK);
        for (uint32_t l = 0; l < 32; l++)
            ck_assert_uint_eq(out[l], l ^ 16);
    }
}
END_TEST

/* The barrier number differs between the lanes of a warp. This is an error in every model, and the message names the
 * location. */
START_TEST(divergent_barrier_numbers_are_errors) {
    static const char body[] = HEAD " and.b32 %r1,%lane,1; barrier.sync %r1,32;\n" TAIL;
    uint32_t out[32];
    char error[2048];
    for (int m = 0; m <= base_models()->n; m++) {
        const char *model = m < base_models()->n ? base_models()->name[m] : "functional";
        ck_assert_int_eq(run(body, model, NULL, out, error), HEDDLE_FAULT);
        ck_assert_msg(strstr(error, "name different barriers: 0 and 1") != NULL, "%s: %s", model, error);
        ck_assert_msg(strstr(error, "at t.ptx:10:") != NULL, "%s: %s", model, error);
    }
}
END_TEST

/* Half of a warp reaches a barrier while the other half exits. This is an error only if the barrier is aligned. */
START_TEST(aligned_barriers_are_for_whole_warps) {
    const char *const set[] = {"reconv=minpc", NULL};
    for (int aligned = 0; aligned < 2; aligned++) {
        char text[2048], err[512];
        static const char head[] = HEAD;
        snprintf(text, sizeof text, "%s @!%%q bra E; barrier.sync%s 0;\nE:%s", head, aligned ? ".aligned" : "", TAIL);
        struct heddle *h = heddle_open(
            &(struct heddle_options){.model = "functional", .set = set, .check = true, .cycle_limit = 100000}, err,
            sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, 128);
        const struct heddle_arg args[] = {{&p, 8}};
        struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
        enum heddle_status s = heddle_launch(h, m, "k", one, warp, 0, args, 1);
        ck_assert_int_eq(s, aligned ? HEDDLE_FAULT : HEDDLE_OK);
        ck_assert_int_eq(strstr(heddle_error(h), "divergent barrier: only 16 of a warp's 32") != NULL, aligned);
        heddle_close(h);
    }
}
END_TEST

SUITE(warp_sync) {
    TEST(divergent_barrier_numbers_are_errors);
    TEST(aligned_barriers_are_for_whole_warps);
    TEST_LOOP(members_on_different_paths_act_together, 0, timed_models()->n);
    TEST_LOOP(members_act_together_in_the_interpreter, 0, timed_models()->n);
    TEST_LOOP(members_act_together_with_any_options, 0, 6);
    TEST_LOOP(endless_waits_are_named, 0, timed_models()->n + 1);
    TEST(wrong_masks_are_named);
    TEST(a_converged_warp_does_not_wait);
}
