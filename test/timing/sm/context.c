/* Tests contexts: warps without a CTA. The example unit test/toys/side_warp.c opens them, and the example pass
 * test/toys/side_stream.c makes the instruction stream that they run. */
#include "host/context.h"
#include "test/every_model.h"
#include "test/test.h"
#include "test/toys/passes.h"
#include "test/toys/units.h"
#include "timing/report/trace.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    " .reg .b32 %r<9>; .reg .f64 %d<3>; .reg .b64 %a; .reg .pred %q<4>;\n"

/* CTA warps execute a chain of square roots, and never reach the label SIDE. The side stream starts at SIDE. It counts
 * from 15 down in steps of 3, and stores the number of iterations in p[1]. It executes:
 * - mov, setp, bra, ld.param, mov, mov
 * - 5 iterations of sub, sub, sub, add, setp, bra
 * - st, ret */
static const char counts[] =
    HEAD " mov.u32 %r1,%tid.x;\n setp.gt.u32 %q1,%r1,5000;\n @%q1 bra SIDE;\n"
         " cvt.rn.f64.u32 %d1,%r1;\n sqrt.rn.f64 %d1,%d1;\n sqrt.rn.f64 %d1,%d1;\n sqrt.rn.f64 %d1,%d1;\n"
         " sqrt.rn.f64 %d1,%d1;\n ld.param.u64 %a,[p];\n cvt.rzi.u32.f64 %r2,%d1;\n red.global.add.u32 [%a],1;\n"
         " st.global.u32 [%a+8],%r2;\n ret;\n"
         "SIDE: ld.param.u64 %a,[p];\n mov.u32 %r3,15;\n mov.u32 %r4,0;\n"
         "LOOP: sub.u32 %r3,%r3,1;\n sub.u32 %r3,%r3,1;\n sub.u32 %r3,%r3,1;\n add.u32 %r4,%r4,1;\n"
         " setp.ne.u32 %q2,%r3,0;\n @%q2 bra LOOP;\n st.global.u32 [%a+4],%r4;\n ret;\n}\n";
enum { ROUNDS = 5, BEFORE = 6, ROUND = 6, AFTER = 2, SIDE_SLOTS = BEFORE + ROUNDS * ROUND + AFTER };

/* Each warp of a CTA produces 8 items, one for each addition. The side stream consumes the items one by one. */
static const char makes[] = HEAD " mov.u32 %r1,%tid.x;\n setp.gt.u32 %q1,%r1,5000;\n @%q1 bra SIDE;\n mov.u32 %r2,0;\n"
                                 " add.u32 %r2,%r2,1;\n add.u32 %r2,%r2,2;\n add.u32 %r2,%r2,3;\n add.u32 %r2,%r2,4;\n"
                                 " add.u32 %r2,%r2,5;\n add.u32 %r2,%r2,6;\n add.u32 %r2,%r2,7;\n add.u32 %r2,%r2,8;\n"
                                 " ld.param.u64 %a,[p];\n bar.sync 0;\n red.global.add.u32 [%a],%r2;\n ret;\n"
                                 "SIDE: mov.u32 %r3,0;\n"
                                 "LOOP: sub.u32 %r3,%r3,1;\n setp.ne.u32 %q2,%r3,0;\n @%q2 bra LOOP;\n ret;\n}\n";
enum { MADE = 8 };

static struct side_seen seen[SIDE_SMS];
static struct pass table[MAX_PASSES];

struct beside {
    const char *text, *model, *config;
    const char *set[8];
    uint32_t ctas, threads, host_threads, launches;
    struct side_warp side;
    bool alone; /* without the unit */
    FILE *trace;
};

static uint32_t words[8];
static char error[8192]; /* message of the last launch that failed */

