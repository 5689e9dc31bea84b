#ifndef ISA_INTERP_WATCH_H
#define ISA_INTERP_WATCH_H
/* Detects CTAs that repeat the same steps forever. The first turn of a CTA is not watched, since most CTAs end in
 * their first turn. Only a CTA that runs long or waits for others has more turns. */
#include "interp_warp.h"
#include "isa/paths/repeat.h"

struct cta_watch {
    bool changes; /* in this turn the CTA may have ended another thread's wait */
    bool waits;   /* in this turn a path was in a loop that waits for other threads */
    bool watched; /* this turn was watched from its begin */
    /* number of turns that are not watched after a watched turn; how many of them are left. A watched turn is
     * interpreted, which is slow for a CTA that computes for a long time without changing memory. */
    uint32_t pause, left;
    struct repeat_warp warp[];
};

/* Returns true if the next turn shall be watched. The pause doubles, up to 64 turns, after a turn without a result. A
 * turn in which the CTA repeated its steps or waited for other threads ends the pauses. */
bool cta_watch_due(struct cta_run *r);
/* Forgets the pauses of an earlier CTA. */
void cta_watch_start(struct cta_run *r);
/* Starts watching a turn. Without memory the CTA is not watched. */
void cta_watch_begin(struct cta_run *r);
/* Stops watching until the next cta_watch_begin(). */
void cta_watch_end(struct cta_run *r);
/* Frees the watch. */
void cta_watch_free(struct cta_run *r);
/* Records that path `lanes` executed `in` with the effects r->fx, if the CTA is watched. */
void cta_watch_note(struct cta_run *r, const struct warp *w, const struct inst *in, lanemask_t lanes);
/* Records that something other than an instruction of warp `w` moved this warp, if the CTA is watched. */
void cta_watch_forget(struct cta_run *r, uint32_t w);
/* Records an event that may end another thread's wait, if the CTA is watched. */
void cta_watch_changed(struct cta_run *r);
/* Returns true if this turn changed nothing and every runnable lane repeats its steps. False if not watched. */
bool cta_watch_repeats(const struct cta_run *r);
#endif
