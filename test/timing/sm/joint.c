/* Tests joint issue (timing/sm/joint.h) with the mechanisms that use it. Expected numbers are derived by hand. */
#include "timing/sm/joint.h"
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "timing/sm/stages.h"
#include <stdio.h>

/* The begin of each kernel: twelve instructions. They write the results of the sides of the branch (r4 to r9), which
 * are read at the end. So the compiler cannot put two of these results into one register. */
#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"           \
    ".reg .b32 %r<20>; .reg .b64 %a<6>; .reg .pred %q<4>;\n ld.param.u64 %a1,[in];\n ld.param.u64 %a2,[out];\n"        \
    " mov.u32 %r1,%tid.x;\n mul.wide.u32 %a3,%r1,4;\n add.u64 %a2,%a2,%a3;\n and.b32 %r2,%r1,31;\n mov.u32 %r4,0;\n"   \
    " mov.u32 %r5,0;\n mov.u32 %r6,0;\n mov.u32 %r7,0;\n mov.u32 %r8,0;\n mov.u32 %r9,0;\n"
/* Two instructions. They move the last branch of a kernel to the first of the eight instructions of a fetch, so this
 * fetch also brings the side that falls through. */
#define FILL " add.u32 %r15,%r1,1;\n add.u32 %r15,%r1,1;\n"
#define LOAD " ld.global.u32 %r3,[%a1];\n"
/* A side of a branch: five instructions, and LAST as a sixth. They wait for the load, which returns 100, and for
 * nothing else. */
#define SIDE(n)                                                                                                        \
    " add.u32 %r4,%r3," n ";\n add.u32 %r5,%r3," n ";\n add.u32 %r6,%r3," n ";\n add.u32 %r7,%r3," n ";\n"             \
    " add.u32 %r8,%r3," n ";\n"
#define LAST(n) " add.u32 %r9,%r3," n ";\n"
/* The code after the join: stores 5 x (tid + 1) plus the results of the side. The first two instructions do not
 * depend on these results, and end later than the instructions of the sides. */
#define END                                                                                                            \
    " add.u32 %r10,%r1,1;\n mul.lo.u32 %r10,%r10,5;\n add.u32 %r4,%r10,%r4;\n add.u32 %r5,%r5,%r6;\n"                  \
    " add.u32 %r4,%r4,%r5;\n add.u32 %r7,%r7,%r8;\n add.u32 %r4,%r4,%r7;\n add.u32 %r4,%r4,%r9;\n"                     \
    " st.global.u32 [%a2],%r4;\n ret;\n}\n"

/* Half of the warp takes each side of the branch. One side has five additions and a jump, and the other has six
 * additions. */
static const char if_else[] =
    HEAD FILL LOAD " setp.lt.u32 %q1,%r2,16;\n @%q1 bra B;\n" SIDE("1") " bra J;\nB:\n" SIDE("2") LAST("2") "J:\n" END;
/* A quarter of the warp takes each of four sides of six instructions. */
static const char four_sides[] = HEAD FILL FILL FILL LOAD
    " setp.lt.u32 %q1,%r2,8;\n setp.lt.u32 %q2,%r2,16;\n setp.lt.u32 %q3,%r2,24;\n"
    " @%q1 bra A;\n @%q2 bra B;\n @%q3 bra C;\n" SIDE("4") " bra J;\nA:\n" SIDE("1") " bra J;\nB:\n" SIDE(
        "2") " bra J;\nC:\n" SIDE("3") " add.u32 %r16,%r3,0;\nJ:\n" END;
/* Lanes 0 to 15 of warp 0 and lanes 16 to 31 of warp 1 execute five instructions and then LASTLY. The other lanes jump
 * to the join. */
#define HALVES(LASTLY)                                                                                                 \
    HEAD FILL FILL FILL LOAD                                                                                           \
        " setp.lt.u32 %q1,%r2,16;\n setp.lt.u32 %q2,%r1,32;\n xor.pred %q3,%q1,%q2;\n add.u32 %r16,%r3,%r3;\n"         \
        " bar.sync 0;\n @%q3 bra J;\n" SIDE("1") LASTLY "J:\n" END

