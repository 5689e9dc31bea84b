/* Tests the pass `control`: control bits equal bits derived by hand, and random kernels compute the same with late
 * results. If bits are too weak, the verifier and a run of the program notice this. */
#include "frontend/passes/control_table.h"
#include "frontend/passes/pass.h"
#include "host/context.h"
#include "isa/control_bits.h"
#include "isa/decode.h"
#include "isa/expansions.h"
#include "test/frontend/frontend_help.h"
#include "test/random/random_kernel.h"
#include "test/test.h"

enum { NO = CONTROL_NO_COUNTER };

/* Opens the text on an `ampere` with these options, ended by NULL. */
static struct heddle *open_with(const char *text, struct heddle_module **m, const char *const *set) {
    char err[512];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = "functional", .config = "ampere", .set = set, .cycle_limit = 1000000}, err,
        sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(*m != NULL, "%s", heddle_error(h));
    return h;
}

static struct heddle *open_modern(const char *text, struct heddle_module **m) {
    static const char *const set[] = {"core.check=on", "core.select=off", NULL};
    return open_with(text, m, set);
}

static struct program *program_of(struct heddle *h, struct heddle_module *m) {
    struct program *p = (struct program *)module_program(h, m, "k");
    ck_assert_msg(p != NULL, "%s", heddle_error(h));
    ck_assert_ptr_nonnull(p->control);
    return p;
}

static char *kernel(const char *body) {
    static const char head[] = ".version 7.0 .target sm_70 .address_size 64\n"
                               ".visible .entry k(.param .u64 p) { .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;"
                               " .reg .f64 %g<9>;\n";
    size_t size = sizeof head + strlen(body) + 4;
    char *text = malloc(size);
    snprintf(text, size, "%s%s\n}\n", head, body);
    return text;
}

struct expected {
    uint8_t stall, raise_read, raise_write, wait;
};

static void expect(const char *body, const struct expected *want, uint32_t n) {
    struct heddle_module *m;
    char *text = kernel(body);
    struct heddle *h = open_modern(text, &m);
    const struct program *p = program_of(h, m);
    ck_assert_uint_eq(p->n, n);
    for (uint32_t pc = 0; pc < n; pc++) {
        const struct control_bits *b = &p->control[pc];
        EXPECT(b->stall == want[pc].stall, "pc %u: stall count %u, not %u", pc, b->stall, want[pc].stall);
        EXPECT(b->raise_read == want[pc].raise_read, "pc %u: until read %u", pc, b->raise_read);
        EXPECT(b->raise_write == want[pc].raise_write, "pc %u: until written %u", pc, b->raise_write);
        EXPECT(b->wait == want[pc].wait, "pc %u: waits for 0x%x, not 0x%x", pc, b->wait, want[pc].wait);
    }
    heddle_close(h);
    free(text);
}

/* How the expected bits follow:
 * - The first load waits for counter 0, which the load of the parameter raised. Then this counter is free, and both
 *   loads use it.
 * - The addition after the second load must see that this load has raised the counter, so the load has a stall count of
 *   2.
 * - The multiplication uses another unit than the addition, so it issues 5 cycles after the addition, not 4. The store
 *   of the difference also needs 5 cycles.
 * - Counter 0 is free again. The store raises it until the store has read its register. The move overwrites this
 *   register, so it waits for counter 0.
 * - ptxas gives each jump a stall count of 5, and an exit, too. */
START_TEST(straight_code) {
    static const struct expected want[] = {{2, NO, 0, 0},  {1, NO, 0, 1},  {2, NO, 0, 0},  {5, NO, NO, 1},
                                           {5, NO, NO, 0}, {4, NO, NO, 0}, {5, NO, NO, 0}, {2, 0, NO, 0},
                                           {5, NO, NO, 1}, {1, NO, NO, 0}, {5, NO, NO, 0}};
    expect("ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4]; add.u32 %r3, %r1, %r2;\n"
           "mul.lo.u32 %r4, %r3, %r3; add.u32 %r5, %r4, 1; sub.u32 %r6, %r5, %r4; st.global.u32 [%d1], %r6;\n"
           "mov.u32 %r6, 7; st.global.u32 [%d1+8], %r6; ret;",
           want, 11);
}
END_TEST

