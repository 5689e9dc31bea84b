/* Tests the properties of instructions that the SM uses: pipe, class, latency and flags, for every latency class and
 * kind of instruction. Also tests register banks and words. */
#include "timing/sm/timed.h"
#include "isa/compound.h"
#include "isa/control_bits.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"
#include "timing/sm/compound_timing.h"
#include "timing/sm/counting.h"

static struct asm_program *a;
static struct config cfg;
static struct timed_program t;

static void setup(void) {
    a = asm_new();
    config_default(&cfg);
    for (int c = 0; c < N_LATENCIES; c++) /* each class has its own latency */
        cfg.latency[c] = (struct latency_cfg){.latency = 100u + (unsigned)c, .initiation = 40u + (unsigned)c};
}
static void teardown(void) { asm_free(a); }

/* For each latency class: the pipe if all kinds of pipes exist; the pipe if INT and DP pipes do not exist (SP and
 * SFU then execute their instructions); the operation class; and whether the instruction is slow. Here the f64
 * classes from addition to fma are not slow: their initiation intervals are only 5 to 8 longer than the interval of
 * an f32 fma. */
static const struct {
    const char *name;
    uint8_t class, pipe, instead, op;
    bool slow;
} rows[] = {
    {"int_add", LAT_INT_ADD, PIPE_INT, PIPE_SP, CLASS_INT, false},
    {"int_minmax", LAT_INT_MINMAX, PIPE_INT, PIPE_SP, CLASS_INT, false},
    {"int_mul", LAT_INT_MUL, PIPE_INT, PIPE_SP, CLASS_INT_MUL, false},
    {"int_mad", LAT_INT_MAD, PIPE_INT, PIPE_SP, CLASS_INT_MUL, false},
    {"int_div", LAT_INT_DIV, PIPE_SFU, PIPE_SFU, CLASS_INT_DIV, true},
    {"int_other", LAT_INT_OTHER, PIPE_INT, PIPE_SP, CLASS_INT, false},
    {"f32_add", LAT_F32_ADD, PIPE_SP, PIPE_SP, CLASS_F32_ADD, false},
    {"f32_minmax", LAT_F32_MINMAX, PIPE_SP, PIPE_SP, CLASS_F32_MINMAX, false},
    {"f32_mul", LAT_F32_MUL, PIPE_SP, PIPE_SP, CLASS_F32_MUL, false},
    {"f32_fma", LAT_F32_FMA, PIPE_SP, PIPE_SP, CLASS_F32_FMA, false},
    {"f32_div", LAT_F32_DIV, PIPE_SFU, PIPE_SFU, CLASS_F32_DIV, true},
    {"f64_add", LAT_F64_ADD, PIPE_DP, PIPE_SFU, CLASS_F64, false},
    {"f64_minmax", LAT_F64_MINMAX, PIPE_DP, PIPE_SFU, CLASS_F64, false},
    {"f64_mul", LAT_F64_MUL, PIPE_DP, PIPE_SFU, CLASS_F64, false},
    {"f64_fma", LAT_F64_FMA, PIPE_DP, PIPE_SFU, CLASS_F64, false},
    {"f64_div", LAT_F64_DIV, PIPE_DP, PIPE_SFU, CLASS_F64_DIV, true},
    {"f64_rcp", LAT_F64_RCP, PIPE_DP, PIPE_SFU, CLASS_F64_DIV, false},
    {"f16", LAT_F16, PIPE_SP, PIPE_SP, CLASS_F16, false},
    {"sfu", LAT_SFU, PIPE_SFU, PIPE_SFU, CLASS_SFU, true},
    {"shfl", LAT_SHFL, PIPE_INT, PIPE_SP, CLASS_SHFL, false},
    {"mma", LAT_MMA, PIPE_DP, PIPE_SFU, CLASS_MMA, false},
    /* an instruction of class "mem" that makes no access uses the pipes of integer instructions */
    {"mem", LAT_MEM, PIPE_INT, PIPE_SP, CLASS_MEM, false},
    {"control", LAT_CONTROL, PIPE_INT, PIPE_SP, CLASS_CONTROL, false},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void init(void) {
    asm_end(a);
    ck_assert(timed_init(&t, &a->p, &cfg, 4096));
    ck_assert_uint_eq(t.code_address, 4096);
    ck_assert_ptr_eq(t.program, &a->p);
}

START_TEST(every_class) {
    ck_assert_int_eq(N_ROWS, N_LATENCIES);
    for (int i = 0; i < N_ROWS; i++)
        asm_op(a, "add.u32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO)->latency = rows[i].class;
    for (int without = 0; without < 2; without++) {
        cfg.sm.pipe[PIPE_INT].units = cfg.sm.pipe[PIPE_DP].units = without ? 0 : 2;
        init();
        for (int i = 0; i < N_ROWS; i++) {
            const struct timed_inst *ti = &t.inst[i];
            ck_assert_msg(ti->pipe == (without ? rows[i].instead : rows[i].pipe), "%s: pipe %u", rows[i].name,
                          ti->pipe);
            ck_assert_msg(ti->op == rows[i].op, "%s: class %u", rows[i].name, ti->op);
            ck_assert_msg(ti->latency == 100 + rows[i].class && ti->initiation == 40 + rows[i].class, "%s: %u, %u",
                          rows[i].name, ti->latency, ti->initiation);
            ck_assert_msg(ti->flags == (rows[i].slow ? TIMED_SLOW : 0), "%s: flags %x", rows[i].name, ti->flags);
        }
        timed_free(&t);
    }
}
END_TEST

/* An f64 instruction is slow if its initiation interval is at least four times the interval of an f32 fma: with an
 * interval of 3 for the fma, 12 is slow and 11 is not. f64 divisions are always slow. */
START_TEST(slow_f64) {
    static const uint8_t classes[] = {LAT_F64_ADD, LAT_F64_MINMAX, LAT_F64_MUL, LAT_F64_FMA};
    for (int i = 0; i < 4; i++)
        asm_op(a, "add.f64", asm_reg(a, 8), asm_reg(a, 8), asm_reg(a, 8), OPND_ZERO)->latency = classes[i];
    cfg.latency[LAT_F32_FMA].initiation = 3;
    for (uint32_t initiation = 11; initiation < 14; initiation++) {
        for (int i = 0; i < 4; i++)
            cfg.latency[classes[i]].initiation = initiation;
        init();
        for (int i = 0; i < 4; i++)
            ck_assert_uint_eq(t.inst[i].flags, initiation >= 12 ? TIMED_SLOW : 0);
        timed_free(&t);
    }
}
END_TEST

/* Computes the times of a compound instruction. Its data are a number: the latency is twice this number. Above 10, the
 * instruction has one more read port. Above 20, it has a fallback. */
static void own_time(const void *what, const struct config *c, struct compound_time *time) {
    const unsigned *n = what;
    ck_assert_ptr_eq(c, &cfg);
    time->latency = 2 * *n;
    time->read_ports = *n > 10;
    if (*n > 20) {
        time->fallback_latency = 100;
        time->fallback_initiation = 30;
    }
}
/* Counts two integer operations per active lane. */
static void own_count(const void *what, const struct effects *fx, struct sm_counts *n) {
    ck_assert_uint_eq(*(const unsigned *)what, 5);
    n->op_lanes[CLASS_INT] += 2 * (uint64_t)__builtin_popcount(fx->lanes);
}
static const struct compound_timing own_timing = {.time = own_time, .count = own_count};
static const struct compound_ops class_ops = {.name = "#class"}, own_ops = {.name = "#own", .timing = &own_timing};

enum { BOTH_WAYS = TIMED_TAKEN | TIMED_NOT_TAKEN };

/* Flags of each kind of instruction, with a guard or hints where these matter. */
static const struct {
    const char *what;
    uint8_t kind, space, hints;
    bool guarded, far; /* far: the instruction contains its target (in a direct branch or call) */
    unsigned flags;
} kinds[] = {
    {"lane", K_LANE, SPACE_GLOBAL, 0, false, true, 0},
    {"lane, guarded", K_LANE, SPACE_GLOBAL, 0, true, true, 0},
    {"cvt", K_CVT, SPACE_GLOBAL, 0, false, true, 0},
    {"load", K_LOAD, SPACE_GLOBAL, 0, false, true, TIMED_MEMORY | TIMED_LOAD | TIMED_LONG},
    {"generic load", K_LOAD, SPACE_GENERIC, 0, false, true, TIMED_MEMORY | TIMED_LOAD | TIMED_LONG},
    {"local load", K_LOAD, SPACE_LOCAL, 0, false, true, TIMED_MEMORY | TIMED_LOAD | TIMED_LONG},
    {"shared load", K_LOAD, SPACE_SHARED, 0, false, true, TIMED_MEMORY | TIMED_LOAD},
    {"constant load", K_LOAD, SPACE_CONST, 0, false, true, TIMED_MEMORY | TIMED_LOAD},
    {"parameter load", K_LOAD, SPACE_PARAM, 0, false, true, TIMED_MEMORY | TIMED_LOAD},
    {"volatile load", K_LOAD, SPACE_GLOBAL, HINT_VOLATILE, false, true,
     TIMED_MEMORY | TIMED_LOAD | TIMED_LONG | TIMED_ORDERED},
    {"store", K_STORE, SPACE_GLOBAL, 0, false, true, TIMED_MEMORY | TIMED_LOAD},
    {"volatile store", K_STORE, SPACE_GENERIC, HINT_VOLATILE, false, true, TIMED_MEMORY | TIMED_LOAD | TIMED_ORDERED},
    {"atomic", K_ATOM, SPACE_GLOBAL, 0, false, true, TIMED_MEMORY | TIMED_LOAD | TIMED_LONG | TIMED_ORDERED},
    {"shared atomic", K_ATOM, SPACE_SHARED, 0, false, true, TIMED_MEMORY | TIMED_LOAD},
    {"texture", K_TEX, SPACE_GLOBAL, 0, false, true, TIMED_MEMORY | TIMED_LOAD | TIMED_LONG},
    {"prefetch", K_PREFETCH, SPACE_GLOBAL, 0, false, true, TIMED_MEMORY | TIMED_LOAD},
    {"copy", K_COPY, SPACE_GLOBAL, 0, false, true, TIMED_MEMORY | TIMED_COPY},
    {"group of copies", K_COMMIT, SPACE_GLOBAL, 0, false, true, TIMED_COPY},
    {"wait for copies", K_COLLECT, SPACE_GLOBAL, 0, false, true, TIMED_COPY | TIMED_FENCE},
    {"fence", K_FENCE, SPACE_GLOBAL, 0, false, true, TIMED_FENCE},
    {"data of a queue", K_LOAD, SPACE_GLOBAL, HINT_DEQ, false, true,
     TIMED_MEMORY | TIMED_LOAD | TIMED_LONG | TIMED_DEQ},
    {"across lanes", K_WARP, SPACE_GLOBAL, 0, false, true, 0},
    {"together", K_WARP, SPACE_GLOBAL, HINT_COLLECTIVE, false, true, TIMED_GATHER},
    {"with members", K_WARP, SPACE_GLOBAL, HINT_COLLECTIVE | HINT_MEMBERS, false, true, TIMED_GATHER | TIMED_MEMBERS},
    {"compound", K_COMPOUND, SPACE_GLOBAL, 0, false, true, TIMED_COMPOUND},
    {"compound with members", K_COMPOUND, SPACE_GLOBAL, HINT_COLLECTIVE | HINT_MEMBERS, false, true,
     TIMED_GATHER | TIMED_MEMBERS | TIMED_COMPOUND | TIMED_FALLBACK},
    {"jump", K_BRANCH, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL | BOTH_WAYS},
    {"branch", K_BRANCH, SPACE_GLOBAL, 0, true, true, TIMED_CONTROL | TIMED_GATHER | BOTH_WAYS},
    {"uniform branch", K_BRANCH, SPACE_GLOBAL, HINT_UNI, true, true, TIMED_CONTROL | BOTH_WAYS},
    {"jump to a barrier", K_BRANCH, SPACE_GLOBAL, HINT_APART, false, true, TIMED_CONTROL | TIMED_FREE | BOTH_WAYS},
    {"brx", K_BRX, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL | TIMED_GATHER},
    {"call", K_CALL, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL},
    {"guarded call", K_CALL, SPACE_GLOBAL, 0, true, true, TIMED_CONTROL | TIMED_GATHER},
    {"indirect call", K_CALL, SPACE_GLOBAL, 0, false, false, TIMED_CONTROL | TIMED_GATHER},
    {"ret", K_RET, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL | TIMED_GATHER},
    {"exit", K_EXIT, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL},
    {"barrier", K_BARRIER, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL | TIMED_GATHER},
    {"warpsync", K_WARPSYNC, SPACE_GLOBAL, HINT_MEMBERS, false, true, TIMED_CONTROL | TIMED_GATHER | TIMED_MEMBERS},
    {"bssy", K_BSSY, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL | TIMED_FREE},
    {"bsync", K_BSYNC, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL | TIMED_FREE},
    {"break", K_BREAK, SPACE_GLOBAL, 0, true, true, TIMED_CONTROL | TIMED_FREE},
    {"trap", K_TRAP, SPACE_GLOBAL, 0, false, true, TIMED_CONTROL},
};
enum { N_KIND_ROWS = sizeof kinds / sizeof kinds[0] };

START_TEST(every_kind) {
    const unsigned with_fallback = 25;
    struct program_compound compounds[] = {{.ops = &class_ops}, {.ops = &own_ops, .what = &with_fallback}};
    opnd_t q = asm_reg(a, 0);
    bool seen[N_KINDS] = {false};
    for (int i = 0; i < N_KIND_ROWS; i++) {
        struct inst *in = asm_op(a, "add.u32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
        in->kind = kinds[i].kind;
        in->space = kinds[i].space;
        in->hints = kinds[i].hints;
        in->guard = kinds[i].guarded ? q >> 1 : NO_GUARD;
        in->latency = LAT_SFU; /* a slow class, which memory instructions and fences ignore */
        seen[in->kind] = true;
        if (in->kind == K_CALL || in->kind == K_BRANCH)
            in->target = kinds[i].far ? 0 : UINT32_MAX;
        if (in->kind == K_COMPOUND)
            in->imm = kinds[i].hints ? 1 : 0;
    }
    for (int k = 0; k < N_KINDS; k++)
        ck_assert_msg(seen[k] || k == K_NOP || k == K_ENQ_DATA || k == K_ENQ_ADDR || k == K_ENQ_PRED, "kind %d", k);
    a->p.compounds = compounds;
    a->p.n_compounds = 2;
    ck_assert(timed_init(&t, &a->p, &cfg, 0));
    for (int i = 0; i < N_KIND_ROWS; i++) {
        const struct timed_inst *ti = &t.inst[i];
        bool memory = kinds[i].flags & TIMED_MEMORY;
        /* a fence has the class of control instructions, which is not slow */
        unsigned slow = memory || kinds[i].kind == K_FENCE ? 0 : TIMED_SLOW;
        ck_assert_msg(ti->flags == (kinds[i].flags | slow), "%s: flags %x, not %x", kinds[i].what, ti->flags,
                      kinds[i].flags | slow);
        ck_assert_msg(ti->pipe == (memory                     ? PIPE_MEM
                                   : kinds[i].kind == K_FENCE ? PIPE_SP
                                                              : PIPE_SFU),
                      "%s: pipe %u", kinds[i].what, ti->pipe);
        ck_assert_uint_eq(ti->kind, kinds[i].kind);
    }
    a->code[0].ends_block = BLOCK_MAY_EXIT;
    a->info[1].yields = true;
    timed_free(&t);
    ck_assert(timed_init(&t, &a->p, &cfg, 0));
    ck_assert_uint_eq(t.inst[0].flags, TIMED_ENDS | TIMED_SLOW);
    ck_assert_uint_eq(t.inst[1].flags, TIMED_YIELD | TIMED_SLOW);
    ck_assert_uint_eq(t.inst[2].flags, TIMED_SLOW);
    timed_free(&t);
    uint32_t branch = 0;
    while (strcmp(kinds[branch].what, "branch") != 0)
        branch++;
    a->info[0].only_exits = true; /* the branch's target is instruction 0, which now only exits */
    ck_assert(timed_init(&t, &a->p, &cfg, 0));
    ck_assert_uint_eq(t.inst[branch].flags & BOTH_WAYS, TIMED_NOT_TAKEN);
    timed_free(&t);
    a->info[0].only_exits = false;
    a->info[branch + 1].only_returns = true;
    ck_assert(timed_init(&t, &a->p, &cfg, 0));
    ck_assert_uint_eq(t.inst[branch].flags & BOTH_WAYS, TIMED_TAKEN);
    timed_free(&t);
}
END_TEST

/* Six counters, one byte each. A counter without a limit has 127. An instruction that waits for counter 2 needs 0
 * there. An instruction that raises counter 1 needs at most 63 - 1, so that the counter does not overflow. DEPBAR.LE of
 * counter 3 needs at most 4, also if the instruction raises this counter. */
START_TEST(limits_of_dependence_counters) {
    static const uint64_t limits[4] = {0x7f7f7f7f7f7f, 0x7f7f7f007f7f, 0x7f7f7f7f3e7f, 0x7f7f047f7f7f};
    struct control_bits bits[8];
    for (int i = 0; i < 8; i++)
        bits[i] = CONTROL_NONE;
    for (int i = 0; i < 4; i++)
        asm_op(a, "add.u32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
    bits[1].wait = 1 << 2;
    bits[2].raise_write = 1;
    bits[3].raise_read = bits[3].limit_counter = 3;
    bits[3].limit = 4;
    a->p.control = bits;
    init();
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(t.inst[i].limits, limits[i]);
    timed_free(&t);
    a->p.control = NULL;
}
END_TEST

/* Registers 0 to 39 have one word, except register 3 (two words), 5 (four words) and 4 (a predicate, no word). An
 * instruction reads 2, 3, 4 and 37 and writes 4, 5 and 33.
 * - 16 banks: it reads banks 2, 3 and 37 - 32 = 5, with 1 + 2 + 1 words, and writes banks 5 and 1, with 4 + 1
 * - an SM that is divided among 4 schedulers, so that each part has 4 banks: it reads banks 2, 3 and 1, and writes bank
 *   1 twice */
START_TEST(banks_and_words) {
    static uint16_t regs[] = {9, 2, 3, 4, 37, 4, 5, 33};
    static const uint8_t whole[] = {2, 3, 5, 5, 1}, divided[] = {2, 3, 1, 1, 1};
    uint8_t words[40];
    memset(words, 1, sizeof words);
    words[3] = 2;
    words[4] = 0;
    words[5] = 4;
    asm_op(a, "add.u32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
    a->p.regs = regs;
    a->p.n_regs_list = 8;
    a->p.n_regs = 40;
    a->p.reg_words = words;
    a->info[0].regs = 1;
    a->info[0].n_reads = 4;
    a->info[0].n_writes = 3;
    cfg.sm.banks = 16;
    cfg.sm.schedulers = 4;
    for (int sub = 0; sub < 2; sub++) {
        cfg.sm.subcores = sub;
        init();
        const struct timed_inst *ti = &t.inst[0];
        ck_assert_uint_eq(ti->regs.n_read, 4);
        ck_assert_uint_eq(ti->regs.n_write, 3);
        ck_assert_ptr_eq(ti->regs.read, regs + 1);
        ck_assert_ptr_eq(ti->regs.write, regs + 5);
        ck_assert_uint_eq(ti->regs.counter, NO_COUNTER);
        ck_assert_uint_eq(ti->banks.n_reads, 3);
        ck_assert_uint_eq(ti->banks.n_writes, 2);
        ck_assert_uint_eq(ti->banks.more, 0);
        ck_assert_mem_eq(ti->banks.bank, sub ? divided : whole, 5);
        ck_assert_uint_eq(ti->read_words, 4);
        ck_assert_uint_eq(ti->write_words, 5);
        timed_free(&t);
        ck_assert_ptr_null(t.inst);
        ck_assert_ptr_null(t.bank);
    }
}
END_TEST

/* Loads with a destination use the six counters in rotation. Instructions without a destination use no counter. */
START_TEST(counters_go_round) {
    static uint16_t regs[] = {7};
    uint8_t words[8] = {[7] = 1};
    for (int i = 0; i < 10; i++)
        asm_op(a, i == 3 ? "st.global.u32" : "ld.global.u32", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    for (int i = 0; i < 10; i++)
        a->info[i].n_writes = i != 3 && i != 5;
    a->p.regs = regs;
    a->p.n_regs_list = 1;
    a->p.n_regs = 8;
    a->p.reg_words = words;
    init();
    static const uint8_t expect[] = {0, 1, 2, NO_COUNTER, 3, NO_COUNTER, 4, 5, 0, 1};
    for (int i = 0; i < 10; i++)
        ck_assert_uint_eq(t.inst[i].regs.counter, expect[i]);
    timed_free(&t);
}
END_TEST

/* Without a function for its time, a compound instruction has the time of its latency class. Otherwise it has the
 * time that its function gives for its data: here the latency is twice the data, and the initiation interval is the
 * interval of the class. If the data are above 10, the function adds a read port. If they are above 20, the
 * instruction has a fallback, which uses the same pipe and banks. */
START_TEST(compound_instructions_have_their_own_time) {
    static const unsigned data[] = {0, 5, 15, 25};
    struct program_compound compounds[4];
    for (int i = 0; i < 4; i++) {
        struct inst *in = asm_op(a, "add.f32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
        in->kind = K_COMPOUND;
        in->imm = i;
        compounds[i] = (struct program_compound){.ops = i ? &own_ops : &class_ops, .what = &data[i]};
    }
    a->p.compounds = compounds;
    a->p.n_compounds = 4;
    cfg.latency[LAT_F32_ADD] = (struct latency_cfg){.latency = 6, .initiation = 2};
    init();
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(t.inst[i].latency, i ? 2 * data[i] : 6);
        ck_assert_uint_eq(t.inst[i].initiation, 2);
        ck_assert_uint_eq(t.inst[i].banks.more, i >= 2);
        ck_assert_uint_eq(t.inst[i].flags, i == 3 ? TIMED_COMPOUND | TIMED_FALLBACK : TIMED_COMPOUND);
    }
    ck_assert_uint_eq(t.fallback[3].latency, 100);
    ck_assert_uint_eq(t.fallback[3].initiation, 30);
    ck_assert_uint_eq(t.fallback[3].pipe, t.inst[3].pipe);
    ck_assert_uint_eq(t.fallback[3].banks.more, 1);
    timed_free(&t);
}
END_TEST

/* Three lanes execute each instruction. The first instruction counts 3 lanes of its class. The second has its own
 * function, which counts 6 integer operations and no operation of the instruction's class. Each of them counts 3
 * thread instructions. */
START_TEST(compound_instructions_count_their_lanes) {
    static const unsigned data = 5;
    static struct sm sm;
    struct program_compound compounds[] = {{.ops = &class_ops, .what = &data}, {.ops = &own_ops, .what = &data}};
    for (int i = 0; i < 2; i++) {
        struct inst *in = asm_op(a, "add.f32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
        in->kind = K_COMPOUND;
        in->imm = i;
    }
    a->p.compounds = compounds;
    a->p.n_compounds = 2;
    init();
    sm.program = &t;
    sm.fx.lanes = 0x7;
    sm_count_lanes(&sm, &t.inst[0], 0, 0xf);
    ck_assert_uint_eq(sm.n.op_lanes[CLASS_F32_ADD], 3);
    ck_assert_uint_eq(sm.n.op_lanes[CLASS_INT], 0);
    sm_count_lanes(&sm, &t.inst[1], 1, 0xf);
    ck_assert_uint_eq(sm.n.op_lanes[CLASS_F32_ADD], 3);
    ck_assert_uint_eq(sm.n.op_lanes[CLASS_INT], 6);
    ck_assert_uint_eq(sm.n.thread_instructions, 6);
    timed_free(&t);
}
END_TEST

/* - f16: 1024 products start at once and take 3 cycles, and a result takes 20 cycles; m16n8k16 has 2048 products, so it
 *   takes 6 cycles, and its second half comes 3 cycles after the first
 * - tf32: half as many products at once as f16; m16n8k4 has 512
 * - bytes: twice as many products at once as f16; m16n8k32 has 4096
 * - m8n8k4 on f16: four times 256 products
 * - f64: 256 products are 8 fma of all lanes, which take 5 cycles each, and the last fma takes 9 cycles */
START_TEST(matrices_by_their_products) {
    static const struct {
        const char *opcode;
        uint32_t latency, initiation;
    } of[] = {{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 20, 3},
              {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 20 + 3, 6},
              {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 20, 3},
              {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 20, 3},
              {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 20 + 3, 6},
              {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 20, 2},
              {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 20 + 3, 6},
              {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 9 + 7 * 5, 8 * 5}};
    enum { N = sizeof of / sizeof of[0] };
    cfg.latency[LAT_MMA] = (struct latency_cfg){.latency = 20, .initiation = 3};
    cfg.latency[LAT_F64_FMA] = (struct latency_cfg){.latency = 9, .initiation = 5};
    for (int i = 0; i < N; i++)
        asm_op(a, of[i].opcode, OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    init();
    for (int i = 0; i < N; i++) {
        ck_assert_msg(t.inst[i].latency == of[i].latency && t.inst[i].initiation == of[i].initiation, "%s: %u, %u",
                      of[i].opcode, t.inst[i].latency, t.inst[i].initiation);
        ck_assert_int_eq(t.inst[i].op, CLASS_MMA);
    }
    timed_free(&t);
}
END_TEST

/* clang-format off */
static const struct stat_row op_rows[] = {
#define COUNT_ROWS struct sm_counts
#include "timing/sm/op_stats.def"
#define COUNT_ROWS struct sm_counts
#include "timing/sm/op_other_stats.def"
};
/* clang-format on */

/* Each class has one statistic, with the name of the class. */
START_TEST(names_of_classes) {
    static const char *const names[N_OP_CLASSES] = {
        "op.int",     "op.int_mul",    "op.int_div", "op.f32_add", "op.f32_mul", "op.f32_fma",
        "op.f32_div", "op.f32_minmax", "op.f64",     "op.f64_div", "op.f16",     "op.mma",
        "op.sfu",     "op.shfl",       "op.mem",     "op.control", "op.affine",  "op.expanded"};
    struct sm_counts n = {0};
    struct stats s;
    ck_assert(stats_init(&s));
    for (int i = 0; i < N_OP_CLASSES; i++)
        n.op_lanes[i] = (uint64_t)i + 1;
    STATS_COUNT(&s, op_rows, &n);
    for (int i = 0; i < N_OP_CLASSES; i++)
        ck_assert_msg(stats_get(&s, names[i]) == i + 1, "%s", names[i]);
    stats_free(&s);
}
END_TEST

SUITE(timing_sm_timed) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(every_class);
    TEST(matrices_by_their_products);
    TEST(slow_f64);
    TEST(every_kind);
    TEST(limits_of_dependence_counters);
    TEST(banks_and_words);
    TEST(counters_go_round);
    TEST(compound_instructions_have_their_own_time);
    TEST(compound_instructions_count_their_lanes);
    TEST(names_of_classes);
}
