/* Finds out whether all lanes of a CTA repeat the same steps forever (interp_watch.h). */
#include "interp_watch.h"
#include <stdlib.h>

/* Limit of recorded loop iterations per warp and turn, which keeps the cost low for loops that only count. */
enum { MAX_VISITS = 1024 };

enum { MAX_PAUSE = 64 }; /* in turns */

bool cta_watch_due(struct cta_run *r) {
    struct cta_watch *k = r->watch_memory;
    if (!k || !k->left)
        return true;
    k->left--;
    k->changes = true; /* a turn that is not watched may change something */
    return false;
}

void cta_watch_start(struct cta_run *r) {
    if (!r->watch_memory)
        return;
    r->watch_memory->changes = true;
    r->watch_memory->pause = r->watch_memory->left = 0;
}

void cta_watch_begin(struct cta_run *r) {
    uint32_t n = r->cta->n_warps;
    if (r->cta->n_rows > n) /* the watch follows registers of one row */
        return;
    if (!r->watch_memory)
        r->watch_memory = calloc(1, sizeof *r->watch_memory + n * sizeof r->watch_memory->warp[0]);
    r->watch = r->watch_memory;
    for (uint32_t w = 0; r->watch && w < n; w++)
        if (r->watch->changes)
            repeat_forget(&r->watch->warp[w]);
        else
            repeat_again(&r->watch->warp[w]);
    if (!r->watch)
        return;
    r->watch->changes = r->watch->waits = false;
    r->watch->watched = true;
}

void cta_watch_end(struct cta_run *r) {
    struct cta_watch *k = r->watch_memory;
    if (!k || !k->watched)
        return;
    const bool changed = !r->watch; /* the turn has changed something, so its pause stays as it was */
    if (!changed && (k->waits || cta_watch_repeats(r)))
        k->pause = 0;
    else if (!changed && k->pause < MAX_PAUSE)
        k->pause = k->pause ? 2 * k->pause : 1;
    k->left = k->pause;
    k->watched = false;
    r->watch = NULL;
}

void cta_watch_free(struct cta_run *r) {
    for (uint32_t w = 0; r->watch_memory && w < r->cta->n_warps; w++)
        repeat_free(&r->watch_memory->warp[w]);
    free(r->watch_memory);
    r->watch = r->watch_memory = NULL;
}

void cta_watch_forget(struct cta_run *r, uint32_t w) {
    if (r->watch)
        repeat_forget(&r->watch->warp[w]);
}

void cta_watch_changed(struct cta_run *r) {
    if (!r->watch)
        return;
    r->watch->changes = true;
    r->watch = NULL; /* a turn that changes something makes progress, so its further steps need not be watched */
}

void cta_watch_note(struct cta_run *r, const struct warp *w, const struct inst *in, lanemask_t lanes) {
    struct repeat_warp *known = &r->watch->warp[w->index];
    uint32_t pc = (uint32_t)(in - w->program->code);
    switch (inst_repeats(w, in, lanes, &r->fx)) {
    case REPEAT_CHANGES:
        cta_watch_changed(r);
        break;
    case REPEAT_ALONE:
        repeat_forget(known);
        break;
    case REPEAT_UNKNOWN:
        repeat_unknown(known);
        break;
    case REPEAT_FINE:
        if (in->ends_block & BLOCK_WAITS) {
            r->watch->waits = true;
            repeat_wait(known, r->fx.taken);
        }
        if (in->kind == K_BRANCH && in->target <= pc && r->fx.taken && known->visits < MAX_VISITS)
            repeat_visit(known, w, pc, r->fx.taken);
        break;
    }
}

bool cta_watch_repeats(const struct cta_run *r) {
    if (!r->watch || r->watch->changes)
        return false;
    for (uint32_t w = 0; w < r->cta->n_warps; w++)
        if (!r->warps[w].done && control_may_run(&r->warps[w].control) & ~r->watch->warp[w].repeats)
            return false;
    return true;
}
