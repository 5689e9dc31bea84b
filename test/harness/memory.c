/* Fills new memory and freed memory with a pattern, so that tests notice reads of uninitialised or freed memory. The
 * Makefile links the tests so that their calls go through these functions to the C library. glibc's option M_PERTURB
 * fills memory too, but it also writes memory from calloc() a second time. This would be slow, because a machine of the
 * timing model has large zeroed tables, whose pages cost nothing until they are written. */
#include "test/test.h"
#include <limits.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>

enum { NEW_BYTE = 0xa5, OLD_BYTE = 0x5a, OLD_BYTES = 16 * 1024 };
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __real_free(void *old);
void __wrap_free(void *old);

void *__wrap_malloc(size_t bytes) {
    void *p = __real_malloc(bytes);
    return p ? memset(p, NEW_BYTE, bytes) : NULL;
}
void *__wrap_realloc(void *old, size_t bytes) {
    size_t had = old ? malloc_usable_size(old) : 0;
    char *p = __real_realloc(old, bytes);
    if (p && bytes > had)
        memset(p + had, NEW_BYTE, bytes - had);
    return p;
}
void __wrap_free(void *old) {
    size_t bytes = old ? malloc_usable_size(old) : 0;
    if (bytes)
        memset(old, OLD_BYTE, bytes < OLD_BYTES ? bytes : OLD_BYTES);
    __real_free(old);
}

bool test_keep_pages(void) { return mallopt(M_MMAP_THRESHOLD, 1 << 30) && mallopt(M_TRIM_THRESHOLD, INT_MAX); }
