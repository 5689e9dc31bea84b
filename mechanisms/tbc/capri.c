#include "capri.h"
#include <string.h>

static struct capri_entry *find(struct capri *c, uint32_t pc, bool diverges) {
    for (uint32_t i = 0; i < c->n; i++)
        if (c->entry[i].pc == pc)
            return &c->entry[i];
    if (!diverges || c->n == CAPRI_ENTRIES)
        return NULL;
    c->entry[c->n] = (struct capri_entry){.pc = pc, .adequate = true};
    return &c->entry[c->n++];
}

/* Returns how many compacted warps the threads that take one direction of a branch need. need[l] of these threads are
 * in lane l. Each thread keeps its lane, so the result is the number of threads in the fullest lane. */
static uint32_t fullest(const uint16_t need[MAX_WARP_LANES]) {
    uint32_t most = 0;
    for (int l = 0; l < MAX_WARP_LANES; l++)
        most = need[l] > most ? need[l] : most;
    return most;
}

bool capri_arrive(void *capri, uint32_t pc, const struct target *t, int n, uint32_t set) {
    struct capri *c = capri;
    struct capri_entry *e = find(c, pc, n > 1);
    if (!e)
        return false;
    bool waits = e->adequate;
    for (int i = 0; i < n; i++)
        for (lanemask_t m = t[i].lanes; m; m &= m - 1)
            e->need[t[i].pc == pc + 1][lanes_first(m)]++;
    e->plain += (uint32_t)n;
    if (++e->arrived >= set) {
        e->adequate = fullest(e->need[0]) + fullest(e->need[1]) < e->plain;
        e->arrived = e->plain = 0;
        memset(e->need, 0, sizeof e->need);
    }
    return waits;
}
