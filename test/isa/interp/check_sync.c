/* Tests releases and acquires at addresses, and mbarriers, for warps that the test steps by hand. The expected results
 * follow from the rules at the top of isa/interp/check_sync.c (PTX ISA 8.8). */
#include "isa/exec/exec_mbarrier.h"
#include "order_rig.h"

enum { RELAXED = ORDER_RELAXED, ACQUIRE = ORDER_ACQUIRE, RELEASE = ORDER_RELEASE, CTA = ORDER_CTA, FLAG = 0x100 };
static const lanemask_t ALL = LANES_ALL;
static struct order_rig r;
static struct effects fx;
static const struct inst *load, *store, *atom, *init, *arrive, *arrive_tx, *drop, *test_wait, *try_wait, *test_sink;
static opnd_t done; /* the predicate register that wait instructions write */

static const struct inst *on_object(struct asm_program *a, const char *opcode, opnd_t d, opnd_t count) {
    struct inst *in = asm_mem(a, opcode, d, 8, OPND_ZERO, 0);
    in->b = count;
    return in;
}

static void setup(void) {
    struct asm_program *a = asm_new();
    opnd_t v = asm_reg(a, 4);
    done = asm_reg(a, 0);
    load = asm_mem(a, "ld.global.u32", v, 4, OPND_ZERO, 0);
    store = asm_mem(a, "st.global.u32", v, 4, OPND_ZERO, 0);
    atom = asm_mem(a, "atom.global.add.u32", v, 4, OPND_ZERO, 0);
    init = on_object(a, "mbarrier.init.shared.b64", OPND_SINK, asm_const(a, 4, 2));
    arrive = on_object(a, "mbarrier.arrive.shared.b64", OPND_SINK, asm_const(a, 4, 1));
    arrive_tx = on_object(a, "mbarrier.arrive.expect_tx.shared.b64", OPND_SINK, asm_const(a, 4, 8));
    drop = on_object(a, "mbarrier.arrive_drop.shared.b64", OPND_SINK, asm_const(a, 4, 1));
    test_wait = on_object(a, "mbarrier.test_wait.shared.b64", done, asm_const(a, 8, 0));
    try_wait = on_object(a, "mbarrier.try_wait.parity.shared.b64", done, asm_const(a, 4, 0));
    test_sink = on_object(a, "mbarrier.test_wait.shared.b64", OPND_SINK, asm_const(a, 8, 0));
    rig_begin(&r, a);
}
static void teardown(void) { rig_end(&r); }

/* Makes lane 7 of the warp execute instruction `in` at `address`, with the ORDER_ flags `words`. Returns the time of
 * this instruction. */
static uint32_t access_to(uint64_t address, const struct inst *in, int cta, int warp, unsigned words) {
    uint32_t time = rig_step(&r, cta, warp, ALL);
    struct now n = rig_now(&r, cta, warp, (uint8_t)words);
    n.in = in;
    n.reads = in->kind != K_STORE;
    n.writes = in->kind != K_LOAD;
    n.strong = words & CTA ? STRONG_CTA : STRONG_GPU;
    fx.addr[7] = address;
    sync_accesses(&n, &r.k.places, 1 << 7, &fx);
    return time;
}
static uint32_t at_flag(const struct inst *in, int cta, int warp, unsigned words) {
    return access_to(FLAG, in, cta, warp, words);
}
static uint32_t fence(int cta, int warp, unsigned words) {
    uint32_t time = rig_step(&r, cta, warp, ALL);
    const struct now n = rig_now(&r, cta, warp, (uint8_t)words);
    order_fence(&n);
    return time;
}
/* Returns true if a weak access of `warp` of CTA `cta` at `time` is ordered before the current instruction of warp
 * `of_warp` of CTA `of_cta`. */
static bool before(int cta, int warp, uint32_t time, int of_cta, int of_warp) {
    return rig_before(&r, cta, warp, 3, time, WEAK, of_cta, of_warp, 5);
}

/* The writer accesses data at time 1, executes a fence at time 2 and sets the flag at time 3. The reader reads the flag
 * at time 1 and executes a fence at time 2. */
START_TEST(fences_on_both_sides) {
    /* left_out: 0 neither fence, 1 the writer's fence, 2 the reader's fence */
    for (int left_out = 0; left_out < 3; left_out++) {
        rig_end(&r);
        setup();
        rig_step(&r, 0, 0, ALL);
        if (left_out != 1)
            fence(0, 0, 0);
        at_flag(store, 0, 0, RELAXED);
        at_flag(load, 1, 2, RELAXED);
        ck_assert(!before(0, 0, 1, 1, 2)); /* not ordered yet, because the reader has executed no fence */
        if (left_out != 2)
            fence(1, 2, 0);
        ck_assert_int_eq(before(0, 0, 1, 1, 2), !left_out);
        /* not ordered, because an access at the time of the flag comes after the writer's fence */
        ck_assert(!before(0, 0, 3, 1, 2));
    }
}
END_TEST

