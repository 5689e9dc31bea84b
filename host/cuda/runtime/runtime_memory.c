/* Memory and copy functions of the runtime that differ in form from the driver's. */
#include "runtime.h"

struct position {
    size_t x, y, z;
};
struct pitched {
    void *p;
    size_t pitch, width, height;
};

CUDA_API enum cuda_error cudaMalloc(void **out, size_t bytes) { RUNTIME_BESIDE(cuda_allocate(out, bytes)); }
CUDA_API enum cuda_error cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    RUNTIME_BESIDE(cuda_allocate_pitch(out, pitch, width, height));
}

static enum cuda_error allocate_3d(struct pitched *out, struct cuda_extent e) {
    if (!out || (e.height && e.depth > UINT64_MAX / e.height))
        return CUDA_ErrorInvalidValue;
    out->width = e.width;
    out->height = e.height;
    return cuda_allocate_pitch(&out->p, &out->pitch, e.width, e.height * e.depth);
}

CUDA_API enum cuda_error cudaMalloc3D(struct pitched *out, struct cuda_extent e) {
    RUNTIME_BESIDE(allocate_3d(out, e));
}
CUDA_API enum cuda_error cudaMallocHost(void **out, size_t bytes) {
    RUNTIME_BESIDE(cuda_allocate_shared(out, bytes, MEMORY_HOST));
}
CUDA_API enum cuda_error cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    RUNTIME_BESIDE(cuda_allocate_shared(out, bytes, MEMORY_HOST));
}
CUDA_API enum cuda_error cudaFreeHost(void *p) { RUNTIME(cuda_free(p)); }
CUDA_API enum cuda_error cudaPointerGetAttributes(struct cuda_pointer_attributes *out, const void *p) {
    RUNTIME_BESIDE(cuda_describe_pointer(out, p));
}

/* ---- copies ---- */

CUDA_API enum cuda_error cudaMemcpy(void *to, const void *from, size_t bytes, enum cuda_copy kind) {
    RUNTIME_LEGACY(cuda_copy("cudaMemcpy", to, from, bytes, kind));
}
CUDA_API enum cuda_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cuda_copy kind,
                                         struct cuda_stream *s) {
    RUNTIME_BESIDE(cuda_copy_on("cudaMemcpyAsync", to, from, bytes, kind, s));
}
CUDA_API enum cuda_error cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (to_device || from_device)
        NOTE(CUDA_ErrorInvalidDevice);
    RUNTIME_LEGACY(cuda_copy("cudaMemcpyPeer", to, from, bytes, COPY_ON_DEVICE));
}
CUDA_API enum cuda_error cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                             struct cuda_stream *s) {
    if (to_device || from_device)
        NOTE(CUDA_ErrorInvalidDevice);
    RUNTIME_BESIDE(cuda_copy_on("cudaMemcpyAsync", to, from, bytes, COPY_ON_DEVICE, s));
}
CUDA_API enum cuda_error cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                            enum cuda_copy kind) {
    RUNTIME_LEGACY(cuda_copy_symbol(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, NULL));
}
CUDA_API enum cuda_error cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                              enum cuda_copy kind) {
    RUNTIME_LEGACY(cuda_copy_symbol(symbol, to, bytes, offset, kind, false, NULL));
}
CUDA_API enum cuda_error cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                                 enum cuda_copy kind, struct cuda_stream *s) {
    RUNTIME_BESIDE(cuda_copy_symbol(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, s));
}
CUDA_API enum cuda_error cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                                   enum cuda_copy kind, struct cuda_stream *s) {
    RUNTIME_BESIDE(cuda_copy_symbol(symbol, to, bytes, offset, kind, false, s));
}
CUDA_API enum cuda_error cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, enum cuda_copy kind) {
    RUNTIME_LEGACY(cuda_copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, NULL));
}
CUDA_API enum cuda_error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                           size_t height, enum cuda_copy kind, struct cuda_stream *s) {
    RUNTIME_BESIDE(cuda_copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, s));
}

struct copy_3d {
    struct cuda_array *from_array;
    struct position from_at;
    struct pitched from;
    struct cuda_array *to_array;
    struct position to_at;
    struct pitched to;
    struct cuda_extent extent;
    enum cuda_copy kind;
};

