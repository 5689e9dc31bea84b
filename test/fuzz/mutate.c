/* A mutator for libFuzzer. libFuzzer's own changes of bytes seldom produce a program that parses. So this mutator
 * mostly changes words and lines: it replaces a word by another word of the text or by a boundary value, or it copies,
 * moves or deletes a line. */
#include "test/random.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

struct span {
    size_t begin, end;
};

static bool in_word(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%' ||
           c == '$';
}

static struct span word_at(const uint8_t *data, size_t size, size_t at) {
    while (at < size && !in_word(data[at]))
        at++;
    struct span s = {at, at};
    while (s.begin && in_word(data[s.begin - 1]))
        s.begin--;
    while (s.end < size && in_word(data[s.end]))
        s.end++;
    return s;
}

static struct span line_at(const uint8_t *data, size_t size, size_t at) {
    struct span s = {at, at};
    while (s.begin && data[s.begin - 1] != '\n')
        s.begin--;
    while (s.end < size && data[s.end++] != '\n') {
    }
    return s;
}

/* Replaces the bytes of `s` by the n bytes of `with`, unless the result is too long. Returns the new size. */
static size_t replace(uint8_t *data, size_t size, size_t max_size, struct span s, const uint8_t *with, size_t n) {
    if (size - (s.end - s.begin) + n > max_size)
        return size;
    memmove(data + s.begin + n, data + s.end, size - s.end);
    memcpy(data + s.begin, with, n);
    return size - (s.end - s.begin) + n;
}

static size_t change(uint8_t *data, size_t size, size_t max_size, uint64_t *state) {
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "31",
                                          "32",
                                          "255",
                                          "65535",
                                          "2147483647",
                                          "4294967295",
                                          "0x8000000000000000",
                                          "18446744073709551615"};
    uint8_t copy[256];
    uint32_t how = test_random_below(state, 5);
    struct span to, from;
    if (how < 3) {
        to = word_at(data, size, test_random_below(state, size));
        from = word_at(data, size, test_random_below(state, size));
        if (how == 2) {
            const char *n = numbers[test_random_below(state, sizeof numbers / sizeof numbers[0])];
            return replace(data, size, max_size, to, (const uint8_t *)n, strlen(n));
        }
    } else {
        to = line_at(data, size, test_random_below(state, size));
        from = line_at(data, size, test_random_below(state, size));
        if (how == 3)
            to.end = to.begin; /* insert */
        else if (test_random_below(state, 2))
            from.end = from.begin; /* delete */
    }
    size_t n = from.end - from.begin;
    if (n > sizeof copy)
        return size;
    memcpy(copy, data + from.begin, n);
    return replace(data, size, max_size, to, copy, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    uint64_t state = seed;
    if (size < 16 || test_random_below(&state, 4) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t n = 1 + test_random_below(&state, 3); n && size; n--)
        size = change(data, size, max_size, &state);
    return size;
}
