/* Tests cache-conscious wavefront scheduling: victim tags, scores, and kernels whose warps evict each other's lines. */
#include "host/heddle.h"
#include "mechanisms/ccws/ccws_score.h"
#include "mechanisms/ccws/ccws_vta.h"
#include "test/random.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <stdio.h>
#include <string.h>

enum { WARPS = 3, ENTRIES = 8, WAYS = 4, SETS = ENTRIES / WAYS };

/* The reference for victim tags: for each warp and set a list of lines in the order of insertion. */
static struct {
    uint64_t line[WAYS];
    uint32_t n;
} lists[WARPS][SETS];

static void drop_at(uint32_t warp, uint64_t set, uint32_t at) {
    lists[warp][set].n--;
    for (; at < lists[warp][set].n; at++)
        lists[warp][set].line[at] = lists[warp][set].line[at + 1];
}

static void reference_add(uint32_t warp, uint64_t line) {
    if (lists[warp][line % SETS].n == WAYS)
        drop_at(warp, line % SETS, 0);
    lists[warp][line % SETS].line[lists[warp][line % SETS].n++] = line;
}

static bool reference_take(uint32_t warp, uint64_t line) {
    for (uint32_t k = 0; k < lists[warp][line % SETS].n; k++)
        if (lists[warp][line % SETS].line[k] == line) {
            drop_at(warp, line % SETS, k);
            return true;
        }
    return false;
}

START_TEST(victim_tags_as_the_reference) {
    struct ccws_vta v;
    uint64_t random = 3;
    int hits = 0;
    ck_assert(ccws_vta_init(&v, WARPS, ENTRIES, WAYS));
    for (int i = 0; i < 20000; i++) {
        uint32_t warp = (uint32_t)test_random_below(&random, WARPS);
        uint64_t line = test_random_below(&random, 24);
        bool want = reference_take(warp, line);
        ck_assert_int_eq(ccws_vta_take(&v, warp, line), want);
        hits += want;
        if (test_random_below(&random, 1000) == 0) {
            ccws_vta_clear(&v, warp);
            memset(lists[warp], 0, sizeof lists[warp]);
        }
        warp = (uint32_t)test_random_below(&random, WARPS);
        line = test_random_below(&random, 24);
        if (!reference_take(warp, line)) /* a line is in the array of its warp once */
            reference_add(warp, line), ccws_vta_add(&v, warp, line);
        else
            ck_assert(ccws_vta_take(&v, warp, line));
    }
    ck_assert_int_gt(hits, 1000);
    ccws_vta_free(&v);
}
END_TEST

static struct warp_set set_of(uint64_t warps) { return (struct warp_set){.word = {warps}}; }

/* Four warps have the base score 100, so the cutoff is 400. With 3 hits in 32 instructions and the factor 8, the score
 * of warp 2 becomes 3 / 32 * 8 * 400 = 300. The order is 2, 0, 1, 3, and the sums are 300, 400, 500 and 600: warps 1
 * and 3 may not load. After 100 cycles the sums are 200, 300, 400 and 500: warp 1 may load. After 200 cycles warp 3 may
 * load, too. */
START_TEST(scores_by_hand) {
    struct ccws_scores s = {.base = 100, .words = 1};
    const struct warp_set live = set_of(0xf);
    ccws_raise(&s, 2, 1, 32, 8, &live, 1000); /* 1 / 32 * 8 * 400 = 100 points are no more than the base score */
    ck_assert_uint_eq(s.until[2], 0);
    ccws_raise(&s, 2, 3, 32, 8, &live, 1000);
    ccws_hold(&s, &live, 1000);
    ck_assert_uint_eq(s.held.word[0], 1 << 1 | 1 << 3);
    ck_assert_uint_eq(s.n_held, 2);
    ck_assert_uint_eq(s.change, 1100);
    ccws_hold(&s, &live, 1099);
    ck_assert_uint_eq(s.held.word[0], 1 << 1 | 1 << 3);
    ccws_hold(&s, &live, 1100);
    ck_assert_uint_eq(s.held.word[0], 1 << 3);
    ck_assert_uint_eq(s.change, 1200);
    ccws_hold(&s, &live, 1200);
    ck_assert_uint_eq(s.held.word[0], 0);
    ck_assert_uint_eq(s.change, UINT64_MAX);
    /* a lower score does not replace a higher one, and no score exceeds the cutoff */
    ccws_raise(&s, 2, 3, 32, 8, &live, 2000);
    ccws_raise(&s, 2, 2, 32, 8, &live, 2000);
    ck_assert_uint_eq(s.until[2], 2200);
    ccws_raise(&s, 1, 32, 32, 8, &live, 2000);
    ck_assert_uint_eq(s.until[1], 2300);
    ccws_hold(&s, &live, 2000); /* the 400 points of warp 1 are the cutoff, so only warp 1 may load */
    ck_assert_uint_eq(s.held.word[0], 1 << 0 | 1 << 2 | 1 << 3);
}
END_TEST