START_TEST(qualifiers_instead_of_fences) {
    rig_step(&r, 0, 0, ALL);
    ck_assert_uint_eq(at_flag(store, 0, 0, RELEASE), 2);
    at_flag(load, 1, 0, RELAXED);
    ck_assert(!before(0, 0, 1, 1, 0));
    at_flag(load, 1, 1, ACQUIRE);
    ck_assert(before(0, 0, 1, 1, 1) && before(0, 0, 2, 1, 1));
    ck_assert(!before(0, 0, 3, 1, 1));
    ck_assert(!before(0, 0, 1, 1, 0));
    at_flag(store, 1, 2, ACQUIRE); /* a store does not read a value, so it acquires nothing */
    ck_assert(!before(0, 0, 1, 1, 2));
}
END_TEST

/* A store by a thread that has acquired nothing replaces the release at the address. A read-modify-write is added to
 * the release. */
START_TEST(stores_replace_and_atomics_add) {
    rig_step(&r, 0, 0, ALL);
    at_flag(store, 0, 0, RELEASE);
    at_flag(atom, 0, 1, RELAXED);
    at_flag(load, 1, 0, ACQUIRE);
    ck_assert(before(0, 0, 1, 1, 0));
    ck_assert(!before(0, 1, 1, 1, 0)); /* relaxed, without a fence */
    at_flag(atom, 0, 2, RELEASE);
    at_flag(load, 1, 1, ACQUIRE);
    ck_assert(before(0, 0, 1, 1, 1) && before(0, 2, 1, 1, 1));
    at_flag(store, 0, 3, RELAXED);
    at_flag(load, 1, 2, ACQUIRE);
    ck_assert(!before(0, 0, 1, 1, 2) && !before(0, 2, 1, 1, 2));
    at_flag(store, 0, 3, RELEASE);
    at_flag(load, 1, 3, ACQUIRE);
    ck_assert(before(0, 3, 2, 1, 3) && !before(0, 0, 1, 1, 3));
}
END_TEST

/* CUDA's atomicAdd() compiles to an atomic without a qualifier, which acquires. An atomic with .relaxed does not
 * acquire, nor does a load without a qualifier. */
START_TEST(atomics_without_qualifiers) {
    rig_step(&r, 0, 0, ALL);
    at_flag(store, 0, 0, RELEASE);
    at_flag(atom, 1, 0, RELAXED);
    ck_assert(!before(0, 0, 1, 1, 0));
    at_flag(load, 1, 1, 0);
    ck_assert(!before(0, 0, 1, 1, 1));
    at_flag(atom, 1, 2, 0);
    ck_assert(before(0, 0, 1, 1, 2));
}
END_TEST

/* A release of CTA scope can be acquired only in its own CTA. A release by another CTA at the same address
 * replaces it. */
START_TEST(scopes) {
    rig_step(&r, 0, 0, ALL);
    at_flag(store, 0, 0, RELEASE | CTA);
    at_flag(load, 0, 1, ACQUIRE);
    ck_assert(before(0, 0, 1, 0, 1));
    at_flag(load, 1, 1, ACQUIRE);
    ck_assert(!before(0, 0, 1, 1, 1));
    at_flag(load, 0, 2, RELAXED);
    ck_assert(!before(0, 0, 1, 0, 2));
    fence(0, 2, CTA);
    ck_assert(before(0, 0, 1, 0, 2));
    /* An atomic usually adds to the release at its address. It replaces a release of CTA scope by another CTA. */
    at_flag(atom, 1, 2, RELEASE | CTA);
    at_flag(load, 1, 3, ACQUIRE | CTA);
    ck_assert(before(1, 2, 1, 1, 3));
    at_flag(load, 0, 3, ACQUIRE);
    ck_assert(!before(0, 0, 1, 0, 3));
    ck_assert(!before(1, 2, 1, 0, 3));
    /* An acquire of CTA scope acquires nothing from another CTA, whatever the scope of the release. */
    at_flag(store, 0, 0, RELEASE);
    at_flag(load, 1, 0, ACQUIRE | CTA);
    ck_assert(!before(0, 0, 1, 1, 0));
    at_flag(load, 1, 0, ACQUIRE);
    ck_assert(before(0, 0, 1, 1, 0));
}
END_TEST

