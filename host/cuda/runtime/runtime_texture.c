/* The runtime's functions for arrays, and for texture and surface objects. */
#include "runtime.h"

CUDA_API struct channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channel_format){x, y, z, w, kind};
}
CUDA_API enum cuda_error cudaMallocArray(struct cuda_array **out, const struct channel_format *f, size_t width,
                                         size_t height, unsigned flags) {
    RUNTIME_BESIDE(cuda_array_new(out, f, (struct cuda_extent){width, height, 0},
                                  flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_CUBE)));
}
CUDA_API enum cuda_error cudaMalloc3DArray(struct cuda_array **out, const struct channel_format *f,
                                           struct cuda_extent e, unsigned flags) {
    RUNTIME_BESIDE(cuda_array_new(out, f, e, flags));
}
CUDA_API enum cuda_error cudaFreeArray(struct cuda_array *a) { RUNTIME(cuda_array_free(a)); }
CUDA_API enum cuda_error cudaArrayGetInfo(struct channel_format *f, struct cuda_extent *e, unsigned *flags,
                                          const struct cuda_array *a) {
    RUNTIME_BESIDE(cuda_array_info(f, e, flags, a));
}
CUDA_API enum cuda_error cudaGetChannelDesc(struct channel_format *f, const struct cuda_array *a) {
    RUNTIME_BESIDE(f ? cuda_array_info(f, NULL, NULL, a) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaMallocMipmappedArray(struct cuda_mipmap **out, const struct channel_format *f,
                                                  struct cuda_extent e, unsigned n, unsigned flags) {
    RUNTIME_BESIDE(cuda_mipmap_new(out, f, e, n, flags));
}
CUDA_API enum cuda_error cudaFreeMipmappedArray(struct cuda_mipmap *m) { RUNTIME(cuda_mipmap_free(m)); }

/* ---- copies ---- */

CUDA_API enum cuda_error cudaMemcpy2DToArray(struct cuda_array *a, size_t x, size_t y, const void *p, size_t pitch,
                                             size_t width, size_t height, enum cuda_copy kind) {
    RUNTIME(cuda_array_copy_rows(a, x, y, (void *)(uintptr_t)p, pitch, width, height, kind, TO_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpy2DToArrayAsync(struct cuda_array *a, size_t x, size_t y, const void *p, size_t pitch,
                                                  size_t width, size_t height, enum cuda_copy kind,
                                                  struct cuda_stream *s) {
    RUNTIME(cuda_array_copy_rows(a, x, y, (void *)(uintptr_t)p, pitch, width, height, kind, TO_ARRAY, s));
}
CUDA_API enum cuda_error cudaMemcpy2DFromArray(void *p, size_t pitch, struct cuda_array *a, size_t x, size_t y,
                                               size_t width, size_t height, enum cuda_copy kind) {
    RUNTIME(cuda_array_copy_rows(a, x, y, p, pitch, width, height, kind, FROM_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpy2DFromArrayAsync(void *p, size_t pitch, struct cuda_array *a, size_t x, size_t y,
                                                    size_t width, size_t height, enum cuda_copy kind,
                                                    struct cuda_stream *s) {
    RUNTIME(cuda_array_copy_rows(a, x, y, p, pitch, width, height, kind, FROM_ARRAY, s));
}
CUDA_API enum cuda_error cudaMemcpyToArray(struct cuda_array *a, size_t x, size_t y, const void *p, size_t bytes,
                                           enum cuda_copy kind) {
    RUNTIME(cuda_array_copy_line(a, x, y, (void *)(uintptr_t)p, bytes, kind, TO_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpyToArrayAsync(struct cuda_array *a, size_t x, size_t y, const void *p, size_t bytes,
                                                enum cuda_copy kind, struct cuda_stream *s) {
    RUNTIME(cuda_array_copy_line(a, x, y, (void *)(uintptr_t)p, bytes, kind, TO_ARRAY, s));
}
CUDA_API enum cuda_error cudaMemcpyFromArray(void *p, struct cuda_array *a, size_t x, size_t y, size_t bytes,
                                             enum cuda_copy kind) {
    RUNTIME(cuda_array_copy_line(a, x, y, p, bytes, kind, FROM_ARRAY, NULL));
}
CUDA_API enum cuda_error cudaMemcpyFromArrayAsync(void *p, struct cuda_array *a, size_t x, size_t y, size_t bytes,
                                                  enum cuda_copy kind, struct cuda_stream *s) {
    RUNTIME(cuda_array_copy_line(a, x, y, p, bytes, kind, FROM_ARRAY, s));
}
CUDA_API enum cuda_error cudaMemcpy2DArrayToArray(struct cuda_array *to, size_t tx, size_t ty, struct cuda_array *from,
                                                  size_t fx, size_t fy, size_t width, size_t height,
                                                  enum cuda_copy kind) {
    (void)kind;
    RUNTIME(cuda_array_copy_rows_between(to, tx, ty, from, fx, fy, width, height));
}

/* ---- objects ---- */

static enum cuda_error create(uint64_t *out, const struct cuda_resource *r, const struct cuda_texture *x,
                              const void *view) {
    if (view)
        return cuda_refuse_view("cudaCreateTextureObject");
    return x ? cuda_object_new(out, r, x) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaCreateTextureObject(uint64_t *out, const struct cuda_resource *r,
                                                 const struct cuda_texture *x, const void *view) {
    RUNTIME_BESIDE(create(out, r, x, view));
}
CUDA_API enum cuda_error cudaCreateSurfaceObject(uint64_t *out, const struct cuda_resource *r) {
    RUNTIME_BESIDE(r && r->type == RESOURCE_ARRAY ? cuda_object_new(out, r, NULL) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaGetTextureObjectResourceDesc(struct cuda_resource *out, uint64_t handle) {
    RUNTIME_BESIDE(cuda_object_resource(out, handle, false));
}
CUDA_API enum cuda_error cudaGetSurfaceObjectResourceDesc(struct cuda_resource *out, uint64_t handle) {
    RUNTIME_BESIDE(cuda_object_resource(out, handle, true));
}
CUDA_API enum cuda_error cudaGetTextureObjectTextureDesc(struct cuda_texture *out, uint64_t handle) {
    RUNTIME_BESIDE(cuda_object_texture(out, handle));
}
