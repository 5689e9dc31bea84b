/* Thread frontiers [Diamos et al., MICRO 2011]. The compiler gives each block a priority. Of the paths of a warp, the
 * one at the block of highest priority issues. Threads at lower priority wait; they can be only at blocks of the
 * running block's thread frontier. Paths at the same PC merge, so in unstructured code threads reconverge before the
 * post-dominator.
 *
 * frontiers.kind=stack is the hardware that the paper proposes: a stack of {PC, lanes}, sorted by priority. An
 * insertion costs no cycle (our reading of the paper). frontiers.kind=conservative is the paper's scheme for a GPU
 * with a PC per thread, and without a way to find the best of these PCs. There, a block ends with a branch to the best
 * block at which a thread may wait (the static frontier) or to which a thread of the path goes. The warp issues this
 * block even if no thread waits there.
 *
 * In the paper, the code is sorted by priority, and priorities are PCs. Here the code keeps its order, and the
 * priorities are facts of a pass (our reading of the paper). Within a block, the lowest PC comes first. The paper
 * treats a call as any other branch; here deeper calls come first, so that threads merge after the call (our reading
 * of the paper). If a path waits at a CTA barrier or for its member mask, the next path issues; the paper requires
 * code in which this does not occur. */
#include "reconv_frontiers.h"
#include "frontiers_parts.h"
#include "mechanisms/mechanism.h"

enum { MERGES, DIVERGENCES, VISITS, EMPTY_ISSUES };
/* id of the path without lanes, which issues the block of a conservative branch; other ids are indices of entries */
enum { EMPTY_ID = MAX_WARP_LANES };

/* A place in the order of paths. */
struct place {
    uint32_t pc, priority;
    uint32_t depth; /* call depth */
};

struct entry {
    struct place at;
    lanemask_t lanes; /* 0: the entry is free */
    bool waits;       /* the path waits at a CTA barrier or for its member mask, and others issue instead */
};

struct frontiers {
    struct reconv_warp warp;
    /* facts (frontiers_parts.h), by block; NULL: PCs are priorities, and frontiers are empty */
    const uint32_t *priority, *frontier;
    uint32_t high; /* the entries from e[high] on are free */
    bool conservative, visiting;
    struct place visited;           /* if `visiting`: the place of the path without lanes */
    struct entry e[MAX_WARP_LANES]; /* not zeroed at the start */
};

static size_t frontiers_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct frontiers) + 7) & ~(size_t)7;
}

static void frontiers_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct frontiers *s = st;
    s->e[0] = (struct entry){.at = {.pc = pc}, .lanes = lanes};
    s->high = 1;
    s->conservative = cfg && cfg->frontiers_kind == FRONTIERS_CONSERVATIVE;
}

static void frontiers_inform(void *st, const struct reconv_warp *w) {
    struct frontiers *s = st;
    s->warp = *w;
    s->priority = reconv_fact(w, FACT_PRIORITY);
    s->frontier = reconv_fact(w, FACT_FRONTIER);
}

static void count(struct frontiers *s, int counter, uint64_t more) { s->warp.counts[counter] += more; }

/* Returns the block at `pc`; NO_BLOCK for PC_NOWHERE. */
static uint32_t block_at(const struct frontiers *s, uint32_t pc) {
    return pc < s->warp.program->n ? reconv_block(&s->warp, pc) : NO_BLOCK;
}

static struct place place_at(const struct frontiers *s, uint32_t pc, uint32_t depth) {
    uint32_t block = block_at(s, pc);
    bool known = block != NO_BLOCK && s->priority;
    return (struct place){.pc = pc, .priority = known ? s->priority[block] : UINT32_MAX, .depth = depth};
}

static bool is_before(const struct place *a, const struct place *b) {
    if (a->depth != b->depth)
        return a->depth > b->depth;
    return a->priority != b->priority ? a->priority < b->priority : a->pc < b->pc;
}

/* Returns the path of highest priority that does not wait, or NULL. */
static const struct entry *top(const struct frontiers *s) {
    const struct entry *best = NULL;
    for (const struct entry *e = s->e; e < s->e + s->high; e++)
        if (e->lanes && !e->waits && (!best || is_before(&e->at, &best->at)))
            best = e;
    return best;
}

