#ifndef ISA_INTERP_WATCH_H
#define ISA_INTERP_WATCH_H
/* Does a CTA of the interpreter do the same again and again? It is watched in the turns after its first, which it only
 * needs when it runs long or waits for others. */
#include "interp_warp.h"
#include "isa/paths/repeat.h"

struct cta_watch {
    bool changes; /* it did something in this turn that may end somebody's waiting */
    struct repeat_warp warp[];
};

/* A turn begins, with nothing known. Without memory the CTA is not watched. */
void cta_watch_begin(struct cta_run *r);
/* Stops until the next cta_watch_begin(). */
void cta_watch_end(struct cta_run *r);
void cta_watch_free(struct cta_run *r);
/* While watched: `in` was executed by the path `lanes` as r->fx tells. */
void cta_watch_note(struct cta_run *r, const struct warp *w, const struct inst *in, lanemask_t lanes);
/* While watched: warp `w` was moved by something other than its own instructions. */
void cta_watch_forget(struct cta_run *r, uint32_t w);
/* While watched: something happened that may end somebody's waiting. */
void cta_watch_changed(struct cta_run *r);
/* Has this turn changed nothing, and does every lane that may run repeat itself? False when it is not watched. */
bool cta_watch_repeats(const struct cta_run *r);
#endif
