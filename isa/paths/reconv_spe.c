/* Single-path execution: a stack of {PC, lanes, rpc}; only the top entry may issue. "The Dual-Path Execution Model for
 * Efficient GPU Control Flow", section 2.1. */
#include "reconv_spe.h"
#include "isa/hot_assert.h"
#include <string.h>

static size_t spe_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg;
    return offsetof(struct spe_stack, near) + 2 * lanes * sizeof(struct spe_entry);
}

static void spe_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct spe_stack *s = st;
    s->n = s->max_depth = lanes != 0;
    s->first = cfg ? cfg->first : 0;
    s->room = SPE_MAX_DEPTH;
    s->e = s->near;
    s->e[0] = (struct spe_entry){.pc = pc, .rpc = PC_EXIT, .lanes = lanes};
}

static void spe_inform(void *st, const struct reconv_warp *w) {
    struct spe_stack *s = st;
    s->far = w->far;
    s->room = s->far ? SPE_NEAR : SPE_MAX_DEPTH;
}

static int spe_paths(const void *st, struct path *out, int max) {
    const struct spe_stack *s = st;
    if (spe_is_empty(s) || max < 1)
        return 0;
    out[0] = spe_top(s);
    return 1;
}

static bool spe_finished(const void *st) { return spe_is_empty(st); }

static __attribute__((noinline)) void move_far(struct spe_stack *s) {
    memcpy(s->far, s->e, s->n * sizeof *s->e);
    s->e = s->far;
    s->room = SPE_MAX_DEPTH;
}

static void push(struct spe_stack *s, struct target t, uint32_t rpc, uint16_t depth, uint16_t rpc_depth) {
    if ((t.pc == rpc && depth == rpc_depth) || !t.lanes)
        return;
    hot_assert(s->n < SPE_MAX_DEPTH);
    if (__builtin_expect(s->n == s->room, 0))
        move_far(s);
    s->e[s->n++] = (struct spe_entry){.pc = t.pc, .rpc = rpc, .lanes = t.lanes, .depth = depth, .rpc_depth = rpc_depth};
    if (s->n > s->max_depth)
        s->max_depth = s->n;
}

/* Returns the call depth of the lanes of a target. Lanes whose guard is false do not execute the call and keep their
 * depth. */
static uint16_t depth_of(struct target t, const struct branch_site *site, uint16_t depth) {
    return t.pc == site->pc + 1 && site->calls > 0 ? (uint16_t)(depth - site->calls) : depth;
}

/* Pushes the groups of a branch. The group that is pushed last runs first: t[0], the taken side, unless reconv.first
 * asks for the fall-through. */
static void spe_diverge(struct spe_stack *s, const struct target *t, int n, const struct branch_site *site) {
    struct spe_entry *top = &s->e[s->n - 1];
    uint32_t rpc = site->rpc;
    uint16_t rpc_depth = top->depth, depth = (uint16_t)(top->depth + site->calls);
    if (n == 1) {
        top->depth = depth;
        spe_advance(s, t[0].pc);
        return;
    }
    /* the branch has no post-dominator in this function, so the entry's own reconvergence point is used */
    if (rpc == PC_EXIT) {
        rpc = top->rpc;
        rpc_depth = top->rpc_depth;
    }
    if (rpc == top->rpc && rpc_depth == top->rpc_depth)
        s->n--; /* the entry below waits for the same PC, so the top entry would only be popped there; drop it */
    else {
        top->pc = rpc;
        top->depth = rpc_depth;
    }
    bool fallthrough_first = s->first == 1 && n == 2 && t[0].pc == site->taken_pc;
    if (fallthrough_first) {
        push(s, t[0], rpc, depth_of(t[0], site, depth), rpc_depth);
        push(s, t[1], rpc, depth_of(t[1], site, depth), rpc_depth);
    } else {
        for (int i = n - 1; i >= 0; i--)
            push(s, t[i], rpc, depth_of(t[i], site, depth), rpc_depth);
    }
    spe_settle(s);
}

