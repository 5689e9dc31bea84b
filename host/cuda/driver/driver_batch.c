/* Batches of CUDA 12.8 and 13: copies, and advice about managed memory. Work is done in the order of the calls, so that
 * the access order of a copy is the strictest in any case. What runs into a batch's end with an error has begun it. */
#include "driver.h"
#include "host/cuda/core/core_graph_parts.h"
#include "host/cuda/runtime/runtime_api.h"

enum { VERSION_WITH_INDEX = 12, ORDER_LAST = 3, POINTER = 1, ARRAY = 2 };

/* cudaMemcpyAttributes, CUmemcpyAttributes. */
struct attributes {
    int order, hints[4];
    unsigned flags;
};

struct batch {
    void *const *to;
    const void *const *from;
    const size_t *bytes;
    size_t n;
    const struct attributes *attributes;
    const size_t *first; /* copy of each */
    size_t n_attributes;
};

/* The stream of nobody in particular is refused, as on a GPU; a thread's own is another name of these functions. */
static bool is_legacy(const struct cuda_stream *s) { return (uintptr_t)s <= 1; }

/* Lists that say from which element on each entry holds begin with the first, rise, and end within. */
static bool starts_rise(const size_t *first, size_t entries, size_t n) {
    bool ok = entries && entries <= n && first && first[0] == 0;
    for (size_t i = 1; ok && i < entries; i++)
        ok = first[i] > first[i - 1] && first[i] < n;
    return ok;
}

static enum cuda_error copies(const struct batch *b, size_t *failed, struct cuda_stream *s) {
    if (failed)
        *failed = SIZE_MAX; /* none in particular */
    if (!b->n || !b->to || !b->from || !b->bytes || !b->attributes || !starts_rise(b->first, b->n_attributes, b->n))
        return CUDA_ErrorInvalidValue;
    for (size_t i = 0; i < b->n_attributes; i++)
        if (b->attributes[i].order < 1 || b->attributes[i].order > ORDER_LAST)
            return CUDA_ErrorInvalidValue;
    enum cuda_error e = CUDA_Success;
    for (size_t i = 0; !e && i < b->n; i++)
        if ((e = cudaMemcpyAsync(b->to[i], b->from[i], b->bytes[i], COPY_DEFAULT, s)) && failed)
            *failed = i;
    return e;
}

/* In 12 a place for the number of the copy that failed stands before the stream. */
#define BATCH_PARAMETERS                                                                                               \
    void *const *to, const void *const *from, const size_t *bytes, size_t n, const struct attributes *a,               \
        const size_t *first, size_t entries
#define BATCH_ARGUMENTS to, from, bytes, n, a, first, entries
#define BATCH           (&(struct batch){BATCH_ARGUMENTS})

CUDA_API enum cuda_error cudaMemcpyBatchAsync_ptsz(BATCH_PARAMETERS, void *last, struct cuda_stream *s) {
    bool index = cuda_major() == VERSION_WITH_INDEX;
    GUARD(copies(BATCH, index ? last : NULL, index ? s : last));
}
CUDA_API enum cuda_error cudaMemcpyBatchAsync(BATCH_PARAMETERS, void *last, struct cuda_stream *s) {
    if (is_legacy(cuda_major() == VERSION_WITH_INDEX ? s : last))
        return cuda_note(CUDA_ErrorInvalidValue);
    return cudaMemcpyBatchAsync_ptsz(BATCH_ARGUMENTS, last, s);
}
CUDA_API enum cuda_error cuMemcpyBatchAsync_ptsz(BATCH_PARAMETERS, size_t *failed, struct cuda_stream *s) {
    DRIVER(copies(BATCH, failed, s));
}
CUDA_API enum cuda_error cuMemcpyBatchAsync(BATCH_PARAMETERS, size_t *failed, struct cuda_stream *s) {
    return is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpyBatchAsync_ptsz(BATCH_ARGUMENTS, failed, s);
}
CUDA_API enum cuda_error cuMemcpyBatchAsync_v2_ptsz(BATCH_PARAMETERS, struct cuda_stream *s) {
    DRIVER(copies(BATCH, NULL, s));
}
CUDA_API enum cuda_error cuMemcpyBatchAsync_v2(BATCH_PARAMETERS, struct cuda_stream *s) {
    return is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpyBatchAsync_v2_ptsz(BATCH_ARGUMENTS, s);
}

