/* Copies to and from arrays. */
#include "core_texture.h"

enum cuda_error cuda_array_copy_rows(struct cuda_array *a, size_t x, size_t y, void *p, size_t pitch, size_t width,
                                     size_t height, enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s) {
    CUDA_LOCK;
    void *first;
    size_t row, rows, element;
    if (!cuda_array_is(a) || !p)
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(a, &first, &row, &rows, &element);
    if (x > row || width > row - x || y > rows || height > rows - y)
        return CUDA_ErrorInvalidValue;
    if (height > 1 && width > pitch)
        return CUDA_ErrorInvalidPitchValue;
    char *at = (char *)first + y * row + x;
    struct cuda_box b = d == TO_ARRAY ? (struct cuda_box){at, row, 0, p, pitch, 0, width, height, 1, kind}
                                      : (struct cuda_box){p, pitch, 0, at, row, 0, width, height, 1, kind};
    return cuda_copy_box_on("cudaMemcpy2DToArray", b, s);
}

enum cuda_error cuda_array_copy_line(struct cuda_array *a, size_t x, size_t y, void *p, size_t bytes,
                                     enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s) {
    CUDA_LOCK;
    void *first;
    size_t row, rows, element;
    if (!cuda_array_is(a) || !p)
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(a, &first, &row, &rows, &element);
    if (x > row || y >= rows || bytes > (rows - y) * row - x)
        return CUDA_ErrorInvalidValue;
    char *at = (char *)first + y * row + x;
    struct cuda_box b = d == TO_ARRAY ? (struct cuda_box){at, bytes, 0, p, bytes, 0, bytes, 1, 1, kind}
                                      : (struct cuda_box){p, bytes, 0, at, bytes, 0, bytes, 1, 1, kind};
    return cuda_copy_box_on("cudaMemcpyToArray", b, s);
}

enum cuda_error cuda_array_copy_rows_between(struct cuda_array *to, size_t tx, size_t ty, struct cuda_array *from,
                                             size_t fx, size_t fy, size_t width, size_t height) {
    CUDA_LOCK;
    void *first;
    size_t row, rows, element;
    if (!cuda_array_is(from))
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(from, &first, &row, &rows, &element);
    if (fx > row || width > row - fx || fy > rows || height > rows - fy)
        return CUDA_ErrorInvalidValue;
    return cuda_array_copy_rows(to, tx, ty, (char *)first + fy * row + fx, row, width, height, COPY_ON_DEVICE, TO_ARRAY,
                                NULL);
}

enum cuda_error cuda_array_copy_line_between(struct cuda_array *to, size_t at, struct cuda_array *from, size_t from_at,
                                             size_t bytes) {
    CUDA_LOCK;
    void *first;
    size_t pitch, rows, element;
    if (!cuda_array_is(from))
        return CUDA_ErrorInvalidValue;
    cuda_array_bytes(from, &first, &pitch, &rows, &element);
    if (from_at > pitch * rows || bytes > pitch * rows - from_at)
        return CUDA_ErrorInvalidValue;
    return cuda_array_copy_line(to, at, 0, (char *)first + from_at, bytes, COPY_ON_DEVICE, TO_ARRAY, NULL);
}
