/* Tests tags, replacement, write policies and MSHRs of a cache, with sequences of accesses that can be followed by
 * hand. */
#include "cache_rig.h"
#include "test/toys/policies.h"

static void read_and_fill(uint64_t line) {
    uint64_t target;
    ck_assert_int_eq(cache_read(&c, line, 0xf, 77, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, out.fetch);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert(!cache_take(&c, out.mshr, &target));
}

/* Two sets of two ways: lines 0, 2 and 4 do not fit into set 0. With one way, line 2 replaces line 0 at once. With two
 * ways again, no line is left from before, and a set holds two lines. */
START_TEST(ways_change) {
    start(4, 2, false);
    read_and_fill(0);
    cache_set_ways(&c, 2); /* no change, so line 0 stays */
    ck_assert_uint_eq(peek(0), 0xf);
    cache_set_ways(&c, 1);
    ck_assert_uint_eq(peek(0), 0);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert(out.evicted);
    ck_assert_uint_eq(out.victim, 0);
    cache_set_ways(&c, 2);
    ck_assert(!peek(0) && !peek(2));
    read_and_fill(0);
    read_and_fill(2);
    ck_assert(!out.evicted);
    read_and_fill(4);
    ck_assert_uint_eq(out.victim, 0);
    cache_free(&c);
}
END_TEST

/* Line 0 waits for its fill, so the cache keeps two ways, and the fill arrives where it was expected. */
START_TEST(ways_stay_while_a_line_is_pending) {
    uint64_t target;
    start(4, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    cache_set_ways(&c, 1);
    ck_assert_uint_eq(c.shape.ways, 2);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_uint_eq(peek(0), 0xf);
    cache_free(&c);
}
END_TEST

START_TEST(misses_merge_and_wake_in_order) {
    uint64_t target;
    start(2, 2, false);
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 1, &out), CACHE_MISS);
    uint32_t mshr = out.mshr;
    ck_assert_uint_eq(out.fetch, 0xf);
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 2, &out), CACHE_MERGED);
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 3, &out), CACHE_NO_MERGE);
    ck_assert(!cache_take(&c, mshr, &target));
    cache_fill(&c, mshr, 0xf);
    ck_assert(cache_take(&c, mshr, &target));
    ck_assert_uint_eq(target, 1);
    ck_assert(!cache_idle(&c));
    ck_assert(cache_take(&c, mshr, &target));
    ck_assert_uint_eq(target, 2);
    ck_assert(!cache_take(&c, mshr, &target));
    ck_assert(cache_idle(&c));
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 4, &out), CACHE_HIT);
    cache_free(&c);
}
END_TEST

/* The first target of an MSHR is in cache.mshr, the next CACHE_NEAR are in cache.target, and the others in
 * cache.far_target. Each of three MSHRs has CACHE_NEAR + 3 targets, so it uses all three. */
START_TEST(interleaved_misses_keep_their_order) {
    enum { MSHRS = 3, TARGETS = CACHE_NEAR + 3 };
    uint32_t mshr[MSHRS];
    uint64_t target;
    start(MSHRS, TARGETS, false);
    for (uint32_t i = 0; i < TARGETS; i++)
        for (uint32_t m = 0; m < MSHRS; m++) {
            ck_assert_int_eq(cache_read(&c, m, 0xf, 100 * m + i, &out), i ? CACHE_MERGED : CACHE_MISS);
            if (!i)
                mshr[m] = out.mshr;
        }
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 99, &out), CACHE_NO_MERGE);
    for (uint32_t m = 0; m < MSHRS; m++)
        cache_fill(&c, mshr[m], 0xf);
    for (uint32_t i = 0; i < TARGETS; i++)
        for (uint32_t m = MSHRS; m-- > 0;) {
            ck_assert(cache_take(&c, mshr[m], &target));
            ck_assert_uint_eq(target, 100 * m + i);
        }
    ck_assert(cache_idle(&c));
    cache_free(&c);
}
END_TEST

START_TEST(mshrs_run_out) {
    start(2, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 2, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 2, 0xf, 3, &out), CACHE_NO_MSHR);
    cache_free(&c);
}
END_TEST

