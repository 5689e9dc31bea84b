/* Tests that simulation in windows changes no statistic. The options that determine the lookahead have their smallest
 * and largest values. Each kernel runs in three ways:
 * - SMs synchronise at every edge (gpu.poll calls everything in every cycle)
 * - long windows on one thread
 * - long windows on four threads, which share the memory partitions in passes (timing/passes.h) */
#include "timing/windows.h"
#include "host/context.h"
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/mem/memsys.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n"              \
    ".reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<4>; .shared .b8 s[1024];\n"                                      \
    "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x;\n"                     \
    "mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2; mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d0, %d2;\n"           \
    "add.u64 %d4, %d1, %d2;\n"

/* Kernels that force SMs to synchronise with the memory side often or rarely. */
static const struct {
    const char *what, *body;
    uint32_t grid, block;
} kernels[] = {
    {"a line for each lane, and a store: the port is full", /* the lanes access words that are 33 lines apart */
     "and.b32 %r4, %r3, 1023; mul.lo.u32 %r4, %r4, 1056; mul.wide.u32 %d5, %r4, 4; add.u64 %d5, %d0, %d5;\n"
     "ld.global.u32 %r5, [%d5]; add.u32 %r5, %r5, %r3; st.global.u32 [%d4], %r5; ld.global.u32 %r6, [%d5+128];\n"
     "ld.global.u32 %r7, [%d5+256]; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r5; st.global.u32 [%d4], %r6; ret;\n}\n",
     48, 128},
    {"CTAs that end at different times: another begins at once",
     "and.b32 %r4, %r0, 7; mul.lo.u32 %r4, %r4, 5; add.u32 %r4, %r4, 1; mov.u32 %r5, 0;\n"
     "L: mad.lo.u32 %r5, %r5, 3, %r4; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;\n"
     "st.global.u32 [%d4], %r5; ret;\n}\n",
     200, 64},
    {"atomics of all SMs on few words, and barriers",
     "and.b32 %r4, %r2, 3; mul.wide.u32 %d5, %r4, 4; add.u64 %d5, %d0, %d5; mov.u32 %r6, 4;\n"
     "L: atom.global.add.u32 %r5, [%d5], 1; st.shared.u32 [s], %r5; bar.sync 0; ld.shared.u32 %r7, [s];\n"
     "sub.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra L; st.global.u32 [%d4], %r6; ret;\n}\n",
     20, 96},
    {"a flag: the CTA before has stored what this one reads",
     /* CTA 0 starts at once; CTA i waits until word i - 1 of the flags is set (the flags begin 4 KB after `a`) */
     "mul.wide.u32 %d5, %r0, 4; add.u64 %d5, %d0, %d5; setp.eq.u32 %p1, %r0, 0; mov.u32 %r8, 0; @%p1 bra D;\n"
     "L: ld.volatile.global.u32 %r5, [%d5+4092]; setp.eq.u32 %p2, %r5, 0; @%p2 bra L;\n"
     "sub.u64 %d6, %d4, 128; ld.volatile.global.u32 %r8, [%d6];\n"
     "D: add.u32 %r8, %r8, %r3; st.global.u32 [%d4], %r8; membar.gl; bar.sync 0;\n"
     "setp.eq.u32 %p3, %r2, 0; mov.u32 %r9, 1; @%p3 st.volatile.global.u32 [%d5+4096], %r9; ret;\n}\n",
     12, 32},
    {"more atomics under way than an SM can keep account of, and stores behind them", /* the lines are 33 lines apart */
     "and.b32 %r4, %r3, 1023; mul.lo.u32 %r4, %r4, 1056; mul.wide.u32 %d5, %r4, 4; add.u64 %d5, %d0, %d5;\n"
     "mov.u32 %r6, 3;\n"
     "L: red.global.add.u32 [%d5], 1; red.global.add.u32 [%d5+128], 1; st.global.u32 [%d5+256], %r3;\n"
     "st.global.u32 [%d5+384], %r3; st.global.u32 [%d5+512], %r3; sub.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, 0;\n"
     "@%p1 bra L; st.global.u32 [%d4], %r6; ret;\n}\n",
     12, 256},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0], WORDS = 1024 * 1056 + 4096, LAUNCHES = 2 };

/* The smallest and largest values of the options that determine the lookahead, combined with extreme values of other
 * options. */
