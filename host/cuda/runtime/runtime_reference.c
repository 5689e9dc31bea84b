/* Texture and surface references of the runtime (CUDA 11 and earlier). A program declares a host variable for each
 * reference, the shadow. The address of the shadow identifies the reference. */
#include "runtime.h"

/* The first fields of texture<...>, which programs declare. */
struct texture_reference {
    int normalized, filter, address[3];
    struct channel_format format;
    int srgb;
    unsigned anisotropy;
    int levels_filter;
    float bias, least, most;
    int untrilinear, reserved[14];
};

CUDA_API void __cudaRegisterTexture(void **handle, const struct texture_reference *shadow, const void **address,
                                    const char *name, int dimensions, int normalized_read, int is_extern) {
    (void)address, (void)dimensions, (void)is_extern;
    cuda_reference_register(handle, name, shadow, false, normalized_read);
}
CUDA_API void __cudaRegisterSurface(void **handle, const void *shadow, const void **address, const char *name,
                                    int dimensions, int is_extern) {
    (void)address, (void)dimensions, (void)is_extern;
    cuda_reference_register(handle, name, shadow, true, 0);
}

static enum cuda_error bind(const struct texture_reference *shadow, struct cuda_resource resource) {
    struct cuda_reference *r = cuda_reference_of_shadow(shadow);
    if (!r || r->surface)
        return CUDA_ErrorInvalidTexture;
    r->resource = resource;
    r->texture = (struct cuda_texture){.address = {shadow->address[0], shadow->address[1], shadow->address[2]},
                                       .linear = shadow->filter,
                                       .normalized_read = r->texture.normalized_read,
                                       .normalized_coords = shadow->normalized,
                                       .srgb = shadow->srgb,
                                       .anisotropy = shadow->anisotropy,
                                       .linear_levels = shadow->levels_filter};
    r->bound = true;
    cuda_reference_changed(r);
    return CUDA_Success;
}

/* Binds the memory that begins at `p`: `bytes` bytes, or fewer if the memory ends before. */
static enum cuda_error bind_line(size_t *offset, const struct texture_reference *shadow, const void *p,
                                 const struct channel_format *f, size_t bytes) {
    uint64_t begin, all;
    if (!shadow || !p || !f || cuda_memory_of(p, &begin, &all) == MEMORY_UNREGISTERED)
        return CUDA_ErrorInvalidValue;
    uint64_t left = begin + all - (uintptr_t)p;
    struct cuda_resource r = {.type = RESOURCE_LINEAR};
    r.linear.p = (void *)(uintptr_t)p;
    r.linear.format = *f;
    r.linear.bytes = bytes < left ? bytes : left;
    if (offset)
        *offset = 0;
    return bind(shadow, r);
}

CUDA_API enum cuda_error cudaBindTexture(size_t *offset, const struct texture_reference *shadow, const void *p,
                                         const struct channel_format *f, size_t bytes) {
    RUNTIME(bind_line(offset, shadow, p, f, bytes));
}

static enum cuda_error bind_rows(size_t *offset, const struct texture_reference *shadow, const void *p,
                                 const struct channel_format *f, size_t width, size_t height, size_t pitch) {
    if (!shadow || !p || !f)
        return CUDA_ErrorInvalidValue;
    struct cuda_resource r = {.type = RESOURCE_PITCHED};
    r.pitched.p = (void *)(uintptr_t)p;
    r.pitched.format = *f;
    r.pitched.width = width;
    r.pitched.height = height;
    r.pitched.pitch = pitch;
    if (offset)
        *offset = 0;
    return bind(shadow, r);
}

CUDA_API enum cuda_error cudaBindTexture2D(size_t *offset, const struct texture_reference *shadow, const void *p,
                                           const struct channel_format *f, size_t width, size_t height, size_t pitch) {
    RUNTIME(bind_rows(offset, shadow, p, f, width, height, pitch));
}

static enum cuda_error bind_array(const struct texture_reference *shadow, struct cuda_array *a) {
    return shadow && cuda_array_is(a) ? bind(shadow, (struct cuda_resource){.type = RESOURCE_ARRAY, .array = a})
                                      : CUDA_ErrorInvalidResourceHandle;
}

CUDA_API enum cuda_error cudaBindTextureToArray(const struct texture_reference *shadow, struct cuda_array *a,
                                                const struct channel_format *f) {
    (void)f; /* the format of the array applies instead */
    RUNTIME(bind_array(shadow, a));
}

static enum cuda_error unbind(const struct texture_reference *shadow) {
    struct cuda_reference *r = cuda_reference_of_shadow(shadow);
    if (!r)
        return CUDA_ErrorInvalidTexture;
    r->bound = false;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaUnbindTexture(const struct texture_reference *shadow) { RUNTIME(unbind(shadow)); }

static enum cuda_error reference(const void **out, const void *symbol) {
    const struct cuda_reference *r = cuda_reference_of_shadow(symbol);
    if (!out || !r)
        return out ? CUDA_ErrorInvalidTexture : CUDA_ErrorInvalidValue;
    *out = r->shadow;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureReference(const void **out, const void *symbol) {
    RUNTIME(reference(out, symbol));
}
CUDA_API enum cuda_error cudaGetSurfaceReference(const void **out, const void *symbol) {
    RUNTIME(reference(out, symbol));
}

static enum cuda_error alignment(size_t *out, const struct texture_reference *shadow) {
    const struct cuda_reference *r = cuda_reference_of_shadow(shadow);
    if (!out || !r || !r->bound)
        return out ? CUDA_ErrorInvalidTextureBinding : CUDA_ErrorInvalidValue;
    *out = 0;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureAlignmentOffset(size_t *out, const struct texture_reference *shadow) {
    RUNTIME(alignment(out, shadow));
}

static enum cuda_error bind_surface(const void *shadow, struct cuda_array *a) {
    struct cuda_reference *r = cuda_reference_of_shadow(shadow);
    if (!r || !r->surface || !cuda_array_is(a))
        return r && r->surface ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidSurface;
    r->resource = (struct cuda_resource){.type = RESOURCE_ARRAY, .array = a};
    r->bound = true;
    cuda_reference_changed(r);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaBindSurfaceToArray(const void *shadow, struct cuda_array *a,
                                                const struct channel_format *f) {
    (void)f;
    RUNTIME(bind_surface(shadow, a));
}