/* Lines 0 and 2 fill set 0. A hit makes line 0 the most recently used line. With fifo, line 4 replaces line 0, the
 * oldest line, and then line 0 replaces line 2. With lru, line 4 replaces line 2. */
START_TEST(fifo_replaces_the_oldest_line) {
    start(4, 2, false);
    ck_assert(cache_use_replacement(&c, _i ? &replacement_fifo : &replacement_lru));
    read_and_fill(0);
    ck_assert(!out.evicted);
    read_and_fill(2);
    ck_assert(!out.evicted);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_HIT);
    ck_assert(cache_read_there(&c, cache_look(&c, 0).way, 0, 0xf));
    read_and_fill(4);
    ck_assert(out.evicted);
    ck_assert_uint_eq(out.victim, _i ? 0 : 2);
    if (_i) {
        read_and_fill(0);
        ck_assert_uint_eq(out.victim, 2);
    }
    cache_free(&c);
}
END_TEST

/* Lines 0, 2 and 4 share the two ways of set 0. The location of line 0 is right for line 0 alone, and only until line 4
 * replaces line 0. cache_read_there() of line 2 makes line 0 the oldest line, and its repetition changes nothing. */
START_TEST(known_locations_follow_the_lines) {
    start(4, 2, false);
    read_and_fill(2);
    read_and_fill(0);
    const struct cache_spot zero = cache_look(&c, 0), two = cache_look(&c, 2);
    ck_assert_uint_ne(zero.way, two.way);
    ck_assert_uint_eq(cache_look_again(&c, zero, 0).way, zero.way);
    ck_assert_uint_eq(cache_look_again(&c, zero, 2).way, two.way);
    ck_assert_uint_eq(cache_look_again(&c, cache_look(&c, 4), 0).way, zero.way);
    ck_assert(cache_read_there(&c, two.way, 2, 0xf));
    ck_assert(cache_read_there(&c, two.way, 2, 0xf));
    read_and_fill(4);
    ck_assert_uint_eq(out.victim, 0);
    ck_assert_uint_eq(cache_look_again(&c, zero, 0).way, CACHE_NO_WAY);
    ck_assert_uint_eq(cache_look_again(&c, zero, 4).way, zero.way);
    cache_free(&c);
}
END_TEST

/* With every policy, a locked line and a line that waits for its fill are not evicted, and empty ways are used first.
 * Line 0 is locked, so line 4 replaces line 2. Line 4 waits for its fill, so line 6 finds no line to evict. The flush
 * drops all lines, and lines 2 and 4 take the empty ways. */
START_TEST(policies_keep_lines_that_must_stay) {
    static const struct replacement_ops *const policies[] = {&replacement_lru, &replacement_fifo};
    uint64_t target;
    start(4, 2, false);
    ck_assert(cache_use_replacement(&c, policies[_i]));
    read_and_fill(0);
    read_and_fill(2);
    ck_assert(cache_lock(&c, 0));
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 1, &out), CACHE_MISS);
    ck_assert(out.evicted);
    ck_assert_uint_eq(out.victim, 2);
    uint32_t mshr = out.mshr;
    ck_assert_int_eq(cache_read(&c, 6, 0xf, 2, &out), CACHE_NO_LINE);
    cache_fill(&c, mshr, 0xf);
    ck_assert(cache_take(&c, mshr, &target));
    read_and_fill(6);
    ck_assert_uint_eq(out.victim, 4);
    cache_flush(&c);
    read_and_fill(2);
    ck_assert(!out.evicted);
    read_and_fill(4);
    ck_assert(!out.evicted);
    cache_free(&c);
}
END_TEST

/* The state of a replacement policy that counts the calls of its functions and stores the last arguments. */
struct calls {
    uint32_t fills, hits, last_set, last_way;
};
static size_t calls_size(uint32_t sets, uint32_t ways) {
    ck_assert_uint_eq(sets * ways, 4);
    return sizeof(struct calls);
}
static void calls_hit(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct calls *n = state;
    ck_assert_uint_eq(ways, 2);
    *n = (struct calls){n->fills, n->hits + 1, set, way};
}
static void calls_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct calls *n = state;
    ck_assert_uint_eq(ways, 2);
    *n = (struct calls){n->fills + 1, n->hits, set, way};
}
static uint32_t calls_victim(const void *state, const struct replacement_set *s) {
    const struct calls *n = state;
    ck_assert_uint_eq(n->fills, 2); /* the set is full */
    return s->used[0] != CACHE_STAYS ? 0 : 1;
}

