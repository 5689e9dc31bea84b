/* Releases and acquires (PTX ISA 8.8). A strong write releases the events covered by earlier fences; with .release, it
 * releases all earlier events. A strong read acquires the released events at the next fence; with .acquire, it acquires
 * them at once. A read-modify-write adds to the events that an address releases, so that a chain of read-modify-writes
 * releases the events of all its members. An atomic without an ordering qualifier, as compiled from CUDA's atomicAdd()
 * and similar, counts as an acquire: kernels rely on this, and the hardware guarantees it. */
#include "check_state.h"
#include "isa/exec/exec_mbarrier.h"
#include <stdlib.h>

/* ---- synchronisation objects ---- */

void sync_forget(struct sync_places *p) {
    for (uint32_t i = 0; i < p->size; i++) {
        clock_unref(p->slot[i].released);
        clock_unref(p->slot[i].local);
        clock_unref(p->slot[i].arrived);
    }
    free(p->slot);
    *p = (struct sync_places){NULL, 0, 0};
}

/* Returns the slot of `key`, or the free slot where `key` belongs. */
static struct sync_place *slot_of(const struct sync_places *p, uint64_t key) {
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 32;
    while (p->slot[at & (p->size - 1)].address && p->slot[at & (p->size - 1)].address != key)
        at++;
    return &p->slot[at & (p->size - 1)];
}

static bool grow(struct sync_places *p) {
    struct sync_places more = {.n = p->n, .size = p->size ? 2 * p->size : 64};
    more.slot = calloc(more.size, sizeof *more.slot);
    if (!more.slot)
        return false;
    for (uint32_t i = 0; i < p->size; i++)
        if (p->slot[i].address)
            *slot_of(&more, p->slot[i].address) = p->slot[i];
    free(p->slot);
    *p = more;
    return true;
}

/* Address 0 is valid in shared memory, so keys begin at 1. */
static struct sync_place *find(const struct sync_places *p, uint64_t address) {
    struct sync_place *s = p->n ? slot_of(p, address + 1) : NULL;
    return s && s->address ? s : NULL;
}

static struct sync_place *find_or_add(struct checker *k, struct sync_places *p, uint64_t address) {
    if (2 * p->n >= p->size && !grow(p)) {
        k->clocks.failed = k->out_of_memory = true;
        return NULL;
    }
    struct sync_place *s = slot_of(p, address + 1);
    p->n += !s->address;
    s->address = address + 1;
    return s;
}

/* ---- strong accesses ---- */

static void acquire(const struct now *n, const struct sync_place *s, bool at_once) {
    struct clocks *k = &n->c->checker->clocks;
    struct clock *own = s->local && s->local_cta == n->c->serial ? s->local : NULL;
    if (at_once) {
        order_acquire(n, s->released, n->words & ORDER_CTA);
        order_acquire(n, own, n->words & ORDER_CTA);
        return;
    }
    clock_add(k, &n->order->pending, s->released);
    clock_add(k, &n->order->pending, own);
}

/* Releases `all` to every thread and `local` to threads of the CTA. With `adds`, earlier releases remain. */
static void release(const struct now *n, struct sync_place *s, struct clock *all, struct clock *local, bool adds) {
    struct clocks *k = &n->c->checker->clocks;
    if (!adds) {
        clock_set(&s->released, NULL);
        clock_set(&s->local, NULL);
    }
    clock_add(k, &s->released, all);
    if (local == all)
        return;
    if (s->local_cta != n->c->serial)
        clock_set(&s->local, NULL);
    s->local_cta = n->c->serial;
    clock_add(k, &s->local, local);
}

void sync_accesses(const struct now *n, struct sync_places *p, rowmask_t lanes, const struct effects *fx) {
    bool atomic = n->in->kind == K_ATOM, cta_scope = n->words & ORDER_CTA;
    bool at_once = n->words & ORDER_ACQUIRE || (atomic && !(n->words & ORDER_STRONG));
    struct clock *all = NULL, *local = NULL;
    if (n->writes && n->words & ORDER_RELEASE) {
        local = order_everything(n);
        all = cta_scope ? order_released(n) : clock_ref(local);
    } else if (n->writes) {
        local = order_released_cta(n);
        all = cta_scope ? NULL : order_released(n);
    }
    uint64_t last = UINT64_MAX;
    for (; lanes && (p->n || local); lanes &= lanes - 1) {
        uint64_t at = fx->addr[__builtin_ctz(lanes)];
        if (at == last)
            continue;
        last = at;
        struct sync_place *s = local ? find_or_add(n->c->checker, p, at) : find(p, at);
        if (s && n->reads)
            acquire(n, s, at_once);
        if (s && n->writes)
            release(n, s, all, local, atomic);
    }
    clock_unref(all);
    clock_unref(local);
}

