/* Launches, and what programs ask of their kernels. */
#include "runtime_launch.h"
#include "host/cuda/core/core.h"
#include "host/cuda/core/core_report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What <<<...>>> said, between the two calls that nvcc makes of it. */
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
        return cuda_note(CUDA_ErrorMissingConfiguration);
    const struct configuration *c = &pushed[--n_pushed];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(void **)stream = c->stream;
    return CUDA_Success;
}

static enum cuda_error fault_error(enum heddle_status status) {
    if (status != HEDDLE_FAULT)
        return status == HEDDLE_DEADLOCK ? CUDA_ErrorLaunchTimeout : CUDA_ErrorLaunchFailure;
    switch (heddle_fault(cuda_core.h)) {
    case HEDDLE_FAULT_ADDRESS:
        return CUDA_ErrorIllegalAddress;
    case HEDDLE_FAULT_ALIGNMENT:
        return CUDA_ErrorMisalignedAddress;
    case HEDDLE_FAULT_ASSERT:
        return CUDA_ErrorAssert;
    default:
        return CUDA_ErrorLaunchFailure;
    }
}

/* The kernel has run, or was refused. A fault is told by the calls that follow, as on a GPU. A checked kernel that ran
 * to its end is no fault to the program, whatever the checker found. `before`: how many launches had statistics. */
static enum cuda_error ended(const char *kernel, enum heddle_status status, int before) {
    struct cuda_core *r = &cuda_core;
    bool whole = heddle_launches(r->h) > before && !heddle_incomplete(r->h, before);
    if (r->check && (status == HEDDLE_OK || status == HEDDLE_FAULT) && whole) {
        cuda_tell_findings(kernel, heddle_error(r->h));
        if (status == HEDDLE_FAULT && r->worst == HEDDLE_OK)
            r->worst = HEDDLE_FAULT;
        return CUDA_Success;
    }
    if (status == HEDDLE_OK)
        return CUDA_Success;
    if (status == HEDDLE_USAGE && heddle_fault(r->h) == HEDDLE_FAULT_UNSUPPORTED) /* the results will be wrong */
        return cuda_refuse(kernel, heddle_error(r->h), CUDA_ErrorNotSupported);
    if (status == HEDDLE_USAGE) /* as a GPU does, and the program may know what to do then */
        return cuda_complain(kernel, CUDA_ErrorInvalidConfiguration);
    r->sticky = cuda_failed(kernel, status, fault_error(status));
    return CUDA_Success;
}

enum cuda_error cuda_run(const struct cuda_launch *l) {
    enum { FEW = 32 };
    const struct cuda_kernel *k = l->kernel;
    enum cuda_error e = k->in->unloaded ? CUDA_ErrorInvalidResourceHandle : cuda_references_bind();
    if (e)
        return e;
    struct heddle_arg few[FEW], *list = k->n_params <= FEW ? few : calloc((size_t)k->n_params, sizeof *list);
    if (!list)
        return CUDA_ErrorMemoryAllocation;
    for (int i = 0; i < k->n_params; i++)
        list[i] = (struct heddle_arg){l->args[i], k->param_bytes[i]};
    struct heddle_dim grid = {l->grid.x, l->grid.y, l->grid.z}, block = {l->block.x, l->block.y, l->block.z};
    uint32_t shared = l->shared > UINT32_MAX ? UINT32_MAX : (uint32_t)l->shared;
    int before = heddle_launches(cuda_core.h);
    enum heddle_status status = (l->cooperative ? heddle_launch_cooperative : heddle_launch)(
        cuda_core.h, k->in->module, k->name, grid, block, shared, list, k->n_params);
    if (list != few)
        free(list);
    return ended(k->name, status, before);
}

/* A grid whose blocks wait for each other: all of them must be there at once. */
static enum cuda_error fits(const struct cuda_launch *l) {
    int each = heddle_occupancy(cuda_core.h, l->kernel->in->module, l->kernel->name,
                                (struct heddle_dim){l->block.x, l->block.y, l->block.z},
                                l->shared > UINT32_MAX ? UINT32_MAX : (uint32_t)l->shared);
    if (each < 0)
        return cuda_complain(l->kernel->name, CUDA_ErrorInvalidConfiguration);
    double room = each * heddle_option(cuda_core.h, "gpu.sms");
    return (double)l->grid.x * l->grid.y * l->grid.z > room ? CUDA_ErrorCooperativeLaunchTooLarge : CUDA_Success;
}

/* More than 48 KiB of shared memory has to be asked for, as on a GPU. */
static enum cuda_error shared_allowed(const struct cuda_launch *l) {
    const struct cuda_kernel *k = l->kernel;
    if (l->shared <= (size_t)k->dynamic_shared_limit)
        return CUDA_Success;
    fprintf(stderr,
            "heddle: %s: %zu bytes of dynamic shared memory are more than the %d that it has beside its own %d; "
            "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) allows up to %d\n",
            k->name, l->shared, k->dynamic_shared_limit, k->shared_bytes,
            (int)heddle_option(cuda_core.h, "sm.shared_bytes") - k->shared_bytes);
    return CUDA_ErrorInvalidValue;
}

