/* Tests many-thread aware prefetching: its tables and its throttle on hand-written sequences, and kernels whose
 * prefetches are known in advance. */
#include "host/heddle.h"
#include "mechanisms/mta/mta_tables.h"
#include "mechanisms/mta/mta_throttle.h"
#include "test/test.h"
#include <stdio.h>

static struct mta_tables t;

static void begin(uint32_t train, uint32_t promote) {
    mta_tables_free(&t);
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){64, 64, 64, 4, train, promote}));
}
static void setup(void) { t = (struct mta_tables){.clock = 0}; }
static void teardown(void) { mta_tables_free(&t); }

static void expect(uint32_t pc, uint8_t warp, uint8_t source, int64_t stride) {
    struct mta_prediction p = mta_predict(&t, pc, warp);
    ck_assert_msg(p.source == source && p.stride == stride, "load %u of warp %u: source %u, stride %lld", pc, warp,
                  p.source, (long long)p.stride);
}

/* Three executions of a load give two strides. With train = 2, the third execution is the first that predicts an
 * address. */
START_TEST(a_stride_is_found_after_training) {
    begin(2, 3);
    for (int i = 0; i < 3; i++) {
        expect(5, 1, MTA_NONE, 0);
        mta_learn(&t, 5, 1, 0x1000 + 0x200 * (uint64_t)i);
    }
    expect(5, 1, MTA_WARP, 0x200);
    expect(5, 2, MTA_NONE, 0); /* another warp, another load */
    expect(6, 1, MTA_NONE, 0);
    begin(4, 3);
    for (int i = 0; i < 5; i++) {
        expect(5, 1, MTA_NONE, 0);
        mta_learn(&t, 5, 1, 0x1000 - 0x80 * (uint64_t)i);
    }
    expect(5, 1, MTA_WARP, -0x80);
}
END_TEST

/* After a change, the new stride must be observed as often as the first stride. */
START_TEST(a_changed_stride_is_trained_again) {
    static const uint64_t address[] = {0, 100, 200, 300, 350, 400};
    static const int64_t predicted[] = {0, 0, 100, 100, 0, 50};
    begin(2, 3);
    for (int i = 0; i < 6; i++) {
        mta_learn(&t, 9, 3, address[i]);
        expect(9, 3, predicted[i] ? MTA_WARP : MTA_NONE, predicted[i]);
    }
    for (int i = 0; i < 4; i++) /* a load of the same address again has the stride 0, which predicts nothing */
        mta_learn(&t, 9, 3, 400);
    expect(9, 3, MTA_NONE, 0);
}
END_TEST

/* Three warps confirm a stride of 64. Then the stride applies to a fourth warp even before its first load. The
 * addresses of the warps have no common distance, so the inter-warp table learns nothing. */
START_TEST(a_stride_of_three_warps_becomes_global) {
    static const uint64_t from[] = {0x10000, 0x90000, 0x31000, 0x70300};
    begin(2, 3);
    for (uint8_t w = 0; w < 3; w++) {
        expect(4, 7, MTA_NONE, 0);
        for (uint64_t i = 0; i < 3; i++)
            mta_learn(&t, 4, w, from[w] + 64 * i);
    }
    ck_assert_uint_eq(t.n.promotions, 1);
    expect(4, 7, MTA_GLOBAL, 64);
    for (uint64_t i = 0; i < 3; i++) /* a warp that confirms another stride invalidates the global stride */
        mta_learn(&t, 4, 3, from[3] + 128 * i);
    expect(4, 7, MTA_NONE, 0);
    expect(4, 3, MTA_WARP, 128);
    expect(4, 0, MTA_WARP, 64);
}
END_TEST

/* Warps 0, 1, 2 and so on access addresses that are 256 bytes apart. The third warp gives the second of two equal
 * strides. Warp 7 confirms the stride. One warp that does not fit takes back a confirmation; a second such warp ends
 * the stride. */
