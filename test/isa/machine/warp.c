#include "isa/machine/warp.h"
#include "test/test.h"

/* Tests the state of a warp at the start of its CTA. */

/* Returns a thread's index in dimension s, computed from the thread's number by PTX ISA 10.1: x varies fastest. */
static uint32_t place(struct dim3 b, uint32_t thread, enum special s) {
    return s == SPECIAL_TID_X ? thread % b.x : s == SPECIAL_TID_Y ? thread / b.x % b.y : thread / b.x / b.y;
}

static uint32_t differ(struct dim3 b) {
    uint32_t n = 0, threads = b.x * b.y * b.z;
    for (uint32_t i = 0; i * WARP_LANES < threads; i++)
        for (enum special s = SPECIAL_TID_X; s <= SPECIAL_TID_Z; s++) {
            uint32_t id[WARP_LANES];
            warp_thread_ids(b, i * WARP_LANES, s, id);
            for (uint32_t l = 0; l < WARP_LANES; l++)
                n += id[l] != place(b, i * WARP_LANES + l, s);
        }
    return n;
}

/* For all x and y with x * y <= 1024, tests a block with one layer, and a block with as many layers as 1024 threads
 * allow. */
START_TEST(thread_ids) {
    uint32_t blocks = 0;
    for (uint32_t x = 1; x <= MAX_CTA_THREADS; x++)
        for (uint32_t y = 1; x * y <= MAX_CTA_THREADS; y++) {
            struct dim3 flat = {x, y, 1}, full = {x, y, MAX_CTA_THREADS / (x * y)};
            ck_assert_msg(!differ(flat) && !differ(full), "a block of %u x %u", x, y);
            blocks++;
        }
    ck_assert_uint_eq(blocks, 7262); /* number of shapes: the sum of floor(1024 / x) for x from 1 to 1024 */
}
END_TEST

/* A CTA that follows another one in the same storage has zeroed registers and its own special registers. The first
 * 4-byte special registers share a range of the bank, and %ctaid.x of 8 bytes lies outside of it. */
START_TEST(a_later_cta_starts_alike) {
    enum { TID = SINK_BYTES, CTAID = TID + 128, WIDE = CTAID + 128, FREE = WIDE + 256, ALL = FREE + 128 };
    static _Alignas(64) unsigned char constants[SINK_BYTES];
    struct special_init specials[] = {
        {SPECIAL_CTAID_X, 4, CTAID, 0, 0}, {SPECIAL_TID_X, 4, TID, 0, 0}, {SPECIAL_CTAID_X, 8, WIDE, 0, 0}};
    struct program p = {.reg_bytes = ALL, .specials = specials, .n_specials = 3, .constants = constants};
    struct launch l = {.program = &p, .grid = {9, 1, 1}, .block = {64, 1, 1}};
    struct cta *c = cta_new(&l);
    for (uint32_t x = 0; x < 9; x += 4) {
        cta_start(c, (struct dim3){x, 0, 0}, 0);
        for (uint32_t i = 0; i < 64; i++) {
            unsigned char *bank = c->warps[i / 32].bank[0];
            const uint32_t lane = i % 32, *at32 = (const uint32_t *)(const void *)bank;
            ck_assert_uint_eq(at32[TID / 4 + lane], i);
            ck_assert_uint_eq(at32[CTAID / 4 + lane], x);
            ck_assert_uint_eq(((const uint64_t *)(const void *)bank)[WIDE / 8 + lane], x);
            ck_assert_uint_eq(at32[FREE / 4 + lane] | at32[lane], 0);
        }
        for (uint32_t i = 0; i < 2; i++) { /* what the CTA writes */
            memset(c->warps[i].bank[0], 1, TID);
            memset(c->warps[i].bank[0] + FREE, 1, ALL - FREE);
        }
    }
    cta_free(c);
}
END_TEST

SUITE(isa_warp) {
    TEST(thread_ids);
    TEST(a_later_cta_starts_alike);
}
