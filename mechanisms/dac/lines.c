/* Requests the lines of the warps' records (prefetches) through the L1's tag port (lsu_join()). A line is locked from
 * its tag look-up until the warp has read it (section 4.2). A line that cannot be locked is read on demand like any
 * other line. */
#include "dac_parts.h"
#include <stdlib.h>
#include <string.h>

static uint32_t new_line(struct dac *d) {
    if (d->free_line == NO_LINE) {
        uint32_t cap = d->cap_lines ? 2 * d->cap_lines : 256;
        struct dac_line *l = realloc(d->line, cap * sizeof *l);
        if (!l)
            return NO_LINE;
        d->line = l;
        for (uint32_t i = d->cap_lines; i < cap; i++) {
            l[i].next = d->free_line;
            d->free_line = i;
        }
        d->cap_lines = cap;
    }
    uint32_t i = d->free_line;
    d->free_line = d->line[i].next;
    d->n_lines++;
    return i;
}

static void free_line(struct dac *d, uint32_t i) {
    d->line[i].next = d->free_line;
    d->free_line = i;
    d->n_lines--;
}

static void ask_soon(struct dac *d) { d->ask_at = d->due = 0; }

static void unlock_later(struct dac *d, uint64_t address) {
    if (d->n_unlock == d->cap_unlock) {
        uint32_t cap = d->cap_unlock ? 2 * d->cap_unlock : 64;
        uint64_t *u = realloc(d->unlock, cap * sizeof *u);
        if (!u) {
            d->out_of_memory = true;
            return;
        }
        d->unlock = u;
        d->cap_unlock = cap;
    }
    d->unlock[d->n_unlock++] = address;
    ask_soon(d);
}

/* Returns the record that the line belongs to. */
static struct dac_record *record_of(struct dac *d, const struct dac_line *l) {
    struct dac_queue *q = &d->queue[l->warp];
    return dac_record_at(q, (uint32_t)(l->serial - q->serial));
}

static void want(struct dac *d, uint32_t i) {
    d->line[i].state = LINE_WANTED;
    d->line[i].next_wanted = NO_LINE;
    if (d->wanted == NO_LINE)
        d->wanted = i;
    else
        d->line[d->last_wanted].next_wanted = i;
    d->last_wanted = i;
    ask_soon(d);
}

/* Handles a line that the L1 refused: requests it again from cycle `at` on, at its old place in the list. */
static void want_again(struct dac *d, uint32_t i, uint64_t at) {
    struct dac_line *l = &d->line[i];
    uint32_t before = NO_LINE, behind = d->wanted;
    for (; behind != NO_LINE && d->line[behind].order < l->order; behind = d->line[before].next_wanted)
        before = behind;
    l->state = LINE_WANTED;
    l->next_wanted = behind;
    l->again = at;
    if (before == NO_LINE)
        d->wanted = i;
    else
        d->line[before].next_wanted = i;
    if (behind == NO_LINE)
        d->last_wanted = i;
}

bool dac_want(struct dac *d, uint32_t slot, struct dac_record *r, const uint64_t *address, const uint8_t *sectors,
              uint32_t n) {
    const struct dac_queue *q = &d->queue[slot];
    r->locked = true;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = new_line(d);
        if (i == NO_LINE)
            return false;
        d->line[i] = (struct dac_line){.address = address[k],
                                       .order = d->ordered++,
                                       .serial = q->serial + q->n - 1,
                                       .next = r->line,
                                       .warp = slot,
                                       .sectors = sectors[k]};
        r->line = i;
        r->waiting++;
        d->n.lines++;
        want(d, i);
    }
    return true;
}

