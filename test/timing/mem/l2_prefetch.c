/* Tests prefetchers of an L2 slice: when their requests read the tags, their callbacks, and refused requests. */
#include "test/timing/mem/l2_rig.h"

/* A prefetcher that requests the line `step` bytes after each line that is read. */
static struct pf {
    const struct prefetch_place *place;
    int64_t step;
    struct prefetch_seen seen[16];
    enum prefetch_answer answer[16];
    uint64_t answered[16];
    enum prefetch_asked asked[16];
    uint32_t n_seen, n_answers, n_asked, rooms;
    uint64_t then; /* if not 0: address to request when the next prefetch has arrived */
} pf;
static void *pf_make(const struct config *c, const struct prefetch_place *place, void *ctx) {
    (void)c;
    memset(ctx, 0, sizeof(struct pf));
    ((struct pf *)ctx)->place = place;
    return ctx;
}
static void pf_observe(void *p, const struct prefetch_seen *s) {
    struct pf *f = p;
    f->seen[f->n_seen++] = *s;
    if (!f->step || s->kind != SEEN_LOAD)
        return;
    const struct prefetch_request r = {
        .address = s->line + (uint64_t)f->step, .pc = s->pc, .warp = s->warp, .note = 77, .tag = f->n_asked};
    f->asked[f->n_asked++] = prefetch_ask(f->place, &r, s->cycle);
}
static void pf_answer(void *p, uint32_t tag, enum prefetch_answer a, uint64_t cycle) {
    struct pf *f = p;
    (void)tag;
    f->answer[f->n_answers] = a;
    f->answered[f->n_answers++] = cycle;
    if (a != PREFETCH_ARRIVED || !f->then)
        return;
    const struct prefetch_request r = {.address = f->then};
    f->then = 0;
    ck_assert_int_eq(prefetch_ask(f->place, &r, cycle), PREFETCH_QUEUED);
}
static void pf_room(void *p, uint64_t cycle) {
    (void)cycle;
    ((struct pf *)p)->rooms++;
}
static const struct prefetcher_ops pf_ops = {
    .name = "pf", .make = pf_make, .observe = pf_observe, .answer = pf_answer, .room = pf_room};

static void start_pf(int64_t step) {
    start();
    ck_assert(l2_add_prefetcher(&slice, &pf_ops, &pf, &cfg));
    pf.step = step;
}

/* A prefetch uses a cycle in which no access reads the tags:
 * - the prefetch is requested at 10, when the first access reads the tags, and reads the tags at 11
 * - DRAM delivers the prefetched line like any other line, and the next read of the line is its first use
 * - later accesses read the tags at 110, 114 and 115, and the prefetches that they cause read the tags at 116, 117
 *   and 118 */
START_TEST(a_prefetch_of_the_slice) {
    begin(_i);
    cfg.l2.mshrs = 16;
    start_pf(LINE);
    struct mem_request first = {.kind = MEM_READ, .address = LINE, .sectors = 2, .sm = 6, .pc = 33, .warp = 9};
    send(&first, 0);
    run(10);
    fill(asked(false, 1, ALL), ALL, 50);
    asked_nothing();
    run(11);
    fill(asked(false, 2, ALL), ALL, 60);
    run(99);
    replied(0, 55, 32);
    ck_assert_uint_eq(pf.n_answers, 2);
    ck_assert_int_eq(pf.answer[0], PREFETCH_SENT);
    ck_assert_uint_eq(pf.answered[0], 11);
    ck_assert_int_eq(pf.answer[1], PREFETCH_ARRIVED);
    ck_assert_uint_eq(pf.answered[1], 60);
    no_reply();
    ck_assert_uint_eq(pf.n_seen, 2);
    ck_assert_uint_eq(pf.seen[0].address, LINE + 32);
    ck_assert_uint_eq(pf.seen[0].line, LINE);
    ck_assert_uint_eq(pf.seen[0].pc, 33);
    ck_assert_uint_eq(pf.seen[0].warp, 9);
    ck_assert_uint_eq(pf.seen[0].sm, 6);
    ck_assert_int_eq(pf.seen[0].result, SEEN_MISS);
    ck_assert_int_eq(pf.seen[1].kind, SEEN_AHEAD);
    ck_assert_uint_eq(pf.seen[1].line, 2 * LINE);
    packet(MEM_READ, 2, ALL, 3, 100);
    packet(MEM_READ, 9, ALL, 4, 100);
    packet(MEM_READ, 13, ALL, 5, 100);
    run(110);
    ck_assert(pf.seen[2].first_use && pf.seen[2].own && !pf.seen[2].late && pf.seen[2].note == 77);
    run(113); /* the hit occupied the data array for 4 cycles */
    asked_nothing();
    run(114);
    asked(false, 9, ALL);
    run(115);
    asked(false, 13, ALL);
    run(116);
    asked(false, 3, ALL); /* the line of the prefetch that the first access caused */
    run(117);
    asked(false, 10, ALL); /* of the second */
    run(118);
    asked(false, 14, ALL); /* of the third */
    ck_assert_uint_eq(slice.n.lookups, 4);
    ck_assert_uint_eq(slice.n.accesses, 4);
    ck_assert_uint_eq(slice.cache.n.prefetches, 4);
    ck_assert_uint_eq(slice.cache.n.prefetch_useful, 1);
    stop();
}
END_TEST

/* A prefetch that is requested in one cycle reads the tags in the next cycle, even if the tags are idle in the
 * first. The prefetcher makes this request at 60, when a line arrives. */
START_TEST(a_request_waits_for_the_next_cycle) {
    begin(_i);
    start_pf(LINE);
    pf.then = 6 * LINE;
    packet(MEM_READ, 0, ALL, 1, 0);
    run(20);
    asked(false, 0, ALL);
    fill(asked(false, 1, ALL), ALL, 60);
    run(60);
    asked_nothing();
    run(61);
    asked(false, 6, ALL);
    stop();
}
END_TEST

