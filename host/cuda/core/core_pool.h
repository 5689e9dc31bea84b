#ifndef CUDA_CORE_POOL_H
#define CUDA_CORE_POOL_H
/* Memory pools. All pools allocate from the memory of the device. Each pool counts the bytes allocated from it. */
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

/* Allocates memory and counts it in `pool`. NULL means the current pool. In a captured stream, the memory belongs to a
 * new node of the graph, and the pool does not count it. */
enum cuda_error cuda_pool_allocate(void **out, size_t bytes, struct cuda_pool *pool, struct cuda_stream *s);
/* Frees pool memory. In a captured stream, adds a node that frees memory of a graph. */
enum cuda_error cuda_pool_free(void *p, struct cuda_stream *s);
enum cuda_error cuda_pool_new(struct cuda_pool **out, const struct cuda_pool_properties *p);
/* Destroys a pool. The pool disappears when the last of its memory is freed. */
enum cuda_error cuda_pool_destroy(struct cuda_pool *p);
/* Attributes by cudaMemPoolAttr. */
enum cuda_error cuda_pool_get(const struct cuda_pool *p, int which, void *out);
enum cuda_error cuda_pool_set(struct cuda_pool *p, int which, const void *value);
/* Returns CUDA_ErrorInvalidValue if the handle is not a pool. */
enum cuda_error cuda_pool_check(const struct cuda_pool *p);
/* Return the default pool of the device and the current pool, and set the current pool. */
enum cuda_error cuda_pool_default(struct cuda_pool **out, int device);
enum cuda_error cuda_pool_current(struct cuda_pool **out, int device);
enum cuda_error cuda_pool_use(int device, struct cuda_pool *p);
/* cudaMemLocation */
struct cuda_pool_place {
    int type, device;
};
/* The forms of CUDA 13, which name a place and the type of memory. Heddle has pools of pinned device memory only. */
enum cuda_error cuda_pool_at(struct cuda_pool **out, const struct cuda_pool_place *at, int type, bool standard_one);
enum cuda_error cuda_pool_use_at(const struct cuda_pool_place *at, int type, struct cuda_pool *p);
/* Returns who may access the memory of the pool: 3 (reads and writes) for the device, 0 for the host. */
enum cuda_error cuda_pool_access(int *out, const struct cuda_pool *p, const struct cuda_pool_place *at);
#endif
