/* A toy model that uses its warp's number and a fact about blocks. It behaves as spe, except in odd warps of a CTA:
 * after a block of at least three instructions, such a warp issues the block again without lanes. The fact "toy.length"
 * is the number of instructions of each block. The level "toy.empty" is the number of paths without lanes. */
#include "isa/paths/reconv_spe.h"
#include "models.h"

enum { ECHO_ID = 1, LONG = 3 };

struct echo {
    struct reconv_warp warp;
    const uint32_t *length;
    uint32_t pc; /* PC of the path without lanes; PC_EXIT: there is none */
    struct spe_stack stack;
};

static size_t echo_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct echo) + 7) & ~(size_t)7;
}

static void echo_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct echo *s = st;
    s->pc = PC_EXIT;
    reconv_spe.start(&s->stack, cfg, pc, lanes);
}

static void echo_inform(void *st, const struct reconv_warp *w) {
    struct echo *s = st;
    s->warp = *w;
    s->length = reconv_fact(w, ECHO_FACT);
}

static int echo_paths(const void *st, struct path *out, int max) {
    const struct echo *s = st;
    int n = reconv_spe.paths(&s->stack, out, max);
    if (n && s->pc != PC_EXIT)
        out[0] = (struct path){.pc = s->pc, .id = ECHO_ID};
    return n;
}

static bool echo_finished(const void *st) { return reconv_spe.finished(&((const struct echo *)st)->stack); }

/* Sets the PC of the path without lanes. */
static void set_empty(struct echo *s, uint32_t pc) {
    reconv_level_add(&s->warp, 0, (pc != PC_EXIT) - (s->pc != PC_EXIT));
    s->pc = pc;
}

/* The path at `pc` leaves its block. */
static void leaves_block(struct echo *s, uint32_t pc) {
    uint32_t b = reconv_block(&s->warp, pc);
    if (s->warp.warp % 2 && s->length && s->length[b] >= LONG)
        set_empty(s, s->warp.program->blocks[b].begin);
}

static uint32_t top_pc(const struct echo *s) { return spe_top(&s->stack).pc; }

static unsigned echo_advance(void *st, int id, uint32_t next) {
    struct echo *s = st;
    uint32_t pc = id == ECHO_ID ? s->pc : top_pc(s);
    bool leaves = reconv_block(&s->warp, next) != reconv_block(&s->warp, pc);
    if (id == ECHO_ID) {
        set_empty(s, leaves ? PC_EXIT : next);
        return 0;
    }
    if (leaves)
        leaves_block(s, pc);
    return reconv_spe.advance(&s->stack, id, next);
}

static unsigned echo_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct echo *s = st;
    leaves_block(s, site->pc);
    return reconv_spe.branch(&s->stack, id, t, n, site);
}

static unsigned echo_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    return reconv_spe.leave(&((struct echo *)st)->stack, id, lanes, next);
}

static unsigned echo_give_way(void *st, const struct lane_waits *ws) {
    return reconv_spe.give_way(&((struct echo *)st)->stack, ws);
}

static int echo_describe(const void *st, struct path_desc *out, int max) {
    return reconv_spe.describe(&((const struct echo *)st)->stack, out, max);
}

static int echo_depth(const void *st) { return reconv_spe.depth(&((const struct echo *)st)->stack); }

/* The lanes of the top entry can run, also while the path without lanes issues. */
static lanemask_t echo_runnable(const void *st) {
    const struct echo *s = st;
    return spe_is_empty(&s->stack) ? 0 : spe_top(&s->stack).lanes;
}

static struct reconv_storage echo_storage(const struct reconv_cfg *cfg) { return reconv_spe.storage(cfg); }

const struct reconv_ops reconv_echo = {
    .name = "echo",
    .help = "spe, and long blocks issue twice",
    .flags = RECONV_EMPTY,
    .facts = (const char *const[]){ECHO_FACT, NULL},
    .levels = (const char *const[]){ECHO_LEVEL, NULL},
    .size = echo_size,
    .start = echo_start,
    .inform = echo_inform,
    .paths = echo_paths,
    .finished = echo_finished,
    .advance = echo_advance,
    .branch = echo_branch,
    .leave = echo_leave,
    .give_way = echo_give_way,
    .describe = echo_describe,
    .depth = echo_depth,
    .runnable = echo_runnable,
    .storage = echo_storage,
};
