/* Notes events of one SM in its buffer. */
#include "states.h"
#include "trace.h"
#include <stdlib.h>

void trace_note(struct trace *t, const struct trace_event *e) {
    if (e->from + t->shift < t->from || e->from + t->shift >= t->to)
        return;
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 1024;
        struct trace_event *grown = realloc(t->event, cap * sizeof *grown);
        if (!grown) {
            t->lost++;
            return;
        }
        t->event = grown;
        t->cap = cap;
    }
    t->event[t->n] = *e;
    t->event[t->n].from += t->shift;
    t->event[t->n++].to += t->shift;
}

void trace_state(struct trace *t, uint32_t warp, uint32_t path, uint8_t state, uint32_t pc, lanemask_t lanes,
                 uint64_t now) {
    struct trace_wait *w = &t->wait[warp][path];
    if (w->state == state && w->pc == pc && w->lanes == lanes)
        return;
    if (w->state >= N_PIPES && now - w->since >= t->shortest_wait)
        trace_note(t, &(struct trace_event){.from = w->since,
                                            .to = now,
                                            .pc = w->pc,
                                            .lanes = w->lanes,
                                            .row = warp,
                                            .kind = TRACE_WAIT,
                                            .path = (uint8_t)path,
                                            .what = w->state});
    *w = (struct trace_wait){.since = now, .pc = pc, .lanes = lanes, .state = state};
}