/* The policy is told of a fill for a miss, and of a hit for each later access to the line, even while the line's data
 * are outstanding. Locking a line is not an access. */
START_TEST(policy_hears_events) {
    static const struct replacement_ops ops = {
        .name = "calls", .size = calls_size, .victim = calls_victim, .hit = calls_hit, .fill = calls_fill};
    start(4, 4, false);
    ck_assert(cache_use_replacement(&c, &ops));
    const struct calls *n = c.policy_state;
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 1, &out), CACHE_MISS);
    uint32_t mshr = out.mshr;
    ck_assert(n->fills == 1 && n->hits == 0 && n->last_set == 1 && n->last_way == 0);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 2, &out), CACHE_MERGED);
    ck_assert(n->fills == 1 && n->hits == 1);
    cache_fill(&c, mshr, 0xf);
    for (uint64_t target; cache_take(&c, mshr, &target);)
        ;
    ck_assert(cache_lock(&c, 1));
    cache_unlock(&c, 1);
    ck_assert(n->fills == 1 && n->hits == 1);
    ck_assert_int_eq(cache_write(&c, 3, 0xf, 0xf, &out), CACHE_MISS);
    ck_assert(n->fills == 2 && n->hits == 1 && n->last_way == 1);
    ck_assert_int_eq(cache_write(&c, 3, 0xf, 0xf, &out), CACHE_HIT);
    ck_assert(cache_write_through(&c, 3, false, NULL));
    ck_assert(n->fills == 2 && n->hits == 3);
    ck_assert_int_eq(cache_read(&c, 5, 0xf, 1, &out), CACHE_MISS);
    ck_assert(n->fills == 3 && n->hits == 3 && n->last_way == 0);
    ck_assert_uint_eq(out.victim, 1);
    cache_free(&c);
}
END_TEST

/* The functions in the table of lru must choose the same line as the inline code for lru in cache.c, also after lines
 * have left, after a flush and with fewer ways. */
static void lru_same(uint32_t ways) {
    uint64_t state = 3;
    /* a copy of the table at another address, so that the cache calls the functions instead of the inline code */
    struct replacement_ops table = replacement_lru;
    struct cache called;
    struct cache_shape s = {.sets = 2, .ways = ways, .line_bytes = 128, .mshrs = 4, .merges = 2};
    ck_assert(cache_init(&c, &s));
    s.replacement = &table;
    ck_assert(cache_init(&called, &s));
    for (int i = 0; i < 2000; i++) {
        uint64_t line = test_random(&state) % (5 * ways), gone = test_random(&state) % (5 * ways);
        struct cache_out other;
        ck_assert_int_eq(cache_write_through(&c, gone, true, NULL), cache_write_through(&called, gone, true, NULL));
        if (i == 1000) {
            cache_flush(&c);
            cache_flush(&called);
        } else if (i == 1500) {
            cache_set_ways(&c, ways - 5);
            cache_set_ways(&called, ways - 5);
        }
        enum cache_result r = cache_read(&c, line, 0xf, 1, &out);
        ck_assert_int_eq(cache_read(&called, line, 0xf, 1, &other), r);
        ck_assert_int_eq(other.evicted, out.evicted);
        ck_assert_uint_eq(other.victim, out.victim);
        uint64_t target;
        if (r != CACHE_MISS)
            continue;
        cache_fill(&c, out.mshr, 0xf);
        cache_fill(&called, other.mshr, 0xf);
        ck_assert(cache_take(&c, out.mshr, &target) && cache_take(&called, other.mshr, &target));
    }
    cache_free(&c);
    cache_free(&called);
}

/* The inline code searches the ways in vectors: 75 ways are several vectors and a rest. */
START_TEST(lru_is_the_same_inline) {
    lru_same(8);
    lru_same(32);
    lru_same(75);
}
END_TEST

