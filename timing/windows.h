#ifndef TIMING_WINDOWS_H
#define TIMING_WINDOWS_H
/* Windows: spans of cycles in which the SMs and the memory side advance independently of each other, on one host thread
 * or on several, with the same result.
 *
 * Edges are every `edge` cycles. At an edge CTAs begin, atomics and volatile accesses are performed in order of (cycle,
 * SM), and other SMs see plain stores. An SM with an atomic to perform, or with room for a CTA, stops at the next edge
 * and waits until no other SM is behind it. Other SMs run to the end of the window. The memory side runs as far ahead
 * as the SMs permit (memsys.h): an SM that must know how much room its queue has stops until the memory side has
 * followed. */
#include "isa/machine/workers.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct launch;
struct memsys;
struct sm;

/* A CTA that an SM begins at the start of its next job. */
struct cta_begin {
    uint64_t cta, cycle;
};
enum { MAX_EDGE = 16 }; /* CTAs begin and atomics are performed at edges: these must not be far apart */

/* CTAs that begin at an edge, at most one a cycle. */
struct cta_begins {
    struct cta_begin at[MAX_EDGE];
    uint32_t n;
    bool failed; /* memory is out */
};

/* The CTAs of a launch. */
struct ctas {
    const struct launch *launch;
    uint64_t next, total; /* the next CTA to begin; number of CTAs */
    uint32_t occupancy;   /* CTAs that an SM holds at a time */
    uint32_t turn;        /* SM that is offered the next CTA first */
};

/* For callers that time the parts of a run (gpu_watch()): the part that has just ended. */
enum windows_event {
    WINDOWS_OUTSIDE, /* not simulation: a launch begins */
    WINDOWS_ALONE,   /* work of one thread while others wait; jobs follow that they could share, */
    WINDOWS_FEW,     /* or too few jobs to share; or the launch has ended */
    WINDOWS_JOB,     /* a job */
};
struct windows_watch {
    void (*told)(void *ctx, enum windows_event ended);
    void *ctx;
};

/* How a window ended. */
enum windows_end {
    WINDOWS_DONE,
    WINDOWS_NO_MEMORY,
    WINDOWS_STOPPED,    /* launch.stop was set */
    WINDOWS_STANDSTILL, /* no SM advances any more: a bug of the simulator */
};

struct windows {
    struct sm **sm;
    struct memsys *mem;
    struct workers *workers;           /* NULL: one thread */
    struct cta_begins *begins;         /* by SM */
    const struct launch *launch;       /* of `ctas`; NULL: none begin yet */
    const struct windows_watch *watch; /* NULL: nobody; then there is one thread */
    uint32_t n_sms;
    uint32_t edge; /* cycles from one edge to the next */
    uint32_t longest;
    uint32_t groups; /* jobs that the partitions are divided into */
    bool far;        /* the memory side sees so far ahead that requests need not follow before the next window */
    /* of the window under way */
    uint64_t to, at;         /* where its SMs stop next; no SM is behind `at` */
    uint64_t follows, leads; /* cycles to which the memory side goes at the same time */
    uint32_t keep;           /* an SM with fewer CTAs stops at the next edge */
    bool exact;              /* the memory side ends with it */
    uint32_t memory;         /* jobs of the memory side: 0, 1, or one for the requests and one for each group */
    atomic_bool followed;    /* requests have, in this round */
    atomic_uint groups_left; /* of partitions, in this round */
    enum windows_end ended;  /* how the last window ended */
    bool crowded;            /* SMs have to know how much room their queues have */
    bool beside;             /* requests follow beside the SMs' next jobs */
};

/* Of a machine with these parts, which outlive it. False when memory is out. */
bool windows_init(struct windows *w, struct sm **sm, uint32_t n_sms, struct memsys *mem, struct workers *workers);
/* From now on the memory side's partitions are `groups` jobs, or as many as there are; windows_init() makes half as
 * many as there are threads, one at least. */
void windows_divide(struct windows *w, uint32_t groups);
void windows_free(struct windows *w);
/* Runs the window [from, to), both at edges, the next one after the last; at most `longest` cycles, or one edge when
 * `exact`: then the memory side ends at `to`, too, so that its counts are those of that cycle. CTAs of `ctas` begin at
 * edges. Then all stores and ordered instructions are performed. False when it ended early, in the
 * middle of the window: `ended` says why. */
bool windows_run(struct windows *w, struct ctas *ctas, uint64_t from, uint64_t to, bool exact);
/* The edge after the last cycle in which an SM or the memory side had work: when nothing can happen any more, time goes
 * on from there for the next launch. */
uint64_t windows_end(struct windows *w);
#endif
