/* Allocates memory from large chunks, which are freed together (arena.h). */
#include "ptx/arena.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 16,
    FIRST_CHUNK = 16 << 10,
    LARGEST_CHUNK = 1 << 20,
    MAPPED_CHUNK = 128 << 10, /* calloc() maps new pages, which are zero, for this many bytes and more */
};

/* The header of a chunk. The chunk's memory follows it. */
struct chunk {
    struct chunk *next;
    char pad[ALIGNMENT - sizeof(struct chunk *)];
};

struct arena {
    char *at, *end; /* unused part of the newest chunk */
    bool zeroed;    /* the unused part is zeroed */
    size_t used;    /* number of bytes allocated so far; each size is rounded up to ALIGNMENT */
    size_t limit;   /* 0: none */
    size_t next_chunk;
    struct chunk *chunks;
    jmp_buf *on_full; /* target of the jump when memory runs out; NULL: none */
};

struct arena *arena_new(size_t limit) {
    struct arena *a = calloc(1, sizeof *a);
    if (a) {
        a->limit = limit ? limit : SIZE_MAX;
        a->next_chunk = FIRST_CHUNK;
    }
    return a;
}

void arena_free(struct arena *a) {
    if (!a)
        return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

static _Noreturn void out_of_memory(struct arena *a) {
    if (a->on_full)
        longjmp(*a->on_full, 1);
    abort();
}

/* Returns the memory of a new chunk, filled with zeros if `zeroed`. For large sizes, calloc() returns new pages, which
 * the operating system has already zeroed, so zeroing the memory of a large tree costs no extra time. */
static char *new_chunk(struct arena *a, size_t bytes, bool zeroed) {
    struct chunk *c = zeroed ? calloc(1, sizeof *c + bytes) : malloc(sizeof *c + bytes);
    if (!c)
        out_of_memory(a);
    c->next = a->chunks;
    a->chunks = c;
    return (char *)(c + 1);
}

/* Allocates from the newest chunk. A small chunk is zeroed part by part, so that its unused part takes no pages. */
static inline void *take(struct arena *a, size_t size) {
    char *p = a->at;
    a->at += size;
    return a->zeroed ? p : memset(p, 0, size);
}

/* Allocates from a new chunk. `size` has been rounded up, does not exceed the limit, and is larger than the unused part
 * of the newest chunk. */
static void *alloc_slow(struct arena *a, size_t size) {
    if (size >= a->next_chunk / 4)
        return new_chunk(a, size, true); /* a large object gets its own chunk, and the newest chunk stays in use */
    const bool zeroed = a->next_chunk >= MAPPED_CHUNK;
    a->at = new_chunk(a, a->next_chunk, zeroed);
    a->zeroed = zeroed;
    a->end = a->at + a->next_chunk;
    if (a->next_chunk < LARGEST_CHUNK)
        a->next_chunk *= 2;
    return take(a, size);
}

void *arena_alloc(struct arena *a, size_t size) {
    size_t bytes = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes < size || bytes > a->limit - a->used || bytes > SIZE_MAX / 2)
        out_of_memory(a);
    a->used += bytes;
    if (bytes > (size_t)(a->end - a->at))
        return alloc_slow(a, bytes);
    return take(a, bytes);
}

void *arena_array(struct arena *a, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        out_of_memory(a);
    return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *text, size_t len) {
    if (len == SIZE_MAX)
        out_of_memory(a);
    char *copy = arena_alloc(a, len + 1);
    memcpy(copy, text, len);
    return copy;
}

jmp_buf *arena_on_full(struct arena *a, jmp_buf *where) {
    jmp_buf *before = a->on_full;
    a->on_full = where;
    return before;
}

size_t arena_used(const struct arena *a) { return a->used; }
