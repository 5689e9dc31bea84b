/* Tests launches on machines whose SMs share caches for instructions and constants (options gpc.*). Latencies must
 * agree with measurements on real cards. Statistics must not depend on host threads or on polling. Results must be
 * right at both ends of every option's range. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct heddle *opened(const char *model, const char *config, const char *const *set, uint32_t threads) {
    char err[512] = "";
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = config, .set = set, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* Runs a chain of dependent loads of `lines` constants that are 64 bytes apart, 8 loads per iteration. Returns the
 * cycles per load of 16 iterations in which the caches already contain the lines. */
static double chase(const char *config, const char *const *set, uint32_t lines) {
    static char text[65536];
    size_t n = 0;
#define ADD(...) (n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__))
    ADD(".version 6.0\n.target sm_70\n.address_size 64\n.const .align 64 .u32 c[%u] = {", lines * 16);
    for (uint32_t i = 0; i < lines; i++)
        ADD("%u,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0%s", (i + 1) % lines * 64, i + 1 < lines ? "," : "};\n");
    ADD(".visible .entry k(.param .u64 out, .param .u32 n)\n{\n.reg .u64 %%d<5>; .reg .u32 %%r<3>; .reg .pred %%p;\n"
        "ld.param.u64 %%d0, [out]; ld.param.u32 %%r1, [n]; mov.u64 %%d1, c; mov.u32 %%r0, 0;\nL:\n");
    for (int i = 0; i < 8; i++)
        ADD("cvt.u64.u32 %%d2, %%r0; add.u64 %%d3, %%d1, %%d2; ld.const.u32 %%r0, [%%d3];\n");
    ADD("sub.u32 %%r1, %%r1, 1; setp.ne.u32 %%p, %%r1, 0; @%%p bra L;\nst.global.u32 [%%d0], %%r0; ret;\n}\n");
#undef ADD
    struct heddle *h = opened("spe", config, set, 1);
    struct heddle_module *m = heddle_module_text(h, "chase.ptx", text, n);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t out = heddle_alloc(h, 64);
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        uint32_t rounds = i ? 80 : 64; /* the 16 additional iterations come after every line was used at least once */
        const struct heddle_arg args[] = {{&out, 8}, {&rounds, 4}};
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, args, 2),
            HEDDLE_OK);
        cycles[i] = heddle_stat(h, (uint32_t)i, "gpu.cycles");
    }
    /* the first launch also had misses for code and constants, so it is repeated */
    uint32_t rounds = 64;
    const struct heddle_arg args[] = {{&out, 8}, {&rounds, 4}};
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, args, 2),
                     HEDDLE_OK);
    double again = heddle_stat(h, 2, "gpu.cycles");
    heddle_close(h);
    return (cycles[1] - again) / 128;
}

/* 128 lines are 8 KB, which is four times the size of the constant L1, so each load misses this L1. On a Tesla V100 a
 * miss takes 74 cycles more than a hit. For turing-rtx2060, 37 cycles lie between a T1000 (33) and an RTX 2080 Ti (41)
 * (MT4G, medians). The branch after every eighth load adds up to half a cycle to the difference. */
START_TEST(constants_behind_the_l1_are_as_far_as_measured) {
    static const struct {
        const char *config;
        double more;
    } cards[] = {{"volta-classic", 74}, {"turing-rtx2060", 37}};
    static const char *const none[] = {NULL}, *const off[] = {"gpc.sms=0", NULL};
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        double hit = chase(cards[i].config, none, 16), miss = chase(cards[i].config, none, 128);
        ck_assert_double_le(miss - hit, cards[i].more + 1);
        ck_assert_double_ge(miss - hit, cards[i].more - 1);
        /* without a cluster cache, a miss goes to the L2 and takes at least 180 cycles more than a hit */
        ck_assert_double_ge(chase(cards[i].config, off, 128) - hit, 180);
    }
}
END_TEST

/* A loop with a long body of straight code, which fills several instruction lines. The number of iterations depends on
 * the CTA, and the addresses of the constants depend on the lane. */
