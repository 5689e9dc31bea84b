#ifndef TIMING_SM_PARTS_H
#define TIMING_SM_PARTS_H
/* Inside of an SM: for its stages, and for its units (unit.h), which read what they need. Those outside use sm.h. */
#include "fetch.h"
#include "isa/paths/control.h"
#include "pipes.h"
#include "sched.h"
#include "sm.h"
#include "sm_counts.h"
#include "timed.h"
#include "timing/config/table_size.h"
#include "timing/config/warp_set.h"
#include "wheel.h"

/* With peer.fetch_astray, a path that has jumped: its buffer is not yet thrown away (the next fetch may begin a cycle
 * later), or the instructions behind the jump are fetched first. */
enum path_stray { STRAY_NONE, STRAY_FLUSH, STRAY_FETCH };

struct sm_path {
    uint32_t pc;
    lanemask_t lanes;
    uint16_t id;     /* the model's */
    uint16_t ticket; /* of its fetch while PATH_FETCHING */
    uint8_t board;
    uint8_t state;     /* enum path_state */
    uint8_t buffered;  /* instructions in the buffer, from pc on */
    bool stale;        /* the model was not told of its last steps */
    bool refused;      /* PATH_FETCH: no room in the instruction cache until a line arrives */
    uint8_t stray;     /* enum path_stray */
    uint32_t wrong;    /* STRAY_FETCH: the PC that is fetched */
    uint64_t switched; /* PATH_SWITCH: cycle at which it may issue */
};

/* The paths of a warp slot, and its scoreboard, if it is that small: the first path, which is mostly the only one, lies
 * in one line with it. An odd number of lines keeps warps out of each other's cache sets. */
enum { SMALL_BOARD = 32 };
struct sm_paths {
    _Alignas(64) unsigned char board[SMALL_BOARD];
    struct sm_path path[MAX_PATHS];
};
_Static_assert(sizeof(struct sm_paths) / 64 % 2 == 1, "an odd number of lines");

/* Lanes that wait for others of their member mask: their result is under way once these have come, and an entry of the
 * instructions in flight is free. Waiting takes none, for those that are waited for need one. */
struct sm_await {
    uint64_t issued; /* cycle */
    lanemask_t lanes;
    uint32_t pc;
    uint8_t board;
    bool served; /* nobody is waited for any more, but no entry was free */
};

struct sm_warp {                 /* two lines of the host's cache, from an edge on */
    _Alignas(64) struct warp *w; /* NULL: the slot is free */
    void *board;                 /* state of the scoreboard */
    struct sm_path *path;        /* MAX_PATHS */
    uint16_t inflight;           /* instructions issued whose results are not written */
    uint16_t accesses;           /* memory instructions not finished */
    uint16_t atomics;            /* of these, with peer.sm_atomic_wait */
    uint16_t ticket;             /* of its last fetch */
    lanemask_t ordered;          /* lanes whose last instruction waits for sm_perform() */
    uint8_t cta;                 /* slot */
    uint8_t n_paths, last_path;
    uint8_t n_concurrent; /* what gpu.avg_paths counts: reconv_ops.concurrent */
    uint8_t n_await;
    bool finished; /* all lanes have left */
    bool context;  /* it is a unit's, and has no CTA */
    bool asleep;   /* that, on an SM without a CTA that has begun */
    bool turning;  /* in_turn: its registers are on their way to the lanes */
    bool selected; /* the model was asked for another path since its paths last changed */
    bool gave_way; /* its active path has stalled or yielded: the next switch is one of wants.stall_latency */
    bool looks;    /* it is in sm->split_look */
    struct warp_control control;
    uint32_t long_ops; /* long-latency operations since its path became active */
    uint32_t loads;    /* splits: its loads in flight, the newest first; NO_INFLIGHT ends */
    /* what is seldom asked for */
    struct sm_await *await; /* MAX_PATHS */
    uint32_t away;          /* in_turn: registers of 32 lanes that it has in memory while it has no turn */
    uint32_t stack_depth, stack_resident; /* entries of its stack, and those of them in hardware */
};
_Static_assert(sizeof(struct sm_warp) == 128, "two lines");

