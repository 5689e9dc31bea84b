/* Tests the bytes that presets with a whole memory system move between L2 and DRAM. The expected bytes follow from the
 * size of the memory's smallest access:
 * - volta-classic: HBM2, a pseudo-channel of 64 bits, bursts of 4: 32 bytes, one sector
 * - turing-rtx2060: GDDR6, a channel of 16 bits, bursts of 16: 32 bytes, one sector
 * - fermi: GDDR5, two chips of 32 bits, bursts of 8: 64 bytes; an L2 miss fetches a line of 128 bytes
 * - fermi-gpgpusim: like fermi, but each sector of a line is a separate request. That wastes half of a burst, as in the
 *   reference.
 * - gt200: GDDR3, two chips of 32 bits, bursts of 4: 32 bytes; the L2 does not cache data */
#include "test/timing/mem/rig.h"

static const struct {
    const char *name;
    uint32_t sector; /* bytes for a single sector of a line */
    uint32_t line;   /* bytes for all four sectors */
    uint32_t write;  /* bytes for a single dirty sector of a line */
    double peak;     /* GB/s */
    bool uncached;   /* the L2 does not cache data, so every read goes to DRAM */
} presets[] = {
    {"volta-classic", 32, 128, 32, 4096 / 8 * 2 * .850, false}, /* 4,096 bits at 2 x 850 MHz */
    {"turing-rtx2060", 32, 128, 32, 192 / 8 * 4 * 3.5, false},  /* GDDR6: 192 bits at 14 Gbit/s per pin */
    {"fermi", 128, 128, 64, 384 / 8 * 4 * .924, false},         /* GDDR5: 384 bits at 3.696 Gbit/s per pin */
    {"fermi-gpgpusim", 256, 256, 64, 384 / 8 * 4 * .924, false},
    {"gt200", 32, 128, 32, 512 / 8 * 2 * 1.242, true}, /* 512 bits at 2 x 1,242 MHz */
};
enum { A = 0x10000000, LINE = 128, SECTOR = 32, N = 64 };

static struct rig r;

static void begin(const char *name) {
    char err[256];
    ck_assert(config_load(&r.cfg, name, err, sizeof err));
    r.cfg.gpu.sms = 1;
    rig_start(&r);
}

/* Accesses the line at `base`: each of lanes 0 to 3 accesses the first word of one sector. Only the sectors in
 * `sectors` are accessed. */
