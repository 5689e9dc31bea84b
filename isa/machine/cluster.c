/* Clusters of CTAs: their shape, the addresses of their shared memory, and their barrier (cluster.h). */
#include "cluster.h"
#include "effects.h"

/* ---- shape ---- */

struct dim3 launch_cluster(const struct launch *l) {
    const struct dim3 one = {1, 1, 1};
    return l->cluster.x ? l->cluster : l->program->cluster.x ? l->program->cluster : one;
}

uint32_t launch_cluster_ctas(const struct launch *l) { return dim3_count(launch_cluster(l)); }

struct dim3 launch_cluster_cta(const struct launch *l, uint64_t cluster, uint32_t rank) {
    const struct dim3 s = launch_cluster(l), g = {l->grid.x / s.x, l->grid.y / s.y, l->grid.z / s.z};
    return (struct dim3){(uint32_t)(cluster % g.x) * s.x + rank % s.x,
                         (uint32_t)(cluster / g.x % g.y) * s.y + rank / s.x % s.y,
                         (uint32_t)(cluster / g.x / g.y) * s.z + rank / s.x / s.y};
}

uint32_t launch_cluster_rank(const struct launch *l, struct dim3 cta) {
    const struct dim3 s = launch_cluster(l);
    return cta.x % s.x + s.x * (cta.y % s.y + s.y * (cta.z % s.z));
}

void cluster_join(struct cluster *k, struct cta *c, uint32_t rank) {
    k->cta[rank] = c;
    if (k->n <= rank)
        k->n = rank + 1;
    c->cluster = k;
    c->rank = rank;
}

/* ---- addresses ---- */

uint32_t cluster_rank_at(const struct cta *c, uint64_t address) {
    const uint64_t step = address / CLUSTER_STEP;
    return !step ? c->rank : step <= UINT32_MAX ? (uint32_t)(step - 1) : UINT32_MAX;
}

bool cluster_owns(const struct cta *c, uint64_t address) {
    return launch_cluster_ctas(c->launch) > 1 || cluster_rank_at(c, address) == c->rank;
}

struct cluster_place cluster_place(const struct cta *c, uint64_t address) {
    const struct cluster *k = c->cluster;
    const uint32_t rank = cluster_rank_at(c, address);
    return (struct cluster_place){rank < k->n ? k->cta[rank] : NULL, rank, address % CLUSTER_STEP};
}

unsigned char *cluster_lane(struct cta *c, struct effects *fx, int lane, uint64_t *address, unsigned bytes,
                            bool write) {
    const struct cluster_place p = cluster_place(c, *address);
    const char *does = write ? "write" : "read";
    if (!p.cta) {
        fx_fault_text(fx, FAULT_OUT_OF_BOUNDS, lane,
                      "%s of %u bytes of the shared memory of rank %u of the cluster (shared::cluster address 0x%llx); "
                      "the cluster has %u CTA%s",
                      does, bytes, p.rank, (unsigned long long)*address, c->cluster->n, c->cluster->n == 1 ? "" : "s");
        return NULL;
    }
    const struct dim3 id = p.cta->id;
    if (bytes > p.cta->shared_bytes || p.offset > p.cta->shared_bytes - bytes) {
        fx_fault_text(fx, FAULT_OUT_OF_BOUNDS, lane,
                      "%s of %u bytes at 0x%llx of the shared memory of CTA (%u,%u,%u), which has rank %u in the "
                      "cluster; a CTA has %u bytes of shared memory",
                      does, bytes, (unsigned long long)p.offset, id.x, id.y, id.z, p.rank, p.cta->shared_bytes);
        return NULL;
    }
    if (!p.cta->live_threads && !(c->launch->memory && c->launch->memory->page_bounds)) {
        fx_fault_text(fx, FAULT_ENDED_CTA, lane,
                      "%s of %u bytes at 0x%llx of the shared memory of CTA (%u,%u,%u), which has rank %u in the "
                      "cluster and has ended; a barrier of the cluster before the end of each CTA prevents this",
                      does, bytes, (unsigned long long)p.offset, id.x, id.y, id.z, p.rank);
        return NULL;
    }
    if (p.cta == c)
        *address = p.offset;
    return p.cta->shared + p.offset;
}

/* ---- barrier ---- */

bool cluster_arrive(struct warp *row, rowmask_t lanes, struct effects *fx) {
    const rowmask_t again = lanes & (row->cluster_arrived | row->cluster_passed);
    if (again) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, __builtin_ctz(again),
                      "a thread arrives at the barrier of the cluster again; barrier.cluster.wait comes first");
        return false;
    }
    row->cluster_arrived |= lanes;
    row->cta->cluster_arrived += lanes_count(lanes);
    return true;
}

bool cluster_may_wait(const struct warp *row, rowmask_t lanes, struct effects *fx) {
    const rowmask_t never = lanes & ~(row->cluster_arrived | row->cluster_passed);
    if (never)
        fx_fault_text(fx, FAULT_UNSUPPORTED, __builtin_ctz(never),
                      "a thread waits at the barrier of the cluster without having arrived; barrier.cluster.arrive "
                      "comes first");
    return !never;
}

lanemask_t cluster_pass(struct warp *w, lanemask_t lanes) {
    const rowmask_t low = w->cluster_passed & warp_row(lanes, 0);
    rowmask_t high = 0;
    w->cluster_passed &= ~low;
    if (w->high) {
        high = w->high->cluster_passed & warp_row(lanes, 1);
        w->high->cluster_passed &= ~high;
    }
    return warp_lanes(low, high);
}

static uint32_t forget(struct warp *row, rowmask_t lanes) {
    const uint32_t n = lanes_count(row->cluster_arrived & lanes);
    row->cluster_arrived &= ~lanes;
    row->cluster_passed &= ~lanes;
    return n;
}

void cluster_exit(struct cta *c, struct warp *w, lanemask_t lanes) {
    c->cluster_arrived -= forget(w, warp_row(lanes, 0));
    if (w->high)
        c->cluster_arrived -= forget(w->high, warp_row(lanes, 1));
}

bool cluster_awaits(const struct cluster *k) {
    uint32_t arrived = 0;
    for (uint32_t i = 0; i < k->n; i++)
        arrived += k->cta[i]->cluster_arrived;
    return arrived != 0;
}

bool cluster_complete(const struct cluster *k) {
    uint32_t live = 0, arrived = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        live += k->cta[i]->live_threads;
        arrived += k->cta[i]->cluster_arrived;
    }
    return arrived && arrived >= live;
}

bool cluster_settle(struct cluster *k) {
    if (!cluster_complete(k))
        return false;
    for (uint32_t i = 0; i < k->n; i++) {
        struct cta *c = k->cta[i];
        const struct cta_barrier *b = &c->barriers[CLUSTER_BARRIER];
        c->cluster_arrived = 0;
        for (uint32_t r = 0; r < c->n_rows; r++) {
            struct warp *w = &c->warps[r];
            /* the wait of lanes that already wait ends when their barrier is released */
            w->cluster_passed |= w->cluster_arrived & ~warp_row(b->waiting[w->index], r >= c->n_warps);
            w->cluster_arrived = 0;
        }
    }
    return true;
}
