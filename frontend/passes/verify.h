#ifndef FRONTEND_VERIFY_H
#define FRONTEND_VERIFY_H
/* Reporting of broken invariants. Private to verify*.c. */
#include "pass.h"
#include <stdarg.h>

/* The first error found. */
struct verdict {
    char *buffer;
    size_t size;
    bool wrong;
};

/* Records an error; only the first one is kept. */
__attribute__((format(printf, 2, 3))) static inline void wrong(struct verdict *r, const char *fmt, ...) {
    va_list args;
    if (r->wrong)
        return;
    va_start(args, fmt);
    vsnprintf(r->buffer, r->size, fmt, args);
    va_end(args);
    r->wrong = true;
}
/* verify_barriers.c: checks convergence barriers. Requires: blocks and their edges. */
void verify_barriers(struct verdict *r, const struct ir *ir);
/* verify_control.c: checks that the control bits of a finished program are sufficient on every path. */
void verify_control(struct verdict *r, const struct program *p);
#endif