static void spe_leave(struct spe_stack *s, lanemask_t lanes, uint32_t next) {
    struct spe_entry *top = &s->e[s->n - 1];
    if (top->lanes & ~lanes)
        top->pc = next;
    for (uint32_t i = 0; i < s->n; i++)
        s->e[i].lanes &= ~lanes;
    spe_settle(s);
}

static unsigned spe_op_advance(void *st, int id, uint32_t next) {
    (void)id;
    spe_advance(st, next);
    return 0;
}

static unsigned spe_op_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    (void)id;
    spe_diverge(st, t, n, site);
    return 0;
}

static unsigned spe_op_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    (void)id;
    spe_leave(st, lanes, next);
    return 0;
}

static lanemask_t lanes_of(const struct spe_stack *s, uint32_t from, uint32_t to) {
    lanemask_t m = 0;
    for (; from < to; from++)
        m |= s->e[from].lanes;
    return m;
}

/* Moves the entries [from, n) to the bottom of the stack and keeps their order. */
static void to_bottom(struct spe_stack *s, uint32_t from) {
    struct spe_entry e[SPE_MAX_DEPTH];
    uint32_t n = s->n - from;
    memcpy(e, s->e + from, n * sizeof *e);
    memmove(s->e + n, s->e, from * sizeof *e);
    memcpy(s->e, e, n * sizeof *e);
}

/* Moves the entry of another side of the same branch to the top, if at least one of its lanes is not in `waiting`.
 * Returns false if there is no such entry. */
static bool swap_sides(struct spe_stack *s, uint32_t unit, lanemask_t waiting) {
    const struct spe_entry top = s->e[s->n - 1];
    for (uint32_t i = s->n - 1; i-- > unit && s->e[i].rpc == top.rpc && s->e[i].rpc_depth == top.rpc_depth;) {
        const struct spe_entry side = s->e[i];
        if (!(side.lanes & ~waiting))
            continue;
        memmove(s->e + i, s->e + i + 1, (s->n - 1 - i) * sizeof side);
        s->e[s->n - 1] = side;
        return true;
    }
    return false;
}

/* Detaches the top entry: it no longer reconverges with the entries below, and moves to the bottom. */
static void detach_top(struct spe_stack *s) {
    struct spe_entry *top = &s->e[s->n - 1];
    top->rpc = PC_EXIT;
    top->rpc_depth = 0;
    for (uint32_t i = 0; i + 1 < s->n; i++)
        s->e[i].lanes &= ~top->lanes;
    to_bottom(s, s->n - 1);
    spe_settle(s);
}

/* If all lanes of the top entry wait for other lanes, lets these other lanes run. The stack consists of units that
 * never reconverge with each other: each unit is an entry that runs until its threads exit, and the entries above it up
 * to the next such entry. If the top entry waits for lanes of its own unit, another side of its branch runs first;
 * without such a side, the top entry is detached. If it waits for lanes of another unit, its whole unit moves to the
 * bottom. */
static unsigned spe_give_way(void *st, const struct lane_waits *ws) {
    struct spe_stack *s = st;
    uint32_t turns = 0;
    bool moved = false;
    while (s->n && !(s->e[s->n - 1].lanes & ~ws->waiting)) {
        const struct spe_entry *top = &s->e[s->n - 1];
        uint32_t unit = s->n - 1;
        lanemask_t wanted = 0;
        for (lanemask_t m = top->lanes; m; m &= m - 1)
            wanted |= ws->wants[lanes_first(m)];
        while (unit && s->e[unit].rpc != PC_EXIT)
            unit--;
        lanemask_t below = lanes_of(s, 0, unit), beside = lanes_of(s, unit, s->n) & ~top->lanes;
        if (wanted & beside && beside & ~ws->waiting) {
            if (!swap_sides(s, unit, ws->waiting))
                detach_top(s);
        } else if (below & ~ws->waiting && turns++ < SPE_MAX_DEPTH) {
            to_bottom(s, unit);
        } else {
            return 0;
        }
        moved = true;
    }
    return moved ? RECONV_CHANGED : 0;
}