enum { SM_CTA_SLOTS = 64 };
struct sm_cta {
    struct cta *cta; /* NULL until the slot is first used */
    struct dim3 id;
    struct warp_set warps; /* that are not done; none: the slot is free */
};

/* A warp without a CTA (unit.h): slot cfg->sm.warps + its index. That of sm.cta with the same index behind the CTAs'
 * has what an instruction asks its CTA for. */
struct sm_context {
    const struct sm_unit *owner; /* NULL: none */
    const char *name;
    bool driven;
    uint32_t next; /* driven: where it goes on */
};

/* An instruction between issue and write-back. */
struct inflight {
    uint64_t issued; /* cycle */
    uint32_t pc;
    uint32_t next; /* of sm->free_inflight, or of sm_warp.loads */
    lanemask_t lanes;
    uint8_t warp, board, part;
    bool missed : 1, used : 1;
    bool known : 1;             /* splits: a load that waits, and all of whose lines have been looked up */
    const struct sm_form *form; /* of a memory instruction, NULL: the program's */
};
enum { NO_INFLIGHT = 0xffffffffu };

/* A memory instruction between issue and the load/store unit: where it stands, which a cycle looks at, and what it
 * brings. */
enum mem_stage { MEM_LATCH, MEM_COLLECT, MEM_OUT };
struct mem_step {
    uint64_t
        at; /* cycle from which it may go on to the next stage, if that has room; UINT64_MAX: not before an event */
    uint64_t what; /* index into sm.mem * MEM_STAGES + its stage */
};
enum { MEM_STAGES = 4 }; /* a power of two */
struct mem_inst {
    uint32_t inflight;
    bool ordered;       /* not performed yet: its addresses are unknown */
    bool skip;          /* it turned out that no lane executes it */
    uint64_t collected; /* ordered: cycle at which its operands are there; UINT64_MAX: not known yet */
    struct lsu_access access;
    uint64_t addr[WARP_LANES];
};
enum { MEM_QUEUE = TABLE_SIZE(96, 2), MAX_INFLIGHT = TABLE_SIZE(2048, 8) }; /* sm_warp counts in 16 bits */

/* The pipes of one kind, and the collectors before them. */
struct exec_pipe {
    struct collector collector;
    struct pipes units;
};

/* Collectors, banks and pipes: one set for the SM, or one for each scheduler of a divided SM. */
struct exec_part {
    uint64_t takes[N_PIPES]; /* cycle from which the issue latch has room; UINT64_MAX: not before an event */
    uint32_t n_mem, n_latch, n_collect, n_out;
    uint32_t mem_collectors;
    struct mem_step place[MEM_QUEUE]; /* memory instructions in order of issue */
    struct exec_pipe pipe[N_PIPES];
    struct regfile regfile;
};

/* An instruction that waits for the window's end. */
struct ordered_inst {
    uint64_t cycle;
    uint32_t pc, mem; /* mem: index into sm.mem; MEM_QUEUE when it is a system call */
    lanemask_t active;
    uint8_t warp;
};

/* What was issued as plain, by PC. */
struct sm_tally {
    uint64_t issued, lanes; /* lanes: that executed */
};

struct sm {
    _Alignas(64) struct sm_status status; /* first: sm_status() */
    /* touched in every cycle */
    uint32_t words;            /* in use, of sets of warps */
    uint32_t slots;            /* of warps, those of contexts included */
    uint64_t mem_due;          /* next cycle at which a memory instruction may move on */
    uint64_t accounted;        /* first cycle that is not in the counts */
    uint32_t n_parts;          /* of a divided SM: one a scheduler */
    bool polls;                /* walks every cycle: the same figures, slowly */
    bool plain, lean, calm;    /* sm_plain.h */
    bool jumps;                /* that, too */
    bool any_refused;          /* a path may be `refused` */
    bool lsu_refused;          /* a memory instruction: the load/store unit had no room for it */
    uint64_t own_next;         /* calm: next cycle to walk for other reasons than lsu_due and mem_due */
    uint16_t heard;            /* TIMED_ bits of instructions after which sm_long_latency() is called */
    struct warp_set live;      /* warps that have not finished */
    struct warp_set divergent; /* warps whose first path is not all of their live lanes */
    /* By word of the sets: warps that have a path in this state. Side by side, since a cycle asks for many of them. */
    uint64_t in_state[WARP_WORDS][N_PATH_STATES];
    struct reconv_wants wants; /* the model's */

