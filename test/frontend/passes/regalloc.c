/* Tests liveness and register allocation against other algorithms. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"

enum { MAX_N = 400, MAX_V = 40 };

/* A program that a test builds itself: instructions with the registers that they read and write. */
struct made {
    struct ir ir;
    struct function tree;
};

static struct made *make(uint32_t n_vregs) {
    struct made *m = calloc(1, sizeof *m);
    static const enum reg_class classes[] = {RC_32, RC_64, RC_PRED, RC_32};
    m->ir.tmp = arena_new(0);
    m->ir.keep = arena_new(0);
    m->ir.kernel = "made";
    ir_vreg(&m->ir, RC_128, 0, NULL, 0);
    for (uint32_t v = 1; v < n_vregs; v++)
        ir_vreg(&m->ir, classes[v % 4], 0, NULL, 0);
    m->ir.functions = arena_alloc(m->ir.tmp, sizeof *m->ir.functions);
    m->ir.functions[0] = (struct ir_function){.name = "made", .is_entry = true};
    m->ir.n_functions = 1;
    return m;
}

static void unmake(struct made *m) {
    arena_free(m->ir.tmp);
    arena_free(m->ir.keep);
    free(m);
}

static void add(struct made *m, enum inst_kind kind, uint32_t target, uint32_t guard, const uint32_t *reads,
                unsigned n_reads, const uint32_t *writes, unsigned n_writes) {
    struct ir *ir = &m->ir;
    if (ir->n == ir->cap) {
        uint32_t cap = ir->cap;
        ir->code = ir_grow(ir->tmp, ir->code, ir->n, &cap, sizeof *ir->code);
        ir->info = ir_grow(ir->tmp, ir->info, ir->n, &ir->cap, sizeof *ir->info);
    }
    ir->code[ir->n] = (struct inst){.kind = (uint8_t)kind, .guard = guard, .target = target};
    ir->info[ir->n++] =
        (struct inst_info){.regs = ir->n_regs, .n_reads = (uint8_t)n_reads, .n_writes = (uint8_t)n_writes};
    for (unsigned i = 0; i < n_reads + n_writes; i++) {
        ir->regs = IR_ROOM(ir, ir->regs, ir->n_regs, ir->cap_regs);
        ir->regs[ir->n_regs++] = i < n_reads ? reads[i] : writes[i - n_reads];
    }
}

static void finish(struct made *m) {
    m->ir.functions[0].end = m->ir.n;
    ck_assert(pass_frames(&m->ir));
    ck_assert(pass_cfg(&m->ir));
    ck_assert(pass_liveness(&m->ir));
    ck_assert(pass_regalloc(&m->ir));
}

/* The sets of live registers before and after each instruction, as bit sets. textbook() computes them by iteration to a
 * fixed point. */
struct flow {
    /* filled[i]: set of registers that some path to instruction i writes */
    uint64_t live_out[MAX_N], live_in[MAX_N], filled[MAX_N];
};

static void successors(const struct ir *ir, uint32_t i, uint32_t out[2], int *n) {
    const struct inst *in = &ir->code[i];
    *n = 0;
    if (in->kind == K_BRANCH)
        out[(*n)++] = ir->blocks[in->target].begin;
    if (!inst_never_falls_through(in))
        out[(*n)++] = i + 1;
}

static void textbook(const struct ir *ir, struct flow *f) {
    memset(f, 0, sizeof *f);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = ir->n; i-- > 0;) {
            const struct inst_info *info = &ir->info[i];
            uint64_t out = 0, in, reads = 0, writes = 0;
            uint32_t succ[2];
            int n;
            successors(ir, i, succ, &n);
            for (unsigned k = 0; k < info->n_reads; k++)
                reads |= 1ull << ir->regs[info->regs + k];
            for (unsigned k = 0; k < info->n_writes; k++)
                writes |= 1ull << ir->regs[info->regs + info->n_reads + k];
            for (int k = 0; k < n; k++) {
                out |= f->live_in[succ[k]];
                uint64_t filled = f->filled[i] | writes | f->filled[succ[k]];
                changed |= filled != f->filled[succ[k]];
                f->filled[succ[k]] = filled;
            }
            in = reads | (ir->code[i].guard == NO_GUARD ? out & ~writes : out);
            changed |= out != f->live_out[i] || in != f->live_in[i];
            f->live_out[i] = out;
            f->live_in[i] = in;
        }
    }
}

