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

SUITE(isa_warp) { TEST(thread_ids); }