/* Computes the first byte, pitch, plane size and element size of one side of a copy, which is an array or pitched
 * memory. Positions in arrays are in elements. */
static bool side_of(struct cuda_array *array, struct pitched p, struct position at, char **first, size_t *pitch,
                    size_t *plane, size_t *element) {
    size_t x = at.x;
    if (array) {
        if (!cuda_array_is(array))
            return false;
        cuda_array_bytes(array, &p.p, &p.pitch, &p.height, element);
        x *= *element;
    }
    *pitch = p.pitch;
    *plane = p.height * p.pitch;
    *first = (char *)p.p + at.z * *plane + at.y * p.pitch + x;
    return p.p != NULL;
}

enum cuda_error runtime_box_of(struct cuda_box *out, const struct copy_3d *c) {
    size_t element = 1; /* the width of the extent is in elements if a side is an array, else in bytes */
    if (!c ||
        !side_of(c->from_array, c->from, c->from_at, (char **)&out->from, &out->from_pitch, &out->from_plane,
                 &element) ||
        !side_of(c->to_array, c->to, c->to_at, &out->to, &out->to_pitch, &out->to_plane, &element))
        return CUDA_ErrorInvalidValue;
    out->width = c->extent.width * element;
    out->height = c->extent.height;
    out->depth = c->extent.depth;
    out->kind = c->kind;
    return out->width > out->to_pitch || out->width > out->from_pitch ? CUDA_ErrorInvalidPitchValue : CUDA_Success;
}

static enum cuda_error copy_3d(const char *who, const struct copy_3d *c, struct cuda_stream *s) {
    struct cuda_box b;
    enum cuda_error e = runtime_box_of(&b, c);
    return e ? e : cuda_copy_box_on(who, b, s);
}

CUDA_API enum cuda_error cudaMemcpy3D(const struct copy_3d *c) { RUNTIME_LEGACY(copy_3d("cudaMemcpy3D", c, NULL)); }
CUDA_API enum cuda_error cudaMemcpy3DAsync(const struct copy_3d *c, struct cuda_stream *s) {
    RUNTIME_BESIDE(copy_3d("cudaMemcpy3DAsync", c, s));
}

/* ---- fills ---- */

CUDA_API enum cuda_error cudaMemset(void *p, int value, size_t bytes) {
    RUNTIME_LEGACY(cuda_fill_on("cudaMemset", cuda_byte_rows(p, bytes, value, bytes, 1), NULL));
}
CUDA_API enum cuda_error cudaMemsetAsync(void *p, int value, size_t bytes, struct cuda_stream *s) {
    RUNTIME_BESIDE(cuda_fill_on("cudaMemsetAsync", cuda_byte_rows(p, bytes, value, bytes, 1), s));
}
CUDA_API enum cuda_error cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    RUNTIME_LEGACY(cuda_fill_2d(p, pitch, value, width, height, NULL));
}
CUDA_API enum cuda_error cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                           struct cuda_stream *s) {
    RUNTIME_BESIDE(cuda_fill_2d(p, pitch, value, width, height, s));
}

static enum cuda_error fill_3d(struct pitched p, int value, struct cuda_extent e, struct cuda_stream *s) {
    enum cuda_error error = CUDA_Success;
    for (size_t z = 0; !error && z < e.depth; z++)
        error = cuda_fill_2d((char *)p.p + z * p.height * p.pitch, p.pitch, value, e.width, e.height, s);
    return error;
}

CUDA_API enum cuda_error cudaMemset3D(struct pitched p, int value, struct cuda_extent e) {
    RUNTIME_LEGACY(fill_3d(p, value, e, NULL));
}
CUDA_API enum cuda_error cudaMemset3DAsync(struct pitched p, int value, struct cuda_extent e, struct cuda_stream *s) {
    RUNTIME_BESIDE(fill_3d(p, value, e, s));
}
CUDA_API enum cuda_error cudaMemset3DAsync_ptsz(struct pitched p, int value, struct cuda_extent e,
                                                struct cuda_stream *s) {
    return cudaMemset3DAsync(p, value, e, s ? s : CUDA_OWN_STREAM);
}
