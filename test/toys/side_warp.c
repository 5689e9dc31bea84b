#include "isa/decode.h"
#include "timing/sm/unit_access.h"
#include "units.h"
#include <stdlib.h>

struct side {
    const struct side_warp *how;
    struct side_seen *seen;
    uint32_t slot;       /* slot of the side warp; NO_CONTEXT: no side warp is open */
    bool opened, at_end; /* at_end: the side warp has reached its exit and closes in the next tick */
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct side *s = calloc(1, sizeof *s);
    (void)cfg;
    if (s)
        *s = (struct side){.how = ctx, .seen = &((struct side_warp *)ctx)->seen[sm], .slot = NO_CONTEXT};
    return s;
}

static bool open_it(struct side *s, struct sm *sm, uint64_t now) {
    const struct sm_context_start how = {
        .name = "side warp of a toy", .stream = 1, .lanes = s->how->lanes, .driven = s->how->driven};
    s->slot = sm_context_open(sm, &side_warp_unit, &how, now);
    s->opened = true;
    return s->slot != NO_CONTEXT;
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct side *s = u;
    s->opened = false;
    return s->how->late || open_it(s, sm, now);
}

static void begin_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct side *s = u;
    (void)cta;
    if (!s->opened)
        open_it(s, sm, now);
}

static uint32_t registers(const struct config *cfg, const struct launch *l, void *ctx) {
    (void)cfg, (void)l;
    return ((const struct side_warp *)ctx)->registers;
}

static bool is(const struct inst *in, uint16_t op) {
    uint32_t n;
    return isa_rows(&n)[in->row].op == op;
}

static uint64_t items(const struct side *s) { return s->seen->made - s->seen->taken; }

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    struct side *s = u;
    (void)sm, (void)now;
    bool waits = false;
    if (!s->how->takes)
        return PATH_READY;
    if (c->warp == s->slot)
        waits = is(c->in, OP_SUB) && !items(s);
    else if (s->how->room)
        waits = is(c->in, OP_ADD) && items(s) > s->how->room;
    s->seen->refused += waits;
    return waits ? PATH_QUEUE : PATH_READY;
}

/* Closes the side warp's context at its end, and reconsiders all warps, because any issue can make the side warp or a
 * waiting CTA warp ready. */
static void tick(void *u, struct sm *sm, uint64_t now) {
    struct side *s = u;
    if (s->slot != NO_CONTEXT && (s->at_end || (s->how->close_at && now >= s->how->close_at)))
        sm_context_close(sm, s->slot, now);
    s->at_end = false;
    if (s->how->takes)
        for (uint32_t w = 0; w < sm_get_slots(sm); w++)
            sm_reconsider(sm, w, now);
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    const struct side *s = u;
    (void)sm;
    if (s->slot != NO_CONTEXT && s->how->close_at > now)
        return s->how->close_at;
    return s->seen->n && s->seen->last == now ? now + 1 : UINT64_MAX; /* an issue may have made other warps ready */
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct side *s = u;
    (void)sm;
    if (i->phase == ISSUE_PERFORMED)
        return;
    if (s->seen->n < SIDE_SEEN) {
        s->seen->slot[s->seen->n].cycle = i->cycle;
        s->seen->slot[s->seen->n].warp = i->warp;
        s->seen->slot[s->seen->n++].pc = i->pc;
    }
    s->seen->last = i->cycle;
    if (i->warp != s->slot) {
        s->seen->made += is(i->in, OP_ADD);
        return;
    }
    s->seen->first = s->seen->issued++ ? s->seen->first : i->cycle;
    s->seen->by_unit += i->phase == ISSUE_UNIT;
}

/* Executes an instruction of a side warp that the unit controls. The unit then sets the PC to the next instruction,
 * to the start of the loop, or to the exit again. */
static bool drive(struct side *s, struct sm *sm, const struct sm_candidate *c, struct effects *fx) {
    s->seen->taken += is(c->in, OP_SUB);
    s->at_end = c->in->kind == K_EXIT;
    if (s->at_end)
        sm_context_goto(sm, c->warp, c->pc);
    else if (c->in->kind == K_BRANCH && c->in->target <= c->pc && s->seen->taken < s->how->takes)
        sm_context_goto(sm, c->warp, c->in->target);
    fx->lanes = c->lanes;
    return true;
}

static bool execute(void *u, struct sm *sm, const struct sm_candidate *c, struct effects *fx, uint64_t now) {
    struct side *s = u;
    (void)sm, (void)now;
    if (!s->how->takes)
        return false;
    if (s->how->driven)
        return drive(s, sm, c, fx);
    if (is(c->in, OP_SUB))
        s->seen->taken++;
    else if (c->in->kind == K_BRANCH && c->in->target <= c->pc)
        fx->taken = s->seen->taken < s->how->takes ? c->lanes : 0; /* overrides the guard */
    else
        return false;
    fx->lanes = c->lanes;
    return true;
}

static void context_end(void *u, struct sm *sm, uint32_t warp, uint64_t now) {
    struct side *s = u;
    (void)sm, (void)warp, (void)now;
    s->slot = NO_CONTEXT;
    s->seen->ended++;
}

static void launch_end(void *u, struct sm *sm) {
    (void)sm;
    ((struct side *)u)->slot = NO_CONTEXT;
}

static void describe(const void *u, const struct sm *sm, FILE *out) {
    const struct side *s = u;
    (void)sm;
    fprintf(out, "  side warp: %u of %u things taken\n", (unsigned)s->seen->taken, s->how->takes);
}

const struct sm_unit_ops side_warp_unit = {
    .name = "side_warp",
    .make = make,
    .free = free,
    .launch = launch,
    .launch_end = launch_end,
    .cta_start = begin_cta,
    .may_issue = may_issue,
    .issued = issued,
    .tick = tick,
    .next = next,
    .registers = registers,
    .execute = execute,
    .context_end = context_end,
    .describe = describe,
};
