#ifndef CUDA_CORE_REFERENCE_H
#define CUDA_CORE_REFERENCE_H
/* Texture and surface references. */
#include "core_texture.h"

struct cuda_module;
/* A texture or surface reference: a name in a module, to which a program binds memory. */
struct cuda_reference {
    struct cuda_reference *next;
    struct cuda_module *in; /* NULL if it belongs to no module: cuTexRefCreate() */
    /* the host variable by which a program of the runtime interface identifies the reference; NULL for the driver
     * interface */
    const void *shadow;
    char *name;
    /* bound: memory is bound to it; stale: it was changed since it was last bound in the module */
    bool surface, bound, stale;
    struct cuda_resource resource;
    struct cuda_texture texture;
    /* for references of the driver interface: the format of the memory, and whether integers are read as integers */
    struct channel_format format;
    bool as_integer;
};
/* Finds the reference of this name in the module, and creates it on first use. Returns NULL if the host is out of
 * memory. */
struct cuda_reference *cuda_reference_add(struct cuda_module *m, const char *name, const void *shadow);
struct cuda_reference *cuda_reference_of_shadow(const void *shadow);
/* Returns the reference of a handle; NULL if the handle is invalid. */
struct cuda_reference *cuda_reference_of(const struct cuda_reference *r);
void cuda_reference_free(struct cuda_reference *r);
/* Marks a reference as changed: the next launch binds it again. */
void cuda_reference_changed(struct cuda_reference *r);
/* Registers a reference that the program declares, before main(). */
void cuda_reference_register(void **handle, const char *name, const void *shadow, bool surface, int normalized_read);
/* Binds all references that were changed. Every launch calls this function first. */
enum cuda_error cuda_references_bind(void);
#endif
