/* Tests the occupancy of an SM against values derived by hand, and the addresses of its warps' local memory. */
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
static const struct sm_demand none;

/* Limits of an SM: 48 warps, 8 CTAs, 32768 registers in units of 64, 48 KB of shared memory in units of 128 bytes. */
static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    asm_end(a);
    a->p.thread_regs = 20;
    config_default(&cfg);
    reconv_cfg_default(&options);
    cfg.sm.warps = 48;
    cfg.sm.ctas = 8;
    cfg.sm.registers = 32768;
    cfg.sm.register_unit = 64;
    cfg.sm.thread_registers = 0;
    cfg.sm.shared_bytes = 49152;
    cfg.sm.shared_unit = 128;
    l = asm_launch(a, &mem, 1, 64);
}
static void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

START_TEST(how_many_ctas_an_sm_holds) {
    static const struct {
        uint32_t threads, regs, shared, taken, n;
    } rows[] = {
        {64, 20, 0, 0, 8},          /* the limit of 8 CTAs */
        {192, 20, 0, 0, 8},         /* 6 warps per CTA: 48 of 48 warps */
        {193, 20, 0, 0, 6},         /* 7 warps per CTA: 42 of 48 warps */
        {1536, 20, 0, 0, 1},        /* 48 warps x 20 x 32 = 30720 registers */
        {256, 20, 0, 0, 6},         /* 8 warps per CTA: 48 of 48 warps, 6 x 5120 registers */
        {256, 32, 0, 0, 4},         /* 8 x 32 x 32 = 8192 registers per CTA: 4 CTAs */
        {256, 33, 0, 0, 3},         /* 8 warps x 1088 (33 x 32 = 1056, in units of 64) = 8704 registers per CTA */
        {256, 32, 0, 1, 3},         /* one register is already allocated */
        {256, 32, 0, 8192, 3},      /* 24576 left */
        {256, 32, 0, 32768, 0},     /* none left */
        {256, 32, 0, 40000, 0},     /* more registers are allocated than the SM has */
        {64, 20, 6144, 0, 8},       /* 49152 / 8 */
        {64, 20, 6145, 0, 7},       /* 6272 bytes per CTA, in units of 128 */
        {64, 20, 49152, 0, 1},      /* all */
        {64, 20, 49153, 0, 0},      /* more than all */
        {64, 20, UINT32_MAX, 0, 0}, /* UINT32_MAX does not become 0 when rounded up */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[256] = "";
        const struct sm_demand demand = {.registers = rows[i].taken};
        l.block.x = rows[i].threads;
        a->p.thread_regs = rows[i].regs;
        a->p.shared_bytes = rows[i].shared;
        uint32_t n = sm_occupancy(&cfg, &l, demand);
        ck_assert_msg(n == rows[i].n, "row %zu: %u, not %u", i, n, rows[i].n);
        ck_assert_msg(sm_fits(&cfg, &l, demand, why, sizeof why) == (n > 0), "row %zu: %s", i, why);
        ck_assert_int_eq(*why != 0, !n);
    }
    l.block.x = 256; /* a CTA needs 8 x 1024 registers, or 1024 if the SM holds registers of only one warp per CTA */
    a->p.thread_regs = 32;
    a->p.shared_bytes = 0;
    cfg.sm.registers = 2048;
    ck_assert_uint_eq(sm_occupancy(&cfg, &l, (struct sm_demand){.warps = 1}), 2);
    ck_assert_uint_eq(sm_occupancy(&cfg, &l, (struct sm_demand){.registers = 1, .warps = 1}), 1);
    ck_assert_uint_eq(sm_occupancy(&cfg, &l, none), 0);
    cfg.sm.registers = 32768;
    cfg.sm.thread_registers = 64; /* replaces the program's number of registers: 8 x 2048 registers per CTA */
    l.block.x = 256;
    a->p.shared_bytes = 0;
    ck_assert_uint_eq(sm_occupancy(&cfg, &l, none), 2);
}
END_TEST

/* The most registers with which as many CTAs fit. */
START_TEST(how_many_registers_leave_the_occupancy) {
    static const struct {
        uint32_t threads, shared, regs, most;
    } rows[] = {
        {256, 0, 20, 20},     /* 48 warps; 32768 / 48 = 682 a warp, in units of 64: 640, or 20 a thread */
        {256, 0, 5, 20},      /* also 48 warps */
        {256, 0, 33, 42},     /* 3 CTAs: 32768 / 24 = 1365 a warp; 1344 = 42 x 32 */
        {256, 20000, 20, 64}, /* 2 CTAs: 32768 / 16 = 2048 a warp */
        {64, 0, 20, 64},      /* 8 CTAs, which have 16 warps */
        {32, 49152, 20, 255}, /* one warp */
        {256, 0, 200, 200},   /* no CTA fits */
        {256, 49153, 20, 20}, /* no CTA fits */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t most = sm_most_registers(&cfg, rows[i].threads, rows[i].shared, rows[i].regs);
        EXPECT(most == rows[i].most, "row %zu: %u, not %u", i, most, rows[i].most);
    }
    cfg.sm.thread_registers = 64; /* occupancy counts 64 in any case */
    ck_assert_uint_eq(sm_most_registers(&cfg, 256, 0, 20), 64);
    ck_assert_uint_eq(sm_most_registers(&cfg, 256, 0, 70), 70);
}
END_TEST

