#ifndef ISA_RECONV_H
#define ISA_RECONV_H
/* What decides which paths of a warp exist, which may be scheduled, and when they merge. Shaped by what hardware can
 * observe: PCs, masks, branches, exits, stalls. A model is one file and one row in a table of models; it knows
 * nothing of caches, pipelines, opcodes, or other models. Used by the interpreter and by the timing model. */
#include "isa/program.h"

enum { MAX_PATHS = WARP_LANES };
#define PC_NOWHERE 0xfffffffeu /* of lanes that leave an instruction when others of their path have exited there */

/* A set of threads of one warp at one PC that the scheduler may pick. */
struct path {
    uint32_t pc;
    lanemask_t lanes;
    uint16_t id;   /* names the path in the calls below; stable until the path branches, ends or merges */
    uint8_t board; /* which scoreboard of the warp it uses: 0 or 1 (left, right) for DPE, 0 for SPE, any for others */
};

/* Where a branch stands, as the compiler tells the hardware. */
struct branch_site {
    uint32_t pc;        /* of the branch */
    uint32_t rpc;       /* immediate post-dominator, PC_EXIT when there is none before the threads' exits */
    uint32_t rpc_block; /* instructions from rpc to the next branch or join; 0 for PC_EXIT */
    uint32_t taken_pc;  /* the written target, to tell the taken side from the fall-through; PC_EXIT for n-way */
    int calls;          /* 1: a call, -1: a return, 0: neither. In recursion a PC alone does not say where a path is */
};

/* Where lanes that return to different places meet again, as far as that is known: threads of a recursive function that
 * are at the end of it at different depths meet where the first of them comes out of the recursion. Else PC_EXIT. */
uint32_t reconv_return_rpc(const struct program *p, const struct target *t, int n);

/* Options of all models; each model reads its own. */
struct reconv_cfg {
#include "isa/option_fields.def"
#include "isa/paths/reconv.def"
};

/* What a call may tell its caller: bits of its result. */
enum {
    RECONV_SHADOW_0 = 1, /* pending bits of board 0 are copied to its shadow bits (DPE) */
    RECONV_SHADOW_1 = 2,
    RECONV_CHANGED = 4, /* of stall, wake, yield, split, gather, give_way: paths() says something else now. After steps
                         * (advance, branch, leave, bssy, bsync, leave_barrier) callers ask in any case, and it means
                         * nothing. */
};

/* What a path waits for, told to models that care (SI). */
enum reconv_stall { STALL_LOAD_USE, STALL_OTHER };

/* Who waits at an instruction of the program, for give_way. */
struct lane_waits {
    lanemask_t waiting;           /* lanes at a barrier of the CTA, or for others of their member mask */
    lanemask_t wants[WARP_LANES]; /* lanes that this one waits for in a member mask */
};

struct path_desc {
    struct path path;
    const char *state; /* "top of stack", "suspended", "blocked at barrier B2", "stalled on a load" ... */
    uint32_t rpc;      /* PC_EXIT when it has none */
};

enum {
    RECONV_BARRIERS = 1, /* the program must contain K_BSSY, K_BSYNC and K_BREAK (frontend/passes/barriers.c) */
};

/* How many of a scheduler's live warps stand still before select() is asked. */

/* What a model wants of those who run it, under its options. All zero: it hears of branches, exits, barriers and block
 * ends. Interpreters heed every_pc; the others are about time, and an SM heeds them. What names a call requires it. */
struct reconv_wants {
    bool every_pc; /* advance() after every instruction; else only where inst.ends_block */
    bool splits;   /* split() when the lanes of a load that a path waits for have parted into hits and misses */
    bool revives;  /* with splits: only while no warp of the SM has work left */
    bool gathers;  /* with splits: gather() before what parts the lanes of a path or means something for all of them */
    bool rotates; /* stall(STALL_LOAD_USE) when a load misses the L1 or a slow operation was issued: it shows another */
    bool
        interleaves; /* stall(STALL_LOAD_USE) and select() when paths wait for loads, as `trigger` says; wake() after */
    bool yields;     /* yield() after instructions whose code says so */
    bool switches;   /* one path is active at a time, and another that becomes it pays for the selection: */
    uint32_t switch_latency, stall_latency; /* cycles: after it ended or blocked; after a stall or a yield */
    uint32_t trigger;                       /* enum reconv_trigger */
    uint32_t yield_after;   /* with yields: also after so many long-latency operations; 0: not because of them */
    uint32_t stack_entries; /* of what depth() counts, a stack, so many are in hardware for a warp; 0: all */
};

/* Which scoreboard a model's paths need: one for the warp; a left and a right one with shadow bits (path.board says
 * which); or one that tracks lanes. */
enum reconv_board {
    RECONV_BOARD_WARP,
    RECONV_BOARD_SIDES,
    RECONV_BOARD_LANES,
    RECONV_BOARD_COUNTED,      /* six counters a warp */
    RECONV_BOARD_COUNTED_LANES /* for each lane */
};

