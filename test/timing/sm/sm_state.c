/* Tests a new SM, and the state of a slot when a warp, a CTA or a context starts or ends in it. */
#include "test/bases.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"
#include "timing/mem/memsys.h"
#include "timing/sm/stages.h"

static struct asm_program *a;
static struct memory mem;
static struct config cfg;
static struct reconv_cfg options;
static struct launch l;
static struct memsys *m;
static struct timed_program timed;
static struct sm *sm;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    asm_op(a, "add.u32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    asm_end(a);
    a->p.thread_regs = 16;
    config_default(&cfg);
    reconv_cfg_default(&options);
    m = NULL;
    sm = NULL;
    l = asm_launch(a, &mem, 1, 64);
}
static void teardown(void) {
    sm_free(sm);
    if (m)
        memsys_free(m);
    mem_free_all(&mem);
    asm_free(a);
}

static void make(const struct reconv_ops *ops) {
    sm_free(sm);
    if (m)
        memsys_free(m);
    m = memsys_new(&cfg);
    sm = sm_new(&cfg, ops, &options, m, 0);
    ck_assert_ptr_nonnull(sm);
}

/* In a divided SM, each of the four parts has a quarter of the register banks, pipes and collectors, and a memory
 * pipe with one unit. The numbers of operands per cycle and of result buses hold for each part. */
START_TEST(parts_of_an_sm) {
    static const uint32_t units[N_PIPES] = {
        [PIPE_SP] = 8, [PIPE_SFU] = 4, [PIPE_INT] = 12, [PIPE_DP] = 0, [PIPE_AFFINE] = 16, [PIPE_MEM] = 1};
    static const uint32_t collectors[N_PIPES] = {
        [PIPE_SP] = 8, [PIPE_SFU] = 12, [PIPE_INT] = 16, [PIPE_DP] = 4, [PIPE_AFFINE] = 20, [PIPE_MEM] = 24};
    for (int k = 0; k < N_PIPES; k++) {
        cfg.sm.pipe[k].units = units[k];
        cfg.sm.pipe[k].collectors = collectors[k];
    }
    cfg.sm.schedulers = 4;
    cfg.sm.banks = 32;
    for (uint32_t n = 1; n <= 4; n += 3) {
        cfg.sm.subcores = n == 4;
        make(&reconv_spe);
        ck_assert_uint_eq(sm->operands.n_parts, n);
        for (uint32_t i = 0; i < n; i++) {
            const struct exec_part *e = &sm->operands.part[i];
            ck_assert_uint_eq(e->regfile.banks, 32 / n);
            ck_assert_uint_eq(e->regfile.operands, cfg.sm.operands);
            ck_assert_uint_eq(e->regfile.result_bus, cfg.sm.result_bus);
            ck_assert_uint_eq(e->mem.collectors, 24 / n);
            for (int k = 0; k < N_PIPES; k++) {
                ck_assert_uint_eq(e->collector[k].units, units[k] ? collectors[k] / n : 0);
                ck_assert_uint_eq(e->units[k].units, k == PIPE_MEM ? 1 : units[k] / n);
                ck_assert_uint_eq(e->collector[k].latch, units[k] ? cfg.sm.latch_collect : 0);
            }
        }
    }
}
END_TEST

