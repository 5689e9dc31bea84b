/* CUDA arrays: their formats, sizes and memory. */
#include "core_texture.h"
#include <stdlib.h>

static struct cuda_array *arrays; /* under the lock */

size_t cuda_element_bytes(const struct channel_format *f) { return (size_t)(f->x + f->y + f->z + f->w) / 8; }

bool cuda_format_of(const struct channel_format *f, enum heddle_format *out, uint32_t *channels) {
    static const enum heddle_format formats[3][3] = {
        {HEDDLE_S8, HEDDLE_S16, HEDDLE_S32}, {HEDDLE_U8, HEDDLE_U16, HEDDLE_U32}, {HEDDLE_F16, HEDDLE_F16, HEDDLE_F32}};
    int width = f->x == 8 ? 0 : f->x == 16 ? 1 : f->x == 32 ? 2 : -1;
    if (width < 0 || f->kind < 0 || f->kind > CHANNEL_FLOAT || (f->kind == CHANNEL_FLOAT && !width))
        return false;
    bool one = !f->y && !f->z && !f->w, two = f->y == f->x && !f->z && !f->w;
    bool four = f->y == f->x && f->z == f->x && f->w == f->x;
    *out = formats[f->kind][width];
    *channels = one ? 1 : two ? 2 : 4;
    return one || two || four;
}

bool cuda_array_is(const struct cuda_array *a) {
    CUDA_LOCK;
    const struct cuda_array *i = arrays;
    while (i && i != a)
        i = i->next;
    return i != NULL;
}

void cuda_array_bytes(const struct cuda_array *a, void **first, size_t *pitch, size_t *height, size_t *element) {
    *first = (void *)(uintptr_t)a->data;
    *element = cuda_element_bytes(&a->format);
    *pitch = a->extent.width * *element;
    *height = a->extent.height ? a->extent.height : 1;
}

enum cuda_error cuda_array_check(const struct channel_format *f, struct cuda_extent e, unsigned flags) {
    enum heddle_format format;
    uint32_t channels;
    enum { MOST = 1 << 27 };
    if (!f || !e.width || e.width > MOST || e.height > MOST || e.depth > MOST)
        return CUDA_ErrorInvalidValue;
    if (!cuda_format_of(f, &format, &channels))
        return CUDA_ErrorInvalidChannelDescriptor;
    if (flags & ARRAY_GATHER && (!e.height || (e.depth && !(flags & (ARRAY_LAYERED | ARRAY_CUBE)))))
        /* a gather reads four texels of one plane: the array must have a height, and its depth may only count layers
         * or faces */
        return CUDA_ErrorInvalidValue;
    return flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBE | ARRAY_GATHER) ? CUDA_ErrorNotSupported
                                                                                          : CUDA_Success;
}

/* Returns the size in bytes, or UINT64_MAX if the size overflows. */
uint64_t cuda_array_size(const struct channel_format *f, struct cuda_extent e) {
    uint64_t rows = (e.height ? e.height : 1) * (e.depth ? e.depth : 1), bytes = e.width * cuda_element_bytes(f);
    return __builtin_mul_overflow(bytes, rows, &bytes) ? UINT64_MAX : bytes;
}

static struct cuda_array *new_array(const struct channel_format *f, struct cuda_extent e, unsigned flags) {
    struct cuda_array *a = malloc(sizeof *a);
    if (a)
        *a = (struct cuda_array){.next = arrays, .format = *f, .extent = e, .flags = flags};
    return a;
}

struct cuda_array *cuda_array_view(const struct channel_format *f, struct cuda_extent e, unsigned flags,
                                   uint64_t data) {
    struct cuda_array *a = new_array(f, e, flags);
    if (!a)
        return NULL;
    a->data = data;
    a->part = true;
    return arrays = a;
}

enum cuda_error cuda_array_new(struct cuda_array **out, const struct channel_format *f, struct cuda_extent e,
                               unsigned flags) {
    CUDA_LOCK;
    enum cuda_error error = out ? cuda_array_check(f, e, flags) : CUDA_ErrorInvalidValue;
    if (error)
        return error;
    struct cuda_array *a = new_array(f, e, flags);
    if (!a || !(a->data = heddle_alloc(cuda_core.h, cuda_array_size(f, e)))) {
        free(a);
        return CUDA_ErrorMemoryAllocation;
    }
    *out = arrays = a;
    return CUDA_Success;
}

void cuda_array_forget(struct cuda_array *a) {
    struct cuda_array **i = &arrays;
    while (*i && *i != a)
        i = &(*i)->next;
    if (*i)
        *i = a->next;
    free(a);
}

enum cuda_error cuda_array_free(struct cuda_array *a) {
    CUDA_LOCK;
    if (!a)
        return CUDA_Success;
    if (!cuda_array_is(a) || a->part)
        return CUDA_ErrorInvalidValue;
    heddle_free(cuda_core.h, a->data);
    cuda_array_forget(a);
    return CUDA_Success;
}

enum cuda_error cuda_array_info(struct channel_format *f, struct cuda_extent *e, unsigned *flags,
                                const struct cuda_array *a) {
    CUDA_LOCK;
    if (!cuda_array_is(a))
        return CUDA_ErrorInvalidResourceHandle;
    if (f)
        *f = a->format;
    if (e)
        *e = a->extent;
    if (flags)
        *flags = a->flags;
    return CUDA_Success;
}
