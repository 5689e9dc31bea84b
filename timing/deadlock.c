#include "deadlock.h"
#include <stdlib.h>

/* Prints up to `warps` warps, then the number of further warps. */
static void print_warps(struct sm *const *sm, uint32_t n, uint32_t warps, FILE *out) {
    uint32_t shown = 0, stuck = 0;
    for (uint32_t i = 0; i < n; i++) {
        stuck += sm_describe(sm[i], warps - shown, out);
        shown = stuck < warps ? stuck : warps;
    }
    if (stuck > shown)
        fprintf(out, "  and %u more warp%s\n", stuck - shown, stuck - shown == 1 ? "" : "s");
}

/* Returns a report; `clock` is the SM whose clock does not advance, or NULL. */
static char *report(struct sm *const *sm, uint32_t n, uint32_t warps, struct sm *clock, const char *why) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    fprintf(out, "%s\n", why);
    if (clock)
        sm_describe_clock(clock, sm_status(clock)->fault_cycle, out);
    print_warps(sm, n, warps, out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *deadlock_report(struct sm *const *sm, uint32_t n, uint32_t warps, const char *why) {
    return report(sm, n, warps, NULL, why);
}

char *standstill_report(struct sm *const *sm, uint32_t n, struct sm *at, const char *why) {
    enum { FEW = 4 };
    return report(sm, n, FEW, at, why);
}