    struct sm_units units; /* extensions, and which calls they listen to */

    const struct config *cfg;
    const struct reconv_ops *ops;
    const struct reconv_cfg *options; /* of ops */
    const struct scoreboard_ops *sb;
    struct lsu *lsu;
    const struct launch *launch;
    const struct timed_program *program;
    struct sched sched[8];
    struct sm_warp warp[WARP_SLOTS];
    uint32_t age[WARP_SLOTS];
    uint32_t next_age;
    /* peer.fetch_reclaims: warps that are done; those of them that the fetch stage has reclaimed */
    struct warp_set spent, reclaimed;
    uint8_t fetch_last[8]; /* warp that fetched last, by part */
    struct fetch fetch;
    struct exec_part part[8];
    struct wheel wheel;
    struct inflight *inflight;
    uint32_t free_inflight, id;
    uint64_t scarce_until; /* the table of instructions in flight, or of memory instructions, was full a while before */
    uint32_t issue_first;  /* the scheduler that chooses first then */
    uint32_t n_served;     /* entries of sm_warp.await that are served and have no result under way */
    struct mem_inst *mem;
    uint8_t free_mem[MEM_QUEUE];
    uint32_t n_free_mem;
    struct sm_cta cta[SM_CTA_SLOTS + MAX_CONTEXTS];
    struct sm_context context[MAX_CONTEXTS];
    uint32_t n_contexts; /* open */
    uint32_t n_turning;  /* in_turn: warps whose registers are on their way to the lanes */
    bool unlock;         /* the access that is issued unlocks what it reads: sm_unit_ops.take */
    bool asleep;         /* no CTA has begun: contexts do nothing */
    uint32_t warps_used, registers_used, shared_used;
    uint32_t cta_warps, cta_registers, cta_shared; /* what one CTA of the launch takes */
    struct held_stores held;                       /* plain stores of this window */
    uint64_t local_stride;                         /* bytes from a word of a warp's local memory to its next */
    bool hold_stores;                              /* a CTA stays until its stores are acknowledged */
    struct ordered_inst *ordered;                  /* MAX_PATHS a slot, as the four that follow it below */
    uint32_t ordered_at;
    uint64_t walked;  /* the last cycle that came again at once, */
    uint32_t repeats; /* and how often */
    struct fault fault;
    struct sm_counts n;
    struct sm_tally *tally;         /* what is not in `n` yet: sm_take_tally() */
    struct gpu_profile *profile;    /* NULL: off */
    uint8_t split_look[WARP_SLOTS]; /* splits: warps for which something has changed since sm_split() */
    uint32_t n_split_look;
    struct effects fx;
    struct sm_paths *path_memory;
    struct path_wait *held_memory;
    struct sm_await *await_memory;
    struct sm_copies *copies;          /* sm_copy.c; NULL: the program has none */
    uint64_t arrivals_made;            /* that copies made at mbarriers, without an instruction, in this launch */
    void *model_memory, *board_memory; /* board_memory: of larger boards than SMALL_BOARD */
    size_t model_size, board_size;     /* bytes a slot */
};

static inline struct sm_candidate sm_candidate_of(const struct sm *sm, uint32_t w, uint32_t p) {
    const struct sm_path *path = &sm->warp[w].path[p];
    return (struct sm_candidate){.warp = w,
                                 .path = p,
                                 .pc = path->pc,
                                 .lanes = path->lanes,
                                 .in = &sm->program->program->code[path->pc],
                                 .ti = &sm->program->inst[path->pc]};
}

