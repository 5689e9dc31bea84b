#include "ptx/arena.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };

/* The header of a chunk; the memory handed out follows it. */
struct chunk {
    struct chunk *next;
    char pad[ALIGNMENT - sizeof(struct chunk *)];
};

struct arena {
    char *at, *end; /* the free rest of the newest chunk; zeroed */
    size_t used;    /* bytes handed out, rounded up to the alignment */
    size_t limit;   /* 0: none */
    size_t next_chunk;
    struct chunk *chunks;
    jmp_buf *full;
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

static _Noreturn void full(struct arena *a) {
    if (a->full)
        longjmp(*a->full, 1);
    abort();
}

/* calloc hands out fresh pages of the system without writing them, so zeroing costs nothing for a tree that grows. */
static char *new_chunk(struct arena *a, size_t bytes) {
    struct chunk *c = calloc(1, sizeof *c + bytes);
    if (!c)
        full(a);
    c->next = a->chunks;
    a->chunks = c;
    return (char *)(c + 1);
}

/* `size` is rounded and within the limit, and does not fit into the newest chunk. */
static void *alloc_slow(struct arena *a, size_t size) {
    if (size >= a->next_chunk / 4)
        return new_chunk(a, size); /* on its own: the rest of the newest chunk stays in use */
    a->at = new_chunk(a, a->next_chunk);
    a->end = a->at + a->next_chunk;
    if (a->next_chunk < LARGEST_CHUNK)
        a->next_chunk *= 2;
    void *p = a->at;
    a->at += size;
    return p;
}

void *arena_alloc(struct arena *a, size_t size) {
    size_t bytes = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes < size || bytes > a->limit - a->used || bytes > SIZE_MAX / 2)
        full(a);
    a->used += bytes;
    if (bytes > (size_t)(a->end - a->at))
        return alloc_slow(a, bytes);
    void *p = a->at;
    a->at += bytes;
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        full(a);
    return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *text, size_t len) {
    if (len == SIZE_MAX)
        full(a);
    char *copy = arena_alloc(a, len + 1);
    memcpy(copy, text, len);
    return copy;
}

jmp_buf *arena_on_full(struct arena *a, jmp_buf *where) {
    jmp_buf *before = a->full;
    a->full = where;
    return before;
}

size_t arena_used(const struct arena *a) { return a->used; }
