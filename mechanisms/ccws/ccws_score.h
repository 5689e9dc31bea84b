#ifndef CCWS_SCORE_H
#define CCWS_SCORE_H
/* The scores of an SM's warps, and the warps that they keep from loading. A score above the base score falls by one
 * point a cycle. The live warps are ordered by score, the highest first; equal scores by slot. A warp may load if the
 * scores of the warps up to and including itself add up to at most the cutoff, which is the base score times the
 * number of live warps. The first warp may always load. */
#include "timing/config/warp_set.h"

struct ccws_scores {
    uint32_t base, words;       /* words: number of words of `live` in use */
    uint64_t until[WARP_SLOTS]; /* cycle in which the score of the warp has fallen to the base score */
    struct warp_set held;       /* live warps that may not load */
    uint32_t n_held;
    uint64_t change; /* first cycle in which `held` may change by itself; UINT64_MAX: never */
};

static inline uint64_t ccws_cutoff(const struct ccws_scores *s, const struct warp_set *live) {
    return (uint64_t)s->base * warp_set_count(live, s->words);
}
/* Raises the score of a warp that lost locality. The new score is `hits` / `issued` * `throttle` * cutoff, at most the
 * cutoff; a higher present score stays. `hits` and `issued` count the SM's hits of victim tags and its instructions. */
void ccws_raise(struct ccws_scores *s, uint32_t warp, uint64_t hits, uint64_t issued, uint32_t throttle,
                const struct warp_set *live, uint64_t now);
/* Computes `held` and `change` for cycle `now`. */
void ccws_hold(struct ccws_scores *s, const struct warp_set *live, uint64_t now);
#endif