struct ran {
    uint32_t out[64];
    double cycles, slots, joint, saved, lanes, decodes, left_out, accesses;
    double lsu, transactions, fetches, sp, reads, writes, conflicts;
};

/* `more`: up to four further options, with spaces between them, or NULL. */
static struct ran run(const char *model, const char *text, uint32_t threads, const char *more) {
    static const uint32_t in[64] = {100};
    char err[512];
    struct ran r = {.cycles = 0};
    char words[256], *rest = words;
    const char *set[10] = {"gpu.sms=1", "sm.schedulers=1", "fetch.width=8", "peer.fetch_crosses_lines=on",
                           "fetch.perfect=on"};
    snprintf(words, sizeof words, "%s", more ? more : "");
    for (int i = 5; i < 9; i++)
        set[i] = strtok_r(rest, " ", &rest);
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "fermi", .set = set, .threads = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", model, err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof r.out);
    heddle_write(h, din, in, sizeof in);
    heddle_clear(h, dout, sizeof r.out);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                2) == HEDDLE_OK,
                  "%s: %s", model, heddle_error(h));
    heddle_read(h, dout, r.out, sizeof r.out);
    r.cycles = heddle_stat(h, 0, "gpu.cycles");
    r.slots = heddle_stat(h, 0, "gpu.warp_instructions");
    ck_assert_double_eq(r.slots, heddle_stat(h, 0, "issue.issued"));
    ck_assert_double_le(heddle_stat(h, 0, "gpu.active_lanes"), 32 * r.slots);
    r.joint = heddle_stat(h, 0, "joint.slots");
    r.saved = heddle_stat(h, 0, "joint.saved_slots");
    r.lanes = heddle_stat(h, 0, "joint.lanes");
    r.decodes = heddle_stat(h, 0, "joint.decodes");
    r.left_out = heddle_stat(h, 0, "joint.left_out");
    r.accesses = heddle_stat(h, 0, "joint.merged_accesses");
    r.lsu = heddle_stat(h, 0, "lsu.instructions");
    r.reads = heddle_stat(h, 0, "collector.reads");
    r.writes = heddle_stat(h, 0, "collector.writes");
    r.conflicts = heddle_stat(h, 0, "joint.lane_conflicts");
    r.fetches = heddle_stat(h, 0, "joint.fetches");
    r.transactions = heddle_stat(h, 0, "lsu.transactions");
    r.sp = heddle_stat(h, 0, "pipe.sp");
    heddle_close(h);
    return r;
}

/* Both sides wait for the load. When its data arrive, all instructions of both sides are in the instruction buffers.
 * Without joint issue, the sides then issue alternately and take 12 slots. Under sbi, each slot takes one
 * instruction of each side. So there are 6 slots, each with 32 lanes and two decoded instructions. The two
 * instructions of a slot occupy the pipe only as long as one instruction, so the warp reaches the join, and ends, 6
 * cycles earlier. Each instruction still reads and writes its registers. */
START_TEST(two_sides_share_their_slots) {
    static const char *const bases[] = {"multipath", "anypc"};
    char model[32];
    snprintf(model, sizeof model, "%s+sbi", bases[_i]);
    struct ran alone = run(bases[_i], if_else, 32, NULL), joint = run(model, if_else, 32, NULL);
    ck_assert_double_eq(alone.joint, 0);
    ck_assert_double_eq(joint.joint, 6);
    ck_assert_double_eq(joint.saved, 6);
    ck_assert_double_eq(joint.lanes, 6 * 32);
    ck_assert_double_eq(joint.decodes, 6);
    ck_assert_double_eq(joint.left_out, 0);
    ck_assert_double_eq(alone.slots - joint.slots, 6);
    ck_assert_double_eq(alone.cycles - joint.cycles, 6);
    ck_assert_double_eq(alone.sp - joint.sp, 6);
    ck_assert_double_eq(alone.reads, joint.reads);
    ck_assert_double_eq(alone.writes, joint.writes);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(joint.out[t], 5 * (t + 1) + (t < 16 ? 6 * 102 : 5 * 101));
}
END_TEST