START_TEST(a_stride_from_warp_to_warp) {
    begin(2, 3);
    for (uint8_t w = 0; w < 3; w++) {
        expect(8, w, MTA_NONE, 0);
        mta_learn(&t, 8, w, 0x4000 + 256 * (uint64_t)w);
    }
    expect(8, 2, MTA_INTER, 256);
    mta_learn(&t, 8, 7, 0x4000 + 256 * 7);
    expect(8, 7, MTA_INTER, 256);
    mta_learn(&t, 8, 5, 0x9999);
    expect(8, 5, MTA_INTER, 256);
    mta_learn(&t, 8, 6, 0x4000);
    expect(8, 6, MTA_NONE, 0);
    mta_learn(&t, 8, 6, 0x4000); /* a second load of the same warp gives no information about other warps */
    expect(8, 6, MTA_NONE, 0);
}
END_TEST

/* The warps access memory in another order: first warp 3, then warp 1, whose address is 2 x 512 bytes lower. A
 * difference of 1001 bytes between two warps whose numbers differ by two is not a stride, since 1001 is not divisible
 * by two. */
START_TEST(warps_in_another_order) {
    begin(2, 3);
    mta_learn(&t, 8, 3, 0x8000);
    mta_learn(&t, 8, 1, 0x8000 - 1024);
    mta_learn(&t, 8, 2, 0x8000 - 512);
    expect(8, 2, MTA_INTER, 512);
    mta_learn(&t, 2, 0, 0);
    mta_learn(&t, 2, 2, 1001);
    mta_learn(&t, 2, 4, 2002);
    expect(2, 4, MTA_NONE, 0);
}
END_TEST

/* The addresses of three warps are 4096 bytes apart, and each warp has a stride of 64 bytes. When the third warp
 * confirms the stride of 64, it becomes global. A global stride has precedence over the stride between warps. */
START_TEST(global_goes_before_inter) {
    begin(2, 3);
    for (uint64_t i = 0; i < 3; i++)
        for (uint8_t w = 0; w < 3; w++) {
            mta_learn(&t, 4, w, 4096 * w + 64 * i);
            if (i == 1 && w == 2)
                expect(4, 2, MTA_INTER, 4096);
        }
    expect(4, 2, MTA_GLOBAL, 64);
}
END_TEST

/* A new warp in the slot of an old warp starts untrained. The strides of other warps, and global strides, stay. */
START_TEST(a_new_warp_starts_untrained) {
    begin(2, 9);
    for (uint64_t i = 0; i < 3; i++)
        for (uint8_t w = 0; w < 2; w++)
            mta_learn(&t, 4, w, 0x77777 * w + 64 * i);
    mta_forget_warp(&t, 1);
    expect(4, 0, MTA_WARP, 64);
    expect(4, 1, MTA_NONE, 0);
    mta_learn(&t, 4, 1, 0x99999);
    mta_learn(&t, 4, 1, 0x99999 + 64);
    expect(4, 1, MTA_NONE, 0);
    mta_learn(&t, 4, 1, 0x99999 + 128);
    expect(4, 1, MTA_WARP, 64);
}
END_TEST

/* A table with one set of two ways: the third load evicts the least recently used load. */
START_TEST(the_least_recently_used_entry_is_evicted) {
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){2, 64, 64, 2, 2, 3}));
    for (uint64_t i = 0; i < 3; i++) {
        mta_learn(&t, 1, 0, 100 * i);
        mta_learn(&t, 2, 0, 100 * i);
    }
    ck_assert_uint_eq(t.n.conflicts, 0);
    expect(1, 0, MTA_WARP, 100); /* this use makes load 2 the least recently used entry */
    mta_learn(&t, 3, 0, 0);
    ck_assert_uint_eq(t.n.conflicts, 1);
    expect(1, 0, MTA_WARP, 100);
    expect(2, 0, MTA_NONE, 0);
}
END_TEST

/* A table of one entry is valid. If the number of ways exceeds the number of entries, the table has as many ways as
 * entries. */
START_TEST(tables_of_one_entry) {
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){1, 1, 1, 64, 1, 1}));
    mta_learn(&t, 1, 0, 0);
    mta_learn(&t, 1, 0, 32);
    expect(1, 0, MTA_GLOBAL, 32); /* a stride of a single warp suffices */
    mta_learn(&t, 2, 0, 0);
    ck_assert_uint_eq(t.n.conflicts, 2); /* one conflict in the table by warp, and one in the inter-warp table */
    expect(2, 0, MTA_NONE, 0);
}
END_TEST

