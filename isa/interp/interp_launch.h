#ifndef ISA_INTERP_LAUNCH_H
#define ISA_INTERP_LAUNCH_H
/* The state of a launch of the interpreter: the CTAs that run, and the sequence of their turns. Private to interp.c,
 * interp_turn.c and interp_fault.c. */
#include "interp_warp.h"
#include <pthread.h>

enum {
    RESIDENT = 64,         /* number of CTAs that are resident at first, unless the grid is cooperative */
    WINDOW = 2 * RESIDENT, /* maximum number of turns started and not committed */
    MAX_THREADS = 64,
};

/* TURN_STOPPED: the turn did not start, or it ended early because another turn failed. TURN_HALTED: launch.stop was
 * set. */
enum turn_end { TURN_FINISHED, TURN_SUSPENDED, TURN_FAULT, TURN_DEADLOCK, TURN_STOPPED, TURN_HALTED };

/* The CTAs of a cluster run in one slot: each round runs all of them, in the order of their ranks. The comments here
 * say "CTA" also for a whole cluster. */
struct slot {
    struct run *owner;
    uint32_t n, at;          /* CTAs of the cluster; rank of the CTA that ran last */
    uint32_t ended;          /* bit mask of the ranks that have ended */
    struct cluster together; /* the CTAs */
    uint64_t cta, ticket;    /* number of the current CTA; number of the slot's first turn in the sequence of turns */
    /* number of turns of the slot (one turn for each of several consecutive CTAs); number of these CTAs that have
     * ended */
    uint32_t turns, finished;
    /* in its last turn the CTA was watched, and repeated its steps without changing anything */
    bool quiet;
    bool changed;       /* in this turn the CTA may have ended another thread's wait */
    bool others;        /* `quiet` is set, and a warp of the CTA has other runnable paths */
    uint64_t rotations; /* value of run.rotations that this CTA last applied */
    bool moved;         /* in its last turn the CTA may have changed memory or ended threads */
    bool polls;         /* in its last turn a path polled a clock */
    enum poll polled;   /* the memory that paths polled in its last turn */
    bool talks;         /* in this turn the CTA communicated with other CTAs */
    bool shared;        /* in one of its turns the CTA communicated with other CTAs */
    /* host thread that created the slot; only this thread reuses it, since its caches hold the slot's memory */
    uint32_t home;
    enum turn_end end;
    struct slot *next;    /* next slot in the list that holds this slot */
    struct cta_run run[]; /* by rank */
};

/* A FIFO list of slots. */
struct slot_list {
    struct slot *first, **last;
    uint32_t n;
};

struct run {
    const struct launch *launch;
    const struct reconv_ops *model;
    const struct reconv_cfg *reconv; /* the caller's struct, not a copy, since a model may extend it */
    struct reconv_cfg defaults;
    const struct interp_cfg *cfg;
    uint64_t quantum;
    uint32_t threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* protected by the lock */
    uint64_t n_ctas, ctas_done;                  /* single CTAs */
    uint64_t n_clusters, next_cluster, resident; /* clusters; without clusters, CTAs */
    uint32_t cluster;                            /* CTAs of a cluster */
    uint64_t next_ticket, committed;
    struct slot *results[WINDOW];                   /* ended turns, by ticket */
    struct slot_list suspended, spare[MAX_THREADS]; /* `spare` by home thread */
    uint32_t to_resume;                             /* number of suspended CTAs to resume before new ones begin */
    struct interp_stats total;
    uint64_t quiet; /* number of consecutive turns with slot.quiet, up to and including the last committed turn */
    uint64_t alone; /* number of consecutive turns with slot.quiet and without slot.others */
    uint32_t taken; /* number of path rotations (rotate_paths()) since memory last changed */
    /* total number of path rotations; number of the first turn that applies the last rotation */
    uint64_t rotations, rotate_from;
    uint32_t host_polls; /* number of turns that polled memory, since a turn repeated its steps */
    bool stands;         /* true if no turn has made progress since the last call of launch_continues() */
    /* launch.stands is to be called, so no turn begins before all turns in flight are committed: all CTAs repeat their
     * steps, or (`offers`) a path polls a clock, so that CTAs may wait for another launch without repeating steps */
    bool asks, offers;
    bool shares;  /* true once a CTA has communicated with other CTAs */
    bool cancels; /* the kernel has clusterlaunchcontrol: CTAs may take clusters that have not begun, from `source` */
    struct cluster_source source;
    bool failed, out_of_memory;
    struct fault *fault;
};

/* interp_turn.c: runs the CTAs of a slot, one turn after another. Returns after the first turn in which a CTA does not
 * end, or when all CTAs of the slot have ended. */
void slot_run_turns(struct slot *s);

/* Why a launch cannot continue: no warp of a CTA can continue, no CTA can, the launch reached its limit, or it was
 * stopped. */
enum stuck_kind { STUCK_CTA, STUCK_ALL, STUCK_LIMIT, STUCK_STOPPED };
/* interp_fault.c: these functions end the launch and fill its struct fault. run_set_fault() describes the fault or the
 * deadlock that ended the last turn of slot `s`. run_set_stuck() describes a launch that cannot continue; slot `s` ran
 * last. */
void run_set_fault(struct run *run, const struct slot *s);
void run_set_stuck(struct run *run, const struct slot *s, enum fault_kind kind, enum stuck_kind how);
#endif
