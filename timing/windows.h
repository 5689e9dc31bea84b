#ifndef TIMING_WINDOWS_H
#define TIMING_WINDOWS_H
/* Windows: spans of cycles in which the SMs and the memory side advance independently of each other, on one host thread
 * or on several, with the same result.
 *
 * There is an edge every `edge` cycles. At an edge CTAs begin, atomics and volatile accesses are performed in order of
 * (cycle, SM), and plain stores become visible to other SMs. An SM with an atomic to perform, or with room for a CTA,
 * stops at the next edge and waits until no other SM is behind it. Other SMs run to the end of the window. The memory
 * side runs as far ahead as the progress of the SMs permits (memsys.h). An SM that must know how many entries of its
 * memory queue are free stops until the memory side has caught up.
 *
 * A window is simulated in rounds of jobs, which host threads share. A job runs an SM or the memory side (passes.h).
 *
 * If a kernel has races, its results depend on the cycles at which windows and rounds begin. So these cycles follow
 * from the SMs, and from the cycles that the memory side has reached where these are the same with any number of
 * threads. They are not the same between rounds of two halves: with less than four threads, requests move later, so
 * SMs know fewer events. They do not follow from memsys_next(), except in launches with gaps: a unit of the memory
 * side may be called too early, and how often it is depends on the passes. */
#include "dispatch.h"
#include "isa/machine/workers.h"
#include "passes.h"
#include <stdbool.h>
#include <stdint.h>

struct memsys;

/* How a window ended. */
enum windows_end {
    WINDOWS_DONE,
    WINDOWS_NO_MEMORY,
    WINDOWS_STOPPED,    /* launch.stop was set */
    WINDOWS_STANDSTILL, /* no SM advances: a bug of the simulator */
};

struct windows {
    struct sm **sm;
    struct memsys *mem;
    struct workers *workers;           /* NULL: one thread */
    struct cta_begins *begins;         /* by SM */
    struct cta_begin *begin;           /* the entries of all elements of `begins` */
    const struct ctas *ctas;           /* the CTAs of the present launch; NULL before the first launch */
    const struct windows_watch *watch; /* NULL: no callback; a callback requires one thread */
    uint32_t n_sms;
    uint32_t edge; /* cycles from one edge to the next */
    uint32_t longest;
    bool many; /* true with at least four threads, whose jobs should be short */
    struct passes passes;
    bool far; /* true if the crossbar is so slow that a request of this window arrives only in a later window */
    /* of the present window */
    uint64_t end;    /* cycle at which it ends */
    uint64_t to, at; /* cycle at which the SMs stop next; all SMs have reached `at` */
    /* in this round: cycle up to which requests move; cycle up to which the rest of the memory side runs ahead */
    uint64_t follows, leads;
    bool exact;             /* true if the memory side stops at the end of the window */
    uint32_t memory;        /* number of jobs of the memory side: 0 or 1 */
    bool shares;            /* true if other threads help this job */
    enum windows_end ended; /* how the last window ended */
    bool crowded;           /* true if SMs will soon have to know how many entries of their memory queues are free */
    bool no_memory;         /* memory is out at an edge */
    bool beside;            /* true if requests move at the same time as the SMs' next jobs */
    bool halves;            /* true if the next round consists of two halves (windows.c) */
};

/* Initialises windows for these SMs and memory units, which must outlive the windows. Returns false if memory is
 * out. */
bool windows_init(struct windows *w, struct sm **sm, uint32_t n_sms, struct memsys *mem, struct workers *workers);
/* Calls watch->told() at the end of each part from now on. Requires one thread. The parts are the parts of many
 * threads. */
void windows_set_watch(struct windows *w, const struct windows_watch *watch);
/* Returns the edge at which the first window of a launch may begin: `latency` cycles after `now`, or later. */
uint64_t windows_first(const struct windows *w, uint64_t now, uint64_t latency);
void windows_free(struct windows *w);
/* Runs the window [from, to), which must come after the previous window. `from` and `to` are edges. The window has
 * at most `longest` cycles. With `exact` it ends at the next edge, and the memory side also stops at `to`, so that
 * its counts are exact. CTAs of `ctas` begin at edges. All stores and ordered instructions are performed. Returns
 * false if the window ended early. The field `ended` then has the reason. */
bool windows_run(struct windows *w, struct ctas *ctas, uint64_t from, uint64_t to, bool exact);
/* Looks at the states of the SMs. Call it when a launch begins, and when they have changed outside windows_run(). */
void windows_look(struct windows *w);
/* Returns the number of CTAs on SMs after a window. Sets *stopped if an SM stopped with a fault. */
uint32_t windows_resident(const struct windows *w, bool *stopped);
/* Finds the next event after a window. Returns its cycle, or UINT64_MAX if no event is left: `other`, or an event of
 * an SM or the memory side before it. If several events are due before the next edge, the result may be the cycle of
 * any of them. Between two halves of one crossing, a window follows at once. After any other window that is not exact,
 * the memory side runs alone until an SM gets a reply, if `alone` is set. Then the result never depends on the number
 * of threads. */
uint64_t windows_seek(struct windows *w, uint64_t other, bool alone);
/* Returns the edge after the last cycle with work, at which the next launch begins. Call it when no event is left. */
uint64_t windows_end(struct windows *w);
#endif
