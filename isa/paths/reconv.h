#ifndef ISA_RECONV_H
#define ISA_RECONV_H
/* The interface of a reconvergence model. The model decides which paths of a warp exist, which may be scheduled, and
 * when they merge. It sees only what hardware sees: PCs, lane masks, branches, exits and stalls, and what struct
 * reconv_warp says. It knows nothing of caches, pipelines, opcodes or other models. Its callers are the interpreter
 * and the SM, both mostly through control.h. docs/adding-a-model.md shows how to add a model; test/mechanisms/reconv.c
 * tests these rules for every model. The calls follow the dual-path paper (Rhu and Erez, HPCA 2013; split, gather,
 * concurrent) and the paper on subwarp interleaving (Damani et al., HPCA 2022; stall, wake, select, yield, convergence
 * barriers). */
#include "isa/program.h"

enum { MAX_PATHS = MAX_WARP_LANES };
/* value of `next` in leave() if the caller then calls branch(), which moves the remaining lanes */
#define PC_NOWHERE 0xfffffffeu

/* A set of threads of one warp at one PC that the scheduler may pick. The rule for ids: a path keeps its id, also while
 * it is set aside, until it branches, merges or loses lanes; after a leave() with PC_NOWHERE, the id stays valid for
 * the branch() that follows.
 *
 * Only two kinds of calls can change paths and ids: a call that returns RECONV_CHANGED, and a step that ends a block
 * (with reconv_wants.every_pc: any step). After such a call, the caller calls paths() again. After give_way() has
 * changed paths, the caller uses describe() to find the paths that are set aside, by their PC and lanes.
 *
 * A path of a model with RECONV_EMPTY may have no lanes. Its instructions use issue slots and have no effect: they
 * access no memory and wait for no other thread. Each step of this path is an advance() to the next PC, also at a
 * branch or an exit. The path never waits at a barrier, so the caller never calls stall() for it. */
struct path { /* 16 bytes: two registers of the host */
    lanemask_t lanes;
    uint32_t pc;
    uint16_t id;   /* id that the model chooses (see the rule above); argument of the calls below */
    uint8_t board; /* number of the path's scoreboard; with RECONV_BOARD_SIDES, 0 is the left and 1 the right one */
};

/* State that the warps of a CTA share, for models whose control state belongs to the CTA. The model's struct begins
 * with this header. */
struct reconv_cta {
    uint32_t n_warps; /* number of warps of the CTA; the driver sets it before the warps start */
    /* warps whose paths meet() has changed, a bit each: reconv_move() sets it, and the driver clears all */
    uint64_t moved[(MAX_CTA_WARPS + 63) / 64];
    bool due; /* set by a function of the model: the driver must call meet() after the step, and clears this field */
};
static inline void reconv_move(struct reconv_cta *c, uint32_t warp) { c->moved[warp / 64] |= 1ull << warp % 64; }
static inline bool reconv_moved(const struct reconv_cta *c, uint32_t warp) {
    return c->moved[warp / 64] >> warp % 64 & 1;
}

enum { RECONV_COUNTERS = 4, RECONV_LEVELS = 4 };
/* A value that changes over time, such as a number of waiting threads: see reconv_ops.levels. */
struct reconv_level {
    uint64_t value;
    uint64_t since, sum; /* sum of the values in the cycles before `since` */
};
/* What a model may know about a warp, besides its steps. The pointers are valid as long as the model's state. */
struct reconv_warp {
    const struct program *program; /* for reconv_fact() and reconv_block() */
    uint32_t sm;                   /* number of the SM; 0 in the interpreter */
    uint32_t warp;                 /* number of the warp in its CTA */
    uint64_t cta;                  /* number of the CTA in the grid, x first; 0 for a warp without a CTA */
    const uint64_t *clock;         /* number of cycles that the SM has begun; NULL: the caller has no time */
    uint64_t *counts; /* RECONV_COUNTERS counters, which the warps of an SM share: see reconv_ops.counters */
    struct reconv_level
        *levels;               /* RECONV_LEVELS levels, which the warps of an SM share; NULL: the caller has no time */
    struct reconv_cta *shared; /* state that the warps of its CTA share: see reconv_ops.join; NULL: none */
    void *far; /* size() bytes, if the state has only reconv_ops.near bytes; NULL: the state has size() bytes */
};
/* Brings the sum of a level up to cycle `now`, which has not begun. */
static inline void reconv_level_sum(struct reconv_level *l, uint64_t now) {
    l->sum += l->value * (now - l->since);
    l->since = now;
}
/* Adds to level `i` from the present cycle on. */
static inline void reconv_level_add(const struct reconv_warp *w, uint32_t i, int64_t more) {
    if (!w->levels)
        return;
    reconv_level_sum(&w->levels[i], *w->clock);
    w->levels[i].value += (uint64_t)more;
}
/* Returns a fact, one value for each block; NULL if no pass found it. The names are those of reconv_ops.facts. */
static inline const uint32_t *reconv_fact(const struct reconv_warp *w, const char *name) {
    return program_fact(w->program, name);
}
/* Returns the block of an instruction. Requires that the program has an instruction at `pc`. */
static inline uint32_t reconv_block(const struct reconv_warp *w, uint32_t pc) { return w->program->info[pc].block; }

