#include "deadlock.h"
#include <stdlib.h>

/* Prints up to `warps` warps, then the number of further warps. */
static void print_warps(struct sm *const *sm, uint32_t n, uint32_t warps, FILE *out) {
    uint32_t shown = 0, stuck = 0;
    for (uint32_t i = 0; i < n; i++) {
        stuck += sm_describe(sm[i], warps - shown, out);
        shown = stuck < warps ? stuck : warps;
    }
    print_more_warps(stuck - shown, out);
}

/* Whose warps a report shows. */
struct shown {
    struct sm *const *sm;
    uint32_t n, most;            /* number of SMs; most warps */
    struct sm *clock;            /* the SM whose clock does not advance, or NULL */
    const struct dead_cta *dead; /* only the warps of this CTA; NULL: all warps */
};

static char *report(const struct shown *s, const char *why) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    fprintf(out, "%s\n", why);
    if (s->clock)
        sm_describe_clock(s->clock, sm_status(s->clock)->fault_cycle, out);
    if (s->dead)
        sm_describe_cta(s->sm[s->dead->sm], s->dead->slot, s->most, out);
    else
        print_warps(s->sm, s->n, s->most, out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *deadlock_report(struct sm *const *sm, uint32_t n, uint32_t warps, const struct dead_cta *dead, const char *why) {
    return report(&(struct shown){.sm = sm, .n = n, .most = warps, .dead = dead}, why);
}

char *standstill_report(struct sm *const *sm, uint32_t n, struct sm *at, const char *why) {
    enum { FEW = 4 };
    return report(&(struct shown){.sm = sm, .n = n, .most = FEW, .clock = at}, why);
}