/* At first, all table entries are free, and each is allocated once. */
START_TEST(tables_begin_empty) {
    bool seen[MAX_INFLIGHT] = {false}, seen_mem[MEM_QUEUE] = {false};
    uint32_t n = 0;
    cfg.sm.warps = 70;
    make(&reconv_spe);
    for (; in_flight_has_room(&sm->in_flight); n++) {
        const uint32_t i = in_flight_new(&sm->in_flight, 0, 0, 0, 1, 0, 0);
        ck_assert(i < MAX_INFLIGHT && !seen[i]);
        seen[i] = true;
    }
    ck_assert_uint_eq(n, MAX_INFLIGHT);
    ck_assert_uint_eq(sm->memory.n_free, MEM_QUEUE);
    for (uint32_t i = 0; i < MEM_QUEUE; i++) {
        ck_assert(sm->memory.free[i] < MEM_QUEUE && !seen_mem[sm->memory.free[i]]);
        seen_mem[sm->memory.free[i]] = true;
    }
    ck_assert_uint_eq(sm->warps.slots, 70 + MAX_CONTEXTS);
    ck_assert_uint_eq(sm->warps.words, 2);
    for (uint32_t w = 0; w < sm->warps.slots; w++) {
        ck_assert_uint_eq(sm->warps.slot[w].loads, NO_INFLIGHT);
        for (uint32_t v = 0; v < w; v++) { /* no two warps share memory */
            ck_assert(sm->warps.slot[w].path >= sm->warps.slot[v].path + sm->warps.most_paths);
            ck_assert(sm->warps.slot[w].await >= sm->warps.slot[v].await + MAX_PATHS);
            ck_assert(sm->warps.slot[w].control.held >= sm->warps.slot[v].control.held + MAX_PATHS);
            ck_assert((unsigned char *)sm->warps.slot[w].control.model >=
                      (unsigned char *)sm->warps.slot[v].control.model + reconv_spe.near);
            ck_assert((unsigned char *)warps_far(&sm->warps, w) >=
                      (unsigned char *)warps_far(&sm->warps, v) + reconv_spe.size(&options, cfg.sm.warp_size));
            ck_assert((unsigned char *)warps_far(&sm->warps, v) >=
                      (unsigned char *)sm->warps.slot[w].control.model + reconv_spe.near);
        }
    }
    cfg.sm.warps = 64;
    make(&reconv_spe);
    ck_assert_uint_eq(sm->warps.words, 1);
}
END_TEST

/* Tests the scoreboard of each model, and the kinds of instructions that are reported to the model. */
START_TEST(requests_of_a_model) {
    make(&reconv_spe);
    ck_assert(sm->model.sb == &scoreboard_warp && sm->model.long_latency == 0);
    make(&reconv_dpe);
    ck_assert(sm->model.sb == &scoreboard_shadow && sm->model.long_latency == 0);
    options.dpe_scoreboard = 1;
    options.dpe_scheduler = 1;
    make(&reconv_dpe);
    ck_assert(sm->model.sb == &scoreboard_exact && sm->model.long_latency == (TIMED_MEMORY | TIMED_SLOW));
    make(&reconv_its);
    ck_assert(sm->model.sb == &scoreboard_counted && sm->model.long_latency == 0);
    options.si_yield = false;
    make(&reconv_si);
    ck_assert(sm->model.sb == &scoreboard_counted_lanes && sm->model.long_latency == TIMED_YIELD);
    options.si_yield = true;
    options.subwarp_board = 1;
    make(&reconv_si);
    ck_assert(sm->model.sb == &scoreboard_exact && sm->model.long_latency == (TIMED_YIELD | TIMED_LONG | TIMED_SLOW));
}
END_TEST

static void launch(void) {
    ck_assert(timed_init(&timed, &a->p, &cfg, 0));
    ck_assert(sm_launch(sm, &l, &timed, false, 100));
}

/* A new warp does not depend on the earlier contents of its slot, and counts as older than warps that start later. */
START_TEST(a_warp_begins_anew) {
    make(&reconv_spe);
    launch();
    ck_assert_uint_eq(sm->clock.accounted, 100);
    ck_assert_uint_eq(sm->status.finished_at, 100);
    ck_assert(sm_cta_start(sm, (struct dim3){3, 0, 0}, 100));
    ck_assert_uint_eq(sm->status.ctas, 1);
    ck_assert_uint_eq(sm->status.next, 100);
    ck_assert_uint_eq(sm->ctas.warps_used, 2);
    ck_assert_uint_eq(sm->ctas.registers_used, 2 * 16 * 32);
    struct sm_warp *sw = &sm->warps.slot[1];
    sw->inflight = sw->accesses = sw->atomics = 5;
    sw->ordered = 1;
    sw->last_path = sw->n_await = 2;
    sw->finished = sw->selected = sw->gave_way = true;
    sw->stack_depth = sw->stack_resident = 9;
    sm_warps_start(sm, 0, 100);
    ck_assert(!sw->inflight && !sw->accesses && !sw->atomics && !sw->ordered && !sw->last_path && !sw->n_await);
    ck_assert(!sw->finished && !sw->selected && !sw->gave_way && !sw->stack_depth && !sw->stack_resident);
    ck_assert_uint_eq(sw->n_paths, 1);
    ck_assert_uint_eq(sw->path[0].lanes, ~0u);
    ck_assert_uint_eq(sm->warps.age[0] + 1, sm->warps.age[1]);
    ck_assert(warp_set_has(&sm->warps.live, 0) && warp_set_has(&sm->warps.live, 1) &&
              !warp_set_has(&sm->warps.live, 2));
    ck_assert_uint_eq(sm->n.ctas, 1);
    ck_assert_uint_eq(sm->n.warps, 2);
    ck_assert_uint_eq(sm->n.max_warps, 2);
    sm_launch_end(sm);
    timed_free(&timed);
}
END_TEST