/* A branch as the compiler describes it to the hardware. */
struct branch_site {
    uint32_t pc; /* PC of the branch */
    /* PC of the immediate post-dominator; PC_EXIT if the sides of the branch do not join before the threads exit */
    uint32_t rpc;
    uint32_t rpc_block; /* number of instructions from rpc to the next branch or join; 0 if rpc is PC_EXIT */
    /* branch target in the instruction: its side is the taken side; PC_EXIT for an n-way branch */
    uint32_t taken_pc;
    /* 1 for a call, -1 for a return, 0 for other branches. Under recursion, a position in the program consists of a PC
     * and a call depth */
    int calls;
    bool conditional; /* threads may take different targets: the branch has a guard, or is indirect */
    bool waits;       /* a backward branch of a loop that waits for other threads (inst_info.waits) */
    uint32_t hinted;  /* PC of the target that should run first, plus 1; 0: no hint */
};

/* Returns the reconvergence PC of lanes that return to n different targets, or PC_EXIT if it is unknown. The PC is
 * known in one case only: threads return from a recursive function at different depths, and exactly one target lies
 * outside recursive functions. They reconverge at that target. */
uint32_t reconv_return_rpc(const struct program *p, const struct target *t, int n);

/* Options of all models. Each model reads only its own options. */
struct reconv_cfg {
#include "isa/option_fields.def"
#include "isa/paths/reconv.def"
};

/* Bits that a call of a model can return. */
enum {
    RECONV_SHADOW_0 = 1, /* the SM copies the pending bits of scoreboard 0 to its shadow bits */
    RECONV_SHADOW_1 = 2,
    /* the result of paths() has changed. Only stall, wake, yield, split, gather and give_way use this bit. Steps
     * (advance, branch, leave, bssy, bsync, leave_barrier) do not need it, since callers always call paths() after a
     * step. */
    RECONV_CHANGED = 4,
};

/* Why a path cannot issue. STALL_LOAD_USE: the path needs the result of a load or of another slow operation.
 * STALL_OTHER: the path waits at a CTA barrier or for lanes of its member mask. */
enum reconv_stall { STALL_LOAD_USE, STALL_OTHER };

/* The waiting lanes of a warp, as an argument of give_way(). */
struct lane_waits {
    lanemask_t waiting;               /* lanes that wait at a CTA barrier or for lanes of their member mask */
    lanemask_t wants[MAX_WARP_LANES]; /* for each lane of the warp: the lanes of its warp for which it waits */
};

struct path_desc {
    struct path path;
    const char *state; /* text for reports, such as "top of stack", "suspended", "stalled on a load" */
    uint32_t rpc;      /* reconvergence PC; PC_EXIT: none */
};

enum {
    RECONV_BARRIERS = 1,     /* the program must contain BSSY, BSYNC and BREAK (frontend/passes/barriers.c) */
    RECONV_EMPTY = 2,        /* paths() may return a path without lanes */
    RECONV_SIDE_BY_SIDE = 4, /* paths() may return several paths. Models with cta_size() may do so without this flag */
    /* paths join wherever they meet: the number of instructions of a warp depends on time, and differs in the
     * functional model */
    RECONV_MEETS = 8,
};

/* What a model requests from its caller, under the given options. With all fields zero, the caller reports only
 * branches, exits, barriers and block ends. The interpreter obeys `every_pc` alone; the SM obeys all fields. A field
 * that names a call requires that the model implements it. */
