/* Stubs for a build without native code (JIT=0): every block is interpreted. */
#include "interp.h"

struct jit *native_new(const struct program *p, uint32_t after) {
    (void)p, (void)after;
    return NULL;
}

void native_free(struct jit *n) { (void)n; }

struct native_counts native_count(const struct jit *n) {
    (void)n;
    return (struct native_counts){0};
}
