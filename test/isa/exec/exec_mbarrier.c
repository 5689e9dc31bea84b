/* Tests mbarrier instructions against a model in plain integers, which follows PTX ISA 9.0, section 9.7.13.15. */
#include "isa/exec/exec_mbarrier.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

enum { BYTES = 64, AT = 16 };

static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;
static opnd_t base, state, done, count;

static void setup(void) {
    a = asm_new();
    a->p.shared_bytes = BYTES;
    mem_init(&mem, 0);
    base = asm_reg(a, 8);
    state = asm_reg(a, 8);
    done = asm_reg(a, 0);
    count = asm_reg(a, 4);
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    asm_end(a);
    launch = asm_launch(a, &mem, 1, 32);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
}

static void teardown(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}

/* Executes `opcode` in the lanes m on the mbarrier object at shared address AT. b is the operand register, d the
 * destination register. */
static void run(const char *opcode, opnd_t d, opnd_t b, rowmask_t m) {
    struct decoded dec;
    struct decode_error why;
    ck_assert_msg(isa_decode(opcode, (uint32_t)strlen(opcode), &dec, &why), "%s: %s", opcode, why.message);
    ck_assert_int_eq(dec.row->kind, K_ATOM);
    struct inst in = {.d = d, .a = base, .b = b, .c = OPND_ZERO, .e = OPND_ZERO, .imm = AT, .guard = NO_GUARD};
    in.fn.warp = dec.row->fn.warp;
    in.kind = dec.row->kind;
    in.msize = in.rsize = in.asize = 8;
    in.dsize = d == state ? 8 : 0;
    in.space = (uint8_t)dec.space;
    exec_inst(w, &in, m, &fx);
}

static void run_counted(const char *opcode, opnd_t d, uint32_t n, rowmask_t m) {
    for (int l = 0; l < WARP_LANES; l++)
        ((uint32_t *)reg_ptr(w, count))[l] = n;
    run(opcode, d, count, m);
}

static bool phase_ended(uint64_t token) {
    for (int l = 0; l < WARP_LANES; l++)
        ((uint64_t *)reg_ptr(w, state))[l] = token;
    run("mbarrier.test_wait.shared.b64", done, state, 1);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    return pred_get(w, done) & 1;
}

/* The model of an mbarrier object: `phases` counts the completed phases, the current phase waits for `waiting` arrivals
 * and `tx` transaction bytes, and each phase expects `members` arrivals. */
struct model {
    int phases, waiting, members, tx;
};
static void model_step(struct model *m, int arrivals, int tx) {
    m->waiting -= arrivals;
    m->tx += tx;
    if (m->waiting == 0 && m->tx == 0) {
        m->phases++;
        m->waiting = m->members;
    }
}

/* Executes a random legal operation in the simulator and in the model, and compares both. */
static void random_step(struct model *m, uint64_t *seed) {
    uint32_t n = test_random_below(seed, (uint32_t)m->waiting + 1), bytes = test_random_below(seed, 1000);
    uint64_t *states = reg_ptr(w, state);
    int before = m->phases, waiting = m->waiting;
    switch (test_random_below(seed, 8)) {
    case 0:
        run_counted("mbarrier.arrive.release.cta.shared::cta.b64", state, n, 1);
        model_step(m, (int)n, 0);
        break;
    case 1:
        if (m->waiting < 2)
            return;
        run_counted("mbarrier.arrive.noComplete.shared.b64", state, 1, 1);
        model_step(m, 1, 0);
        break;
    case 2:
        if (m->waiting < 1)
            return;
        run_counted("mbarrier.arrive.expect_tx.shared.b64", state, bytes, 1);
        model_step(m, 1, (int)bytes);
        break;
    case 3:
        if (m->members < 3 || m->waiting < 1)
            return;
        m->members--;
        run_counted("mbarrier.arrive_drop.shared.b64", state, 1, 1);
        model_step(m, 1, 0);
        break;
    case 4:
        bytes = m->tx < 0 ? (uint32_t)-m->tx : bytes;
        run_counted("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", OPND_SINK, bytes, 1);
        model_step(m, 0, (int)bytes);
        return;
    default: /* most operations complete transactions, so that phases complete */
        bytes = m->tx > 0 ? (uint32_t)m->tx : bytes;
        if (m->tx <= 0 && test_random_below(seed, 4))
            return;
        run_counted("mbarrier.complete_tx.shared.b64", OPND_SINK, bytes, 1);
        model_step(m, 0, -(int)bytes);
        return;
    }
    ck_assert_int_eq(states[0] & MBARRIER_COUNT_MAX, waiting); /* mbarrier.pending_count returns this field */
    ck_assert_int_eq(phase_ended(states[0]), m->phases != before);
}

START_TEST(random_walk) {
    uint64_t seed = 5;
    int ended = 0;
    for (int walk = 0; walk < 50; walk++) {
        struct model m = {.waiting = 8 + walk, .members = 8 + walk};
        run_counted("mbarrier.init.shared::cta.b64", OPND_SINK, 8 + (uint32_t)walk, 1);
        for (int i = 0; i < 200; i++) {
            random_step(&m, &seed);
            ck_assert_int_eq(fx.fault, FAULT_NONE);
            /* a wait with parity p is true if the latest phase with this parity has completed */
            for (uint32_t p = 0; p < 2; p++) {
                run_counted("mbarrier.try_wait.parity.shared.b64", done, p, 1);
                ck_assert_uint_eq(pred_get(w, done) & 1, p != (uint32_t)m.phases % 2);
            }
        }
        ended += m.phases;
    }
    ck_assert_int_gt(ended, 300); /* enough phases ended to test their ends */
}
END_TEST

