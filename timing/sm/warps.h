#ifndef TIMING_SM_WARPS_H
#define TIMING_SM_WARPS_H
/* The warp slots of an SM: warps, their paths, and the sets of warps by the states of their paths. */
#include "isa/paths/control.h"
#include "timing/config/warp_set.h"
#include "timing/sm/sched/sched_ops.h"
#include "warp_path.h"

/* The paths of a warp slot, and the slot's scoreboard if it is small. The first path is usually the only path, and
 * shares a host cache line with the scoreboard. A slot has places only for the paths that the model can have. */
enum { SMALL_BOARD = 32 };
struct sm_paths {
    _Alignas(64) unsigned char board[SMALL_BOARD];
    struct sm_path path[];
};

struct sm_warp {                 /* two cache lines of the host, aligned */
    _Alignas(64) struct warp *w; /* NULL: the slot is free */
    void *board;                 /* state of the scoreboard */
    struct sm_path *path;        /* MAX_PATHS */
    uint16_t inflight;           /* number of issued instructions whose results are not written yet */
    uint16_t accesses;           /* memory instructions in flight */
    uint16_t atomics;            /* with peer.sm_atomic_wait: number of atomics among the accesses */
    uint16_t ticket;             /* number of the warp's last fetch, from which sm_ticket() makes the ticket */
    lanemask_t ordered;          /* lanes whose last instruction waits for sm_perform() */
    uint8_t cta;                 /* slot of its CTA */
    uint8_t n_paths, last_path;  /* last_path: the path that issued last */
    uint8_t n_concurrent;        /* paths that gpu.avg_paths counts: reconv_ops.concurrent */
    uint8_t n_await;             /* entries of await */
    bool finished;               /* all lanes have exited */
    bool context;                /* true if it is a context of a unit (contexts.h) */
    /* true if the warp is not scheduled: a context while the SM has no CTA, or a warp that a unit put to sleep */
    bool asleep;
    bool waking; /* true until the event EVENT_WAKE wakes the warp */
    /* si: true if the warp found no ready path to switch to; false again when its paths have changed */
    bool selected;
    /* true if the warp's active path stalled or yielded: the switch then costs wants.stall_latency */
    bool gave_way;
    bool in_split_check; /* in sm_warps.split_check */
    uint32_t long_ops;   /* number of long-latency operations since its path became active */
    struct warp_control control;
    uint32_t loads; /* newest of the warp's loads in flight, if the model splits paths; NO_INFLIGHT: none */
    uint16_t stack_depth, stack_resident; /* number of entries of the stack; number of entries in hardware */
    struct sm_await *await;               /* MAX_PATHS entries, see member_results.h; rarely used */
};
_Static_assert(sizeof(struct sm_warp) == 128, "two lines");

/* The warp slots. All stages read them. Code that changes the state of a path must also update in_state, as
 * warps_move() does. */
struct sm_warps {
    uint32_t words, slots;     /* number of words of a warp_set in use; number of warp slots for CTAs and contexts */
    uint32_t n_waking;         /* number of warps with `waking` */
    uint32_t most_paths;       /* number of paths for which a slot has room */
    struct warp_set live;      /* warps that have not finished and are not asleep */
    struct warp_set divergent; /* warps whose first path has fewer lanes than the warp has live lanes */
    uint64_t in_state[WARP_WORDS][N_PATH_STATES]; /* warps with a path in the state, by word of a warp_set */
    struct sched_warp *sched;                     /* by slot, for schedulers */
    uint32_t *issued;        /* by slot: instructions since sm_take_issued() was last called (lend.h) */
    uint32_t *age, next_age; /* by slot: number in the order in which warps started, for schedulers */
    struct {
        bool used;      /* the model splits paths */
        uint32_t n;     /* number of warps that the next sm_split() checks, because one of their loads was issued, read
                         * its tags or got data */
        uint16_t *warp; /* these warps, in order */
    } split_check;
    unsigned char *path_memory; /* a struct sm_paths for each slot */
    struct path_wait *held_memory;
    struct sm_await *await_memory;
    void *model_memory, *board_memory;                   /* board_memory: NULL while boards fit into SMALL_BOARD */
    bool boards_small;                                   /* the boards are in struct sm_paths */
    size_t path_size, near_size, model_size, board_size; /* bytes per slot; near_size 0: models have no far part */
    struct sm_warp slot[WARP_SLOTS];
};
/* Return the bytes of struct sm_paths and of the model's state (near and far) for one slot. `lanes`: lanes of a warp.
 * Each is an odd number of host cache lines, which spreads the slots over the sets of the host's caches. */
size_t warps_path_size(const struct reconv_ops *ops, uint32_t lanes);
size_t warps_near_size(const struct reconv_ops *ops, const struct reconv_cfg *options, uint32_t lanes);
size_t warps_model_size(const struct reconv_ops *ops, const struct reconv_cfg *options, uint32_t lanes);
/* Returns reconv_warp.far of a slot. */
void *warps_far(const struct sm_warps *ws, uint32_t w);
static inline struct sm_paths *warps_paths(const struct sm_warps *ws, uint32_t w) {
    return (struct sm_paths *)(void *)(ws->path_memory + w * ws->path_size);
}

/* Makes slots for `warps` warps of `lanes` lanes, and for contexts. Returns false if memory is out; warps_free() must
 * follow in any case. */
bool warps_init(struct sm_warps *ws, const struct reconv_ops *ops, const struct reconv_cfg *options, uint32_t warps,
                uint32_t lanes);
void warps_free(struct sm_warps *ws);
/* Allocates scoreboards of `size` bytes for a launch, one per slot; scoreboard_ops.start() empties them. Returns false
 * if memory is out. warps_free_boards() must follow. */
bool warps_place_boards(struct sm_warps *ws, size_t size);
void warps_free_boards(struct sm_warps *ws);
/* Computes anew in which sets of in_state the warp is, from the states of its paths. (Also for a warp without
 * paths.) */
void warps_states_changed(struct sm_warps *ws, uint32_t w);
/* Makes the next sm_split() check the warp. */
void warps_check_split(struct sm_warps *ws, uint32_t w);
#include "warp_states.h"
#endif