/* Counters have one byte. After 300 confirmations, a stride must still be valid, for a warp and globally. */
START_TEST(counters_do_not_overflow) {
    begin(2, 9);
    for (uint64_t i = 0; i < 600; i++) {
        mta_learn(&t, 5, 1, 0x1000 + 0x200 * i);
        expect(5, 1, i < 2 ? MTA_NONE : MTA_WARP, i < 2 ? 0 : 0x200);
    }
    begin(1, 3);
    for (uint64_t w = 0; w < 600; w++) { /* several new warps use one slot; each of them has one vote */
        mta_forget_warp(&t, 7);
        mta_learn(&t, 6, 7, 0x1000 * w);
        mta_learn(&t, 6, 7, 0x1000 * w + 0x80);
        expect(6, 9, w < 2 ? MTA_NONE : MTA_GLOBAL, w < 2 ? 0 : 0x80);
    }
    ck_assert_uint_eq(t.n.promotions, 1); /* counted only once, when the third warp confirmed the stride */
}
END_TEST

/* Tables with four sets of one entry. The loads of warps 0 to 3 use different sets, and so do loads 0 to 3 of one warp.
 * A fifth warp or load evicts the first. In the other two tables, the load alone selects the set. */
START_TEST(sets_by_load_and_warp) {
    for (int by_warp = 0; by_warp < 2; by_warp++) {
        mta_tables_free(&t);
        ck_assert(mta_tables_init(&t, &(struct mta_sizes){4, 64, 64, 1, 2, 300}));
        for (uint64_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k < 4; k++)
                mta_learn(&t, by_warp ? 8 : 8 + k, (uint8_t)(by_warp ? k : 2), 100000 * k * k + 100 * i);
        ck_assert_uint_eq(t.n.conflicts, 0);
        for (uint32_t k = 0; k < 4; k++)
            expect(by_warp ? 8 : 8 + k, (uint8_t)(by_warp ? k : 2), MTA_WARP, 100);
        mta_learn(&t, by_warp ? 8 : 12, by_warp ? 4 : 2, 5);
        ck_assert_uint_eq(t.n.conflicts, 1);
        expect(8, by_warp ? 0 : 2, MTA_NONE, 0);
        expect(by_warp ? 8 : 9, by_warp ? 1 : 2, MTA_WARP, 100);
    }
}
END_TEST

/* A table of seven entries with two ways per set has three sets. Loads 1, 4 and 7 are in one set, so the third of them
 * evicts the first. */
START_TEST(entries_beyond_whole_sets_are_unused) {
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){7, 64, 64, 2, 2, 3}));
    ck_assert_uint_eq(t.warp.sets, 3);
    for (uint32_t pc = 1; pc <= 7; pc += 3)
        for (uint64_t i = 0; i < 3; i++)
            mta_learn(&t, pc, 0, 1000 * pc + 100 * i);
    ck_assert_uint_eq(t.n.conflicts, 1);
    expect(1, 0, MTA_NONE, 0);
    expect(4, 0, MTA_WARP, 100);
    expect(7, 0, MTA_WARP, 100);
}
END_TEST

/* A prediction reads the global table, then the inter-warp table, then the table by warp, until one of them predicts.
 * When a warp learns, it reads the table by warp and the inter-warp table; when it votes for a global stride, also the
 * global table. */
START_TEST(lookups_are_counted) {
    begin(2, 2);
    mta_predict(&t, 3, 0);
    ck_assert_uint_eq(t.n.lookups, 3);
    for (uint64_t i = 0; i < 3; i++) /* the third execution votes */
        mta_learn(&t, 3, 0, 100 * i);
    ck_assert_uint_eq(t.n.lookups, 3 + 3 * 2 + 1);
    mta_learn(&t, 3, 0, 300); /* it has voted before */
    ck_assert_uint_eq(t.n.lookups, 10 + 2);
    for (uint64_t i = 0; i < 3; i++)
        mta_learn(&t, 3, 4, 70001 + 100 * i);
    ck_assert_uint_eq(t.n.lookups, 12 + 3 * 2 + 1);
    expect(3, 0, MTA_GLOBAL, 100);
    ck_assert_uint_eq(t.n.lookups, 19 + 1);
}
END_TEST

static const struct mta_limits limits = {.period = 10, .least = 4, .low = 0.25, .high = 0.5, .merges = 0.15};