static int frontiers_paths(const void *st, struct path *out, int max) {
    const struct frontiers *s = st;
    const struct entry *e = top(s);
    if (!e || max < 1)
        return 0;
    if (s->visiting)
        out[0] = (struct path){.pc = s->visited.pc, .id = EMPTY_ID};
    else
        out[0] = (struct path){.pc = e->at.pc, .lanes = e->lanes, .id = (uint16_t)(e - s->e)};
    return 1;
}

static bool frontiers_finished(const void *st) {
    const struct frontiers *s = st;
    for (uint32_t i = 0; i < s->high; i++)
        if (s->e[i].lanes)
            return false;
    return true;
}

/* ---- steps ---- */

/* Merges the entry into another one at the same PC and call depth, if there is one. */
static void merge(struct frontiers *s, struct entry *e) {
    for (struct entry *k = s->e; k < s->e + s->high; k++) {
        if (k == e || !k->lanes || k->waits || k->at.pc != e->at.pc || k->at.depth != e->at.depth)
            continue;
        k->lanes |= e->lanes;
        e->lanes = 0;
        count(s, MERGES, 1);
        return;
    }
}

/* Adds a path; it may merge at once. */
static void insert(struct frontiers *s, uint32_t pc, lanemask_t lanes, uint32_t depth) {
    uint32_t i = 0;
    while (i < s->high && s->e[i].lanes)
        i++;
    s->high += i == s->high;
    s->e[i] = (struct entry){.at = place_at(s, pc, depth), .lanes = lanes};
    merge(s, &s->e[i]);
}

/* Called when the warp has left the block at `from`. With conservative branches, the warp continues at the best block
 * of the frontier, unless a path has a higher priority than that block. */
static void branch_conservatively(struct frontiers *s, struct place from) {
    const struct entry *best = top(s);
    uint32_t block = block_at(s, from.pc);
    s->visiting = false;
    if (!s->conservative || !s->frontier || !best || block == NO_BLOCK || s->frontier[block] == NO_BLOCK)
        return;
    s->visited = place_at(s, s->warp.program->blocks[s->frontier[block]].begin, from.depth);
    s->visiting = is_before(&s->visited, &best->at);
    count(s, VISITS, s->visiting);
}

/* Moves the path without lanes to `next`, after it has issued the instructions before `next`. */
static void advance_empty(struct frontiers *s, uint32_t next) {
    struct place from = s->visited;
    count(s, EMPTY_ISSUES, next - from.pc);
    s->visited.pc = next;
    if (block_at(s, next) != block_at(s, from.pc))
        branch_conservatively(s, from);
}

static unsigned frontiers_advance(void *st, int id, uint32_t next) {
    struct frontiers *s = st;
    if (id == EMPTY_ID) {
        advance_empty(s, next);
        return 0;
    }
    struct entry *e = &s->e[id];
    struct place from = e->at;
    e->at = place_at(s, next, from.depth);
    if (block_at(s, next) != block_at(s, from.pc)) { /* ids stay the same within a block, so paths merge only here */
        merge(s, e);
        branch_conservatively(s, from);
    }
    return 0;
}

/* Lanes whose guard is false do not execute the call, and keep their depth. */
static uint32_t depth_of(const struct target *t, const struct branch_site *site, uint32_t depth) {
    bool calls = site->calls > 0 && t->pc != site->pc + 1;
    return calls ? depth + 1 : site->calls < 0 && depth ? depth - 1 : depth;
}

static unsigned frontiers_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct frontiers *s = st;
    struct place from = s->e[id].at;
    from.pc = site->pc; /* the path may be at PC_NOWHERE */
    s->e[id].lanes = 0;
    for (int i = 0; i < n; i++)
        insert(s, t[i].pc, t[i].lanes, depth_of(&t[i], site, from.depth));
    count(s, DIVERGENCES, n > 1);
    branch_conservatively(s, from);
    return 0;
}