static bool same_place(const struct ir *ir, uint32_t a, uint32_t b) {
    uint32_t a_end = ir->vregs[a].offset + class_slot_bytes(ir->vregs[a].cls);
    uint32_t b_end = ir->vregs[b].offset + class_slot_bytes(ir->vregs[b].cls);
    return ir->vregs[a].offset < b_end && ir->vregs[b].offset < a_end;
}

/* Checks that after each instruction, the registers that the instruction wrote and all live registers are in different
 * slots. */
static void check_interference(const struct ir *ir) {
    static struct flow f;
    textbook(ir, &f);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst_info *info = &ir->info[i];
        uint64_t kept = f.live_out[i] & f.filled[i], before = f.live_in[i] & f.filled[i];
        for (unsigned k = 0; k < info->n_writes; k++)
            kept |= 1ull << ir->regs[info->regs + info->n_reads + k];
        for (unsigned k = 0; k < info->n_reads && inst_keeps_sources(ir, &ir->code[i], info); k++)
            if (before >> ir->regs[info->regs + k] & 1)
                kept |= 1ull << ir->regs[info->regs + k];
        for (uint32_t a = 1; a < ir->n_vregs; a++)
            for (uint32_t b = 1; b < a; b++)
                if ((kept >> a & 1) && (kept >> b & 1) && ir->vregs[a].written && ir->vregs[b].written)
                    ck_assert_msg(!same_place(ir, a, b), "registers %u and %u share after instruction %u", a, b, i);
    }
}

/* Makes random instructions: one in six is a branch to a random place, one in eight has a guard, and some write two
 * registers. */
START_TEST(no_two_live_registers_share) {
    uint64_t seed = 777u + (uint32_t)_i * 7919u;
    uint32_t n = 60 + (uint32_t)_i % 7 * 40, n_vregs = 6 + (uint32_t)_i % 30;
    struct made *m = make(n_vregs);
    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t r[4];
        for (int k = 0; k < 4; k++)
            r[k] = 1 + test_random_below(&seed, n_vregs - 1);
        uint32_t guard = test_random_below(&seed, 8) == 0 ? 2 : NO_GUARD, what = test_random_below(&seed, 12);
        if (what < 2)
            add(m, K_BRANCH, test_random_below(&seed, n), test_random_below(&seed, 3) ? 2 : NO_GUARD, (uint32_t[]){2},
                1, NULL, 0);
        else if (what == 2)
            add(m, K_WARP, 0, guard, r, 2, r + 2, 1);
        else if (what == 3 && r[2] != r[3])
            add(m, K_LANE, 0, guard, r, 2, r + 2, 2);
        else
            add(m, K_LANE, 0, guard, r, 2, r + 2, 1);
    }
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    check_interference(&m->ir);
    unmake(m);
}
END_TEST

/* Checks that the register count for occupancy equals the largest number of live words that the textbook method finds.
 * They are equal if no register is read before it is written. */
static void check_pressure(const struct made *m) {
    static struct flow f;
    textbook(&m->ir, &f);
    uint32_t most = 2;
    for (uint32_t i = 0; i < m->ir.n; i++) {
        const struct inst_info *info = &m->ir.info[i];
        uint64_t after = f.live_out[i];
        uint32_t words = 0;
        for (unsigned k = 0; k < info->n_writes; k++)
            after |= 1ull << m->ir.regs[info->regs + info->n_reads + k];
        for (uint32_t v = 1; v < m->ir.n_vregs; v++)
            words += after >> v & 1 ? class_words(m->ir.vregs[v].cls) : 0;
        if (most < words)
            most = words;
    }
    ck_assert_uint_eq(m->ir.thread_regs, most);
}

