/* Texture and surface references of both interfaces (runtime and driver). */
#include "core_reference.h"
#include "core_module.h"
#include <stdlib.h>
#include <string.h>

static struct cuda_reference *references;
static bool any_stale;

struct cuda_reference *cuda_reference_add(struct cuda_module *m, const char *name, const void *shadow) {
    CUDA_LOCK;
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

struct cuda_reference *cuda_reference_of_shadow(const void *shadow) {
    CUDA_LOCK;
    struct cuda_reference *r = references;
    while (r && (!shadow || r->shadow != shadow))
        r = r->next;
    return r;
}

struct cuda_reference *cuda_reference_of(const struct cuda_reference *r) {
    CUDA_LOCK;
    struct cuda_reference *i = references;
    while (i && i != r)
        i = i->next;
    return i;
}

void cuda_reference_free(struct cuda_reference *r) {
    CUDA_LOCK;
    for (struct cuda_reference **i = &references; *i; i = &(*i)->next)
        if (*i == r) {
            *i = r->next;
            free(r->name);
            free(r);
            return;
        }
}

void cuda_reference_changed(struct cuda_reference *r) {
    CUDA_LOCK;
    any_stale = r->stale = true;
}

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

void cuda_reference_register(void **handle, const char *name, const void *shadow, bool surface, int normalized_read) {
    CUDA_LOCK;
    struct cuda_reference *r = handle ? cuda_reference_add((struct cuda_module *)handle, name, shadow) : NULL;
    if (r) {
        r->surface = surface;
        r->texture.normalized_read = normalized_read;
    }
}
