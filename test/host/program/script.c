/* Tests the parser of program files: any text gives a program or an error message. */
#include "host/program/script.h"
#include "test/test.h"
#include <stdio.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 14 };

static size_t read_example(const char *path, char *text) {
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, MAX_TEXT / 2, f);
    fclose(f);
    return n;
}

/* Changes a byte, removes a part of the text, or duplicates a part. Returns the new length. */
static size_t mutate(char *text, size_t n, uint64_t *state) {
    static const char bytes[] = "\"(){}=;,. n0189-*/@#L\n";
    size_t at = test_random_below(state, (uint32_t)n), len = 1 + test_random_below(state, 30);
    if (len > n - at)
        len = n - at;
    switch (test_random_below(state, 3)) {
    case 0:
        text[at] = bytes[test_random_below(state, sizeof bytes - 1)];
        return n;
    case 1:
        memmove(text + at, text + at + len, n - at - len);
        return n - len;
    default:
        memmove(text + at + len, text + at, n - at);
        return n + len;
    }
}

START_TEST(any_text_ends) {
    static const char *const examples[] = {"benchmarks/lud.heddle", "benchmarks/bfs.heddle"};
    char path[] = "/tmp/heddle_script_XXXXXX", original[MAX_TEXT], text[MAX_TEXT], err[4096];
    int fd = mkstemp(path), refused = 0;
    uint64_t state = 7;
    ck_assert_int_ge(fd, 0);
    close(fd);
    size_t n = read_example(examples[_i], original);
    enum { ROUNDS = 600 };
    for (int i = 0; i < ROUNDS; i++) {
        size_t len = n;
        memcpy(text, original, n);
        for (uint32_t k = test_random_below(&state, 4); k < 4; k++)
            len = mutate(text, len, &state);
        FILE *f = fopen(path, "wb");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(text, 1, len, f), len);
        fclose(f);
        err[0] = '\0';
        struct script *p = script_open(path, NULL, err, sizeof err);
        if (!p) {
            EXPECT(strncmp(err, path, strlen(path)) == 0 && err[strlen(err) - 1] == '\n', "round %d: %s", i, err);
            refused++;
        }
        script_free(p);
    }
    unlink(path);
    ck_assert_int_gt(refused, ROUNDS / 2);
}
END_TEST

START_TEST(properties_of_a_program) {
    char err[1024];
    struct script *p = script_open("benchmarks/lud.heddle", NULL, err, sizeof err);
    ck_assert_msg(p != NULL, "%s", err);
    ck_assert(script_checks(p));
    ck_assert(strncmp(script_help(p), "LU decomposition", 16) == 0);
    ck_assert_ptr_nonnull(strstr(script_input(p, 0), "lud.ptx"));
    ck_assert_ptr_null(script_input(p, 1));
    ck_assert_ptr_null(script_output(p, 0));
    script_free(p);
}
END_TEST

SUITE(host_program_script) {
    TEST_LOOP(any_text_ends, 0, 2);
    TEST(properties_of_a_program);
}