START_TEST(pressure_matches_the_textbook) {
    uint64_t seed = 99u + (uint32_t)_i * 104729u;
    uint32_t n_vregs = 12;
    struct made *m = make(n_vregs);
    for (uint32_t v = 1; v < n_vregs; v++)
        add(m, K_LANE, 0, NO_GUARD, NULL, 0, &v, 1);
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t r[3];
        for (int k = 0; k < 3; k++)
            r[k] = 1 + test_random_below(&seed, n_vregs - 1);
        if (i % 9 == 8)
            add(m, K_BRANCH, test_random_below(&seed, 70), 2, (uint32_t[]){2}, 1, NULL, 0);
        else
            add(m, K_LANE, 0, NO_GUARD, r, 2, r + 2, 1);
    }
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    check_pressure(m);
    unmake(m);
}
END_TEST

/* Writes nested ifs and loops, each with one entry and one exit, and sometimes a guarded exit or a loop that never
 * ends. Inner structures use few registers, so that many registers are live across them. */
static void structured(struct made *m, uint64_t *seed, uint32_t depth, uint32_t n_vregs) {
    for (uint32_t parts = 1 + test_random_below(seed, 4); parts-- && m->ir.n + 20 < MAX_N;) {
        uint32_t r[3], at = m->ir.n, what = depth ? test_random_below(seed, 8) : 0;
        for (int k = 0; k < 3; k++)
            r[k] = 1 + test_random_below(seed, depth > 2 ? n_vregs - 1 : depth + 2);
        if (what < 3) {
            add(m, K_LANE, 0, test_random_below(seed, 8) ? NO_GUARD : 2, r, 2, r + 2, 1);
        } else if (what < 5) { /* an if, with or without else */
            add(m, K_BRANCH, 0, 2, (uint32_t[]){2}, 1, NULL, 0);
            structured(m, seed, depth - 1, n_vregs);
            if (what == 4) {
                uint32_t over = m->ir.n;
                add(m, K_BRANCH, 0, NO_GUARD, NULL, 0, NULL, 0);
                m->ir.code[at].target = m->ir.n;
                structured(m, seed, depth - 1, n_vregs);
                at = over;
            }
            m->ir.code[at].target = m->ir.n;
            add(m, K_LANE, 0, NO_GUARD, r, 2, r + 2, 1); /* a target for the branch */
        } else if (what < 7) {
            structured(m, seed, depth - 1, n_vregs);
            add(m, K_BRANCH, at, test_random_below(seed, 16) ? 2 : NO_GUARD, (uint32_t[]){2}, 1, NULL, 0);
        } else if (test_random_below(seed, 4) == 0) {
            add(m, K_EXIT, 0, 2, (uint32_t[]){2}, 1, NULL, 0);
        }
    }
}

START_TEST(structured_programs) {
    uint64_t seed = 5u + (uint32_t)_i * 15485863u;
    uint32_t n_vregs = 16;
    struct made *m = make(n_vregs);
    for (uint32_t v = 1; v < n_vregs; v++)
        add(m, K_LANE, 0, NO_GUARD, NULL, 0, &v, 1);
    while (m->ir.n < 60)
        structured(m, &seed, 6, n_vregs);
    for (uint32_t v = 1; v < n_vregs; v += 3)
        add(m, K_LANE, 0, NO_GUARD, &v, 1, NULL, 0);
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    check_interference(&m->ir);
    check_pressure(m);
    unmake(m);
}
END_TEST

/* r3 = ..; r4 = f(r3): r3 dies in the instruction that writes r4, so r3 and r4 share a slot. */
START_TEST(a_destination_shares_the_slot_of_a_dying_source) {
    struct made *m = make(8);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){3}, 1);
    add(m, K_LANE, 0, NO_GUARD, (uint32_t[]){3}, 1, (uint32_t[]){4}, 1);
    add(m, K_STORE, 0, NO_GUARD, (uint32_t[]){4}, 1, NULL, 0);
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    ck_assert_uint_eq(m->ir.vregs[3].offset, m->ir.vregs[4].offset);
    unmake(m);
}
END_TEST