/* The warp has a path in the state, or none. */
static inline void sm_state_add(struct sm *sm, uint32_t state, uint32_t w) {
    sm->in_state[w / 64][state] |= 1ull << w % 64;
}
static inline void sm_state_drop(struct sm *sm, uint32_t state, uint32_t w) {
    sm->in_state[w / 64][state] &= ~(1ull << w % 64);
}
static inline bool sm_state_has(const struct sm *sm, uint32_t state, uint32_t w) {
    return sm->in_state[w / 64][state] >> w % 64 & 1;
}
/* All warps with a path in the state. */
static inline struct warp_set sm_state_set(const struct sm *sm, uint32_t state) {
    struct warp_set out;
    for (uint32_t k = 0; k < WARP_WORDS; k++)
        out.word[k] = sm->in_state[k][state];
    return out;
}

void sm_states_changed(struct sm *sm, uint32_t w); /* of a warp with several paths, or none */
void sm_split_look(struct sm *sm, uint32_t w);
/* The path goes into the state. */
static inline void sm_move(struct sm *sm, uint32_t w, struct sm_path *path, uint8_t state) {
    uint8_t old = path->state;
    if (old == state)
        return;
    path->state = state;
    if (state == PATH_LOAD && sm->wants.splits)
        sm_split_look(sm, w);
    if (__builtin_expect(sm->warp[w].n_paths > 1, 0)) {
        sm_states_changed(sm, w);
        return;
    }
    sm_state_drop(sm, old, w);
    sm_state_add(sm, state, w);
}

/* Does any unit listen to the call? */
static inline bool sm_hooked(const struct sm *sm, enum sm_hook hook) {
    return __builtin_expect(sm->units.n[hook] != 0, 0);
}

/* Between sm.c, sm_issue.c, sm_mem.c, sm_paths.c and sm_cta.c. */
enum { EVENT_WRITEBACK, EVENT_FETCHED, EVENT_SWITCHED, EVENT_START, EVENT_TURN, EVENT_KINDS = 8 /* a power of two */ };
static inline uint32_t event_make(uint32_t kind, uint32_t value) { return value * EVENT_KINDS + kind; }
void sm_take_tally(struct sm *sm);
void sm_find_plain(struct sm *sm); /* what sm->plain depends on has changed, or may have */
void sm_evaluate(struct sm *sm, uint32_t w, uint32_t p, uint64_t now); /* what may the path do next? */
/* Splits: at the end of a cycle, for the warps to look at. A warp is looked at when a path of it comes to wait for a
 * load, a load of it is known, or a result is written. True: ask in the next cycle, too. */