struct reconv_wants {
    bool every_pc; /* call advance() after every instruction, not only where inst.ends_block is set */
    bool splits;   /* call split() when a path waits for a load that hit in some of its lanes and missed in others */
    bool revives;  /* if `splits` is set: call split() only while no warp of the SM can issue */
    /* if `splits` is set: call gather() before instructions that may diverge or that act on all lanes of a path */
    bool gathers;
    /* call stall(STALL_LOAD_USE) when a load misses the L1 or a slow operation issues; paths() of the model may then
     * return another path */
    bool rotates;
    /* call stall(STALL_LOAD_USE) and then select() when paths wait for loads (see `trigger`), and wake() when the data
     * arrive */
    bool interleaves;
    bool yields; /* call yield() after instructions with a yield hint (inst_info.yields) */
    /* only one path is active at a time, and a switch to another path costs cycles (the next two fields) */
    bool switches;
    /* cycles of a switch after the active path has ended or blocked; cycles of a switch after it has stalled or
     * yielded */
    uint32_t switch_latency, stall_latency;
    /* enum reconv_trigger: fraction of a scheduler's live warps that must be stalled before it calls select() */
    uint32_t trigger;
    /* if `yields` is set: call yield() also after this number of long-latency operations; 0: only at hints */
    uint32_t yield_after;
    /* number of entries of a warp's stack that the hardware holds (see depth()); 0 means all entries */
    uint32_t stack_entries;
};

/* The scoreboard that a model needs. */
enum reconv_board {
    RECONV_BOARD_WARP, /* one set of pending bits for the warp */
    /* a left and a right set of pending bits, with shadow bits; path.board selects one of the two sets */
    RECONV_BOARD_SIDES,
    RECONV_BOARD_LANES,        /* a mask of pending lanes for each register */
    RECONV_BOARD_COUNTED,      /* six counters per warp */
    RECONV_BOARD_COUNTED_LANES /* six counters for each lane */
};

/* Hardware storage of one warp, in bits. */
struct reconv_storage {
    uint32_t entry; /* bits of one entry (see depth()) */
    uint32_t fixed; /* bits in addition to the entries */
};

