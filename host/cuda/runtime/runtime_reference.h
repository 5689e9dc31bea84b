#ifndef CUDA_REFERENCE_H
#define CUDA_REFERENCE_H
/* Texture and surface references: names of a module that something is bound to. All of it under the lock. */
#include "runtime_array.h"

struct cuda_reference {
    struct cuda_reference *next;
    struct cuda_module *in; /* NULL: of no module, cuTexRefCreate() */
    const void *shadow;     /* the runtime's: what the program has of it; NULL: the driver's */
    char *name;
    bool surface, bound, stale; /* stale: the library does not know of the last change */
    struct cuda_resource resource;
    struct cuda_texture texture;
    /* the driver's: format and channels of memory, and whether integers are to be read as they are */
    struct channel_format format;
    bool as_integer;
};

/* One of the module; found when it was asked for before. NULL without memory. */
struct cuda_reference *cuda_reference_add(struct cuda_module *m, const char *name, const void *shadow);
/* Whether it is one; NULL: no. */
struct cuda_reference *cuda_reference_of(const struct cuda_reference *r);
void cuda_reference_free(struct cuda_reference *r);
/* Something was changed: what is bound is told to the library before the next launch. */
void cuda_reference_changed(struct cuda_reference *r);
/* Before a launch. */
enum cuda_error cuda_references_bind(void);
#endif