/* A fence of CTA scope comes before a relaxed store. Threads of the same CTA can acquire this store, even if the store
 * itself has GPU scope. */
START_TEST(coverage_of_a_cta_fence) {
    for (int narrow = 0; narrow < 2; narrow++) {
        rig_end(&r);
        setup();
        rig_step(&r, 0, 0, ALL);
        fence(0, 0, CTA);
        at_flag(store, 0, 0, RELAXED | (narrow ? CTA : 0));
        at_flag(load, 0, 1, ACQUIRE);
        at_flag(load, 1, 1, ACQUIRE);
        ck_assert(before(0, 0, 1, 0, 1));
        ck_assert(!before(0, 0, 1, 1, 1));
        fence(0, 0, 0);
        at_flag(store, 0, 0, RELAXED | (narrow ? CTA : 0));
        at_flag(load, 1, 2, ACQUIRE);
        ck_assert_int_eq(before(0, 0, 1, 1, 2), !narrow);
    }
}
END_TEST

/* A release of CTA scope releases to other CTAs the accesses that earlier fences of GPU scope have covered. */
START_TEST(a_narrow_release_after_a_wide_fence) {
    rig_step(&r, 0, 0, ALL);
    ck_assert_uint_eq(fence(0, 0, 0), 2);
    ck_assert_uint_eq(rig_step(&r, 0, 0, ALL), 3);
    at_flag(store, 0, 0, RELEASE | CTA);
    at_flag(load, 1, 0, ACQUIRE);
    ck_assert(before(0, 0, 2, 1, 0));
    ck_assert(!before(0, 0, 3, 1, 0));
    at_flag(load, 0, 1, ACQUIRE | CTA);
    ck_assert(before(0, 0, 3, 0, 1));
}
END_TEST

/* The test uses far more addresses than the initial table holds (64), and one of them is address 0. Each address must
 * keep its own release. The five lanes of an instruction access four addresses: lanes 0 and 1 access the same one. */
START_TEST(many_places) {
    struct now n = rig_now(&r, 0, 0, RELEASE);
    n.in = store;
    n.writes = true;
    for (uint32_t i = 0; i < 1000; i += 4) {
        rig_step(&r, 0, 0, ALL);
        for (uint32_t l = 0; l < 5; l++)
            fx.addr[l] = 4ull * (i + (l ? l - 1 : 0));
        sync_accesses(&n, &r.k.places, 0x1f, &fx);
    }
    ck_assert_uint_eq(r.k.places.n, 1000);
    ck_assert_uint_ge(r.k.places.size, 2000);
    ck_assert_uint_le(r.k.places.size, 4096);
    for (uint32_t i = 0; i < 1000; i += 37) {
        check_cta_start(r.c[1]);
        access_to(4ull * i, load, 1, 0, ACQUIRE);
        ck_assert(before(0, 0, i / 4 + 1, 1, 0));
        ck_assert(!before(0, 0, i / 4 + 2, 1, 0));
    }
    access_to(4000, load, 1, 1, ACQUIRE);
    access_to(4000, store, 1, 1, RELAXED); /* releases nothing, so the table gets no entry for the address */
    ck_assert(!before(0, 0, 1, 1, 1));
    ck_assert_uint_eq(r.k.places.n, 1000);
    sync_forget(&r.k.places);
    access_to(0, load, 1, 2, ACQUIRE);
    ck_assert(!before(0, 0, 1, 1, 2));
    ck_assert_uint_eq(r.k.places.n, 0);
}
END_TEST

/* ---- mbarriers ---- */

enum { OBJECT = 64 };

/* Returns the word of an mbarrier object that is in phase `phase` and still waits for `pending` of its two arrivals. */
static uint64_t word_of(uint32_t pending, uint64_t phase) {
    return (uint64_t)pending << MBARRIER_PENDING | 2ull << MBARRIER_EXPECTED | phase << MBARRIER_PHASE |
           1ull << MBARRIER_LIVE;
}

/* Makes `lanes` of warp `warp` of CTA 0 execute `in` at the mbarrier object, which contains `word` after the
 * instruction. Returns the time of the instruction. */
