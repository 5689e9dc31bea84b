#ifndef CUDA_CORE_MEMORY_H
#define CUDA_CORE_MEMORY_H
/* Memory, copies and fills. No device address is an address of the host, so a pointer alone tells where it points. */
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

/* Device memory; 0 bytes are NULL. CUDA_ErrorMemoryAllocation. */
enum cuda_error cuda_allocate(void **out, uint64_t bytes);
/* Rows at a distance of *pitch bytes. */
enum cuda_error cuda_allocate_pitch(void **out, size_t *pitch, uint64_t width, uint64_t rows);
/* Memory that host and device see at the same address; `type`: MEMORY_HOST or MEMORY_MANAGED. */
enum cuda_error cuda_allocate_shared(void **out, uint64_t bytes, int type);
/* Frees memory of any of these kinds; NULL is allowed. */
enum cuda_error cuda_free(void *p);
/* Lets kernels use memory of the host; ends that. */
enum cuda_error cuda_host_register(void *p, uint64_t bytes);
enum cuda_error cuda_host_unregister(void *p);
/* The device's address of host memory. */
enum cuda_error cuda_host_pointer(void **out, void *p);
enum cuda_error cuda_host_flags(unsigned *out, const void *p);
/* The kind of memory at an address, with its block; *begin and *bytes are 0 for MEMORY_UNREGISTERED. */
enum cuda_memory cuda_memory_of(const void *p, uint64_t *begin, uint64_t *bytes);
/* True if only the device sees the memory at `p`. */
bool cuda_is_device_only(const void *p);
enum cuda_error cuda_describe_pointer(struct cuda_pointer_attributes *out, const void *p);
/* Bytes that are free, and all; each may be NULL. */
enum cuda_error cuda_memory_info(size_t *unused, size_t *all);

/* Rows and planes of bytes; `from` and `to` are their first bytes. */
struct cuda_box {
    char *to;
    size_t to_pitch, to_plane;
    const char *from;
    size_t from_pitch, from_plane;
    size_t width, height, depth;
    enum cuda_copy kind;
};
/* Rows of elements that get one value. */
struct cuda_rows {
    char *p;
    size_t pitch;
    uint32_t value, width; /* of an element: 1, 2 or 4 bytes */
    size_t n, rows;
};
static inline struct cuda_rows cuda_byte_rows(void *p, size_t pitch, int value, size_t width, size_t rows) {
    return (struct cuda_rows){p, pitch, (unsigned char)value, 1, width, rows};
}

/* Copies now, or makes a node of a captured stream (`_on`). `who` is the caller, for messages. */
enum cuda_error cuda_copy(const char *who, void *to, const void *from, size_t bytes, enum cuda_copy kind);
enum cuda_error cuda_copy_box(const char *who, const struct cuda_box *b);
enum cuda_error cuda_copy_box_on(const char *who, struct cuda_box b, struct cuda_stream *s);
enum cuda_error cuda_copy_on(const char *who, void *to, const void *from, size_t bytes, enum cuda_copy kind,
                             struct cuda_stream *s);
/* Copies to the variable `symbol` if `to`, else from it; `other` is the other side. */
enum cuda_error cuda_copy_symbol(const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                 bool to, struct cuda_stream *s);
enum cuda_error cuda_copy_rows(const char *who, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                               size_t width, size_t rows, enum cuda_copy kind, struct cuda_stream *s);
/* The same for fills. */
enum cuda_error cuda_fill_rows(const char *who, const struct cuda_rows *r);
enum cuda_error cuda_fill_on(const char *who, struct cuda_rows r, struct cuda_stream *s);
/* Rows of bytes that are not wider than the pitch. */
enum cuda_error cuda_fill_2d(void *p, size_t pitch, int value, size_t width, size_t rows, struct cuda_stream *s);
#endif
