/* Tests heddle_move_to_file(), which moves a buffer to a file that another process can map. */
#include "host/heddle.h"
#include "test/test.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(a_buffer_keeps_its_address_and_content) {
    enum { WORDS = 2000 };
    static uint32_t words[WORDS];
    char err[512] = "";
    struct heddle *h = heddle_open(&(struct heddle_options){.model = _i ? "spe" : "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    uint64_t p = heddle_alloc(h, sizeof words), shared = heddle_alloc_shared(h, 64), used, after;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = 3 * i;
    ck_assert_int_eq(heddle_write(h, p, words, sizeof words), HEDDLE_OK);
    heddle_memory(h, NULL, &used);
    int file = heddle_move_to_file(h, p);
    ck_assert_int_ge(file, 0);
    struct stat s;
    ck_assert_int_eq(fstat(file, &s), 0);
    ck_assert_int_eq((int)s.st_size, (int)sizeof words);
    uint32_t *seen = mmap(NULL, sizeof words, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(seen, MAP_FAILED);
    ck_assert_mem_eq(seen, words, sizeof words);
    seen[WORDS - 1] = 77; /* the test's mapping of the file and the buffer have the same contents */
    uint32_t one = 5;
    ck_assert_int_eq(heddle_write(h, p + 4, &one, 4), HEDDLE_OK);
    ck_assert_uint_eq(seen[1], 5);
    ck_assert_int_eq(heddle_read(h, p + 4 * (WORDS - 1), &one, 4), HEDDLE_OK);
    ck_assert_uint_eq(one, 77);
    ck_assert_int_eq(heddle_move_to_file(h, p), -1); /* the buffer is already in a file */
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "is not the start of a buffer of the device's own"));
    ck_assert_int_eq(heddle_move_to_file(h, p + 4), -1);
    ck_assert_int_eq(heddle_move_to_file(h, shared), -1);
    ck_assert_int_eq(heddle_move_to_file(NULL, p), -1);
    heddle_memory(h, NULL, &after);
    ck_assert_uint_eq(used, after);
    ck_assert_int_eq(heddle_free(h, p), HEDDLE_OK);
    ck_assert_int_eq(heddle_move_to_file(h, p), -1);
    ck_assert_uint_eq(seen[1], 5); /* the file still exists after the buffer is freed */
    munmap(seen, sizeof words);
    close(file);
    heddle_close(h);
}
END_TEST

SUITE(host_move_to_file) { TEST_LOOP(a_buffer_keeps_its_address_and_content, 0, 2); }
