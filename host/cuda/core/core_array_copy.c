/* Copies to and from arrays. */
#include "core_texture.h"

/* Finds the first byte of an array, the number of bytes of a row, and the number of rows. Returns false if `a` is not
 * an array. */
static bool find_bytes(const struct cuda_array *a, char **first, size_t *row, size_t *rows) {
    void *p;
    size_t element;
    if (!cuda_array_is(a))
        return false;
    cuda_array_bytes(a, &p, row, rows, &element);
    *first = p;
    return true;
}

/* Finds `height` rows of `width` bytes that begin at byte x of row y: sets *at to the first byte, and *row to the bytes
 * of a row of the array. Returns false if the array does not contain them. */
static bool find_rows(const struct cuda_array *a, size_t x, size_t y, size_t width, size_t height, char **at,
                      size_t *row) {
    size_t rows;
    if (!find_bytes(a, at, row, &rows) || x > *row || width > *row - x || y > rows || height > rows - y)
        return false;
    *at += y * *row + x;
    return true;
}

enum cuda_error cuda_array_copy_rows(struct cuda_array *a, size_t x, size_t y, void *p, size_t pitch, size_t width,
                                     size_t height, enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s) {
    CUDA_LOCK;
    char *at;
    size_t row;
    if (!p || !find_rows(a, x, y, width, height, &at, &row))
        return CUDA_ErrorInvalidValue;
    if (height > 1 && width > pitch)
        return CUDA_ErrorInvalidPitchValue;
    struct cuda_box b = d == TO_ARRAY ? (struct cuda_box){at, row, 0, p, pitch, 0, width, height, 1, kind}
                                      : (struct cuda_box){p, pitch, 0, at, row, 0, width, height, 1, kind};
    return cuda_copy_box_on("cudaMemcpy2DToArray", b, s);
}

enum cuda_error cuda_array_copy_line(struct cuda_array *a, size_t x, size_t y, void *p, size_t bytes,
                                     enum cuda_copy kind, enum cuda_direction d, struct cuda_stream *s) {
    CUDA_LOCK;
    char *first;
    size_t row, rows;
    if (!p || !find_bytes(a, &first, &row, &rows) || x > row || y >= rows || bytes > (rows - y) * row - x)
        return CUDA_ErrorInvalidValue;
    char *at = first + y * row + x;
    struct cuda_box b = d == TO_ARRAY ? (struct cuda_box){at, bytes, 0, p, bytes, 0, bytes, 1, 1, kind}
                                      : (struct cuda_box){p, bytes, 0, at, bytes, 0, bytes, 1, 1, kind};
    return cuda_copy_box_on("cudaMemcpyToArray", b, s);
}

enum cuda_error cuda_array_copy_rows_between(struct cuda_array *to, size_t tx, size_t ty, struct cuda_array *from,
                                             size_t fx, size_t fy, size_t width, size_t height) {
    CUDA_LOCK;
    char *at;
    size_t row;
    if (!find_rows(from, fx, fy, width, height, &at, &row))
        return CUDA_ErrorInvalidValue;
    return cuda_array_copy_rows(to, tx, ty, at, row, width, height, COPY_ON_DEVICE, TO_ARRAY, NULL);
}

enum cuda_error cuda_array_copy_line_between(struct cuda_array *to, size_t at, struct cuda_array *from, size_t from_at,
                                             size_t bytes) {
    CUDA_LOCK;
    char *first;
    size_t row, rows;
    if (!find_bytes(from, &first, &row, &rows) || from_at > row * rows || bytes > row * rows - from_at)
        return CUDA_ErrorInvalidValue;
    return cuda_array_copy_line(to, at, 0, first + from_at, bytes, COPY_ON_DEVICE, TO_ARRAY, NULL);
}