/* The multiplication must issue 5 cycles after the addition of the previous block. The stall count 1 of this addition
 * and the 5 of the jump are more. In the loop, the addition issues 5 cycles after the multiplication, the comparison 4
 * cycles after the addition, and the branch 13 cycles after the comparison. */
START_TEST(borders_of_blocks) {
    static const struct expected want[] = {{1, NO, 0, 0},  {1, NO, NO, 0}, {5, NO, NO, 0},
                                           {5, NO, NO, 0}, {4, NO, NO, 0}, {13, NO, NO, 0},
                                           {5, NO, NO, 0}, {1, NO, NO, 1}, {5, NO, NO, 0}};
    expect("ld.param.u64 %d1, [p]; add.u32 %r1, %r1, 1; bra L;\n"
           "L: mul.lo.u32 %r2, %r1, %r1; add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, 100; @%p1 bra L;\n"
           "st.global.u32 [%d1], %r1; ret;",
           want, 9);
}
END_TEST

/* A load from constant memory issues at least 8 cycles after the last one, on all paths. The shift issues one cycle
 * after the first load, so its stall count is 7. The jump issues one cycle after the second load. If it is taken, the
 * third load comes next, so its stall count is 7, not 5. */
START_TEST(constants_are_loaded_eight_cycles_apart) {
    static const struct expected want[] = {{1, NO, NO, 0}, {7, NO, NO, 0}, {1, NO, NO, 0}, {7, NO, NO, 0},
                                           {1, NO, NO, 0}, {1, NO, NO, 0}, {1, NO, NO, 0}, {5, NO, NO, 0}};
    expect(".const .b32 s[8]; ld.const.u32 %r1, [%r4]; shl.b32 %r3, %r4, 1; ld.const.u32 %r2, [%r4]; @%p1 bra L;\n"
           "mov.u32 %r3, 7; mov.u32 %r6, 8; L: ld.const.u32 %r5, [%r4]; ret;",
           want, 8);
}
END_TEST

/* Seven loads need a counter each, but there are six counters. The seventh load shares the counter of the sixth load,
 * because the results of the other loads are needed earlier. So the sixth addition waits for both loads, and the
 * seventh addition need not wait. */
START_TEST(more_results_than_counters) {
    char text[1024] = "ld.param.u64 %d1, [p];\n";
    for (int i = 1; i <= 7; i++)
        sprintf(text + strlen(text), "ld.global.f64 %%g%d, [%%d1+%d];\n", i, 8 * i);
    for (int i = 1; i <= 7; i++)
        sprintf(text + strlen(text), "add.f64 %%g%d, %%g%d, %%g%d;\n", i, i, i);
    for (int i = 1; i <= 7; i++)
        sprintf(text + strlen(text), "st.global.f64 [%%d1+%d], %%g%d;\n", 8 * i, i);
    strcat(text, "ret;");
    char *whole = kernel(text);
    struct heddle_module *m;
    struct heddle *h = open_modern(whole, &m);
    const struct program *p = program_of(h, m);
    for (uint32_t i = 0; i < 7; i++)
        EXPECT(p->control[1 + i].raise_write == (i < 6 ? i : 5), "load %u raises %u", i, p->control[1 + i].raise_write);
    for (uint32_t pc = 8, i = 0; i < 7; pc++) {
        if (p->code[pc].kind != K_LANE)
            continue;
        EXPECT(p->control[pc].wait == (i < 6 ? 1u << i : 0), "addition %u waits for 0x%x", i, p->control[pc].wait);
        i++;
    }
    heddle_close(h);
    free(whole);
}
END_TEST

/* Weakens one hint of an instruction's control bits. Hint 0 is the stall count, which is lowered by 1. The next six are
 * the waits for the counters, and the last two are the counters that the instruction raises; such a hint is removed.
 * Returns false if the bits have no hint `k`. */