/* Runs the launches. The caller closes the returned context. */
static struct heddle *run(struct beside *b) {
    char err[512];
    memset(seen, 0, sizeof seen);
    b->side.seen = seen;
    b->side.lanes = b->side.lanes ? b->side.lanes : LANES_ALL;
    passes_with(table, &side_stream, "postdom");
    const struct sm_unit_row row = {&side_warp_unit, &b->side};
    struct heddle *h = context_open(
        &(struct heddle_options){.model = b->model,
                                 .config = b->config ? b->config : "tiny",
                                 .set = b->set,
                                 .trace = b->trace,
                                 .trace_waits = 1,
                                 .threads = b->host_threads ? b->host_threads : 1},
        &(struct context_parts){.models = &model_tables, .passes = table, .units = &row, .n_units = !b->alone}, err,
        sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *mod = heddle_module_text(h, "t.ptx", b->text, strlen(b->text));
    ck_assert_msg(mod != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, sizeof words);
    heddle_clear(h, p, sizeof words);
    const struct heddle_arg args[] = {{&p, 8}};
    error[0] = 0;
    for (uint32_t i = 0; i < (b->launches ? b->launches : 1); i++)
        if (heddle_launch(h, mod, "k", (struct heddle_dim){b->ctas, 1, 1}, (struct heddle_dim){b->threads, 1, 1}, 0,
                          args, 1) != HEDDLE_OK)
            snprintf(error, sizeof error, "%s", heddle_error(h));
    heddle_read(h, p, words, sizeof words);
    return h;
}

static void worked(struct heddle *h, uint32_t launches) {
    ck_assert_msg(heddle_launches(h) == (int)launches, "%s", error);
}

/* One CTA of one warp and a side warp share a scheduler. The side warp issues each of its instructions once. Its
 * dependent subtractions are 10 cycles apart (test/timing/micro.c), or 11 cycles if the CTA's warp used the issue
 * slot. */
START_TEST(a_context_issues_like_any_warp) {
    struct beside b = {.text = counts, .model = base_models()->name[_i], .ctas = 1, .threads = 32};
    struct heddle *h = run(&b);
    worked(h, 1);
    /* in the models its and si, the loop also has a BSSY and a BSYNC */
    bool barriers = strcmp(base_models()->name[_i], "its") == 0 || strcmp(base_models()->name[_i], "si") == 0;
    ck_assert_uint_eq(seen[0].issued, SIDE_SLOTS + 2 * barriers);
    ck_assert_uint_eq(seen[0].by_unit, 0);
    ck_assert_uint_eq(seen[0].ended, 1);
    ck_assert_uint_eq(words[0], 32);
    ck_assert_uint_eq(words[1], ROUNDS);
    ck_assert_double_eq(heddle_stat(h, 0, "sm.context_instructions"), SIDE_SLOTS);
    ck_assert_double_eq(heddle_stat(h, 0, "issue.issued"), seen[0].n);
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.warps"), 1);
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.max_resident_warps"), 1);
    uint64_t before = 0, gaps = 0;
    uint32_t pc = 0;
    for (uint32_t i = 0; i < seen[0].n; i++) {
        if (seen[0].slot[i].warp == 0)
            continue;
        ck_assert_uint_eq(seen[0].slot[i].warp, 8); /* tiny.cfg: sm.warps=8 */
        uint64_t gap = seen[0].slot[i].cycle - before;
        /* true for the second and the third of three subtractions, each of which needs the result before it */
        bool dependent = gap >= 10 && gap <= 11 && seen[0].slot[i].pc == pc + 1;
        bool taken = false;
        for (uint32_t k = 0; k < seen[0].n; k++)
            taken |= seen[0].slot[k].warp == 0 && seen[0].slot[k].cycle == before + 10;
        gaps += dependent && gap == 10u + taken;
        before = seen[0].slot[i].cycle, pc = seen[0].slot[i].pc;
    }
    ck_assert_uint_ge(gaps, 2 * ROUNDS);
    heddle_close(h);
}
END_TEST

/* A launch ends when its CTAs have ended, even if a side warp never ends. The side warp delays CTAs only by the
 * issue slots that it uses. Its cycles are not counted as cycles of warps. */
START_TEST(a_context_keeps_no_launch_alive) {
    struct beside b = {
        .text = makes, .model = base_models()->name[_i], .ctas = 3, .threads = 64, .side = {.takes = 1000}};
    struct beside alone = b;
    alone.alone = true;
    struct heddle *h = run(&alone), *with;
    worked(h, 1);
    double cycles = heddle_stat(h, 0, "gpu.cycles"), warps = heddle_stat(h, 0, "sm.warp_cycles");
    heddle_close(h);
    with = run(&b);
    worked(with, 1);
    ck_assert_uint_eq(seen[0].ended, 0);
    ck_assert(seen[0].taken > 0 && seen[0].taken <= 6 * MADE);
    ck_assert_uint_eq(words[0], 3 * 64 * 36);
    /* each issue slot of the side warp delays the CTAs by at most one cycle */
    double more = heddle_stat(with, 0, "gpu.cycles") - cycles;
    ck_assert_msg(more >= 0 && more <= (double)seen[0].issued, "%s: %g cycles more", base_models()->name[_i], more);
    ck_assert_double_eq(heddle_stat(with, 0, "gpu.warps"), 6);
    ck_assert_double_le(heddle_stat(with, 0, "sm.warp_cycles"), warps + 6 * more);
    double lived = heddle_stat(with, 0, "sm.context_cycles");
    ck_assert_msg(lived > 0 && lived <= heddle_stat(with, 0, "gpu.cycles"), "%g", lived);
    ck_assert_double_eq(heddle_stat(with, 0, "issue.slots"), heddle_stat(with, 0, "gpu.cycles"));
    heddle_close(with);
}
END_TEST

/* The unit executes the subtraction and the branch of the side warp. All items are consumed, and the loop ends after
 * the last item. */
START_TEST(a_unit_executes_for_a_context) {
    struct beside b = {.text = makes,
                       .model = base_models()->name[_i],
                       .ctas = 1,
                       .threads = 64,
                       .side = {.takes = 2 * MADE, .room = 2}};
    struct heddle *h = run(&b);
    worked(h, 1);
    ck_assert_uint_eq(seen[0].taken, 2 * MADE);
    ck_assert_uint_eq(seen[0].by_unit, 2 * 2 * MADE); /* sub and bra */
    ck_assert_uint_eq(seen[0].ended, 1);
    ck_assert_uint_gt(seen[0].refused, 0);
    ck_assert_uint_eq(words[0], 64 * 36);
    heddle_close(h);
}
END_TEST

/* The unit controls the side warp: it executes each instruction and chooses the next instruction. It executes:
 * - mov, setp, bra, mov
 * - sub, setp and bra for each item
 * - ret, after which the unit closes the context
 * Only the exit follows the loop, so the compiler inserts no convergence barrier. */
START_TEST(a_unit_drives_a_context) {
    struct beside b = {.text = makes,
                       .model = base_models()->name[_i],
                       .ctas = 1,
                       .threads = 64,
                       .side = {.takes = 2 * MADE, .room = 2, .driven = true}};
    struct heddle *h = run(&b);
    worked(h, 1);
    ck_assert_uint_eq(seen[0].taken, 2 * MADE);
    ck_assert_uint_eq(seen[0].issued, 4 + 3 * 2 * MADE + 1);
    ck_assert_uint_eq(seen[0].by_unit, seen[0].issued);
    ck_assert_uint_eq(seen[0].ended, 1);
    ck_assert_double_eq(heddle_stat(h, 0, "sm.context_instructions"), 4 + 3 * 2 * MADE + 1);
    ck_assert_uint_eq(words[0], 64 * 36);
    heddle_close(h);
}
END_TEST

/* A side warp that never ends is removed with its launch: the next launch starts like the first launch and has the
 * same statistics. */
START_TEST(an_endless_context_ends_with_its_launch) {
    static const char endless[] =
        HEAD " mov.u32 %r1,%tid.x;\n setp.gt.u32 %q1,%r1,5000;\n @%q1 bra SIDE;\n cvt.rn.f64.u32 %d1,%r1;\n"
             " sqrt.rn.f64 %d1,%d1;\n sqrt.rn.f64 %d1,%d1;\n cvt.rzi.u32.f64 %r2,%d1;\n ret;\n"
             "SIDE: mov.u32 %r3,0;\nLOOP: setp.gt.u32 %q2,%r1,%r3;\n @%q2 bra ODD;\n add.u32 %r3,%r3,2;\n bra LOOP;\n"
             "ODD: add.u32 %r3,%r3,1;\n bra LOOP;\n}\n";
    static const char *const names[] = {
        "gpu.cycles",   "gpu.warp_instructions",  "sm.warp_cycles", "sm.context_cycles", "sm.context_instructions",
        "issue.issued", "issue.scoreboard_arith", "issue.no_warp",  "gpu.path_sum",      "fetch.fetches"};
    struct beside b = {.text = endless, .model = base_models()->name[_i], .ctas = 3, .threads = 64, .launches = 3};
    struct heddle *h = run(&b);
    worked(h, 3);
    ck_assert_uint_eq(seen[0].ended, 0);
    ck_assert_double_gt(heddle_stat(h, 0, "sm.context_instructions"), 20);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int launch = 1; launch < 3; launch++)
            ck_assert_msg(heddle_stat(h, launch, names[i]) == heddle_stat(h, 0, names[i]), "%s, %s: %g, then %g",
                          base_models()->name[_i], names[i], heddle_stat(h, 0, names[i]),
                          heddle_stat(h, launch, names[i]));
    heddle_close(h);
}
END_TEST

