/* Texture and surface references of the driver. */
#include "driver_texture.h"
#include <string.h>

static enum cuda_error get(struct cuda_reference **out, struct cuda_module *m, const char *name, bool surface) {
    uint64_t at;
    enum cuda_error e = out ? cuda_module_variable(&at, NULL, m, name) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    struct cuda_reference *r = cuda_reference_add(m, name, NULL);
    if (!r)
        return CUDA_ErrorMemoryAllocation;
    r->surface = surface;
    *out = r;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuModuleGetTexRef(struct cuda_reference **out, struct cuda_module *m, const char *name) {
    DRIVER(get(out, m, name, false));
}
CUDA_API enum cuda_error cuModuleGetSurfRef(struct cuda_reference **out, struct cuda_module *m, const char *name) {
    DRIVER(get(out, m, name, true));
}

static enum cuda_error create(struct cuda_reference **out) {
    if (!out || !(*out = cuda_reference_add(NULL, "", NULL)))
        return out ? CUDA_ErrorMemoryAllocation : CUDA_ErrorInvalidValue;
    return CUDA_Success;
}

static enum cuda_error destroy(struct cuda_reference *r) {
    if (!cuda_reference_of(r) || r->in)
        return CUDA_ErrorInvalidResourceHandle;
    cuda_reference_free(r);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuTexRefCreate(struct cuda_reference **out) { DRIVER(create(out)); }
CUDA_API enum cuda_error cuTexRefDestroy(struct cuda_reference *r) { DRIVER_FREE(destroy(r)); }

/* Computes from the flags and from the format of the bound memory how a texture reads integers. A program may set
 * flags, format and memory in any order, so every change calls this function. */
static enum cuda_error update(struct cuda_reference *r) {
    if (r->bound)
        r->texture.normalized_read = driver_normalized_read(driver_resource_format(&r->resource), r->as_integer);
    cuda_reference_changed(r);
    return CUDA_Success;
}

static enum cuda_error bind(struct cuda_reference *r, struct cuda_resource resource) {
    r->resource = resource;
    r->bound = true;
    return update(r);
}

/* ---- binding ---- */

static enum cuda_error set_array(struct cuda_reference *r, struct cuda_array *a, unsigned flags) {
    enum { OVERRIDE_FORMAT = 1 };
    if (!cuda_reference_of(r) || !cuda_array_is(a))
        return CUDA_ErrorInvalidResourceHandle;
    if (flags & ~(unsigned)OVERRIDE_FORMAT)
        return CUDA_ErrorInvalidValue;
    r->format = a->format;
    return bind(r, (struct cuda_resource){.type = RESOURCE_ARRAY, .array = a});
}

CUDA_API enum cuda_error cuTexRefSetArray(struct cuda_reference *r, struct cuda_array *a, unsigned flags) {
    DRIVER(set_array(r, a, flags));
}
CUDA_API enum cuda_error cuSurfRefSetArray(struct cuda_reference *r, struct cuda_array *a, unsigned flags) {
    DRIVER(flags ? CUDA_ErrorInvalidValue : set_array(r, a, 0));
}

static enum cuda_error set_address(size_t *offset, struct cuda_reference *r, uint64_t p, size_t bytes) {
    if (!cuda_reference_of(r))
        return CUDA_ErrorInvalidResourceHandle;
    struct cuda_resource resource = {.type = RESOURCE_LINEAR};
    resource.linear.p = (void *)(uintptr_t)p;
    resource.linear.format = r->format;
    resource.linear.bytes = bytes;
    if (offset)
        *offset = 0;
    return bind(r, resource);
}

CUDA_API enum cuda_error cuTexRefSetAddress_v2(size_t *offset, struct cuda_reference *r, uint64_t p, size_t bytes) {
    DRIVER(set_address(offset, r, p, bytes));
}

static enum cuda_error set_address_2d(struct cuda_reference *r, const struct driver_description *d, uint64_t p,
                                      size_t pitch) {
    struct cuda_resource resource = {.type = RESOURCE_PITCHED};
    if (!cuda_reference_of(r))
        return CUDA_ErrorInvalidResourceHandle;
    enum cuda_error e = d ? driver_format(&resource.pitched.format, d->format, d->channels) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    resource.pitched.p = (void *)(uintptr_t)p;
    resource.pitched.width = d->width;
    resource.pitched.height = d->height;
    resource.pitched.pitch = pitch;
    r->format = resource.pitched.format;
    return bind(r, resource);
}

CUDA_API enum cuda_error cuTexRefSetAddress2D_v3(struct cuda_reference *r, const struct driver_description *d,
                                                 uint64_t p, size_t pitch) {
    DRIVER(set_address_2d(r, d, p, pitch));
}
CUDA_API enum cuda_error cuTexRefSetAddress2D_v2(struct cuda_reference *r, const struct driver_description *d,
                                                 uint64_t p, size_t pitch) {
    DRIVER(set_address_2d(r, d, p, pitch));
}

/* ---- setting attributes ---- */

static enum cuda_error set_format(struct cuda_reference *r, int format, unsigned channels) {
    if (!cuda_reference_of(r))
        return CUDA_ErrorInvalidResourceHandle;
    enum cuda_error e = driver_format(&r->format, format, channels);
    if (!e && r->resource.type == RESOURCE_LINEAR)
        r->resource.linear.format = r->format;
    return e ? e : update(r);
}

CUDA_API enum cuda_error cuTexRefSetFormat(struct cuda_reference *r, int format, int channels) {
    DRIVER(set_format(r, format, (unsigned)channels));
}

/* Sets one attribute of a reference. */
static enum cuda_error set_field(struct cuda_reference *r, int *field, int value, int most) {
    if (!cuda_reference_of(r))
        return CUDA_ErrorInvalidResourceHandle;
    if (value < 0 || value > most)
        return CUDA_ErrorInvalidValue;
    *field = value;
    return update(r);
}

CUDA_API enum cuda_error cuTexRefSetAddressMode(struct cuda_reference *r, int dimension, int mode) {
    DRIVER(dimension < 0 || dimension > 2 ? CUDA_ErrorInvalidValue
                                          : set_field(r, &r->texture.address[dimension], mode, 3));
}
CUDA_API enum cuda_error cuTexRefSetFilterMode(struct cuda_reference *r, int mode) {
    DRIVER(set_field(r, &r->texture.linear, mode, 1));
}
CUDA_API enum cuda_error cuTexRefSetMipmapFilterMode(struct cuda_reference *r, int mode) {
    DRIVER(set_field(r, &r->texture.linear_levels, mode, 1));
}
CUDA_API enum cuda_error cuTexRefSetMaxAnisotropy(struct cuda_reference *r, unsigned most) {
    DRIVER(set_field(r, (int *)&r->texture.anisotropy, (int)most, 16));
}

static enum cuda_error set_flags(struct cuda_reference *r, unsigned flags) {
    if (!cuda_reference_of(r))
        return CUDA_ErrorInvalidResourceHandle;
    r->as_integer = (flags & FLAG_INTEGER) != 0;
    r->texture.normalized_coords = (flags & FLAG_NORMALIZED) != 0;
    r->texture.srgb = (flags & FLAG_SRGB) != 0;
    return update(r);
}

CUDA_API enum cuda_error cuTexRefSetFlags(struct cuda_reference *r, unsigned flags) { DRIVER(set_flags(r, flags)); }

static enum cuda_error set_border(struct cuda_reference *r, const float *color) {
    if (!cuda_reference_of(r) || !color)
        return color ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    memcpy(r->texture.border, color, sizeof r->texture.border);
    return update(r);
}

CUDA_API enum cuda_error cuTexRefSetBorderColor(struct cuda_reference *r, const float *color) {
    DRIVER(set_border(r, color));
}

/* ---- reading attributes ---- */

static enum cuda_error get_field(struct cuda_reference *r, int *out, const int *field) {
    if (!out || !cuda_reference_of(r))
        return out ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    *out = *field;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuTexRefGetAddressMode(int *out, struct cuda_reference *r, int dimension) {
    DRIVER(dimension < 0 || dimension > 2 ? CUDA_ErrorInvalidValue : get_field(r, out, &r->texture.address[dimension]));
}
CUDA_API enum cuda_error cuTexRefGetFilterMode(int *out, struct cuda_reference *r) {
    DRIVER(get_field(r, out, &r->texture.linear));
}
CUDA_API enum cuda_error cuTexRefGetMaxAnisotropy(int *out, struct cuda_reference *r) {
    DRIVER(get_field(r, out, (const int *)&r->texture.anisotropy));
}

static enum cuda_error flags_of(unsigned *out, const struct cuda_reference *r) {
    if (!out || !cuda_reference_of(r))
        return out ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    *out = (r->as_integer ? FLAG_INTEGER : 0u) | (r->texture.normalized_coords ? FLAG_NORMALIZED : 0u) |
           (r->texture.srgb ? FLAG_SRGB : 0u);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuTexRefGetFlags(unsigned *out, struct cuda_reference *r) { DRIVER(flags_of(out, r)); }

static enum cuda_error format_of(int *format, int *channels, const struct cuda_reference *r) {
    if (!cuda_reference_of(r) || !format || !channels)
        return format && channels ? CUDA_ErrorInvalidResourceHandle : CUDA_ErrorInvalidValue;
    driver_format_of(&r->format, format, (unsigned *)channels);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuTexRefGetFormat(int *format, int *channels, struct cuda_reference *r) {
    DRIVER(format_of(format, channels, r));
}

static enum cuda_error array_of(struct cuda_array **out, const struct cuda_reference *r) {
    if (!out || !cuda_reference_of(r) || !r->bound || r->resource.type != RESOURCE_ARRAY)
        return CUDA_ErrorInvalidValue;
    *out = r->resource.array;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuTexRefGetArray(struct cuda_array **out, struct cuda_reference *r) {
    DRIVER(array_of(out, r));
}
CUDA_API enum cuda_error cuSurfRefGetArray(struct cuda_array **out, struct cuda_reference *r) {
    DRIVER(array_of(out, r));
}

static enum cuda_error address_of(uint64_t *out, const struct cuda_reference *r) {
    if (!out || !cuda_reference_of(r) || !r->bound || r->resource.type == RESOURCE_ARRAY)
        return CUDA_ErrorInvalidValue;
    *out = (uintptr_t)(r->resource.type == RESOURCE_LINEAR ? r->resource.linear.p : r->resource.pitched.p);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuTexRefGetAddress_v2(uint64_t *out, struct cuda_reference *r) { DRIVER(address_of(out, r)); }

/* Has no effect, because the code of a kernel names its references. */
CUDA_API enum cuda_error cuParamSetTexRef(const void *f, int unit, struct cuda_reference *r) {
    (void)f, (void)unit;
    DRIVER(cuda_reference_of(r) ? CUDA_Success : CUDA_ErrorInvalidResourceHandle);
}