/* Four sides of six instructions would take 24 slots without joint issue. They take 12 slots under sbi, which pairs
 * two paths, and 6 slots under mimd, which joins all four. */
START_TEST(the_bound_takes_all_sides) {
    struct ran pairs = run("anypc+sbi", four_sides, 32, NULL), all = run("anypc+mimd", four_sides, 32, NULL);
    ck_assert_double_eq(pairs.joint, 12);
    ck_assert_double_eq(pairs.saved, 12);
    ck_assert_double_eq(pairs.lanes, 12 * 16);
    ck_assert_double_eq(all.joint, 6);
    ck_assert_double_eq(all.saved, 18);
    ck_assert_double_eq(all.lanes, 6 * 32);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(all.out[t], 5 * (t + 1) + 5 * (101 + t / 8));
        ck_assert_uint_eq(pairs.out[t], all.out[t]);
    }
}
END_TEST

/* The scheduler takes the warps in turn. Warp 0 issues its branch in all lanes, and then warp 1 does. From then on,
 * each slot takes the same instruction of both warps, which use different lanes: 6 slots instead of 12. Both
 * instructions have the same PC, so none is decoded twice. With sched.policy=oldest, warp 0 goes ahead while warp 1
 * has not issued its branch, so no slot is shared. With dwf.majority, the branch of warp 1 (32 lanes) issues before
 * the additions of warp 0 (16 lanes), so 6 slots are shared. */
START_TEST(warps_fill_idle_lanes) {
    static const struct {
        const char *model, *set;
        double joint;
    } rows[] = {{"spe+swi", NULL, 6},
                {"spe+dwf", NULL, 6},
                {"spe+swi", "sched.policy=oldest", 0},
                {"spe+dwf", "sched.policy=oldest", 0},
                {"spe+dwf", "dwf.majority=on", 6}};
    const char *text = HALVES(LAST("1"));
    struct ran alone = run("spe", text, 64, rows[_i].set && _i < 4 ? rows[_i].set : NULL);
    struct ran joint = run(rows[_i].model, text, 64, rows[_i].set);
    ck_assert_double_eq(joint.joint, rows[_i].joint);
    ck_assert_double_eq(joint.saved, rows[_i].joint);
    ck_assert_double_eq(joint.lanes, 32 * rows[_i].joint);
    ck_assert_double_eq(joint.decodes, 0);
    ck_assert_double_eq(alone.slots - joint.slots, rows[_i].joint);
    for (int t = 0; t < 64; t++)
        ck_assert_uint_eq(joint.out[t], alone.out[t]);
}
END_TEST

/* Both warps execute fourteen instructions after the branch, in different lanes. The instruction buffers hold the
 * first seven. Then both warps need a fetch at the same PC. dwf fetches once for both warps, so the warps remain in
 * step, and each of 14 slots takes an instruction of both warps. */
START_TEST(a_formed_warp_fetches_once) {
    struct ran r = run("spe+dwf",
                       HALVES(LAST("1") SIDE("2") " add.u32 %r16,%r3,1;\n add.u32 %r17,%r3,1;\n"
                                                  " add.u32 %r18,%r3,1;\n"),
                       64, NULL);
    ck_assert_double_eq(r.joint, 14);
    ck_assert_double_eq(r.fetches, 1);
}
END_TEST

/* The sixth instruction is a load or store at the same PC in both warps. If both are issued in one slot, they are
 * one access of the load/store unit. In the first two cases, each warp accesses its own line, so no transaction is
 * saved. In the third case, both warps access one line. In the fourth case, the addresses are generic. Such accesses
 * are not merged, and two accesses do not fit into the issue latch, so only 5 slots are shared. */