enum { HINTS = 1 + CONTROL_COUNTERS + 2 };
static bool weaken(struct control_bits *b, int k) {
    if (k == 0 && b->stall > 1)
        b->stall--;
    else if (k >= 1 && k <= CONTROL_COUNTERS && b->wait >> (k - 1) & 1)
        b->wait &= (uint8_t) ~(1u << (k - 1));
    else if (k == HINTS - 2 && b->raise_read != NO)
        b->raise_read = NO;
    else if (k == HINTS - 1 && b->raise_write != NO)
        b->raise_write = NO;
    else
        return false;
    return true;
}

static struct { int hints, refused, run, noticed; } tally;

static char said[512]; /* the error of the last launch */

static bool launch(struct heddle *h, struct heddle_module *m, uint64_t seed, uint32_t *out) {
    static uint32_t in[RANDOM_IN_WORDS];
    random_input(seed, in);
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, RANDOM_OUT_WORDS * sizeof *out);
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    bool ok = heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                            (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK;
    snprintf(said, sizeof said, "%s", ok ? "" : heddle_error(h));
    heddle_read(h, dout, out, RANDOM_OUT_WORDS * sizeof *out);
    heddle_free(h, din);
    heddle_free(h, dout);
    return ok;
}

/* Weakens each hint of a random kernel, one at a time. The verifier decides whether the remaining hints suffice on all
 * paths. Every `one_in`-th of these programs runs. If its hints do not suffice, the run reports this, unless no thread
 * takes the path. If they suffice, the run must succeed. */
static void weaken_all(uint64_t seed, unsigned kind, int one_in) {
    static uint32_t out[RANDOM_OUT_WORDS];
    struct heddle_module *m;
    char *text = random_kernel(seed, kind), why[256];
    struct heddle *h = open_modern(text, &m);
    struct program *p = program_of(h, m);
    for (uint32_t pc = 0; pc < p->n; pc++)
        for (int k = 0; k < HINTS; k++) {
            struct control_bits right = p->control[pc];
            if (!weaken(&p->control[pc], k))
                continue;
            tally.hints++;
            bool refused = verify_program(p, why, sizeof why) != NULL;
            tally.refused += refused;
            if (tally.hints % one_in == 0) {
                bool ok = launch(h, m, seed, out);
                ck_assert_msg(refused || ok, "seed %d, pc %u, hint %d: %s", (int)seed, pc, k, said);
                ck_assert_msg(ok || strstr(said, "control bits let "), "%s", said);
                tally.run += refused;
                tally.noticed += refused && !ok;
            }
            p->control[pc] = right;
        }
    heddle_close(h);
    free(text);
}

START_TEST(weak_hints_are_noticed) {
    memset(&tally, 0, sizeof tally);
    for (uint64_t seed = 1; seed <= (test_every() ? 12 : 2); seed++)
        weaken_all(seed, (unsigned)seed % 2, test_every() ? 60 : 20);
    ck_assert_int_gt(tally.refused * 100, tally.hints * 90);
    ck_assert_int_gt(tally.noticed * 100, tally.run * 60);
}
END_TEST

/* Runs a random kernel on a machine whose results arrive late. Memory must be the same as after a run in which results
 * arrive at once. */
static void expect_enough_hints(uint64_t seed, const char *const *set) {
    static uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    char *text = random_kernel(seed, (unsigned)seed % 8), err[512];
    struct heddle_module *m, *plain;
    struct heddle *h = open_with(text, &m, set);
    struct heddle *f = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(f != NULL, "%s", err);
    ck_assert_ptr_nonnull(plain = heddle_module_text(f, "k.ptx", text, strlen(text)));
    ck_assert_msg(launch(h, m, seed, got), "seed %d: %s", (int)seed, said);
    ck_assert(launch(f, plain, seed, want));
    ck_assert_int_eq(memcmp(want, got, sizeof want), 0);
    heddle_close(h);
    heddle_close(f);
    free(text);
}

