#include "clusters.h"
#include "isa/arith.h"
#include "isa/exec/exec.h"
#include "timing/sm/remote.h"
#include "timing/sm/sm.h"
#include <stdlib.h>

/* A cluster whose CTAs have begun and not all ended. */
struct active {
    struct cluster k;
    uint64_t ends; /* cycle in which the phase of its barrier ends; 0 if not all threads have arrived yet */
};

struct clusters {
    const struct config *cfg;
    const struct launch *launch;
    struct sm *const *sm;
    uint32_t sms, size, gpcs; /* size: CTAs of a cluster */
    uint32_t turn;            /* GPC that gets the next cluster if it has room */
    struct active **at;
    uint32_t n, cap;
    uint64_t *out, *in; /* by SM: cycle at which its port into the network, or out of it, is free */
    bool failed;        /* memory is out */
};

static bool uses_barrier(const struct program *p) {
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (exec_is_cluster_arrive(&p->code[pc]))
            return true;
    return false;
}

bool clusters_init(struct clusters **out, const struct config *cfg, const struct launch *l, struct sm *const *sm) {
    const uint32_t size = launch_cluster_ctas(l), sms = cfg->gpu.sms, of = cfg->cluster.sms;
    *out = NULL;
    if (size == 1 && !uses_barrier(l->program))
        return true;
    struct clusters *k = calloc(1, sizeof *k);
    if (!k)
        return false;
    *k = (struct clusters){.cfg = cfg, .launch = l, .sm = sm, .sms = sms, .size = size, .gpcs = (sms + of - 1) / of};
    k->out = calloc(sms, sizeof *k->out);
    k->in = calloc(sms, sizeof *k->in);
    *out = k;
    return k->out && k->in;
}

/* Frees a cluster and the CTAs that its SMs no longer hold. */
static void end_cluster(struct active *a, bool lives) {
    for (uint32_t i = 0; i < a->k.n; i++)
        if (a->k.left[i])
            cta_free(a->k.cta[i]);
        else if (lives)
            cluster_join(&a->k.cta[i]->alone, a->k.cta[i], 0);
    free(a);
}

void clusters_free(struct clusters *k) {
    if (!k)
        return;
    for (uint32_t i = 0; i < k->n; i++)
        end_cluster(k->at[i], false);
    free(k->at);
    free(k->out);
    free(k->in);
    free(k);
}

uint32_t clusters_ctas(const struct clusters *k) { return k->size; }

/* ---- begins ---- */

/* Returns the SMs of a GPC: [*first, the result). */
static uint32_t gpc(const struct clusters *k, uint32_t g, uint32_t *first) {
    const uint32_t of = k->cfg->cluster.sms, end = (g + 1) * of;
    *first = g * of;
    return end < k->sms ? end : k->sms;
}

static uint32_t room_of(const struct ctas *c, const struct cta_begins *b, uint32_t sm, uint32_t edge) {
    const uint32_t free = c->view.occupancy - c->held[sm], begins = edge - b[sm].n;
    return free < begins ? free : begins;
}

/* Among the SMs [first, end) of a GPC that have room, returns the SM with the fewest CTAs. Returns `end` if none has
 * room. */
static uint32_t best_sm(const struct ctas *c, const struct cta_begins *b, uint32_t first, uint32_t end, uint32_t edge) {
    uint32_t best = end;
    for (uint32_t i = first; i < end; i++)
        if (room_of(c, b, i, edge) && (best == end || c->held[i] < c->held[best]))
            best = i;
    return best;
}

static struct active *add(struct clusters *k) {
    if (k->n == k->cap) {
        const uint32_t cap = k->cap ? 2 * k->cap : 64;
        struct active **more = realloc(k->at, cap * sizeof(struct active *));
        if (!more)
            return NULL;
        k->at = more;
        k->cap = cap;
    }
    struct active *a = calloc(1, sizeof *a);
    if (a)
        k->at[k->n++] = a;
    return a;
}

static void begin_cluster(struct ctas *c, struct cta_begins *b, uint32_t first, uint32_t end, uint64_t at,
                          uint32_t edge) {
    struct clusters *k = c->clusters;
    const struct dim3 g = k->launch->grid;
    const uint64_t number = c->view.begun / k->size;
    struct active *a = add(k);
    k->failed |= !a;
    for (uint32_t r = 0; a && r < k->size; r++) {
        const uint32_t sm = best_sm(c, b, first, end, edge);
        const struct dim3 id = launch_cluster_cta(k->launch, number, r);
        b[sm].at[b[sm].n] = (struct cta_begin){.cta = id.x + (uint64_t)g.x * (id.y + (uint64_t)g.y * id.z),
                                               .cycle = at + b[sm].n,
                                               .cluster = &a->k,
                                               .rank = r};
        b[sm].n++;
        c->held[sm]++;
        c->view.begun++;
        a->k.n = k->size;
    }
}

/* Begins the next cluster in one of the GPCs. Returns false if none has room. */
static bool begin_next(struct ctas *c, struct cta_begins *b, uint64_t at, uint32_t edge) {
    struct clusters *k = c->clusters;
    for (uint32_t i = 0; i < k->gpcs; i++) {
        const uint32_t g = (k->turn + i) % k->gpcs;
        uint32_t first, end = gpc(k, g, &first), room = 0;
        for (uint32_t s = first; s < end; s++)
            room += room_of(c, b, s, edge);
        if (room < k->size)
            continue;
        begin_cluster(c, b, first, end, at, edge);
        k->turn = (g + 1) % k->gpcs;
        return !k->failed;
    }
    return false;
}

