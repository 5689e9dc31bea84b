#ifndef TIMING_SM_H
#define TIMING_SM_H
/* One streaming multiprocessor. The stages of a cycle, back to front: results and arrived lines (the timing wheel),
 * load/store unit, memory instructions on their way to it, issue, fetch. A cycle in which nothing can change is
 * skipped: sm_run() goes from event to event, and counts skipped cycles with the state that the SM had after the last
 * event.
 *
 * An instruction takes effect when it issues. Effects that all SMs must see in one order (atomics, volatile
 * accesses) wait for the next edge (timing/windows.h). At the edge sm_perform() performs them for all SMs in order
 * of (cycle, SM). The path that issued such an instruction waits until the edge. Plain stores to device memory
 * become visible to other SMs at an edge. The SM that executed them sees them at once. */
#include "occupancy.h"
#include "timing/report/profile.h"

struct launch;
struct timed_program;
struct memsys;
struct prefetcher_ops;
struct bypass_ops;
struct replacement_ops;
struct sched_ops;
struct fault;

/* The state that the GPU reads after every window. It is in one host cache line, because another host thread may
 * have run the SM. */
struct sm_status {
    uint64_t next;        /* next cycle to simulate, as known by the SM and its units: see sm_next() */
    uint64_t lsu_due;     /* next cycle at which the load/store unit has work */
    uint64_t finished_at; /* cycle after the end of the last CTA */
    uint64_t fault_cycle; /* cycle of the fault, if `stopped` */
    uint64_t reached;     /* all cycles before this cycle are done: see sm_run() */
    uint64_t worked;      /* cycle after the last simulated cycle */
    uint32_t ctas;        /* resident CTAs */
    uint32_t n_ordered;   /* instructions that wait for sm_perform() */
    bool stopped;         /* the SM stopped with a fault: see sm_take_fault(); FAULT_STANDSTILL has no text yet */
};

/* Makes an SM with the model `ops` under `options`, and the scoreboard that the model selects. `id`: number of the SM,
 * from 0. Returns NULL if memory is out. All arguments must outlive the SM. Units are added next (unit.h). */
struct sm *sm_new(const struct config *cfg, const struct reconv_ops *ops, const struct reconv_cfg *options,
                  struct memsys *mem, uint32_t id);
/* Adds a prefetcher at the SM's L1 (timing/mem/prefetch.h). Returns false if memory is out. Requires that no launch is
 * in progress. */
bool sm_add_prefetcher(struct sm *sm, const struct prefetcher_ops *ops, void *ctx);
/* Sets the policy of the schedulers (sched_ops.h), which replaces the built-in policy of the configuration. Returns
 * false if memory is out. Requires that no launch has begun. */
bool sm_use_scheduler(struct sm *sm, const struct sched_ops *ops);
/* Sets the replacement policy of the L1 (timing/mem/replacement.h). Returns false if memory is out. Requires that no
 * launch has begun. */
bool sm_use_replacement(struct sm *sm, const struct replacement_ops *ops);
/* Sets the bypass policy of the L1 (timing/mem/bypass.h). Returns false if memory is out. Requires that no launch has
 * begun. */
bool sm_use_bypass(struct sm *sm, const struct bypass_ops *ops);
void sm_free(struct sm *sm);
static inline const struct sm_status *sm_status(const struct sm *sm) {
    return (const struct sm_status *)(const void *)sm;
}

/* Prepares for a launch. With `profile`, the SM counts by instruction. Returns false if memory is out; sm_launch_end()
 * must follow in any case. Requires that the SM has no CTA. */
bool sm_launch(struct sm *sm, const struct launch *l, const struct timed_program *p, bool profile, uint64_t now);
/* Cleans up after a launch that has ended or was stopped. */
void sm_launch_end(struct sm *sm);
/* Empties the L1 after a launch; instruction, constant and texture caches keep their lines. */
void sm_flush(struct sm *sm);
/* Warms the caches with an instruction that ran without time (lsu_warm()). `warp`: the warp of the SM that executed it.
 * NULL: a warp of a CTA that is on no SM. Its lines then replace only one way of a set while the SM has CTAs. */