/* Now, or noted when the stream is captured. */
static enum cuda_error run(struct cuda_launch l, struct cuda_stream *s) {
    enum cuda_error e = l.kernel->failed;
    if (!e && l.kernel->n_params && !l.args)
        e = CUDA_ErrorInvalidValue;
    if (!e)
        e = shared_allowed(&l);
    if (!e && l.cooperative)
        e = fits(&l);
    if (e)
        return e;
    return cuda_capturing(s) ? cuda_capture(s, &(struct cuda_work){NODE_KERNEL, .launch = l}) : cuda_run(&l);
}

/* A kernel by its stub, or as __cudaGetKernel() gave it. */
enum cuda_error cuda_find_launched(const void *what, struct cuda_kernel **out) {
    enum cuda_error e = cuda_find_kernel(what, out);
    for (int i = 0; e == CUDA_ErrorInvalidDeviceFunction && i < CUDA_CHAINS; i++)
        for (struct cuda_kernel *k = cuda_core.kernels[i]; k; k = k->next)
            if (k == what)
                return cuda_find_kernel(k->stub, out);
    return e;
}

static enum cuda_error launch(const void *stub, struct cuda_launch l, struct cuda_stream *s) {
    enum cuda_error e = cuda_find_launched(stub, &l.kernel);
    return e ? e : run(l, s);
}

CUDA_API enum cuda_error cudaLaunchKernel(const void *stub, struct cuda_dim grid, struct cuda_dim block, void **args,
                                          size_t shared, struct cuda_stream *s) {
    GUARD(launch(stub, (struct cuda_launch){NULL, grid, block, shared, args, false, 0}, s));
}
CUDA_API enum cuda_error cudaLaunchCooperativeKernel(const void *stub, struct cuda_dim grid, struct cuda_dim block,
                                                     void **args, size_t shared, struct cuda_stream *s) {
    GUARD(launch(stub, (struct cuda_launch){NULL, grid, block, shared, args, true, 0}, s));
}

CUDA_API enum cuda_error __cudaGetKernel(struct cuda_kernel **out, const void *stub) {
    enum cuda_error e = cuda_enter();
    return cuda_leave(e ? e : cuda_find_kernel(stub, out));
}
CUDA_API enum cuda_error cudaGetKernel(struct cuda_kernel **out, const void *stub) {
    return __cudaGetKernel(out, stub);
}
CUDA_API enum cuda_error cudaGetFuncBySymbol(struct cuda_kernel **out, const void *stub) {
    return __cudaGetKernel(out, stub);
}

CUDA_API enum cuda_error __cudaLaunchKernel(struct cuda_kernel *k, struct cuda_dim grid, struct cuda_dim block,
                                            void **args, size_t shared, struct cuda_stream *s) {
    GUARD(k ? run((struct cuda_launch){k, grid, block, shared, args, false, 0}, s) : CUDA_ErrorInvalidDeviceFunction);
}

struct launch_config {
    struct cuda_dim grid, block;
    size_t shared;
    struct cuda_stream *stream;
    const struct cuda_launch_attribute *attributes;
    unsigned n_attributes;
};

/* A launch that is not made shows in the exit status, also of a program that does not look. */
static enum cuda_error refuse_clusters(const char *who, struct cuda_dim d) {
    char why[160];
    snprintf(why, sizeof why, "clusters of %u x %u x %u blocks are not simulated, and the kernel did not run\n", d.x,
             d.y, d.z);
    enum cuda_error e = cuda_enter();
    return cuda_leave(e ? e : cuda_refuse(who, why, CUDA_ErrorNotSupported));
}

