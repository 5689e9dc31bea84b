/* Launches and kernels of the runtime interface. */
#include "runtime.h"

/* nvcc compiles a launch <<<...>>> to two calls: one pushes this configuration, and the other, in the kernel's stub,
 * pops it. */
struct configuration {
    struct cuda_dim grid, block;
    size_t shared;
    void *stream;
};
enum { MOST_NESTED = 16 };
static __thread struct configuration pushed[MOST_NESTED];
static __thread int n_pushed;

CUDA_API unsigned __cudaPushCallConfiguration(struct cuda_dim grid, struct cuda_dim block, size_t shared,
                                              void *stream) {
    if (n_pushed == MOST_NESTED)
        return 1;
    pushed[n_pushed++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

CUDA_API enum cuda_error __cudaPopCallConfiguration(struct cuda_dim *grid, struct cuda_dim *block, size_t *shared,
                                                    void *stream) {
    if (!n_pushed)
        NOTE(CUDA_ErrorMissingConfiguration);
    const struct configuration *c = &pushed[--n_pushed];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(void **)stream = c->stream;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaLaunchKernel(const void *stub, struct cuda_dim grid, struct cuda_dim block, void **args,
                                          size_t shared, struct cuda_stream *s) {
    RUNTIME_BESIDE(
        cuda_launch_kernel(stub, (struct cuda_launch){NULL, grid, block, shared, args, false, 0, {0, 0, 0}}, s));
}
CUDA_API enum cuda_error cudaLaunchCooperativeKernel(const void *stub, struct cuda_dim grid, struct cuda_dim block,
                                                     void **args, size_t shared, struct cuda_stream *s) {
    RUNTIME_BESIDE(
        cuda_launch_kernel(stub, (struct cuda_launch){NULL, grid, block, shared, args, true, 0, {0, 0, 0}}, s));
}
CUDA_API enum cuda_error __cudaLaunchKernel(struct cuda_kernel *k, struct cuda_dim grid, struct cuda_dim block,
                                            void **args, size_t shared, struct cuda_stream *s) {
    RUNTIME_BESIDE(k ? cuda_launch((struct cuda_launch){k, grid, block, shared, args, false, 0, {0, 0, 0}}, s)
                     : CUDA_ErrorInvalidDeviceFunction);
}

struct launch_config {
    struct cuda_dim grid, block;
    size_t shared;
    struct cuda_stream *stream;
    const struct cuda_launch_attribute *attributes;
    unsigned n_attributes;
};

static enum cuda_error launch_config(const struct launch_config *c, const void *stub, void **args) {
    struct cuda_dim cluster;
    bool cooperative;
    cuda_launch_attributes(c->attributes, c->n_attributes, &cooperative, &cluster);
    const struct cuda_launch l = {NULL, c->grid, c->block, c->shared, args, cooperative, 0, cluster};
    return cuda_launch_kernel(stub, l, c->stream);
}

CUDA_API enum cuda_error cudaLaunchKernelExC(const struct launch_config *c, const void *stub, void **args) {
    if (!c || (c->n_attributes && !c->attributes))
        NOTE(CUDA_ErrorInvalidValue);
    RUNTIME_BESIDE(launch_config(c, stub, args));
}
CUDA_API enum cuda_error cudaLaunchKernelExC_ptsz(const struct launch_config *c, const void *stub, void **args) {
    struct launch_config own;
    if (c && !c->stream) {
        own = *c;
        own.stream = CUDA_OWN_STREAM;
        c = &own;
    }
    return cudaLaunchKernelExC(c, stub, args);
}

static enum cuda_error clusters(int *out, const void *stub, const struct launch_config *c, bool size) {
    struct cuda_launch l = {NULL, c->grid, c->block, c->shared, NULL, false, 0, {0, 0, 0}};
    cuda_launch_attributes(c->attributes, c->n_attributes, &l.cooperative, &l.cluster);
    return cuda_occupancy_clusters(out, stub, l, size);
}

CUDA_API enum cuda_error cudaOccupancyMaxActiveClusters(int *out, const void *stub, const struct launch_config *c) {
    if (!c || (c->n_attributes && !c->attributes))
        NOTE(CUDA_ErrorInvalidValue);
    RUNTIME_BESIDE(clusters(out, stub, c, false));
}
CUDA_API enum cuda_error cudaOccupancyMaxPotentialClusterSize(int *out, const void *stub,
                                                              const struct launch_config *c) {
    if (!c || (c->n_attributes && !c->attributes))
        NOTE(CUDA_ErrorInvalidValue);
    RUNTIME_BESIDE(clusters(out, stub, c, true));
}

/* ---- kernels ---- */

CUDA_API enum cuda_error __cudaGetKernel(struct cuda_kernel **out, const void *stub) {
    RUNTIME_BESIDE(cuda_find_kernel(stub, out));
}
CUDA_API enum cuda_error cudaGetKernel(struct cuda_kernel **out, const void *stub) {
    RUNTIME_BESIDE(cuda_find_kernel(stub, out));
}
CUDA_API enum cuda_error cudaGetFuncBySymbol(struct cuda_kernel **out, const void *stub) {
    RUNTIME_BESIDE(cuda_find_kernel(stub, out));
}
CUDA_API enum cuda_error cudaFuncGetAttributes(struct cuda_function_attributes *out, const void *stub) {
    RUNTIME_BESIDE(cuda_kernel_attributes(out, stub));
}
CUDA_API enum cuda_error cudaKernelSetAttributeForDevice(const void *k, int which, int value, int device) {
    if (device)
        NOTE(CUDA_ErrorInvalidDevice);
    RUNTIME_BESIDE(cuda_kernel_set_attribute(k, which, value));
}
/* Has no effect, because the configuration fixes the split between L1 and shared memory. */
CUDA_API enum cuda_error cudaFuncSetCacheConfig(const void *stub, int which) {
    (void)stub, (void)which;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaFuncSetSharedMemConfig(const void *stub, int which) {
    (void)stub, (void)which;
    return CUDA_Success;
}
