/* Texture and surface objects. The simulator library creates them; this file keeps their descriptions. */
#include "core_texture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    const struct cuda_array *a = r->array;
    switch (r->type) {
    case RESOURCE_MIPMAP:
        a = cuda_mipmap_base(r->mipmap, &t->levels);
        /* fall through */
    case RESOURCE_ARRAY:
        if (!cuda_array_is(a))
            return CUDA_ErrorInvalidResourceHandle;
        array_shape(t, a);
        f = &a->format;
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
        return CUDA_ErrorInvalidValue;
    }
    return cuda_format_of(f, &t->format, &t->channels) ? CUDA_Success : CUDA_ErrorInvalidChannelDescriptor;
}

/* Drops the levels of a mipmap after the last level that the texture reads. */
static enum cuda_error clamp_levels(struct heddle_texture *t, const struct cuda_texture *x) {
    if (t->levels <= 1)
        return CUDA_Success;
    if (x->bias != 0 || x->least > 0 || (x->most < (float)(t->levels - 1) && x->most != floorf(x->most))) {
        fputs("heddle: a texture: mipmap levels are clamped to whole numbers from 0 on, without a bias\n", stderr);
        return CUDA_ErrorNotSupported;
    }
    if (x->most < (float)(t->levels - 1))
        t->levels = x->most > 0 ? (uint32_t)x->most + 1 : 1;
    return CUDA_Success;
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
    memcpy(out->sampler.border, x->border, sizeof x->border);
    out->normalized_read = x->normalized_read != 0;
    out->normalized_coords = x->normalized_coords != 0;
    for (int i = 0; i < 3 && !out->normalized_coords;
         i++) /* as on a GPU, wrap and mirror mode act as clamp mode if coordinates are not normalized */
        if (out->sampler.address[i] == HEDDLE_WRAP || out->sampler.address[i] == HEDDLE_MIRROR)
            out->sampler.address[i] = HEDDLE_CLAMP;
    return clamp_levels(out, x);
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
    CUDA_LOCK;
    struct heddle_texture t;
    enum cuda_error e = out && r ? cuda_texture_describe(&t, r, x) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    *out = (x ? heddle_texture_object : heddle_surface_object)(cuda_core.h, &t);
    if (!*out)
        return cuda_complain(x ? "cudaCreateTextureObject" : "cudaCreateSurfaceObject", CUDA_ErrorInvalidValue);
    return remember(*out, r, x) ? CUDA_Success : CUDA_ErrorMemoryAllocation;
}

enum cuda_error cuda_refuse_view(const char *who) {
    fprintf(stderr, "heddle: %s: views of another format are not simulated\n", who);
    return CUDA_ErrorNotSupported;
}

static struct object **find(uint64_t handle, bool surface) {
    struct object **o = &objects;
    while (*o && ((*o)->handle != handle || (*o)->surface != surface))
        o = &(*o)->next;
    return o;
}

/* Destroys a texture or surface object. The simulator library never frees the object, so the use of a destroyed object
 * is not detected. */
enum cuda_error cuda_object_free(uint64_t handle, bool surface) {
    CUDA_LOCK;
    struct object **o = find(handle, surface), *gone = *o;
    if (!gone)
        return handle ? CUDA_ErrorInvalidValue : CUDA_Success;
    *o = gone->next;
    free(gone);
    return CUDA_Success;
}

enum cuda_error cuda_object_resource(struct cuda_resource *out, uint64_t handle, bool surface) {
    CUDA_LOCK;
    const struct object *o = *find(handle, surface);
    if (!o || !out)
        return CUDA_ErrorInvalidValue;
    *out = o->resource;
    return CUDA_Success;
}

enum cuda_error cuda_object_texture(struct cuda_texture *out, uint64_t handle) {
    CUDA_LOCK;
    const struct object *o = *find(handle, false);
    if (!o || !out)
        return CUDA_ErrorInvalidValue;
    *out = o->texture;
    return CUDA_Success;
}
