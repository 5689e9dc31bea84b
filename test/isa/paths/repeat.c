/* Tests two predictions. The first is that an instruction leaves memory unchanged. It need not be made for every such
 * instruction, but must never be made for an instruction that changes memory. The second is that a path repeats, which
 * means equal PC, lanes and registers; cycles of any length must be found. */
#include "isa/paths/repeat.h"
#include "isa/exec/exec_atom.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static struct cta *cta;
static struct launch launch;
static struct effects fx;
static opnd_t zero = OPND_ZERO;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    a->p.shared_bytes = 256;
}
static void teardown(void) {
    cta_free(cta);
    cta = NULL;
    mem_free_all(&mem);
    asm_free(a);
}
/* Starts a warp after all instructions and registers were added. */
static struct warp *begin(void) {
    asm_end(a);
    launch = asm_launch(a, &mem, 1, 32);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    return &cta->warps[0];
}

/* ---- instructions ---- */

static const struct {
    const char *opcode;
    enum repeat all, some; /* prediction if all live lanes execute the instruction, and if only some of them do */
} cases[] = {
    {"add.u32", REPEAT_FINE, REPEAT_FINE},
    {"cvt.u32.u16", REPEAT_FINE, REPEAT_FINE},
    {"ld.global.u32", REPEAT_FINE, REPEAT_FINE},
    {"membar.gl", REPEAT_FINE, REPEAT_FINE},
    {"prefetch.global.L1", REPEAT_FINE, REPEAT_FINE},
    {"bra", REPEAT_FINE, REPEAT_FINE},
    {"brx.idx", REPEAT_FINE, REPEAT_FINE},
    {"bar.warp.sync", REPEAT_FINE, REPEAT_FINE},
    {"nanosleep.u32", REPEAT_FINE, REPEAT_FINE},
    {"tex.1d.v4.f32.s32", REPEAT_FINE, REPEAT_FINE},
    {"vote.any.pred", REPEAT_FINE, REPEAT_ALONE}, /* depends on other lanes */
    {"activemask.b32", REPEAT_FINE, REPEAT_ALONE},
    {"lop3.and.b32", REPEAT_FINE, REPEAT_FINE},
    {"#sreg", REPEAT_UNKNOWN, REPEAT_UNKNOWN}, /* depends on the clock */
    {"ret", REPEAT_UNKNOWN, REPEAT_UNKNOWN},
    {"bar.sync", REPEAT_ALONE, REPEAT_ALONE},
    {"st.global.u32", REPEAT_CHANGES, REPEAT_CHANGES},
    {"st.local.u32", REPEAT_UNKNOWN, REPEAT_UNKNOWN}, /* st.local changes memory, but no other thread can read it */
    {"sust.b.1d.b32.trap", REPEAT_CHANGES, REPEAT_CHANGES},
    {"#vprintf", REPEAT_CHANGES, REPEAT_CHANGES}, /* a system call prints text or changes the heap */
    {"exit", REPEAT_CHANGES, REPEAT_CHANGES},
    {"trap", REPEAT_CHANGES, REPEAT_CHANGES},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

START_TEST(repetition_of_instructions) {
    setup();
    const struct inst *in = asm_op(a, cases[_i].opcode, OPND_SINK, zero, zero, zero);
    struct warp *w = begin();
    fx.lanes = LANES_ALL;
    ck_assert_msg(inst_repeats(w, in, LANES_ALL, &fx) == cases[_i].all, "%s", cases[_i].opcode);
    ck_assert_msg(inst_repeats(w, in, 0xff, &fx) == cases[_i].some, "%s", cases[_i].opcode);
    w->live = 0xff; /* now all live lanes execute the instruction */
    ck_assert_msg(inst_repeats(w, in, 0xff, &fx) == cases[_i].all, "%s", cases[_i].opcode);
    teardown();
}
END_TEST

/* Lanes 0 to 3 execute an atomic, either each lane on its own word (`apart`), or all on one word. Every word is 5
 * before. `result`: the instruction returns the old value. `fine`: the prediction is that memory stays unchanged. */
static const struct {
    const char *opcode;
    unsigned bytes;
    uint64_t b, c;
    bool result, apart, fine;
} atomics[] = {
    {"atom.global.add.u32", 4, 0, 0, true, true, true},
    {"atom.global.add.u32", 4, 1, 0, true, true, false},
    {"atom.global.add.u32", 4, 0, 0, true, false, true},
    {"atom.global.add.u32", 4, 1, 0, true, false, false},
    {"atom.global.exch.b32", 4, 5, 0, true, true, true},
    {"atom.global.exch.b32", 4, 6, 0, true, true, false},
    {"atom.global.exch.b32", 4, 6, 0, true, false, false}, /* later lanes read the value that the first lane stored */
    {"atom.global.cas.b32", 4, 4, 7, true, true, true},
    {"atom.global.cas.b32", 4, 5, 7, true, true, false},
    {"atom.global.cas.b32", 4, 5, 5, true, true, true},
    {"atom.global.max.u64", 8, 5, 0, true, true, true},
    {"atom.global.max.u64", 8, 1ull << 40 | 5, 0, true, true, false},
    {"atom.shared.and.b32", 4, 5, 0, true, true, true},
    {"atom.shared.and.b32", 4, 4, 0, true, true, false},
    {"red.global.add.u32", 4, 1, 0, false, true, false}, /* the old value is unknown */
    {"red.global.add.u32", 4, 0, 0, false, true, false},
};
enum { N_ATOMICS = sizeof atomics / sizeof atomics[0] };

START_TEST(atomics_that_leave_memory_unchanged) {
    setup();
    unsigned bytes = atomics[_i].bytes;
    bool shared = strstr(atomics[_i].opcode, ".shared") != NULL;
    uint64_t base = shared ? 0 : mem_alloc(&mem, 256, 0, NULL, false);
    opnd_t at = asm_reg(a, 8), d = atomics[_i].result ? asm_reg(a, bytes) : OPND_SINK;
    struct inst *in = asm_mem(a, atomics[_i].opcode, d, bytes, at, 0);
    in->b = asm_const(a, bytes, atomics[_i].b);
    in->c = asm_const(a, bytes, atomics[_i].c);
    struct warp *w = begin();
    uint64_t *address = reg_ptr(w, at), five = 5;
    for (int l = 0; l < 4; l++) {
        address[l] = base + (atomics[_i].apart ? 8u * (unsigned)l : 0);
        if (shared)
            memcpy(cta->shared + address[l], &five, 8);
        else
            ck_assert(mem_write(&mem, address[l], &five, 8));
    }
    exec_inst(w, in, 0xf, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    enum repeat expect = atomics[_i].fine ? REPEAT_FINE : REPEAT_CHANGES;
    ck_assert_msg(inst_repeats(w, in, 0xf, &fx) == expect, "%d: %s", _i, atomics[_i].opcode);
    struct atom_op later;
    w->capture = &later; /* the SM performs the atomic later, so its effect is unknown */
    ck_assert_int_eq(inst_repeats(w, in, 0xf, &fx), REPEAT_CHANGES);
    fx.lanes = 0;
    ck_assert_int_eq(inst_repeats(w, in, 0xf, &fx), REPEAT_FINE);
    teardown();
}
END_TEST

/* Only one of four lanes changes its word. */
START_TEST(one_changing_lane_counts) {
    setup();
    uint64_t base = mem_alloc(&mem, 64, 0, NULL, false);
    opnd_t at = asm_reg(a, 8), d = asm_reg(a, 4), v = asm_reg(a, 4);
    struct inst *in = asm_mem(a, "atom.global.add.u32", d, 4, at, 0);
    in->b = v;
    struct warp *w = begin();
    for (int l = 0; l < 4; l++) {
        ((uint64_t *)reg_ptr(w, at))[l] = base + 4u * (unsigned)l;
        ((uint32_t *)reg_ptr(w, v))[l] = l == _i;
    }
    exec_inst(w, in, 0xf, &fx);
    ck_assert_int_eq(inst_repeats(w, in, 0xf, &fx), REPEAT_CHANGES);
    teardown();
}
END_TEST

/* Words inside a buffer, up to its end, are compared. A word outside the buffer, or partly outside, is not predicted to
 * be unchanged. */
START_TEST(words_at_the_end_of_a_buffer) {
    setup();
    uint64_t base = mem_alloc(&mem, 64, 0, NULL, false);
    opnd_t at = asm_reg(a, 8), d = asm_reg(a, 4);
    const struct inst *in = asm_mem(a, "atom.global.or.b32", d, 4, at, 0);
    struct warp *w = begin();
    ((uint64_t *)reg_ptr(w, at))[0] = base + 60;
    exec_inst(w, in, 1, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_int_eq(inst_repeats(w, in, 1, &fx), REPEAT_FINE);
    fx.addr[0] = base + 62;
    ck_assert_int_eq(inst_repeats(w, in, 1, &fx), REPEAT_CHANGES);
    fx.addr[0] = base + (1ull << 40);
    ck_assert_int_eq(inst_repeats(w, in, 1, &fx), REPEAT_CHANGES);
    teardown();
}
END_TEST

/* ---- paths ---- */

static struct repeat_warp r;
static opnd_t reg[N_REG_AREAS]; /* areas for registers of 0 (predicates), 1, 2, 4, 8 and 16 bytes per lane */

/* Starts a warp with two registers of each size. Each size has its own area. reg[] holds the second register of each
 * size. */
static struct warp *begin_paths(void) {
    memset(&r, 0, sizeof r);
    setup();
    for (int c = 0; c < N_REG_AREAS; c++) {
        unsigned bytes = c ? 1u << (c - 1) : 0;
        a->p.reg_area[c] = a->p.reg_bytes;
        asm_reg(a, bytes);
        reg[c] = asm_reg(a, bytes);
    }
    a->p.reg_area[N_REG_AREAS] = a->p.reg_bytes;
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    return begin();
}
static void end_paths(void) {
    repeat_free(&r);
    teardown();
}

START_TEST(a_path_repeats_itself) {
    struct warp *w = begin_paths();
    uint32_t *v = reg_ptr(w, reg[3]);
    repeat_visit(&r, w, 7, LANES_ALL);
    ck_assert_uint_eq(r.repeats, 0);
    v[31]++;
    repeat_visit(&r, w, 7, LANES_ALL);
    ck_assert_uint_eq(r.repeats, 0);
    repeat_visit(&r, w, 7, LANES_ALL);
    ck_assert_uint_eq(r.repeats, LANES_ALL);
    ck_assert_uint_eq(r.visits, 3);
    repeat_forget(&r);
    ck_assert_uint_eq(r.repeats, 0);
    ck_assert_uint_eq(r.visits, 0);
    repeat_visit(&r, w, 7, LANES_ALL); /* repeat_forget() cleared all state, so this counts as the first visit */
    ck_assert_uint_eq(r.repeats, 0);
    repeat_visit(&r, w, 8, LANES_ALL); /* another branch, or other lanes, are another path */
    repeat_visit(&r, w, 7, 0xff);
    ck_assert_uint_eq(r.repeats, 0);
    repeat_visit(&r, w, 7, 0xff);
    ck_assert_uint_eq(r.repeats, 0xff);
    repeat_visit(&r, w, 8, LANES_ALL);
    ck_assert_uint_eq(r.repeats, LANES_ALL);
    end_paths();
}
END_TEST

/* The path has lanes 4 to 7. A changed register of one of these lanes ends the repetition, for each register size and
 * even in the last byte. A changed register of another lane does not. */
START_TEST(registers_of_the_path_count) {
    for (int mine = 0; mine < 2; mine++) {
        struct warp *w = begin_paths();
        unsigned bytes = _i ? 1u << (_i - 1) : 0;
        unsigned char *v = reg_ptr(w, reg[_i]);
        repeat_visit(&r, w, 7, 0xf0);
        unsigned lane = mine ? 7 : 8;
        if (bytes)
            v[lane * bytes + bytes - 1] ^= 0x80;
        else
            v[0] ^= 1u << (mine ? 7 : 3);
        repeat_visit(&r, w, 7, 0xf0);
        ck_assert_uint_eq(r.repeats, mine ? 0 : 0xf0);
        if (bytes)
            v[4 * bytes] ^= 1;
        else
            v[0] ^= 1u << 4;
        r.repeats = 0;
        repeat_visit(&r, w, 7, 0xf0);
        ck_assert_uint_eq(r.repeats, 0);
        end_paths();
    }
}
END_TEST

/* A path has `before` different iterations, then a cycle of `length` iterations. Snapshots are taken after 1, 2, 4, 8
 * ... visits of the branch. The cycle is found by the first snapshot that is inside the cycle and that is kept for at
 * least `length` visits. This takes at most 4 (before + length) visits. */
START_TEST(cycles_of_any_length_are_found) {
    static const struct {
        uint32_t before, length;
    } cycles[] = {{0, 1}, {0, 2}, {0, 3}, {5, 1}, {7, 7}, {100, 3}, {3, 100}, {64, 64}};
    struct warp *w = begin_paths();
    uint32_t *v = reg_ptr(w, reg[3]), visits = 0;
    uint32_t before = cycles[_i].before, length = cycles[_i].length;
    while (!r.repeats && visits < 10000) {
        v[0] = visits < before ? 1000 + visits : (visits - before) % length;
        repeat_visit(&r, w, 7, LANES_ALL);
        visits++;
    }
    ck_assert_uint_gt(visits, before + length); /* the cycle must not be found before it has repeated once */
    ck_assert_uint_le(visits, 4 * (before + length) + 1);
    end_paths();
}
END_TEST

START_TEST(a_counting_path_does_not_repeat) {
    struct warp *w = begin_paths();
    uint32_t *v = reg_ptr(w, reg[3]);
    for (v[5] = 0; v[5] < 5000; v[5]++)
        repeat_visit(&r, w, 7, LANES_ALL);
    ck_assert_uint_eq(r.repeats, 0);
    end_paths();
}
END_TEST

/* The search tracks at most one path for each lane of the warp. It never says that a further path repeats. */
START_TEST(more_paths_than_lanes) {
    struct warp *w = begin_paths();
    for (int round = 0; round < 3; round++)
        for (uint32_t pc = 0; pc < WARP_LANES + 1; pc++)
            repeat_visit(&r, w, pc, pc < WARP_LANES ? 1u << pc : 3u << 30);
    ck_assert_uint_eq(r.n, WARP_LANES);
    ck_assert_uint_eq(r.repeats, LANES_ALL);
    repeat_forget(&r);
    for (uint32_t pc = 0; pc < WARP_LANES; pc++)
        repeat_visit(&r, w, pc, 1);
    for (int round = 0; round < 3; round++)
        repeat_visit(&r, w, WARP_LANES, 2);
    ck_assert_uint_eq(r.repeats, 0);
    end_paths();
}
END_TEST

/* In a loop that waits for other threads, iterations are counted, whatever the registers contain. From the 256th
 * iteration on, the lanes count as repeating. repeat_unknown(), which is called after a clock was read, keeps this
 * count. repeat_again(), which is called after other warps have run, reduces it, so that four more iterations are
 * needed. repeat_forget() resets it. */
START_TEST(iterations_of_waiting_loops) {
    static struct repeat_warp known;
    for (int i = 0; i < 255; i++) {
        repeat_wait(&known, 0x5);
        repeat_unknown(&known);
        ck_assert_uint_eq(known.repeats, 0);
    }
    repeat_wait(&known, 0x1);
    ck_assert_uint_eq(known.repeats, 0x1);
    repeat_unknown(&known);
    ck_assert_uint_eq(known.repeats, 0x1);
    repeat_wait(&known, 0x4);
    ck_assert_uint_eq(known.repeats, 0x5);
    repeat_again(&known); /* keeps 251 iterations */
    for (int i = 0; i < 4; i++)
        repeat_wait(&known, 0x5);
    ck_assert_uint_eq(known.repeats, 0);
    repeat_wait(&known, 0x4);
    ck_assert_uint_eq(known.repeats, 0x4);
    repeat_forget(&known);
    repeat_wait(&known, 0x5);
    ck_assert_uint_eq(known.repeats, 0);
    repeat_free(&known);
}
END_TEST

SUITE(isa_repeat) {
    TEST_LOOP(repetition_of_instructions, 0, N_CASES);
    TEST_LOOP(atomics_that_leave_memory_unchanged, 0, N_ATOMICS);
    TEST_LOOP(one_changing_lane_counts, 0, 4);
    TEST(words_at_the_end_of_a_buffer);
    TEST(a_path_repeats_itself);
    TEST_LOOP(registers_of_the_path_count, 0, N_REG_AREAS);
    TEST_LOOP(cycles_of_any_length_are_found, 0, 8);
    TEST(a_counting_path_does_not_repeat);
    TEST(more_paths_than_lanes);
    TEST(iterations_of_waiting_loops);
}
