#ifndef TIMING_PREFETCH_STRIDE_H
#define TIMING_PREFETCH_STRIDE_H
/* A stride prefetcher, as in "PEPSC: A Power-Efficient Processor for Scientific Computing" (III-B, IV-B). When a load
 * misses repeatedly with equal strides, the prefetcher requests one line, at address + degree x stride. The degree is
 * always 1, or it starts at 1 and grows. It grows by one when a load or a prefetch needs a line that was requested but
 * has not arrived.
 *
 * Each SM has a prefetcher, which sees all misses of a load (a slice of the L2 sees only part of the addresses).
 * Prefetched lines go into the L1, or only into the L2. In both cases the requests leave through the SM's port.
 * docs/prefetching.md separates the paper's design from this project's choices. The stride mechanisms of mechanisms/
 * use it. */
#include "prefetch_table.h"
#include "timing/config/warp_set.h"
#include "timing/mem/prefetch.h"
#include "timing/report/profile.h"
#include "timing/sm/unit.h"

/* A hash table of the lines that prefetched lines evicted. With this table, the prefetcher detects whether a load
 * needs an evicted line again (cache pollution). A line is forgotten when another line takes its entry. */
enum { PREFETCH_VICTIMS = 1024 };
struct prefetch_victims {
    uint64_t line[PREFETCH_VICTIMS]; /* address + 1; 0: the entry is free */
};
void prefetch_victims_add(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes);
/* Removes a line. Returns true if the table had it. */
bool prefetch_victims_take(struct prefetch_victims *v, uint64_t line, uint32_t line_bytes);

struct prefetch_queued {
    uint64_t line;      /* address of a line of the target cache; ~0: the entry is free */
    uint64_t execution; /* number of the load execution that requested the line */
};

struct stride_kind {
    const char *name; /* prefix of the names of the prefetcher's statistics */
    const struct stride_cfg *cfg;
    bool dynamic;        /* the degree can grow */
    bool both;           /* true if the degree also grows for late prefetches, not only for late loads */
    uint32_t max_degree; /* with `dynamic` */
};

/* clang-format off */
/* The statistics of a prefetcher. The numbers are relative to the prefetcher's first statistic. The statistics of
 * the degree come last. */
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
/* Returns the first statistic of the prefetcher with this name. */
int stride_first_stat(const char *name);
/* Adds the counts of lines that the cache has counted. */
void stride_line_stats(const struct stride_line_counts *n, int first, struct stats *s);

struct stride_prefetcher {
    const struct prefetch_place *place;
    const struct stride_cfg *cfg;
    struct stride_kind kind;
    uint32_t target_bytes; /* line size of the target cache; 0 if the machine has no such cache */
    struct prefetch_table table;
    struct prefetch_queued *queue; /* cfg->queue entries, indexed by the request's tag */
    uint32_t n_queued;
    uint64_t executions;
    struct {
        uint64_t execution; /* number of the last load execution whose first line was observed */
        uint32_t pc;
        bool trained, grown; /* true if this execution has trained its entry; true if it has raised the degree */
    } warp[WARP_SLOTS];
    struct gpu_profile *profile; /* profile, indexed by PC; NULL without a profile */
    struct prefetch_victims victims;
    const void *program; /* program whose PCs are in the table */
    struct stride_counts n;
    struct stride_line_counts lines; /* counts of the prefetched lines, if prefetches go into the L1 */
    int first;                       /* first of its statistics */
};

/* Allocates a prefetcher. `kind->name` and `kind->cfg` must outlive it. Returns NULL if memory is out. */
struct stride_prefetcher *stride_prefetcher_new(const struct stride_kind *kind);
void stride_prefetcher_free(void *prefetcher);
/* Sets the L1 that the prefetcher observes and to which it sends requests. Call it before all other functions. */
void stride_prefetcher_place(struct stride_prefetcher *p, const struct config *cfg, const struct prefetch_place *place);
/* The callbacks of a stride prefetcher, whose state is the struct stride_prefetcher; `make` and `free` are not set. */
extern const struct prefetcher_ops stride_prefetcher_ops;

/* Implements the function `launch` of struct sm_unit_ops, for a unit whose state stride_prefetcher_new() made. */
bool stride_prefetcher_launch(void *prefetcher, struct sm *sm, uint64_t now);

/* The observer that counts prefetched lines at one slice of the L2. stride_watch_new() returns its state, or NULL if
 * memory is out. */
struct stride_watch;
struct stride_watch *stride_watch_new(const struct prefetch_place *place, const char *name, bool into_l1);
void stride_watch_evicted(void *watch, const struct prefetch_victim *v);
void stride_watch_observe(void *watch, const struct prefetch_seen *s);
void stride_watch_stats(void *watch, const struct prefetch_counts *n, struct stats *s);
#define STRIDE_WATCH_CALLS                                                                                             \
    .free = free, .observe = stride_watch_observe, .evicted = stride_watch_evicted, .stats = stride_watch_stats
#endif