static void touch(enum mem_kind kind, uint64_t base, unsigned sectors) {
    uint64_t addr[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + l % 4 * SECTOR;
    struct lsu_access a = {.lanes = sectors,
                           .space = SPACE_GLOBAL,
                           .kind = (uint8_t)kind,
                           .n_elems = 1,
                           .msize = 4,
                           .addr = addr,
                           .tag = 1};
    uint32_t tag;
    bool missed;
    while (!lsu_can_accept(r.lsu[0]))
        ticks(&r, 1);
    lsu_accept(r.lsu[0], &a, r.now);
    for (int n = 0; !lsu_done(r.lsu[0], &tag, &missed); n++) {
        ck_assert_int_lt(n, 10000);
        ticks(&r, 1);
    }
}

static double moved(const char *stat) {
    struct stats s;
    ck_assert(stats_init(&s));
    ticks(&r, 3000);
    memsys_stats(r.mem, &s);
    double n = stats_get(&s, stat);
    stats_free(&s);
    return n;
}

START_TEST(reads_move_the_sectors_that_are_read) {
    for (unsigned sectors = 1; sectors < 16; sectors++) {
        double each = presets[_i].line == presets[_i].sector ? presets[_i].line
                                                             : presets[_i].sector * __builtin_popcount(sectors);
        begin(presets[_i].name);
        for (uint64_t line = 0; line < N; line++)
            touch(MEM_READ, A + line * LINE, sectors);
        ck_assert_double_eq(moved("dram.read_bytes"), N * each);
        /* unless the L2 caches no data, it has these sectors now, so no read goes to DRAM */
        for (uint64_t line = 0; line < N; line++)
            touch(MEM_READ, A + line * LINE, sectors);
        ck_assert_double_eq(moved("dram.read_bytes"), presets[_i].uncached ? N * each : 0);
        rig_stop(&r);
    }
}
END_TEST

/* One access reads all four sectors of a line. DRAM must move exactly the bytes of a line, even if one request reads
 * several sectors. */
START_TEST(a_line_moves_all_of_its_sectors) {
    begin(presets[_i].name);
    for (uint64_t line = 0; line < N; line++)
        touch(MEM_READ, A + line * LINE, 15);
    ck_assert_double_eq(moved("dram.read_bytes"), N * presets[_i].line);
    rig_stop(&r);
}
END_TEST

/* A kernel writes one word of each line, which causes no reads from DRAM. Then reads of as many bytes as the L2
 * holds evict the dirty sectors, one by one. */
START_TEST(writes_move_the_sectors_that_are_dirty) {
    begin(presets[_i].name);
    if (presets[_i].uncached) {
        for (uint64_t line = 0; line < N; line++)
            touch(MEM_WRITE, A + line * LINE, 1);
        ck_assert_double_eq(moved("dram.write_bytes"), N * presets[_i].write);
        rig_stop(&r);
        return;
    }
    r.cfg.l2.size = r.cfg.memory.l2_slices * r.cfg.l2.ways * LINE; /* one set in each slice */
    rig_stop(&r);
    rig_start(&r);
    const uint64_t lines = r.cfg.l2.size / LINE;
    for (uint64_t line = 0; line < N; line++)
        touch(MEM_WRITE, A + line * LINE, 1);
    ck_assert_double_eq(moved("dram.read_bytes"), 0);
    for (uint64_t line = 0; line < 2 * lines; line++)
        touch(MEM_READ, 2 * (uint64_t)A + line * LINE, 1);
    ck_assert_double_eq(moved("dram.write_bytes"), N * presets[_i].write);
    rig_stop(&r);
}
END_TEST

/* Without an L2, no data is cached. One access reads sector 0 of a line. While this read is pending, other accesses
 * read sector 1, write sector 0, and update sector 0 atomically. A later read of the whole line transfers all its
 * sectors again. */
START_TEST(no_l2_keeps_nothing) {
    static const uint64_t lanes[WARP_LANES] = {A, A + SECTOR};
    static const struct {
        enum mem_kind kind;
        unsigned lanes;
    } accesses[] = {{MEM_READ, 1}, {MEM_READ, 2}, {MEM_WRITE, 1}, {MEM_ATOMIC, 1}};
    begin("gt200");
    uint32_t tag;
    bool missed;
    for (uint32_t i = 0; i < 4; i++) {
        struct lsu_access a = {.lanes = accesses[i].lanes,
                               .space = SPACE_GLOBAL,
                               .kind = (uint8_t)accesses[i].kind,
                               .n_elems = 1,
                               .msize = 4,
                               .addr = lanes,
                               .tag = i + 1};
        while (!lsu_can_accept(r.lsu[0]))
            ticks(&r, 1);
        lsu_accept(r.lsu[0], &a, r.now);
    }
    for (int i = 0; i < 5000; i++) {
        while (lsu_done(r.lsu[0], &tag, &missed))
            ;
        ticks(&r, 1);
    }
    moved("dram.read_bytes");
    touch(MEM_READ, A, 15);
    ck_assert_double_eq(moved("dram.read_bytes"), LINE);
    rig_stop(&r);
}
END_TEST

START_TEST(the_peak_is_the_cards) {
    char err[256];
    static struct config c;
    ck_assert(config_load(&c, presets[_i].name, err, sizeof err));
    double peak = (double)c.dram.channels * c.dram.bus_bytes * c.dram.data_rate * c.gpu.dram_mhz / 1000;
    ck_assert_double_eq_tol(peak, presets[_i].peak, .01);
}
END_TEST

/* Machines with HBM2e and HBM3 have up to 256 pseudo-channels with one slice each. Consecutive pieces are in
 * different channels, until all channels have been used. */
START_TEST(many_pseudo_channels) {
    static const uint32_t channels[] = {61, 63, 64, 80, 128, 160, 192, 256};
    begin("volta-classic");
    rig_stop(&r);
    r.cfg.dram.channels = r.cfg.memory.l2_slices = channels[_i];
    r.cfg.l2.size = channels[_i] * 16 * LINE * 4;
    rig_start(&r);
    for (uint64_t piece = 0; piece < 4 * N; piece++)
        touch(MEM_READ, A + piece * r.cfg.dram.interleave, 1);
    ck_assert_double_eq(moved("dram.read_bytes"), 4 * N * SECTOR);
    for (uint64_t piece = 4 * N; piece < 8 * N; piece++)
        touch(MEM_READ, A + piece * r.cfg.dram.interleave, 1);
    double rows = moved("dram.activates"); /* a row of 1,024 bytes has four pieces of 256 */
    ck_assert_double_le(rows, 4. * N / 4 + channels[_i]);
    rig_stop(&r);
}
END_TEST

SUITE(timing_smallest) {
    enum { PRESETS = sizeof presets / sizeof presets[0] };
    TEST_LOOP(reads_move_the_sectors_that_are_read, 0, PRESETS);
    TEST_LOOP(a_line_moves_all_of_its_sectors, 0, PRESETS);
    TEST_LOOP(writes_move_the_sectors_that_are_dirty, 0, PRESETS);
    TEST(no_l2_keeps_nothing);
    TEST_LOOP(the_peak_is_the_cards, 0, PRESETS);
    TEST_LOOP(many_pseudo_channels, 0, 8);
}
