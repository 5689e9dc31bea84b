#include "deadlock.h"
#include <stdlib.h>

char *deadlock_report(struct sm *const *sm, uint32_t n, uint32_t warps, const char *why) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    fprintf(out, "%s\n", why);
    uint32_t shown = 0, stuck = 0;
    for (uint32_t i = 0; i < n; i++) {
        stuck += sm_describe(sm[i], warps - shown, out);
        shown = stuck < warps ? stuck : warps;
    }
    if (stuck > shown)
        fprintf(out, "  and %u more warp%s\n", stuck - shown, stuck - shown == 1 ? "" : "s");
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