/* Returns the throttle level after a period of ten loads with these numbers of prefetches sent, prefetches used, misses
 * and merges. */
static uint32_t after(uint32_t level, uint32_t sent, uint32_t useful, uint32_t misses, uint32_t merged) {
    struct mta_throttle h = {.limits = limits, .level = level};
    h.sent = sent, h.useful = useful, h.misses = misses, h.merged = merged;
    for (int i = 0; i < 9; i++) {
        mta_throttle_load(&h);
        ck_assert_uint_eq(h.level, level); /* the level does not change before the period ends */
    }
    mta_throttle_load(&h);
    ck_assert(h.sent == 0 && h.useful == 0 && h.misses == 0 && h.merged == 0 && h.loads == 0);
    return h.level;
}

START_TEST(the_level_follows_what_is_used) {
    ck_assert_uint_eq(after(0, 8, 1, 10, 10), 5); /* 12.5 %: no prefetches */
    ck_assert_uint_eq(after(2, 8, 2, 10, 0), 3);  /* 25 % used: the level rises by one, which means fewer prefetches */
    ck_assert_uint_eq(after(2, 8, 3, 10, 1), 3);
    ck_assert_uint_eq(after(2, 8, 3, 10, 2), 2); /* but late */
    ck_assert_uint_eq(after(2, 8, 4, 10, 0), 1); /* 50 % used: the level falls by one, which means more prefetches */
    ck_assert_uint_eq(after(0, 8, 8, 10, 0), 0);
    ck_assert_uint_eq(after(5, 8, 2, 0, 0), 5);
    ck_assert_uint_eq(after(5, 0, 0, 10, 0), 4); /* a period without prefetches lowers the level */
    ck_assert_uint_eq(after(0, 3, 0, 10, 0), 0); /* fewer than four prefetches do not change the level */
}
END_TEST

START_TEST(the_level_is_a_share_of_five) {
    for (uint32_t level = 0; level <= MTA_LEVELS; level++) {
        struct mta_throttle h = {.limits = limits, .level = level};
        int sent = 0;
        for (int i = 0; i < 50; i++)
            sent += mta_throttle_lets(&h);
        ck_assert_int_eq(sent, 10 * (MTA_LEVELS - (int)level));
    }
}
END_TEST

/* One warp computes the sum of 64 words in each lane. Successive loads are one line apart, so 64 loads access 64
 * lines. */
static const char walks[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 "
    "%a, "
    "%b; .reg .pred %p;\n ld.param.u64 %a,[p];\n mov.u32 %r1,%tid.x;\n mul.wide.u32 %b,%r1,4;\n add.u64 %b,%a,%b;\n"
    " mov.u32 %r2,0; mov.u32 %r3,0;\nL: ld.global.u32 %r4,[%b];\n add.u32 %r3,%r3,%r4;\n add.u64 %b,%b,128;\n"
    " add.u32 %r2,%r2,1;\n setp.lt.u32 %p,%r2,64;\n @%p bra L;\n st.global.u32 [%a],%r3;\n ret;\n}\n";

static struct heddle *run(const char *model, const char *const *set) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", walks, strlen(walks));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

/* The third load is the first that predicts, so 62 prefetches are sent, for loads 4 to 65. Load 65 does not exist, so
 * 61 prefetches are used. */
START_TEST(a_walk_is_prefetched) {
    struct heddle *h = run("mta", NULL), *plain = run("spe", NULL);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.loads"), 64);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.inter_warp"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.issued"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.useful"), 61);
    /* some are late, because an iteration is shorter than the memory's latency of 100 cycles */
    ck_assert_double_gt(heddle_stat(h, 0, "mta.late"), 10);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.throttled"), 0);
    ck_assert_double_lt(heddle_stat(h, 0, "gpu.cycles"), 0.8 * heddle_stat(plain, 0, "gpu.cycles"));
    ck_assert_double_eq(heddle_stat(plain, 0, "mta.loads"), 0);
    heddle_close(h), heddle_close(plain);
}
END_TEST

/* With a distance of eight executions, most prefetches arrive in time. With a degree of two, each load predicts two
 * lines. From the third load on, one of these lines is usually present already. */