/* Random kernels leave the same memory whether results arrive as late as the control bits allow, or at once. */
START_TEST(random_kernels_have_enough_hints) {
    static const char *const set[] = {"core.check=on", "core.select=off", NULL};
    for (uint64_t seed = 1; seed <= (test_every() ? 200 : 8); seed++)
        expect_enough_hints(seed, set);
}
END_TEST

/* Does the same on machines whose latencies are random, from 1 to 40 cycles. */
START_TEST(random_latencies_have_enough_hints) {
    static const char *const classes[] = {"int_add", "int_minmax", "int_mul",    "int_mad", "int_other",
                                          "f32_add", "f32_mul",    "f32_minmax", "f32_fma", "f16"};
    enum { N = sizeof classes / sizeof classes[0] };
    char value[N][48], guard[48];
    const char *set[N + 3] = {"core.check=on", [N + 1] = guard};
    uint64_t rng = 7;
    for (uint64_t seed = 1; seed <= (test_every() ? 200 : 8); seed++) {
        for (int i = 0; i < N; i++) {
            sprintf(value[i], "latency.%s=%u", classes[i], 1 + (unsigned)test_random_below(&rng, 40));
            set[1 + i] = value[i];
        }
        sprintf(guard, "core.guard_latency=%u", 4 + (unsigned)test_random_below(&rng, 12));
        expect_enough_hints(seed, set);
    }
}
END_TEST

/* Returns the cycles of a kernel with `n` dependent instructions, on a machine with the option `set`. */
static double cycles_of_chain(const char *inst, int n, const char *option) {
    char body[4096] = "ld.param.u64 %d1, [p]; mov.u64 %d2, %d1; cvt.u32.u64 %r1, %d1;\n", err[512];
    for (int i = 0; i < n; i++)
        strcat(body, inst);
    strcat(body, "cvt.u32.u64 %r2, %d2; add.u32 %r1, %r1, %r2; st.global.u32 [%d1], %r1; ret;");
    char *text = kernel(body);
    const char *const set[] = {"gpu.sms=1", "fetch.perfect=on", option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "ampere", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t out = heddle_alloc(h, 4);
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0,
                                   &(struct heddle_arg){&out, 8}, 1),
                     HEDDLE_OK);
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    ck_assert_double_eq(heddle_stat(h, 0, "core.hazards"), 0);
    heddle_close(h);
    free(text);
    return cycles;
}

/* A dependent instruction issues latency.* cycles after its source, but at least 2, because the pipe has 16 lanes. A
 * stall count expresses up to 14 cycles, a counter more. The second of the two additions of a 64-bit addition waits for
 * the carry of the first. */
START_TEST(cycles_follow_the_latencies_of_the_machine) {
    static const int latencies[] = {1, 4, 11, 14, 15, 40};
    static const struct {
        const char *inst, *option;
        int times;
    } chains[] = {{"add.u32 %r1, %r1, %r1;\n", "latency.int_add", 1},
                  {"mad.lo.u32 %r1, %r1, 3, %r1;\n", "latency.int_mad", 1},
                  {"shr.u32 %r1, %r1, 1;\n", "latency.int_other", 1},
                  {"add.u64 %d2, %d2, %d2;\n", "latency.int_add", 2}};
    for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++) {
        char option[48];
        const int latency = latencies[_i];
        sprintf(option, "%s=%d", chains[c].option, latency);
        const double each =
            (cycles_of_chain(chains[c].inst, 40, option) - cycles_of_chain(chains[c].inst, 24, option)) / 16;
        EXPECT(each == chains[c].times * (latency > 2 ? latency : 2), "%s with %s: %g cycles", chains[c].inst, option,
               each);
    }
}
END_TEST

/* The first addition changes %r2 from 7 to 8. If the second addition reads %r2 one cycle too early, it gets the old
 * value, stores 7 + 1, and the launch fails. */
