/* Bars of instructions. An instruction is in flight from its issue to its result, and a warp has several in flight
 * at once. The viewer drops bars of one track that overlap unless one contains the other. Each bar therefore uses
 * the first free track of its warp. The first track has most of the bars, and the other tracks have the bars that
 * would overlap. */
#include "trace.h"
#include <stdlib.h>

struct trace_bar {
    uint64_t from, until; /* begin and end; an open bar has no end yet, so its track is not free */
    uint32_t pc;
    lanemask_t lanes, left; /* left: lanes that have no result yet (a split load has two results) */
    bool open;              /* the result has not been written yet */
    /* the instruction waits for other lanes of its member mask, and may complete when they arrive */
    bool waits;
    bool early; /* the end was recorded before the issue */
};

static void draw(struct trace *t, uint32_t warp, struct trace_bar *b, uint64_t to, bool missed, bool unfinished) {
    b->open = false;
    b->until = to > b->from ? to : b->from + 1;
    trace_note(t, &(struct trace_event){.from = b->from,
                                        .to = b->until,
                                        .pc = b->pc,
                                        .lanes = b->lanes,
                                        .row = warp,
                                        .kind = TRACE_INST,
                                        .path = (uint8_t)(b - t->bars[warp].row),
                                        .missed = missed,
                                        .unfinished = unfinished});
}

static struct trace_bar *more_rows(struct trace *t, struct trace_bars *w) {
    uint32_t cap = w->n ? 2 * w->n : 4;
    struct trace_bar *row = w->n < TRACE_INST_TRACKS ? realloc(w->row, cap * sizeof *row) : NULL;
    if (!row) {
        t->lost++;
        return NULL;
    }
    w->row = row;
    for (uint32_t i = w->n; i < cap; i++)
        row[i] = (struct trace_bar){0};
    row += w->n;
    w->n = cap;
    return row;
}

/* Begins a bar on the first track that is free at `from`. Returns NULL if memory runs out or the warp has all
 * TRACE_INST_TRACKS tracks; the event is then lost. */
static struct trace_bar *begin(struct trace *t, uint32_t warp, uint32_t pc, lanemask_t lanes, uint64_t from) {
    struct trace_bars *w = &t->bars[warp];
    struct trace_bar *b = NULL;
    for (uint32_t i = 0; i < w->n && !b; i++)
        if (!w->row[i].open && w->row[i].until <= from)
            b = &w->row[i];
    if (!b && !(b = more_rows(t, w)))
        return NULL;
    *b = (struct trace_bar){.from = from, .pc = pc, .lanes = lanes, .left = lanes, .open = true};
    return b;
}

void trace_issue(struct trace *t, uint32_t warp, uint32_t pc, lanemask_t lanes, uint64_t now, enum trace_issue how) {
    struct trace_bars *w = &t->bars[warp];
    for (uint32_t i = 0; i < w->n; i++) {
        struct trace_bar *b = &w->row[i];
        if (b->early && b->from == now && b->pc == pc && b->lanes == lanes) {
            b->early = false;
            return;
        }
    }
    struct trace_bar *b = begin(t, warp, pc, lanes, now);
    if (b && how == TRACE_ISSUE_ENDS)
        draw(t, warp, b, now + 1, false, false);
    else if (b)
        b->waits = how == TRACE_ISSUE_WAITS;
}

void trace_written(struct trace *t, uint32_t warp, const struct trace_event *e) {
    struct trace_bars *w = &t->bars[warp];
    bool found = false;
    for (uint32_t i = 0; i < w->n; i++) {
        struct trace_bar *b = &w->row[i];
        bool own = !found && !b->waits && b->from == e->from && !(e->lanes & ~b->lanes);
        bool brought = b->waits && b->lanes & e->lanes;
        if (!b->open || b->pc != e->pc || !(own || brought))
            continue;
        found = true;
        b->left &= b->waits ? 0 : ~e->lanes;
        if (!b->left)
            draw(t, warp, b, e->to, e->missed, false);
    }
    struct trace_bar *b = found ? NULL : begin(t, warp, e->pc, e->lanes, e->from);
    if (!b)
        return;
    b->early = true;
    draw(t, warp, b, e->to, e->missed, false);
}

void trace_bars_end(struct trace *t, uint32_t warp, uint64_t now) {
    struct trace_bars *w = &t->bars[warp];
    for (uint32_t i = 0; i < w->n; i++)
        if (w->row[i].open)
            draw(t, warp, &w->row[i], now, false, true);
}

void trace_bars_free(struct trace *t) {
    for (uint32_t w = 0; w < WARP_SLOTS; w++)
        free(t->bars[w].row);
}
