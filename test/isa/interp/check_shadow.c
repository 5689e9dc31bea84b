/* Tests shadow pages of the race detector. A page is created at the first access to its memory. It is divided into
 * bytes at the first access to a single byte. Later it is cleared, and at the memory limit it is not created. */
#include "isa/interp/check_state.h"
#include "test/test.h"

static struct checker k;
static struct shadow s;
static unsigned shift;

static void setup(void) {
    k = (struct checker){.count = 0};
    s = (struct shadow){.bytes = 3 * PAGE_BYTES};
}
static void teardown(void) { shadow_free(&k, &s); }

START_TEST(words_until_a_byte_is_accessed) {
    struct granule *g = shadow_at(&k, &s, PAGE_BYTES + 8, 8, 4, &shift); /* an access to a vector of two words */
    ck_assert_uint_eq(shift, 2);
    ck_assert_uint_eq(k.shadow_bytes, sizeof(struct shadow_page) + PAGE_BYTES / 4 * sizeof(struct granule));
    g[0].write = (struct access){.time = 5, .cta = 2, .thread = 77};
    g[0].value = 0x44332211;
    g[1].read = (struct access){.time = 9};
    g = shadow_at(&k, &s, PAGE_BYTES + 8, 1, 1, &shift);
    ck_assert_uint_eq(shift, 0);
    ck_assert_uint_eq(k.shadow_bytes, sizeof(struct shadow_page) + PAGE_BYTES * sizeof(struct granule));
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(g[i].value, 0x11 * (i + 1));
        ck_assert_uint_eq(g[i].write.thread, 77);
        ck_assert_uint_eq(g[4 + i].read.time, 9);
        ck_assert_uint_eq(g[i].read.time, 0);
    }
    ck_assert_ptr_eq(shadow_at(&k, &s, PAGE_BYTES + 8, 4, 4, &shift), g); /* the page remains divided */
    ck_assert_uint_eq(shift, 0);
    shadow_at(&k, &s, 3 * PAGE_BYTES - 2, 2, 2, &shift);
    ck_assert_uint_eq(shift, 0);
    shadow_free(&k, &s);
    ck_assert_uint_eq(k.shadow_bytes, 0);
}
END_TEST

START_TEST(cleared_memory_has_no_history) {
    struct granule *g = shadow_at(&k, &s, PAGE_BYTES - 4, 4, 4, &shift),
                   *next = shadow_at(&k, &s, PAGE_BYTES, 4, 4, &shift);
    g->write.time = next[0].write.time = next[1].write.time = 3;
    shadow_clear(&s, PAGE_BYTES - 4, 8);
    ck_assert_uint_eq(g->write.time, 0);
    ck_assert_uint_eq(next[0].write.time, 0);
    ck_assert_uint_eq(next[1].write.time, 3);
}
END_TEST

/* The memory limit has room for one page with entries for words, but not for a page with entries for bytes. The bytes
 * of a page that cannot be created or divided are counted once, even if they are accessed again. */
START_TEST(a_limit) {
    k.shadow_bytes = SHADOW_LIMIT - 20000;
    ck_assert_ptr_nonnull(shadow_at(&k, &s, 0, 4, 4, &shift));
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(shadow_at(&k, &s, PAGE_BYTES, 4, 4, &shift));
        ck_assert_uint_eq(k.unfollowed, PAGE_BYTES);
    }
    ck_assert_ptr_null(shadow_at(&k, &s, 1, 1, 1, &shift));
    ck_assert_uint_eq(k.unfollowed, 2 * PAGE_BYTES);
    shadow_free(&k, &s);
    ck_assert_uint_eq(k.shadow_bytes, SHADOW_LIMIT - 20000);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct program p = {.name = "k"};
    const struct launch l = {.program = &p};
    k.unfollowed = 5 << 20;
    check_print(&k, &l, NULL, 0, out);
    fclose(out);
    ck_assert_str_eq(text,
                     "note: 5 MiB of the memory that kernel 'k' accessed were not checked for races: the records of "
                     "accesses are limited to 4096 MiB\n");
    free(text);
}
END_TEST

SUITE(isa_check_shadow) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(words_until_a_byte_is_accessed);
    TEST(cleared_memory_has_no_history);
    TEST(a_limit);
}
