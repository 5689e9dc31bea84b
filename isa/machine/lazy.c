#include "lazy.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* SMALL: from this number of bytes on, memory comes from mmap(). Below, clearing the memory is faster than a system
 * call and the faults of the pages. */
enum { LINE = 64, SMALL = 1 << 14 };

/* The line before the memory that lazy_new() returns. */
struct header {
    void *block;  /* from malloc(); NULL: from mmap() */
    size_t bytes; /* of the mapping */
};
_Static_assert(sizeof(struct header) <= LINE, "one line");

/* Writes the header into the first line from `at` on, and returns the address of the next line. */
static void *after_header(void *at, struct header h) {
    unsigned char *line = (unsigned char *)at + (-(uintptr_t)at & (LINE - 1));
    memcpy(line, &h, sizeof h);
    return line + LINE;
}

static void *small_new(size_t bytes) {
    void *block = malloc(bytes + 2 * LINE);
    return block ? memset(after_header(block, (struct header){block, 0}), 0, bytes) : NULL;
}

void *lazy_new(size_t bytes) {
    if (bytes < SMALL)
        return small_new(bytes);
    if (bytes > SIZE_MAX - LINE)
        return NULL;
    void *pages = mmap(NULL, bytes + LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : after_header(pages, (struct header){NULL, bytes + LINE});
}

void lazy_free(void *memory) {
    if (!memory)
        return;
    unsigned char *line = (unsigned char *)memory - LINE;
    struct header h;
    memcpy(&h, line, sizeof h);
    if (h.block)
        free(h.block);
    else
        munmap(line, h.bytes);
}
