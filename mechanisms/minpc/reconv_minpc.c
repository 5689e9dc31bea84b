/* Lowest PC first: every thread has a PC, and the only schedulable path is the set of threads at the lowest PC. The
 * second model, anypc, differs in one point: the threads at each PC are a schedulable path. There is no stack and no
 * compiler support: the model is one array. Threads reconverge if the code places the join after both sides. Under
 * minpc, a warp makes no progress if threads at a low PC wait for a thread at a higher PC. */
#include "reconv_minpc.h"
#include "mechanisms/mechanism.h"

struct minpc {
    lanemask_t alive;
    lanemask_t asleep; /* lanes whose path waits at a barrier and so is not schedulable */
    uint32_t pc[MAX_WARP_LANES];
    uint8_t sleeper[MAX_WARP_LANES]; /* for sleeping lanes: id of the path in which they began to wait */
};

static size_t minpc_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct minpc) + 7) & ~(size_t)7;
}

static void minpc_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct minpc *s = st;
    (void)cfg;
    s->alive = lanes;
    for (int l = 0; l < MAX_WARP_LANES; l++)
        s->pc[l] = pc;
}

/* Returns the lanes of a row that are at `pc`. */
static inline rowmask_t row_at(const uint32_t row[WARP_LANES], uint32_t pc) {
    rowmask_t m = 0;
    for (int l = 0; l < WARP_LANES; l++)
        m |= (rowmask_t)(row[l] == pc) << l;
    return m;
}

static lanemask_t lanes_at(const struct minpc *s, uint32_t pc) {
    lanemask_t m = row_at(s->pc, pc);
    if (__builtin_expect(s->alive >> WARP_LANES != 0, 0))
        m |= (lanemask_t)row_at(s->pc + WARP_LANES, pc) << WARP_LANES;
    return m & s->alive;
}

/* Returns the lowest PC of `lanes`, or PC_EXIT. */
static inline uint32_t row_lowest(const uint32_t row[WARP_LANES], rowmask_t lanes) {
    uint32_t low = PC_EXIT;
    for (int l = 0; l < WARP_LANES; l++) {
        uint32_t pc = lanes >> l & 1 ? row[l] : PC_EXIT;
        low = pc < low ? pc : low;
    }
    return low;
}

/* Writes the path at the lowest PC to out[0] and returns 1, or 0 if no lane is awake. The id of a path is its lowest
 * lane. */
static int minpc_paths(const void *st, struct path *out, int max) {
    const struct minpc *s = st;
    const lanemask_t awake = s->alive & ~s->asleep;
    uint32_t low = row_lowest(s->pc, (rowmask_t)awake);
    if (__builtin_expect(awake >> WARP_LANES != 0, 0)) {
        const uint32_t high = row_lowest(s->pc + WARP_LANES, (rowmask_t)(awake >> WARP_LANES));
        low = high < low ? high : low;
    }
    lanemask_t m = lanes_at(s, low) & ~s->asleep;
    if (!m || max < 1)
        return 0;
    out[0] = (struct path){.pc = low, .lanes = m, .id = (uint16_t)lanes_first(m)};
    return 1;
}

/* The paths of anypc: the lanes at each PC, the lowest PC first. */
static int anypc_paths(const void *st, struct path *out, int max) {
    const struct minpc *s = st;
    lanemask_t rest = s->alive & ~s->asleep;
    int n = 0;
    while (rest) {
        int l = (int)lanes_first(rest), at = n;
        lanemask_t m = lanes_at(s, s->pc[l]) & rest;
        rest &= ~m;
        if (n < max)
            n++;
        for (; at > 0 && out[at - 1].pc > s->pc[l]; at--)
            if (at < n)
                out[at] = out[at - 1];
        if (at < n)
            out[at] = (struct path){.pc = s->pc[l], .lanes = m, .id = (uint16_t)l};
    }
    return n;
}

static bool minpc_finished(const void *st) { return ((const struct minpc *)st)->alive == 0; }

static void move(struct minpc *s, lanemask_t m, uint32_t pc) {
    for (; m; m &= m - 1)
        s->pc[lanes_first(m)] = pc;
}

/* Returns the path of lane `id`: lanes at the same PC that are awake, or that fell asleep together. */
static lanemask_t path_of(const struct minpc *s, int id) {
    lanemask_t m = lanes_at(s, s->pc[id]), same = 0;
    if (!(s->asleep >> id & 1))
        return m & ~s->asleep;
    for (m &= s->asleep; m; m &= m - 1)
        if (s->sleeper[lanes_first(m)] == s->sleeper[id])
            same |= m & -m;
    return same;
}

