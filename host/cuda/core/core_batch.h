#ifndef CUDA_CORE_BATCH_H
#define CUDA_CORE_BATCH_H
/* Declares the batch calls of CUDA 12.8 and 13: copies, and advice about managed memory. */
#include "core_memory.h"
#include "core_virtual.h"

/* cudaMemcpyAttributes, CUmemcpyAttributes */
struct cuda_copy_attributes {
    int order, hints[4];
    unsigned flags;
};

struct cuda_batch {
    void *const *to;
    const void *const *from;
    const size_t *bytes;
    size_t n;
    const struct cuda_copy_attributes *attributes;
    const size_t *first; /* index in `attributes` -> number of the first copy to which these attributes apply */
    size_t n_attributes;
};

/* The leading parameters of every function that batches copies. */
#define BATCH_PARAMETERS                                                                                               \
    void *const *to, const void *const *from, const size_t *bytes, size_t n, const struct cuda_copy_attributes *a,     \
        const size_t *first, size_t entries
#define BATCH_ARGUMENTS to, from, bytes, n, a, first, entries
#define BATCH           (&(struct cuda_batch){BATCH_ARGUMENTS})
struct cuda_box_copy; /* cudaMemcpy3DBatchOp */

/* Runs the copies one after another. *failed, if not NULL, gets the number of the copy that failed, or SIZE_MAX. */
enum cuda_error cuda_copy_batch(const struct cuda_batch *b, size_t *failed, struct cuda_stream *s);
enum cuda_error cuda_copy_boxes(size_t n, const struct cuda_box_copy *list, size_t *failed, unsigned long long flags,
                                struct cuda_stream *s);
/* Check advice about managed memory. The advice has no effect, because host and device always see this memory. */
enum cuda_error cuda_discard_batch(void *const *p, const size_t *bytes, size_t n, unsigned long long flags);
enum cuda_error cuda_prefetch_batch(void *const *p, const size_t *bytes, size_t n, const struct cuda_location *to,
                                    const size_t *first, size_t n_to, unsigned long long flags);
#endif
