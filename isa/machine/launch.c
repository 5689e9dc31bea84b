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

bool launch_has_clusters(const struct launch *l) {
    const struct dim3 c = l->program->cluster;
    return c.x > 1 || c.y > 1 || c.z > 1;
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
    if (launch_has_clusters(l)) {
        snprintf(buffer, size,
                 "it requires clusters of %u x %u x %u CTAs (.reqnctapercluster); clusters of more than one CTA "
                 "are not simulated",
                 p->cluster.x, p->cluster.y, p->cluster.z);
        return buffer;
    }
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
