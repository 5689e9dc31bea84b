/* Tests the fetch stage with exact cycles: the instructions of a fetch, and the order in which warps fetch. On
 * configs/tiny.cfg a fetch leaves in the cycle in which the last buffered instruction issues, and brings the next
 * instructions two cycles later. */
#include "slots_rig.h"

#define ADD(n) "add.u32 %r" #n ",%l," #n ";"

/* Instructions have 8 bytes and lines 128 bytes, so a line has 16 instructions. The code begins at the start of a line.
 * - instruction 6 is a branch to T, the last instruction of the first line: the fetch at T brings only this
 *   instruction, whatever the fetch width
 * - the next two fetches bring four instructions each */
static const char behind[] = "setp.gt.u32 %o,%t,9999; @!%o bra T;\n" /* 5, 6 */
    ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) "\nT:" ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7) ADD(8)
        ADD(9) ADD(10) ADD(11) "add.u32 %r2,%r2,%r3; add.u32 %r4,%r4,%r5; add.u32 %r6,%r6,%r7; add.u32 %r8,%r8,%r9; "
                               "add.u32 %r10,%r10,%r11;"
                               "add.u32 %r2,%r2,%r4; add.u32 %r6,%r6,%r8; add.u32 %r2,%r2,%r6; add.u32 %r2,%r2,%r10; "
                               "st.global.u32 [%a],%r2;";
enum { TARGET = 15 };

START_TEST(a_fetch_ends_with_its_line) {
    rig_run("spe", (const char *[]){"fetch.width=4", NULL}, behind, 32);
    static const uint32_t expect[] = {0, 2, 3, 4, 5, 7, 8, 9, 10, 12};
    uint64_t t = rig_at(0, TARGET, ~0u);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(rig_at(0, TARGET + i, ~0u), t + expect[i]);
}
END_TEST

/* Fetches bring instructions 4 and 5, then 6 and 7.
 * - if instruction 6 is the jump, 7 is left in the buffer. With peer.fetch_wrong_path the buffer is emptied one cycle
 *   later, and only then the fetch of the target begins: the target issues 3 cycles after the jump instead of 2.
 * - if instruction 7 is the jump, the buffer is empty. With the option, 8 and 9 are fetched first, which takes 2
 *   cycles more. */
START_TEST(a_jump_is_noticed_late) {
    static const char *const models[] = {"spe", "dpe"};
    static const char *const body[2] = {"setp.gt.u32 %o,%t,9999; @!%o bra T;\n" ADD(1) "T:" ADD(2) ADD(3),
                                        "setp.gt.u32 %o,%t,9999; setp.eq.u32 %w,%t,7; @!%o bra T;\n" ADD(1) "T:" ADD(2)
                                            ADD(3)};
    for (int m = 0; m < 2; m++)
        for (uint32_t slot = 0; slot < 2; slot++)
            for (uint32_t late = 0; late < 2; late++) {
                const char *set[] = {"fetch.width=2",
                                     late ? "peer.fetch_wrong_path=true" : "peer.fetch_wrong_path=false", NULL};
                rig_run(models[m], set, body[slot], 32);
                uint64_t jump = rig_at(0, 6 + slot, ~0u), target = rig_at(0, 8 + slot, ~0u);
                ck_assert_msg(target == jump + 2 + late * (1 + slot), "%s, slot %u, astray %u: %u", models[m], slot,
                              late, (unsigned)(target - jump));
            }
}
END_TEST

/* After a branch that no lane takes, the next buffered instruction issues at once, with and without
 * peer.fetch_wrong_path. */
START_TEST(an_untaken_branch_is_not_delayed) {
    uint64_t next[2];
    for (uint32_t late = 0; late < 2; late++) {
        const char *set[] = {"fetch.width=2", late ? "peer.fetch_wrong_path=true" : "peer.fetch_wrong_path=false",
                             NULL};
        rig_run("spe", set, "setp.lt.u32 %o,%t,9999; @!%o bra T;\n" ADD(1) "T:" ADD(2) ADD(3), 32);
        next[late] = rig_at(0, 7, ~0u) - rig_at(0, 6, ~0u);
    }
    ck_assert_uint_eq(next[0], 1);
    ck_assert_uint_eq(next[1], 1);
}
END_TEST

/* - warps 2 and 3 loop through 7 instructions of the first line, one per fetch, and use the fetch stage alternately, so
 *   each issues an instruction every 2 cycles
 * - warp 0 has the only MSHR for 500 cycles, and warp 1 needs another line
 * - with peer.fetch_retry, retries of warp 1 also use the fetch stage, so an instruction issues every 3 cycles */
