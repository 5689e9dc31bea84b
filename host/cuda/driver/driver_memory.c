/* Memory and copies of the driver. The driver's device addresses are integers, while core uses pointers. */
#include "driver.h"
#include <string.h>

typedef uint64_t device_ptr;

static void *pointer(device_ptr p) { return (void *)(uintptr_t)p; }

/* ---- allocation ---- */

static enum cuda_error allocate(device_ptr *out, size_t bytes) {
    void *p = NULL;
    enum cuda_error e = out && bytes ? cuda_allocate(&p, bytes) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = (uintptr_t)p;
    return e;
}

CUDA_API enum cuda_error cuMemAlloc_v2(device_ptr *out, size_t bytes) { DRIVER_BESIDE(allocate(out, bytes)); }

static enum cuda_error allocate_pitch(device_ptr *out, size_t *pitch, size_t width, size_t height, unsigned element) {
    void *p = NULL;
    bool right = out && width && height && (element == 4 || element == 8 || element == 16);
    enum cuda_error e = right ? cuda_allocate_pitch(&p, pitch, width, height) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = (uintptr_t)p;
    return e;
}

CUDA_API enum cuda_error cuMemAllocPitch_v2(device_ptr *out, size_t *pitch, size_t width, size_t height,
                                            unsigned element) {
    DRIVER_BESIDE(allocate_pitch(out, pitch, width, height, element));
}

