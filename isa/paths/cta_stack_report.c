/* Lists the paths of a warp for reports. */
#include "cta_stack.h"

int cta_stack_describe(const void *st, struct path_desc *out, int max) {
    static const char *const words[] = {"in the top entry", "polls", "waits", "waits for other warps at a branch"};
    const struct cta_stack_warp *w = st;
    const struct cta_stack *s = w->s;
    lanemask_t seen = 0;
    int n = 0;
    for (uint16_t i = 0; i < MAX_WARP_LANES && n < max; i++) {
        const struct cta_path *p = &w->path[i];
        if (!p->lanes)
            continue;
        bool below = p->state <= CTA_POLLS && !cta_stack_is_top(s, p->node);
        seen |= p->lanes;
        out[n++] =
            (struct path_desc){.path = {.pc = p->state == CTA_ARRIVED ? p->site : p->pc, .lanes = p->lanes, .id = i},
                               .state = below ? "below, waits for the entries above" : words[p->state],
                               .rpc = s->node[p->node].rpc};
    }
    for (uint32_t i = s->high; i-- > 0 && n < max;) {
        lanemask_t m = s->node[i].used ? cta_stack_lanes(s, i)[w->warp] & ~seen : 0;
        if (!m)
            continue;
        seen |= m;
        out[n++] = (struct path_desc){.path = {.pc = s->node[i].pc, .lanes = m, .id = MAX_WARP_LANES},
                                      .state = "waits for other threads of the CTA to reconverge",
                                      .rpc = s->node[i].rpc};
    }
    return n;
}

int cta_stack_depth(const void *st) {
    const struct cta_stack *s = ((const struct cta_stack_warp *)st)->s;
    int n = 0;
    for (uint32_t i = 0; i < s->high; i++)
        n += s->node[i].used;
    return n;
}