START_TEST(distance_and_degree) {
    static const char *const far[] = {"mta.distance=8", "l1.size=4096", "l1.ways=8", NULL}, *const two[] = {
                                                                                                "mta.distance=4",
                                                                                                "mta.degree=2",
                                                                                                "l1.size=4096",
                                                                                                "l1.ways=8", NULL};
    struct heddle *h = run("mta", far);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.useful"), 62 - 8);
    ck_assert_double_lt(heddle_stat(h, 0, "mta.late"), 62 - 8);
    heddle_close(h);
    h = run("mta", two);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 2 * 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.issued") + heddle_stat(h, 0, "mta.present") +
                            heddle_stat(h, 0, "mta.refused") + heddle_stat(h, 0, "mta.full"),
                        2 * 62);
    ck_assert_double_ge(heddle_stat(h, 0, "mta.present"), 60);
    heddle_close(h);
}
END_TEST

/* Two kernels have the same instructions at the same PCs but different strides: one line and two lines. With
 * mta.promote=1, the stride of one warp becomes global, and later launches keep it. The first launch of a kernel
 * predicts from its third load on, 62 times, even after a launch of the other kernel. The second launch of a kernel
 * predicts at once, 64 times. */
START_TEST(kernels_have_loads_of_their_own) {
    char err[512], two[sizeof walks + 4];
    static const char *const set[] = {"mta.promote=1", "mta.throttle=false", NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "mta", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    const char *step = strstr(walks, "128;");
    snprintf(two, sizeof two, "%.*s256%s", (int)(step - walks), walks, step + 3);
    struct heddle_module *m[2] = {heddle_module_text(h, "1.ptx", walks, strlen(walks)),
                                  heddle_module_text(h, "2.ptx", two, strlen(two))};
    ck_assert(m[0] && m[1]);
    uint64_t p = heddle_alloc(h, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(
            heddle_launch(h, m[i % 2], "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
        ck_assert_double_eq(heddle_stat(h, i, "mta.intra_warp"), i < 2 ? 62 : 64);
        ck_assert_double_eq(heddle_stat(h, i, "mta.promotions"), i < 2); /* later it is global */
    }
    heddle_close(h);
}
END_TEST

/* Each prediction is counted in exactly one statistic of its outcome. The energy model counts reads of the tables. */
START_TEST(predictions_have_one_fate) {
    static const char *const set[] = {"mta.period=16", "mta.min_prefetches=1", "mta.distance=32",
                                      "energy.mta_lookup=1e6", NULL},
                             *const no_energy[] = {"mta.period=16", "mta.min_prefetches=1", "mta.distance=32",
                                                   "energy.mta_lookup=0", NULL};
    struct heddle *h = run("mta", set), *free_tables = run("mta", no_energy);
    double fates = 0;
    static const char *const names[] = {"mta.throttled", "mta.out_of_range", "mta.full",
                                        "mta.present",   "mta.refused",      "mta.issued"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fates += heddle_stat(h, 0, names[i]);
    ck_assert_double_eq(fates, heddle_stat(h, 0, "mta.intra_warp") + heddle_stat(h, 0, "mta.inter_warp"));
    /* prefetches are 32 loads ahead, so no prefetched line is used in the first period of 16 loads */
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttled"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.throttle_level"), MTA_LEVELS);
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttle_lowered"), 0);
    ck_assert_double_eq_tol(heddle_stat(h, 0, "energy.l1_joules") - heddle_stat(free_tables, 0, "energy.l1_joules"),
                            heddle_stat(h, 0, "mta.lookups") * 1e-6, 1e-9);
    heddle_close(h), heddle_close(free_tables);
}
END_TEST

/* Runs a kernel in which each warp executes `loads` loads with a stride of `step` bytes. The first load of each warp is
 * 1 << 16 bytes after the first load of the previous warp. */
static struct heddle *walk(const char *const *set, int step, uint32_t threads, uint32_t ctas, int loads,
                           uint64_t from) {
    char err[512], text[1024];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "mta", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(
        text, sizeof text,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg "
        ".b64 %%a, %%b; .reg .pred %%p;\n ld.param.u64 %%a,[p];\n mov.u32 %%r1,%%tid.x; and.b32 %%r5,%%r1,31;\n"
        " shr.u32 %%r1,%%r1,5; mul.wide.u32 %%b,%%r1,65536; add.u64 %%a,%%a,%%b; mul.wide.u32 %%b,%%r5,4;\n"
        " add.u64 %%b,%%a,%%b;\n mov.u32 %%r2,0; mov.u32 %%r3,0;\nL: ld.global.u32 %%r4,[%%b];\n"
        " add.u32 %%r3,%%r3,%%r4;\n add.s64 %%b,%%b,%d;\n add.u32 %%r2,%%r2,1;\n setp.lt.u32 %%p,%%r2,%d;\n"
        " @%%p bra L;\n st.global.u32 [%%a],%%r3;\n ret;\n}\n",
        step, loads);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 20), at = p + from;
    heddle_clear(h, p, 1 << 20);
    const struct heddle_arg args[] = {{&at, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

#define STAT(h, name, value)                                                                                           \
    ck_assert_msg(heddle_stat(h, 0, name) == (value), "%s is %g, not %g", name, heddle_stat(h, 0, name),               \
                  (double)(value))

/* Of 64 loads, the last 62 predict. With steps of 32 bytes (first case), every fourth load reaches a new line. With
 * steps of 64 bytes and degree four (second case), two of the four predicted addresses are in new lines. Every second
 * load starts in the middle of a line, so it reads two lines, and both lines predict: 31 loads of one line and 31 loads
 * of two lines. */
START_TEST(short_steps_lead_to_a_line_once) {
    static const char *const four[] = {"mta.degree=4", "mta.throttle=off", NULL}, *const one[] = {"mta.throttle=off",
                                                                                                  NULL};
    struct heddle *h = walk(one, 32, 32, 1, 64, 0);
    STAT(h, "mta.intra_warp", 16);
    heddle_close(h);
    h = walk(four, 64, 32, 1, 64, 0);
    STAT(h, "mta.intra_warp", 2 * (31 + 2 * 31));
    heddle_close(h);
}
END_TEST

/* The addresses go down from the 64th line of memory, and prefetches are eight lines ahead. So the last eight
 * predictions are below the first line of memory. */
START_TEST(addresses_out_of_memory_are_not_prefetched) {
    static const char *const set[] = {"mta.distance=8", "mta.throttle=off", NULL};
    struct heddle *h = walk(set, -128, 32, 1, 64, 63 * 128);
    STAT(h, "mta.intra_warp", 62);
    STAT(h, "mta.out_of_range", 8);
    STAT(h, "mta.throttled", 0);
    heddle_close(h);
}
END_TEST

/* If a CTA replaces another CTA, it trains again, so it predicts 62 times, too. */
START_TEST(a_new_cta_trains_again) {
    static const char *const set[] = {"mta.throttle=off", "mta.promote=64", "sm.ctas=1", "gpu.sms=1", NULL};
    struct heddle *h = walk(set, 128, 32, 3, 64, 0);
    STAT(h, "mta.intra_warp", 3 * 62);
    STAT(h, "mta.inter_warp", 0);
    heddle_close(h);
}
END_TEST

/* Eight warps execute one load each. The third warp gives the second stride between warps, so it is the first warp that
 * predicts, for any order of the warps. */
START_TEST(from_warp_to_warp_in_a_kernel) {
    static const char *const set[] = {"mta.throttle=off", "gpu.sms=1", "mta.warp_distance=3", NULL};
    struct heddle *h = walk(set, 128, 256, 1, 1, 0);
    STAT(h, "mta.loads", 8);
    STAT(h, "mta.inter_warp", 6);
    STAT(h, "mta.intra_warp", 0);
    heddle_close(h);
}
END_TEST

/* With a distance of sixteen loads, prefetches arrive in time. But the last lines that are prefetched in a period are
 * used only in the next period, so the accuracy is below mta.accuracy_high. Only the first loads miss, and none of them
 * joins a pending prefetch, so prefetches do not count as late. So the throttle level rises, and some prefetches are
 * withheld. */
START_TEST(prefetches_in_time_may_be_withheld) {
    static const char *const set[] = {"mta.period=16",
                                      "mta.min_prefetches=1",
                                      "mta.accuracy_low=0",
                                      "mta.merge_ratio=0.1",
                                      "mta.accuracy_high=1",
                                      "mta.distance=16",
                                      "l1.size=8192",
                                      "l1.ways=8",
                                      NULL};
    struct heddle *h = run("mta", set);
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttle_raised"), 0);
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttled"), 0);
    heddle_close(h);
}
END_TEST

/* Of 16 loads, the third is the first that prefetches. The lines beyond the last load are not used, so the accuracy is
 * below mta.accuracy_high. So the throttle level rises, unless the share of misses that join a pending prefetch is at
 * least mta.merge_ratio. The first three loads miss. Some of the other 13 loads join a pending prefetch, which the L1
 * also counts as a miss; the others hit. So late / (3 + late) of the misses are late. */
START_TEST(lateness_is_a_share_of_the_misses) {
    double late = 0;
    for (int i = 0; i < 3; i++) {
        char merges[64];
        snprintf(merges, sizeof merges, "mta.merge_ratio=%.3f", i ? late / (3 + late) + 0.02 * (i == 1 ? -1 : 1) : 0);
        const char *set[] = {"mta.period=16",
                             "mta.min_prefetches=1",
                             "mta.accuracy_low=0",
                             "mta.degree=2",
                             "mta.accuracy_high=1",
                             merges,
                             "l1.size=16384",
                             "l1.ways=8",
                             "l1.mshrs=8",
                             "gpu.poll=off",
                             NULL};
        struct heddle *h = walk(set, 128, 32, 1, 16, 0);
        late = heddle_stat(h, 0, "mta.late");
        ck_assert(late >= 4 && late <= 10); /* of the 13 loads, at least 4 are late and at least 3 hit */
        STAT(h, "l1.pending_hits", late);
        STAT(h, "l1.misses", 3 + late);
        STAT(h, "mta.useful", 13);
        STAT(h, "mta.throttle_raised", i == 2);
        heddle_close(h);
    }
}
END_TEST

/* A second launch counts only its own loads. */
START_TEST(launches_have_their_own_statistics) {
    struct heddle *h = run("mta", NULL);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", walks, strlen(walks));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 1; i < 3; i++) {
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
        ck_assert_double_eq(heddle_stat(h, i, "mta.loads"), 64);
        ck_assert_double_eq(heddle_stat(h, i, "mta.intra_warp"), 62);
        ck_assert_double_eq(heddle_stat(h, i, "mta.throttle_raised"), 0);
        ck_assert_double_eq(heddle_stat(h, i, "mta.throttle_lowered"), 0);
        ck_assert_double_eq(heddle_stat(h, i, "mta.conflicts"), 0);
        ck_assert_double_eq(heddle_stat(h, i, "mta.throttle_level"), 0);
    }
    heddle_close(h);
}
END_TEST

/* Without an L1, the prefetcher does nothing. */
START_TEST(no_cache_no_prefetch) {
    struct heddle *h = run("mta", (const char *const[]){"l1.size=0", NULL});
    ck_assert_double_eq(heddle_stat(h, 0, "mta.loads"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 0);
    heddle_close(h);
}
END_TEST

SUITE(mechanisms_mta) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_stride_is_found_after_training);
    TEST(a_changed_stride_is_trained_again);
    TEST(a_stride_of_three_warps_becomes_global);
    TEST(a_stride_from_warp_to_warp);
    TEST(warps_in_another_order);
    TEST(global_goes_before_inter);
    TEST(a_new_warp_starts_untrained);
    TEST(the_least_recently_used_entry_is_evicted);
    TEST(tables_of_one_entry);
    TEST(counters_do_not_overflow);
    TEST(sets_by_load_and_warp);
    TEST(entries_beyond_whole_sets_are_unused);
    TEST(lookups_are_counted);
    TEST(the_level_follows_what_is_used);
    TEST(the_level_is_a_share_of_five);
    TEST(a_walk_is_prefetched);
    TEST(distance_and_degree);
    TEST(kernels_have_loads_of_their_own);
    TEST(predictions_have_one_fate);
    TEST(short_steps_lead_to_a_line_once);
    TEST(addresses_out_of_memory_are_not_prefetched);
    TEST(a_new_cta_trains_again);
    TEST(from_warp_to_warp_in_a_kernel);
    TEST(prefetches_in_time_may_be_withheld);
    TEST(lateness_is_a_share_of_the_misses);
    TEST(launches_have_their_own_statistics);
    TEST(no_cache_no_prefetch);
}
