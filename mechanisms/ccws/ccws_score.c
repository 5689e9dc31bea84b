#include "ccws_score.h"

void ccws_raise(struct ccws_scores *s, uint32_t warp, uint64_t hits, uint64_t issued, uint32_t throttle,
                const struct warp_set *live, uint64_t now) {
    const uint64_t cutoff = ccws_cutoff(s, live);
    uint64_t score = hits * throttle * cutoff / (issued ? issued : 1);
    score = score < cutoff ? score : cutoff;
    if (score > s->base)
        s->until[warp] = max64(s->until[warp], now + score - s->base);
}

/* Lists the live warps, those with the highest scores first. Returns their number. */
static uint32_t order(const struct ccws_scores *s, const struct warp_set *live, uint64_t now,
                      uint16_t list[WARP_SLOTS]) {
    uint32_t n = 0, w;
    for (struct warp_walk at = warp_walk(live); warp_next(&at, live, s->words, &w); n++) {
        const uint64_t until = max64(s->until[w], now);
        uint32_t k = n;
        for (; k && max64(s->until[list[k - 1]], now) < until; k--)
            list[k] = list[k - 1];
        list[k] = (uint16_t)w;
    }
    return n;
}

void ccws_hold(struct ccws_scores *s, const struct warp_set *live, uint64_t now) {
    uint16_t list[WARP_SLOTS];
    const uint32_t n = order(s, live, now, list);
    const uint64_t cutoff = (uint64_t)s->base * n;
    uint64_t sum = 0, falling = 0; /* sum of the scores of the warps list[0 .. k]; number of these scores that fall */
    s->held = (struct warp_set){.word = {0}};
    s->n_held = 0;
    s->change = UINT64_MAX;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t until = s->until[list[k]];
        sum += s->base + (until > now ? until - now : 0);
        if (until > now) {
            falling++;
            s->change = min64(s->change, until); /* in cycle `until`, the order of the warps may change */
        }
        if (k == 0 || sum <= cutoff)
            continue;
        if (!s->n_held) /* this warp may load when `sum`, which falls by `falling` points a cycle, is at the cutoff */
            s->change = min64(s->change, now + (sum - cutoff + falling - 1) / falling);
        s->n_held++;
        warp_set_add(&s->held, list[k]);
    }
}