enum { LIVE = 10, BASE = 20 };

/* The reference computes the held warps from the scores, which the test lowers by one point in each cycle. It finds the
 * order of the warps by repeated search for the highest score. */
static struct warp_set reference_held(const uint32_t *score, uint64_t live) {
    struct warp_set held = {.word = {0}};
    uint64_t left = live, sum = 0;
    while (left) {
        int best = -1;
        for (int w = 0; w < LIVE; w++)
            if (left >> w & 1 && (best < 0 || score[w] > score[best]))
                best = w;
        sum += score[best];
        if (left != live && sum > (uint64_t)BASE * (uint64_t)__builtin_popcountll(live))
            held.word[0] |= 1ull << best;
        left &= ~(1ull << best);
    }
    return held;
}

/* Warps lose locality, end and begin at random. The held warps are computed only after such events and in the cycles
 * that `change` names, and must be right in every cycle. */
START_TEST(held_warps_change_when_announced) {
    struct ccws_scores s = {.base = BASE, .words = 1, .change = UINT64_MAX};
    uint32_t score[LIVE];
    uint64_t random = 11, live = (1 << LIVE) - 1, computed = 0, held = 0;
    for (int w = 0; w < LIVE; w++)
        score[w] = BASE;
    for (uint64_t now = 1; now < 30000; now++) {
        bool stale = now >= s.change;
        for (int w = 0; w < LIVE; w++)
            score[w] -= score[w] > BASE;
        if (test_random_below(&random, 50) == 0) {
            uint32_t w = (uint32_t)test_random_below(&random, LIVE), hits = (uint32_t)test_random_below(&random, 40);
            const struct warp_set set = set_of(live);
            uint32_t cutoff = BASE * (uint32_t)__builtin_popcountll(live), want = hits * 2 * cutoff / 100;
            ccws_raise(&s, w, hits, 100, 2, &set, now);
            score[w] = want > score[w] ? want : score[w];
            stale = true;
        }
        if (test_random_below(&random, 100) == 0) {
            live ^= 1ull << test_random_below(&random, LIVE);
            stale = true;
        }
        const struct warp_set set = set_of(live);
        if (stale)
            ccws_hold(&s, &set, now);
        computed += stale;
        ck_assert_uint_eq(s.held.word[0], reference_held(score, live).word[0]);
        held += s.n_held;
    }
    ck_assert_uint_gt(held, 10000);
    ck_assert_uint_lt(computed, 10000);
}
END_TEST

/* Each of 8 warps of a CTA reads two lines of its own, `apart` bytes apart, `times` times, one load after another. With
 * `barrier`, the warps also wait for each other in each iteration. */
static const char *loop(int times, int apart, bool barrier) {
    static char text[2048];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n"
             ".reg .b64 %%a<4>; .reg .pred %%q;\n ld.param.u64 %%a1,[p]; mov.u32 %%r1,%%tid.x; shr.u32 %%r1,%%r1,5;\n"
             " mul.wide.u32 %%a2,%%r1,%d; add.u64 %%a1,%%a1,%%a2; mov.u32 %%r2,0;\n"
             "L: ld.global.u32 %%r3,[%%a1]; cvt.u64.u32 %%a2,%%r3; add.u64 %%a1,%%a1,%%a2;\n"
             " ld.global.u32 %%r3,[%%a1+%d]; cvt.u64.u32 %%a2,%%r3; add.u64 %%a1,%%a1,%%a2;\n %s\n"
             " add.u32 %%r2,%%r2,1; setp.lt.u32 %%q,%%r2,%d; @%%q bra L;\n st.global.u32 [%%a1],%%r2; ret;\n}\n",
             2 * apart, apart, barrier ? "bar.sync 0;" : "", times);
    return text;
}

/* An L1 of one set of 8 lines. */
#define SMALL_L1 "l1.size=1024", "l1.ways=8"

