/* Functions that benchmarks share: buffers, comparison, and the path of their PTX. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *bench_size_name(enum bench_size size) {
    static const char *const names[] = {[BENCH_SMALL] = "small", [BENCH_PAPER] = "paper", [BENCH_CARD] = "card"};
    return names[size];
}

bool bench_in(const struct bench *b, const char *name) {
    size_t len = strlen(name), own;
    for (const char *at = b->sets; *at; at += own + (at[own] == ' ')) {
        own = strcspn(at, " ");
        if (own == len && memcmp(at, name, len) == 0)
            return true;
    }
    return false;
}

uint64_t bench_buffer(struct heddle *h, const void *data, uint64_t bytes) {
    uint64_t at = heddle_alloc(h, bytes);
    if (at && data && heddle_write(h, at, data, bytes) != HEDDLE_OK)
        return 0;
    return at;
}

bool bench_same(double got, double want, double tolerance) {
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (tolerance == 0)
        return got == want && signbit(got) == signbit(want);
    return got == want || fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

enum heddle_status bench_compare(const float *got, const float *want, size_t n, double tolerance, const char *what,
                                 char *why, size_t why_size) {
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < n; i++)
        if (!bench_same((double)got[i], (double)want[i], tolerance) && wrong++ == 0)
            first = i;
    if (!wrong)
        return HEDDLE_OK;
    snprintf(why, why_size, "%s[%zu] is %.9g, the reference says %.9g (%zu of %zu values differ)", what, first,
             (double)got[first], (double)want[first], wrong, n);
    return HEDDLE_WRONG;
}

enum heddle_status bench_compare_words(const uint32_t *got, const uint32_t *want, size_t n, const char *what, char *why,
                                       size_t why_size) {
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i] && wrong++ == 0)
            first = i;
    if (!wrong)
        return HEDDLE_OK;
    snprintf(why, why_size, "%s[%zu] is 0x%08x, the reference says 0x%08x (%zu of %zu words differ)", what, first,
             got[first], want[first], wrong, n);
    return HEDDLE_WRONG;
}

void bench_fill(float *out, size_t n, uint64_t *state, float lo, float hi) {
    for (size_t i = 0; i < n; i++)
        out[i] = bench_uniform(state, lo, hi);
}

enum heddle_status bench_no_memory(char *why, size_t why_size) {
    snprintf(why, why_size, "the host is out of memory");
    return HEDDLE_USAGE;
}

char *bench_kernel_path(const char *file, char *out, size_t size) { return heddle_kernel_file(file, out, size); }
