/* Arrays, texture objects and surface objects of the driver. This file translates the driver's descriptions of them to
 * the types of core. */
#include "driver_texture.h"
#include <string.h>

enum { FORMAT_UNSIGNED = 1, FORMAT_SIGNED = 8, FORMAT_HALF = 0x10, FORMAT_FLOAT = 0x20 };

enum cuda_error driver_format(struct channel_format *out, int format, unsigned channels) {
    int bits, kind;
    if (format >= FORMAT_UNSIGNED && format < FORMAT_UNSIGNED + 3) {
        bits = 8 << (format - FORMAT_UNSIGNED);
        kind = CHANNEL_UNSIGNED;
    } else if (format >= FORMAT_SIGNED && format < FORMAT_SIGNED + 3) {
        bits = 8 << (format - FORMAT_SIGNED);
        kind = CHANNEL_SIGNED;
    } else if (format == FORMAT_HALF || format == FORMAT_FLOAT) {
        bits = format == FORMAT_HALF ? 16 : 32;
        kind = CHANNEL_FLOAT;
    } else {
        return CUDA_ErrorInvalidValue;
    }
    if (channels != 1 && channels != 2 && channels != 4)
        return CUDA_ErrorInvalidValue;
    *out =
        (struct channel_format){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
    return CUDA_Success;
}

void driver_format_of(const struct channel_format *f, int *format, unsigned *channels) {
    int size = f->x == 8 ? 0 : f->x == 16 ? 1 : 2;
    *format = f->kind == CHANNEL_FLOAT      ? (f->x == 16 ? FORMAT_HALF : FORMAT_FLOAT)
              : f->kind == CHANNEL_UNSIGNED ? FORMAT_UNSIGNED + size
                                            : FORMAT_SIGNED + size;
    *channels = f->z ? 4 : f->y ? 2 : 1;
}

/* ---- arrays ---- */

static enum cuda_error create(struct cuda_array **out, const struct driver_description_3d *d) {
    struct channel_format f;
    enum cuda_error e = out && d ? driver_format(&f, d->format, d->channels) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_array_new(out, &f, (struct cuda_extent){d->width, d->height, d->depth}, d->flags);
}

static enum cuda_error create_2d(struct cuda_array **out, const struct driver_description *d) {
    if (!d)
        return CUDA_ErrorInvalidValue;
    return create(out, &(struct driver_description_3d){d->width, d->height, 0, d->format, d->channels, 0});
}

CUDA_API enum cuda_error cuArrayCreate_v2(struct cuda_array **out, const struct driver_description *d) {
    DRIVER(create_2d(out, d));
}
CUDA_API enum cuda_error cuArray3DCreate_v2(struct cuda_array **out, const struct driver_description_3d *d) {
    DRIVER(create(out, d));
}

static enum cuda_error destroy(struct cuda_array *a) {
    return cuda_array_is(a) ? cuda_array_free(a) : CUDA_ErrorInvalidResourceHandle;
}

CUDA_API enum cuda_error cuArrayDestroy(struct cuda_array *a) { DRIVER_FREE(destroy(a)); }

static enum cuda_error describe(struct driver_description_3d *out, const struct cuda_array *a) {
    struct channel_format f;
    struct cuda_extent extent;
    unsigned flags;
    enum cuda_error e = out ? cuda_array_info(&f, &extent, &flags, a) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    *out = (struct driver_description_3d){
        .width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
    driver_format_of(&f, &out->format, &out->channels);
    return CUDA_Success;
}

static enum cuda_error describe_2d(struct driver_description *out, const struct cuda_array *a) {
    struct driver_description_3d d;
    enum cuda_error e = out ? describe(&d, a) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = (struct driver_description){d.width, d.height, d.format, d.channels};
    return e;
}

CUDA_API enum cuda_error cuArrayGetDescriptor_v2(struct driver_description *out, const struct cuda_array *a) {
    DRIVER(describe_2d(out, a));
}
CUDA_API enum cuda_error cuArray3DGetDescriptor_v2(struct driver_description_3d *out, const struct cuda_array *a) {
    DRIVER(describe(out, a));
}

static enum cuda_error create_described(struct cuda_mipmap **out, const struct driver_description_3d *d, unsigned n) {
    struct channel_format f;
    enum cuda_error e = d ? driver_format(&f, d->format, d->channels) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_mipmap_new(out, &f, (struct cuda_extent){d->width, d->height, d->depth}, n, d->flags);
}

CUDA_API enum cuda_error cuMipmappedArrayCreate(struct cuda_mipmap **out, const struct driver_description_3d *d,
                                                unsigned n) {
    DRIVER(create_described(out, d, n));
}
CUDA_API enum cuda_error cuMipmappedArrayDestroy(struct cuda_mipmap *m) {
    DRIVER_FREE(m ? cuda_mipmap_free(m) : CUDA_ErrorInvalidResourceHandle);
}

/* ---- copies of bytes ---- */

static void *pointer(uint64_t p) { return (void *)(uintptr_t)p; }

CUDA_API enum cuda_error cuMemcpyHtoA_v2(struct cuda_array *to, size_t at, const void *from, size_t bytes) {
    DRIVER(cuda_array_copy_line(to, at, 0, pointer((uintptr_t)from), bytes, COPY_TO_DEVICE, TO_ARRAY, NULL));
}
CUDA_API enum cuda_error cuMemcpyHtoAAsync_v2(struct cuda_array *to, size_t at, const void *from, size_t bytes,
                                              struct cuda_stream *s) {
    DRIVER(cuda_array_copy_line(to, at, 0, pointer((uintptr_t)from), bytes, COPY_TO_DEVICE, TO_ARRAY, s));
}
CUDA_API enum cuda_error cuMemcpyAtoH_v2(void *to, struct cuda_array *from, size_t at, size_t bytes) {
    DRIVER(cuda_array_copy_line(from, at, 0, to, bytes, COPY_TO_HOST, FROM_ARRAY, NULL));
}
CUDA_API enum cuda_error cuMemcpyAtoHAsync_v2(void *to, struct cuda_array *from, size_t at, size_t bytes,
                                              struct cuda_stream *s) {
    DRIVER(cuda_array_copy_line(from, at, 0, to, bytes, COPY_TO_HOST, FROM_ARRAY, s));
}
CUDA_API enum cuda_error cuMemcpyDtoA_v2(struct cuda_array *to, size_t at, uint64_t from, size_t bytes) {
    DRIVER(cuda_array_copy_line(to, at, 0, pointer(from), bytes, COPY_ON_DEVICE, TO_ARRAY, NULL));
}
CUDA_API enum cuda_error cuMemcpyAtoD_v2(uint64_t to, struct cuda_array *from, size_t at, size_t bytes) {
    DRIVER(cuda_array_copy_line(from, at, 0, pointer(to), bytes, COPY_ON_DEVICE, FROM_ARRAY, NULL));
}
CUDA_API enum cuda_error cuMemcpyAtoA_v2(struct cuda_array *to, size_t at, struct cuda_array *from, size_t from_at,
                                         size_t bytes) {
    DRIVER(cuda_array_copy_line_between(to, at, from, from_at, bytes));
}

/* ---- objects ---- */

struct driver_resource {
    int type; /* as the runtime's */
    union {
        struct cuda_array *array; /* or a mipmap */
        struct {
            uint64_t p;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            uint64_t p;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
    unsigned flags;
};

struct driver_texture {
    int address[3], filter;
    unsigned flags, anisotropy;
    int levels_filter;
    float bias, least, most, border[4];
    int reserved[12];
};

static enum cuda_error resource_of(struct cuda_resource *out, const struct driver_resource *r) {
    *out = (struct cuda_resource){.type = r->type};
    switch (r->type) {
    case RESOURCE_LINEAR:
        out->linear.p = pointer(r->linear.p);
        out->linear.bytes = r->linear.bytes;
        return driver_format(&out->linear.format, r->linear.format, r->linear.channels);
    case RESOURCE_PITCHED:
        out->pitched.p = pointer(r->pitched.p);
        out->pitched.width = r->pitched.width;
        out->pitched.height = r->pitched.height;
        out->pitched.pitch = r->pitched.pitch;
        return driver_format(&out->pitched.format, r->pitched.format, r->pitched.channels);
    default:
        out->array = r->array;
        return CUDA_Success;
    }
}

static void resource_to(struct driver_resource *out, const struct cuda_resource *r) {
    *out = (struct driver_resource){.type = r->type};
    if (r->type == RESOURCE_LINEAR) {
        out->linear.p = (uintptr_t)r->linear.p;
        out->linear.bytes = r->linear.bytes;
        driver_format_of(&r->linear.format, &out->linear.format, &out->linear.channels);
    } else if (r->type == RESOURCE_PITCHED) {
        out->pitched.p = (uintptr_t)r->pitched.p;
        out->pitched.width = r->pitched.width;
        out->pitched.height = r->pitched.height;
        out->pitched.pitch = r->pitched.pitch;
        driver_format_of(&r->pitched.format, &out->pitched.format, &out->pitched.channels);
    } else {
        out->array = r->array;
    }
}

const struct channel_format *driver_resource_format(const struct cuda_resource *r) {
    if (r->type == RESOURCE_LINEAR)
        return &r->linear.format;
    if (r->type == RESOURCE_PITCHED)
        return &r->pitched.format;
    unsigned levels;
    const struct cuda_array *a = r->type == RESOURCE_MIPMAP ? cuda_mipmap_base(r->mipmap, &levels) : r->array;
    return cuda_array_is(a) ? &a->format : NULL;
}

int driver_normalized_read(const struct channel_format *f, bool as_integer) {
    return !as_integer && f && f->kind != CHANNEL_FLOAT && f->x < 32;
}

static enum cuda_error texture_of(struct cuda_texture *out, const struct driver_texture *x,
                                  const struct cuda_resource *r) {
    *out = (struct cuda_texture){.address = {x->address[0], x->address[1], x->address[2]},
                                 .linear = x->filter,
                                 .normalized_read =
                                     driver_normalized_read(driver_resource_format(r), x->flags & FLAG_INTEGER),
                                 .srgb = (x->flags & FLAG_SRGB) != 0,
                                 .border = {x->border[0], x->border[1], x->border[2], x->border[3]},
                                 .normalized_coords = (x->flags & FLAG_NORMALIZED) != 0,
                                 .anisotropy = x->anisotropy,
                                 .linear_levels = x->levels_filter,
                                 .bias = x->bias,
                                 .least = x->least,
                                 .most = x->most,
                                 .untrilinear = (x->flags & FLAG_UNTRILINEAR) != 0,
                                 .seamless = (x->flags & FLAG_SEAMLESS) != 0};
    return CUDA_Success;
}

static enum cuda_error create_texture(uint64_t *out, const struct driver_resource *r, const struct driver_texture *x,
                                      const void *view) {
    struct cuda_resource resource;
    struct cuda_texture texture;
    enum cuda_error e = out && r && x ? resource_of(&resource, r) : CUDA_ErrorInvalidValue;
    if (!e && view)
        e = cuda_refuse_view("cuTexObjectCreate");
    if (!e)
        e = texture_of(&texture, x, &resource);
    return e ? e : cuda_object_new(out, &resource, &texture);
}

CUDA_API enum cuda_error cuTexObjectCreate(uint64_t *out, const struct driver_resource *r,
                                           const struct driver_texture *x, const void *view) {
    DRIVER(create_texture(out, r, x, view));
}

static enum cuda_error create_surface(uint64_t *out, const struct driver_resource *r) {
    struct cuda_resource resource;
    enum cuda_error e = out && r && r->type == RESOURCE_ARRAY ? resource_of(&resource, r) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_object_new(out, &resource, NULL);
}

CUDA_API enum cuda_error cuSurfObjectCreate(uint64_t *out, const struct driver_resource *r) {
    DRIVER(create_surface(out, r));
}

static enum cuda_error recall(struct driver_resource *out, uint64_t handle, bool surface) {
    struct cuda_resource r;
    enum cuda_error e = out ? cuda_object_resource(&r, handle, surface) : CUDA_ErrorInvalidValue;
    if (!e)
        resource_to(out, &r);
    return e;
}

CUDA_API enum cuda_error cuTexObjectGetResourceDesc(struct driver_resource *out, uint64_t handle) {
    DRIVER(recall(out, handle, false));
}
CUDA_API enum cuda_error cuSurfObjectGetResourceDesc(struct driver_resource *out, uint64_t handle) {
    DRIVER(recall(out, handle, true));
}

static void texture_to(struct driver_texture *out, const struct cuda_texture *x) {
    unsigned flags = (x->normalized_read ? 0u : FLAG_INTEGER) | (x->normalized_coords ? FLAG_NORMALIZED : 0u) |
                     (x->untrilinear ? FLAG_UNTRILINEAR : 0u) | (x->seamless ? FLAG_SEAMLESS : 0u);
    *out = (struct driver_texture){.address = {x->address[0], x->address[1], x->address[2]},
                                   .filter = x->linear,
                                   .flags = flags,
                                   .anisotropy = x->anisotropy,
                                   .levels_filter = x->linear_levels,
                                   .bias = x->bias,
                                   .least = x->least,
                                   .most = x->most};
    memcpy(out->border, x->border, sizeof out->border);
}

static enum cuda_error recall_texture(struct driver_texture *out, uint64_t handle) {
    struct cuda_texture x;
    enum cuda_error e = out ? cuda_object_texture(&x, handle) : CUDA_ErrorInvalidValue;
    if (!e)
        texture_to(out, &x);
    return e;
}

CUDA_API enum cuda_error cuTexObjectGetTextureDesc(struct driver_texture *out, uint64_t handle) {
    DRIVER(recall_texture(out, handle));
}