void dac_release(struct dac *d, struct dac_record *r, bool by_access) {
    for (uint32_t i = r->line, next; i != NO_LINE; i = next) {
        struct dac_line *l = &d->line[i];
        next = l->next;
        if (l->state == LINE_ASKED || l->state == LINE_COMING || l->state == LINE_WANTED) {
            d->queue[l->warp].asking -= l->state == LINE_ASKED;
            l->orphan = true; /* the CTA has ended without reading the line */
            continue;
        }
        if (l->state == LINE_LOCKED) {
            d->locked--;
            if (!by_access)
                unlock_later(d, l->address);
        }
        free_line(d, i);
    }
    r->line = NO_LINE;
}

/* Ends the request of a line, which has arrived and is locked (LINE_LOCKED) or will be read on demand
 * (LINE_WITHOUT). */
static void settle(struct dac *d, struct dac_line *l, enum line_state state, uint64_t now) {
    l->state = (uint8_t)state;
    if (l->orphan) {
        if (state == LINE_LOCKED) {
            d->locked--;
            unlock_later(d, l->address);
        }
        free_line(d, (uint32_t)(l - d->line));
        return;
    }
    struct dac_record *r = record_of(d, l);
    if (state == LINE_WITHOUT) {
        d->n.without++;
        r->locked = false;
    }
    if (!--r->waiting)
        sm_reconsider(d->sm, l->warp, now);
}

/* Returns true if the line may wait until a way of its set is unlocked. It must not wait if its record already holds a
 * lock, because two records that hold locks could wait for each other. It must not wait for ever, because a warp may
 * hold a lock for an access that it reaches only after other warps have continued. It must not wait if warps may sleep,
 * because sleeping warps hold most locks and wake only when this warp stops. */
static bool may_wait(struct dac *d, struct dac_line *l, uint64_t now) {
    if (l->orphan || !d->cfg->dac.lock_timeout || sm_may_sleep(d->sm))
        return false;
    for (uint32_t i = record_of(d, l)->line; i != NO_LINE; i = d->line[i].next)
        if (d->line[i].state == LINE_COMING || d->line[i].state == LINE_LOCKED)
            return false;
    if (l->since == NO_TIME)
        l->since = now;
    return now - l->since < d->cfg->dac.lock_timeout;
}

/* Handles a line for which the L1 had no free way, no MSHR, or no entry in its queue to memory. Requests the line
 * again, but only for a limited time: the warps that use these resources may poll memory until the warp that needs this
 * line has written there. */
static void refuse(struct dac *d, uint32_t i, uint64_t now) {
    struct dac_line *l = &d->line[i];
    if (l->refused == NO_TIME)
        l->refused = now;
    if (!l->orphan && now - l->refused >= PATIENCE)
        settle(d, l, LINE_WITHOUT, now);
    else
        want_again(d, i, now + RETRY_CYCLES);
}

static void answer(void *state, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    struct dac *d = state;
    dac_account(d, now); /* counts the cycles up to now, because tick() has not run in this cycle */
    if (tag == NO_LINE)  /* this is the reply to an unlock */
        return;
    struct dac_line *l = &d->line[tag];
    if (l->state == LINE_ASKED && !l->orphan) {
        d->queue[l->warp].asking--;
        ask_soon(d); /* the lines of the warp's next record may now be requested */
    }
    switch (a) {
    case PREFETCH_PRESENT:
    case PREFETCH_SENT:
    case PREFETCH_PENDING:
        d->locked++;
        if (d->locked > d->n.locked_max)
            d->n.locked_max = d->locked;
        if (a == PREFETCH_PRESENT)
            settle(d, l, LINE_LOCKED, now);
        else
            l->state = LINE_COMING;
        return;
    case PREFETCH_ARRIVED:
        settle(d, l, LINE_LOCKED, now);
        return;
    case PREFETCH_NO_LOCK:
        l->refused = NO_TIME;
        if (may_wait(d, l, now))
            want_again(d, tag, now + RETRY_CYCLES);
        else
            settle(d, l, LINE_WITHOUT, now);
        return;
    default:
        refuse(d, tag, now);
    }
}

static void room(void *state, uint64_t now) {
    struct dac *d = state;
    (void)now;
    d->ask_full = false;
    d->dirty = true;
}

