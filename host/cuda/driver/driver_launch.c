/* Functions: launches, attributes, occupancy. They are the runtime's kernels. */
#include "driver.h"
#include "host/cuda/runtime/runtime_api.h"
#include "host/cuda/runtime/runtime_launch.h"
#include <stdlib.h>
#include <string.h>

/* `extra`: all arguments as one block, where each has the place that PTX gives it. */
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

typedef enum cuda_error launcher(const void *, struct cuda_dim, struct cuda_dim, void **, size_t, struct cuda_stream *);

static enum cuda_error launch(launcher *how, const void *f, struct cuda_dim grid, struct cuda_dim block, size_t shared,
                              void *stream, void **args, void **extra) {
    struct cuda_kernel *k;
    enum cuda_error e = cuda_find_launched(f, &k);
    if (e || !extra || args)
        return e ? e : args && extra ? CUDA_ErrorInvalidValue : how(k->stub, grid, block, args, shared, stream);
    void **list = calloc((size_t)k->n_params + 1, sizeof *list);
    if (!list)
        return CUDA_ErrorMemoryAllocation;
    if (!(e = take_buffer(k, extra, list)))
        e = how(k->stub, grid, block, list, shared, stream);
    free(list);
    return e;
}

CUDA_API enum cuda_error cuLaunchKernel(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                        unsigned bz, unsigned shared, void *stream, void **args, void **extra) {
    DRIVER(launch(cudaLaunchKernel, f, (struct cuda_dim){gx, gy, gz}, (struct cuda_dim){bx, by, bz}, shared, stream,
                  args, extra));
}
CUDA_API enum cuda_error cuLaunchCooperativeKernel(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                   unsigned by, unsigned bz, unsigned shared, void *stream,
                                                   void **args) {
    DRIVER(launch(cudaLaunchCooperativeKernel, f, (struct cuda_dim){gx, gy, gz}, (struct cuda_dim){bx, by, bz}, shared,
                  stream, args, NULL));
}

struct driver_config {
    struct cuda_dim grid, block;
    unsigned shared;
    void *stream;
    const struct cuda_launch_attribute *attributes;
    unsigned n_attributes;
};

static enum cuda_error launch_config(const struct driver_config *c, const void *f, void **args, void **extra) {
    bool cooperative = false;
    enum cuda_error e = !c || (c->n_attributes && !c->attributes) ? CUDA_ErrorInvalidValue : CUDA_Success;
    if (e || (e = cuda_launch_attributes("cuLaunchKernelEx", c->attributes, c->n_attributes, &cooperative)))
        return e;
    return launch(cooperative ? cudaLaunchCooperativeKernel : cudaLaunchKernel, f, c->grid, c->block, c->shared,
                  c->stream, args, extra);
}

CUDA_API enum cuda_error cuLaunchKernelEx(const struct driver_config *c, const void *f, void **args, void **extra) {
    DRIVER(launch_config(c, f, args, extra));
}

/* ---- what is known of them ---- */

enum { CONST_BYTES = 2, CACHE_MODE = 7, DYNAMIC_SHARED = 8, CARVEOUT = 9, MAX_THREADS = 0 };

static enum cuda_error attribute(int *out, int which, const void *f) {
    struct cuda_function_attributes a;
    enum cuda_error e = out ? cudaFuncGetAttributes(&a, f) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    const int all[] = {a.most_threads, (int)a.shared,    (int)a.constant, (int)a.local,          a.registers,
                       a.ptx_version,  a.binary_version, a.cache_mode,    a.most_dynamic_shared, a.carveout};
    if (which < 0 || which > 15)
        return CUDA_ErrorInvalidValue;
    *out = which <= CARVEOUT ? all[which] : 0; /* clusters: none */
    return CUDA_Success;
}

CUDA_API enum cuda_error cuFuncGetAttribute(int *out, int which, const void *f) { DRIVER(attribute(out, which, f)); }
CUDA_API enum cuda_error cuFuncSetAttribute(const void *f, int which, int value) {
    DRIVER(cudaFuncSetAttribute(f, which, value));
}

static enum cuda_error known(const void *f) {
    struct cuda_kernel *k;
    return cuda_find_launched(f, &k);
}

/* The split of L1 and shared memory is the configuration's. */
CUDA_API enum cuda_error cuFuncSetCacheConfig(const void *f, int which) { DRIVER((void)which, known(f)); }
CUDA_API enum cuda_error cuFuncSetSharedMemConfig(const void *f, int which) { DRIVER((void)which, known(f)); }
CUDA_API enum cuda_error cuFuncLoad(const void *f) { DRIVER(known(f)); }

static enum cuda_error find(const void *f, const void *out, struct cuda_kernel **k) {
    return out ? cuda_find_launched(f, k) : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cuFuncIsLoaded(int *out, const void *f) {
    struct cuda_kernel *k;
    DRIVER(find(f, out, &k) ? CUDA_ErrorInvalidResourceHandle : (*out = 1, CUDA_Success));
}
CUDA_API enum cuda_error cuFuncGetModule(struct cuda_module **out, const void *f) {
    struct cuda_kernel *k;
    DRIVER(find(f, out, &k) ? CUDA_ErrorInvalidResourceHandle : (*out = k->in, CUDA_Success));
}
CUDA_API enum cuda_error cuFuncGetName(const char **out, const void *f) { DRIVER(cudaFuncGetName(out, f)); }
CUDA_API enum cuda_error cuFuncGetParamInfo(const void *f, size_t index, size_t *offset, size_t *bytes) {
    DRIVER(cudaFuncGetParamInfo(f, index, offset, bytes));
}

CUDA_API enum cuda_error cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *f, int threads,
                                                                     size_t shared) {
    DRIVER(cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, shared));
}
CUDA_API enum cuda_error cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *f, int threads,
                                                                              size_t shared, unsigned flags) {
    (void)flags;
    DRIVER(cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, shared));
}
CUDA_API enum cuda_error cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *f, int blocks, int threads) {
    DRIVER(cudaOccupancyAvailableDynamicSMemPerBlock(out, f, blocks, threads));
}

/* The largest block of those that fill an SM with most threads. */
static enum cuda_error best_block(int *grid, int *block, const void *f, size_t (*shared_of)(int), size_t shared,
                                  int limit) {
    enum { SM_COUNT = 16 };
    int most, sms, best = 0, blocks = 0;
    enum cuda_error e = grid && block ? attribute(&most, MAX_THREADS, f) : CUDA_ErrorInvalidValue;
    if (e || (e = cudaDeviceGetAttribute(&sms, SM_COUNT, 0)))
        return e;
    most = limit > 0 && limit < most ? limit : most;
    *block = 0;
    for (int n = most; n > 0; n = (n - 1) / 32 * 32) {
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, n, shared_of ? shared_of(n) : shared);
        if (e)
            return e;
        if (blocks * n > best) {
            best = blocks * n;
            *block = n;
            *grid = blocks * sms;
        }
    }
    return *block ? CUDA_Success : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *f,
                                                          size_t (*shared_of)(int), size_t shared, int limit) {
    DRIVER(best_block(grid, block, f, shared_of, shared, limit));
}
CUDA_API enum cuda_error cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, const void *f,
                                                                   size_t (*shared_of)(int), size_t shared, int limit,
                                                                   unsigned flags) {
    (void)flags;
    DRIVER(best_block(grid, block, f, shared_of, shared, limit));
}
