/* Mipmapped arrays of the driver: those of the runtime (runtime_mipmap.c) by other names. */
#include "driver.h"
#include "driver_texture.h"

static enum cuda_error create_described(struct cuda_mipmap **out, const struct driver_description_3d *d, unsigned n) {
    struct channel_format f;
    enum cuda_error e = d ? driver_format(&f, d->format, d->channels) : CUDA_ErrorInvalidValue;
    return e ? e : cuda_mipmap_new(out, &f, (struct cuda_extent){d->width, d->height, d->depth}, n, d->flags);
}

CUDA_API enum cuda_error cuMipmappedArrayCreate(struct cuda_mipmap **out, const struct driver_description_3d *d,
                                                unsigned n) {
    DRIVER(create_described(out, d, n));
}
CUDA_API enum cuda_error cuMipmappedArrayGetLevel(struct cuda_array **out, const struct cuda_mipmap *m,
                                                  unsigned level) {
    DRIVER(cuda_mipmap_level(out, m, level));
}
CUDA_API enum cuda_error cuMipmappedArrayDestroy(struct cuda_mipmap *m) {
    DRIVER_FREE(m ? cuda_mipmap_free(m) : CUDA_ErrorInvalidResourceHandle);
}