/* If r4 = f(r3) is a cross-lane instruction, r3 and r4 must not share a slot, because the instruction writes some lanes
 * before it has read all lanes. */
START_TEST(cross_lane_destinations_share_no_slot_with_sources) {
    struct made *m = make(8);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){3}, 1);
    add(m, K_WARP, 0, NO_GUARD, (uint32_t[]){3}, 1, (uint32_t[]){4}, 1);
    add(m, K_STORE, 0, NO_GUARD, (uint32_t[]){4}, 1, NULL, 0);
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    ck_assert_uint_ne(m->ir.vregs[3].offset, m->ir.vregs[4].offset);
    unmake(m);
}
END_TEST

/* r3 = 1; @p r3 = 2; use r3: the first value must survive the guarded write. r7, written in between and used
 * afterwards, must not get r3's slot. */
START_TEST(a_guarded_write_keeps_the_old_value) {
    struct made *m = make(9);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){2}, 1);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){3}, 1);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){7}, 1);
    add(m, K_LANE, 0, 2, (uint32_t[]){2}, 1, (uint32_t[]){3}, 1);
    add(m, K_STORE, 0, NO_GUARD, (uint32_t[]){3, 7}, 2, NULL, 0);
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    ck_assert_uint_eq(m->ir.intervals[3].begin, 2 * 1 + 1);
    ck_assert_uint_ne(m->ir.vregs[3].offset, m->ir.vregs[7].offset);
    unmake(m);
}
END_TEST

/* A register that is written only by guarded instructions is live from the first of these writes on, not from the
 * start of the function. */
START_TEST(guarded_writes_begin_a_live_range) {
    struct made *m = make(9);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){2}, 1);
    add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){7}, 1);
    add(m, K_LANE, 0, 2, (uint32_t[]){2}, 1, (uint32_t[]){3}, 1);
    add(m, K_LANE, 0, 2, (uint32_t[]){2}, 1, (uint32_t[]){3}, 1);
    add(m, K_STORE, 0, NO_GUARD, (uint32_t[]){3}, 1, NULL, 0);
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    ck_assert_uint_eq(m->ir.intervals[3].begin, 2 * 2 + 1);
    unmake(m);
}
END_TEST

/* A 32-bit and a 64-bit register never share memory, even when they are not live together: a lane's value is at
 * different positions in registers of the two sizes. */
START_TEST(classes_have_areas_of_their_own) {
    struct made *m = make(9);
    for (uint32_t v = 1; v < 9; v++) {
        add(m, K_LANE, 0, NO_GUARD, NULL, 0, &v, 1);
        add(m, K_STORE, 0, NO_GUARD, &v, 1, NULL, 0);
    }
    add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
    finish(m);
    for (uint32_t a = 1; a < 9; a++)
        for (uint32_t b = 1; b < a; b++)
            if (m->ir.vregs[a].cls != m->ir.vregs[b].cls)
                ck_assert(!same_place(&m->ir, a, b));
    unmake(m);
}
END_TEST

/* A 64-bit value counts as two words, and a predicate as none. d1, d2 and r1 are live at the add. */
START_TEST(thread_regs_counts_words) {
    struct lowered *l = lower_body("ld.param.u64 %d1, [p];\n"
                                   "ld.global.u32 %r1, [%d1];\n"
                                   /* live after the add: d1, d2 and r1, which are 5 words */
                                   "ld.global.u64 %d2, [%d1+8];\n"
                                   "setp.eq.u32 %p1, %r1, 0;\n"
                                   "@%p1 add.s64 %d2, %d2, %d1;\n"
                                   "st.global.u64 [%d1], %d2;\nst.global.u32 [%d1], %r1; ret;");
    ck_assert_ptr_nonnull(l->program);
    ck_assert_uint_eq(l->program->thread_regs, 5);
    lowered_free(l);
}
END_TEST

