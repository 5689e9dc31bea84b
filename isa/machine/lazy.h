#ifndef ISA_LAZY_H
#define ISA_LAZY_H
/* Zeroed memory whose pages the host provides when they are first accessed. Use it for tables of which a run accesses
 * only a small part. Small blocks lie side by side, and nothing lies between them that is accessed. */
#include <stddef.h>

/* Returns zeroed memory, aligned to a cache line of the host, or NULL if memory is out. */
void *lazy_new(size_t bytes);
/* Frees memory from lazy_new(). Does nothing for NULL. */
void lazy_free(void *memory);
/* Sets how many bytes of freed memory the process keeps (0 at the start). A later lazy_new() clears the pages of this
 * memory that were accessed, and uses it. Use it in processes that build one machine after another
 * (after fork(), in the child): a run of a few milliseconds takes twice as long if the host must provide all pages
 * again. */
void lazy_keep(size_t bytes);
/* Returns the bytes of all blocks. A block of up to 1 MB counts until the last block of its mapping of
 * 4 MB has been freed. */
size_t lazy_used(void);
#endif
