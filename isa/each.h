#ifndef ISA_EACH_H
#define ISA_EACH_H
/* A hint for the compiler: the iterations of a loop do not depend on each other, so the loop can become vector code.
 * clang warns where it makes no vector code in spite of the hint, for instance at -O1. The warning is off. */

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