/* Lines 0 and 2 reserve both ways of set 0. So line 4 finds no way in set 0, but line 1 finds a way in set 1. */
START_TEST(reserved_ways_stay) {
    start(4, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 2, 0xf, 2, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 3, &out), CACHE_NO_LINE);
    ck_assert_int_eq(cache_write(&c, 4, 0xf, 0xf, &out), CACHE_NO_LINE);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 3, &out), CACHE_MISS);
    cache_free(&c);
}
END_TEST

START_TEST(least_recently_used_leaves) {
    start(2, 2, false);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_HIT);
    read_and_fill(4);
    ck_assert_uint_eq(peek(2), 0);
    ck_assert_uint_eq(peek(0), 0xf);
    ck_assert_uint_eq(peek(4), 0xf);
    ck_assert_uint_eq(c.n.evictions, 1);
    cache_free(&c);
}
END_TEST

/* Sectors 1 and 2 of line 0 are dirty when line 4 evicts it. */
START_TEST(dirty_sectors_are_written_back) {
    start(2, 2, false);
    read_and_fill(0);
    ck_assert_int_eq(cache_write(&c, 0, 0x6, 0, &out), CACHE_HIT);
    read_and_fill(2);
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.victim, 0);
    ck_assert_uint_eq(out.victim_sectors, 0x6);
    cache_free(&c);
}
END_TEST

/* Lines `set` and `set` + 2 are dirty ways of a set. A limit of one makes the first one clean, the least recently used,
 * and then none. The second one stays dirty, and line 1 - `set` is in the other set. */
START_TEST(dirty_lines_of_a_set_have_a_limit) {
    const uint64_t set = (uint64_t)_i;
    uint64_t clean = 77;
    start(2, 2, false);
    cache_write(&c, set, 0x5, 0x5, &out);
    cache_write(&c, 1 - set, 0xf, 0xf, &out);
    ck_assert_uint_eq(cache_limit_dirty(&c, set, 1, &clean), 0);
    cache_write(&c, set + 2, 0xf, 0xf, &out);
    ck_assert_uint_eq(cache_limit_dirty(&c, set + 2, 2, &clean), 0);
    ck_assert_uint_eq(cache_limit_dirty(&c, set + 2, 1, &clean), 0x5);
    ck_assert_uint_eq(clean, set);
    ck_assert_uint_eq(cache_limit_dirty(&c, set + 2, 1, &clean), 0);
    ck_assert_uint_eq(peek(set), 0x5); /* the data stay */
    cache_write(&c, set + 4, 0xf, 0xf, &out);
    ck_assert(out.evicted && out.victim == set && !out.victim_sectors);
    cache_free(&c);
}
END_TEST

START_TEST(clean_lines_leave_silently) {
    start(2, 2, false);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.victim_sectors, 0);
    cache_free(&c);
}
END_TEST

START_TEST(write_through_drops_or_keeps) {
    start(2, 2, false);
    read_and_fill(0);
    ck_assert(cache_write_through(&c, 0, false, NULL));
    ck_assert_uint_eq(peek(0), 0xf);
    ck_assert(cache_write_through(&c, 0, true, NULL));
    ck_assert_uint_eq(peek(0), 0);
    ck_assert(!cache_write_through(&c, 0, true, NULL));
    cache_free(&c);
}
END_TEST

