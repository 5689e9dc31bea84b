#include "isa/machine/lazy.h"
#include "test/resident.h"
#include "test/test.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Memory that the host provides on first use. */

enum { SMALL = 100, LARGE = 64 << 20 };
/* With the address sanitizer, a line lies between two blocks, and its marks take an eighth of the memory. */
#ifdef __SANITIZE_ADDRESS__
enum { BETWEEN = 64, MARKS = 8 };
#else
enum { BETWEEN = 0, MARKS = INT32_MAX };
#endif

static void check_zeroed(size_t bytes) {
    unsigned char *p = lazy_new(bytes);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq((uintptr_t)p % 64, 0);
    for (size_t i = 0; i < bytes; i += 61)
        ck_assert_uint_eq(p[i], 0);
    p[0] = p[bytes - 1] = 1;
    lazy_free(p);
}

START_TEST(small_memory_is_zeroed_and_aligned) {
    unsigned char *used = lazy_new(SMALL); /* the next block may be this one again */
    for (size_t i = 0; i < SMALL; i++)
        used[i] = 0xff;
    lazy_free(used);
    check_zeroed(SMALL);
    check_zeroed(0x3fff);
}
END_TEST

START_TEST(large_memory_is_zeroed_and_aligned) {
    check_zeroed(0x4000);
    check_zeroed(LARGE);
}
END_TEST

/* 64 MB are 16,384 pages of 4 KB. The two written bytes are in two pages. The limit of 1,000 leaves room for what the
 * library of C does. */
START_TEST(an_untouched_page_takes_no_memory) {
    const unsigned long before = resident_pages();
    unsigned char *p = lazy_new(LARGE);
    p[0] = p[LARGE - 1] = 1;
    ck_assert_uint_lt(resident_pages() - before, 1000);
    lazy_free(p);
    ck_assert_uint_lt(resident_pages() - before, 1000);
}
END_TEST

/* With lazy_keep(), a freed mapping of 2 MB comes back for the same size, cleared. */
START_TEST(freed_memory_comes_back_cleared) {
    enum { TABLE = 2 << 20 };
    lazy_keep(4 << 20);
    unsigned char *first = lazy_new(TABLE);
    memset(first, 0xff, TABLE);
    lazy_free(first);
    unsigned char *other = lazy_new(TABLE + 4096), *again = lazy_new(TABLE);
    ck_assert_ptr_ne(other, first);
    ck_assert_ptr_eq(again, first);
    for (size_t i = 0; i < TABLE; i++)
        ck_assert_uint_eq(again[i], 0);
    lazy_free(other);
    lazy_free(again);
    lazy_keep(0);
}
END_TEST

/* Of a mapping of 1 MB, 256 pages, three are written, and the same three when it comes back. The other pages stay
 * without memory; the limit of 100 leaves room for what the library of C does. */
START_TEST(untouched_pages_of_kept_memory_stay_without_memory) {
    enum { TABLE = (1 << 20) - 64 };
    static const size_t at[] = {5000, 500000, TABLE - 1};
    lazy_keep(4 << 20);
    const unsigned long before = resident_pages();
    unsigned char *p = lazy_new(TABLE);
    for (int i = 0; i < 3; i++)
        p[at[i]] = 1;
    for (int round = 0; round < 2; round++) {
        lazy_free(p);
        ck_assert_ptr_eq(lazy_new(TABLE), p);
        for (int i = 0; i < 3; i++) {
            ck_assert_uint_eq(p[at[i]], 0);
            p[at[i]] = 1;
        }
    }
    ck_assert_uint_lt(resident_pages() - before, 100);
    for (size_t i = 0; i < TABLE; i++)
        ck_assert_uint_eq(p[i], i == at[0] || i == at[1] || i == at[2]);
    lazy_free(p);
    lazy_keep(0);
}
END_TEST

/* 100 tables of 1,000,000 bytes in mappings of 4 MB: at most 16 MB, 4,096 pages, stay when all are freed, if the
 * process may keep that. */
