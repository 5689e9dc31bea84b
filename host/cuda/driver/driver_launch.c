/* Launches, attributes and occupancy of the driver. A CUfunction names a kernel of core (struct cuda_kernel). */
#include "driver.h"
#include <stdlib.h>
#include <string.h>

/* Finds the arguments of a kernel in one block that `extra` describes: each argument is at the offset of its parameter
 * in the PTX. */
enum { EXTRA_END, EXTRA_BUFFER, EXTRA_BYTES };

static enum cuda_error take_buffer(const struct cuda_kernel *k, void **extra, void **args) {
    char *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != (void *)EXTRA_END; extra += 2) {
        if (*extra == (void *)EXTRA_BUFFER)
            buffer = extra[1];
        else if (*extra == (void *)EXTRA_BYTES)
            bytes = *(size_t *)extra[1];
        else
            return CUDA_ErrorInvalidValue;
    }
    for (int i = 0; i < k->n_params; i++) {
        if (!buffer || k->param_offsets[i] + (size_t)k->param_bytes[i] > bytes)
            return CUDA_ErrorInvalidValue;
        args[i] = buffer + k->param_offsets[i];
    }
    return CUDA_Success;
}

enum cuda_error driver_launch(const void *f, struct cuda_launch l, void *stream, void **extra) {
    struct cuda_kernel *k;
    enum cuda_error e = cuda_find_launched(f, &k);
    if (e || !extra || l.args)
        return e ? e : l.args && extra ? CUDA_ErrorInvalidValue : cuda_launch_kernel(k->stub, l, stream);
    if (!(l.args = calloc((size_t)k->n_params + 1, sizeof *l.args)))
        return CUDA_ErrorMemoryAllocation;
    if (!(e = take_buffer(k, extra, l.args)))
        e = cuda_launch_kernel(k->stub, l, stream);
    free(l.args);
    return e;
}

/* Makes a launch without a kernel and with priority 0. The caller sets the kernel. */
static struct cuda_launch shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                unsigned shared, void **args, bool cooperative) {
    return (struct cuda_launch){NULL, {gx, gy, gz}, {bx, by, bz}, shared, args, cooperative, 0, {0, 0, 0}};
}

CUDA_API enum cuda_error cuLaunchKernel(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                        unsigned bz, unsigned shared, struct cuda_stream *s, void **args,
                                        void **extra) {
    DRIVER_STREAM_BESIDE(driver_launch(f, shape(gx, gy, gz, bx, by, bz, shared, args, false), s, extra));
}
CUDA_API enum cuda_error cuLaunchCooperativeKernel(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                   unsigned by, unsigned bz, unsigned shared, struct cuda_stream *s,
                                                   void **args) {
    DRIVER_STREAM_BESIDE(driver_launch(f, shape(gx, gy, gz, bx, by, bz, shared, args, true), s, NULL));
}

struct driver_config {
    struct cuda_dim grid, block;
    unsigned shared;
    struct cuda_stream *stream;
    const struct cuda_launch_attribute *attributes;
    unsigned n_attributes;
};

static enum cuda_error launch_config(const struct driver_config *c, const void *f, void **args, void **extra) {
    struct cuda_dim cluster;
    bool cooperative;
    if (!c || (c->n_attributes && !c->attributes))
        return CUDA_ErrorInvalidValue;
    cuda_launch_attributes(c->attributes, c->n_attributes, &cooperative, &cluster);
    const struct cuda_launch l = {NULL, c->grid, c->block, c->shared, args, cooperative, 0, cluster};
    return driver_launch(f, l, c->stream, extra);
}

CUDA_API enum cuda_error cuLaunchKernelEx(const struct driver_config *c, const void *f, void **args, void **extra) {
    struct cuda_stream *s = c ? c->stream : NULL;
    DRIVER_STREAM_BESIDE(launch_config(c, f, args, extra));
}
CUDA_API enum cuda_error cuLaunchKernelEx_ptsz(const struct driver_config *c, const void *f, void **args,
                                               void **extra) {
    struct driver_config own;
    if (c && !c->stream) {
        own = *c;
        own.stream = CUDA_OWN_STREAM;
        c = &own;
    }
    return cuLaunchKernelEx(c, f, args, extra);
}

static enum cuda_error clusters(int *out, const void *f, const struct driver_config *c, bool size) {
    if (!c || (c->n_attributes && !c->attributes))
        return CUDA_ErrorInvalidValue;
    struct cuda_launch l = {NULL, c->grid, c->block, c->shared, NULL, false, 0, {0, 0, 0}};
    cuda_launch_attributes(c->attributes, c->n_attributes, &l.cooperative, &l.cluster);
    return cuda_occupancy_clusters(out, f, l, size);
}

CUDA_API enum cuda_error cuOccupancyMaxActiveClusters(int *out, const void *f, const struct driver_config *c) {
    DRIVER_BESIDE(clusters(out, f, c, false));
}
CUDA_API enum cuda_error cuOccupancyMaxPotentialClusterSize(int *out, const void *f, const struct driver_config *c) {
    DRIVER_BESIDE(clusters(out, f, c, true));
}

