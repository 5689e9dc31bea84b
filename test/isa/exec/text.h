#ifndef TEST_ISA_EXEC_TEXT_H
#define TEST_ISA_EXEC_TEXT_H
/* The PTX of a kernel, to which tests append. */
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

struct text {
    size_t n;
    char at[1 << 18];
};

/* Appends to the text. The test fails if the text becomes too long. */
static inline __attribute__((format(printf, 2, 3))) void add(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->at + t->n, sizeof t->at - t->n, format, args);
    va_end(args);
    ck_assert_uint_lt(t->n, sizeof t->at);
}
#endif
