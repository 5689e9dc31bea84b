#include "walker.h"
#include "isa/machine/lazy.h"
#include "isa/walk.h"
#include "lsu_parts.h"
#include <stdlib.h>

bool walker_init(struct walker *w, const struct walk_cfg *cfg) {
    w->size = cfg->warps + cfg->queue;
    w->next = NEVER;
    w->walk = lazy_new(w->size * sizeof *w->walk);
    w->order = calloc(w->size, sizeof *w->order);
    w->access = lazy_new(LSU_SLOTS * sizeof *w->access);
    if (!w->walk || !w->order || !w->access)
        return false;
    for (uint32_t i = 0; i < w->size; i++)
        w->order[i] = (uint16_t)i;
    return true;
}

void walker_free(struct walker *w) {
    lazy_free(w->walk);
    free(w->order);
    lazy_free(w->access);
}

/* Returns true if the walker can accept one more instruction. Half of the LSU's slots stay free for the accesses of
 * walks, because no walk ends without them. */
bool walker_has_place(const struct walker *w) { return w->n < w->size && w->n < LSU_SLOTS / 2; }

void walker_accept(struct lsu *l, const struct lsu_access *a, uint16_t slot, uint64_t now) {
    struct walker *w = &l->walker;
    struct walk *k = &w->walk[w->order[w->n++]];
    *k = (struct walk){
        .came = now, .next = now + 1, .left = a->lanes, .pc = a->pc, .tag = a->tag, .slot = slot, .warp = a->warp};
    for (lanemask_t m = a->lanes; m; m &= m - 1) {
        unsigned lane = lanes_first(m);
        const uint64_t *list = (const uint64_t *)(uintptr_t)a->addr[lane];
        k->ray[lane] = (struct ray){.at = list + 1, .end = list + 1 + list[0], .ready = now + 1};
        w->n_of.rays++;
    }
    l->n_others++;
    w->next = min64(w->next, now + 1);
    l->status.next = min64(l->status.next, now + 1);
}

/* Sends an access of `lanes` to the L1, or past the L1 if there is none. Returns false if there is no room. */
static bool send(struct lsu *l, const struct walk *k, uint64_t address, lanemask_t lanes, uint64_t now) {
    struct lsu_pipe *p = &l->pipe[PIPE_L1];
    if (l->status.n_free <= l->status.n_done + 1 || (p->present && lsu_pipe_full(p)))
        return false;
    uint16_t slot = l->free_slot[l->status.n_free - 1];
    /* lsu_missed() and lsu_known() never return this slot, because `missed` is already set and `unread` stays above
     * 0 */
    l->slot[slot] = (struct lsu_slot){.tag = UINT32_MAX, .pending = 1, .unread = 2, .missed = true, .walks = true};
    l->walker.access[slot] = (struct walk_access){.lanes = lanes, .walk = (uint16_t)(k - l->walker.walk)};
    const struct line_op op = {.address = address & ~(uint64_t)(WALK_BYTES - 1),
                               .lanes = lanes,
                               .pc = k->pc,
                               .slot = slot,
                               .bytes = WALK_BYTES,
                               .sectors = (1u << WALK_BYTES / SECTOR_BYTES) - 1,
                               .kind = LINE_LOAD,
                               .serial = 1,
                               .warp = k->warp};
    if (!p->present && !lsu_send_past(l, &op, now)) {
        l->slot[slot].walks = false; /* the slot is free for another access */
        return false;
    }
    if (p->present)
        lsu_pipe_enter(l, p, &op, now);
    l->status.n_free--;
    return true;
}

/* Accesses that the unit may still begin in this cycle. */
struct budget {
    uint32_t accesses, ports;
};

/* Begins the next access of a lane, together with the lanes of its warp that are ready for the same bytes. Returns
 * false if there is no room in this cycle. */
static bool begin_access(struct lsu *l, struct walk *k, unsigned lane, struct budget *b, uint64_t now) {
    const struct walk_cfg *cfg = &l->cfg->walk;
    const bool own = cfg->memory == WALK_OWN;
    uint64_t address = *k->ray[lane].at;
    lanemask_t same = 0;
    for (lanemask_t m = k->left >> lane << lane; m; m &= m - 1) {
        unsigned other = lanes_first(m);
        const struct ray *r = &k->ray[other];
        if (r->ready <= now && r->at != r->end && (*r->at ^ address) / WALK_BYTES == 0)
            same |= (lanemask_t)1 << other;
    }
    if (!b->accesses || (!own && (!b->ports || !send(l, k, address, same, now))))
        return false;
    b->accesses--;
    b->ports -= !own;
    l->walker.n_of.accesses++;
    for (; same; same &= same - 1) {
        struct ray *r = &k->ray[lanes_first(same)];
        r->at++;
        r->ready = own ? now + cfg->own_latency + cfg->latency : NEVER;
        l->walker.n_of.visits++;
        l->walker.moved++;
    }
    return true;
}

static void step(struct lsu *l, struct walk *k, struct budget *b, uint64_t now) {
    if (l->misses.wanted && !k->noted)
        l->misses.tag[l->misses.n++] = k->tag;
    k->noted = true;
    k->next = NEVER;
    for (lanemask_t m = k->left; m; m &= m - 1) {
        unsigned lane = lanes_first(m);
        const struct ray *r = &k->ray[lane];
        if (r->ready <= now && r->at == r->end)
            k->left &= ~((lanemask_t)1 << lane);
        else if (r->ready > now || begin_access(l, k, lane, b, now))
            k->next = min64(k->next, r->ready);
        else
            k->next = now + 1;
    }
}

/* Ends the walk that is number `i` by age. */
static void end(struct lsu *l, uint32_t i, uint64_t now) {
    struct walker *w = &l->walker;
    const uint16_t id = w->order[i];
    w->n--;
    for (; i < w->n; i++)
        w->order[i] = w->order[i + 1];
    w->order[w->n] = id;
    l->n_others--;
    w->n_of.instructions++;
    w->n_of.cycles += now - w->walk[id].came;
    lsu_part_done(l, w->walk[id].slot);
}

void walker_tick(struct lsu *l, uint32_t ports, uint64_t now) {
    struct walker *w = &l->walker;
    struct budget b = {.accesses = l->cfg->walk.rate, .ports = ports};
    w->next = NEVER;
    for (uint32_t i = 0; i < w->n && i < l->cfg->walk.warps;) {
        struct walk *k = &w->walk[w->order[i]];
        if (k->next <= now)
            step(l, k, &b, now);
        if (k->left) {
            w->next = min64(w->next, k->next);
            i++;
        } else {
            end(l, i, now);
        }
    }
}