/* ---- copies of boxes ---- */

/* cudaMemcpy3DOperand: lengths in elements, zero for what is tightly packed. */
struct operand {
    int type;
    union {
        struct {
            char *p;
            size_t row, rows;
            int hint[2];
        } pointer;
        struct {
            struct cuda_array *array;
            size_t x, y, z;
        } array;
    };
};
/* cudaMemcpy3DBatchOp. */
struct box_copy {
    struct operand from, to;
    size_t width, height, depth;
    int order;
    unsigned flags;
};

/* Bytes of an element: those of an array, or 1. */
static bool element_of(const struct operand *o, size_t *element) {
    void *first;
    size_t pitch, rows, bytes;
    if (o->type != ARRAY)
        return o->type == POINTER;
    if (!cuda_array_is(o->array.array))
        return false;
    cuda_array_bytes(o->array.array, &first, &pitch, &rows, &bytes);
    bool ok = *element == 1 || *element == bytes;
    *element = bytes;
    return ok;
}

static bool side(const struct operand *o, const struct box_copy *c, size_t element, char **p, size_t *pitch,
                 size_t *plane) {
    void *first;
    size_t rows, bytes;
    if (o->type == ARRAY) {
        cuda_array_bytes(o->array.array, &first, pitch, &rows, &bytes);
        *plane = *pitch * (rows ? rows : 1);
        *p = (char *)first + o->array.z * *plane + o->array.y * *pitch + o->array.x * element;
        return o->array.x * element + c->width * element <= *pitch;
    }
    *p = o->pointer.p;
    *pitch = (o->pointer.row ? o->pointer.row : c->width) * element;
    *plane = *pitch * (o->pointer.rows ? o->pointer.rows : c->height);
    return (!o->pointer.row || o->pointer.row >= c->width) && (!o->pointer.rows || o->pointer.rows >= c->height);
}

static enum cuda_error copy_box(const struct box_copy *c, struct cuda_stream *s) {
    struct cuda_box b = {.height = c->height, .depth = c->depth, .kind = COPY_DEFAULT};
    size_t element = 1;
    char *from = NULL;
    if (c->order < 1 || c->order > ORDER_LAST || !c->width || !c->height || !c->depth ||
        !element_of(&c->from, &element) || !element_of(&c->to, &element) ||
        !side(&c->from, c, element, &from, &b.from_pitch, &b.from_plane) ||
        !side(&c->to, c, element, &b.to, &b.to_pitch, &b.to_plane))
        return CUDA_ErrorInvalidValue;
    b.from = from;
    b.width = c->width * element;
    return cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_COPY, .box = b})
                             : cuda_copy_box("cudaMemcpy3DBatchAsync", &b);
}

static enum cuda_error boxes(size_t n, const struct box_copy *list, size_t *failed, unsigned long long flags,
                             struct cuda_stream *s) {
    if (failed)
        *failed = SIZE_MAX;
    enum cuda_error e = n && list && !flags ? CUDA_Success : CUDA_ErrorInvalidValue;
    for (size_t i = 0; !e && i < n; i++)
        if ((e = copy_box(&list[i], s)) && failed)
            *failed = i;
    return e;
}

