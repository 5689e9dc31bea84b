#ifndef CUDA_CORE_REFERENCE_H
#define CUDA_CORE_REFERENCE_H
/* Texture and surface references. */
#include "core_texture.h"

struct cuda_module;
/* A name of a module that memory is bound to. */
struct cuda_reference {
    struct cuda_reference *next;
    struct cuda_module *in; /* NULL: of no module, cuTexRefCreate() */
    const void *shadow;     /* what a program of the runtime declares; NULL: a reference of the driver */
    char *name;
    bool surface, bound, stale; /* stale: not yet bound as it is now */
    struct cuda_resource resource;
    struct cuda_texture texture;
    /* of the driver: the format of the memory, and whether integers are read as integers */
    struct channel_format format;
    bool as_integer;
};
/* The reference of this name in the module, made when first asked for; NULL: the host is out of memory. */
struct cuda_reference *cuda_reference_add(struct cuda_module *m, const char *name, const void *shadow);
struct cuda_reference *cuda_reference_of_shadow(const void *shadow);
/* The reference of a handle, and that of a shadow; NULL: none. */
struct cuda_reference *cuda_reference_of(const struct cuda_reference *r);
void cuda_reference_free(struct cuda_reference *r);
/* A field was changed: the next launch binds it again. */
void cuda_reference_changed(struct cuda_reference *r);
/* The same, for what the program registers before main(). */
void cuda_reference_register(void **handle, const char *name, const void *shadow, bool surface, int normalized_read);
/* Binds all references that were changed; a launch begins with it. */
enum cuda_error cuda_references_bind(void);
#endif
