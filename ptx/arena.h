#ifndef PTX_ARENA_H
#define PTX_ARENA_H
/* A bump allocator for the syntax tree. All memory of an arena is freed at once; single objects are never freed. */
#include <setjmp.h>
#include <stddef.h>

struct arena;

/* Returns a new arena that holds at most `limit` bytes (0: no limit), or NULL if out of memory. */
struct arena *arena_new(size_t limit);
/* Frees the arena and everything allocated from it. NULL is allowed. */
void arena_free(struct arena *a);
/* Returns `size` zeroed bytes, aligned to 16; never NULL. At the arena's limit, or when the machine is out of memory,
 * it jumps to the point that arena_on_full() has set, or aborts if no point is set. */
void *arena_alloc(struct arena *a, size_t size);
/* Returns `n` zeroed elements of `size` bytes. A product that overflows counts as out of memory, as in
 * arena_alloc(). */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Returns a zero-terminated copy of the `len` bytes at `text`. If memory runs out, it behaves as arena_alloc() does. */
char *arena_strndup(struct arena *a, const char *text, size_t len);
/* Sets the point that arena_alloc() jumps to when out of memory; NULL clears it. Returns the previous point. */
jmp_buf *arena_on_full(struct arena *a, jmp_buf *where);
/* Returns the bytes allocated so far; each allocation is rounded up to a multiple of 16. */
size_t arena_used(const struct arena *a);
#endif
