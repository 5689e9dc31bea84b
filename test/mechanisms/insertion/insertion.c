/* Tests the insertion policies lip, bip and dip on a cache whose misses are filled at once. The reference keeps each
 * set as a list of lines in the order of their use, as the paper describes the policies. */
#include "test/mechanisms/replacement_rig.h"
#include <string.h>

enum { SETS = 64, WAYS = 4 };

/* A loop over 5 lines in a set of 4 ways. Under lru every access misses. Under lip, lines 0 to 3 fill the ways. Each of
 * these is inserted as the least recently used line, so line 3 is the first victim.
 * - Line 4 replaces line 3.
 * - Second round: 0, 1 and 2 hit. Line 3 replaces line 4, which was inserted last and not used since. Line 4 replaces
 *   line 3.
 * So 3 of 5 accesses of every round after the first hit: 3 * 9 = 27 in ten rounds. */
START_TEST(lip_keeps_a_part_of_a_loop) {
    int hits = 0;
    start("lip", 1, 4);
    for (int round = 0; round < 10; round++)
        for (uint64_t line = 0; line < 5; line++)
            hits += reads(line);
    ck_assert_int_eq(hits, 27);
    cache_free(&c);
    start("lru", 1, 4);
    for (int round = 0; round < 10; round++)
        for (uint64_t line = 0; line < 5; line++)
            ck_assert(!reads(line));
    cache_free(&c);
}
END_TEST

/* The program moves on to other lines: lines 0 to 3 are not used again. Under lip the first three stay for ever, and
 * lines 10 to 13, in a loop, share one way: no hit. Under bip every 32nd new line becomes the most recently used one,
 * so the new lines take over and the loop of 4 lines hits in the end. */
START_TEST(bip_forgets_old_lines) {
    for (int bip = 0; bip < 2; bip++) {
        int last = 0;
        start(bip ? "bip" : "lip", 1, 4);
        for (uint64_t line = 0; line < 4; line++)
            reads(line);
        for (uint64_t line = 0; line < 4; line++)
            reads(line);
        for (int round = 0; round < 200; round++) {
            last = 0;
            for (uint64_t line = 10; line < 14; line++)
                last += reads(line);
        }
        ck_assert_int_eq(last, bip ? 4 : 0);
        cache_free(&c);
    }
}
END_TEST

/* The reference: lines of each set, the most recently used one first. */
static struct {
    uint64_t line[SETS][WAYS];
    int n[SETS], counter, fills;
} ref;

static bool ref_reads(const char *policy, uint64_t line) {
    uint64_t *set = ref.line[line % SETS];
    int *n = &ref.n[line % SETS], at = 0;
    while (at < *n && set[at] != line)
        at++;
    bool hit = at < *n, first = hit, bip = strcmp(policy, "bip") == 0;
    if (!hit) {
        if (strcmp(policy, "dip") == 0) {
            int part = (int)(line % SETS % 8); /* set 0 of 8 always uses lru, set 4 always bip */
            ref.counter += part == 0 ? ref.counter < 1023 : part == 4 ? -(ref.counter > 0) : 0;
            bip = part == 4 || (part != 0 && ref.counter >= 512);
            first = !bip;
        }
        if (bip)
            first = ++ref.fills % 32 == 0;
        if (*n == WAYS)
            at = WAYS - 1; /* the last line of the list is replaced */
        else
            at = (*n)++;
    }
    if (first)
        memmove(set + 1, set, (size_t)at * sizeof *set);
    else
        memmove(set + at, set + at + 1, (size_t)(*n - 1 - at) * sizeof *set);
    set[first ? 0 : *n - 1] = line;
    return hit;
}

static const char *const policies[] = {"lip", "bip", "dip"};

START_TEST(every_access_is_as_in_the_reference) {
    memset(&ref, 0, sizeof ref);
    ref.counter = 511;
    hits_as(ref_reads, policies[_i]);
}
END_TEST

START_TEST(locked_lines_stay) { check_locked_lines(policies[_i]); }
END_TEST

SUITE(mechanisms_insertion) {
    TEST(lip_keeps_a_part_of_a_loop);
    TEST(bip_forgets_old_lines);
    TEST_LOOP(every_access_is_as_in_the_reference, 0, 3);
    TEST_LOOP(locked_lines_stay, 0, 3);
}