static const char *const settings[][7] = {
    {NULL},
    {"l2.rop_latency=0"},
    {"l2.rop_latency=1", "icnt.latency=1"},
    {"l2.rop_latency=15"},
    {"l2.rop_latency=2000"},
    {"icnt.latency=1"},
    {"icnt.latency=7", "icnt.sm_queue=1"},
    {"icnt.latency=60", "icnt.slice_queue=1"},
    {"icnt.latency=300"},
    {"icnt.sm_queue=1", "icnt.slice_queue=1", "icnt.flit_bytes=8"},
    {"l2.write_acks=off", "l1.write=write_back"},
    {"l2.sectored=on", "l1.size=0"},
    {"memory.model=fixed", "memory.latency=40"},
    {"clock.icnt_mhz=300", "clock.l2_mhz=900", "clock.dram_mhz=2000"},
    {"gpu.sms=3"},
    {"icnt.slice_queue=2", "l2.port_bytes=8"},
    /* code that does not fit into the SMs' caches, so that it always comes from the clusters' caches */
    {"gpc.sms=2", "l1i.size=256", "l1i.ways=2"},
    {"gpc.sms=6", "gpc.latency=1", "gpc.queue=1", "l1i.size=128", "l1i.ways=1", "sm.inst_bytes=64"},
    {"gpc.sms=4", "gpc.queue=3", "gpc.port_bytes=16", "gpc.size=256", "gpc.ways=1", "l1i.size=0"},
    {"gpc.sms=3", "gpc.mshrs=1", "gpc.merges=1", "l1i.size=256", "l1i.ways=1", "l2.sectored=on"},
    {"gpc.sms=1", "gpc.line=128", "l2.rop_latency=15", "l1i.size=128", "l1i.ways=1", "l1c.size=0"},
    {"gpc.sms=256", "gpc.latency=2000", "icnt.latency=1", "l1i.size=128", "l1i.ways=1"},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct outcome {
    char *stats; /* statistics of all launches, by name */
    uint32_t *words;
};

static struct outcome run(uint32_t kernel, uint32_t setting, const char *poll, uint32_t threads) {
    const char *set[10] = {poll, "gpu.sms=6"};
    for (int i = 0; settings[setting][i]; i++)
        set[i + 2] = settings[setting][i];
    char err[512] = "", text[4096];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = "spe", .config = "fermi", .set = set, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text, "%s%s", HEAD, kernels[kernel].body);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t a = heddle_alloc(h, WORDS * 4), b = heddle_alloc(h, 1 << 17);
    const struct heddle_arg args[] = {{&a, 8}, {&b, 8}};
    struct outcome out = {.words = calloc(1 << 15, 4)};
    size_t size;
    FILE *f = open_memstream(&out.stats, &size);
    for (int i = 0; i < LAUNCHES; i++) {
        static const uint32_t zeros[64] = {0}; /* the flags */
        ck_assert_int_eq(heddle_write(h, a + 4092, zeros, sizeof zeros), HEDDLE_OK);
        enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){kernels[kernel].grid, 1, 1},
                                             (struct heddle_dim){kernels[kernel].block, 1, 1}, 0, args, 2);
        ck_assert_msg(s == HEDDLE_OK, "%s, %s, %s: %s", kernels[kernel].what, poll, set[2] ? set[2] : "",
                      heddle_error(h));
        static const char *const names[] = {"gpu.cycles",       "gpu.drained_cycles", "gpu.warp_instructions",
                                            "gpu.idle_cycles",  "issue.slots",        "l1.stalls",
                                            "l1.hits",          "l2.accesses",        "l2.stalls",
                                            "dram.clocks",      "dram.row_hits",      "icnt.stall_cycles",
                                            "gpc.accesses",     "gpc.pending_hits",   "gpc.stalls",
                                            "icnt.latency_sum", "lsu.stall_cycles",   "dram.queue_sum"};
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            fprintf(f, "%s %.17g\n", names[k], heddle_stat(h, (uint32_t)i, names[k]));
    }
    fclose(f);
    ck_assert_int_eq(heddle_read(h, b, out.words, 1 << 17), HEDDLE_OK);
    heddle_close(h);
    return out;
}

static void forget(struct outcome *o) {
    free(o->stats);
    free(o->words);
}

/* Setting 17 makes SMs stop between edges, at the cycle up to which they know their room. Kernel 4 has atomics that
 * wait there for the next edge. With minimal tables (TINY=1), such an SM is behind the others when a half begins. */