CUDA_API enum cuda_error cudaMemcpy3DBatchAsync_ptsz(size_t n, const struct box_copy *list, void *third, void *fourth,
                                                     struct cuda_stream *s) {
    bool index = cuda_major() == VERSION_WITH_INDEX;
    GUARD(boxes(n, list, index ? third : NULL, (uintptr_t)(index ? fourth : third), index ? s : fourth));
}
CUDA_API enum cuda_error cudaMemcpy3DBatchAsync(size_t n, const struct box_copy *list, void *third, void *fourth,
                                                struct cuda_stream *s) {
    if (is_legacy(cuda_major() == VERSION_WITH_INDEX ? s : fourth))
        return cuda_note(CUDA_ErrorInvalidValue);
    return cudaMemcpy3DBatchAsync_ptsz(n, list, third, fourth, s);
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync_ptsz(size_t n, const struct box_copy *list, size_t *failed,
                                                   unsigned long long flags, struct cuda_stream *s) {
    DRIVER(boxes(n, list, failed, flags, s));
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync(size_t n, const struct box_copy *list, size_t *failed,
                                              unsigned long long flags, struct cuda_stream *s) {
    return is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpy3DBatchAsync_ptsz(n, list, failed, flags, s);
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync_v2_ptsz(size_t n, const struct box_copy *list, unsigned long long flags,
                                                      struct cuda_stream *s) {
    DRIVER(boxes(n, list, NULL, flags, s));
}
CUDA_API enum cuda_error cuMemcpy3DBatchAsync_v2(size_t n, const struct box_copy *list, unsigned long long flags,
                                                 struct cuda_stream *s) {
    return is_legacy(s) ? CUDA_ErrorInvalidValue : cuMemcpy3DBatchAsync_v2_ptsz(n, list, flags, s);
}

/* ---- advice: managed memory is where both sides look at all times, and keeps what it holds ---- */

struct location {
    int type, id;
};

static enum cuda_error managed_only(void *const *p, const size_t *bytes, size_t n, unsigned long long flags) {
    uint64_t begin, size;
    bool ok = n && p && bytes && !flags;
    for (size_t i = 0; ok && i < n; i++)
        ok = cuda_memory_of(p[i], &begin, &size) == MEMORY_MANAGED && bytes[i] &&
             bytes[i] <= begin + size - (uintptr_t)p[i];
    return ok ? CUDA_Success : CUDA_ErrorInvalidValue;
}

static enum cuda_error prefetches(void *const *p, const size_t *bytes, size_t n, const struct location *to,
                                  const size_t *first, size_t n_to, unsigned long long flags) {
    enum { TO_DEVICE = 1 };
    if (!to || !starts_rise(first, n_to, n))
        return CUDA_ErrorInvalidValue;
    for (size_t i = 0; i < n_to; i++)
        if (to[i].type == TO_DEVICE && to[i].id)
            return CUDA_ErrorInvalidDevice;
    return managed_only(p, bytes, n, flags);
}

CUDA_API enum cuda_error cudaMemPrefetchBatchAsync(void *const *p, const size_t *bytes, size_t n,
                                                   const struct location *to, const size_t *first, size_t n_to,
                                                   unsigned long long flags) {
    GUARD(prefetches(p, bytes, n, to, first, n_to, flags));
}
CUDA_API enum cuda_error cuMemPrefetchBatchAsync(void *const *p, const size_t *bytes, size_t n,
                                                 const struct location *to, const size_t *first, size_t n_to,
                                                 unsigned long long flags) {
    DRIVER(prefetches(p, bytes, n, to, first, n_to, flags));
}
CUDA_API enum cuda_error cudaMemDiscardAndPrefetchBatchAsync(void *const *p, const size_t *bytes, size_t n,
                                                             const struct location *to, const size_t *first,
                                                             size_t n_to, unsigned long long flags) {
    GUARD(prefetches(p, bytes, n, to, first, n_to, flags));
}
CUDA_API enum cuda_error cuMemDiscardAndPrefetchBatchAsync(void *const *p, const size_t *bytes, size_t n,
                                                           const struct location *to, const size_t *first, size_t n_to,
                                                           unsigned long long flags) {
    DRIVER(prefetches(p, bytes, n, to, first, n_to, flags));
}
CUDA_API enum cuda_error cudaMemDiscardBatchAsync(void *const *p, const size_t *bytes, size_t n,
                                                  unsigned long long flags) {
    GUARD(managed_only(p, bytes, n, flags));
}
CUDA_API enum cuda_error cuMemDiscardBatchAsync(void *const *p, const size_t *bytes, size_t n,
                                                unsigned long long flags) {
    DRIVER(managed_only(p, bytes, n, flags));
}
