/* Attributes, parameters and occupancy of kernels. */
#include "core_launch.h"
#include "core_module.h"
#include <math.h>
#include <stdlib.h>

static int option(const char *key) { return (int)heddle_option(cuda_core.h, key); }

enum cuda_error cuda_kernel_attributes(struct cuda_function_attributes *out, const void *stub) {
    CUDA_LOCK;
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

enum cuda_error cuda_kernel_set_attribute(const void *stub, int which, int value) {
    CUDA_LOCK;
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

enum cuda_error cuda_kernel_name(const char **out, const void *stub) {
    CUDA_LOCK;
    struct cuda_kernel *k;
    enum cuda_error e = out ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = k->name;
    return e;
}

enum cuda_error cuda_kernel_parameter(const void *stub, size_t index, size_t *offset, size_t *bytes) {
    CUDA_LOCK;
    struct cuda_kernel *k;
    enum cuda_error e = offset ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (e || index >= (size_t)k->n_params)
        return e ? e : CUDA_ErrorInvalidValue;
    *offset = k->param_offsets[index];
    if (bytes)
        *bytes = k->param_bytes[index];
    return CUDA_Success;
}

enum cuda_error cuda_occupancy(int *out, const void *stub, int threads, size_t shared) {
    CUDA_LOCK;
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

enum cuda_error cuda_occupancy_shared(size_t *out, const void *stub, int blocks) {
    CUDA_LOCK;
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

enum cuda_error cuda_occupancy_best(int *grid, int *block, const void *f, size_t (*shared_of)(int), size_t shared,
                                    int limit) {
    CUDA_LOCK;
    struct cuda_function_attributes a;
    int best = 0, blocks = 0;
    enum cuda_error e = grid && block ? cuda_kernel_attributes(&a, f) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    int most = limit > 0 && limit < a.most_threads ? limit : a.most_threads, sms = option("gpu.sms");
    *block = 0;
    for (int n = most; n > 0; n = (n - 1) / 32 * 32) {
        e = cuda_occupancy(&blocks, f, n, shared_of ? shared_of(n) : shared);
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