/* A line with a pending miss is not invalidated, because its MSHR will fill it. */
START_TEST(write_through_leaves_reserved_lines) {
    uint64_t target;
    start(2, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert(cache_write_through(&c, 0, true, NULL));
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_uint_eq(peek(0), 0xf);
    cache_free(&c);
}
END_TEST

/* A locked line survives two fills of its set, which has two ways. While one way is locked, the second way of the set
 * cannot be locked. */
START_TEST(locked_lines_stay) {
    start(2, 2, false);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert(cache_lock(&c, 0));
    ck_assert(cache_lock(&c, 0));
    ck_assert(!cache_lock(&c, 2));
    ck_assert(!cache_lock(&c, 6));
    read_and_fill(4);
    read_and_fill(6);
    ck_assert_uint_eq(peek(0), 0xf);
    cache_unlock(&c, 0);
    read_and_fill(8);
    ck_assert_uint_eq(peek(0), 0xf);
    cache_unlock(&c, 0);
    read_and_fill(10);
    read_and_fill(12);
    ck_assert_uint_eq(peek(0), 0);
    cache_free(&c);
}
END_TEST

/* Three lines are prefetched: one is used after it has arrived, one is used while its fetch is pending, and one is
 * never used. */
START_TEST(prefetches_are_told_apart) {
    uint64_t target;
    start(4, 4, false);
    ck_assert_int_eq(cache_prefetch(&c, 0, 0xf, 1, 1, 0, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_int_eq(cache_prefetch(&c, 0, 0xf, 2, 1, 0, &out), CACHE_HIT);
    ck_assert_int_eq(cache_prefetch(&c, 1, 0xf, 3, 1, 0, &out), CACHE_MISS);
    ck_assert_int_eq(cache_prefetch(&c, 2, 0xf, 4, 1, 0, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 5, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 6, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 7, &out), CACHE_MERGED);
    read_and_fill(4); /* evicts line 2 */
    ck_assert_uint_eq(c.n.prefetches, 3);
    ck_assert_uint_eq(c.n.prefetch_useful, 2);
    ck_assert_uint_eq(c.n.prefetch_late, 1);
    ck_assert_uint_eq(c.n.prefetch_unused, 1);
    cache_free(&c);
}
END_TEST

/* A direct-mapped cache has 32 sets. Lines whose numbers differ by 32 are all in one set. With index folding, line 32 i
 * is in set i. */
START_TEST(folded_index_spreads_strides) {
    for (int fold = 0; fold < 2; fold++) {
        struct cache_shape s = {.sets = 32,
                                .ways = 1,
                                .line_bytes = 128,
                                .mshrs = 1,
                                .merges = 1,
                                .index = fold ? INDEX_XOR : INDEX_LINEAR};
        ck_assert(cache_init(&c, &s));
        for (uint64_t i = 0; i < 32; i++)
            read_and_fill(32 * i);
        unsigned present = 0;
        for (uint64_t i = 0; i < 32; i++)
            present += peek(32 * i) != 0;
        ck_assert_uint_eq(present, fold ? 32 : 1);
        cache_free(&c);
    }
}
END_TEST

/* Fermi's index function for 32 sets: address bits 7 to 11, xor bits 13, 14, 15, 17 and 19. With one way per set, a
 * line evicts the previous line of its set. Line 0x40 (address bit 13) is in set 1, as line 1. Address bit 12 is
 * unused, so line 32 is in set 0, as line 0. */
START_TEST(index_of_fermi) {
    static const struct {
        uint64_t line;
        uint32_t set;
    } cases[] = {{1, 1},       {31, 31},      {1 << 5, 0},  {1 << 6, 1},
                 {1 << 7, 2},  {1 << 8, 4},   {1 << 9, 0},  {1 << 10, 8},
                 {1 << 11, 0}, {1 << 12, 16}, {1 << 13, 0}, {0x1540 | 5, 5 ^ 1 ^ 4 ^ 8 ^ 16}};
    struct cache_shape s = {.sets = 32, .ways = 1, .line_bytes = 128, .mshrs = 1, .merges = 1, .index = INDEX_FERMI};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint32_t set = 0; set < 32; set++) {
            ck_assert(cache_init(&c, &s));
            read_and_fill(set); /* lines 0 to 31 are in sets 0 to 31 */
            if (cases[i].line != set)
                read_and_fill(cases[i].line);
            ck_assert_msg((peek(set) == 0) == (set == cases[i].set && cases[i].line != set), "line %#lx, set %u",
                          (unsigned long)cases[i].line, set);
            cache_free(&c);
        }
}
END_TEST

/* With 64 sets, address bit 12 is the highest bit of the index, so line 32 is in set 32. */
START_TEST(index_of_fermi_with_48_kb) {
    struct cache_shape s = {.sets = 64, .ways = 1, .line_bytes = 128, .mshrs = 1, .merges = 1, .index = INDEX_FERMI};
    ck_assert(cache_init(&c, &s));
    read_and_fill(0);
    read_and_fill(32);
    ck_assert_uint_eq(peek(0), 0xf);
    read_and_fill(64 + 32 + 1); /* the set is 32 ^ 1 ^ 1 */
    ck_assert_uint_eq(peek(32), 0);
    cache_free(&c);
}
END_TEST

START_TEST(flush_keeps_pending_lines) {
    uint64_t target;
    start(2, 2, false);
    read_and_fill(0);
    cache_write(&c, 0, 0xf, 0xf, &out);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 9, &out), CACHE_MISS);
    cache_flush(&c);
    ck_assert_uint_eq(peek(0), 0);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_uint_eq(target, 9);
    /* line 1 has outlasted the first flush, and the next one drops it; the last one drops line 3, which came later */
    ck_assert_uint_eq(peek(1), 0xf);
    cache_flush(&c);
    ck_assert_uint_eq(peek(1), 0);
    read_and_fill(3);
    cache_flush(&c);
    ck_assert_uint_eq(peek(3), 0);
    cache_free(&c);
}
END_TEST