static enum cuda_error range(device_ptr *begin, size_t *bytes, device_ptr p) {
    uint64_t first, n;
    if (cuda_memory_of(pointer(p), &first, &n) == MEMORY_UNREGISTERED)
        return CUDA_ErrorSymbolNotFound;
    if (begin)
        *begin = first;
    if (bytes)
        *bytes = n;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuMemGetAddressRange_v2(device_ptr *begin, size_t *bytes, device_ptr p) {
    DRIVER_BESIDE(range(begin, bytes, p));
}
CUDA_API enum cuda_error cuMemAllocHost_v2(void **out, size_t bytes) {
    DRIVER_BESIDE(bytes ? cuda_allocate_shared(out, bytes, MEMORY_HOST) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    DRIVER_BESIDE(bytes ? cuda_allocate_shared(out, bytes, MEMORY_HOST) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cuMemFreeHost(void *p) { DRIVER_FREE(p ? cuda_free(p) : CUDA_ErrorInvalidValue); }

/* ---- attributes of an address ---- */

enum pointer_attribute {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE,
    POINTER_DEVICE,
    POINTER_HOST,
    POINTER_SYNC_MEMOPS = 6,
    POINTER_BUFFER_ID,
    POINTER_IS_MANAGED,
    POINTER_ORDINAL,
    POINTER_IPC,
    POINTER_BEGIN,
    POINTER_BYTES,
    POINTER_MAPPED,
};

static enum cuda_error attribute(void *out, int which, device_ptr p) {
    enum { TYPE_HOST = 1, TYPE_DEVICE, TYPE_UNIFIED = 4 };
    uint64_t begin, bytes;
    enum cuda_memory type = cuda_memory_of(pointer(p), &begin, &bytes);
    if (!out || type == MEMORY_UNREGISTERED)
        return CUDA_ErrorInvalidValue;
    switch (which) {
    case POINTER_CONTEXT:
        *(struct cuda_context **)out = cuda_memory_context(begin);
        return CUDA_Success;
    case POINTER_MEMORY_TYPE:
        *(unsigned *)out = type == MEMORY_HOST ? TYPE_HOST : TYPE_DEVICE;
        return CUDA_Success;
    case POINTER_DEVICE:
        *(device_ptr *)out = p;
        return CUDA_Success;
    case POINTER_HOST:
        *(void **)out = type == MEMORY_DEVICE ? NULL : pointer(p);
        return type == MEMORY_DEVICE ? CUDA_ErrorInvalidValue : CUDA_Success;
    case POINTER_BUFFER_ID:
    case POINTER_BEGIN:
        *(uint64_t *)out = begin;
        return CUDA_Success;
    case POINTER_BYTES:
        *(size_t *)out = bytes;
        return CUDA_Success;
    case POINTER_IS_MANAGED:
        *(unsigned char *)out = type == MEMORY_MANAGED;
        return CUDA_Success;
    case POINTER_MAPPED:
        *(unsigned char *)out = 1;
        return CUDA_Success;
    case POINTER_ORDINAL:
    case POINTER_SYNC_MEMOPS:
    case POINTER_IPC:
        *(int *)out = 0;
        return CUDA_Success;
    default:
        return CUDA_ErrorNotSupported;
    }
}

CUDA_API enum cuda_error cuPointerGetAttribute(void *out, int which, device_ptr p) {
    DRIVER_FREE_BESIDE(attribute(out, which, p));
}

/* Reads several attributes of an address. An attribute that the address lacks becomes 0, without an error. */
static enum cuda_error attributes(unsigned n, const int *which, void **out, device_ptr p) {
    if (!which || !out)
        return CUDA_ErrorInvalidValue;
    for (unsigned i = 0; i < n; i++)
        if (attribute(out[i], which[i], p) && out[i]) {
            bool wide = which[i] <= POINTER_HOST || which[i] == POINTER_BEGIN || which[i] == POINTER_BYTES;
            memset(out[i], 0, which[i] == POINTER_MEMORY_TYPE ? 4 : wide ? 8 : 1);
        }
    return CUDA_Success;
}

CUDA_API enum cuda_error cuPointerGetAttributes(unsigned n, const int *which, void **out, device_ptr p) {
    DRIVER_FREE_BESIDE(attributes(n, which, out, p));
}
CUDA_API enum cuda_error cuPointerSetAttribute(const void *value, int which, device_ptr p) {
    (void)p;
    DRIVER_BESIDE(value && which == POINTER_SYNC_MEMOPS ? CUDA_Success : CUDA_ErrorInvalidValue);
}

/* ---- copies ---- */

static enum cuda_error copy(void *to, const void *from, size_t bytes, enum cuda_copy kind, struct cuda_stream *s) {
    return cuda_copy_on("cudaMemcpyAsync", to, from, bytes, kind, s);
}

CUDA_API enum cuda_error cuMemcpy(device_ptr to, device_ptr from, size_t bytes) {
    DRIVER_LEGACY(cuda_copy("cuMemcpy", pointer(to), pointer(from), bytes, COPY_DEFAULT));
}
CUDA_API enum cuda_error cuMemcpyAsync(device_ptr to, device_ptr from, size_t bytes, struct cuda_stream *s) {
    DRIVER_STREAM_BESIDE(copy(pointer(to), pointer(from), bytes, COPY_DEFAULT, s));
}
CUDA_API enum cuda_error cuMemcpyHtoD_v2(device_ptr to, const void *from, size_t bytes) {
    DRIVER_LEGACY(cuda_copy("cuMemcpyHtoD", pointer(to), from, bytes, COPY_TO_DEVICE));
}
CUDA_API enum cuda_error cuMemcpyHtoDAsync_v2(device_ptr to, const void *from, size_t bytes, struct cuda_stream *s) {
    DRIVER_STREAM_BESIDE(copy(pointer(to), from, bytes, COPY_TO_DEVICE, s));
}
CUDA_API enum cuda_error cuMemcpyDtoH_v2(void *to, device_ptr from, size_t bytes) {
    DRIVER_LEGACY(cuda_copy("cuMemcpyDtoH", to, pointer(from), bytes, COPY_TO_HOST));
}
CUDA_API enum cuda_error cuMemcpyDtoHAsync_v2(void *to, device_ptr from, size_t bytes, struct cuda_stream *s) {
    DRIVER_STREAM_BESIDE(copy(to, pointer(from), bytes, COPY_TO_HOST, s));
}
CUDA_API enum cuda_error cuMemcpyDtoD_v2(device_ptr to, device_ptr from, size_t bytes) {
    DRIVER_LEGACY(cuda_copy("cuMemcpyDtoD", pointer(to), pointer(from), bytes, COPY_ON_DEVICE));
}
CUDA_API enum cuda_error cuMemcpyDtoDAsync_v2(device_ptr to, device_ptr from, size_t bytes, struct cuda_stream *s) {
    DRIVER_STREAM_BESIDE(copy(pointer(to), pointer(from), bytes, COPY_ON_DEVICE, s));
}
CUDA_API enum cuda_error cuMemcpyPeer(device_ptr to, const void *c, device_ptr from, const void *d, size_t bytes) {
    (void)c, (void)d; /* there is one device */
    return cuMemcpyDtoD_v2(to, from, bytes);
}
CUDA_API enum cuda_error cuMemcpyPeerAsync(device_ptr to, const void *c, device_ptr from, const void *d, size_t bytes,
                                           void *stream) {
    (void)c, (void)d;
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

enum memory_type { TYPE_HOST = 1, TYPE_DEVICE, TYPE_ARRAY, TYPE_UNIFIED };

/* One side of a copy of one to three dimensions. */
struct side {
    size_t x, y, z;
    enum memory_type type;
    void *host;
    device_ptr device;
    struct cuda_array *array;
    size_t pitch, height;
};
struct copy_box {
    struct side from, to;
    size_t width, height, depth;
};

static bool first_row(struct side *s, size_t width, char **out) {
    void *p = s->type == TYPE_HOST ? s->host : pointer(s->device);
    size_t element;
    if (s->type == TYPE_ARRAY && !cuda_array_is(s->array))
        return false;
    if (s->type == TYPE_ARRAY)
        cuda_array_bytes(s->array, &p, &s->pitch, &s->height, &element);
    s->pitch = s->pitch ? s->pitch : width;
    if (!p || s->type < TYPE_HOST || s->type > TYPE_UNIFIED || s->x + width > s->pitch)
        return false;
    *out = (char *)p + (s->z * s->height + s->y) * s->pitch + s->x;
    return true;
}

static enum cuda_error box_of(struct cuda_box *out, struct copy_box c) {
    static const enum cuda_copy kinds[2][2] = {{COPY_HOST_TO_HOST, COPY_TO_DEVICE}, {COPY_TO_HOST, COPY_ON_DEVICE}};
    char *to, *from;
    if (!first_row(&c.to, c.width, &to) || !first_row(&c.from, c.width, &from))
        return CUDA_ErrorInvalidValue;
    bool unified = c.to.type == TYPE_UNIFIED || c.from.type == TYPE_UNIFIED;
    *out = (struct cuda_box){to,
                             c.to.pitch,
                             c.to.height * c.to.pitch,
                             from,
                             c.from.pitch,
                             c.from.height * c.from.pitch,
                             c.width,
                             c.height,
                             c.depth,
                             unified ? COPY_DEFAULT : kinds[c.from.type != TYPE_HOST][c.to.type != TYPE_HOST]};
    return CUDA_Success;
}

static enum cuda_error copy_box(const char *who, struct copy_box c, struct cuda_stream *s) {
    struct cuda_box b;
    enum cuda_error e = box_of(&b, c);
    return e ? e : cuda_copy_box_on(who, b, s);
}

struct side_2d {
    size_t x, y;
    enum memory_type type;
    void *host;
    device_ptr device;
    struct cuda_array *array;
    size_t pitch;
};
struct copy_2d {
    struct side_2d from, to;
    size_t width, height;
};
struct side_3d {
    size_t x, y, z, level;
    enum memory_type type;
    void *host;
    device_ptr device;
    struct cuda_array *array;
    void *reserved;
    size_t pitch, height;
};
struct copy_3d {
    struct side_3d from, to;
    size_t width, height, depth;
};

static struct side side_2d(const struct side_2d *s) {
    return (struct side){s->x, s->y, 0, s->type, s->host, s->device, s->array, s->pitch, 0};
}
static struct side side_3d(const struct side_3d *s) {
    return (struct side){s->x, s->y, s->z, s->type, s->host, s->device, s->array, s->pitch, s->height};
}

static enum cuda_error copy_2d(const struct copy_2d *c, struct cuda_stream *s) {
    if (!c)
        return CUDA_ErrorInvalidValue;
    return copy_box("cuMemcpy2D", (struct copy_box){side_2d(&c->from), side_2d(&c->to), c->width, c->height, 1}, s);
}
static enum cuda_error copy_3d(const struct copy_3d *c, struct cuda_stream *s) {
    if (!c || c->from.level || c->to.level)
        return CUDA_ErrorInvalidValue;
    return copy_box("cuMemcpy3D", (struct copy_box){side_3d(&c->from), side_3d(&c->to), c->width, c->height, c->depth},
                    s);
}

enum cuda_error driver_box_of(struct cuda_box *out, const struct copy_3d *c) {
    if (!c || c->from.level || c->to.level)
        return CUDA_ErrorInvalidValue;
    return box_of(out, (struct copy_box){side_3d(&c->from), side_3d(&c->to), c->width, c->height, c->depth});
}

CUDA_API enum cuda_error cuMemcpy2D_v2(const struct copy_2d *c) { DRIVER_LEGACY(copy_2d(c, NULL)); }
CUDA_API enum cuda_error cuMemcpy2DUnaligned_v2(const struct copy_2d *c) { DRIVER_LEGACY(copy_2d(c, NULL)); }
CUDA_API enum cuda_error cuMemcpy2DAsync_v2(const struct copy_2d *c, struct cuda_stream *s) {
    DRIVER_STREAM_BESIDE(copy_2d(c, s));
}
CUDA_API enum cuda_error cuMemcpy3D_v2(const struct copy_3d *c) { DRIVER_LEGACY(copy_3d(c, NULL)); }
CUDA_API enum cuda_error cuMemcpy3DAsync_v2(const struct copy_3d *c, struct cuda_stream *s) {
    DRIVER_STREAM_BESIDE(copy_3d(c, s));
}

/* ---- fills ---- */

static enum cuda_error fill(device_ptr p, size_t pitch, uint32_t value, uint32_t width, size_t n, size_t rows,
                            struct cuda_stream *s) {
    return cuda_fill_on("cuMemset", (struct cuda_rows){pointer(p), pitch, value, width, n, rows}, s);
}

#define FILL(bits, bytes, type)                                                                                        \
    CUDA_API enum cuda_error cuMemsetD##bits##_v2(device_ptr p, type value, size_t n) {                                \
        DRIVER_LEGACY(fill(p, 0, value, bytes, n, 1, NULL));                                                           \
    }                                                                                                                  \
    CUDA_API enum cuda_error cuMemsetD##bits##Async(device_ptr p, type value, size_t n, struct cuda_stream *s) {       \
        DRIVER_STREAM_BESIDE(fill(p, 0, value, bytes, n, 1, s));                                                       \
    }                                                                                                                  \
    CUDA_API enum cuda_error cuMemsetD2D##bits##_v2(device_ptr p, size_t pitch, type value, size_t n, size_t rows) {   \
        DRIVER_LEGACY(fill(p, pitch, value, bytes, n, rows, NULL));                                                    \
    }                                                                                                                  \
    CUDA_API enum cuda_error cuMemsetD2D##bits##Async(device_ptr p, size_t pitch, type value, size_t n, size_t rows,   \
                                                      struct cuda_stream *s) {                                         \
        DRIVER_STREAM_BESIDE(fill(p, pitch, value, bytes, n, rows, s));                                                \
    }
FILL(8, 1, unsigned char)
FILL(16, 2, unsigned short)
FILL(32, 4, unsigned)