/* CTA warps stall when 6 items wait. The side warp ends after 3 items, but the CTA warps have to produce 16. */
START_TEST(a_deadlock_names_the_context) {
    struct beside b = {
        .text = makes, .model = base_models()->name[_i], .ctas = 1, .threads = 64, .side = {.takes = 3, .room = 6}};
    struct heddle *h = run(&b);
    ck_assert_int_eq(heddle_launches(h), 1);
    ck_assert_str_eq(heddle_incomplete(h, 0), "deadlock");
    ck_assert_msg(strstr(error, "nothing can happen any more") && strstr(error, "waits for a queue") &&
                      strstr(error, "  side warp: 3 of 3 things taken"),
                  "%s", error);
    heddle_close(h);
}
END_TEST

/* The side warp waits for items that no warp produces. The CTA waits at a barrier for more warps than it has. */
START_TEST(a_deadlock_shows_where_the_context_waits) {
    static const char stuck[] =
        HEAD " mov.u32 %r1,%tid.x;\n setp.gt.u32 %q1,%r1,5000;\n @%q1 bra SIDE;\n barrier.sync 1,128;\n ret;\n"
             "SIDE: mov.u32 %r3,0;\nLOOP: sub.u32 %r3,%r3,1;\n setp.ne.u32 %q2,%r3,0;\n @%q2 bra LOOP;\n ret;\n}\n";
    struct beside b = {
        .text = stuck, .model = base_models()->name[_i], .ctas = 1, .threads = 64, .side = {.takes = 1, .lanes = 0xff}};
    struct heddle *h = run(&b);
    char want[128];
    snprintf(want, sizeof want, "  SM 0, side warp of a toy, model %s\n    lanes 000000ff at pc ",
             base_models()->name[_i]);
    ck_assert_msg(strstr(error, want) != NULL, "%s", error);
    const char *line = strstr(strstr(error, want), "waits for a queue");
    ck_assert_msg(line != NULL && strstr(error, "CTA (0,0,0), warp 1, model"), "%s", error);
    heddle_close(h);
}
END_TEST