/* Prefetches without effect: the line is present or pending, the queue is full, no MSHR is free, or a slice does not
 * support the kind of request. */
START_TEST(prefetches_without_effect) {
    begin(_i);
    start_pf(LINE);
    packet(MEM_READ, 2, ALL, 1, 0);
    packet(MEM_READ, 1, ALL, 2, 0); /* requests line 2 */
    run(30);
    ck_assert_int_eq(pf.answer[0], PREFETCH_SENT); /* line 3 */
    ck_assert_int_eq(pf.answer[1], PREFETCH_PENDING);
    fill(asked(false, 2, ALL), ALL, 40);
    asked(false, 1, ALL);
    run(90);
    packet(MEM_READ, 1, ALL, 3, 100); /* joins a pending line */
    run(150);
    ck_assert_int_eq(pf.answer[2], PREFETCH_PRESENT);
    ck_assert_uint_eq(slice.n.lookups, 3);
    const struct prefetch_request lock = {.want = PREFETCH_LOCK}, into = {.want = PREFETCH_INTO_L2},
                                  unlock = {.want = PREFETCH_UNLOCK};
    ck_assert_int_eq(prefetch_ask(pf.place, &lock, now), PREFETCH_NEVER);
    ck_assert_int_eq(prefetch_ask(pf.place, &into, now), PREFETCH_NEVER);
    ck_assert_int_eq(prefetch_ask(pf.place, &unlock, now), PREFETCH_NEVER);
    stop();
    begin(_i);
    cfg.memory.l2_prefetch_queue = 1;
    cfg.l2.mshrs = 2;
    start_pf(LINE);
    packet(MEM_READ, 0, ALL, 1, 0);
    packet(MEM_READ, 4, ALL, 2, 0);
    run(100);
    ck_assert_int_eq(pf.asked[0], PREFETCH_QUEUED);
    ck_assert_int_eq(pf.asked[1], PREFETCH_FULL);
    ck_assert_uint_eq(pf.n_answers, 1);
    ck_assert_int_eq(pf.answer[0], PREFETCH_REFUSED);
    ck_assert_uint_eq(pf.answered[0], 12);
    ck_assert_uint_eq(pf.rooms, 1);
    ck_assert_uint_eq(slice.n.refused, 1);
    stop();
    begin(_i);
    cfg.l2.size = 0;
    start_pf(LINE);
    packet(MEM_READ, 0, ALL, 1, 0);
    run(20);
    ck_assert_int_eq(pf.asked[0], PREFETCH_NEVER);
    stop();
}
END_TEST

/* No prefetch overtakes a stalled access. The access waits for an MSHR from 11 to 60, and the prefetch that the
 * first access caused reads the tags after this access. */
START_TEST(no_prefetch_passes_a_held_access) {
    begin(_i);
    cfg.l2.mshrs = 1;
    start_pf(LINE);
    packet(MEM_READ, 0, ALL, 1, 0);
    packet(MEM_READ, 5, ALL, 2, 0);
    run(40);
    fill(asked(false, 0, ALL), ALL, 60);
    run(59);
    ck_assert_uint_eq(pf.n_answers, 0);
    run(60);
    asked(false, 5, ALL);
    ck_assert_uint_eq(pf.n_answers, 0);
    run(61);
    ck_assert_uint_eq(pf.n_answers, 1);
    ck_assert_int_eq(pf.answer[0], PREFETCH_REFUSED);
    stop();
}
END_TEST

/* With twelve slices and interleaving in pieces of 256 bytes, the line after every second line belongs to another
 * slice. Lines that an SM prefetches into the L2 are also marked as prefetched, but not as prefetched by the prefetcher
 * of the slice. */
START_TEST(lines_of_others) {
    begin(_i);
    cfg.memory.l2_slices = 12;
    cfg.dram.channels = 6;
    cfg.l2.size *= 12;
    memmap_init(&map, &cfg);
    ck_assert(dram_init(&dram, &cfg, 2, cfg.l2.mshrs * 8));
    ck_assert(l2_init(&slice, &cfg, &map, &dram, 0));
    now = 0;
    ck_assert(l2_add_prefetcher(&slice, &pf_ops, &pf, &cfg));
    pf.step = LINE;
    packet(MEM_READ, 0, ALL, 1, 0);
    packet(MEM_READ, 1, ALL, 1, 0);
    run(40);
    ck_assert_int_eq(pf.asked[0], PREFETCH_QUEUED);
    ck_assert_int_eq(pf.asked[1], PREFETCH_ELSEWHERE);
    packet(MEM_PREFETCH, 24, ALL, 4, now);
    run(now + 20);
    packet(MEM_READ, 24, ALL, 5, now);
    run(now + 20);
    const struct prefetch_seen *s = &pf.seen[pf.n_seen - 2];
    ck_assert(s->line == 24 * LINE && s->first_use && s->late && !s->own);
    ck_assert_uint_eq(slice.cache.n.prefetches, 2); /* the prefetched lines are line 24, then line 25 */
    ck_assert_uint_eq(slice.cache.n.prefetch_late, 1);
    stop();
}
END_TEST

SUITE(timing_l2_prefetch) {
    TEST_LOOP(a_prefetch_of_the_slice, 0, 2);
    TEST_LOOP(a_request_waits_for_the_next_cycle, 0, 2);
    TEST_LOOP(prefetches_without_effect, 0, 2);
    TEST_LOOP(no_prefetch_passes_a_held_access, 0, 2);
    TEST_LOOP(lines_of_others, 0, 2);
}