static void *make_state(const struct config *c, uint32_t id, void *ctx) {
    (void)c, (void)id;
    return ctx;
}
static uint32_t registers(const struct config *c, const struct launch *ll, void *ctx) {
    (void)c, (void)ll, (void)ctx;
    return 4096;
}
static const struct sm_unit_ops owner = {.name = "owner", .make = make_state, .registers = registers};

/* Contexts end with their launch, so the next launch may open as many contexts. Their registers are not available to
 * CTAs. */
START_TEST(contexts_end_with_the_launch) {
    int dummy;
    const struct sm_context_start how = {.name = "x", .stream = 0, .lanes = 3};
    /* 4096 registers remain, enough for four CTAs; a word of local memory takes 4 * 32 bytes in each of the 2 warps
     * of a CTA */
    cfg.sm.registers = 8192;
    cfg.lsu.local_map = LOCAL_BY_WORD;
    cfg.gpu.sms = 3;
    make(&reconv_spe);
    ck_assert(sm_add_unit(sm, &(struct sm_unit_row){&owner, &dummy}));
    for (int round = 0; round < 2; round++) {
        launch();
        ck_assert_uint_eq(sm->memory.local_stride, 4 * 32 * 2 * 4 * 3);
        for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
            ck_assert_uint_eq(sm_context_open(sm, &owner, &how, 100), cfg.sm.warps + i);
            ck_assert_uint_eq(sm->contexts.n, i + 1);
            ck_assert(sm->warps.slot[cfg.sm.warps + i].context && sm->warps.slot[cfg.sm.warps + i].asleep);
        }
        ck_assert_uint_eq(contexts_awake(sm), 0);
        sm_contexts_sleep(sm, false, 101);
        ck_assert_uint_eq(contexts_awake(sm), MAX_CONTEXTS);
        sm_context_close(sm, cfg.sm.warps + 1, 102);
        ck_assert_uint_eq(sm->contexts.n, MAX_CONTEXTS - 1);
        ck_assert_ptr_null(sm->contexts.slot[1].owner);
        ck_assert_uint_eq(sm->warps.slot[cfg.sm.warps + 1].n_paths, 0);
        /* the slot has no paths, so no set of slots by path state contains it */
        for (int k = 0; k < N_PATH_STATES; k++)
            ck_assert(!warps_state_has(&sm->warps, (uint32_t)k, cfg.sm.warps + 1));
        sm_launch_end(sm);
        ck_assert_uint_eq(sm->contexts.n, 0);
        for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
            const struct sm_warp *sw = &sm->warps.slot[cfg.sm.warps + i];
            ck_assert(!sm->contexts.slot[i].owner && !sw->w && !sw->context && !sw->asleep);
            ck_assert(!warp_set_has(&sm->warps.live, cfg.sm.warps + i));
            ck_assert(!warp_set_any(&sm->ctas.slot[SM_CTA_SLOTS + i].warps, WARP_WORDS));
        }
        ck_assert_ptr_null(sm->launch);
        ck_assert_ptr_null(sm->program);
        timed_free(&timed);
    }
}
END_TEST

SUITE(timing_sm_state) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(parts_of_an_sm);
    TEST(tables_begin_empty);
    TEST(requests_of_a_model);
    TEST(a_warp_begins_anew);
    TEST(contexts_end_with_the_launch);
}
