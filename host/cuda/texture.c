/* Texture and surface objects, which are the library's. */
#include "array.h"
#include <stdlib.h>

struct object {
    struct object *next;
    uint64_t handle;
    struct cuda_resource resource;
    struct cuda_texture texture;
    bool surface;
};
static struct object *objects; /* under the lock */

static void array_shape(struct heddle_texture *t, const struct cuda_array *a) {
    uint32_t depth = (uint32_t)a->extent.depth;
    t->data = a->data;
    t->width = (uint32_t)a->extent.width;
    t->height = (uint32_t)a->extent.height;
    t->cube = a->flags & ARRAY_CUBE;
    if (a->flags & ARRAY_LAYERED)
        t->layers = t->cube ? depth / 6 : depth;
    else
        t->depth = t->cube ? 0 : depth;
}

static enum cuda_error shape(struct heddle_texture *t, const struct cuda_resource *r) {
    const struct channel_format *f;
    switch (r->type) {
    case RESOURCE_ARRAY:
        if (!cuda_array_is(r->array))
            return CUDA_ErrorInvalidResourceHandle;
        array_shape(t, r->array);
        f = &r->array->format;
        break;
    case RESOURCE_LINEAR:
        f = &r->linear.format;
        t->data = (uintptr_t)r->linear.p;
        if (cuda_element_bytes(f))
            t->width = (uint32_t)(r->linear.bytes / cuda_element_bytes(f));
        break;
    case RESOURCE_PITCHED:
        f = &r->pitched.format;
        t->data = (uintptr_t)r->pitched.p;
        t->width = (uint32_t)r->pitched.width;
        t->height = (uint32_t)r->pitched.height;
        t->pitch = r->pitched.pitch;
        break;
    default:
        fputs("heddle: a mipmapped array is not simulated as a texture\n", stderr);
        return CUDA_ErrorNotSupported;
    }
    return cuda_format_of(f, &t->format, &t->channels) ? CUDA_Success : CUDA_ErrorInvalidChannelDescriptor;
}

enum cuda_error cuda_texture_describe(struct heddle_texture *out, const struct cuda_resource *r,
                                      const struct cuda_texture *x) {
    *out = (struct heddle_texture){0};
    enum cuda_error e = shape(out, r);
    if (e || !x)
        return e;
    if (x->srgb || x->anisotropy > 1) {
        fputs("heddle: a texture: sRGB and anisotropic filters are not simulated\n", stderr);
        return CUDA_ErrorNotSupported;
    }
    for (int i = 0; i < 3; i++)
        out->sampler.address[i] = (enum heddle_address_mode)x->address[i];
    out->sampler.linear = x->linear != 0;
    out->sampler.linear_levels = x->linear_levels != 0;
    out->normalized_read = x->normalized_read != 0;
    out->normalized_coords = x->normalized_coords != 0;
    for (int i = 0; i < 3 && !out->normalized_coords; i++) /* wrap and mirror are clamp then, as on a GPU */
        if (out->sampler.address[i] == HEDDLE_WRAP || out->sampler.address[i] == HEDDLE_MIRROR)
            out->sampler.address[i] = HEDDLE_CLAMP;
    return CUDA_Success;
}

static bool remember(uint64_t handle, const struct cuda_resource *r, const struct cuda_texture *x) {
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        return false;
    *o = (struct object){.next = objects, .handle = handle, .resource = *r, .surface = !x};
    if (x)
        o->texture = *x;
    objects = o;
    return true;
}

enum cuda_error cuda_object_new(uint64_t *out, const struct cuda_resource *r, const struct cuda_texture *x) {
    struct heddle_texture t;
    enum cuda_error e = out && r ? cuda_texture_describe(&t, r, x) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    *out = (x ? heddle_texture_object : heddle_surface_object)(cuda_runtime.h, &t);
    if (!*out)
        return cuda_complain(x ? "cudaCreateTextureObject" : "cudaCreateSurfaceObject", CUDA_ErrorInvalidValue);
    return remember(*out, r, x) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

static enum cuda_error create(uint64_t *out, const struct cuda_resource *r, const struct cuda_texture *x,
                              const void *view) {
    if (!view)
        return x ? cuda_object_new(out, r, x) : CUDA_ErrorInvalidValue;
    fputs("heddle: cudaCreateTextureObject: views of another format are not simulated\n", stderr);
    return CUDA_ErrorNotSupported;
}

CUDA_API enum cuda_error cudaCreateTextureObject(uint64_t *out, const struct cuda_resource *r,
                                                 const struct cuda_texture *x, const void *view) {
    GUARD(create(out, r, x, view));
}
CUDA_API enum cuda_error cudaCreateSurfaceObject(uint64_t *out, const struct cuda_resource *r) {
    GUARD(r && r->type == RESOURCE_ARRAY ? cuda_object_new(out, r, NULL) : CUDA_ErrorInvalidValue);
}

static struct object **find(uint64_t handle, bool surface) {
    struct object **o = &objects;
    while (*o && ((*o)->handle != handle || (*o)->surface != surface))
        o = &(*o)->next;
    return o;
}

/* The library keeps its own; a program that uses the number afterwards is not found out. */
enum cuda_error cuda_object_free(uint64_t handle, bool surface) {
    struct object **o = find(handle, surface), *gone = *o;
    if (!gone)
        return handle ? CUDA_ErrorInvalidValue : CUDA_Success;
    *o = gone->next;
    free(gone);
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDestroyTextureObject(uint64_t handle) { GUARD(cuda_object_free(handle, false)); }
CUDA_API enum cuda_error cudaDestroySurfaceObject(uint64_t handle) { GUARD(cuda_object_free(handle, true)); }

const struct cuda_resource *cuda_object_resource(uint64_t handle, bool surface) {
    const struct object *o = *find(handle, surface);
    return o ? &o->resource : NULL;
}

const struct cuda_texture *cuda_object_texture(uint64_t handle) {
    const struct object *o = *find(handle, false);
    return o ? &o->texture : NULL;
}

static enum cuda_error recall(struct cuda_resource *out, uint64_t handle, bool surface) {
    const struct cuda_resource *r = cuda_object_resource(handle, surface);
    if (!r || !out)
        return CUDA_ErrorInvalidValue;
    *out = *r;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureObjectResourceDesc(struct cuda_resource *out, uint64_t handle) {
    GUARD(recall(out, handle, false));
}
CUDA_API enum cuda_error cudaGetSurfaceObjectResourceDesc(struct cuda_resource *out, uint64_t handle) {
    GUARD(recall(out, handle, true));
}

static enum cuda_error recall_texture(struct cuda_texture *out, uint64_t handle) {
    const struct cuda_texture *x = cuda_object_texture(handle);
    if (!x || !out)
        return CUDA_ErrorInvalidValue;
    *out = *x;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureObjectTextureDesc(struct cuda_texture *out, uint64_t handle) {
    GUARD(recall_texture(out, handle));
}
