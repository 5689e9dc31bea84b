#ifndef CUDA_CORE_MEMORY_H
#define CUDA_CORE_MEMORY_H
/* Memory and copies. */
#include "core_base.h"

struct cuda_stream;
struct cuda_array;

/* Rows and planes of bytes; `from` and `to` are their first bytes. */
struct cuda_box {
    char *to;
    size_t to_pitch, to_plane;
    const char *from;
    size_t from_pitch, from_plane;
    size_t width, height, depth;
    enum cuda_copy kind;
};
/* Copies; `who` for messages. */
enum cuda_error cuda_copy_box(const char *who, const struct cuda_box *b);

struct cuda_rows {
    char *p;
    size_t pitch;
    uint32_t value, width; /* of an element: 1, 2 or 4 bytes */
    size_t n, rows;
};
enum cuda_error cuda_fill_rows(const char *who, const struct cuda_rows *r);
/* Now, or noted when the stream is captured. */
enum cuda_error cuda_fill_on(const char *who, struct cuda_rows r, struct cuda_stream *s);

/* array.c: whether it is one; its first byte, pitch, rows a plane, bytes of an element. */
bool cuda_array_is(const struct cuda_array *a);
void cuda_array_bytes(const struct cuda_array *a, void **first, size_t *pitch, size_t *height, size_t *element);
#endif