static const char kernel[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".const .align 4 .u32 c[64] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,"
    "32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64};\n"
    ".visible .entry k(.param .u64 out)\n{\n.reg .u64 %d<6>; .reg .u32 %r<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
    "mad.lo.u32 %r3, %r0, %r1, %r2; mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1; mov.u64 %d3, c;\n"
    "and.b32 %r4, %r0, 3; add.u32 %r4, %r4, 2; mov.u32 %r5, %r3;\nL:\n"
    "and.b32 %r6, %r5, 63; mul.wide.u32 %d4, %r6, 4; add.u64 %d4, %d3, %d4; ld.const.u32 %r7, [%d4];\n"
    "mad.lo.u32 %r5, %r5, 5, %r7; xor.b32 %r5, %r5, 77; add.u32 %r5, %r5, %r4; mul.lo.u32 %r5, %r5, 3;\n"
    "and.b32 %r8, %r5, 1; setp.eq.u32 %p1, %r8, 0; @%p1 bra M; add.u32 %r5, %r5, 11; xor.b32 %r5, %r5, 5;\n"
    "M: mad.lo.u32 %r5, %r5, 7, %r2; sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra L;\n"
    "st.global.u32 [%d2], %r5; ret;\n}\n";
enum { GRID = 16, BLOCK = 64 };

static uint32_t expected(uint32_t i) {
    uint32_t tid = i % BLOCK, n = (i / BLOCK & 3) + 2, x = i;
    for (; n; n--) {
        x = (x * 5 + (x & 63) + 1) ^ 77;
        x = (x + n) * 3;
        if (x & 1)
            x = (x + 11) ^ 5;
        x = x * 7 + tid;
    }
    return x;
}

/* Runs two launches and checks their results. Returns the statistics of both launches by name, without host.*. */
static char *figures(const char *model, const char *config, const char *const *set, uint32_t threads,
                     double *accesses) {
    struct heddle *h = opened(model, config, set, threads);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", kernel, strlen(kernel));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t out = heddle_alloc(h, GRID * BLOCK * 4);
    const struct heddle_arg args[] = {{&out, 8}};
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    *accesses = 0;
    for (uint32_t i = 0; i < 2; i++) {
        static uint32_t got[GRID * BLOCK];
        ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){GRID, 1, 1}, (struct heddle_dim){BLOCK, 1, 1}, 0,
                                    args, 1) == HEDDLE_OK,
                      "%s, %s: %s", model, set[0] ? set[0] : "", heddle_error(h));
        ck_assert_int_eq(heddle_read(h, out, got, sizeof got), HEDDLE_OK);
        for (uint32_t k = 0; k < GRID * BLOCK; k++)
            ck_assert_msg(got[k] == expected(k), "%s, %s: word %u", model, set[0] ? set[0] : "", k);
        static const char *const names[] = {
            "gpu.cycles",         "gpu.idle_cycles",  "gpu.drained_cycles", "fetch.fetches",   "fetch.misses",
            "l1c.misses",         "gpc.accesses",     "gpc.hits",           "gpc.misses",      "gpc.pending_hits",
            "gpc.stalls",         "gpc.port_cycles",  "l2.accesses",        "l2.misses",       "l2.pending_hits",
            "icnt.request_flits", "icnt.latency_sum", "dram.row_hits",      "mem.latency_sum", "energy.total_joules"};
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            fprintf(f, "%s %.17g\n", names[k], heddle_stat(h, i, names[k]));
        *accesses += heddle_stat(h, i, "gpc.accesses");
    }
    fclose(f);
    heddle_close(h);
    return text;
}

/* Sets of options for the test below: both ends of the range of each option. The SMs' own caches have few lines. */
static const char *const ends[][8] = {
    {"gpc.sms=1"},
    {"gpc.sms=256"},
    {"gpc.sms=3", "gpc.queue=1"},
    {"gpc.sms=3", "gpc.queue=4096"},
    {"gpc.sms=3", "gpc.mshrs=1"},
    {"gpc.sms=3", "gpc.mshrs=4096"},
    {"gpc.sms=3", "gpc.merges=1"},
    {"gpc.sms=3", "gpc.merges=255"},
    {"gpc.sms=3", "gpc.latency=1"},
    {"gpc.sms=3", "gpc.latency=2000"},
    {"gpc.sms=3", "gpc.port_bytes=1"},
    {"gpc.sms=3", "gpc.port_bytes=1024"},
    {"gpc.sms=3", "gpc.size=256", "gpc.ways=1"},
    {"gpc.sms=3", "gpc.size=256M", "gpc.ways=1024"},
    {"gpc.sms=3", "gpc.line=64", "gpc.size=128", "gpc.ways=2"},
    {"gpc.sms=5", "gpc.queue=1", "gpc.mshrs=1", "gpc.merges=1", "gpc.size=256", "gpc.ways=1", "l2.sectored=on"},
    {"gpc.sms=4", "l2.line=64", "dram.interleave=64", "l1.line=64", "lsu.line=64", "tex.line=64"},
};
enum { ENDS = sizeof ends / sizeof ends[0] };

