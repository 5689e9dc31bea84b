/* Chooses the level of host instructions, and thus the copies of lane functions, loads and stores (levels.h). */
#include "levels.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GROUP(name)  extern const struct isa_row_group isa_rows_##name;
#define COPIED(name) GROUP(name)
#include "groups.def"
#undef GROUP
#undef COPIED
#ifdef HEDDLE_LEVELS
#define GROUP(name)
#define COPIED(name) extern const struct isa_row_group isa_rows_##name##_avx2, isa_rows_##name##_avx512;
#include "groups.def"
#undef GROUP
#undef COPIED
#define LEVELS_OF(name) {&isa_rows_##name, &isa_rows_##name##_avx2, &isa_rows_##name##_avx512},
#else
#define LEVELS_OF(name) {&isa_rows_##name, NULL, NULL},
#endif

static const struct isa_row_group *const groups[][N_CPUS] = {
#define GROUP(name)  {&isa_rows_##name, NULL, NULL},
#define COPIED(name) LEVELS_OF(name)
#include "groups.def"
};

/* A build for this processor (-march=native) asks the compiler, because each CPUID instruction takes a virtual machine
 * 10 to 20 us. */
static bool processor_runs(enum isa_level level) {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) &&                 \
    defined(__AVX512VL__) && defined(__AVX2__) && defined(__FMA__) && defined(__BMI__) && defined(__BMI2__)
    return level <= CPU_AVX512;
#elif defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    return level == CPU_BASE || (level == CPU_AVX2 && avx2) || (level == CPU_AVX512 && avx512);
#else
    return level == CPU_BASE;
#endif
}

bool isa_level_runs(enum isa_level level) {
#ifdef HEDDLE_LEVELS
    return processor_runs(level);
#else
    return level == CPU_BASE;
#endif
}

/* Returns the highest level that does not exceed the level in HEDDLE_CPU and for which `runs` returns true. */
static enum isa_level best(bool (*runs)(enum isa_level)) {
    static const char *const names[] = {[CPU_BASE] = "base", [CPU_AVX2] = "avx2", [CPU_AVX512] = "avx512"};
    const char *most = getenv("HEDDLE_CPU");
    enum isa_level level = CPU_BASE;
    while (level + 1 < N_CPUS && runs(level + 1) && !(most && strcmp(most, names[level]) == 0))
        level++;
    return level;
}

enum isa_level isa_processor_level(void) { return best(processor_runs); }

/* Written once, by choose(). */
static enum isa_level chosen;

static void choose(void) { chosen = best(isa_level_runs); }

enum isa_level isa_level(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen;
}

const struct isa_row_group *isa_group(unsigned n, enum isa_level level) {
    if (n >= sizeof groups / sizeof groups[0])
        return NULL;
    return groups[n][level] ? groups[n][level] : groups[n][CPU_BASE];
}