START_TEST(why_a_cta_does_not_fit) {
    char why[512];
    l.block.x = 2048;
    a->p.thread_regs = 64;
    a->p.shared_bytes = 50000;
    ck_assert(!sm_fits(&cfg, &l, none, why, sizeof why));
    /* 64 warps of 2048 registers, 50000 bytes in units of 128 */
    ck_assert_str_eq(why,
                     "a CTA of 2048 threads does not fit on an SM: it needs 64 warps, and an SM has 48 (sm.warps); "
                     "it needs 131072 registers, and an SM has 32768 (sm.registers); it needs 50048 bytes of "
                     "shared memory, and an SM has 49152 (sm.shared_bytes)");
    l.block.x = 64;
    a->p.shared_bytes = 0;
    ck_assert(!sm_fits(&cfg, &l, (struct sm_demand){.registers = 32000}, why, sizeof why));
    ck_assert_str_eq(why, "a CTA of 64 threads does not fit on an SM: it needs 4096 registers, and an SM has 768 "
                          "(sm.registers, less what extensions take)");
}
END_TEST

/* 512 threads of 168 registers need 86016 registers, and the SM has 32768. With setmaxnreg the CTA takes these. */
START_TEST(a_cta_that_moves_registers_fits) {
    char why[512];
    l.block.x = 512;
    a->p.thread_regs = 168;
    ck_assert(!sm_fits(&cfg, &l, none, why, sizeof why));
    a->p.moves_registers = true;
    ck_assert(sm_fits(&cfg, &l, none, why, sizeof why));
    ck_assert_uint_eq(sm_occupancy(&cfg, &l, none), 1);
    ck_assert_uint_eq(sm_footprint_of(&cfg, &l, none).registers, 32768);
    /* less what extensions take */
    ck_assert_uint_eq(sm_footprint_of(&cfg, &l, (struct sm_demand){.registers = 768}).registers, 32000);
    a->p.thread_regs = 20; /* 16 warps of 640 registers: 3 CTAs fit */
    ck_assert_uint_eq(sm_footprint_of(&cfg, &l, none).registers, 10240);
}
END_TEST

/* ---- local memory ---- */

enum { SMS = 3, LOCAL = 40, WORDS = LOCAL / 4 }; /* bytes and words of local memory per thread */

static int compare(const void *x, const void *y) {
    uint64_t i = *(const uint64_t *)x, j = *(const uint64_t *)y;
    return i < j ? -1 : i > j;
}

/* Every word of every possible warp of all SMs has its own line of 128 bytes. With the map by word, the lines of all
 * warps form one range without gaps. With the map by warp, the lines of each warp form a range without gaps. */
START_TEST(local_memory_of_warps_lies_apart) {
    static uint64_t line[SMS * 64 * WORDS];
    struct timed_program timed;
    uint32_t n = 0, ctas, warps = 3;
    cfg.gpu.sms = SMS;
    cfg.lsu.local_map = _i ? LOCAL_BY_WORD : LOCAL_BY_WARP;
    cfg.sm.ctas = 4;
    a->p.local_bytes = LOCAL;
    l.block.x = warps * WARP_LANES;
    struct memsys *m = memsys_new(&cfg);
    ck_assert(timed_init(&timed, &a->p, &cfg, 0));
    ctas = sm_occupancy(&cfg, &l, none);
    ck_assert_uint_eq(ctas, 4);
    for (uint32_t s = 0; s < SMS; s++) {
        struct sm *sm = sm_new(&cfg, &reconv_spe, &options, m, s);
        ck_assert_ptr_nonnull(sm);
        ck_assert(sm_launch(sm, &l, &timed, false, 0));
        for (uint32_t c = 0; c < ctas; c++)
            ck_assert(sm_cta_start(sm, (struct dim3){c, 0, 0}, 0));
        ck_assert_uint_eq(sm_status(sm)->ctas, ctas);
        for (uint32_t w = 0; w < cfg.sm.warps; w++)
            for (uint64_t k = 0; k < WORDS && sm->warps.slot[w].w; k++)
                line[n++] = sm_local_base(sm, w) + k * sm->memory.local_stride;
        sm_free(sm);
    }
    ck_assert_uint_eq(n, SMS * ctas * warps * WORDS);
    qsort(line, n, sizeof *line, compare);
    for (uint32_t i = 1; i < n; i++) {
        ck_assert_uint_eq(line[i] % 128, 0);
        ck_assert_uint_ge(line[i], line[i - 1] + 128);
        ck_assert_msg(!_i || line[i] == line[i - 1] + 128, "a gap before 0x%llx", (unsigned long long)line[i]);
        ck_assert_msg(_i || i % WORDS == 0 || line[i] == line[i - 1] + 128, "a warp in pieces");
    }
    timed_free(&timed);
    memsys_free(m);
}
END_TEST

SUITE(timing_sm_cta) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(how_many_ctas_an_sm_holds);
    TEST(how_many_registers_leave_the_occupancy);
    TEST(why_a_cta_does_not_fit);
    TEST(a_cta_that_moves_registers_fits);
    TEST_LOOP(local_memory_of_warps_lies_apart, 0, 2);
}