static struct heddle *run(const char *model, const char *config, const char *const *set, uint32_t threads,
                          const char *text, uint32_t ctas) {
    char err[256];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = config, .set = set, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    heddle_clear(h, p, 4096);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){256, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

static double figure(const char *model, const char *const *set, bool barrier, const char *name) {
    struct heddle *h = run(model, "tiny", set, 1, loop(64, 128, barrier), 1);
    double v = heddle_stat(h, 0, name);
    heddle_close(h);
    return v;
}

/* 8 warps read 16 lines in turn, and the L1 has 8: under LRU each of the 1024 loads misses, as do the 8 stores. If few
 * warps may load, their lines stay. Warps that wait at a barrier do not stop the others for ever. */
START_TEST(few_warps_keep_their_lines) {
    static const char *const set[] = {SMALL_L1, NULL}, *const off[] = {SMALL_L1, "ccws.throttle=0", NULL};
    ck_assert_double_eq(figure("spe", set, false, "l1.misses"), 1024 + 8);
    ck_assert_double_lt(figure("spe+ccws", set, false, "l1.misses"), 300);
    ck_assert_double_lt(figure("spe+ccws", set, false, "gpu.cycles"), figure("spe", set, false, "gpu.cycles"));
    ck_assert_double_gt(figure("spe+ccws", set, true, "ccws.held_cycles"), 1000);
    /* without throttling, each load whose line was read before finds its victim tag, and nothing changes */
    ck_assert_double_eq(figure("spe+ccws", off, false, "ccws.lookups"), 1024);
    ck_assert_double_eq(figure("spe+ccws", off, false, "ccws.lost_locality"), 1024 - 16);
    /* the first 8 lines evict no line, and stores allocate none */
    ck_assert_double_eq(figure("spe+ccws", off, false, "ccws.inserts"), 1024 - 8);
    ck_assert_double_eq(figure("spe+ccws", off, false, "ccws.held_cycles"), 0);
    ck_assert_double_eq(figure("spe+ccws", off, false, "gpu.cycles"), figure("spe", set, false, "gpu.cycles"));
}
END_TEST

/* Without throttling, the L1 of 4 lines loses both lines of each warp before the warp reads them again. This happens in
 * each of the 63 iterations after the first.
 * - Two victim tags in one set hold both lines: 8 warps x 63 iterations x 2 lines = 1008 hits.
 * - One tag holds the line that the warp lost last, but the warp reads its other line next: no hits.
 * - Of two sets with one tag each, both lines use the same set if both have even numbers: no hits. Lines with
 *   consecutive numbers use both sets: 1008 hits. */
START_TEST(few_victim_tags) {
    static const struct {
        const char *entries, *ways;
        int apart, hits;
    } sizes[] = {{"ccws.vta_entries=2", "ccws.vta_ways=2", 256, 1008},
                 {"ccws.vta_entries=2", "ccws.vta_ways=1", 256, 0},
                 {"ccws.vta_entries=2", "ccws.vta_ways=1", 128, 1008},
                 {"ccws.vta_entries=1", "ccws.vta_ways=2", 256, 0}};
    for (int i = 0; i < 4; i++) {
        const char *const set[] = {"l1.size=512",    "l1.ways=4",   "ccws.throttle=0",
                                   sizes[i].entries, sizes[i].ways, NULL};
        struct heddle *h = run("spe+ccws", "tiny", set, 1, loop(64, sizes[i].apart, false), 1);
        ck_assert_double_eq(heddle_stat(h, 0, "ccws.lost_locality"), sizes[i].hits);
        ck_assert_double_eq(heddle_stat(h, 0, "ccws.inserts"), 1024 - 4); /* the first 4 lines evict none */
        heddle_close(h);
    }
}
END_TEST

/* Each warp loads a line and stores to it, which drops the line from the L1. A dropped line is no victim. */
START_TEST(a_store_makes_no_victim) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"
        ".reg .b64 %a<4>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %a2,%r1,4; add.u64 %a1,%a1,%a2;\n"
        " ld.global.u32 %r2,[%a1]; st.global.u32 [%a1],%r2; ld.global.u32 %r3,[%a1]; ret;\n}\n";
    static const char *const set[] = {SMALL_L1, NULL};
    struct heddle *h = run("spe+ccws", "tiny", set, 1, text, 1);
    ck_assert_double_eq(heddle_stat(h, 0, "ccws.lookups"), 2 * 8);
    ck_assert_double_eq(heddle_stat(h, 0, "ccws.inserts"), 0);
    heddle_close(h);
}
END_TEST

/* All statistics are the same with one host thread, with four, and with simulation of every cycle. */
START_TEST(threads_and_polling_change_nothing) {
    static double first[1024];
    int n;
    const struct stat_def *defs = stat_defs(&n);
    ck_assert_int_lt(n, 1024);
    for (int i = 0; i < 3; i++) {
        const char *const set[] = {i == 2 ? "gpu.poll=true" : "gpu.poll=false", SMALL_L1, "gpu.sms=4", NULL};
        struct heddle *h = run("spe+ccws", "fermi", set, i == 1 ? 4 : 1, loop(16, 128, false), 16);
        ck_assert_double_gt(heddle_stat(h, 0, "ccws.held_cycles"), 1000);
        for (int k = 0; k < n; k++) {
            double v = heddle_stat(h, 0, defs[k].name);
            if (strncmp(defs[k].name, "host.", 5) == 0)
                continue;
            first[k] = i ? first[k] : v;
            ck_assert_msg(v == first[k], "run %d, %s: %g and %g", i, defs[k].name, first[k], v);
        }
        heddle_close(h);
    }
}
END_TEST

SUITE(mechanisms_ccws) {
    TEST(victim_tags_as_the_reference);
    TEST(scores_by_hand);
    TEST(held_warps_change_when_announced);
    TEST(few_warps_keep_their_lines);
    TEST(few_victim_tags);
    TEST(a_store_makes_no_victim);
    TEST(threads_and_polling_change_nothing);
}