enum { STOPS_BETWEEN_EDGES = 4 + 17 * KERNELS };

/* Returns true if the kernel runs with the setting. Each setting runs one kernel, so that each kernel runs with five
 * settings or more. With HEDDLE_EVERY, all pairs run. */
static bool is_sampled(uint32_t kernel, uint32_t setting) {
    return test_every() || setting == 0 || (kernel + setting) % KERNELS == 0 ||
           kernel + setting * KERNELS == STOPS_BETWEEN_EDGES;
}

START_TEST(windows_change_no_figure) {
    uint32_t kernel = (uint32_t)_i % KERNELS, setting = (uint32_t)_i / KERNELS;
    test_case("%s, %s", kernels[kernel].what, settings[setting][0] ? settings[setting][0] : "fermi");
    struct outcome polled = run(kernel, setting, "gpu.poll=on", 1), one = run(kernel, setting, "gpu.poll=off", 1),
                   four = run(kernel, setting, "gpu.poll=off", 4);
    const char *with = settings[setting][0] ? settings[setting][0] : "fermi";
    ck_assert_msg(strstr(one.stats, "gpu.cycles ") && !strstr(one.stats, "gpu.cycles 0\n"), "%s", one.stats);
    ck_assert_msg(!strcmp(polled.stats, one.stats), "%s, %s: every cycle\n%s\nand windows\n%s", kernels[kernel].what,
                  with, polled.stats, one.stats);
    ck_assert_msg(!strcmp(four.stats, one.stats), "%s, %s: four threads\n%s\nand one\n%s", kernels[kernel].what, with,
                  four.stats, one.stats);
    ck_assert(!memcmp(polled.words, one.words, 1 << 17) && !memcmp(four.words, one.words, 1 << 17));
    forget(&polled), forget(&one), forget(&four);
}
END_TEST

/* A window is at most half of the ROP latency plus two crossings of the crossbar (memsys_window()).
 * - fermi's crossing of 8 cycles and ROP latency of 120 allow (120 + 2 x 8) / 2 = 68 cycles; a window ends at an edge,
 *   and 64 is the last multiple of 16
 * - a crossing of 60 cycles allows (120 + 2 x 60) / 2 = 120 cycles, so the window is 7 x 16 cycles
 * - a ROP latency of 300 allows (300 + 2 x 8) / 2 = 158 cycles, but no window is longer than 128 cycles
 * - a ROP latency of 0 counts as 1 and allows (1 + 2 x 8) / 2 = 8 cycles; this is less than the 16 cycles between
 *   edges, so the window is 16 cycles */
START_TEST(windows_are_as_long_as_the_lookahead) {
    static const struct {
        const char *set;
        uint32_t edge, longest;
    } rows[] = {{"l2.rop_latency=120", 16, 64}, {"l2.rop_latency=0", 16, 16}, {"l2.rop_latency=100", 16, 48},
                {"icnt.latency=1", 2, 60},      {"icnt.latency=60", 16, 112}, {"l2.rop_latency=300", 16, 128},
                {"memory.model=fixed", 16, 16}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct config c;
        char err[256] = "";
        ck_assert_msg(config_load(&c, "fermi", err, sizeof err) && config_set(&c, rows[i].set, err, sizeof err), "%s",
                      err);
        struct memsys *mem = memsys_new(&c);
        struct windows w;
        ck_assert(windows_init(&w, NULL, 0, mem, NULL));
        ck_assert_msg(w.edge == rows[i].edge && w.longest == rows[i].longest, "%s: edges every %u, windows of %u",
                      rows[i].set, w.edge, w.longest);
        windows_free(&w);
        memsys_free(mem);
    }
}
END_TEST

static void count(void *ctx, enum windows_event ended) { ((uint32_t *)ctx)[ended]++; }