bool sm_split(struct sm *sm, uint64_t now);
void sm_load_issued(struct sm *sm, uint32_t inflight);
void sm_load_known(struct sm *sm, uint32_t inflight);
void sm_load_ended(struct sm *sm, uint32_t inflight);
void sm_switched(struct sm *sm, uint32_t w, uint64_t now); /* switches: the path that is active now pays for it */
bool sm_select(struct sm *sm, uint64_t now); /* interleaves: at the end of a cycle; true: ask in the next, too */
void sm_wake_held(struct sm *sm, uint32_t w, uint64_t now); /* a register of the warp was written */
/* An instruction of `heard` was issued, with its effects in sm->fx, by the path that the model called `id`. */
void sm_long_latency(struct sm *sm, uint32_t w, uint16_t id, const struct timed_inst *ti, uint64_t now);
/* sm_copy.c: cp.async. The launch begins (false: out of memory), and ends. */
bool sm_copies_begin(struct sm *sm);
void sm_copies_end(struct sm *sm);
/* Must the path wait before its instruction, of TIMED_COPY and TIMED_FENCE? */
bool sm_copies_hold(const struct sm *sm, uint32_t w, const struct sm_path *path);
/* An instruction of TIMED_COPY was executed, with its effects in sm->fx; mem: the place of a K_COPY in sm->mem. */
void sm_copies_issued(struct sm *sm, uint32_t w, const struct inst *in, uint32_t mem);
/* The data of a K_COPY are in shared memory. */
void sm_copy_done(struct sm *sm, uint32_t inflight, uint64_t now);
bool sm_copies_under_way(const struct sm *sm);
void sm_stack_moved(struct sm *sm, uint32_t w, uint64_t now);    /* stack_entries: after its paths have changed */
void sm_missed(struct sm *sm, uint32_t inflight, uint64_t now);  /* rotates: a load has missed its L1 */
void sm_heed(struct sm *sm, struct sm_warp *sw, unsigned flags); /* RECONV_ bits of a call of the model */
void sm_heed_control(struct sm *sm, struct sm_warp *sw);         /* those, and the depth, that came to sw->control */
void sm_tell_all(struct sm *sm, struct sm_warp *sw);             /* the model learns where all its paths stand */
bool sm_gather(struct sm *sm, uint32_t w, uint32_t p, uint64_t now); /* may it issue a TIMED_GATHER instruction? */
void sm_evaluate_all(struct sm *sm, uint32_t w, uint64_t now);
/* Accounts for the cycles until `to`. */
void sm_account(struct sm *sm, uint64_t to);
/* For units: their answer to may_issue() about the warp may be another one now. */
void sm_reconsider(struct sm *sm, uint32_t w, uint64_t now);
/* `cycle` has to be walked; for units, too. */
static inline void sm_wake(struct sm *sm, uint64_t cycle) {
    if (cycle < sm->status.next)
        sm->status.next = cycle;
    if (cycle < sm->own_next)
        sm->own_next = cycle;
}
void sm_refresh(struct sm *sm, uint32_t w, uint64_t now); /* asks the model for the paths of the warp */
void sm_fetched(struct sm *sm, uint32_t value, uint64_t now);
void sm_fetch_arrived(struct sm *sm, uint32_t ticket, uint32_t latency, uint64_t now);
void sm_fetch_retry(struct sm *sm);
void sm_fetch(struct sm *sm, uint64_t now);
/* False: the slot was lost, since the path has to wait for lanes that it was split from. */
bool sm_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
/* The last entry of a table has been taken: who waits for one has a turn, see sm.c. */
enum { SCARCE_CYCLES = 1024 };
static inline void sm_scarce(struct sm *sm, uint64_t now) { sm->scarce_until = now + SCARCE_CYCLES; }
static inline bool sm_inflight_free(const struct sm *sm) { return sm->free_inflight != NO_INFLIGHT; }
static inline bool sm_pipe_accepts(const struct sm *sm, uint32_t part, uint32_t pipe, uint64_t now) {
    return sm_inflight_free(sm) && sm->part[part].takes[pipe] <= now;
}
/* An instruction has left the issue latch of the memory pipe, or has come. */
static inline void sm_mem_latch_changed(struct sm *sm, struct exec_part *e) {
    e->takes[PIPE_MEM] = e->n_latch < sm->cfg->sm.pipe[PIPE_MEM].in_ports && sm->n_free_mem ? 0 : UINT64_MAX;
}
/* sm_chain.c */
void sm_count_chain(struct sm *sm, uint32_t pc); /* of a K_CHAIN; likewise */
void sm_chain_stats(const struct sm *sm, struct stats *s);
/* sm_reduce.c */
void sm_count_reduce(struct sm *sm, uint32_t pc); /* of a K_REDUCE; likewise */
void sm_reduce_stats(const struct sm *sm, struct stats *s);
/* Counts an instruction that `active` lanes of a path issued and sm->fx says the effects of. */
void sm_count_lanes(struct sm *sm, const struct timed_inst *ti, uint32_t pc, lanemask_t active);
void sm_complete(struct sm *sm, uint32_t inflight, uint64_t now); /* registers are written */
/* The registers of an instruction, where its form says that they lie: the cycle after the last read, that of the last
 * write; see regfile_read(), regfile_write(). */