START_TEST(accesses_are_merged) {
    static const struct {
        const char *model, *text;
        uint32_t threads;
        double joint, merged, transactions;
    } rows[] = {
        {"spe+dwf", HALVES(" ld.global.u32 %r9,[%a2];\n"), 64, 6, 1, 0},
        {"spe+swi", HALVES(" st.global.u32 [%a2],%r5;\n"), 64, 6, 1, 0},
        {"spe+dwf", HALVES(" ld.global.u32 %r9,[%a1];\n"), 64, 6, 1, 1},
        {"spe+dwf", HALVES(" ld.u32 %r9,[%a2];\n"), 64, 5, 0, 0},
    };
    char base[16];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(rows[_i].model, "+"), rows[_i].model);
    struct ran alone = run(base, rows[_i].text, rows[_i].threads, NULL);
    struct ran joint = run(rows[_i].model, rows[_i].text, rows[_i].threads, NULL);
    ck_assert_double_eq(joint.joint, rows[_i].joint);
    ck_assert_double_eq(joint.accesses, rows[_i].merged);
    ck_assert_double_eq(alone.lsu - joint.lsu, rows[_i].merged);
    ck_assert_double_eq(alone.transactions - joint.transactions, rows[_i].transactions);
    ck_assert_double_eq(alone.reads, joint.reads);
    ck_assert_double_eq(alone.writes, joint.writes);
    for (int t = 0; t < 64; t++)
        ck_assert_uint_eq(joint.out[t], alone.out[t]);
}
END_TEST

/* As HALVES, but in both warps lanes 0 to 15 execute the five additions and LASTLY. */
#define SAME_HALVES(LASTLY)                                                                                            \
    HEAD FILL FILL FILL LOAD " setp.ge.u32 %q3,%r2,16;\n setp.lt.u32 %q2,%r1,32;\n add.u32 %r15,%r1,1;\n"              \
                             " add.u32 %r16,%r3,%r3;\n bar.sync 0;\n @%q3 bra J;\n" SIDE("1") LASTLY "J:\n" END

/* The same lanes of both warps are active, so no slot is shared if threads keep their lanes. With joint.lanes=any, each
 * slot takes the instruction of both warps: 6 slots instead of 12. In each of these slots the second warp reads one
 * register and writes one register in the lanes of the first warp, so 12 accesses wait. */
START_TEST(threads_cross_to_free_lanes) {
    static const char *const models[] = {"spe+dwf", "spe+swi"};
    const char *text = SAME_HALVES(LAST("1"));
    struct ran home = run(models[_i], text, 64, NULL), any = run(models[_i], text, 64, "joint.lanes=any");
    ck_assert_double_eq(home.joint, 0);
    ck_assert_double_eq(home.conflicts, 0);
    ck_assert_double_eq(any.joint, 6);
    ck_assert_double_eq(any.saved, 6);
    ck_assert_double_eq(any.lanes, 6 * 32);
    ck_assert_double_eq(home.slots - any.slots, 6);
    ck_assert_double_eq(any.conflicts, 12);
    ck_assert_double_eq(any.reads, home.reads);
    ck_assert_double_eq(any.writes, home.writes);
    for (int t = 0; t < 64; t++)
        ck_assert_uint_eq(any.out[t], home.out[t]);
}
END_TEST

/* There is a single register bank. If the warps use different lanes, each of the six slots reads the bank for one
 * cycle. If the warps use the same lanes, each slot reads it for two cycles, so the sixth slot leaves the collector six
 * cycles later. The writes follow one latency later, and also take two cycles each. So the last write ends one more
 * cycle later. The code after the join needs this register last, which hides this cycle. */
START_TEST(crossed_threads_wait_for_banks) {
    struct ran apart = run("spe+dwf", HALVES(LAST("1")), 64, "joint.lanes=any collector.banks=1");
    struct ran same = run("spe+dwf", SAME_HALVES(LAST("1")), 64, "joint.lanes=any collector.banks=1");
    ck_assert_double_eq(apart.joint, 6);
    ck_assert_double_eq(same.joint, 6);
    ck_assert_double_eq(apart.conflicts, 0);
    ck_assert_double_eq(same.cycles - apart.cycles, 6);
}
END_TEST

/* A slot has at most 32 threads: three quarters of both warps do not fit into one slot. */
START_TEST(a_slot_has_as_many_threads_as_lanes) {
    struct ran any = run("spe+dwf",
                         HEAD FILL FILL FILL LOAD
                         " setp.ge.u32 %q3,%r2,24;\n setp.lt.u32 %q2,%r1,32;\n add.u32 %r15,%r1,1;\n"
                         " add.u32 %r16,%r3,%r3;\n bar.sync 0;\n @%q3 bra J;\n" SIDE("1") LAST("1") "J:\n" END,
                         64, "joint.lanes=any");
    ck_assert_double_eq(any.joint, 0);
}
END_TEST