/* The report of a fault names the side warp, not a CTA. */
START_TEST(a_fault_names_the_context) {
    static const char wild[] =
        HEAD " mov.u32 %r1,%tid.x;\n setp.gt.u32 %q1,%r1,5000;\n @%q1 bra SIDE;\n cvt.rn.f64.u32 %d1,%r1;\n"
             " sqrt.rn.f64 %d1,%d1;\n sqrt.rn.f64 %d1,%d1;\n cvt.rzi.u32.f64 %r2,%d1;\n ld.param.u64 %a,[p];\n"
             " st.global.u32 [%a],%r2;\n ret;\nSIDE: mov.u64 %a,8;\n st.global.u32 [%a],%r1;\n ret;\n}\n";
    struct beside b = {
        .text = wild, .model = base_models()->name[_i], .ctas = 1, .threads = 32, .side = {.lanes = 0x80}};
    struct heddle *h = run(&b);
    ck_assert_msg(strstr(error, "  side warp of a toy, lane 7\n") && !strstr(error, "CTA (0,0,0)"), "%s", error);
    heddle_close(h);
}
END_TEST

/* Runs three launches on four SMs, with more CTAs than fit at a time: SMs sleep and wake, and CTAs may use all warp
 * slots. Host threads and polling must not change results. */