static unsigned minpc_advance(void *st, int id, uint32_t next) {
    struct minpc *s = st;
    move(s, path_of(s, id), next);
    return RECONV_CHANGED;
}

static unsigned minpc_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    (void)id, (void)site;
    for (int i = 0; i < n; i++)
        move(st, t[i].lanes, t[i].pc);
    return RECONV_CHANGED;
}

static unsigned minpc_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct minpc *s = st;
    lanemask_t path = path_of(s, id);
    s->alive &= ~lanes;
    move(s, path & ~lanes, next);
    return RECONV_CHANGED;
}

static unsigned minpc_stall(void *st, int id, enum reconv_stall why) {
    struct minpc *s = st;
    if (why != STALL_OTHER)
        return 0;
    lanemask_t m = path_of(s, id);
    s->asleep |= m;
    for (; m; m &= m - 1)
        s->sleeper[lanes_first(m)] = (uint8_t)id;
    return RECONV_CHANGED;
}

static unsigned minpc_wake(void *st, int id) {
    struct minpc *s = st;
    s->asleep &= ~path_of(s, id);
    return RECONV_CHANGED;
}

static int describe(const struct minpc *s, const struct path *running, const char *others, struct path_desc *out,
                    int max) {
    lanemask_t rest = s->alive;
    int n = 0;
    for (; rest && n < max; n++) {
        int lane = (int)lanes_first(rest);
        lanemask_t m = path_of(s, lane);
        out[n] = (struct path_desc){{.pc = s->pc[lane], .lanes = m, .id = (uint16_t)lane},
                                    s->asleep >> lane & 1                   ? "waits at a barrier"
                                    : running && running->pc == s->pc[lane] ? "lowest PC"
                                                                            : others,
                                    PC_EXIT};
        rest &= ~m;
    }
    return n;
}

static int minpc_describe(const void *st, struct path_desc *out, int max) {
    struct path running;
    int any = minpc_paths(st, &running, 1);
    return describe(st, any ? &running : NULL, "waits at a higher PC", out, max);
}

static int anypc_describe(const void *st, struct path_desc *out, int max) {
    return describe(st, NULL, "can issue", out, max);
}

static int minpc_depth(const void *st) {
    struct path_desc all[MAX_WARP_LANES];
    return minpc_describe(st, all, MAX_WARP_LANES);
}

static enum reconv_board minpc_board(const struct reconv_cfg *cfg) {
    (void)cfg;
    return RECONV_BOARD_LANES;
}

static struct reconv_storage minpc_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    /* bits of a thread: its PC, and two bits for the states alive and asleep */
    return (struct reconv_storage){.fixed = WARP_LANES * (32 + 2)};
}

static struct reconv_wants minpc_wants(const struct reconv_cfg *cfg) {
    (void)cfg;
    return (struct reconv_wants){.every_pc = true};
}

#define STEPS                                                                                                          \
    .size = minpc_size, .zeroed = offsetof(struct minpc, pc), .start = minpc_start, .finished = minpc_finished,        \
    .advance = minpc_advance, .branch = minpc_branch, .leave = minpc_leave, .stall = minpc_stall, .wake = minpc_wake,  \
    .board = minpc_board, .storage = minpc_storage, .wants = minpc_wants, .depth = minpc_depth
const struct reconv_ops reconv_minpc = {
    .name = "minpc",
    .help = "per-thread PCs, the lowest PC issues first",
    .paths = minpc_paths,
    .describe = minpc_describe,
    STEPS,
};
const struct reconv_ops reconv_anypc = {
    .name = "anypc",
    .help = "per-thread PCs, the threads at each PC can issue",
    .flags = RECONV_SIDE_BY_SIDE | RECONV_MEETS,
    .paths = anypc_paths,
    .describe = anypc_describe,
    STEPS,
};

const struct mechanism mechanism_minpc = {
    .name = "minpc",
    .help = "lowest PC first: no stack, paths merge where they meet",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"minpc", "lowest PC first: no stack, paths merge where they meet", &reconv_minpc, false, NULL},
            {"anypc", "as minpc, but the threads at each PC can issue", &reconv_anypc, false, NULL},
            {.name = NULL},
        },
};
