#ifndef CUDA_CORE_POOL_H
#define CUDA_CORE_POOL_H
/* Memory pools. All take the memory of the device; each counts the bytes that were allocated from it. */
#include "core_base.h"

struct cuda_stream;
struct cuda_pool;
/* cudaMemPoolProps */
struct cuda_pool_properties {
    int type, handles, location, device;
    void *windows;
    size_t largest;
    char reserved[56];
};

/* Allocates memory that `pool` counts as its own. NULL: the current pool. */
enum cuda_error cuda_pool_allocate(void **out, size_t bytes, struct cuda_pool *pool);
/* Frees it; a captured stream frees nothing, because its graph may run again. */
enum cuda_error cuda_pool_free(void *p, const struct cuda_stream *s);
enum cuda_error cuda_pool_new(struct cuda_pool **out, const struct cuda_pool_properties *p);
/* The pool goes with the last of its memory. */
enum cuda_error cuda_pool_destroy(struct cuda_pool *p);
/* Attributes by cudaMemPoolAttr. */
enum cuda_error cuda_pool_get(const struct cuda_pool *p, int which, void *out);
enum cuda_error cuda_pool_set(struct cuda_pool *p, int which, const void *value);
/* CUDA_ErrorInvalidValue if it is no pool. */
enum cuda_error cuda_pool_check(const struct cuda_pool *p);
/* The default pool of the device, and the current one. */
enum cuda_error cuda_pool_default(struct cuda_pool **out, int device);
enum cuda_error cuda_pool_current(struct cuda_pool **out, int device);
enum cuda_error cuda_pool_use(int device, struct cuda_pool *p);
#endif
