#ifndef ISA_LAZY_H
#define ISA_LAZY_H
/* Zeroed memory that costs nothing until its use: the host provides each page when the page is first accessed. Use it
 * for large tables of which a run uses a small part. */
#include <stddef.h>

/* Returns zeroed memory, aligned to a cache line of the host, or NULL if memory is out. */
void *lazy_new(size_t bytes);
/* Frees memory from lazy_new(). Does nothing for NULL. */
void lazy_free(void *memory);
#endif