START_TEST(a_refused_fetch_takes_its_turn_or_waits) {
    static const char body[] = "setp.lt.u32 %o,%t,32; @%o bra A; setp.lt.u32 %w,%t,64; @%w bra B;\n" /* 5 to 8 */
                               "L: add.u32 %r0,%t,1; add.u32 %r1,%t,2; add.u32 %r2,%t,3; add.u32 %r3,%t,4;\n"
                               "add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,40; @%o bra L;\n" /* up to 15 */
                               "add.u32 %r0,%r0,%r1; add.u32 %r0,%r0,%r2; add.u32 %r0,%r0,%r3; add.u32 %r0,%r0,%r5;\n"
                               "st.global.u32 [%a],%r0;" /* 16 to 20 */
        ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) ADD(6) "A:" ADD(7) ADD(7) ADD(7) ADD(7)
            ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) ADD(7) "B:" ADD(8) ADD(8);
    for (uint32_t on = 0; on < 2; on++) {
        rig_run("spe",
                (const char *[]){"fetch.width=1", "l1i.size=2048", "l1i.mshrs=1", "fetch.miss_latency=500",
                                 on ? "peer.fetch_retry=true" : "peer.fetch_retry=false", NULL},
                body, 128);
        uint64_t seen[4] = {0};
        for (uint32_t i = 0; i < rig_n; i++) /* finds one loop iteration of warp 2, while warps 0 and 1 wait */
            if (rig_slot[i].warp == 2 && rig_slot[i].pc >= 9 && rig_slot[i].pc < 13 &&
                rig_slot[i].cycle < rig_at(2, 9, ~0u) + 200)
                seen[rig_slot[i].pc - 9] = rig_slot[i].cycle;
        for (uint32_t i = 0; i < 2; i++)
            ck_assert_uint_eq(seen[i + 1] - seen[i], 2 + on);
    }
}
END_TEST

static uint64_t cta_ended[3];
static void note_cta_end(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    (void)u, (void)sm;
    cta_ended[cta] = now;
}
static const struct sm_unit_ops ends_unit = {
    .name = "ends", .make = rig_make, .issued = rig_issued, .cta_end = note_cta_end};

/* Runs three CTAs of one warp. The work of warp 0 grows with `n`; the other two warps add numbers. */
static void run_three_ctas(const char *reclaims, int n) {
    char text[8192], err[512] = "";
    int at = snprintf(text, sizeof text,
                      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %%r<9>;"
                      ".reg .pred %%p;\nmov.u32 %%r0,%%ctaid.x; setp.eq.u32 %%p,%%r0,0; @%%p bra E;\n");
    for (int i = 0; i < 40; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "add.u32 %%r%d,%%r0,%d;\n", 1 + i % 8, i);
    at += snprintf(text + at, sizeof text - (size_t)at, "ret;\nE:");
    for (int i = 0; i < n; i++) /* dependent instructions with different latencies */
        at += snprintf(text + at, sizeof text - (size_t)at, "%s;\n",
                       i ? "add.u32 %r1,%r0,1; xor.b32 %r0,%r1,%r1" : "mad.lo.u32 %r0,%r0,%r0,1");
    snprintf(text + at, sizeof text - (size_t)at, "ret;\n}\n");
    int dummy;
    const struct sm_unit_row row = {&ends_unit, &dummy};
    const char *set[] = {"fetch.width=1", reclaims, NULL};
    heddle_close(rig);
    rig_n = 0;
    rig = context_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set, .threads = 1},
                       &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1}, err, sizeof err);
    ck_assert_msg(rig != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(rig, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(rig));
    ck_assert_int_eq(
        heddle_launch(rig, m, "k", (struct heddle_dim){3, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, NULL, 0), HEDDLE_OK);
}

/* A fetch brings one instruction, and a warp fetches again in the cycle in which this instruction issues. Warps 1
 * and 2 use the fetch stage alternately. In its rotation, the fetch stage reaches warp 0 after warp 2 and before
 * warp 1. It also reaches warp 0 in each cycle in which no warp fetches.
 * - by default, the CTA of warp 0 ends when warp 0 has issued its last instruction
 * - with peer.fetch_retires_warps, the CTA ends one cycle later if warp 2 fetches in that cycle */
START_TEST(warps_end_when_the_fetch_stage_passes) {
    int later = 0;
    for (int n = 0; n < 6; n++) {
        run_three_ctas("peer.fetch_retires_warps=false", n);
        const uint64_t done = cta_ended[0];
        run_three_ctas("peer.fetch_retires_warps=true", n);
        uint64_t n_passed = done;
        for (uint32_t i = 0; i < rig_n; i++)
            n_passed += rig_slot[i].warp == 2 && rig_slot[i].cycle == done;
        ck_assert_uint_eq(cta_ended[0], n_passed);
        ck_assert_uint_le(n_passed - done, 1);
        later += n_passed > done;
    }
    ck_assert_int_gt(later, 0);
    ck_assert_int_lt(later, 6);
}
END_TEST

SUITE(timing_sm_fetch) {
    TEST(a_refused_fetch_takes_its_turn_or_waits);
    TEST(warps_end_when_the_fetch_stage_passes);
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST(a_fetch_ends_with_its_line);
    TEST(a_jump_is_noticed_late);
    TEST(an_untaken_branch_is_not_delayed);
}
