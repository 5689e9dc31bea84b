#include "prefetch.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

struct prefetch_asker *prefetchers_add(struct prefetchers *p, const struct prefetcher_ops *ops, void *state, void *ctx,
                                       const struct config *cfg, const struct prefetch_place *place) {
    assert(p->n < PREFETCHERS_MAX);
    struct prefetch_asker *a = &p->asker[p->n];
    *a = (struct prefetch_asker){.ops = ops, .state = state, .made = !state, .place = *place};
    a->place.who = p->n;
    if (!state && !(a->state = ops->make(cfg, &a->place, ctx)))
        return NULL;
    if (ops->observe)
        p->observe[p->n_observe++] = (uint8_t)p->n;
    if (ops->evicted)
        p->evicted[p->n_evicted++] = (uint8_t)p->n;
    p->n++;
    return a;
}

void prefetchers_free(struct prefetchers *p) {
    for (uint32_t i = 0; i < p->n; i++)
        if (p->asker[i].made && p->asker[i].ops->free)
            p->asker[i].ops->free(p->asker[i].state);
    p->n = p->n_observe = p->n_evicted = 0;
}

void prefetchers_answer(struct prefetchers *p, uint32_t who, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    struct prefetch_asker *k = &p->asker[who];
    k->n.present += a == PREFETCH_PRESENT;
    k->n.pending += a == PREFETCH_PENDING;
    k->n.sent += a == PREFETCH_SENT;
    k->n.refused += a == PREFETCH_REFUSED;
    k->n.no_lock += a == PREFETCH_NO_LOCK;
    if (k->ops->answer)
        k->ops->answer(k->state, tag, a, now);
}

void prefetchers_seen(struct prefetchers *p, struct prefetch_seen *s, uint8_t by, uint16_t note) {
    s->first_use = by != 0;
    s->note = note;
    if (by && by <= p->n) {
        p->asker[by - 1].n.useful++;
        p->asker[by - 1].n.late += s->late;
    }
    for (uint32_t i = 0; i < p->n_observe; i++) {
        const struct prefetch_asker *a = &p->asker[p->observe[i]];
        s->own = by == p->observe[i] + 1;
        a->ops->observe(a->state, s);
    }
}

void prefetchers_evicted(struct prefetchers *p, struct prefetch_victim *v, uint8_t by, uint16_t note) {
    v->unused = by != 0;
    v->note = note;
    if (by && by <= p->n)
        p->asker[by - 1].n.unused++;
    for (uint32_t i = 0; i < p->n_evicted; i++) {
        const struct prefetch_asker *a = &p->asker[p->evicted[i]];
        v->own = by == p->evicted[i] + 1;
        a->ops->evicted(a->state, v);
    }
}

void prefetchers_room(struct prefetchers *p, uint64_t now) {
    for (uint32_t i = 0; i < p->n; i++) {
        struct prefetch_asker *a = &p->asker[i];
        if (!a->turned)
            continue;
        a->turned = false;
        if (a->ops->room)
            a->ops->room(a->state, now);
    }
}

void prefetchers_stats(struct prefetchers *p, struct stats *s) {
    for (uint32_t i = 0; i < p->n; i++) {
        struct prefetch_asker *a = &p->asker[i];
        if (a->ops->stats)
            a->ops->stats(a->state, &a->n, s);
        memset(&a->n, 0, sizeof a->n);
    }
}

int prefetchers_describe(const struct prefetchers *p, char *out, size_t size) {
    int at = 0;
    for (uint32_t i = 0; i < p->n && at >= 0 && (size_t)at < size; i++) {
        const struct prefetch_asker *a = &p->asker[i];
        if (!a->ops->describe)
            continue;
        at += snprintf(out + at, size - (size_t)at, "; %s: ", a->ops->name);
        if (at >= 0 && (size_t)at < size)
            at += a->ops->describe(a->state, out + at, size - (size_t)at);
    }
    return at;
}