/* Statistics must be equal with polling in every cycle instead of windows, and with two and eight host threads. Results
 * must be right in every model. */
START_TEST(the_ends_of_every_option) {
    static const char *const models[] = {"dpe", "its", "dws50", "si", "spe+dac", "spe+cae", "pepsc", "its+mta"};
    enum { MODELS = sizeof models / sizeof models[0] };
    const char *set[16] = {"gpu.sms=8", "l1i.line=64", "l1i.size=128", "l1i.ways=1", "l1c.size=128", "gpu.poll=off"};
    double accesses;
    int n = 6;
    for (int i = 0; ends[_i][i]; i++)
        set[n++] = ends[_i][i];
    char *one = figures("spe", "fermi", set, 1, &accesses);
    ck_assert_double_gt(accesses, 100);
    for (uint32_t threads = 2; threads <= 8; threads += 6) {
        char *more = figures("spe", "fermi", set, threads, &accesses);
        ck_assert_msg(!strcmp(one, more), "%s: one thread\n%s\nand %u\n%s", ends[_i][0], one, threads, more);
        free(more);
    }
    set[5] = "gpu.poll=on";
    char *polled = figures("spe", "fermi", set, 1, &accesses);
    ck_assert_msg(!strcmp(one, polled), "%s: windows\n%s\nand every cycle\n%s", ends[_i][0], one, polled);
    set[5] = "gpu.poll=off";
    for (size_t i = (size_t)_i % 4; i < MODELS; i += 4) /* each run of this test uses a quarter of the models */
        free(figures(models[i], "fermi", set, 2, &accesses));
    free(one);
    free(polled);
}
END_TEST

/* Tests the presets with all of their SMs. */
START_TEST(presets_do_not_depend_on_threads) {
    static const char *const configs[] = {"volta-classic", "turing-rtx2060"};
    double accesses;
    const char *const none[] = {NULL}, *const poll[] = {"gpu.poll=on", NULL};
    char *one = figures("its", configs[_i], none, 1, &accesses);
    ck_assert_double_gt(accesses, 100);
    for (uint32_t threads = 2; threads <= 8; threads *= 4) {
        char *more = figures("its", configs[_i], none, threads, &accesses);
        ck_assert_str_eq(one, more);
        free(more);
    }
    char *polled = figures("its", configs[_i], poll, 1, &accesses);
    ck_assert_str_eq(one, polled);
    free(one);
    free(polled);
}
END_TEST

/* If there are no clusters, or the cluster caches have no size, or memory has a fixed latency, the other gpc options
 * must change nothing. */
START_TEST(off_is_off) {
    static const char *const off[][6] = {
        {"gpc.queue=1", "gpc.latency=2000", "gpc.port_bytes=1", "gpc.mshrs=1"},
        {"gpc.sms=2", "gpc.size=0", "gpc.latency=1", "gpc.line=32"},
    };
    double accesses;
    const char *const none[] = {NULL}, *const fixed[] = {"memory.model=fixed", NULL},
                      *const both[] = {"memory.model=fixed", "gpc.sms=2", "gpc.latency=9", NULL};
    char *plain = figures("spe", "fermi", none, 1, &accesses);
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        char *text = figures("spe", "fermi", off[i], 1, &accesses);
        ck_assert_str_eq(plain, text);
        ck_assert_double_eq(accesses, 0);
        free(text);
    }
    char *a = figures("spe", "fermi", fixed, 1, &accesses), *b = figures("spe", "fermi", both, 1, &accesses);
    ck_assert_str_eq(a, b);
    free(plain), free(a), free(b);
}
END_TEST

SUITE(timing_gpc) {
    TEST(constants_behind_the_l1_are_as_far_as_measured);
    TEST_LOOP(the_ends_of_every_option, 0, ENDS);
    TEST_LOOP(presets_do_not_depend_on_threads, 0, 2);
    TEST(off_is_off);
}