static unsigned frontiers_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct frontiers *s = st;
    struct entry *e = &s->e[id];
    struct place from = e->at;
    e->lanes &= ~lanes;
    e->at = place_at(s, next, from.depth);
    if (e->lanes && next == PC_NOWHERE)
        return 0; /* a branch follows */
    if (e->lanes)
        merge(s, e);
    branch_conservatively(s, from);
    return 0;
}

static unsigned frontiers_stall(void *st, int id, enum reconv_stall why) {
    struct frontiers *s = st;
    if (why != STALL_OTHER)
        return 0;
    s->e[id].waits = true;
    branch_conservatively(s, s->e[id].at);
    return RECONV_CHANGED;
}

/* A path continues after a barrier. If it has a higher priority than the path without lanes, the warp continues with
 * it. */
static unsigned frontiers_wake(void *st, int id) {
    struct frontiers *s = st;
    s->e[id].waits = false;
    merge(s, &s->e[id]);
    const struct entry *best = top(s);
    s->visiting = s->visiting && is_before(&s->visited, &best->at);
    return RECONV_CHANGED;
}

/* ---- reports ---- */

static int frontiers_describe(const void *st, struct path_desc *out, int max) {
    const struct frontiers *s = st;
    const struct entry *best = top(s);
    int n = 0;
    for (uint32_t i = 0; i < s->high && n < max; i++)
        if (s->e[i].lanes)
            out[n++] = (struct path_desc){
                .path = {.pc = s->e[i].at.pc, .lanes = s->e[i].lanes, .id = (uint16_t)i},
                .state = s->e[i].waits      ? "set aside"
                         : &s->e[i] == best ? "highest priority"
                                            : "waits for paths of higher priority",
                .rpc = PC_EXIT,
            };
    return n;
}

static int frontiers_depth(const void *st) {
    struct path_desc all[MAX_WARP_LANES];
    return frontiers_describe(st, all, MAX_WARP_LANES);
}

static lanemask_t frontiers_runnable(const void *st) {
    const struct entry *e = top(st);
    return e ? e->lanes : 0;
}

/* An entry of the sorted stack holds a PC and lanes. With conservative branches, each thread has a PC. */
static struct reconv_storage frontiers_storage(const struct reconv_cfg *cfg) {
    if (cfg->frontiers_kind == FRONTIERS_CONSERVATIVE)
        return (struct reconv_storage){.fixed = WARP_LANES * 32 + 32};
    return (struct reconv_storage){.entry = 2 * 32};
}

const struct reconv_ops reconv_frontiers = {
    .name = "frontiers",
    .help = "thread frontiers: blocks have priorities, paths that meet merge",
    .flags = RECONV_EMPTY,
    .facts = (const char *const[]){FACT_PRIORITY, FACT_FRONTIER, NULL},
    .counters = (const char *const[]){[MERGES] = "frontiers.merges",
                                      [DIVERGENCES] = "frontiers.divergences",
                                      [VISITS] = "frontiers.visits",
                                      [EMPTY_ISSUES] = "frontiers.empty_issues",
                                      [EMPTY_ISSUES + 1] = NULL},
    .size = frontiers_size,
    .zeroed = offsetof(struct frontiers, e),
    .start = frontiers_start,
    .inform = frontiers_inform,
    .paths = frontiers_paths,
    .finished = frontiers_finished,
    .advance = frontiers_advance,
    .branch = frontiers_branch,
    .leave = frontiers_leave,
    .stall = frontiers_stall,
    .wake = frontiers_wake,
    .describe = frontiers_describe,
    .runnable = frontiers_runnable,
    .storage = frontiers_storage,
    .depth = frontiers_depth,
};

const struct mechanism mechanism_frontiers = {
    .name = "frontiers",
    .help = "thread frontiers: the block of highest priority issues, and paths merge where they meet",
    .paper = "Diamos, Ashbaugh, Maiyuran, Kerr, Wu and Yalamanchili, SIMD re-convergence at thread frontiers, MICRO "
             "2011",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"frontiers", "thread frontiers: the block of highest priority issues, paths merge where they meet",
             &reconv_frontiers, false, NULL},
            {.name = NULL},
        },
    .passes = PASSES(&pass_frontiers),
    .options = PREFIXES("frontiers."),
    .statistics = PREFIXES("frontiers."),
};
