#ifndef FRONTEND_VERIFY_H
#define FRONTEND_VERIFY_H
/* What is wrong with a program, told once. Internal to verify.c, verify_ir.c and verify_barriers.c. */
#include "pass.h"
#include <stdarg.h>

struct verdict {
    char *buffer;
    size_t size;
    bool wrong;
};

/* Keeps the first thing that is wrong. */
__attribute__((format(printf, 2, 3))) static inline void wrong(struct verdict *r, const char *fmt, ...) {
    va_list args;
    if (r->wrong)
        return;
    va_start(args, fmt);
    vsnprintf(r->buffer, r->size, fmt, args);
    va_end(args);
    r->wrong = true;
}
/* verify_barriers.c. Requires: blocks and their edges. */
void verify_barriers(struct verdict *r, const struct ir *ir);
#endif
