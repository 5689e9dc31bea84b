#ifndef TEST_JIT_LEVELS_H
#define TEST_JIT_LEVELS_H
/* Runs the tests of a native-code suite twice: with all features of the processor, and with AVX2 only. A test begins
 * with int i = jit_level(_i); TEST_LEVELS(fn, n) registers it with i from 0 to n - 1. */
#include "isa/levels.h"
#include "test/test.h"
#include <stdio.h>

#define TEST_LEVELS(fn, n) TEST_LOOP(fn, 0, 2 * (n))

static inline int jit_level(int i) {
    static char given[16]; /* value of HEDDLE_CPU before the first test, for later tests in the same process */
    const char *now = getenv("HEDDLE_CPU");
    if (!*given)
        snprintf(given, sizeof given, "%s", now ? now : "any");
    setenv("HEDDLE_CPU", i % 2 ? "avx2" : given, 1);
    return i / 2;
}

/* Returns whether this build and this processor can run native code at the level that HEDDLE_CPU allows. */
#ifdef HEDDLE_NO_JIT
static inline bool jit_runs(void) { return false; }
#define JIT_NOT_HERE "this build has no native code (JIT=0)"
#else
static inline bool jit_runs(void) { return isa_processor_level() != CPU_BASE; }
#define JIT_NOT_HERE "this processor has no AVX2"
#endif
#endif