/* The sixth instruction is an access of the same lanes of both warps, which becomes one access with 32 threads. In the
 * first two cases each thread has its own word, in 16 words of two lines, so the two transactions remain. In the third
 * case all threads read one word. */
START_TEST(accesses_of_crossed_threads_are_merged) {
    static const struct {
        const char *text;
        double transactions;
    } rows[] = {{SAME_HALVES(" ld.global.u32 %r9,[%a2];\n"), 0},
                {SAME_HALVES(" st.global.u32 [%a2],%r5;\n"), 0},
                {SAME_HALVES(" ld.global.u32 %r9,[%a1];\n"), 1}};
    struct ran home = run("spe+dwf", rows[_i].text, 64, NULL);
    struct ran any = run("spe+dwf", rows[_i].text, 64, "joint.lanes=any");
    ck_assert_double_eq(any.joint, 6);
    ck_assert_double_eq(any.accesses, 1);
    ck_assert_double_eq(home.lsu - any.lsu, 1);
    ck_assert_double_eq(home.transactions - any.transactions, rows[_i].transactions);
    for (int t = 0; t < 64; t++)
        ck_assert_uint_eq(any.out[t], home.out[t]);
}
END_TEST

/* Runs a random kernel and stores its memory in `out`. Returns its cycles. */
static double run_random(const char *model, uint64_t seed, bool poll, const char *text, uint32_t *out) {
    static uint32_t in[RANDOM_IN_WORDS];
    char err[512];
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(model, "*"), model);
    const char *const set[] = {"sm.registers=65536",
                               "sm.shared_bytes=16384",
                               poll ? "gpu.poll=on" : "gpu.poll=off",
                               strchr(model, '*') ? "joint.lanes=any" : "joint.lanes=home",
                               seed & 1 && strstr(model, "dwf") ? "dwf.majority=on" : NULL,
                               NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = name, .config = "tiny", .set = set, .threads = 2, .cycle_limit = 50000000},
        err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", model, err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    random_input(seed, in);
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, RANDOM_OUT_WORDS * sizeof *out);
    heddle_write(h, din, in, sizeof in);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s, seed %llu: %s", model, (unsigned long long)seed, heddle_error(h));
    heddle_read(h, dout, out, RANDOM_OUT_WORDS * sizeof *out);
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* Random kernels leave the same memory contents as in the functional model, and take the same number of cycles with
 * and without polling. A star after a model stands for joint.lanes=any. */
START_TEST(results_are_the_same) {
    static const char *const models[] = {"anypc",      "anypc+sbi",     "anypc+swi",   "anypc+sbi+swi", "anypc+dwf",
                                         "anypc+mimd", "multipath+sbi", "dws+sbi+swi", "dpe+mimd",      "spe+swi",
                                         "spe+dwf",    "its+swi",       "si+dwf",      "anypc+dwf*",    "spe+swi*",
                                         "tbc*",       "large*",        "large"};
    static uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    for (uint64_t seed = 1; seed <= (test_every() ? 100 : 3); seed++) {
        char *text = random_kernel(seed, seed & 2 ? RANDOM_RICH : RANDOM_LEAVERS);
        run_random("functional", seed, false, text, want);
        double cycles = run_random(models[_i], seed, false, text, got);
        ck_assert_msg(memcmp(want, got, sizeof want) == 0, "%s, seed %llu", models[_i], (unsigned long long)seed);
        ck_assert_double_eq(run_random(models[_i], seed, true, text, got), cycles);
        free(text);
    }
}
END_TEST

/* With one pipe, the pass of the products enters it one cycle before the pass of the first sums. A product has the
 * latency of a sum, 4 cycles, or one cycle more: then both passes would leave the pipe in one cycle. With
 * peer.pipe_ends, the sums then enter one cycle later, and so does the sum behind them, for which all lanes wait. The
 * option delays instructions outside of the sides, too, by as much with both latencies. */
