/* A library for LD_PRELOAD that makes allocations fail. Allocation number NO_MEMORY_AT fails, and all later ones too
 * if NO_MEMORY_AFTER is set. Numbers count from 1 over all threads and libraries except libconfig, which does not
 * check the result of malloc(). At the end, the number of allocations is written to the file NO_MEMORY_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

static atomic_ulong made;
static unsigned long at;
static bool after, ready;

__attribute__((constructor)) static void begin(void) {
    const char *n = getenv("NO_MEMORY_AT");
    at = n ? strtoul(n, NULL, 10) : 0;
    after = getenv("NO_MEMORY_AFTER") != NULL;
    ready = true;
}

__attribute__((destructor)) static void end(void) {
    const char *name = getenv("NO_MEMORY_COUNT");
    ready = false;
    FILE *f = name ? fopen(name, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%lu\n", atomic_load(&made));
    fclose(f);
}

static bool fails(const void *caller) {
    Dl_info who;
    if (!ready || (dladdr(caller, &who) && who.dli_fname && strstr(who.dli_fname, "libconfig")))
        return false;
    unsigned long n = atomic_fetch_add(&made, 1) + 1;
    bool no = at && (n == at || (after && n > at));
    if (no)
        errno = ENOMEM;
    return no;
}

#define CALLER __builtin_return_address(0)
void *malloc(size_t bytes) { return fails(CALLER) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return fails(CALLER) ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *p, size_t bytes) { return fails(CALLER) ? NULL : __libc_realloc(p, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return fails(CALLER) ? NULL : __libc_memalign(align, bytes); }
int posix_memalign(void **out, size_t align, size_t bytes) {
    void *p = fails(CALLER) ? NULL : __libc_memalign(align, bytes);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (fails(CALLER))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset); // NOLINT
}

static char *copy(const char *text, size_t len, const void *caller) {
    char *to = fails(caller) ? NULL : __libc_malloc(len + 1);
    if (!to)
        return NULL;
    to[len] = 0;
    return memcpy(to, text, len);
}
char *strdup(const char *text) { return copy(text, strlen(text), CALLER); }
char *strndup(const char *text, size_t bytes) { return copy(text, strnlen(text, bytes), CALLER); }
/* headers of old C libraries define strdup() as this name */
char *__strdup(const char *text);
char *__strdup(const char *text) { return copy(text, strlen(text), CALLER); }
