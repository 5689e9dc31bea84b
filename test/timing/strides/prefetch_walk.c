/* Tests stride prefetchers on a kernel whose lines are known: prefetches and their uses, the speedup, and the
 * profile by load. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { LINES = 64, LINE = 128 };

/* Launches one CTA. It executes 64 loads of 64 lines, each load one line further than the previous. */
static struct heddle *walk_by(uint32_t threads, const char *model, const char *set, bool profile) {
    char err[512];
    const char *const sets[] = {"memory.model=full", "dram.latency=400", "l1.size=4096", "l1.ways=4", set, NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "tiny", .set = sets, .profile = profile}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, "test/kernels/walk.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

static struct heddle *walk(const char *model, const char *set, bool profile) {
    return walk_by(32, model, set, profile);
}

/* A single thread reads one sector of each line, and its prefetches also fetch one sector. */
START_TEST(unread_sectors_are_not_fetched) {
    struct heddle *h = walk_by(1, "stride", "l2.sectored=true", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.issued"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.bytes"), (LINES - 2) * 32);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.useful"), LINES - 3);
    heddle_close(h);
    h = walk_by(1, "stride", "l2.sectored=false", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.bytes"), (LINES - 2) * LINE);
    heddle_close(h);
}
END_TEST

/* - 62 of the 64 loads request a line. With a degree of one each line is requested once. The last request is for a load
 *   that does not exist.
 * - A load whose line has arrived takes the L2's latency, which is shorter than memory's, so the next line is late.
 * - A load whose line is late takes memory's latency, in which the next line arrives. So half of the lines are late.
 * - With a larger degree few lines are late, and the loop is faster.
 * - An iteration that raises the degree skips a line, which is fetched on demand. */
START_TEST(a_walk_is_prefetched) {
    struct heddle *plain = walk("spe", NULL, false), *one = walk("stride", NULL, false),
                  *ddp = walk("ddp", NULL, false);
    double cycles = heddle_stat(plain, 0, "gpu.cycles");
    ck_assert_double_eq(heddle_stat(one, 0, "stride.misses"), LINES);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.requested"), LINES - 2);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.issued"), LINES - 2);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.useful"), LINES - 3);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.late"), (LINES - 3) / 2);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.bytes"), (LINES - 2) * LINE);
    ck_assert_double_lt(heddle_stat(one, 0, "gpu.cycles"), 0.6 * cycles);
    ck_assert_double_gt(heddle_stat(ddp, 0, "ddp.most_degree"), 1);
    ck_assert_double_eq(heddle_stat(ddp, 0, "ddp.grown_by_loads"), heddle_stat(ddp, 0, "ddp.most_degree") - 1);
    ck_assert_double_lt(heddle_stat(ddp, 0, "ddp.late"), 5);
    ck_assert_double_lt(heddle_stat(ddp, 0, "gpu.cycles"), 0.8 * heddle_stat(one, 0, "gpu.cycles"));
    ck_assert_double_lt(heddle_stat(ddp, 0, "mem.latency"), heddle_stat(one, 0, "mem.latency"));
    heddle_close(plain), heddle_close(one), heddle_close(ddp);
}
END_TEST

/* A launch of another kernel starts with an empty table. Its first two loads request nothing, as in the first
 * launch. Another launch of that kernel keeps the stride. The step back to the first line does not change the
 * stride, so all loads request a line. */