START_TEST(contexts_of_many_sms_and_launches) {
    static struct side_seen first[SIDE_SMS];
    double cycles = 0, slots = 0;
    for (int run_ = 0; run_ < 3; run_++) {
        struct beside b = {.text = _i / base_models()->n ? counts : makes,
                           .model = base_models()->name[_i % base_models()->n],
                           .config = "fermi",
                           .set = {"gpu.sms=4", run_ == 2 ? "gpu.poll=true" : "gpu.poll=false"},
                           .ctas = 37,
                           .threads = 192,
                           .host_threads = run_ == 1 ? 2 : 1,
                           .launches = 3,
                           .side = {.takes = _i / base_models()->n ? 0 : 30, .late = true}};
        struct heddle *h = run(&b);
        worked(h, 3);
        if (_i / base_models()->n)
            ck_assert_uint_eq(words[0], 3 * 37 * 192);
        ck_assert_double_eq(heddle_stat(h, 1, "gpu.max_resident_warps"), 48); /* 8 CTAs of 6 warps: the SM is full */
        double c = 0, s = 0;
        for (int i = 0; i < 3; i++)
            c += heddle_stat(h, i, "gpu.cycles"), s += heddle_stat(h, i, "sm.context_instructions");
        if (!run_) {
            cycles = c, slots = s;
            memcpy(first, seen, sizeof seen);
        }
        ck_assert_double_eq(c, cycles);
        ck_assert_double_eq(s, slots);
        for (int i = 0; i < 4; i++) {
            ck_assert_uint_eq(seen[i].issued, first[i].issued);
            ck_assert_uint_eq(seen[i].last, first[i].last);
            ck_assert_uint_eq(seen[i].ended, 3);
        }
        heddle_close(h);
    }
}
END_TEST

/* CTAs cannot use the registers of a side warp. */
START_TEST(context_registers_are_taken_from_ctas) {
    struct beside b = {.text = counts,
                       .model = base_models()->name[_i],
                       .ctas = 8,
                       .threads = 32,
                       .set = {"sm.registers=4096", "sm.thread_registers=32"}};
    struct heddle *h = run(&b); /* each CTA needs 32 x 32 registers, so 4 CTAs fit at a time */
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.max_resident_warps"), 4);
    heddle_close(h);
    b.side.registers = 1024;
    h = run(&b);
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.max_resident_warps"), 3);
    heddle_close(h);
    b.side.registers = 3073;
    h = run(&b);
    ck_assert_msg(strstr(error, "it needs 1024 registers, and an SM has 1023 (sm.registers, less what "
                                "extensions take)"),
                  "%s", error);
    heddle_close(h);
}
END_TEST

/* The unit closes the side warp while it runs: the side warp issues nothing more, its warp slot is free, and CTAs
 * are not affected. */
START_TEST(a_unit_may_close_a_context) {
    struct beside b = {.text = counts, .model = base_models()->name[_i], .ctas = 1, .threads = 32, .launches = 2};
    struct heddle *h = run(&b);
    uint64_t first = seen[0].first;
    heddle_close(h);
    b.side.close_at = first + 25;
    h = run(&b);
    worked(h, 2);
    ck_assert_uint_eq(seen[0].ended, 2);
    ck_assert_uint_lt(seen[0].issued, SIDE_SLOTS);
    for (uint32_t i = 0; i < seen[0].n; i++)
        ck_assert(seen[0].slot[i].warp == 0 || seen[0].slot[i].cycle < b.side.close_at);
    heddle_close(h);
}
END_TEST