/* What hardware would keep for a warp, in bits. */
struct reconv_storage {
    uint32_t entry; /* one entry of what depth() counts */
    uint32_t fixed; /* beside them, however many entries are in use */
};

struct reconv_ops {
    const char *name, *help;
    unsigned flags;
    /* Bytes of one warp's state, a multiple of 8. */
    size_t (*size)(const struct reconv_cfg *cfg);
    /* All `lanes` at `pc`; the state is zeroed memory of size() bytes. `cfg` outlives the state. */
    void (*start)(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes);
    /* Fills out[0..max) with the schedulable paths, the preferred one first; 0 when all lanes have left or all are
     * blocked (finished() tells). Ids are valid until the next call that changes the state. */
    int (*paths)(const void *st, struct path *out, int max);
    /* True when every lane has left. */
    bool (*finished)(const void *st);
    /* The path executed an instruction that is not a branch; all its lanes go on at `next`. */
    unsigned (*advance)(void *st, int id, uint32_t next);
    /* The lanes of the path go to n >= 1 different targets (n == 1: uniform). Groups are disjoint, cover the path, and
     * come in the order the hardware sees them: for a two-way branch the taken group, then the fall-through. */
    unsigned (*branch)(void *st, int id, const struct target *t, int n, const struct branch_site *site);
    /* `lanes` of the path exit; the others, if any, go on at `next`. */
    unsigned (*leave)(void *st, int id, lanemask_t lanes, uint32_t next);
    /* Convergence barriers: the lanes of the path join barrier `bar` whose join point is `join`, or arrive at it.
     * NULL in models without RECONV_BARRIERS. */
    unsigned (*bssy)(void *st, int id, uint32_t bar, uint32_t join, uint32_t next);
    unsigned (*bsync)(void *st, int id, uint32_t bar, uint32_t next);
    /* `lanes` of the path will not come to the join of `bar`: nobody waits for them there. The path goes on. */
    unsigned (*leave_barrier)(void *st, int id, uint32_t bar, lanemask_t lanes, uint32_t next);
    /* Notices; NULL when the model does not care. stall: the path cannot issue and why; wake: it can again.
     * select: a chance to switch; true when another path became the active one (the caller adds the latency). */
    unsigned (*stall)(void *st, int id, enum reconv_stall why);
    unsigned (*wake)(void *st, int id);
    bool (*select)(void *st);
    unsigned (*yield)(void *st, int id);
    /* Split a path by hit and miss of one load (dpe.memory_divergence, dws.memory); NULL when it cannot. 0: it did not;
     * else *slow_path is the path of the lanes that wait, which may not be schedulable yet. */
    unsigned (*split)(void *st, int id, lanemask_t slow, uint32_t next, struct path *slow_path);
    /* The path stands at `pc`, where lanes that were together before a split must be together again: what comes may
     * part them, or means something for all of them. RECONV_CHANGED: it has to wait for the others; 0: it may issue.
     * NULL in models whose splits need not join. */
    unsigned (*gather)(void *st, int id, uint32_t pc);
    /* Some lanes wait. When a lane that others want in a member mask cannot come before these have gone on (it is below
     * them on a stack, or at a convergence barrier with them), one of the two gives up joining the other, so that it
     * can; likewise when all that may be scheduled waits and paths that will never join it could run. 0: there is
     * nothing to do, else paths have changed, ids among them. NULL in models that hold no lane for another. */
    unsigned (*give_way)(void *st, const struct lane_waits *ws);
    /* How many paths Equation 1 of the dual-path paper counts (gpu.avg_paths): those that the model could let issue
     * side by side, whether or not they wait at a barrier. NULL: as many as paths() gives. */
    int (*concurrent)(const void *st);
    /* Every path with its state, for deadlock reports and pictures; returns how many. */
    int (*describe)(const void *st, struct path_desc *out, int max);
    /* NULL: RECONV_BOARD_WARP. */
    enum reconv_board (*board)(const struct reconv_cfg *cfg);
    /* Lanes that may be scheduled now or when a latency has passed, without any other lane's doing; NULL: those of
     * paths(). */
    lanemask_t (*runnable)(const void *st);
    /* Entries in use now (stack, warp-split table, thread status table), for gpu.max_stack_depth. */
    int (*depth)(const void *st);
    struct reconv_storage (*storage)(const struct reconv_cfg *cfg);
    /* NULL: nothing. */
    struct reconv_wants (*wants)(const struct reconv_cfg *cfg);
};

static inline struct reconv_wants reconv_wants(const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    return ops->wants ? ops->wants(cfg) : (struct reconv_wants){.every_pc = false};
}

extern const struct reconv_ops reconv_spe; /* reconv_spe.c; the others are in timing/ */
void reconv_cfg_default(struct reconv_cfg *cfg);
#endif
