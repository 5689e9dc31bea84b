#ifndef PTX_ARENA_H
#define PTX_ARENA_H
/* Bump allocation for the syntax tree: everything one module needs lives and dies together. */
#include <setjmp.h>
#include <stddef.h>

struct arena;

/* A new arena that refuses to grow beyond `limit` bytes (0: no limit). NULL when memory is out. */
struct arena *arena_new(size_t limit);
/* Frees the arena and all that was allocated from it. NULL is allowed. */
void arena_free(struct arena *a);
/* Zeroed memory of `size` bytes, aligned to 16. Never returns NULL: when the limit or the machine's memory is
 * exhausted it jumps to the point set with arena_on_full(), and aborts when none is set. */
void *arena_alloc(struct arena *a, size_t size);
/* `n` elements of `size` bytes; the product is checked for overflow. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A zero-terminated copy of the `len` bytes at `text`. */
char *arena_strndup(struct arena *a, const char *text, size_t len);
/* Where to jump when memory is exhausted; returns the previous point, NULL takes it away. */
jmp_buf *arena_on_full(struct arena *a, jmp_buf *where);
/* Bytes handed out so far. */
size_t arena_used(const struct arena *a);
#endif
