/* Tests the queues of a warp: each lane takes its entries in order, and lanes may take an entry together or
 * separately. */
#include "isa/affine/supply.h"
#include "test/test.h"

static struct supply s;
static struct affine_shape shape;

static void setup(void) {
    affine_shape_init(&shape, (struct dim3){64, 1, 1}, WARP_LANES);
    ck_assert(supply_init(&s, 2));
}
static void teardown(void) { supply_free(&s); }

static void put_address(uint32_t site, rowmask_t lanes, uint64_t base) {
    struct affine_entry e = {.site = site, .lanes = lanes, .kind = SITE_DATA, .at = {base, {4, 0, 0}}};
    ck_assert(supply_put(&s, 1, &e));
}

static void put_pred(uint32_t site, rowmask_t lanes, rowmask_t value) {
    struct affine_entry e = {.site = site, .lanes = lanes, .kind = SITE_PRED, .value = value};
    ck_assert(supply_put(&s, 0, &e));
}

/* The lanes of warp 1 are threads 32 to 63, so the address of lane l is base + 4 * (32 + l). */
START_TEST(all_lanes_take_one_entry) {
    uint64_t a[WARP_LANES] = {0};
    setup();
    put_address(3, LANES_ALL, 1000);
    ck_assert_uint_eq(supply_ready(&s, 1, QUEUE_ADDRESS), LANES_ALL);
    ck_assert_uint_eq(supply_ready(&s, 0, QUEUE_ADDRESS), 0);
    ck_assert_uint_eq(supply_addresses(&s, &shape, 1, 1, 3, LANES_ALL, a), 0);
    ck_assert_uint_eq(a[0], 1128);
    ck_assert_uint_eq(a[31], 1252);
    ck_assert_uint_eq(supply_ready(&s, 1, QUEUE_ADDRESS), 0);
    ck_assert_uint_eq(s.total, 0);
    teardown();
}
END_TEST

/* Lanes 0 and 1 take their entries before the other lanes do. */
START_TEST(lanes_take_parts_of_an_entry) {
    uint64_t a[WARP_LANES] = {0};
    setup();
    put_address(3, LANES_ALL, 1000);
    put_address(3, LANES_ALL, 2000);
    ck_assert_uint_eq(supply_addresses(&s, &shape, 1, 1, 3, 3, a), 0);
    ck_assert_uint_eq(a[1], 1132);
    ck_assert_uint_eq(a[2], 0); /* not requested */
    ck_assert_uint_eq(supply_addresses(&s, &shape, 1, 1, 3, 3, a), 0);
    ck_assert_uint_eq(a[1], 2132);
    ck_assert_uint_eq(supply_count(&s, 1, QUEUE_ADDRESS), 2);
    ck_assert_uint_eq(supply_ready(&s, 1, QUEUE_ADDRESS), ~(rowmask_t)3);
    ck_assert_uint_eq(supply_addresses(&s, &shape, 1, 1, 3, ~(rowmask_t)3, a), 0);
    ck_assert_uint_eq(a[2], 1136);
    ck_assert_uint_eq(supply_count(&s, 1, QUEUE_ADDRESS), 1);
    teardown();
}
END_TEST

/* Each side of a branch has an entry in the queue. A path that contains the lanes of both sides takes both entries. */
START_TEST(a_path_takes_several_entries) {
    rowmask_t out = 0;
    setup();
    put_pred(2, 0x0000ffff, 0xffffff0f);
    put_pred(2, 0xffff0000, 0x12345678);
    ck_assert_uint_eq(supply_predicate(&s, 0, 2, LANES_ALL, &out, false), 0); /* only reads */
    ck_assert_uint_eq(out, 0x1234ff0f);
    ck_assert_uint_eq(supply_ready(&s, 0, QUEUE_PREDICATE), LANES_ALL);
    out = 0;
    ck_assert_uint_eq(supply_predicate(&s, 0, 2, LANES_ALL, &out, true), 0);
    ck_assert_uint_eq(out, 0x1234ff0f);
    ck_assert_uint_eq(supply_count(&s, 0, QUEUE_PREDICATE), 0);
    teardown();
}
END_TEST

START_TEST(entries_of_another_site) {
    rowmask_t out = 0;
    setup();
    put_pred(2, 0x0000ffff, LANES_ALL);
    put_pred(4, 0xffff0000, LANES_ALL);
    ck_assert_uint_eq(supply_predicate(&s, 0, 2, LANES_ALL, &out, true), 0xffff0000);
    ck_assert_uint_eq(out, 0);
    ck_assert_uint_eq(supply_count(&s, 0, QUEUE_PREDICATE), 2); /* neither entry has been taken */
    teardown();
}
END_TEST

/* Addresses and predicates are in separate queues. When a queue grows, its order stays. */
START_TEST(queues_grow) {
    rowmask_t out = 0;
    setup();
    for (uint32_t k = 0; k < 100; k++) {
        put_pred(k, LANES_ALL, k);
        struct affine_entry e = {.site = k, .lanes = LANES_ALL, .kind = SITE_ADDR, .at = {k, {0}}};
        ck_assert(supply_put(&s, 0, &e));
        if (k % 3 == 0) {
            ck_assert_uint_eq(supply_predicate(&s, 0, k / 3, LANES_ALL, &out, true), 0);
            ck_assert_uint_eq(out, k / 3);
        }
    }
    uint64_t a[WARP_LANES];
    for (uint32_t k = 0; k < 100; k++) {
        ck_assert_uint_eq(supply_addresses(&s, &shape, 0, 0, k, LANES_ALL, a), 0);
        ck_assert_uint_eq(a[5], k);
    }
    supply_clear(&s);
    ck_assert_uint_eq(s.total, 0);
    teardown();
}
END_TEST

SUITE(isa_affine_supply) {
    TEST(all_lanes_take_one_entry);
    TEST(lanes_take_parts_of_an_entry);
    TEST(a_path_takes_several_entries);
    TEST(entries_of_another_site);
    TEST(queues_grow);
}