void sm_warm(struct sm *sm, struct memsys *mem, const struct warp *warp, const struct inst *in,
             const struct effects *fx);
/* Warms the L1 instruction cache with the addresses [from, to). */
void sm_warm_code(struct sm *sm, uint64_t from, uint64_t to);
/* Begins a CTA at `cycle`. Requires fewer than sm_occupancy() CTAs, and that no later cycle has been simulated.
 * Returns false if memory is out. */
bool sm_cta_start(struct sm *sm, struct dim3 id, uint64_t cycle);
/* Lets the SM continue at `cycle`. Requires that no event is due before this cycle. */
static inline void sm_start_at(struct sm *sm, uint64_t cycle) {
    ((struct sm_status *)(void *)sm)->reached = cycle; /* see sm_status() */
}
/* Simulates the cycles from sm_status.reached up to `to`. It stops earlier at the first edge (a multiple of `edge`)
 * with an ordered instruction to perform or with fewer than `ctas` CTAs. It also stops at a cycle in which the room at
 * its memory port is not known (memport.sure). If a fault has stopped the SM, sm_status.reached is set to `to`. */
void sm_run(struct sm *sm, uint64_t to, uint32_t edge, uint32_t ctas);
/* Returns the first cycle >= now to simulate; UINT64_MAX if the SM waits for other SMs or for memory, or is empty. */
uint64_t sm_next(struct sm *sm, uint64_t now);
/* Returns true if plain stores are held back for the next edge. */
bool sm_has_stores(const struct sm *sm);
/* Performs the plain stores that were held back, at an edge. */
void sm_perform_stores(struct sm *sm);
/* Performs the first ordered instruction at `now`, if its cycle is <= `cycle`. Call it after sm_perform_stores().
 * Returns false if no such instruction is left. */
bool sm_perform(struct sm *sm, uint64_t cycle, uint64_t now);
/* Returns the fault of a stopped SM; the caller frees it. */
struct fault sm_take_fault(struct sm *sm);

/* Returns the number of issue slots used since the last sm_stats(), plus the number of accesses that the walk unit
 * (timing/mem/walker.h) has made for rays since the SM was made. The deadlock search uses this sum to detect
 * progress. */
uint64_t sm_issue_count(const struct sm *sm);
/* Returns the counts since the last sm_launch(), one entry per instruction of the program, or NULL if the launch did
 * not request these counts. */
const struct gpu_profile *sm_profile(const struct sm *sm);
/* Adds the counts of the SM and its units since the last call, up to the cycle `to`, and clears them. */
void sm_stats(struct sm *sm, uint64_t to, struct stats *s);
/* Adds the counts of `sms` SMs that take no part in the launch, for this number of cycles. */
void sm_no_stats(const struct config *cfg, uint32_t sms, uint64_t cycles, struct stats *s);
/* Prints for deadlock reports: up to `most` unfinished warps with the PCs of their paths and what each path waits for,
 * and the lines that units print. Returns the number of unfinished warps. */
uint32_t sm_describe(const struct sm *sm, uint32_t most, FILE *out);
/* Prints up to `most` unfinished warps of the CTA in slot `cta`, then the number of its further warps. */
void sm_describe_cta(const struct sm *sm, uint32_t cta, uint32_t most, FILE *out);
/* Prints "and N more warps"; nothing if `n` is 0. */
void print_more_warps(uint32_t n, FILE *out);
/* Prints the cause of a FAULT_STANDSTILL: the parts of the SM that have work in cycle `now` again and again, and the
 * memory instructions that have not reached the load/store unit. */
void sm_describe_clock(struct sm *sm, uint64_t now, FILE *out);
#endif