static uint32_t mbarrier(const struct inst *in, int warp, lanemask_t lanes, unsigned words, uint64_t word) {
    uint32_t time = rig_step(&r, 0, warp, ALL);
    struct now n = rig_now(&r, 0, warp, (uint8_t)words);
    n.in = in;
    n.strong = in == init ? WEAK : STRONG_CTA;
    for (int l = 0; l < WARP_LANES; l++)
        fx.addr[l] = OBJECT;
    memcpy(r.cta[0]->shared + OBJECT, &word, sizeof word);
    sync_mbarrier(&n, n.c, (rowmask_t)lanes, fx.addr);
    return time;
}
static uint32_t wait_for(const struct inst *in, int warp, lanemask_t answer, unsigned words, uint64_t word) {
    memcpy(reg_ptr(&r.cta[0]->warps[warp], done), &answer, sizeof answer);
    return mbarrier(in, warp, 1 << 4, words, word);
}

/* Warps 0 and 1 arrive. Warp 2 acquires from both when its wait returns that the phase is complete. Warp 3 has arrived,
 * alone, in the next phase; a wait for the previous phase does not acquire from warp 3. */
START_TEST(a_phase_orders) {
    mbarrier(init, 0, 1, 0, word_of(2, 0));
    ck_assert_uint_eq(mbarrier(arrive, 0, 1, 0, word_of(1, 0)), 2);
    wait_for(test_wait, 2, 0, 0, word_of(1, 0));
    wait_for(test_wait, 2, 1 << 4, 0, word_of(1, 0)); /* the result is false, because no phase is complete yet */
    ck_assert(!before(0, 0, 2, 0, 2));
    ck_assert_uint_eq(mbarrier(arrive, 1, 1, 0, word_of(2, 1)), 1);
    wait_for(test_wait, 2, ~(1u << 4), 0, word_of(2, 1)); /* the predicate is true only in lanes that do not wait */
    ck_assert(!before(0, 0, 2, 0, 2));
    wait_for(test_sink, 2, 1 << 4, 0, word_of(2, 1)); /* the program ignores the result of the wait */
    ck_assert(!before(0, 0, 2, 0, 2));
    mbarrier(arrive, 3, 1, 0, word_of(1, 1));
    wait_for(test_wait, 2, 1 << 4, 0, word_of(1, 1));
    ck_assert(before(0, 0, 2, 0, 2) && before(0, 1, 1, 0, 2));
    ck_assert(!before(0, 0, 3, 0, 2) && !before(0, 3, 1, 0, 2));
    mbarrier(arrive, 3, 1, 0, word_of(2, 0)); /* warp 3 completes the second phase at its time 2 */
    wait_for(try_wait, 1, 1 << 4, 0, word_of(2, 0));
    ck_assert(before(0, 3, 2, 0, 1) && before(0, 0, 2, 0, 1));
}
END_TEST

/* Two lanes that arrive in one instruction complete the phase of two arrivals. If four lanes arrive, two of them belong
 * to the next phase, which is then complete, too, so that the parity is the same as before. A lane that arrives with a
 * count of transactions is one arrival. */
START_TEST(arrivals_of_one_instruction) {
    mbarrier(init, 0, 1, 0, word_of(2, 0));
    mbarrier(arrive, 0, 3, 0, word_of(2, 1));
    wait_for(try_wait, 2, 1 << 4, 0, word_of(2, 1));
    ck_assert(before(0, 0, 2, 0, 2));
    mbarrier(arrive, 1, 0xf, 0, word_of(2, 1));
    wait_for(try_wait, 2, 1 << 4, 0, word_of(2, 1));
    ck_assert(before(0, 1, 1, 0, 2));
    mbarrier(arrive_tx, 3, 1, 0, word_of(1, 1));
    wait_for(try_wait, 2, 1 << 4, 0, word_of(1, 1));
    ck_assert(!before(0, 3, 1, 0, 2));
    mbarrier(drop, 0, 1, 0, word_of(1, 0));
    wait_for(try_wait, 2, 1 << 4, 0, word_of(1, 0));
    ck_assert(before(0, 3, 1, 0, 2) && before(0, 0, 3, 0, 2));
}
END_TEST

/* A relaxed arrival releases the accesses that an earlier fence covered. A relaxed wait acquires them at its next
 * fence. */
START_TEST(relaxed_phases) {
    mbarrier(init, 0, 1, 0, word_of(2, 0));
    ck_assert_uint_eq(fence(0, 0, CTA), 2);
    mbarrier(arrive, 0, 1, RELAXED, word_of(1, 0));
    mbarrier(arrive, 1, 1, RELAXED, word_of(2, 1));
    wait_for(try_wait, 2, 1 << 4, RELAXED, word_of(2, 1));
    ck_assert(!before(0, 0, 2, 0, 2));
    fence(0, 2, CTA);
    ck_assert(before(0, 0, 2, 0, 2));
    ck_assert(!before(0, 0, 3, 0, 2) && !before(0, 1, 1, 0, 2));
}
END_TEST

