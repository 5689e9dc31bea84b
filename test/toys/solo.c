/* The simplest model: 32 lanes are 32 paths, each with its own PC, and paths never merge. It has the minimum that a
 * model must implement. docs/adding-a-model.md explains it step by step. */
#include "models.h"

struct solo {
    lanemask_t alive;
    uint32_t pc[WARP_LANES];
};

static size_t solo_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct solo) + 7) & ~(size_t)7;
}

static void solo_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct solo *s = st;
    (void)cfg;
    s->alive = lanes;
    for (int l = 0; l < WARP_LANES; l++)
        s->pc[l] = pc;
}

/* Writes a path for each live lane to `out`, and returns their number. A path's id is its lane's number. */
static int solo_paths(const void *st, struct path *out, int max) {
    const struct solo *s = st;
    int n = 0;
    for (lanemask_t m = s->alive; m && n < max; m &= m - 1) {
        uint16_t lane = (uint16_t)__builtin_ctz(m);
        out[n++] = (struct path){.pc = s->pc[lane], .lanes = m & -m, .id = lane};
    }
    return n;
}

static bool solo_finished(const void *st) { return ((const struct solo *)st)->alive == 0; }

static unsigned solo_advance(void *st, int id, uint32_t next) {
    ((struct solo *)st)->pc[id] = next;
    return 0;
}

static unsigned solo_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    (void)n, (void)site; /* a single lane has a single branch target */
    return solo_advance(st, id, t->pc);
}

static unsigned solo_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    ((struct solo *)st)->alive &= ~lanes;
    return solo_advance(st, id, next);
}

static int solo_describe(const void *st, struct path_desc *out, int max) {
    struct path p[WARP_LANES];
    int n = solo_paths(st, p, max < WARP_LANES ? max : WARP_LANES);
    for (int i = 0; i < n; i++)
        out[i] = (struct path_desc){p[i], "alone", PC_EXIT};
    return n;
}

static int solo_depth(const void *st) { return __builtin_popcount(((const struct solo *)st)->alive); }

static enum reconv_board solo_board(const struct reconv_cfg *cfg) {
    (void)cfg;
    return RECONV_BOARD_LANES;
}

static struct reconv_storage solo_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    return (struct reconv_storage){.fixed = WARP_LANES * (32 + 1)}; /* a PC and an active bit per thread */
}

const struct reconv_ops reconv_solo = {
    .name = "solo",
    .help = "each lane by itself",
    .flags = RECONV_SIDE_BY_SIDE,
    .size = solo_size,
    .start = solo_start,
    .paths = solo_paths,
    .finished = solo_finished,
    .advance = solo_advance,
    .branch = solo_branch,
    .leave = solo_leave,
    .describe = solo_describe,
    .depth = solo_depth,
    .board = solo_board,
    .storage = solo_storage,
};