/* Moves the top entry below its parent entry, and gives it the parent's reconvergence point. A top entry without a
 * parent moves to the bottom. */
static void join_further_down(struct spe_stack *s) {
    struct spe_entry top = s->e[s->n - 1];
    uint32_t below = s->n - 1;
    while (below && s->e[below - 1].rpc == top.rpc && s->e[below - 1].rpc_depth == top.rpc_depth)
        below--;
    if (!below || top.rpc == PC_EXIT) {
        to_bottom(s, s->n - 1);
        return;
    }
    struct spe_entry *owner = &s->e[--below];
    top.rpc = owner->rpc;
    top.rpc_depth = owner->rpc_depth;
    owner->lanes &= ~top.lanes;
    memmove(owner + 1, owner, (s->n - 1 - below) * sizeof *owner);
    *owner = top;
    spe_settle(s);
}

lanemask_t spe_others(const struct spe_stack *s) { return s->n ? lanes_of(s, 0, s->n) & ~s->e[s->n - 1].lanes : 0; }

bool spe_take_turns(struct spe_stack *s, lanemask_t waiting) {
    lanemask_t top = s->n ? s->e[s->n - 1].lanes : 0;
    if (!(spe_others(s) & ~waiting))
        return false;
    for (uint32_t tries = 0; tries < 2 * SPE_MAX_DEPTH; tries++) {
        join_further_down(s);
        if (s->e[s->n - 1].lanes & ~top & ~waiting)
            return true;
    }
    return false;
}

void spe_merge(struct spe_stack *s) {
    for (uint32_t i = s->n; i-- > 1;) {
        struct spe_entry *a = &s->e[i - 1], *b = &s->e[i];
        if (a->pc != b->pc || a->depth != b->depth || a->rpc != b->rpc || a->rpc_depth != b->rpc_depth)
            continue;
        a->lanes |= b->lanes;
        memmove(b, b + 1, (s->n - 1 - i) * sizeof *b);
        s->n--;
    }
}

static int spe_describe(const void *st, struct path_desc *out, int max) {
    const struct spe_stack *s = st;
    int n = 0;
    for (uint32_t i = s->n; i-- > 0 && n < max; n++)
        out[n] = (struct path_desc){.path = {.pc = s->e[i].pc, .lanes = s->e[i].lanes, .id = (uint16_t)(s->n - 1 - i)},
                                    .state = i == s->n - 1 ? "top of stack" : "below, waits for the entries above",
                                    .rpc = s->e[i].rpc};
    return n;
}

static int spe_depth(const void *st) { return (int)((const struct spe_stack *)st)->n; }

static struct reconv_storage spe_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    return (struct reconv_storage){.entry = 3 * 32}; /* PC, lanes, rpc */
}

static struct reconv_wants spe_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){.stack_entries = cfg->stack_entries};
}

const struct reconv_ops reconv_spe = {
    .name = "spe",
    .help = "single-path execution: one reconvergence stack, its top entry runs (the baseline)",
    .size = spe_size,
    .zeroed = offsetof(struct spe_stack, near),
    .near = offsetof(struct spe_stack, near) + SPE_NEAR * sizeof(struct spe_entry),
    .start = spe_start,
    .inform = spe_inform,
    .paths = spe_paths,
    .finished = spe_finished,
    .advance = spe_op_advance,
    .branch = spe_op_branch,
    .leave = spe_op_leave,
    .give_way = spe_give_way,
    .describe = spe_describe,
    .storage = spe_storage,
    .wants = spe_wants,
    .depth = spe_depth,
};
