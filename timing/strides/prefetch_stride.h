#ifndef TIMING_PREFETCH_STRIDE_H
#define TIMING_PREFETCH_STRIDE_H
/* A prefetcher by strides, as in "PEPSC: A Power-Efficient Processor for Scientific Computing" (III-B, IV-B): a load
 * that misses, and whose strides are alike, has one line asked for, of its address + degree x stride. The degree is 1,
 * or it grows by one when a load or a prefetch wants a line that was asked for and has not come yet.
 *
 * A prefetcher is at each SM, where all misses of a load are seen (a slice of the L2 has a part of the addresses only).
 * Its lines go from memory into the L2, by the SM's port, or into the L1. docs/prefetching.md says what is the paper's
 * and what is this project's. The extensions of mechanisms/ that prefetch by strides use it. */
#include "prefetch_table.h"
#include "timing/config/config.h"
#include "timing/mem/prefetch.h"
#include "timing/report/profile.h"
#include "timing/sm/unit.h"

/* Lines that had to leave for prefetched ones, by their number, so that a load that wants one back is noticed: an
 * instrument of the simulator. A line whose place another one takes is forgotten. */
enum { PREFETCH_VICTIMS = 1024 };
struct prefetch_victims {
    uint64_t line[PREFETCH_VICTIMS]; /* address + 1; 0: none */
};
void prefetch_victims_add(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes);
/* True once: the line was there. */
bool prefetch_victims_take(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes);

struct prefetch_queued {
    uint64_t line;      /* address of the target's line; ~0: the place is free */
    uint64_t execution; /* of a load that asked for it */
};

struct stride_kind {
    const char *name; /* before the names of its statistics */
    const struct stride_cfg *cfg;
    bool dynamic;        /* the degree grows */
    bool both;           /* and by prefetches, too, not by loads alone */
    uint32_t max_degree; /* of one that grows */
};

/* clang-format off */
/* The statistics of a prefetcher, counted from its first one; those of its degree follow. */
enum stride_stat {
#define IN of_strides
#include "timing/report/count_ids.def"
    STRIDE_STATS("")
    STRIDE_DEGREE_STATS("")
#define COUNT_LIST
#include "timing/report/count_end.def"
#undef IN
};
struct stride_counts {
#define COUNT_FIELDS
#include "timing/report/count_begin.def"
    STRIDE_SM_STATS("")
    STRIDE_DEGREE_STATS("")
#include "timing/report/count_end.def"
};
struct stride_line_counts {
#define COUNT_FIELDS
#include "timing/report/count_begin.def"
    STRIDE_LINE_STATS("")
#include "timing/report/count_end.def"
};
/* clang-format on */
/* The first statistic of the prefetcher of this name. */
int stride_first_stat(const char *name);
/* Adds counts of lines, as the cache sees them. */
void stride_line_stats(const struct stride_line_counts *n, int first, struct stats *s);

struct stride_prefetcher {
    const struct prefetch_place *place;
    const struct stride_cfg *cfg;
    struct stride_kind kind;
    uint32_t target_bytes; /* a line of the cache that is asked for; 0: there is none */
    struct prefetch_table table;
    struct prefetch_queued *queue; /* cfg->queue places, by the request's tag */
    uint32_t n_queued;
    uint64_t executions;
    struct {
        uint64_t execution; /* of a load, the last one whose first line was seen */
        uint32_t pc;
        bool trained, grown; /* it has trained its entry; it has raised its degree */
    } warp[256];
    struct gpu_profile *profile; /* by PC; NULL: none */
    struct prefetch_victims victims;
    const void *program; /* whose PCs the table has */
    struct stride_counts n;
    struct stride_line_counts lines; /* for the L1 */
    int first;                       /* of its statistics */
};

/* What `kind` points to outlives the prefetcher. NULL: out of memory. */
struct stride_prefetcher *stride_prefetcher_new(const struct stride_kind *kind);
void stride_prefetcher_free(void *prefetcher);
/* Before all else: where it sees loads and asks, an L1. */
void stride_prefetcher_place(struct stride_prefetcher *p, const struct config *cfg, const struct prefetch_place *place);
/* Its calls, with it as their state; `make` and `free` are missing. */
extern const struct prefetcher_ops stride_prefetcher_ops;

/* As a unit of the SM: `launch` of struct sm_unit_ops, where stride_prefetcher_new() is the unit's state. */
bool stride_prefetcher_launch(void *prefetcher, struct sm *sm, uint64_t now);

/* What counts at each slice of the L2 what becomes of the lines: its state, NULL when memory is out, and its calls. */
struct stride_watch;
struct stride_watch *stride_watch_new(const struct prefetch_place *place, const char *name, bool into_l1);
void stride_watch_evicted(void *watch, const struct prefetch_victim *v);
void stride_watch_observe(void *watch, const struct prefetch_seen *s);
void stride_watch_stats(void *watch, const struct prefetch_counts *n, struct stats *s);
#define STRIDE_WATCH_CALLS                                                                                             \
    .free = free, .observe = stride_watch_observe, .evicted = stride_watch_evicted, .stats = stride_watch_stats
#endif
