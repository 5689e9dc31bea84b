/* Implements the batch calls of CUDA 12.8 and 13: copies, and advice about managed memory. Copies run one after
 * another, which satisfies every access order that a program can ask for. If a copy fails, the copies before it are
 * done. */
#include "core_batch.h"
#include "core_texture.h"

enum { ORDER_LAST = 3, POINTER = 1, ARRAY = 2 };

/* Returns true if the numbers in `first` begin with 0, ascend, and stay below `n`. Entry i of the attributes applies
 * from copy number first[i] on. */
static bool starts_rise(const size_t *first, size_t entries, size_t n) {
    bool ok = entries && entries <= n && first && first[0] == 0;
    for (size_t i = 1; ok && i < entries; i++)
        ok = first[i] > first[i - 1] && first[i] < n;
    return ok;
}

enum cuda_error cuda_copy_batch(const struct cuda_batch *b, size_t *failed, struct cuda_stream *s) {
    CUDA_LOCK;
    if (failed)
        *failed = SIZE_MAX; /* no single copy failed */
    if (!b->n || !b->to || !b->from || !b->bytes || !b->attributes || !starts_rise(b->first, b->n_attributes, b->n))
        return CUDA_ErrorInvalidValue;
    for (size_t i = 0; i < b->n_attributes; i++)
        if (b->attributes[i].order < 1 || b->attributes[i].order > ORDER_LAST)
            return CUDA_ErrorInvalidValue;
    enum cuda_error e = CUDA_Success;
    for (size_t i = 0; !e && i < b->n; i++)
        if ((e = cuda_copy_on("cudaMemcpyAsync", b->to[i], b->from[i], b->bytes[i], COPY_DEFAULT, s)) && failed)
            *failed = i;
    return e;
}

/* ---- copies of boxes ---- */

/* cudaMemcpy3DOperand. Lengths are in elements; 0 means that rows or planes have no gaps. */
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
struct cuda_box_copy {
    struct operand from, to;
    size_t width, height, depth;
    int order;
    unsigned flags;
};

/* Sets *element to the element size of operand `o` in bytes, if `o` is an array; otherwise leaves it. *element is 1
 * before the first operand. Returns false if `o` is invalid, or if both operands are arrays with different element
 * sizes. */
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

static bool side(const struct operand *o, const struct cuda_box_copy *c, size_t element, char **p, size_t *pitch,
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

static enum cuda_error copy_box(const struct cuda_box_copy *c, struct cuda_stream *s) {
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
    return cuda_copy_box_on("cudaMemcpy3DBatchAsync", b, s);
}

enum cuda_error cuda_copy_boxes(size_t n, const struct cuda_box_copy *list, size_t *failed, unsigned long long flags,
                                struct cuda_stream *s) {
    CUDA_LOCK;
    if (failed)
        *failed = SIZE_MAX;
    enum cuda_error e = n && list && !flags ? CUDA_Success : CUDA_ErrorInvalidValue;
    for (size_t i = 0; !e && i < n; i++)
        if ((e = copy_box(&list[i], s)) && failed)
            *failed = i;
    return e;
}

/* ---- advice about managed memory: checked, but without effect, because host and device share the memory ---- */

enum cuda_error cuda_discard_batch(void *const *p, const size_t *bytes, size_t n, unsigned long long flags) {
    CUDA_LOCK;
    uint64_t begin, size;
    bool ok = n && p && bytes && !flags;
    for (size_t i = 0; ok && i < n; i++)
        ok = cuda_memory_of(p[i], &begin, &size) == MEMORY_MANAGED && bytes[i] &&
             bytes[i] <= begin + size - (uintptr_t)p[i];
    return ok ? CUDA_Success : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_prefetch_batch(void *const *p, const size_t *bytes, size_t n, const struct cuda_location *to,
                                    const size_t *first, size_t n_to, unsigned long long flags) {
    CUDA_LOCK;
    enum { TO_DEVICE = 1 };
    if (!to || !starts_rise(first, n_to, n))
        return CUDA_ErrorInvalidValue;
    for (size_t i = 0; i < n_to; i++)
        if (to[i].type == TO_DEVICE && to[i].id)
            return CUDA_ErrorInvalidDevice;
    return cuda_discard_batch(p, bytes, n, flags);
}
