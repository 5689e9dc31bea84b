#ifndef TEST_TIMING_MEM_L2_RIG_H
#define TEST_TIMING_MEM_L2_RIG_H
/* Test fixture: one slice of the L2 alone. Tests insert packets and the replies of DRAM. Defaults: a ROP latency of 10
 * cycles, 5 cycles from the tags to the reply, a data array of 32 bytes per cycle, lines of 128 bytes, and 4 sets of 2
 * ways.
 * - a packet that arrives at t reads the tags at t + 10
 * - a hit's reply is ready 5 cycles later
 * - a miss is sent to DRAM at once
 * Each test runs twice: once with a call of the slice in every cycle, and once only in cycles in which it has work. */
#include "test/test.h"
#include "timing/mem/l2.h"

enum { LINE = 128, ALL = 0xf, SETS = 4, ROP = 10, LATENCY = 5 };

static struct config cfg;
static struct memmap map;
static struct dram dram;
static struct l2 slice;
static uint64_t now;
static bool polls;

static inline void defaults(void) {
    config_default(&cfg);
    cfg.memory.l2_slices = cfg.dram.channels = 1;
    cfg.l2.size = SETS * 2 * LINE;
    cfg.l2.ways = 2;
    cfg.l2.mshrs = 8;
    cfg.l2.merges = 4;
    cfg.l2.latency = LATENCY;
    cfg.memory.rop_latency = ROP;
    cfg.memory.l2_port_bytes = 32;
    cfg.icnt.slice_queue = 8;
}

static inline void start(void) {
    memmap_init(&map, &cfg);
    ck_assert(dram_init(&dram, &cfg, 1, cfg.l2.mshrs * 8));
    ck_assert(l2_init(&slice, &cfg, &map, &dram, 0));
    now = 0;
}

static inline void stop(void) {
    l2_free(&slice);
    dram_free(&dram);
}

static inline void begin(int i) {
    polls = i == 1;
    defaults();
}

/* Runs up to and including cycle `last`. */
static inline void run(uint64_t last) {
    for (; now <= last; now++)
        if (polls || slice.next <= now)
            l2_tick(&slice, now);
}

static inline void send(const struct mem_request *r, uint64_t arrival) {
    struct mem_place at = memmap_place(&map, r->address);
    l2_accept(&slice, r, &at, arrival);
    l2_receive(&slice);
}
static inline void packet(enum mem_kind kind, uint64_t line, uint8_t sectors, uint32_t tag, uint64_t arrival) {
    struct mem_request r = {.kind = (uint8_t)kind,
                            .address = line * LINE,
                            .tag = tag,
                            .sectors = sectors,
                            .bytes = (uint16_t)(32 * __builtin_popcount(sectors)),
                            .sm = 3};
    if (kind == MEM_WRITE || kind == MEM_WRITE_BACK)
        r.full = sectors;
    send(&r, arrival);
}
static inline void atomic(uint64_t line, uint8_t serial, uint32_t tag, uint64_t arrival) {
    send(
        &(struct mem_request){
            .kind = MEM_ATOMIC, .address = line * LINE, .tag = tag, .sectors = 1, .bytes = 4, .serial = serial},
        arrival);
}

/* Checks the next request to DRAM: a read or write of these sectors of the line. Returns the tag of a read. */
static inline unsigned asked(bool write, uint64_t line, uint8_t sectors) {
    ck_assert_msg(dram.pipe_head != dram.pipe_tail, "DRAM is asked for nothing");
    const struct dram_request *q = &dram.pipe[dram.pipe_head++ & dram.pipe_mask];
    struct dram_place at = memmap_dram(&map, 0, line);
    dram.pipe_of[0]--;
    ck_assert_int_eq(q->write, write);
    ck_assert_uint_eq(q->sectors, sectors);
    ck_assert_uint_eq(q->bank, at.bank);
    ck_assert_uint_eq(q->row, at.row);
    return q->tag;
}
static inline void asked_nothing(void) {
    ck_assert_msg(dram.pipe_head == dram.pipe_tail, "DRAM is asked for something");
}

static inline void fill(unsigned mshr, uint8_t sectors, uint64_t ready) {
    l2_fill(&slice, &(struct dram_reply){.ready = ready, .tag = (uint16_t)mshr, .sectors = sectors});
}

static inline void take_reply(void) {
    if (l2_reply_taken(&slice) && slice.next > now)
        slice.next = now;
}

/* Checks the oldest reply and takes it. */
static inline void replied(uint32_t tag, uint64_t ready, uint32_t bytes) {
    const struct mem_request *r = l2_reply(&slice);
    ck_assert_msg(r != NULL, "no reply");
    ck_assert_msg(r->tag == tag && r->cycle == ready && r->bytes == bytes,
                  "reply to %u at %u with %u bytes, expected %u at %u with %u", r->tag, (unsigned)r->cycle, r->bytes,
                  tag, (unsigned)ready, bytes);
    take_reply();
}
static inline void no_reply(void) { ck_assert_ptr_null(l2_reply(&slice)); }

/* Brings a line into the slice, and clears the statistics. */
static inline void bring(uint64_t line) {
    uint64_t from = now + 100;
    packet(MEM_READ, line, ALL, 0, from);
    run(from + ROP);
    fill(asked(false, line, ALL), ALL, now);
    run(now + 300); /* long enough: even at a byte a cycle, the reply's data take 128 cycles */
    take_reply();
    memset(&slice.n, 0, sizeof slice.n);
}
#endif
