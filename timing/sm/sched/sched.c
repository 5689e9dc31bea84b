#include "sched.h"
#include "isa/hot_assert.h"
#include <stdlib.h>
#include <string.h>

const struct sched_ops *const sched_built_in[] = {
#define SCHEDULER(name) &sched_##name,
#include "timing/config/policies.def"
    NULL,
};

static const struct sched_ops *selected(const struct sm_cfg *cfg) {
    uint32_t i = 0;
    while (i < cfg->policy && sched_built_in[i])
        i++;
    /* the choice may be a policy of a mechanism, which the caller must then pass to sched_init() as `ops` */
    return sched_built_in[i] ? sched_built_in[i] : &sched_lrr;
}

bool sched_init(struct sched *s, const struct sched_ops *ops, const struct sm_cfg *cfg, uint32_t index) {
    memset(s, 0, sizeof *s);
    s->ops = ops ? ops : selected(cfg);
    s->other = s->ops == &sched_lrr ? NULL : s->ops;
    s->hears = s->ops->issued || s->ops->executed;
    s->words = 1;
    for (uint32_t w = 0; w < sm_warp_slots(cfg); w++)
        if (sched_of(cfg, w) == index)
            sched_add(s, w);
    /* with this value, lrr begins with warp 0, and gto begins with the oldest ready warp unless slot 63 is ready */
    s->last = s->words == 1 ? 63 : NO_WARP_SLOT;
    if (!s->ops->size)
        return true;
    s->state = calloc(1, s->ops->size(cfg));
    if (s->state && s->ops->init)
        s->ops->init(s->state, cfg);
    return s->state != NULL;
}

void sched_free(struct sched *s) {
    free(s->state);
    s->state = NULL;
}

void sched_add(struct sched *s, uint32_t w) {
    warp_set_add(&s->mine, w);
    if (s->words <= w / 64)
        s->words = w / 64 + 1;
}

static struct sched_view view(const struct sched *s, const uint32_t *age, uint32_t words) {
    return (struct sched_view){.mine = &s->mine, .words = words, .last = s->last, .age = age, .sm = s->sm};
}

int sched_pick_other(const struct sched *s, const struct warp_set *ready, const uint32_t *age, uint32_t words) {
    const struct sched_view v = view(s, age, words);
    int w = s->ops->pick(s->state, &v, ready);
    hot_assert(w < 0 || warp_set_has(ready, (uint32_t)w));
    return w;
}

void sched_tell_issued(const struct sched *s, uint32_t w) {
    const struct sched_view v = view(s, NULL, s->words);
    if (s->ops->issued)
        s->ops->issued(s->state, &v, w);
}

void sched_tell_executed(const struct sched *s, const struct sched_executed *e) {
    const struct sched_view v = view(s, NULL, s->words);
    if (s->ops->executed)
        s->ops->executed(s->state, &v, e);
}

void sched_warp_starts(const struct sched *s, uint32_t w) {
    const struct sched_view v = view(s, NULL, s->words);
    if (s->ops->warp_starts)
        s->ops->warp_starts(s->state, &v, w);
}

void sched_warp_ends(const struct sched *s, uint32_t w) {
    const struct sched_view v = view(s, NULL, s->words);
    if (s->ops->warp_ends)
        s->ops->warp_ends(s->state, &v, w);
}

void sched_cycle_ends(const struct sched *s, const struct warp_set *live, const struct warp_set *parked) {
    const struct sched_view v = view(s, NULL, s->words);
    if (s->ops->cycle_ends)
        s->ops->cycle_ends(s->state, &v, live, parked);
}