/* Runs a kernel of `grid` CTAs with 128 threads on six SMs, reports the events to `told`, and returns the cycles. */
static double watched(const char *body, uint32_t grid, void (*told)(void *ctx, enum windows_event ended), void *ctx) {
    const struct windows_watch watch = {told, ctx};
    const char *set[] = {"gpu.sms=6", NULL};
    char err[512] = "", text[4096];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "fermi", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    gpu_watch(h->gpu, &watch);
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    uint64_t a = heddle_alloc(h, WORDS * 4), b = heddle_alloc(h, 1 << 17);
    const struct heddle_arg args[] = {{&a, 8}, {&b, 8}};
    ck_assert_int_eq(
        heddle_launch(h, m, "k", (struct heddle_dim){grid, 1, 1}, (struct heddle_dim){128, 1, 1}, 0, args, 2),
        HEDDLE_OK);
    const double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* All SMs send as many requests as they can. If a single SM had to wait for a free entry of its queue, it would later
 * run alone, after the other SMs. But here all SMs wait and stop together, so the host threads simulate them in the
 * same rounds. Rounds with few SMs occur only at the beginning and end of the launch.
 * A round lasts from edge to edge, 16 cycles, because no SM knows its room for longer. It has two halves of 8 cycles,
 * with jobs of their own, so that requests move at the same time as the SMs. Rounds without halves are rare: the jobs
 * run more than once in 12 cycles, not once in 16. */
START_TEST(sms_that_fill_their_queues_run_together) {
    uint32_t n[WINDOWS_JOB + 1] = {0};
    const double cycles = watched(kernels[0].body, kernels[0].grid, count, n);
    ck_assert_uint_eq(n[WINDOWS_OUTSIDE], 1);
    ck_assert_msg(n[WINDOWS_ALONE] > 20 * n[WINDOWS_FEW], "%u rounds shared, %u of few", n[WINDOWS_ALONE],
                  n[WINDOWS_FEW]);
    ck_assert_msg(n[WINDOWS_ALONE] > cycles / 12, "%u rounds in %.0f cycles", n[WINDOWS_ALONE], cycles);
}
END_TEST

/* The passes of a round, counted by their first event. */
struct order {
    uint32_t waiting; /* rounds that begin with requests: the first pass waits for them */
    uint32_t beside;  /* rounds that begin with a pass */
    bool began;       /* the present round has begun */
};

static void note_order(void *ctx, enum windows_event ended) {
    struct order *o = ctx;
    if (ended == WINDOWS_ALONE || ended == WINDOWS_FEW) {
        o->began = false;
        return;
    }
    if (o->began || (ended != WINDOWS_FOLLOW && ended != WINDOWS_PARTITION))
        return;
    o->began = true;
    o->waiting += ended == WINDOWS_FOLLOW;
    o->beside += ended == WINDOWS_PARTITION;
}

/* In rounds of one crossing, the memory side runs as far ahead as it can without the requests of the round: the
 * requests of a round move at the same time as its passes. The SMs need more replies only at the end of a window, so
 * at most one round in eight waits: a window has four edges, and each has two halves. */
START_TEST(passes_do_not_wait_for_requests) {
    struct order o = {.waiting = 0};
    watched(kernels[0].body, kernels[0].grid, note_order, &o);
    ck_assert_msg(o.beside > 100 && o.waiting * 8 < o.beside, "%u passes wait, %u do not", o.waiting, o.beside);
}
END_TEST

/* SMs that compute run for windows of 64 cycles. The memory side runs them in two passes of 32 cycles. Each pass runs
 * the six partitions, and ends with the rest of the memory side. Few rounds, at the end of the launch, have one pass:
 * more passes run than one in 48 cycles. */
START_TEST(the_memory_side_runs_in_passes) {
    uint32_t n[WINDOWS_JOB + 1] = {0};
    const char *body = "mov.u32 %r4, 1000; mov.u32 %r5, 0;\n"
                       "L: mad.lo.u32 %r5, %r5, 3, %r4; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;\n"
                       "st.global.u32 [%d4], %r5; ret;\n}\n";
    const double cycles = watched(body, 6, count, n), ran = n[WINDOWS_PARTITION] / 6.0;
    ck_assert_msg(ran > cycles / 48, "%.1f passes in %.0f cycles", ran, cycles);
    ck_assert_msg(n[WINDOWS_LEAD] >= ran, "%.1f passes and %u ends", ran, n[WINDOWS_LEAD]);
}
END_TEST

SUITE(timing_windows) {
    TEST_SPEED(sms_that_fill_their_queues_run_together);
    TEST(the_memory_side_runs_in_passes);
    TEST(passes_do_not_wait_for_requests);
    TEST(windows_are_as_long_as_the_lookahead);
    for (int i = 0; i < KERNELS * SETTINGS; i++)
        if (is_sampled((uint32_t)i % KERNELS, (uint32_t)i / KERNELS))
            TEST_LOOP(windows_change_no_figure, i, i + 1);
}
