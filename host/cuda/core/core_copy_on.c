/* Copies and fills in streams. Each is performed immediately, or is work of the stream if earlier work of the stream
 * has not ended, or becomes a node if the stream is captured. */
#include "core_graph_parts.h"
#include "core_launch.h"

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Returns true if the pointer is in memory that the device reaches. */
static bool is_mapped(const void *p) { return heddle_buffer(cuda_core.h, (uintptr_t)p, NULL, NULL, NULL); }

enum cuda_error cuda_copy_box_on(const char *who, struct cuda_box b, struct cuda_stream *s) {
    CUDA_LOCK;
    const struct cuda_work w = {NODE_COPY, .box = b};
    if (b.height > 1 && (b.width > b.to_pitch || b.width > b.from_pitch))
        return CUDA_ErrorInvalidPitchValue;
    if (cuda_capturing(s))
        return cuda_capture(s, &w);
    /* A copy from or to pageable memory of the host has ended when its call returns (CUDA Runtime API, "API
     * synchronization behavior"). */
    if (cuda_pends(s) && is_mapped(b.to) && is_mapped(b.from))
        return cuda_submit(&w, s, 0, NULL);
    cuda_follow(s);
    return cuda_copy_box(who, &b);
}

static struct cuda_box line(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    return (struct cuda_box){to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind};
}

enum cuda_error cuda_copy_on(const char *who, void *to, const void *from, size_t bytes, enum cuda_copy kind,
                             struct cuda_stream *s) {
    CUDA_LOCK;
    return cuda_copy_box_on(who, line(to, from, bytes, kind), s);
}

enum cuda_error cuda_copy_symbol(const void *symbol, void *other, size_t bytes, size_t offset, enum cuda_copy kind,
                                 bool to, struct cuda_stream *s) {
    CUDA_LOCK;
    uint64_t address, size;
    enum cuda_error e = cuda_find_variable(symbol, &address, &size);
    if (e)
        return e;
    if (offset > size || bytes > size - offset)
        return CUDA_ErrorInvalidValue;
    if (kind == COPY_DEFAULT)
        kind = cuda_is_device_only(other) ? COPY_ON_DEVICE : to ? COPY_TO_DEVICE : COPY_TO_HOST;
    void *at = pointer(address + offset);
    return to ? cuda_copy_box_on("cudaMemcpyToSymbol", line(at, other, bytes, kind), s)
              : cuda_copy_box_on("cudaMemcpyFromSymbol", line(other, at, bytes, kind), s);
}

enum cuda_error cuda_copy_rows(const char *who, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                               size_t width, size_t rows, enum cuda_copy kind, struct cuda_stream *s) {
    CUDA_LOCK;
    return width > to_pitch || width > from_pitch
               ? CUDA_ErrorInvalidPitchValue
               : cuda_copy_box_on(who, (struct cuda_box){to, to_pitch, 0, from, from_pitch, 0, width, rows, 1, kind},
                                  s);
}

enum cuda_error cuda_fill_on(const char *who, struct cuda_rows r, struct cuda_stream *s) {
    CUDA_LOCK;
    const struct cuda_work w = {NODE_FILL, .rows = r};
    if (cuda_capturing(s))
        return cuda_capture(s, &w);
    return cuda_pends(s) ? cuda_submit(&w, s, 0, NULL) : cuda_fill_rows(who, &r);
}

enum cuda_error cuda_fill_2d(void *p, size_t pitch, int value, size_t width, size_t rows, struct cuda_stream *s) {
    CUDA_LOCK;
    return width > pitch ? CUDA_ErrorInvalidPitchValue
                         : cuda_fill_on("cudaMemset2D", cuda_byte_rows(p, pitch, value, width, rows), s);
}
