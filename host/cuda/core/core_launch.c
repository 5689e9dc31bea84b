/* Launches in streams. A launch is checked first. Then it runs immediately, or becomes a node if the stream is
 * captured. */
#include "core_launch.h"
#include "core_graph_parts.h"
#include "core_module.h"

/* Returns an error if a cooperative grid has more blocks than the machine can hold at once. Its blocks wait for each
 * other, so all must be resident. */
static enum cuda_error fits(const struct cuda_launch *l) {
    cuda_set_clusters(l->kernel, l->cluster);
    int each = heddle_occupancy(cuda_core.h, l->kernel->in->module, l->kernel->name,
                                (struct heddle_dim){l->block.x, l->block.y, l->block.z},
                                l->shared > UINT32_MAX ? UINT32_MAX : (uint32_t)l->shared);
    if (each < 0)
        return cuda_complain(l->kernel->name, cuda_invalid_launch());
    const double sms = heddle_option(cuda_core.h, "gpu.sms"), blocks = (double)l->grid.x * l->grid.y * l->grid.z;
    if (blocks <= each * sms)
        return CUDA_Success;
    char name[256];
    heddle_demangle(l->kernel->name, name, sizeof name);
    fprintf(stderr,
            "heddle: %s: a cooperative grid of %.0f blocks, but the machine holds %.0f at once, %d on each of its %.0f "
            "SMs; launch fewer, or add SMs with '-s gpu.sms=N'\n",
            name, blocks, each * sms, each, sms);
    return CUDA_ErrorCooperativeLaunchTooLarge;
}

/* Returns an error if the launch uses more shared memory than the kernel's attribute allows. As on a GPU, a program
 * must set this attribute to use more than 48 KiB. */
static enum cuda_error shared_allowed(const struct cuda_launch *l) {
    const struct cuda_kernel *k = l->kernel;
    if (l->shared <= (size_t)k->dynamic_shared_limit)
        return CUDA_Success;
    const int most = (int)heddle_option(cuda_core.h, "sm.shared_bytes") - k->shared_bytes;
    char name[256];
    heddle_demangle(k->name, name, sizeof name);
    fprintf(stderr,
            "heddle: %s: %zu bytes of dynamic shared memory, but a block may have %d beside the %d of the kernel's "
            "variables; ",
            name, l->shared, k->dynamic_shared_limit, k->shared_bytes);
    if (l->shared <= (size_t)(most > 0 ? most : 0))
        fprintf(stderr, "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) allows up to %d\n", most);
    else
        fputs("an SM of this machine has less; choose a machine with more ('heddle exec -c' or -s sm.shared_bytes=)\n",
              stderr);
    return CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_launch(struct cuda_launch l, struct cuda_stream *s) {
    CUDA_LOCK;
    enum cuda_error e = l.kernel->failed;
    if (!e && l.kernel->n_params && !l.args)
        e = CUDA_ErrorInvalidValue;
    if (!e)
        e = shared_allowed(&l);
    if (!e && (l.cluster.x || l.cluster.y || l.cluster.z) && (!l.cluster.x || !l.cluster.y || !l.cluster.z))
        e = CUDA_ErrorInvalidClusterSize;
    if (!e && l.cooperative)
        e = fits(&l);
    if (e)
        return e;
    const struct cuda_work w = {NODE_KERNEL, .launch = l};
    return cuda_capturing(s) ? cuda_capture(s, &w) : cuda_submit(&w, s, 0, NULL);
}

enum cuda_error cuda_launch_kernel(const void *what, struct cuda_launch l, struct cuda_stream *s) {
    CUDA_LOCK;
    enum cuda_error e = cuda_find_launched(what, &l.kernel);
    return e ? e : cuda_launch(l, s);
}

void cuda_launch_attributes(const struct cuda_launch_attribute *a, unsigned n, bool *cooperative,
                            struct cuda_dim *cluster) {
    enum { COOPERATIVE = 2, CLUSTER = 4 };
    *cooperative = false;
    *cluster = (struct cuda_dim){0, 0, 0};
    for (const struct cuda_launch_attribute *end = a + n; a < end; a++) {
        *cooperative |= a->id == COOPERATIVE && a->value.cooperative;
        if (a->id == CLUSTER)
            *cluster = a->value.cluster;
    }
}
