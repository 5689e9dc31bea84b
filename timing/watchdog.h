#ifndef TIMING_WATCHDOG_H
#define TIMING_WATCHDOG_H
/* Finds launches that never end: deadlocks, livelocks, and a clock that does not advance. It also ends launches that
 * reach their cycle limit or are stopped. The GPU calls watchdog_check() between windows. */
#include "dead_cta.h"
#include "isa/machine/launch.h"
#include "timing/sm/sm.h"

/* What a watchdog watches. */
struct watchdog_parts {
    const struct config *cfg;
    struct sm *const *sm;
    uint32_t n_sms;
    const struct memsys *mem;
    const struct sm_unit_row *units; /* units of each SM that may require more patience */
    uint32_t n_units;
    bool barriers;               /* the model has convergence barriers, so lanes of a warp may wait for each other */
    const struct cta_view *ctas; /* counts the CTAs of the launch, and the CTAs that have begun */
};

struct watchdog {
    struct watchdog_parts parts;
    const struct launch *launch;
    uint64_t start;              /* first cycle of the launch */
    uint64_t patience;           /* cycles without progress that count as a deadlock */
    uint64_t progress_at, moved; /* last cycle with progress; moved_so_far() at that cycle */
    uint64_t sleeps;             /* number of checks that found only sleep, since two checks in a row found more */
    bool busy;                   /* true if the last check found that something had issued or moved */
    uint64_t due;                /* cycle at which the present period of the livelock search ends */
    uint64_t periods, most;      /* periods of the present search; periods after which the search may pause */
    bool stands;                 /* true if the present search has found a livelock, but the launch continues */
    uint64_t look;               /* cycle of the next search for a dead CTA */
    struct dead_cta dead;        /* what the last such search found */
    uint64_t offer;              /* cycle of the next offer_host_turn() */
    uint64_t polled[3];          /* by enum poll: polls of memory that the last offer_host_turn() found */
    uint32_t polling[3];         /* by enum poll: number of periods with such polls since the launch stood */
    bool watching;               /* true if a search for a livelock is running, and nothing has disturbed it */
};

/* Begins a launch at cycle `start`, whose first window begins at cycle `first`. The arguments must outlive the launch,
 * except `parts`. */
void watchdog_begin(struct watchdog *d, const struct watchdog_parts *parts, const struct launch *l, uint64_t start,
                    uint64_t first);
/* Checks the launch at the end `to` of a window. `next`: cycle of the next event; UINT64_MAX: no event is left. Returns
 * false with the reason in `fault` if the launch has to end. */
bool watchdog_check(struct watchdog *d, uint64_t to, uint64_t next, struct fault *fault);
/* Informs the watchdog that the GPU skips `cycles` cycles without events after the check. They do not count towards a
 * deadlock. */
void watchdog_skip(struct watchdog *d, uint64_t cycles);
/* Informs the watchdog that the counts of SMs and memory have been read and cleared. */
void watchdog_counts_cleared(struct watchdog *d);
/* Return a fault with a report. watchdog_stopped(): a launch was stopped on demand before cycle `to`.
 * watchdog_standstill(): the clock of `sm`, or the clocks of all SMs if `sm` is NULL, do not advance at cycle `at`. */
struct fault watchdog_stopped(const struct watchdog *d, uint64_t to);
struct fault watchdog_standstill(const struct watchdog *d, struct sm *sm, uint64_t at);
#endif
