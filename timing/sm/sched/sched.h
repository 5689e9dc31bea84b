#ifndef TIMING_SCHED_H
#define TIMING_SCHED_H
/* A warp scheduler: its warps, and the policy that picks one of them. sched_of() gives the warps to the schedulers. */
#include "sched_ops.h"

struct sched {
    const struct sched_ops *other; /* NULL: the policy is lrr, which sched_pick() implements inline */
    const struct sched_ops *ops;
    void *state;    /* state of the policy; NULL: the policy has no state */
    uint32_t words; /* number of words in use in each warp_set */
    uint16_t last;  /* warp that issued last */
    bool hears;     /* ops->issued or ops->executed exists */
    struct warp_set mine;
    const struct sched_sm *sm; /* NULL: none */
};

/* Initialises scheduler `index` of an SM. If `ops` is NULL, it uses the built-in policy that `cfg` selects. Returns
 * false if memory is out. */
bool sched_init(struct sched *s, const struct sched_ops *ops, const struct sm_cfg *cfg, uint32_t index);
void sched_free(struct sched *s);
/* Adds warp slot `w` to the scheduler's warps. */
void sched_add(struct sched *s, uint32_t w);

/* Call the functions of the policy. sched_pick_other() returns the warp that pick() selects. The other functions report
 * events, and do nothing if the policy lacks the function. */
int sched_pick_other(const struct sched *s, const struct warp_set *ready, const uint32_t *age, uint32_t words);
void sched_tell_issued(const struct sched *s, uint32_t w);
void sched_tell_executed(const struct sched *s, const struct sched_executed *e);
void sched_warp_starts(const struct sched *s, uint32_t w);
void sched_warp_ends(const struct sched *s, uint32_t w);
void sched_cycle_ends(const struct sched *s, const struct warp_set *live, const struct warp_set *parked);

/* Returns the warp of `ready` that issues, or -1 for no warp. `ready` is a subset of s->mine and not empty. age[w] is
 * smaller for warps that started earlier. `words` is the number of words of `ready` in use, at least s->words. */
static inline int sched_pick(const struct sched *s, const struct warp_set *ready, const uint32_t *age, uint32_t words) {
    if (__builtin_expect(s->other != NULL, 0))
        return sched_pick_other(s, ready, age, words);
    return (int)warp_set_after(ready, s->last, words);
}
/* Records that the warp issues. sched_issued() also tells the policy. */
static inline void sched_set_last(struct sched *s, int warp) { s->last = (uint16_t)warp; }
static inline void sched_issued(struct sched *s, int warp) {
    sched_set_last(s, warp);
    if (__builtin_expect(s->hears, 0))
        sched_tell_issued(s, (uint32_t)warp);
}
#endif