void clusters_dispatch(struct ctas *c, struct cta_begins *begins, uint64_t at, uint32_t edge) {
    for (uint32_t i = 0; i < c->view.sms; i++) {
        c->held[i] = ctas_of(&begins[i]);
        begins[i].keep = 0;
    }
    c->view.cycle = at;
    while (!ctas_all_begun(c) && begin_next(c, begins, at, edge))
        ;
}

bool clusters_may_begin(const struct ctas *c) {
    const struct clusters *k = c->clusters;
    for (uint32_t g = 0; g < k->gpcs && !ctas_all_begun(c); g++) {
        uint32_t first, end = gpc(k, g, &first), room = 0;
        for (uint32_t s = first; s < end; s++)
            room += c->view.occupancy - sm_status(k->sm[s])->ctas;
        if (room >= k->size)
            return true;
    }
    return false;
}

bool clusters_simulated(const struct launch *l, const struct cta_ops *policy, char *why, size_t size) {
    const uint32_t n = launch_cluster_ctas(l);
    if (n == 1 || !policy || policy == &cta_policy_in_order)
        return true;
    snprintf(why, size, "clusters of %u CTAs, which begin together, are not simulated with gpu.cta_policy=%s", n,
             policy->name);
    return false;
}

bool clusters_fit(const struct config *cfg, const struct launch *l, uint32_t occupancy, char *why, size_t size) {
    const uint32_t n = launch_cluster_ctas(l), of = cfg->cluster.sms, sms = of < cfg->gpu.sms ? of : cfg->gpu.sms;
    if (n == 1 || n <= (uint64_t)sms * occupancy)
        return true;
    snprintf(why, size,
             "a cluster of %u CTAs does not fit into a GPC: its %u SMs (cluster.sms) hold %u of these CTAs each", n,
             sms, occupancy);
    return false;
}

/* ---- network ---- */

/* Sends a packet of `bytes` bytes, which is ready in cycle `ready`, between two SMs. Returns the cycle at which its
 * last byte arrives, at least `at`. */
static uint64_t cross(struct clusters *k, uint32_t from, uint32_t to, uint32_t bytes, uint64_t ready, uint64_t at) {
    struct remote_counts *n = sm_remote_counts(k->sm[from]);
    const uint64_t takes = (bytes + k->cfg->cluster.bytes - 1) / k->cfg->cluster.bytes;
    if (from == to)
        return max64(ready, at);
    const uint64_t left = max64(ready, k->out[from]) + takes, there = left + k->cfg->cluster.latency;
    const uint64_t arrived = max64(there, k->in[to] + takes);
    k->out[from] = left;
    k->in[to] = arrived;
    n->bytes += bytes;
    n->wait_cycles += arrived - (ready + takes + k->cfg->cluster.latency);
    return max64(arrived, at);
}

static void send_requests(struct clusters *k, uint32_t sm, uint64_t cycle, uint64_t at) {
    struct lsu_guest g;
    while (sm_remote_sent(k->sm[sm], cycle, &g)) {
        g.arrived = cross(k, g.from, g.to, g.out, g.cycle, at);
        k->failed |= !sm_remote_guest(k->sm[g.to], &g);
    }
}

static void send_replies(struct clusters *k, uint32_t sm, uint64_t cycle, uint64_t at) {
    struct lsu_guest g;
    while (sm_remote_served(k->sm[sm], cycle, &g)) {
        const uint64_t ready = g.cycle + g.passes + k->cfg->lsu.shared_latency - 2;
        const uint64_t back = cross(k, g.to, g.from, g.back, ready, at);
        struct remote_counts *n = sm_remote_counts(k->sm[g.from]);
        n->bank_cycles += g.cycle - g.arrived;
        n->cycles += back - g.sent;
        sm_remote_reply(k->sm[g.from], &g, back);
    }
}

/* ---- barriers ---- */

static bool over(const struct active *a) {
    uint32_t live = 0;
    for (uint32_t i = 0; i < a->k.n; i++)
        live += a->k.cta[i]->live_threads;
    return !live;
}

static void settle(struct clusters *k, struct active *a, uint64_t at) {
    if (!cluster_complete(&a->k)) {
        a->ends = 0;
        return;
    }
    if (!a->ends)
        a->ends = at + 2ull * k->cfg->cluster.latency;
    if (a->ends > at)
        return;
    a->ends = 0;
    cluster_settle(&a->k);
    for (uint32_t i = 0; i < a->k.n; i++)
        sm_cluster_release(k->sm[a->k.cta[i]->warps[0].smid], a->k.cta[i], at);
}

bool clusters_edge(struct clusters *k, uint64_t at, uint32_t edge) {
    for (uint32_t i = 0; k->size == 1 && i < k->sms; i++)
        sm_cluster_settle(k->sm[i], at);
    for (uint64_t c = at - edge; k->size > 1 && c < at; c++)
        for (uint32_t i = 0; i < k->sms; i++) {
            send_requests(k, i, c, at);
            send_replies(k, i, c, at);
        }
    for (uint32_t i = 0; i < k->n && !k->failed;) {
        if (over(k->at[i])) {
            end_cluster(k->at[i], true);
            k->at[i] = k->at[--k->n];
            continue;
        }
        settle(k, k->at[i++], at);
    }
    return !k->failed;
}

uint64_t clusters_next(const struct clusters *k) {
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->at[i]->ends)
            next = min64(next, k->at[i]->ends);
    return next;
}