/* Returns the number of instruction bars on `n` tracks of warp slot `slot`, from track `first` on. */
static unsigned bars(const char *text, int slot, int first, int n) {
    unsigned found = 0;
    for (int t = first; t < first + n; t++) {
        char what[64];
        snprintf(what, sizeof what, "\"pid\":0,\"tid\":%d,\"args\":{\"pc\"", slot * TRACE_WARP_TRACKS + t);
        found += (unsigned)occurrences(text, what);
    }
    return found;
}

/* Tracks of the trace:
 * - the side warp has its own track with its name, and a bar for each instruction
 * - the CTAs have the same tracks as without the side warp: each CTA has a bar and a barrier release, and each
 *   instruction of its warps has a bar */
START_TEST(a_trace_names_the_context) {
    char what[64];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    struct beside b = {.text = makes, .model = base_models()->name[_i], .ctas = 2, .threads = 64, .trace = file};
    b.side.takes = 4;
    struct heddle *h = run(&b);
    worked(h, 1);
    heddle_close(h);
    rewind(file);
    static char text[1 << 20];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    enum { PATHS = TRACE_INST_TRACKS };
    ck_assert_int_eq(occurrences(text, "\"args\":{\"name\":\"side warp of a toy\"}"), 1);
    ck_assert_int_eq(occurrences(text, "\"name\":\"warp 0\"}"), 1);
    ck_assert_int_eq(occurrences(text, "\"name\":\"side warp of a toy, path 0 waits for\"}"), 1);
    ck_assert_uint_eq(bars(text, 8, 0, TRACE_INST_TRACKS), seen[0].issued); /* slot 8 of tiny.cfg */
    for (int w = 0; w < 4; w++) {
        ck_assert_uint_eq(bars(text, w, 0, TRACE_INST_TRACKS), (seen[0].n - seen[0].issued) / 4);
        /* waits of the first path of each CTA warp: for fetches, operands and the barrier */
        ck_assert_uint_gt(bars(text, w, PATHS, 1), 5);
    }
    for (int c = 0; c < 2; c++) {
        snprintf(what, sizeof what, "\"name\":\"CTA %d\",\"cat\":\"cta\",\"ph\":\"X\"", c);
        ck_assert_int_eq(occurrences(text, what), 1);
        snprintf(what, sizeof what, "\"pid\":0,\"tid\":%d}", TRACE_FIRST_CTA + c);
        ck_assert_int_eq(occurrences(text, what), 2); /* the bar of the CTA, and its barrier release */
    }
    ck_assert_int_eq(occurrences(text, "barrier 0 opens"), 2);
    ck_assert_int_gt(occurrences(text, "\"name\":\"queue\",\"cat\":\"wait\""), 0);
}
END_TEST

SUITE(timing_sm_context) {
    TEST_LOOP(a_trace_names_the_context, 0, base_models()->n);
    TEST_LOOP(a_context_issues_like_any_warp, 0, base_models()->n);
    TEST_LOOP(a_context_keeps_no_launch_alive, 0, base_models()->n);
    TEST_LOOP(a_unit_executes_for_a_context, 0, base_models()->n);
    TEST_LOOP(a_unit_drives_a_context, 0, base_models()->n);
    TEST_LOOP(an_endless_context_ends_with_its_launch, 0, base_models()->n);
    TEST_LOOP(a_deadlock_names_the_context, 0, base_models()->n);
    TEST_LOOP(a_deadlock_shows_where_the_context_waits, 0, base_models()->n);
    TEST_LOOP(a_fault_names_the_context, 0, base_models()->n);
    TEST_LOOP(contexts_of_many_sms_and_launches, 0, 2 * base_models()->n);
    TEST_LOOP(context_registers_are_taken_from_ctas, 0, base_models()->n);
    TEST_LOOP(a_unit_may_close_a_context, 0, base_models()->n);
}
