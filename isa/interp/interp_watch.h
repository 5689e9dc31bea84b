#ifndef ISA_INTERP_WATCH_H
#define ISA_INTERP_WATCH_H
/* Detects CTAs that repeat the same steps forever. The first turn of a CTA is not watched, since most CTAs end in
 * their first turn. Only a CTA that runs long or waits for others has more turns. */
#include "interp_warp.h"
#include "isa/paths/repeat.h"

struct cta_watch {
    bool changes; /* in this turn the CTA may have ended another thread's wait */
    struct repeat_warp warp[];
};

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