START_TEST(an_early_read_gives_the_old_value) {
    static const char body[] = "ld.param.u64 %d1, [p]; mov.u32 %r2, 7; mov.u32 %r3, 0; bra L; L: add.u32 %r2, %r2, 1;\n"
                               "add.u32 %r3, %r2, 1; st.global.u32 [%d1], %r3; ret;";
    for (int early = 0; early < 2; early++) {
        struct heddle_module *m;
        char *text = kernel(body);
        struct heddle *h = open_modern(text, &m);
        struct program *p = program_of(h, m);
        uint64_t out = heddle_alloc(h, 4);
        uint32_t value, pc = p->n - 4;
        ck_assert_uint_eq(p->control[pc].stall, 4);
        p->control[pc].stall = (uint8_t)(4 - early);
        enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0,
                                             &(struct heddle_arg){&out, 8}, 1);
        snprintf(said, sizeof said, "%s", early ? heddle_error(h) : "");
        heddle_read(h, out, &value, 4);
        ck_assert_int_eq(s, early ? HEDDLE_FAULT : HEDDLE_OK);
        ck_assert_msg(!early || strstr(said, "control bits let 'add.u32 r"), "%s", said);
        ck_assert_uint_eq(value, early ? 8 : 9);
        heddle_close(h);
        free(text);
    }
}
END_TEST

/* Volatile loads keep their order, so %r1 to %r4 get the register slots 0 to 3, and each addition reads two registers
 * of one bank. The pass `banks` exchanges two of these slots, and needs no additional register. */
START_TEST(operands_are_in_both_banks) {
    static const char *const modern[] = {"core.kind=modern", "sm.subcores=on", "pipe.sfu.units=2",
                                         "pipe.sfu.collectors=2", NULL};
    char *text =
        kernel("ld.param.u64 %d1, [p]; ld.volatile.global.u32 %r1, [%d1]; ld.volatile.global.u32 %r2, [%d1+4];\n"
               "ld.volatile.global.u32 %r3, [%d1+8]; ld.volatile.global.u32 %r4, [%d1+12];\n"
               "add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%d1], %r1;\n"
               "st.global.u32 [%d1+4], %r2; st.global.u32 [%d1+8], %r3; st.global.u32 [%d1+12], %r4; ret;");
    struct lowered *classic = lower_text(text, "k");
    char *shown = listing_of("functional", modern, "banks", text);
    ck_assert_msg(strstr(shown, "instructions with all operands in one bank: 2 before, 0 now"), "%s", shown);
    struct heddle_module *m;
    struct heddle *h = open_modern(text, &m);
    const struct program *p = program_of(h, m);
    ck_assert_uint_eq(p->reg_bytes, classic->program->reg_bytes);
    for (uint32_t pc = 5; pc < 7; pc++)
        ck_assert_uint_ne(p->control[pc].read[0] % 2, p->control[pc].read[1] % 2);
    heddle_close(h);
    lowered_free(classic);
    free(shown);
    free(text);
}
END_TEST

/* The addition and the mad after it read %r1 in the same operand position, so the addition keeps %r1 in the
 * register-file cache. They read %r2 in different positions, so %r2 is not kept. */
START_TEST(operands_are_kept) {
    char *text = kernel("ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; add.u32 %r3, %r1, %r2;\n"
                        "mad.lo.u32 %r4, %r1, %r3, %r2; st.global.u32 [%d1], %r4; ret;");
    struct heddle_module *m;
    struct heddle *h = open_modern(text, &m);
    const struct program *p = program_of(h, m);
    uint32_t n, seen = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        uint16_t op = isa_rows(&n)[p->code[pc].row].op;
        seen += op == OP_ADD || op == OP_MAD;
        ck_assert_uint_eq(p->control[pc].reuse, op == OP_ADD ? 1 : 0);
    }
    ck_assert_uint_eq(seen, 2);
    heddle_close(h);
    free(text);
}
END_TEST

