#ifndef CUDA_CORE_MEMORY_H
#define CUDA_CORE_MEMORY_H
/* Memory, copies and fills. A device address is never a host address, so a pointer alone tells which memory it
 * points to. */
#include "core_base.h"

struct cuda_stream;
struct cuda_extent {
    size_t width, height, depth;
};

enum cuda_copy { COPY_HOST_TO_HOST, COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE, COPY_DEFAULT };
enum cuda_memory { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MANAGED };
/* cudaPointerAttributes */
struct cuda_pointer_attributes {
    int type, device;
    void *on_device, *on_host;
};

/* Allocates device memory. 0 bytes give NULL. Returns CUDA_ErrorMemoryAllocation if no memory is left. */
enum cuda_error cuda_allocate(void **out, uint64_t bytes);
/* Allocates rows of memory. Row starts are *pitch bytes apart. */
enum cuda_error cuda_allocate_pitch(void **out, size_t *pitch, uint64_t width, uint64_t rows);
/* Allocates memory that host and device access at the same address. `type` is MEMORY_HOST or MEMORY_MANAGED. */
enum cuda_error cuda_allocate_shared(void **out, uint64_t bytes, int type);
/* Frees memory of any of the kinds above. NULL is allowed. */
enum cuda_error cuda_free(void *p);
/* Register host memory for use by kernels, and unregister it. */
enum cuda_error cuda_host_register(void *p, uint64_t bytes);
enum cuda_error cuda_host_unregister(void *p);
/* Returns the device address of host memory. */
enum cuda_error cuda_host_pointer(void **out, void *p);
enum cuda_error cuda_host_flags(unsigned *out, const void *p);
/* Returns the kind of memory at an address, and its block. *begin and *bytes are 0 for MEMORY_UNREGISTERED. */
enum cuda_memory cuda_memory_of(const void *p, uint64_t *begin, uint64_t *bytes);
/* Returns the context in which the program allocated the block that begins at `begin`. Variables of modules and memory
 * of other processes belong to the primary context. */
struct cuda_context *cuda_memory_context(uint64_t begin);
/* Returns true if only the device sees the memory at `p`. */
bool cuda_is_device_only(const void *p);
enum cuda_error cuda_describe_pointer(struct cuda_pointer_attributes *out, const void *p);
/* Returns the free bytes and the total bytes of device memory. Each pointer may be NULL. */
enum cuda_error cuda_memory_info(size_t *unused, size_t *all);

/* A copy of rows and planes of bytes. `from` and `to` point to the first bytes. */
struct cuda_box {
    char *to;
    size_t to_pitch, to_plane;
    const char *from;
    size_t from_pitch, from_plane;
    size_t width, height, depth;
    enum cuda_copy kind;
};
/* A fill of rows: all elements get one value. */
struct cuda_rows {
    char *p;
    size_t pitch;
    uint32_t value, width; /* bytes of an element: 1, 2 or 4 */
    size_t n, rows;
};
static inline struct cuda_rows cuda_byte_rows(void *p, size_t pitch, int value, size_t width, size_t rows) {
    return (struct cuda_rows){p, pitch, (unsigned char)value, 1, width, rows};
}

/* Copy immediately. A function with `_on` adds a node instead if the stream `s` is captured. `who` is the caller, for
 * messages. */
enum cuda_error cuda_copy(const char *who, void *to, const void *from, size_t bytes, enum cuda_copy kind);
enum cuda_error cuda_copy_box(const char *who, const struct cuda_box *b);
enum cuda_error cuda_copy_box_on(const char *who, struct cuda_box b, struct cuda_stream *s);
enum cuda_error cuda_copy_on(const char *who, void *to, const void *from, size_t bytes, enum cuda_copy kind,
                             struct cuda_stream *s);
/* Copies to the variable `symbol` if `to` is set, else from the variable. `other` is the memory at the other end of the
 * copy. */
enum cuda_error cuda_copy_symbol(const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                 bool to, struct cuda_stream *s);
enum cuda_error cuda_copy_rows(const char *who, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                               size_t width, size_t rows, enum cuda_copy kind, struct cuda_stream *s);
/* Fill memory immediately, or add a node to a captured stream (`_on`). `who` is the caller, for messages. */
enum cuda_error cuda_fill_rows(const char *who, const struct cuda_rows *r);
enum cuda_error cuda_fill_on(const char *who, struct cuda_rows r, struct cuda_stream *s);
/* Fills rows of bytes. `width` must not exceed the pitch. */
enum cuda_error cuda_fill_2d(void *p, size_t pitch, int value, size_t width, size_t rows, struct cuda_stream *s);
#endif
