#include "launch.h"
#include "warp.h"
#include <string.h>

enum { MAX_LOCAL_BYTES = 512 * 1024 }; /* limit per thread, from the CUDA programming guide, technical specifications */

static bool dims_differ(struct dim3 a, struct dim3 b) { return a.x != b.x || a.y != b.y || a.z != b.z; }

static const char *check_block(const struct launch *l, char *buffer, size_t size) {
    const struct program *p = l->program;
    struct dim3 b = l->block;
    uint64_t threads = (uint64_t)b.x * b.y * b.z;
    if (!threads || b.x > MAX_BLOCK_X || b.y > MAX_BLOCK_Y || b.z > MAX_BLOCK_Z || threads > MAX_CTA_THREADS) {
        snprintf(buffer, size, "a block of %u x %u x %u threads: each at least 1, at most %d x %d x %d and %d in all",
                 b.x, b.y, b.z, MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z, MAX_CTA_THREADS);
        return buffer;
    }
    if (p->reqntid.x && dims_differ(b, p->reqntid)) {
        snprintf(buffer, size, "a block of %u x %u x %u threads, but its .reqntid requires %u x %u x %u", b.x, b.y, b.z,
                 p->reqntid.x, p->reqntid.y, p->reqntid.z);
        return buffer;
    }
    if (p->maxntid.x && threads > (uint64_t)p->maxntid.x * p->maxntid.y * p->maxntid.z) {
        snprintf(buffer, size, "a block of %llu threads, but its .maxntid allows %u x %u x %u",
                 (unsigned long long)threads, p->maxntid.x, p->maxntid.y, p->maxntid.z);
        return buffer;
    }
    return NULL;
}

/* Checks the shape of the launch's clusters against the kernel and the grid. */
static const char *check_clusters(const struct launch *l, char *buffer, size_t size) {
    const struct program *p = l->program;
    const struct dim3 own = p->cluster, given = l->cluster, c = launch_cluster(l), g = l->grid;
    const uint64_t n = (uint64_t)c.x * c.y * c.z;
    const uint32_t most = l->large_clusters ? MAX_CLUSTER_CTAS : PORTABLE_CLUSTER_CTAS;
    if (own.x && given.x && dims_differ(own, given))
        snprintf(buffer, size, "clusters of %u x %u x %u CTAs, but its .reqnctapercluster requires %u x %u x %u",
                 given.x, given.y, given.z, own.x, own.y, own.z);
    else if (p->explicit_cluster && !own.x && !given.x)
        snprintf(buffer, size, "it has .explicitcluster: the launch must give the size of its clusters");
    else if (!n || c.x > MAX_CLUSTER_CTAS || c.y > MAX_CLUSTER_CTAS || c.z > MAX_CLUSTER_CTAS || n > most)
        snprintf(buffer, size, "clusters of %u x %u x %u CTAs: each at least 1, and at most %u in all%s", c.x, c.y, c.z,
                 most, l->large_clusters ? "" : ", or 16 if the launch allows clusters of a size that is not portable");
    else if (p->max_cluster_rank && n > p->max_cluster_rank)
        snprintf(buffer, size, "clusters of %u CTAs, but its .maxclusterrank allows %u", (uint32_t)n,
                 p->max_cluster_rank);
    else if (g.x % c.x || g.y % c.y || g.z % c.z)
        snprintf(buffer, size, "a grid of %u x %u x %u CTAs, which clusters of %u x %u x %u CTAs do not divide", g.x,
                 g.y, g.z, c.x, c.y, c.z);
    else
        return NULL;
    return buffer;
}

const char *launch_check(const struct launch *l, uint32_t max_shared, char *buffer, size_t size) {
    const struct program *p = l->program;
    struct dim3 g = l->grid;
    const char *why = check_block(l, buffer, size);
    if (why)
        return why;
    if (!g.x || !g.y || !g.z || g.x > INT32_MAX || g.y > MAX_GRID_Y || g.z > MAX_GRID_Z) {
        snprintf(buffer, size, "a grid of %u x %u x %u CTAs: each at least 1, at most %d x %d x %d", g.x, g.y, g.z,
                 INT32_MAX, MAX_GRID_Y, MAX_GRID_Z);
        return buffer;
    }
    why = check_clusters(l, buffer, size);
    if (why)
        return why;
    uint32_t shared = launch_shared_bytes(l);
    if (shared > max_shared || shared > MAX_SHARED_BYTES) {
        snprintf(buffer, size, "it needs %u bytes of shared memory (%u of them dynamic); the SM has %u", shared,
                 l->dynamic_shared, max_shared < MAX_SHARED_BYTES ? max_shared : (uint32_t)MAX_SHARED_BYTES);
        return buffer;
    }
    if (p->local_bytes > MAX_LOCAL_BYTES) {
        snprintf(buffer, size, "it needs %u bytes of local memory per thread; the limit is %d", p->local_bytes,
                 MAX_LOCAL_BYTES);
        return buffer;
    }
    return NULL;
}
