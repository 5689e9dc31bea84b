/* Attributes, parameters and occupancy of kernels. */
#include "core_launch.h"
#include "core_module.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
                                             .ptx_version = info.target ? info.target : version,
                                             .binary_version = version,
                                             .most_dynamic_shared = k->dynamic_shared_limit};
    return CUDA_Success;
}

enum cuda_error cuda_kernel_set_attribute(const void *stub, int which, int value) {
    CUDA_LOCK;
    enum { DYNAMIC_SHARED = 8, CARVEOUT = 9, WIDTH = 11, HEIGHT = 12, DEPTH = 13, LARGE = 14, SCHEDULING = 15 };
    struct cuda_kernel *k;
    enum cuda_error e = cuda_find_launched(stub, &k);
    if (e)
        return e;
    if (which == DYNAMIC_SHARED && (value < 0 || value > option("sm.shared_bytes") - k->shared_bytes))
        return CUDA_ErrorInvalidValue;
    if (which == DYNAMIC_SHARED)
        k->dynamic_shared_limit = value;
    else if (which >= WIDTH && which <= DEPTH && value >= 0)
        *(which == WIDTH ? &k->cluster.x : which == HEIGHT ? &k->cluster.y : &k->cluster.z) = (unsigned)value;
    else if (which == LARGE && (value == 0 || value == 1))
        k->large_clusters = value;
    else if (which != CARVEOUT && which != SCHEDULING)
        return CUDA_ErrorInvalidValue;
    return CUDA_Success;
}

enum cuda_error cuda_kernel_clusters(struct cuda_cluster_attributes *out, const void *stub) {
    CUDA_LOCK;
    struct cuda_kernel *k;
    struct heddle_kernel_info info;
    enum cuda_error e = cuda_find_launched(stub, &k);
    if (e)
        return e;
    if (heddle_kernel_info(cuda_core.h, k->in->module, k->name, &info) != HEDDLE_OK)
        return cuda_complain(k->name, CUDA_ErrorInvalidPtx);
    const struct heddle_dim own = info.cluster;
    *out = (struct cuda_cluster_attributes){.must_be_set = info.explicit_cluster,
                                            .width = (int)(own.x ? own.x : k->cluster.x),
                                            .height = (int)(own.y ? own.y : k->cluster.y),
                                            .depth = (int)(own.z ? own.z : k->cluster.z),
                                            .large = k->large_clusters};
    return CUDA_Success;
}

void cuda_set_clusters(const struct cuda_kernel *k, struct cuda_dim given) {
    const struct cuda_dim d = given.x ? given : k->cluster;
    heddle_set_clusters(cuda_core.h, (struct heddle_dim){d.x, d.y, d.z}, k->large_clusters);
}

enum cuda_error cuda_invalid_launch(void) {
    const char *why = strstr(heddle_error(cuda_core.h), "': "); /* the kernel's name ends there */
    return why && strstr(why, "cluster") ? CUDA_ErrorInvalidClusterSize : CUDA_ErrorInvalidConfiguration;
}

/* Returns how many clusters of the launch fit on the machine; -1: the launch is invalid. */
static int clusters_of(const struct cuda_kernel *k, const struct cuda_launch *l, struct cuda_dim cluster) {
    cuda_set_clusters(k, cluster);
    return heddle_max_clusters(cuda_core.h, k->in->module, k->name,
                               (struct heddle_dim){l->block.x, l->block.y, l->block.z},
                               l->shared > UINT32_MAX ? UINT32_MAX : (uint32_t)l->shared);
}

enum cuda_error cuda_occupancy_clusters(int *out, const void *stub, struct cuda_launch l, bool size) {
    CUDA_LOCK;
    enum { PORTABLE = 8, MOST = 16 };
    struct cuda_kernel *k;
    struct cuda_cluster_attributes own = {.width = 0};
    enum cuda_error e = out ? cuda_find_launched(stub, &k) : CUDA_ErrorInvalidValue;
    if (!e)
        e = cuda_kernel_clusters(&own, stub);
    if (e)
        return e;
    if (!size) {
        *out = clusters_of(k, &l, l.cluster);
        return *out < 0 ? cuda_complain(k->name, cuda_invalid_launch()) : CUDA_Success;
    }
    *out = own.width ? own.width * own.height * own.depth : k->large_clusters ? MOST : PORTABLE;
    while (!own.width && *out > 1 && clusters_of(k, &l, (struct cuda_dim){(unsigned)*out, 1, 1}) <= 0)
        --*out;
    return CUDA_Success;
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
    cuda_set_clusters(k, (struct cuda_dim){0, 0, 0});
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
