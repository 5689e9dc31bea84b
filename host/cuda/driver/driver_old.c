/* The functions with which programs of CUDA 3 launch kernels: separate calls set the block size, the shared memory and
 * the parameters. */
#include "driver.h"
#include <stdlib.h>
#include <string.h>

enum { PARAM_BYTES = 4096 };
struct settings {
    struct settings *next;
    const struct cuda_kernel *of;
    unsigned block[3], shared;
    size_t size;
    unsigned char params[PARAM_BYTES];
};
static struct settings *all; /* under the lock */

/* Returns the settings of a kernel; NULL if the handle is not a kernel, or the host is out of memory. */
static struct settings *settings_of(const void *f) {
    struct cuda_kernel *k;
    if (cuda_find_launched(f, &k))
        return NULL;
    for (struct settings *i = all; i; i = i->next)
        if (i->of == k)
            return i;
    struct settings *i = calloc(1, sizeof *i);
    if (!i)
        return NULL;
    *i = (struct settings){.next = all, .of = k, .block = {1, 1, 1}};
    return all = i;
}

static enum cuda_error set_block(const void *f, int x, int y, int z) {
    struct settings *k = settings_of(f);
    if (!k || x < 1 || y < 1 || z < 1)
        return k ? CUDA_ErrorInvalidValue : CUDA_ErrorInvalidResourceHandle;
    k->block[0] = (unsigned)x;
    k->block[1] = (unsigned)y;
    k->block[2] = (unsigned)z;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuFuncSetBlockShape(const void *f, int x, int y, int z) { DRIVER(set_block(f, x, y, z)); }

static enum cuda_error set_shared(const void *f, unsigned bytes) {
    struct settings *k = settings_of(f);
    if (!k)
        return CUDA_ErrorInvalidResourceHandle;
    k->shared = bytes;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuFuncSetSharedSize(const void *f, unsigned bytes) { DRIVER(set_shared(f, bytes)); }

static enum cuda_error set_size(const void *f, unsigned bytes) {
    struct settings *k = settings_of(f);
    if (!k || bytes > PARAM_BYTES)
        return k ? CUDA_ErrorInvalidValue : CUDA_ErrorInvalidResourceHandle;
    k->size = bytes;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuParamSetSize(const void *f, unsigned bytes) { DRIVER(set_size(f, bytes)); }

static enum cuda_error set_param(const void *f, int offset, const void *p, unsigned bytes) {
    struct settings *k = settings_of(f);
    if (!k)
        return CUDA_ErrorInvalidResourceHandle;
    if (!p || offset < 0 || offset > PARAM_BYTES || bytes > (unsigned)(PARAM_BYTES - offset))
        return CUDA_ErrorInvalidValue;
    memcpy(k->params + offset, p, bytes);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuParamSeti(const void *f, int offset, unsigned value) {
    DRIVER(set_param(f, offset, &value, sizeof value));
}
CUDA_API enum cuda_error cuParamSetf(const void *f, int offset, float value) {
    DRIVER(set_param(f, offset, &value, sizeof value));
}
CUDA_API enum cuda_error cuParamSetv(const void *f, int offset, const void *p, unsigned bytes) {
    DRIVER(set_param(f, offset, p, bytes));
}

static enum cuda_error launch(struct cuda_kernel *f, int width, int height, struct cuda_stream *s) {
    enum { BUFFER = 1, BUFFER_BYTES };
    struct settings *k = settings_of(f);
    if (!k || width < 1 || height < 1)
        return k ? CUDA_ErrorInvalidValue : CUDA_ErrorInvalidResourceHandle;
    void *extra[] = {(void *)BUFFER, k->params, (void *)BUFFER_BYTES, &k->size, NULL};
    const struct cuda_launch l = {NULL,
                                  {(unsigned)width, (unsigned)height, 1},
                                  {k->block[0], k->block[1], k->block[2]},
                                  k->shared,
                                  NULL,
                                  false,
                                  0,
                                  {0, 0, 0}};
    return driver_launch(f, l, s, extra);
}

CUDA_API enum cuda_error cuLaunch(struct cuda_kernel *f) { DRIVER(launch(f, 1, 1, NULL)); }
CUDA_API enum cuda_error cuLaunchGrid(struct cuda_kernel *f, int width, int height) {
    DRIVER(launch(f, width, height, NULL));
}
CUDA_API enum cuda_error cuLaunchGridAsync(struct cuda_kernel *f, int width, int height, struct cuda_stream *s) {
    DRIVER_STREAM(launch(f, width, height, s));
}
