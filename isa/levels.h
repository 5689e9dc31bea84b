#ifndef ISA_LEVELS_H
#define ISA_LEVELS_H
/* Levels of host instructions for which lane functions, loads and stores are compiled. A build with -march=native has
 * one copy of each function. A portable build (PORTABLE=1) has three copies, and uses the best copy that the processor
 * can run. All copies give the same bits. */
#include "rows.h"

enum isa_level {
    CPU_BASE,   /* the instruction set that the build targets */
    CPU_AVX2,   /* x86-64 with AVX2, FMA, BMI and BMI2 */
    CPU_AVX512, /* in addition AVX-512 F, BW, CD, DQ and VL */
    N_CPUS
};

/* Returns the level whose functions run: the highest level that both the build and the processor support, limited by
 * the level in HEDDLE_CPU ("base", "avx2", "avx512"; other values are ignored). Every call returns the same level. */
enum isa_level isa_level(void);
/* Returns the level for code that is generated at run time: the highest level that the processor supports, independent
 * of the build, limited by the current level in HEDDLE_CPU. CPU_BASE: generate no code. */
enum isa_level isa_processor_level(void);
/* Returns true if this build has the level and this processor can run it. */
bool isa_level_runs(enum isa_level level);
/* Returns the n-th table of rows, compiled for `level` or, if there is no such copy, for CPU_BASE. Returns NULL after
 * the last table. */
const struct isa_row_group *isa_group(unsigned n, enum isa_level level);
#endif