START_TEST(few_freed_bytes_are_kept) {
    static unsigned char *table[100];
    const unsigned long before = resident_pages();
    lazy_keep(16 << 20);
    for (int i = 0; i < 100; i++)
        memset(table[i] = lazy_new(1000000), 1, 1000000);
    ck_assert_uint_gt(resident_pages() - before, 20000);
    for (int i = 0; i < 100; i++)
        lazy_free(table[i]);
    ck_assert_uint_le(resident_pages() - before, 4096 + 100 + 100 * 1000000 / 4096 / MARKS);
    lazy_keep(0);
}
END_TEST

/* Blocks of 16 KB fill mappings of 4 MB. A block without bytes that follows is in a mapping, so it can be freed. */
START_TEST(a_block_without_bytes_can_be_freed) {
    enum { BLOCKS = 520 };
    unsigned char *p[BLOCKS], *empty[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        p[i] = lazy_new(16 << 10);
        empty[i] = lazy_new(0);
        ck_assert(p[i] && empty[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        lazy_free(empty[i]);
        lazy_free(p[i]);
    }
}
END_TEST

/* Two blocks of 1,000 bytes need 1,024 bytes each, in multiples of 64. They count until both are free. A block of
 * 2,000,000 bytes has a mapping of its own. */
START_TEST(used_bytes_are_known) {
    const size_t before = lazy_used();
    unsigned char *p = lazy_new(1000), *q = lazy_new(1000), *large = lazy_new(2000000);
    ck_assert_uint_ge(lazy_used() - before, 2 * 1024 + 2000000);
    ck_assert_uint_le(lazy_used() - before, 2 * 1024 + 2000000 + 4096 + 512);
    lazy_free(large);
    ck_assert_uint_le(lazy_used() - before, 2 * 1024 + 512);
    lazy_free(p);
    ck_assert_uint_ge(lazy_used() - before, 2 * 1024);
    lazy_free(q);
    ck_assert_uint_eq(lazy_used(), before);
}
END_TEST

/* Blocks of 100,000 bytes begin at pages, side by side, and small blocks lie elsewhere: 25 pages of 4,096 bytes hold
 * 100,000 bytes, so three blocks that follow each other begin 102,400 bytes apart. */
START_TEST(large_blocks_lie_side_by_side_without_small_ones) {
    unsigned char *p[3], *small[3];
    for (int i = 0; i < 3; i++) {
        p[i] = lazy_new(100000);
        small[i] = lazy_new(100);
    }
    ck_assert_uint_eq((uintptr_t)p[0] % 4096, 0);
    ck_assert_ptr_eq(p[1], p[0] + 102400);
    ck_assert_ptr_eq(p[2], p[1] + 102400);
    ck_assert_ptr_eq(small[1], small[0] + 128 + BETWEEN);
    for (int i = 0; i < 3; i++) {
        lazy_free(p[i]);
        lazy_free(small[i]);
    }
}
END_TEST

START_TEST(memory_that_cannot_exist_is_null) { ck_assert_ptr_null(lazy_new(SIZE_MAX / 2)); }
END_TEST

START_TEST(null_can_be_freed) { lazy_free(NULL); }
END_TEST

SUITE(isa_lazy) {
    TEST(small_memory_is_zeroed_and_aligned);
    TEST(large_memory_is_zeroed_and_aligned);
    TEST(an_untouched_page_takes_no_memory);
    TEST(freed_memory_comes_back_cleared);
    TEST(untouched_pages_of_kept_memory_stay_without_memory);
    TEST(few_freed_bytes_are_kept);
    TEST(a_block_without_bytes_can_be_freed);
    TEST(used_bytes_are_known);
    TEST(large_blocks_lie_side_by_side_without_small_ones);
    TEST(memory_that_cannot_exist_is_null);
    TEST(null_can_be_freed);
}