static void expect_kinds(const char *body, const uint8_t *want, uint32_t n) {
    struct heddle_module *m;
    char *text = kernel(body);
    struct heddle *h = open_modern(text, &m);
    const struct program *p = program_of(h, m);
    ck_assert_uint_eq(p->n, n);
    for (uint32_t pc = 0; pc < n; pc++)
        EXPECT(p->code[pc].kind == want[pc], "pc %u is of kind %u, not %u", pc, p->code[pc].kind, want[pc]);
    heddle_close(h);
    free(text);
}

/* The addition issues core.guard_latency cycles after the comparison, and the next comparison 4 cycles after it. */
START_TEST(guards_follow_the_latency_of_the_machine) {
    static const int latencies[] = {4, 12, 13, 15};
    static const char inst[] = "setp.ne.u32 %p1, %r1, 5; @%p1 add.u32 %r1, %r1, %r1;\n";
    char option[48];
    sprintf(option, "core.guard_latency=%d", latencies[_i]);
    const double each = (cycles_of_chain(inst, 40, option) - cycles_of_chain(inst, 24, option)) / 16;
    EXPECT(each == latencies[_i] + 4, "%s: %g cycles", option, each);
}
END_TEST

/* In the first kernel, the second load moves before the addition that waits for the first load. In the second kernel it
 * stays, because it must not pass a store to global memory. In the third kernel it may pass the store, which is to
 * shared memory. The second load issues 4 cycles after the first, so the second addition and the store are ready in the
 * same cycle. The addition comes first, because another store waits for it. ptxas 13 orders the kernel so. */
START_TEST(loads_go_first) {
    static const uint8_t want[] = {K_LOAD, K_LOAD, K_LOAD, K_LANE, K_LANE, K_STORE, K_STORE, K_EXIT};
    expect_kinds("ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; ld.global.u32 %r2, [%d1+4];\n"
                 "add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2; ret;",
                 want, 8);
    static const uint8_t stays[] = {K_LOAD, K_LOAD, K_LANE, K_STORE, K_LOAD, K_LANE, K_STORE, K_EXIT};
    expect_kinds("ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;\n"
                 "ld.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.global.u32 [%d1+4], %r2; ret;",
                 stays, 8);
    static const uint8_t moves[] = {K_LOAD, K_LOAD, K_LOAD, K_LANE, K_LANE, K_STORE, K_STORE, K_STORE, K_EXIT};
    expect_kinds("ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.shared.u32 [0], %r1;\n"
                 "ld.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r1;\n"
                 "st.global.u32 [%d1+4], %r2; ret;",
                 moves, 9);
}
END_TEST

/* - 64-bit addition: the second addition waits for the carry of the first, which takes latency.int_add
 * - 64-bit logic: a gap of 1 before the second half, on every machine
 * - sine: a product, whose result arrives after 4 cycles, before the special function
 * - population count of 64 bits: 8 cycles, then an unknown number, assumed as QUEUED_LATENCY */
START_TEST(cycles_of_expansions) {
    struct control_latencies l = {.more = {0}};
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_NONE), 0);
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_ADD_64), 4);
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_PAIR), 1);
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_SINE), 4);
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_POPC_64), 8 + QUEUED_LATENCY);
    l.more[LAT_INT_ADD] = 2;
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_ADD_64), 6);
    ck_assert_uint_eq(control_expansion_cycles(&l, EXPANSION_PAIR), 1);
}
END_TEST

SUITE(frontend_passes_control) {
    TEST(straight_code);
    TEST(borders_of_blocks);
    TEST(more_results_than_counters);
    TEST(constants_are_loaded_eight_cycles_apart);
    TEST(weak_hints_are_noticed);
    TEST(random_kernels_have_enough_hints);
    TEST(random_latencies_have_enough_hints);
    TEST_LOOP(cycles_follow_the_latencies_of_the_machine, 0, 6);
    TEST_LOOP(guards_follow_the_latency_of_the_machine, 0, 4);
    TEST(an_early_read_gives_the_old_value);
    TEST(operands_are_in_both_banks);
    TEST(operands_are_kept);
    TEST(loads_go_first);
    TEST(cycles_of_expansions);
}