START_TEST(passes_leave_a_pipe_one_by_one) {
    static const char text[] = HEAD FILL LOAD
        " setp.lt.u32 %q1,%r2,16;\n @%q1 bra B;\n mad.lo.u32 %r4,%r3,3,%r3;\n add.u32 %r5,%r3,1;\n bra J;\n"
        "B: mad.lo.u32 %r4,%r3,5,%r3;\n add.u32 %r5,%r3,2;\n add.u32 %r9,%r3,2;\n"
        "J: add.u32 %r4,%r4,%r5;\n add.u32 %r4,%r4,%r9;\n st.global.u32 [%a2],%r4;\n ret;\n}\n";
    double later[2];
    for (int k = 0; k < 2; k++) {
        struct ran r[2];
        for (int on = 0; on < 2; on++) {
            char more[128];
            snprintf(more, sizeof more, "pipe.sp.units=1 latency.int_mad=%d peer.pipe_ends=%s", 4 + k,
                     on ? "on" : "off");
            r[on] = run("anypc+sbi", text, 32, more);
            EXPECT(r[on].joint == 3, "%g", r[on].joint);
        }
        later[k] = r[1].cycles - r[0].cycles;
        ck_assert_mem_eq(r[0].out, r[1].out, sizeof r[0].out);
    }
    EXPECT(later[1] == later[0] + 1, "%g, %g", later[0], later[1]);
}
END_TEST

/* Combinations that are refused: joint issue of paths in a model in which only one path of a warp can issue at a
 * time, joint issue in the functional model, and two extensions that pair paths or that pair warps. */
START_TEST(refusals) {
    static const struct {
        const char *model, *why;
    } rows[] = {{"spe+sbi", "one path of a warp can issue at a time"},
                {"its+mimd", "one path of a warp can issue at a time"},
                {"minpc+sbi", "one path of a warp can issue at a time"},
                {"functional+swi", "changes how long a kernel takes"},
                {"anypc+sbi+mimd", "are two extensions that pair paths of a warp"},
                {"anypc+swi+dwf", "are two extensions that pair warps"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char err[512] = "";
        ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = rows[i].model}, err, sizeof err));
        ck_assert_msg(strstr(err, rows[i].why), "%s: %s", rows[i].model, err);
    }
}
END_TEST

/* Joint issue divides collectors that all pipes share among the pipes, and a note says so. The modern core has no such
 * collectors. */
START_TEST(shared_collectors_are_divided) {
    static const struct {
        const char *model, *config;
        bool noted;
    } rows[] = {{"anypc+swi", "fermi", true}, {"spe", "fermi", false}, {"anypc+swi", "ampere", false}};
    static const char *const set[] = {"collector.shared=8", NULL};
    char err[512] = "";
    for (int i = 0; i < 3; i++) {
        test_case("%s on %s", rows[i].model, rows[i].config);
        struct heddle *h = heddle_open(
            &(struct heddle_options){.model = rows[i].model, .config = rows[i].config, .set = set}, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        const char *said =
            strstr(heddle_notes(h), "collector.shared is 0, not 8: 'swi' issues several paths in one slot");
        ck_assert_int_eq(said != NULL, rows[i].noted);
        heddle_close(h);
    }
}
END_TEST

SUITE(timing_sm_joint) {
    TEST_SPEED_LOOP(two_sides_share_their_slots, 0, 2);
    TEST(the_bound_takes_all_sides);
    TEST_SPEED_LOOP(warps_fill_idle_lanes, 0, 5);
    TEST_SPEED(a_formed_warp_fetches_once);
    TEST_SPEED_LOOP(accesses_are_merged, 0, 4);
    TEST_SPEED_LOOP(threads_cross_to_free_lanes, 0, 2);
    TEST_SPEED(crossed_threads_wait_for_banks);
    TEST(a_slot_has_as_many_threads_as_lanes);
    TEST_SPEED_LOOP(accesses_of_crossed_threads_are_merged, 0, 3);
    TEST_LOOP(results_are_the_same, 0, 18);
    TEST(passes_leave_a_pipe_one_by_one);
    TEST(refusals);
    TEST(shared_collectors_are_divided);
}