START_TEST(a_table_belongs_to_a_kernel) {
    struct heddle *h = walk("stride", NULL, false);
    struct heddle_module *other = heddle_module_file(h, "test/kernels/walk.ptx");
    ck_assert_msg(other != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 1; i < 3; i++)
        ck_assert_int_eq(
            heddle_launch(h, other, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.requested"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 1, "stride.requested"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 2, "stride.requested"), LINES);
    heddle_close(h);
}
END_TEST

/* Prefetches into the L1: later loads hit. */
START_TEST(a_walk_into_the_l1) {
    struct heddle *plain = walk("spe", NULL, false), *h = walk("ddp", "ddp.level=l1", false);
    ck_assert_double_eq(heddle_stat(h, 0, "ddp.confident"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 0, "l2.prefetches"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.prefetches"), heddle_stat(h, 0, "ddp.issued"));
    ck_assert_double_gt(heddle_stat(h, 0, "l1.hits"), 10);
    ck_assert_double_lt(heddle_stat(h, 0, "gpu.cycles"), 0.8 * heddle_stat(plain, 0, "gpu.cycles"));
    heddle_close(plain), heddle_close(h);
}
END_TEST

/* Each reply of the network serves a demand miss or a prefetch, except the acknowledgement of the only store. A demand
 * miss that joins a pending prefetch counts, but has no reply of its own. Prefetches into the L2 do not change the
 * number of demand misses. */
START_TEST(replies_are_of_demand_or_of_prefetches) {
    static const struct {
        const char *model, *set;
        bool prefetches, into_l2;
    } runs[] = {{"spe", NULL, false, false},
                {"its", NULL, false, false},
                {"stride", NULL, true, true},
                {"dpe+ddp", NULL, true, true},
                {"stride", "stride.level=l1", true, false},
                {"spe+ddp", "ddp.level=l1", true, false},
                {"mta", NULL, true, false},
                {"dac", NULL, true, false},
                {"dac+stride", NULL, true, false}};
    double demand = 0;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct heddle *h = walk(runs[i].model, runs[i].set, false);
        double replies = heddle_stat(h, 0, "mem.replies"), joined = heddle_stat(h, 0, "mem.prefetch_joined"),
               prefetches = heddle_stat(h, 0, "mem.prefetch_replies");
        const double store = 1, packets = heddle_stat(h, 0, "icnt.reply_packets"); /* the store is acknowledged */
        ck_assert_msg(replies + prefetches - joined + store == packets, "%s: %g + %g - %g replies of %g", runs[i].model,
                      replies, prefetches, joined, packets);
        ck_assert_msg((prefetches > 0) == runs[i].prefetches, "%s: %g prefetches", runs[i].model, prefetches);
        ck_assert_double_le(joined, prefetches);
        ck_assert_double_eq(heddle_stat(h, 0, "l2.prefetch_accesses"), prefetches);
        demand = i ? demand : replies;
        ck_assert_msg(!runs[i].into_l2 || replies == demand, "%s: %g, %g without", runs[i].model, replies, demand);
        heddle_close(h);
    }
}
END_TEST

/* Without an L2 there are no prefetches. Without an L1 prefetches go to the L2. */
START_TEST(no_cache_no_prefetch) {
    struct heddle *h = walk("stride", "l2.size=0", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.misses"), 0);
    heddle_close(h);
    h = walk("stride", "memory.model=fixed", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.out_of_range"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.requested"), 0);
    heddle_close(h);
    h = walk("stride", "l1.size=0", false); /* loads past the L1 also train the table */
    ck_assert_double_eq(heddle_stat(h, 0, "stride.issued"), LINES - 2);
    heddle_close(h);
}
END_TEST

/* The energy of table lookups and of compared lines counts as energy of the L1. */
START_TEST(energy_is_that_of_the_tables) {
    struct heddle *h = walk("ddp", NULL, false), *lookups = walk("ddp", "energy.stride_lookup=1e6", false),
                  *searches = walk("ddp", "energy.stride_search=1e6", false);
    double base = heddle_stat(h, 0, "energy.l1_joules");
    ck_assert_double_eq_tol(heddle_stat(lookups, 0, "energy.l1_joules") - base, LINES * (1e6 - 12) * 1e-12, 1e-12);
    ck_assert_double_eq_tol(heddle_stat(searches, 0, "energy.l1_joules") - base,
                            heddle_stat(h, 0, "ddp.searches") * (1e6 - 2) * 1e-12, 1e-12);
    ck_assert_double_eq(heddle_stat(h, 0, "ddp.searches"), LINES + LINES - 2);
    heddle_close(h), heddle_close(lookups), heddle_close(searches);
}
END_TEST

/* The profile's table of degrees has one line, for the load. The line equals the statistics. */
START_TEST(the_profile_has_degrees_by_load) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct heddle *h = walk("ddp", NULL, true);
    ck_assert_int_eq(heddle_print_profile(h, out), HEDDLE_OK);
    fclose(out);
    const char *rows = strstr(text, "loads that missed, by degree of prefetching\n");
    ck_assert(rows != NULL);
    rows = strchr(strchr(rows, '\n') + 1, '\n') + 1;
    unsigned d1 = 0, d2 = 0;
    ck_assert_int_eq(sscanf(rows, "%u %u", &d1, &d2), 2);
    ck_assert_double_eq(d1, heddle_stat(h, 0, "ddp.degree_1"));
    ck_assert_double_eq(d2, heddle_stat(h, 0, "ddp.degree_2"));
    ck_assert(strstr(rows, "L: ld.global.u32 %r4,[%b];") != NULL);
    ck_assert_ptr_eq(strchr(rows, '\n')[1] ? rows : NULL, NULL); /* no other row */
    heddle_close(h);
    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    h = walk("spe", NULL, true);
    ck_assert_int_eq(heddle_print_profile(h, out), HEDDLE_OK);
    fclose(out);
    ck_assert(strstr(text, "by degree") == NULL);
    heddle_close(h);
    free(text);
}
END_TEST

/* Five rows of an array in one set, as in srad's loop [PEPSC, IV-B]. Runs on the core with an L2 of 4 ways (32 kB
 * per way), and with an L2 of twice the size and 8 ways. Loops are not pipelined.
 * - The first two of 200 iterations train the table, so 198 iterations request the five lines of the next iteration.
 * - 4 ways hold four of the lines. The fifth line evicts the first. The first then misses and evicts the second, and
 *   so on. This happens in all but the last of the 198 iterations, 197 times.
 * - No prefetched line is ever used. The last four stay in the cache.
 * - No line is late, so the degree stays at 1.
 * - 8 ways hold all five lines, and a higher degree is faster. */
START_TEST(five_rows_in_a_set) {
    static const char *const models[] = {"spe", "stride", "ddp"};
    double cycles[3];
    for (int m = 0; m < 3; m++) {
        char err[512];
        const char *const small[] = {"pepsc.pipeline=off", NULL}, *const large[] = {"pepsc.pipeline=off",
                                                                                    "l2.size=262144", "l2.ways=8",
                                                                                    NULL};
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = models[m], .config = "pepsc", .set = _i ? large : small}, err,
                        sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *module = heddle_module_file(h, "test/kernels/five_rows.ptx");
        ck_assert_msg(module != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, 262144);
        heddle_clear(h, p, 262144);
        const struct heddle_arg arg = {&p, 8};
        ck_assert_msg(heddle_launch(h, module, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0,
                                    &arg, 1) == HEDDLE_OK,
                      "%s", heddle_error(h));
        cycles[m] = heddle_stat(h, 0, "gpu.cycles");
        if (m == 1) {
            ck_assert_double_eq(heddle_stat(h, 0, "stride.issued"), 198 * 5);
            ck_assert_double_eq(heddle_stat(h, 0, "stride.useful"), _i ? 197 * 5 : 0);
            ck_assert_double_eq(heddle_stat(h, 0, "stride.unused"), _i ? 0 : 198 * 5 - 4);
            ck_assert_double_eq(heddle_stat(h, 0, "stride.pollution"), _i ? 0 : 197);
        } else if (m == 2 && _i) {
            ck_assert_double_gt(heddle_stat(h, 0, "ddp.most_degree"), 1);
        } else if (m == 2) {
            ck_assert_double_eq(heddle_stat(h, 0, "ddp.most_degree"), 1);
        }
        heddle_close(h);
    }
    if (_i) {
        ck_assert_double_lt(cycles[1], 0.5 * cycles[0]);
        ck_assert_double_lt(cycles[2], 0.7 * cycles[1]);
    } else {
        ck_assert_double_ge(cycles[1], cycles[0]);
        ck_assert_double_ge(cycles[2], cycles[0]);
    }
}
END_TEST

SUITE(timing_strides_prefetch_walk) {
    TEST(unread_sectors_are_not_fetched);
    TEST(a_walk_is_prefetched);
    TEST(a_table_belongs_to_a_kernel);
    TEST(a_walk_into_the_l1);
    TEST(replies_are_of_demand_or_of_prefetches);
    TEST(no_cache_no_prefetch);
    TEST(energy_is_that_of_the_tables);
    TEST(the_profile_has_degrees_by_load);
    TEST_LOOP(five_rows_in_a_set, 0, LEAST_TABLES ? 1 : 2);
}