static inline uint64_t sm_read_registers(struct sm *sm, uint32_t part, uint32_t w, const struct timed_inst *ti,
                                         const struct sm_form *form, uint64_t from) {
    uint64_t ready = regfile_read(&sm->part[part].regfile, &ti->banks, w, from);
    if (__builtin_expect(!form || !form->file, 1))
        return ready;
    uint64_t other = regfile_read(&form->file[part], &form->other, w, from);
    return other > ready ? other : ready;
}
static inline uint64_t sm_write_registers(struct sm *sm, uint32_t part, uint32_t w, const struct timed_inst *ti,
                                          const struct sm_form *form, uint64_t from, uint64_t now) {
    uint64_t written = regfile_write(&sm->part[part].regfile, &ti->banks, w, from, now);
    if (__builtin_expect(!form || !form->file, 1))
        return written;
    uint64_t other = regfile_write(&form->file[part], &form->other, w, from, now);
    return other > written ? other : written;
}
uint32_t sm_inflight_new(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, uint8_t board);
/* A memory instruction was issued, with addresses in sm->fx unless it is ordered. Returns its place in sm->mem. */
uint32_t sm_mem_accept(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t inflight, bool ordered,
                       uint64_t now);
void sm_mem_performed(struct sm *sm, uint32_t mem, uint64_t now); /* and now sm->fx has its addresses */
/* Their cycle. True when one has ended on the way. */
bool sm_mem_tick(struct sm *sm, uint64_t now);
/* The load/store unit has had its cycle, in which it found this (LSU_ bits): to warps and fetches. */
void sm_lsu_take(struct sm *sm, unsigned found, uint64_t now);
/* Finds out when the load/store unit, or a fetch that waits for its port, has work after `now`. */
static inline void sm_lsu_due(struct sm *sm, uint64_t now) {
    uint64_t lsu = lsu_next(sm->lsu, now), fetch = fetch_next(&sm->fetch, now);
    sm->status.lsu_due = lsu < fetch ? lsu : fetch;
}
/* The path stands before an instruction whose member mask names lanes that are elsewhere (sm_members.c). */
void sm_await_members(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
void sm_members_served(struct sm *sm, uint32_t w, uint64_t now); /* lanes of sw->await may wait no longer */
void sm_members_start(struct sm *sm, uint64_t now);              /* n_served: an instruction in flight has ended */
void sm_barrier_open(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
void sm_warp_check_done(struct sm *sm, uint32_t w, uint64_t now);
void sm_warps_start(struct sm *sm, uint32_t cta, uint64_t now);
void sm_warp_start(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now); /* its warp and board are there */
void sm_doze(struct sm *sm, uint32_t w, uint64_t now);                    /* sw->asleep has changed */
/* Warps in turn (sm_turn.c), where sm.in_turn says so: a warp begins; its registers are there; a cycle ends. */
void sm_turn_await(struct sm *sm, uint32_t w, uint64_t now);
void sm_turn_begin(struct sm *sm, uint32_t w, uint64_t now);
void sm_turns(struct sm *sm, uint64_t now);
/* Contexts (sm_context.c). */
void sm_contexts_sleep(struct sm *sm, bool asleep, uint64_t now);
void sm_contexts_end(struct sm *sm); /* with the launch */
void sm_context_gone(struct sm *sm, uint32_t w, uint64_t now);
uint32_t sm_contexts_awake(const struct sm *sm);
void sm_context_step(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);    /* a driven one: on to the next */
bool sm_context_execute(struct sm *sm, uint32_t w, uint32_t p, uint64_t now); /* true: its unit did, sm->fx says what */
uint64_t sm_local_base(const struct sm *sm, uint32_t w); /* device address the timing model gives local memory */
void sm_advance(struct sm *sm, uint32_t w, uint32_t p, uint64_t now); /* one instruction on, in program order */
void sm_control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now); /* after sm->fx */
/* What follows from a call of sw->control: `live` threads had the CTA before, `opened` is what the call returned. */
void sm_controlled(struct sm *sm, uint32_t w, uint32_t live, uint32_t opened, uint64_t now);
#endif