/* An object that is initialised again has no completed phases and no arrivals. */
START_TEST(an_object_is_initialised_again) {
    mbarrier(init, 0, 1, 0, word_of(2, 0));
    mbarrier(arrive, 0, 3, 0, word_of(2, 1));
    mbarrier(arrive, 3, 1, 0, word_of(1, 1));
    mbarrier(init, 1, 1, 0, word_of(2, 0));
    wait_for(try_wait, 2, 1 << 4, 0, word_of(2, 0));
    ck_assert(!before(0, 0, 2, 0, 2));
    mbarrier(arrive, 1, 3, 0, word_of(2, 1));
    wait_for(try_wait, 2, 1 << 4, 0, word_of(2, 1));
    ck_assert(before(0, 1, 2, 0, 2));
    ck_assert(!before(0, 0, 2, 0, 2) && !before(0, 3, 1, 0, 2));
}
END_TEST

/* Lanes 0 and 2 arrive at one object and complete its phase. In the same instruction, lane 1 arrives at another object,
 * which waits for one more arrival. */
START_TEST(objects_of_one_instruction) {
    uint64_t word = word_of(2, 0);
    struct now n = rig_now(&r, 0, 0, 0);
    n.in = init;
    rig_step(&r, 0, 0, ALL);
    for (int l = 0; l < WARP_LANES; l++)
        fx.addr[l] = l == 1 ? OBJECT + 8 : OBJECT;
    memcpy(r.cta[0]->shared + OBJECT, &word, sizeof word);
    memcpy(r.cta[0]->shared + OBJECT + 8, &word, sizeof word);
    sync_mbarrier(&n, n.c, 3, fx.addr);
    n.in = arrive;
    n.strong = STRONG_CTA;
    word = word_of(2, 1);
    memcpy(r.cta[0]->shared + OBJECT, &word, sizeof word);
    word = word_of(1, 0);
    memcpy(r.cta[0]->shared + OBJECT + 8, &word, sizeof word);
    rig_step(&r, 0, 0, ALL);
    sync_mbarrier(&n, n.c, 7, fx.addr);
    ck_assert_uint_eq(r.c[0]->places.n, 2);
    for (int other = 1; other >= 0; other--) {
        struct now wait = rig_now(&r, 0, 2, 0);
        lanemask_t answer = 1;
        memcpy(reg_ptr(&r.cta[0]->warps[2], done), &answer, sizeof answer);
        wait.in = test_wait;
        wait.strong = STRONG_CTA;
        rig_step(&r, 0, 2, ALL);
        fx.addr[0] = OBJECT + 8ull * (uint64_t)other;
        sync_mbarrier(&wait, wait.c, 1, fx.addr);
        ck_assert_int_eq(before(0, 0, 2, 0, 2), !other);
    }
}
END_TEST

/* Lanes 1 and 2 arrive at different objects, each of which waits for one more arrival. Lane 0 does not execute the
 * instruction. */
START_TEST(lanes_that_do_not_arrive) {
    const uint64_t before_it = word_of(2, 0), after = word_of(1, 0);
    struct now n = rig_now(&r, 0, 0, 0);
    for (int made = 0; made < 2; made++) {
        n.in = made ? arrive : init;
        n.strong = made ? STRONG_CTA : WEAK;
        rig_step(&r, 0, 0, ALL);
        fx.addr[0] = 0;
        fx.addr[1] = OBJECT;
        fx.addr[2] = OBJECT + 8;
        memcpy(r.cta[0]->shared + OBJECT, made ? &after : &before_it, sizeof after);
        memcpy(r.cta[0]->shared + OBJECT + 8, made ? &after : &before_it, sizeof after);
        sync_mbarrier(&n, n.c, 6, fx.addr);
    }
    wait_for(test_wait, 2, 1 << 4, 0, after);
    ck_assert(!before(0, 0, 2, 0, 2));
}
END_TEST

SUITE(isa_check_sync) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(fences_on_both_sides);
    TEST(qualifiers_instead_of_fences);
    TEST(stores_replace_and_atomics_add);
    TEST(atomics_without_qualifiers);
    TEST(scopes);
    TEST(coverage_of_a_cta_fence);
    TEST(a_narrow_release_after_a_wide_fence);
    TEST(many_places);
    TEST(a_phase_orders);
    TEST(arrivals_of_one_instruction);
    TEST(relaxed_phases);
    TEST(an_object_is_initialised_again);
    TEST(objects_of_one_instruction);
    TEST(lanes_that_do_not_arrive);
}