/* ---- functions ---- */

enum { CARVEOUT = 9 };

static enum cuda_error attribute(int *out, int which, const void *f) {
    struct cuda_function_attributes a;
    enum cuda_error e = out ? cuda_kernel_attributes(&a, f) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    const int all[] = {a.most_threads, (int)a.shared,    (int)a.constant, (int)a.local,          a.registers,
                       a.ptx_version,  a.binary_version, a.cache_mode,    a.most_dynamic_shared, a.carveout};
    if (which < 0 || which > 15)
        return CUDA_ErrorInvalidValue;
    if (which <= CARVEOUT) {
        *out = all[which];
        return CUDA_Success;
    }
    struct cuda_cluster_attributes c;
    if ((e = cuda_kernel_clusters(&c, f)))
        return e;
    const int of_clusters[] = {c.must_be_set, c.width, c.height, c.depth, c.large, 0};
    *out = of_clusters[which - CARVEOUT - 1];
    return CUDA_Success;
}

CUDA_API enum cuda_error cuFuncGetAttribute(int *out, int which, const void *f) {
    DRIVER_BESIDE(attribute(out, which, f));
}

static enum cuda_error known(const void *f) {
    struct cuda_kernel *k;
    return cuda_find_launched(f, &k);
}

/* Has no effect, because the configuration fixes the split between L1 and shared memory. */
CUDA_API enum cuda_error cuFuncSetCacheConfig(const void *f, int which) { DRIVER_BESIDE((void)which, known(f)); }
CUDA_API enum cuda_error cuFuncSetSharedMemConfig(const void *f, int which) { DRIVER_BESIDE((void)which, known(f)); }
CUDA_API enum cuda_error cuFuncLoad(const void *f) { DRIVER_BESIDE(known(f)); }

static enum cuda_error find(const void *f, const void *out, struct cuda_kernel **k) {
    return out ? cuda_find_launched(f, k) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cuFuncIsLoaded(int *out, const void *f) {
    struct cuda_kernel *k;
    DRIVER_BESIDE(find(f, out, &k) ? CUDA_ErrorInvalidResourceHandle : (*out = 1, CUDA_Success));
}

static enum cuda_error module_of(struct cuda_module **out, const void *f) {
    struct cuda_kernel *k;
    if (find(f, out, &k))
        return CUDA_ErrorInvalidResourceHandle;
    *out = k->in;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuFuncGetModule(struct cuda_module **out, const void *f) { DRIVER_BESIDE(module_of(out, f)); }
CUDA_API enum cuda_error cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *f,
                                                          size_t (*shared_of)(int), size_t shared, int limit) {
    DRIVER_BESIDE(cuda_occupancy_best(grid, block, f, shared_of, shared, limit));
}
CUDA_API enum cuda_error cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, const void *f,
                                                                   size_t (*shared_of)(int), size_t shared, int limit,
                                                                   unsigned flags) {
    (void)flags;
    DRIVER_BESIDE(cuda_occupancy_best(grid, block, f, shared_of, shared, limit));
}

/* ---- kernels ---- */

static enum cuda_error function(struct cuda_kernel **out, const void *k) {
    return out ? cuda_find_launched(k, out) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cuKernelGetFunction(struct cuda_kernel **out, const void *k) {
    DRIVER_BESIDE(function(out, k));
}
CUDA_API enum cuda_error cuKernelGetLibrary(struct cuda_module **out, const void *k) {
    DRIVER_FREE_BESIDE(module_of(out, k));
}
CUDA_API enum cuda_error cuKernelGetName(const char **out, const void *k) {
    DRIVER_FREE_BESIDE(cuda_kernel_name(out, k));
}
CUDA_API enum cuda_error cuKernelGetParamInfo(const void *k, size_t index, size_t *offset, size_t *bytes) {
    DRIVER_FREE_BESIDE(cuda_kernel_parameter(k, index, offset, bytes));
}
CUDA_API enum cuda_error cuKernelGetAttribute(int *out, int which, const void *k, int device) {
    DRIVER_FREE_BESIDE(device ? CUDA_ErrorInvalidDevice : attribute(out, which, k));
}
CUDA_API enum cuda_error cuKernelSetAttribute(int which, int value, const void *k, int device) {
    DRIVER_FREE_BESIDE(device ? CUDA_ErrorInvalidDevice : cuda_kernel_set_attribute(k, which, value));
}
/* Has no effect, because the configuration fixes the split between L1 and shared memory. */
CUDA_API enum cuda_error cuKernelSetCacheConfig(const void *k, int which, int device) {
    struct cuda_kernel *found;
    (void)which;
    DRIVER_FREE_BESIDE(device ? CUDA_ErrorInvalidDevice : cuda_find_launched(k, &found));
}