enum cuda_error cuda_launch_attributes(const char *who, const struct cuda_launch_attribute *a, unsigned n,
                                       bool *cooperative) {
    enum { COOPERATIVE = 2, CLUSTER = 4 };
    *cooperative = false;
    for (const struct cuda_launch_attribute *end = a + n; a < end; a++) {
        const struct cuda_dim d = a->value.cluster;
        *cooperative |= a->id == COOPERATIVE && a->value.cooperative;
        if (a->id == CLUSTER && (uint64_t)d.x * d.y * d.z > 1)
            return refuse_clusters(who, d);
    }
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaLaunchKernelExC(const struct launch_config *c, const void *stub, void **args) {
    bool cooperative = false;
    enum cuda_error e = !c || (c->n_attributes && !c->attributes) ? CUDA_ErrorInvalidValue : CUDA_Success;
    if (e || (e = cuda_launch_attributes("cudaLaunchKernelExC", c->attributes, c->n_attributes, &cooperative)))
        return cuda_note(e);
    GUARD(launch(stub, (struct cuda_launch){NULL, c->grid, c->block, c->shared, args, cooperative, 0}, c->stream));
}

static int option(const char *key) { return (int)heddle_option(cuda_core.h, key); }

static enum cuda_error attributes(struct cuda_function_attributes *out, const void *stub) {
    struct cuda_kernel *k;
    struct heddle_kernel_info info;
    enum cuda_error e = out ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    if (heddle_kernel_info(cuda_core.h, k->in->module, k->name, &info) != HEDDLE_OK)
        return cuda_complain(k->name, CUDA_ErrorInvalidPtx);
    int version = (int)lround(10 * heddle_option(cuda_core.h, "gpu.capability")), most = 1024;
    uint32_t fit = info.registers ? (uint32_t)option("sm.registers") / info.registers / 32 * 32 : 1024;
    most = (int)fit < most ? (int)fit : most;
    uint64_t limit = (uint64_t)info.largest_block.x * info.largest_block.y * info.largest_block.z;
    *out = (struct cuda_function_attributes){.shared = info.shared_bytes,
                                             .local = info.local_bytes,
                                             .most_threads = limit && limit < (uint64_t)most ? (int)limit : most,
                                             .registers = (int)info.registers,
                                             .ptx_version = version,
                                             .binary_version = version,
                                             .most_dynamic_shared = k->dynamic_shared_limit};
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaFuncGetAttributes(struct cuda_function_attributes *out, const void *stub) {
    GUARD(attributes(out, stub));
}

static enum cuda_error set_attribute(const void *stub, int which, int value) {
    enum { DYNAMIC_SHARED = 8, CARVEOUT = 9 };
    struct cuda_kernel *k;
    enum cuda_error e = cuda_find_launched(stub, &k);
    if (e)
        return e;
    if (which == DYNAMIC_SHARED && (value < 0 || value > option("sm.shared_bytes") - k->shared_bytes))
        return CUDA_ErrorInvalidValue;
    if (which == DYNAMIC_SHARED)
        k->dynamic_shared_limit = value;
    return which == DYNAMIC_SHARED || which == CARVEOUT ? CUDA_Success : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cudaFuncSetAttribute(const void *stub, int which, int value) {
    GUARD(set_attribute(stub, which, value));
}

static enum cuda_error name_of(const char **out, const void *stub) {
    struct cuda_kernel *k;
    enum cuda_error e = out ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = k->name;
    return e;
}

CUDA_API enum cuda_error cudaFuncGetName(const char **out, const void *stub) { GUARD(name_of(out, stub)); }

static enum cuda_error parameter(const void *stub, size_t index, size_t *offset, size_t *bytes) {
    struct cuda_kernel *k;
    enum cuda_error e = offset ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (e || index >= (size_t)k->n_params)
        return e ? e : CUDA_ErrorInvalidValue;
    *offset = k->param_offsets[index];
    if (bytes)
        *bytes = k->param_bytes[index];
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes) {
    GUARD(parameter(stub, index, offset, bytes));
}

/* The split of L1 and shared memory is the configuration's. */
CUDA_API enum cuda_error cudaFuncSetCacheConfig(const void *stub, int which) {
    (void)stub, (void)which;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaFuncSetSharedMemConfig(const void *stub, int which) {
    return cudaFuncSetCacheConfig(stub, which);
}

static enum cuda_error occupancy(int *out, const void *stub, int threads, size_t shared) {
    struct cuda_kernel *k;
    enum cuda_error e = out && threads > 0 ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    int n = threads > 1024 || shared > UINT32_MAX
                ? 0
                : heddle_occupancy(cuda_core.h, k->in->module, k->name, (struct heddle_dim){(uint32_t)threads, 1, 1},
                                   (uint32_t)shared);
    if (n < 0)
        return cuda_complain(k->name, CUDA_ErrorInvalidValue);
    *out = n;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *stub, int threads,
                                                                       size_t shared) {
    GUARD(occupancy(out, stub, threads, shared));
}
CUDA_API enum cuda_error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *stub, int threads,
                                                                                size_t shared, unsigned flags) {
    (void)flags;
    GUARD(occupancy(out, stub, threads, shared));
}

/* What is left for each of so many blocks of an SM. */
static enum cuda_error dynamic_shared(size_t *out, const void *stub, int blocks) {
    struct cuda_kernel *k;
    struct heddle_kernel_info info;
    enum cuda_error e = out && blocks > 0 ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    if (heddle_kernel_info(cuda_core.h, k->in->module, k->name, &info) != HEDDLE_OK)
        return cuda_complain(k->name, CUDA_ErrorInvalidPtx);
    uint32_t unit = (uint32_t)option("sm.shared_unit"), each = (uint32_t)option("sm.shared_bytes") / (uint32_t)blocks;
    each = each / unit * unit;
    *out = each > info.shared_bytes ? each - info.shared_bytes : 0;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *stub, int blocks,
                                                                   int threads) {
    (void)threads;
    GUARD(dynamic_shared(out, stub, blocks));
}