START_TEST(impossible_shapes_are_refused) {
    struct cache_shape s = {.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = 1, .merges = 1};
    s.line_bytes = 96;
    ck_assert(!cache_init(&c, &s));
    s.line_bytes = 128;
    s.merges = 0;
    ck_assert(!cache_init(&c, &s));
    s.merges = 1;
    s.ways = 0;
    ck_assert(!cache_init(&c, &s));
    /* for each limit: the last valid value, and the first invalid value */
    static const struct {
        struct cache_shape s;
        bool fine;
    } limits[] = {{{.sets = 2, .ways = 2, .line_bytes = 32, .mshrs = 1, .merges = 1}, true},
                  {{.sets = 2, .ways = 2, .line_bytes = 16, .mshrs = 1, .merges = 1}, false},
                  {{.sets = 2, .ways = 2, .line_bytes = 256, .mshrs = 1, .merges = 1}, true},
                  {{.sets = 2, .ways = 2, .line_bytes = 512, .mshrs = 1, .merges = 1}, false},
                  {{.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = 1, .merges = 255}, true},
                  {{.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = 1, .merges = 256}, false},
                  {{.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = 0xfffe, .merges = 1}, true},
                  {{.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = CACHE_MSHRS, .merges = 1}, false},
                  {{.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = 0, .merges = 1}, false},
                  {{.sets = 1 << 14, .ways = 16, .line_bytes = 128, .mshrs = 1, .merges = 1}, true},
                  {{.sets = 1 << 22, .ways = 8, .line_bytes = 128, .mshrs = 1, .merges = 1}, false}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        ck_assert_msg(cache_init(&c, &limits[i].s) == limits[i].fine, "shape %zu", i);
        cache_free(&c);
    }
}
END_TEST

SUITE(timing_cache) {
    TEST(known_locations_follow_the_lines);
    TEST_LOOP(fifo_replaces_the_oldest_line, 0, 2);
    TEST_LOOP(policies_keep_lines_that_must_stay, 0, 2);
    TEST(policy_hears_events);
    TEST(lru_is_the_same_inline);
    TEST(misses_merge_and_wake_in_order);
    TEST(interleaved_misses_keep_their_order);
    TEST(mshrs_run_out);
    TEST(reserved_ways_stay);
    TEST(least_recently_used_leaves);
    TEST(dirty_sectors_are_written_back);
    TEST_LOOP(dirty_lines_of_a_set_have_a_limit, 0, 2);
    TEST(clean_lines_leave_silently);
    TEST(write_through_drops_or_keeps);
    TEST(write_through_leaves_reserved_lines);
    TEST(locked_lines_stay);
    TEST(prefetches_are_told_apart);
    TEST(folded_index_spreads_strides);
    TEST(index_of_fermi);
    TEST(index_of_fermi_with_48_kb);
    TEST(flush_keeps_pending_lines);
    TEST(ways_change);
    TEST(ways_stay_while_a_line_is_pending);
    TEST(impossible_shapes_are_refused);
}
