/* Texture and surface references: what the runtime's and the driver's have in common, and the runtime's. Those are of
 * CUDA 11 and before. */
#include "runtime_reference.h"
#include <stdlib.h>
#include <string.h>

static struct cuda_reference *references;
static bool any_stale;

struct cuda_reference *cuda_reference_add(struct cuda_module *m, const char *name, const void *shadow) {
    for (struct cuda_reference *r = references; r; r = r->next)
        if (m && r->in == m && strcmp(r->name, name) == 0)
            return r;
    struct cuda_reference *r = calloc(1, sizeof *r);
    if (!r || !(r->name = strdup(name))) {
        free(r);
        return NULL;
    }
    r->in = m;
    r->shadow = shadow;
    r->format = (struct channel_format){.x = 32, .kind = CHANNEL_FLOAT};
    r->next = references;
    return references = r;
}

/* Of this shadow; NULL: it is none's. */
static struct cuda_reference *of_shadow(const void *shadow) {
    struct cuda_reference *r = references;
    while (r && (!shadow || r->shadow != shadow))
        r = r->next;
    return r;
}

struct cuda_reference *cuda_reference_of(const struct cuda_reference *r) {
    struct cuda_reference *i = references;
    while (i && i != r)
        i = i->next;
    return i;
}

void cuda_reference_free(struct cuda_reference *r) {
    for (struct cuda_reference **i = &references; *i; i = &(*i)->next)
        if (*i == r) {
            *i = r->next;
            free(r->name);
            free(r);
            return;
        }
}

void cuda_reference_changed(struct cuda_reference *r) { any_stale = r->stale = true; }

enum cuda_error cuda_references_bind(void) {
    enum cuda_error e = CUDA_Success;
    for (struct cuda_reference *r = any_stale ? references : NULL; r; r = r->next) {
        struct heddle_texture t;
        if (!r->stale || !r->bound || !r->in || r->in->unloaded)
            continue;
        if (!e)
            e = cuda_module_load(r->in);
        if (!e)
            e = cuda_texture_describe(&t, &r->resource, r->surface ? NULL : &r->texture);
        if (!e && heddle_bind_texture(cuda_core.h, r->in->module, r->name, &t) != HEDDLE_OK)
            e = cuda_complain(r->name, CUDA_ErrorInvalidValue);
        r->stale = e != CUDA_Success;
    }
    any_stale = e != CUDA_Success;
    return e;
}

/* ---- the runtime's ---- */

/* As programs declare it: texture<...> begins with it. */
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
    pthread_mutex_lock(&cuda_core.lock);
    struct cuda_reference *r = handle ? cuda_reference_add((struct cuda_module *)handle, name, shadow) : NULL;
    if (r)
        r->texture.normalized_read = normalized_read;
    pthread_mutex_unlock(&cuda_core.lock);
}
CUDA_API void __cudaRegisterSurface(void **handle, const void *shadow, const void **address, const char *name,
                                    int dimensions, int is_extern) {
    (void)address, (void)dimensions, (void)is_extern;
    pthread_mutex_lock(&cuda_core.lock);
    struct cuda_reference *r = handle ? cuda_reference_add((struct cuda_module *)handle, name, shadow) : NULL;
    if (r)
        r->surface = true;
    pthread_mutex_unlock(&cuda_core.lock);
}

static enum cuda_error bind(const struct texture_reference *shadow, struct cuda_resource resource) {
    struct cuda_reference *r = of_shadow(shadow);
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

/* `bytes` may be more than there is: all that follows, then. */
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
    GUARD(bind_line(offset, shadow, p, f, bytes));
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
    GUARD(bind_rows(offset, shadow, p, f, width, height, pitch));
}

static enum cuda_error bind_array(const struct texture_reference *shadow, struct cuda_array *a) {
    return shadow && cuda_array_is(a) ? bind(shadow, (struct cuda_resource){.type = RESOURCE_ARRAY, .array = a})
                                      : CUDA_ErrorInvalidResourceHandle;
}

CUDA_API enum cuda_error cudaBindTextureToArray(const struct texture_reference *shadow, struct cuda_array *a,
                                                const struct channel_format *f) {
    (void)f; /* the array's */
    GUARD(bind_array(shadow, a));
}

static enum cuda_error unbind(const struct texture_reference *shadow) {
    struct cuda_reference *r = of_shadow(shadow);
    if (!r)
        return CUDA_ErrorInvalidTexture;
    r->bound = false;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaUnbindTexture(const struct texture_reference *shadow) { GUARD(unbind(shadow)); }

static enum cuda_error reference(const void **out, const void *symbol) {
    const struct cuda_reference *r = of_shadow(symbol);
    if (!out || !r)
        return out ? CUDA_ErrorInvalidTexture : CUDA_ErrorInvalidValue;
    *out = r->shadow;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureReference(const void **out, const void *symbol) {
    GUARD(reference(out, symbol));
}
CUDA_API enum cuda_error cudaGetSurfaceReference(const void **out, const void *symbol) {
    GUARD(reference(out, symbol));
}

static enum cuda_error alignment(size_t *out, const struct texture_reference *shadow) {
    const struct cuda_reference *r = of_shadow(shadow);
    if (!out || !r || !r->bound)
        return out ? CUDA_ErrorInvalidTextureBinding : CUDA_ErrorInvalidValue;
    *out = 0;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetTextureAlignmentOffset(size_t *out, const struct texture_reference *shadow) {
    GUARD(alignment(out, shadow));
}

static enum cuda_error bind_surface(const void *shadow, struct cuda_array *a) {
    struct cuda_reference *r = of_shadow(shadow);
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
    GUARD(bind_surface(shadow, a));
}