/* ---- mbarriers ---- */

static uint32_t pending_of(uint64_t word) { return (uint32_t)(word >> MBARRIER_PENDING) & MBARRIER_COUNT_MAX; }

/* Returns true if an operation of `arrivals` threads has ended a phase of the object, whose value is now `word`. */
static bool phase_ended(const struct sync_place *s, uint64_t word, uint64_t arrivals) {
    return ((s->word ^ word) >> MBARRIER_PHASE & 1) || (arrivals && arrivals >= pending_of(s->word));
}

/* Handles arrivals and waits of the lanes `same` at one object, at offset `at` in the CTA of `of`. */
static void handle_mbarrier(const struct now *n, struct check_cta *of, struct sync_place *s, rowmask_t same,
                            uint64_t at, uint64_t word) {
    uint32_t n_rows;
    uint64_t form = isa_rows(&n_rows)[n->in->row].form, arrivals = 0;
    unsigned mode = form_get(form, CAT_MODE), mode2 = form_get(form, CAT_MODE2);
    struct clocks *k = &n->c->checker->clocks;
    const uint32_t *count = reg_ptr(n->w, n->in->b);
    bool relaxed = n->words & ORDER_RELAXED, copies = mode2 == MODE2_MBARRIER;
    if (mode == MODE_TEST_WAIT || mode == MODE_TRY_WAIT) {
        if (n->in->d == OPND_SINK || !(pred_get(n->w, n->in->d) & same))
            return;
        if (of->n_bulks)
            bulk_phase_ended(of, at);
        tensor_phase_ended(of, at);
        if (relaxed)
            clock_add(k, &n->order->pending, s->released);
        else /* threads of other CTAs of the cluster may have arrived */
            order_acquire(n, s->released, n->c->cta->cluster->n == 1);
        return;
    }
    if (mode == MODE_ARRIVE || mode == MODE_ARRIVE_DROP || copies) {
        struct clock *mine = relaxed ? order_released_cta(n) : order_everything(n);
        clock_add(k, &s->arrived, mine);
        clock_unref(mine);
        for (rowmask_t left = same; left; left &= left - 1)
            arrivals += copies ? form_get(form, CAT_NOINC) : mode2 == MODE2_EXPECT_TX ? 1 : count[__builtin_ctz(left)];
    }
    /* lanes of this instruction that have already arrived at the next phase count too */
    if (phase_ended(s, word, arrivals)) {
        clock_add(k, &s->released, s->arrived);
        clock_set(&s->arrived, NULL);
    }
    s->word = word;
}

void sync_mbarrier(const struct now *n, struct check_cta *of, rowmask_t lanes, const uint64_t *at) {
    while (lanes) {
        uint64_t first = at[__builtin_ctz(lanes)], word;
        rowmask_t same = 0;
        for (rowmask_t left = lanes; left; left &= left - 1)
            same |= at[__builtin_ctz(left)] == first ? left & -left : 0;
        lanes &= ~same;
        struct sync_place *s = find_or_add(n->c->checker, &of->places, first);
        if (!s)
            return;
        memcpy(&word, of->cta->shared + first, sizeof word);
        if (!n->strong) { /* init or inval: the old object has ended, so its events are dropped */
            clock_set(&s->released, NULL);
            clock_set(&s->arrived, NULL);
            s->word = word;
            continue;
        }
        handle_mbarrier(n, of, s, same, first, word);
    }
}

/* ---- barriers of clusters ---- */

/* Returns the key of the barrier of a CTA's cluster. No address in device memory is as large. */
static uint64_t cluster_key(const struct check_cta *c) { return (1ull << 62) + c->cta->cluster->cta[0]->linear_id; }

/* A fast thread may arrive at the next phase before a slow thread has passed the last one. The slow thread then also
 * gets the events before that arrival, so a race may be missed. */
void sync_cluster_arrive(const struct now *n) {
    struct sync_place *s = find_or_add(n->c->checker, &n->c->checker->places, cluster_key(n->c));
    struct clock *mine = n->words & ORDER_RELAXED ? order_released(n) : order_everything(n);
    if (s)
        clock_add(&n->c->checker->clocks, &s->released, mine);
    clock_unref(mine);
}

void sync_cluster_wait(const struct now *n) {
    struct sync_place *s = find(&n->c->checker->places, cluster_key(n->c));
    if (s)
        order_acquire(n, s->released, false);
}