/* 32 lanes arrive at an mbarrier that expects 32 arrivals. Lane l returns 32 - l pending arrivals, and the last lane
 * completes the phase. */
START_TEST(lanes_arrive_in_order) {
    run_counted("mbarrier.init.shared.b64", OPND_SINK, 32, 1u << 7);
    run_counted("mbarrier.arrive.shared.b64", state, 1, 0x7fffffff);
    uint64_t *states = reg_ptr(w, state), last = states[30];
    for (uint32_t l = 0; l < 31; l++)
        ck_assert_uint_eq(states[l] & MBARRIER_COUNT_MAX, 32 - l);
    ck_assert(!phase_ended(last));
    run_counted("mbarrier.arrive.shared.b64", OPND_SINK, 1, 1u << 31);
    ck_assert(phase_ended(last));
    ck_assert_uint_eq(fx.shared_lanes, 1);
    ck_assert_uint_eq(fx.addr[0], AT);
}
END_TEST

START_TEST(generic_addresses) {
    for (int l = 0; l < WARP_LANES; l++)
        ((uint64_t *)reg_ptr(w, base))[l] = SHARED_WINDOW;
    run_counted("mbarrier.init.b64", OPND_SINK, 3, 1);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(*(uint64_t *)(cta->shared + AT) & MBARRIER_COUNT_MAX, 3);
    uint64_t device = mem_alloc(&mem, BYTES, 0, NULL, false);
    for (int l = 0; l < WARP_LANES; l++)
        ((uint64_t *)reg_ptr(w, base))[l] = device;
    run_counted("mbarrier.init.b64", OPND_SINK, 3, 4);
    ck_assert_int_eq(fx.fault, FAULT_UNSUPPORTED);
    ck_assert_int_eq(fx.fault_lane, 2);
    ck_assert_ptr_nonnull(strstr(fx.fault_text, "lies in shared memory"));
    free(fx.fault_text);
}
END_TEST

/* Operations that PTX leaves undefined and Heddle reports: an earlier operation (or none), the operation, its operand,
 * and the expected message. */
static const struct {
    const char *before;
    uint32_t n_before;
    const char *opcode;
    uint32_t n;
    const char *message;
} wrongs[] = {
    {NULL, 0, "mbarrier.arrive.shared.b64", 1, "there is no mbarrier at shared 0x10"},
    {"mbarrier.init.shared.b64", 0, NULL, 0, "from 1 to 1048575"},
    {"mbarrier.init.shared.b64", 1048576, NULL, 0, "from 1 to 1048575"},
    {"mbarrier.init.shared.b64", 2, "mbarrier.arrive.shared.b64", 3, "more threads arrive"},
    {"mbarrier.init.shared.b64", 2, "mbarrier.arrive.noComplete.shared.b64", 2, "would complete the phase"},
    {"mbarrier.init.shared.b64", 2, "mbarrier.arrive_drop.shared.b64", 3, "more threads drop out"},
    {"mbarrier.init.shared.b64", 2, "mbarrier.expect_tx.shared.b64", 1048576, "a count of transactions"},
};
START_TEST(undefined_operations_are_faults) {
    int i = _i;
    fx.fault = FAULT_NONE;
    if (wrongs[i].before)
        run_counted(wrongs[i].before, OPND_SINK, wrongs[i].n_before, 1);
    uint64_t before = *(uint64_t *)(cta->shared + AT);
    if (wrongs[i].opcode)
        run_counted(wrongs[i].opcode, OPND_SINK, wrongs[i].n, 1);
    ck_assert_int_eq(fx.fault, FAULT_UNSUPPORTED);
    ck_assert_msg(strstr(fx.fault_text, wrongs[i].message) != NULL, "%s", fx.fault_text);
    ck_assert_uint_eq(*(uint64_t *)(cta->shared + AT), before);
    free(fx.fault_text);
}
END_TEST

/* inval changes nothing, neither in memory without an object nor in an object: phase 0 of the object has ended, and a
 * test after inval still finds that. */
START_TEST(inval_has_no_effect) {
    uint64_t *word = (uint64_t *)(cta->shared + AT);
    *word = 0x8000000000000001;
    run_counted("mbarrier.inval.shared.b64", OPND_SINK, 0, 1);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(*word, 0x8000000000000001);
    run_counted("mbarrier.init.shared.b64", OPND_SINK, 1, 1);
    run_counted("mbarrier.arrive.shared.b64", OPND_SINK, 1, 1);
    for (int i = 0; i < 2; i++)
        run_counted("mbarrier.inval.shared.b64", OPND_SINK, 0, 1);
    run_counted("mbarrier.test_wait.parity.shared.b64", done, 0, 1);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    ck_assert_uint_eq(pred_get(w, done) & 1, 1);
}
END_TEST

SUITE(isa_exec_mbarrier) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(random_walk);
    TEST(lanes_arrive_in_order);
    TEST(generic_addresses);
    TEST_LOOP(undefined_operations_are_faults, 0, sizeof wrongs / sizeof wrongs[0]);
    TEST(inval_has_no_effect);
}
