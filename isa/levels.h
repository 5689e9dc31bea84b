#ifndef ISA_LEVELS_H
#define ISA_LEVELS_H
/* Which instructions of the host lane functions, loads and stores are compiled for. A build for this processor
 * (-march=native) has one copy of each, a build for every processor (PORTABLE=1) three, of which the best that the
 * processor can run is taken when the program starts. They give the same bits. */
#include "rows.h"

enum isa_level {
    CPU_BASE,   /* what the build was made for */
    CPU_AVX2,   /* x86-64 with AVX2, FMA, BMI and BMI2 */
    CPU_AVX512, /* and AVX-512 F, BW, CD, DQ and VL */
    N_CPUS
};

/* The level whose functions run: the best that build and processor have, and at most what HEDDLE_CPU names ("base",
 * "avx2", "avx512"; other words are not heard). Alike in every call. */
enum isa_level isa_level(void);
/* For code that is made while the program runs: the best level that the processor has, whatever the build has, and at
 * most what HEDDLE_CPU names now; CPU_BASE: there is to be none. */
enum isa_level isa_processor_level(void);
/* Whether this build has the level, and this processor runs it. */
bool isa_level_runs(enum isa_level level);
/* The n-th table of rows; that of CPU_BASE where the level has none of its own. NULL after the last. */
const struct isa_row_group *isa_group(unsigned n, enum isa_level level);
#endif