const struct prefetcher_ops dac_requests = {.name = "dac", .answer = answer, .room = room};

static enum prefetch_asked ask(struct dac *d, uint64_t address, uint32_t tag, enum prefetch_want what, uint8_t sectors,
                               uint64_t now) {
    enum prefetch_asked a = prefetch_ask(
        d->l1, &(struct prefetch_request){.address = address, .tag = tag, .want = (uint8_t)what, .sectors = sectors},
        now);
    d->ask_full = a == PREFETCH_FULL; /* remains set until room() is called */
    return a;
}

/* Returns true if the line may be requested: the tag look-ups of the warp's earlier records are complete, and the retry
 * delay is over. */
static bool may_ask(const struct dac *d, const struct dac_line *l, uint64_t now) {
    const struct dac_queue *q = &d->queue[l->warp];
    return now >= l->again && (!q->asking || q->asked == l->serial);
}

/* Requests a line, unless its record was removed. Returns false if the L1's queue is full. */
static bool ask_line(struct dac *d, uint32_t i, uint64_t now) {
    struct dac_line *l = &d->line[i];
    struct dac_queue *q = &d->queue[l->warp];
    enum prefetch_asked a = PREFETCH_NEVER;
    if (!l->orphan)
        a = ask(d, l->address, i, PREFETCH_LOCK, l->sectors, now);
    if (a == PREFETCH_QUEUED) {
        l->state = LINE_ASKED;
        q->asking++;
        q->asked = l->serial;
    }
    return a != PREFETCH_FULL;
}

/* Requests lines, oldest first. A line that must wait also holds back later lines of its warp. So if a warp holds the
 * lock of a line, it also holds the locks of all lines that it reads before this line. */
static void ask_lines(struct dac *d, uint64_t now) {
    uint64_t passed[(CFG_MAX_SLOTS + 63) / 64] = {0};
    uint32_t before = NO_LINE;
    d->ask_at = UINT64_MAX;
    for (uint32_t i = d->wanted, next; i != NO_LINE; i = next) {
        struct dac_line *l = &d->line[i];
        uint64_t *word = &passed[l->warp / 64], bit = (uint64_t)1 << l->warp % 64;
        next = l->next_wanted;
        if (!l->orphan && (*word & bit || !may_ask(d, l, now))) {
            *word |= bit;
            if (l->again > now && l->again < d->ask_at)
                d->ask_at = l->again;
            before = i;
            continue;
        }
        if (!ask_line(d, i, now)) {
            d->ask_at = 0; /* the request is repeated as soon as the queue has room */
            return;
        }
        if (before == NO_LINE)
            d->wanted = next;
        else
            d->line[before].next_wanted = next;
        if (next == NO_LINE)
            d->last_wanted = before;
        if (l->state != LINE_ASKED)
            settle(d, l, LINE_WITHOUT, now);
    }
}

void dac_ask(struct dac *d, uint64_t now) {
    uint32_t done = 0;
    if (d->ask_full || now < d->ask_at || (!d->n_unlock && d->wanted == NO_LINE))
        return;
    while (done < d->n_unlock && ask(d, d->unlock[done], NO_LINE, PREFETCH_UNLOCK, 0, now) != PREFETCH_FULL)
        done++;
    d->n.unlocks += done;
    d->n_unlock -= done;
    if (d->n_unlock) /* memmove() must not get NULL, which `unlock` may be if n_unlock is 0 */
        memmove(d->unlock, d->unlock + done, d->n_unlock * sizeof *d->unlock);
    else
        ask_lines(d, now);
    sm_lsu_has_work(d->sm, now);
}

uint64_t dac_ask_next(const struct dac *d, uint64_t now) {
    if (d->ask_full || d->ask_at == UINT64_MAX || (!d->n_unlock && d->wanted == NO_LINE))
        return UINT64_MAX;
    return d->ask_at > now ? d->ask_at : now + 1;
}
