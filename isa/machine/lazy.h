#ifndef ISA_LAZY_H
#define ISA_LAZY_H
/* Zeroed memory that costs nothing until its use: the host provides each page when the page is first accessed. Use it
 * for large tables of which a run uses a small part. */
#include <stddef.h>

/* Returns zeroed memory, aligned to a cache line of the host, or NULL if memory is out. */
void *lazy_new(size_t bytes);
/* Frees memory from lazy_new(). Does nothing for NULL. */
void lazy_free(void *memory);
/* Sets how many freed bytes the process keeps for the next lazy_new() of the same size (0 at the start), which clears
 * them. For processes that build one machine after another: to unmap the memory, and to have the pages provided again,
 * doubles the time of a run of a few milliseconds. */
void lazy_keep(size_t bytes);
#endif