/* nvcc gives every value a new register. The register file must not become large because of this: a chain of 1000
 * adds needs one slot. */
START_TEST(a_thousand_values_in_a_chain_take_few_registers) {
    static char text[64 * 1024];
    size_t n = (size_t)snprintf(
        text, sizeof text,
        ".version 7.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p) {"
        ".reg .b32 %%r<1002>; .reg .b64 %%d<2>; ld.param.u64 %%d1, [p]; ld.global.u32 %%r0, [%%d1];\n");
    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "add.s32 %%r%d, %%r%d, 1;\n", i + 1, i);
    snprintf(text + n, sizeof text - n, "st.global.u32 [%%d1], %%r1000; ret; }");
    struct lowered *l = lower_text(text, NULL);
    ck_assert_ptr_nonnull(l->program);
    ck_assert_uint_eq(l->program->thread_regs, 3);
    ck_assert_uint_eq(l->program->n_regs, 2); /* one 32-bit and one 64-bit register */
    lowered_free(l);
}
END_TEST

/* An atomic's result that no instruction reads gets a separate slot: the next write to the same slot would have to
 * wait for the atomic (write after write). The unread result of an instruction with short latency may share a slot. */
START_TEST(an_unread_result_of_memory_keeps_its_slot) {
    static const enum inst_kind kinds[] = {K_ATOM, K_LOAD, K_TEX, K_LANE};
    for (int i = 0; i < 4; i++) {
        struct made *m = make(8);
        add(m, kinds[i], 0, NO_GUARD, NULL, 0, (uint32_t[]){3}, 1);
        add(m, K_LANE, 0, NO_GUARD, NULL, 0, (uint32_t[]){4}, 1);
        add(m, K_STORE, 0, NO_GUARD, (uint32_t[]){4}, 1, NULL, 0);
        add(m, K_EXIT, 0, NO_GUARD, NULL, 0, NULL, 0);
        finish(m);
        ck_assert(same_place(&m->ir, 3, 4) == (kinds[i] == K_LANE));
        ck_assert_uint_eq(m->ir.thread_regs, 2);
        unmake(m);
    }
}
END_TEST

/* A register that is never written reads as zero: a constant replaces it. */
START_TEST(unwritten_registers_are_zero) {
    struct lowered *l = lower_body("ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r5; ret;");
    ck_assert_ptr_nonnull(l->program);
    ck_assert_uint_eq(l->program->code[1].b, OPND_ZERO);
    lowered_free(l);
}
END_TEST

/* A guard cannot be a constant, so an unwritten guard gets a slot that no other register shares. */
START_TEST(an_unwritten_guard_has_its_own_slot) {
    struct lowered *l = lower_body("ld.param.u64 %d1, [p]; setp.eq.u64 %p1, %d1, 0; @%p2 st.global.u32 [%d1], 1;"
                                   "@%p1 st.global.u32 [%d1], 2; ret;");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_ne(p->code[2].guard, NO_GUARD);
    ck_assert_uint_ne(p->code[2].guard, p->code[1].d >> 1);
    ck_assert_uint_eq(p->code[3].guard, p->code[1].d >> 1);
    lowered_free(l);
}
END_TEST

SUITE(frontend_regalloc) {
    TEST_LOOP(no_two_live_registers_share, 0, 120);
    TEST_LOOP(pressure_matches_the_textbook, 0, 40);
    TEST_LOOP(structured_programs, 0, 300);
    TEST(a_destination_shares_the_slot_of_a_dying_source);
    TEST(an_unread_result_of_memory_keeps_its_slot);
    TEST(cross_lane_destinations_share_no_slot_with_sources);
    TEST(a_guarded_write_keeps_the_old_value);
    TEST(guarded_writes_begin_a_live_range);
    TEST(classes_have_areas_of_their_own);
    TEST(thread_regs_counts_words);
    TEST(a_thousand_values_in_a_chain_take_few_registers);
    TEST(unwritten_registers_are_zero);
    TEST(an_unwritten_guard_has_its_own_slot);
}
