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
/* If the CTA is watched, records that path `lanes` executed `in` with the effects r->fx. */
void cta_watch_note(struct cta_run *r, const struct warp *w, const struct inst *in, lanemask_t lanes);
/* If the CTA is watched, records that something other than an instruction of warp `w` moved this warp. */
void cta_watch_forget(struct cta_run *r, uint32_t w);
/* If the CTA is watched, records an event that may end another thread's wait. */
void cta_watch_changed(struct cta_run *r);
/* True if this turn changed nothing and every runnable lane repeats its steps. False if not watched. */
bool cta_watch_repeats(const struct cta_run *r);
#endif
