#ifndef TEST_MECHANISMS_DAC_LINES_WATCH_H
#define TEST_MECHANISMS_DAC_LINES_WATCH_H
/* Checks which lines the affine warp's hardware requests, against the L1's answers: which lines wait for a lock and how
 * long, the order of the requests, and that no request is delayed. */
#include "mechanisms/dac/dac_parts.h"
#include "test/test.h"
#include "timing/sm/stages.h"
#include <stddef.h>
#include <stdio.h>

enum { LINES_MOST = 1 << 14, LINES_AGAIN = 32, LINES_NEVER = -1, LINES_PATIENCE = 10000 };

static struct lines_watch {
    struct dac *d;
    struct prefetcher_ops ops;
    uint64_t order[LINES_MOST];  /* 1 + serial number of the line that uses this slot */
    uint64_t again[LINES_MOST];  /* first cycle in which the line may be requested again */
    int64_t refused[LINES_MOST]; /* cycle in which a lock for the line was first refused */
    int64_t nothing[LINES_MOST]; /* cycle in which the latest series of answers PREFETCH_REFUSED began */
    uint64_t too_long;           /* number of lines whose series of PREFETCH_REFUSED lasted LINES_PATIENCE cycles */
    /* numbers of answers that refused a lock: waited: the line is requested again; gave_up: the line continues without
     * a lock; held: another line of the same queue entry already has a lock */
    uint64_t waited, gave_up, held;
    char what[300];
} lines;

#define LINES_CHECK(condition, now, ...)                                                                               \
    do {                                                                                                               \
        if (!(condition) && !lines.what[0]) {                                                                          \
            int n_ = snprintf(lines.what, sizeof lines.what, "cycle %llu: ", (unsigned long long)(now));               \
            snprintf(lines.what + n_, sizeof lines.what - (size_t)n_, __VA_ARGS__);                                    \
        }                                                                                                              \
    } while (0)

/* Resets the state of slot i if it now holds another line. */
static void lines_renew(uint32_t i) {
    if (lines.order[i] == lines.d->line[i].order + 1)
        return;
    lines.order[i] = lines.d->line[i].order + 1;
    lines.again[i] = 0;
    lines.refused[i] = lines.nothing[i] = LINES_NEVER;
}

static const struct dac_record *lines_record(const struct dac_line *l) {
    const struct dac_queue *q = &lines.d->queue[l->warp];
    return &q->record[(q->first + (l->serial - q->serial)) % q->cap];
}

static bool lines_holds(const struct dac_record *r) {
    for (uint32_t i = r->line; i != NO_LINE; i = lines.d->line[i].next)
        if (lines.d->line[i].state == LINE_COMING || lines.d->line[i].state == LINE_LOCKED)
            return true;
    return false;
}

/* Called in place of the unit's answer(). Computes the line's new state, and compares it with the unit's. */
static void lines_answer(void *state, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    const uint32_t longest = lines.d ? lines.d->cfg->dac.lock_timeout : 0;
    enum line_state want = a == PREFETCH_PRESENT || a == PREFETCH_ARRIVED ? LINE_LOCKED : LINE_COMING;
    if (!lines.d || tag == NO_LINE || tag >= LINES_MOST || lines.d->line[tag].orphan) {
        dac_requests.answer(state, tag, a, now);
        return;
    }
    lines_renew(tag);
    LINES_CHECK(lines.d->line[tag].state == (a == PREFETCH_ARRIVED ? LINE_COMING : LINE_ASKED), now,
                "answer for a line in state %u", lines.d->line[tag].state);
    if (a == PREFETCH_NO_LOCK) {
        const bool holds = lines_holds(lines_record(&lines.d->line[tag]));
        if (lines.refused[tag] == LINES_NEVER)
            lines.refused[tag] = (int64_t)now;
        want = !holds && now < (uint64_t)lines.refused[tag] + longest ? LINE_WANTED : LINE_WITHOUT;
        lines.held += holds;
        lines.waited += want == LINE_WANTED;
        lines.gave_up += want == LINE_WITHOUT;
        lines.nothing[tag] = LINES_NEVER;
    } else if (a == PREFETCH_REFUSED) {
        if (lines.nothing[tag] == LINES_NEVER)
            lines.nothing[tag] = (int64_t)now;
        want = now < (uint64_t)lines.nothing[tag] + LINES_PATIENCE ? LINE_WANTED : LINE_WITHOUT;
        lines.too_long += want == LINE_WITHOUT;
    }
    if (want == LINE_WANTED)
        lines.again[tag] = now + LINES_AGAIN;
    dac_requests.answer(state, tag, a, now);
    LINES_CHECK(lines.d->line[tag].state == want, now, "answer %d sets a line to state %u, not %d, refused since %lld",
                a, lines.d->line[tag].state, want, (long long)lines.refused[tag]);
}

/* Starts checking a launch of this unit. */
static void lines_begin(struct dac *d) {
    lines.d = d;
    if (!d)
        return;
    lines.ops = dac_requests;
    lines.ops.answer = lines_answer;
    /* d->l1 points to the field `place` of a struct prefetch_asker, whose answer() becomes lines_answer() */
    ((struct prefetch_asker *)(void *)((char *)(uintptr_t)d->l1 - offsetof(struct prefetch_asker, place)))->ops =
        &lines.ops;
    lines.waited = lines.gave_up = lines.held = lines.too_long = 0;
    lines.what[0] = '\0';
    memset(lines.order, 0, sizeof lines.order);
}

/* Called after the unit's tick. Checks the lines of a warp: each line that could be requested was requested, in the
 * right order, unless the L1's queue is full. */
static void lines_warp(uint32_t slot, uint64_t now) {
    const struct dac *d = lines.d;
    const struct dac_queue *q = &d->queue[slot];
    uint64_t asking = UINT64_MAX, oldest = UINT64_MAX;
    uint32_t wanted = NO_LINE;
    for (uint32_t n = 0; n < q->n; n++)
        for (uint32_t i = q->record[(q->first + n) % q->cap].line; i != NO_LINE; i = d->line[i].next) {
            const struct dac_line *l = &d->line[i];
            lines_renew(i);
            if (l->state == LINE_ASKED) {
                LINES_CHECK(asking == UINT64_MAX || asking == l->serial, now, "warp %u requests lines of two records",
                            slot);
                LINES_CHECK(oldest == UINT64_MAX || d->line[wanted].serial == l->serial, now,
                            "warp %u requests a record before an older one", slot);
                LINES_CHECK(now >= lines.again[i], now, "a line is requested again before %llu",
                            (unsigned long long)lines.again[i]);
                asking = l->serial;
            }
            if (l->state == LINE_WANTED && l->order < oldest) {
                oldest = l->order;
                wanted = i;
            }
        }
    if (wanted != NO_LINE && !d->ask_full && !d->n_unlock)
        LINES_CHECK(now < lines.again[wanted] || (asking != UINT64_MAX && asking != d->line[wanted].serial), now,
                    "line %llx of warp %u should have been requested", (unsigned long long)d->line[wanted].address,
                    slot);
}

static void lines_tick(uint64_t now) {
    LINES_CHECK(lines.d->cap_lines <= LINES_MOST, now, "%u lines", lines.d->cap_lines);
    for (uint32_t w = 0; w < lines.d->sm->warps.slots && !lines.what[0]; w++)
        lines_warp(w, now);
}
#endif