struct reconv_ops {
    const char *name, *help;
    unsigned flags;
    /* names of the facts that passes must find for the model; the list ends with NULL, and a NULL list means no
     * facts */
    const char *const *facts;
    /* names of the statistics in reconv_warp.counts; the list ends with NULL, and a NULL list means none */
    const char *const *counters;
    /* names of the values in reconv_warp.levels; the list ends with NULL, and a NULL list means none. A trace has a
     * curve for each level. A statistic with the same name gets the sum of the level over all cycles, also in
     * samples */
    const char *const *levels;
    /* Number of bytes at the beginning of a warp's state that are zero before join() and start(); 0 means all bytes.
     * The other bytes are left from an earlier warp. So a model with a large table saves the time to clear it. */
    size_t zeroed;
    /* Number of bytes at the beginning of a state that most warps need; 0 means all bytes. A caller may provide only
     * these bytes, and reconv_warp.far for the rest. So the host provides few pages for many warps. */
    size_t near;
    /* Returns the size of the state of a warp of `lanes` lanes in bytes, a multiple of 8. A field has the same place
     * for any number of lanes. */
    size_t (*size)(const struct reconv_cfg *cfg, uint32_t lanes);
    /* Shared state, for models whose control state belongs to the CTA; all three are NULL in other models. cta_size:
     * size of the state of a CTA in bytes, a multiple of 8. It starts as zeros. join: called before start() for each
     * warp of the CTA, before any of them executes; `warp` is the index in the CTA. meet: called if reconv_cta.due is
     * set, after a step and after the releases of barriers that follow from it. Only meet() changes the paths of other
     * warps. It keeps the ids of paths that paths() lists. */
    size_t (*cta_size)(const struct reconv_cfg *cfg, uint32_t n_warps);
    void (*join)(void *st, const struct reconv_cfg *cfg, struct reconv_cta *cta, uint32_t warp);
    void (*meet)(struct reconv_cta *cta);
    /* Starts a warp: all `lanes` are at `pc`. The state has size() bytes, zeroed as above. `cfg` outlives the state. */
    void (*start)(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes);
    /* Tells the model facts about the warp, right after start(). NULL if the model needs none. */
    void (*inform)(void *st, const struct reconv_warp *w);
    /* Fills out[0..max) with the schedulable paths, the preferred one first, and returns their number. Returns 0 if all
     * lanes have exited (then finished() is true) or all are blocked. Does not change the state. */
    int (*paths)(const void *st, struct path *out, int max);
    /* Returns true when all lanes have exited. */
    bool (*finished)(const void *st);
    /* A step: the path executed instructions other than branches, and all its lanes continue at `next`. */
    unsigned (*advance)(void *st, int id, uint32_t next);
    /* A step: the lanes of the path continue at n >= 1 different targets (n == 1: a uniform branch). The groups are
     * disjoint and cover the path. Their order is the hardware's: for a two-way branch the taken group first, then the
     * fall-through. */
    unsigned (*branch)(void *st, int id, const struct target *t, int n, const struct branch_site *site);
    /* A step: `lanes` of the path exit; the other lanes, if any, continue at `next`. `lanes` may be empty. Between a
     * leave() with PC_NOWHERE and its branch(), the caller may call wake() for other paths. */
    unsigned (*leave)(void *st, int id, lanemask_t lanes, uint32_t next);
    /* Steps at convergence barriers. bssy: the lanes of the path join barrier `bar`, whose join point is the PC `join`.
     * bsync: the lanes arrive at the barrier; it opens when all of its lanes have arrived, or `enough` of them (a soft
     * barrier: the lanes stay in it; 0: all). Both are NULL in models without RECONV_BARRIERS. */
    unsigned (*bssy)(void *st, int id, uint32_t bar, uint32_t join, uint32_t next);
    unsigned (*bsync)(void *st, int id, uint32_t bar, uint32_t enough, uint32_t next);
    /* A step: `lanes` of the path leave barrier `bar` and will not arrive at it, so no lane waits for them there. All
     * lanes of the path continue at `next`. */
    unsigned (*leave_barrier)(void *st, int id, uint32_t bar, lanemask_t lanes, uint32_t next);
    /* Stalls; NULL if the model ignores them. stall: the path cannot issue, for the reason `why`. After STALL_OTHER,
     * and after STALL_LOAD_USE if select() then returns true, the path is set aside until wake(). wake: the path can
     * issue again. select: the model may switch to another path. Returns true if another path became active; the caller
     * then adds the latency. yield: the path can issue but lets another path run first. */
    unsigned (*stall)(void *st, int id, enum reconv_stall why);
    unsigned (*wake)(void *st, int id);
    bool (*select)(void *st);
    unsigned (*yield)(void *st, int id);
    /* Splits the path into the lanes of a load that hit and the lanes `slow` that missed, if an option of the model
     * turns this on. Both continue at `next`. Returns 0 if the path was not split. Otherwise *slow_path is the path of
     * the slow lanes, with valid `pc`, `lanes` and `board`. That path may not be schedulable yet, and the caller gets
     * its id from paths(). NULL in models without splits. */
    unsigned (*split)(void *st, int id, lanemask_t slow, uint32_t next, struct path *slow_path);
    /* Called before the instruction at `pc`, which may diverge or acts on all lanes of a path: the halves of a split
     * must merge before it. Returns RECONV_CHANGED if the path must wait for the other half of its split, or has merged
     * with that half. Returns 0 if the path may issue. NULL in models whose splits need not join. */
    unsigned (*gather)(void *st, int id, uint32_t pc);
    /* Resolves a deadlock between waiting lanes and the model's own order. Case 1: a lane waits for a lane of its
     * member mask or at its barrier that the model cannot schedule first, because that lane is further down the stack
     * or blocked at a convergence barrier. Then these two lanes no longer reconverge. Case 2: all schedulable paths
     * wait, while other paths, which never reconverge with them, could run. Then these other paths run. Returns 0 if
     * there was nothing to do, RECONV_CHANGED if paths and ids have changed. NULL in models where no lane waits for
     * another lane. */
    unsigned (*give_way)(void *st, const struct lane_waits *ws);
    /* Returns the group of a path. Paths of the CTA with the same group number have disjoint lanes and issue together.
     * A path with the number 0 issues alone. If the function is NULL, every path issues alone. */
    uint32_t (*group)(const void *st, int id);
    /* Returns the number of paths in Equation 1 of the dual-path paper (gpu.avg_paths): the paths that the model could
     * issue side by side, whether or not they wait at a barrier. NULL means the number that paths() returns. */
    int (*concurrent)(const void *st);
    /* Fills out[0..max) with all paths and their states, for deadlock reports and `inspect --paths`, and returns their
     * number. */
    int (*describe)(const void *st, struct path_desc *out, int max);
    /* Returns the scoreboard that the paths need. NULL means RECONV_BOARD_WARP. */
    enum reconv_board (*board)(const struct reconv_cfg *cfg);
    /* Returns the lanes that can issue now, or after a latency, even if no other lane makes progress. NULL means the
     * lanes of paths(). */
    lanemask_t (*runnable)(const void *st);
    /* Returns the entries in use (stack, warp-split table or thread status table), for gpu.max_stack_depth. */
    int (*depth)(const void *st);
    struct reconv_storage (*storage)(const struct reconv_cfg *cfg);
    /* Returns the model's requests to its caller. NULL means no requests. */
    struct reconv_wants (*wants)(const struct reconv_cfg *cfg);
};

static inline struct reconv_wants reconv_wants(const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    return ops->wants ? ops->wants(cfg) : (struct reconv_wants){.every_pc = false};
}

extern const struct reconv_ops reconv_spe; /* isa/paths/reconv_spe.c; the other models are in mechanisms/ */
void reconv_cfg_default(struct reconv_cfg *cfg);
#endif
