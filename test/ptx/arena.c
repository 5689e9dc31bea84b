#include "ptx/arena.h"
#include "test/test.h"

START_TEST(memory_is_zero_and_aligned) {
    struct arena *a = arena_new(0);
    for (size_t size = 1; size < 3000; size += 7) {
        unsigned char *p = arena_alloc(a, size);
        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_uint_eq(p[i], 0);
        memset(p, 0xff, size); /* the next allocation must not overlap this allocation */
    }
    arena_free(a);
}
END_TEST

START_TEST(pieces_do_not_overlap) {
    struct arena *a = arena_new(0);
    unsigned *piece[500];
    for (unsigned i = 0; i < 500; i++) {
        piece[i] = arena_array(a, i + 1, sizeof *piece[i]);
        for (unsigned j = 0; j <= i; j++)
            piece[i][j] = i;
    }
    for (unsigned i = 0; i < 500; i++)
        for (unsigned j = 0; j <= i; j++)
            ck_assert_uint_eq(piece[i][j], i);
    arena_free(a);
}
END_TEST

START_TEST(used_counts_whole_units) {
    struct arena *a = arena_new(0);
    arena_alloc(a, 1);  /* 16 */
    arena_alloc(a, 16); /* 16 */
    arena_alloc(a, 17); /* 32 */
    ck_assert_uint_eq(arena_used(a), 64);
    arena_free(a);
}
END_TEST

START_TEST(strndup_ends_with_zero) {
    struct arena *a = arena_new(0);
    char *s = arena_strndup(a, "warp lane", 4);
    ck_assert_str_eq(s, "warp");
    arena_free(a);
}
END_TEST

/* Returns true if allocating `n` times `size` bytes from an arena of 1,000 bytes fails, that is, jumps to the arena's
 * out-of-memory point. */
static bool jumps(size_t n, size_t size) {
    struct arena *volatile a = arena_new(1000);
    jmp_buf full;
    volatile bool jumped = true;
    if (setjmp(full) == 0) {
        ck_assert_ptr_null(arena_on_full(a, &full));
        arena_array(a, n, size);
        jumped = false;
    }
    ck_assert_ptr_eq(arena_on_full(a, NULL), &full);
    arena_free(a);
    return jumped;
}

START_TEST(limit_is_kept) {
    ck_assert(!jumps(1, 992)); /* 62 units of 16 bytes fit into 1,000 bytes, 63 do not */
    ck_assert(jumps(1, 993));
}
END_TEST

START_TEST(overflow_is_noticed) {
    ck_assert(jumps(SIZE_MAX, 2));
    ck_assert(jumps(1, SIZE_MAX - 3));
    ck_assert(jumps(SIZE_MAX / 16 + 2, 16)); /* if the product of n and size wrapped, the size would be 16 bytes */
}
END_TEST

START_TEST(free_allows_null) { arena_free(NULL); }
END_TEST

SUITE(ptx_arena) {
    TEST(memory_is_zero_and_aligned);
    TEST(pieces_do_not_overlap);
    TEST(used_counts_whole_units);
    TEST(strndup_ends_with_zero);
    TEST(limit_is_kept);
    TEST(overflow_is_noticed);
    TEST(free_allows_null);
}
