#ifndef HOST_SAMPLING_H
#define HOST_SAMPLING_H
/* A sample plan: the launches of a program as the functional model surveyed them, their groups, the launches that run
 * in time, and their measurements (docs/sampling.md). A plan depends on the program and the seed alone, so that every
 * model measures the same launches, in the same order. */
#include "host/sampled/estimate.h"
#include "host/sampled/survey.h"
#include "timing/gaps.h"

/* A launch of the program. */
struct planned {
    uint64_t key;  /* hash of the kernel's name, grid, block and shared memory */
    double weight; /* warp instructions */
    double bytes;  /* bytes of device memory that the launch touches, estimated from the observed CTAs */
    struct signature signature;
    uint32_t group;
    uint32_t turn; /* position in the group's order of drawing; 0: the group's first launch, which is always measured */
    bool measured;
    /* for a measured launch: its statistics, and the contribution of its gaps to them */
    struct stats_kept stats;
    struct gap_result gaps;
};

/* Launches that execute nearly the same code. */
struct sampling_group {
    uint32_t first, n; /* number of its first launch; number of its launches */
    uint32_t wanted;   /* number of launches that are measured: those with turn < wanted */
    double variance;   /* variance of the group's cycles, at the last sampling_estimate() */
};

/* One of gap_stats[] for the whole program: its value, the half width of its 95 % interval, and the part of the value
 * that did not run in time. */
struct sampling_interval {
    double value, half, estimated;
};

struct heddle_plan {
    double error; /* wanted relative error of the cycles; 0: a fixed rate */
    bool surveyed;
    bool more; /* another run is needed: heddle_plan_settle() */
    struct planned *launch;
    uint32_t n, room;
    struct sampling_group *group;
    uint32_t n_groups, next; /* next: number of the launch that the program launches next */
    bool other;              /* the program has launched other kernels or grids than in the survey */
    struct sampling_interval interval[GAP_STATS];
    uint64_t skipped_ctas, skipped_launches, measured_launches;
};

/* The number by which a launch is recognised in the next run of the program. */
uint64_t sampling_key(const char *kernel, const uint32_t dims[7]);
/* Adds a launch during the survey. Returns NULL if memory is out. */
struct planned *sampling_add(struct heddle_plan *p);
/* Ends the survey: forms groups, and draws the first launches to measure. Returns false if memory is out. */
bool sampling_group(struct heddle_plan *p);
/* Returns true if the plan measures the launch. */
bool sampling_chosen(const struct heddle_plan *p, const struct planned *l);
/* For a launch `i` that is not measured in this run: returns the fraction of its CTAs that must warm the L2, of
 * `l2_bytes` bytes, for the next measured launch. */
double sampling_warms(const struct heddle_plan *p, uint32_t i, double l2_bytes);
/* Estimates the statistics of all launches that were not measured: calls fill() for each launch i, whose estimate is
 * `factor` times `sum`; measured launches have the factor 1. Sets the plan's intervals. Returns false if memory is out,
 * or if fill() returned false. */
bool sampling_estimate(struct heddle_plan *p,
                       bool (*fill)(void *ctx, uint32_t i, const struct stats *sum, double factor), void *ctx);
/* Chooses more launches if the wanted error is not met. Returns true if there are any. */
bool sampling_grow(struct heddle_plan *p);
/* Write and read a plan, for another process on this machine with the same Heddle. sampling_read() returns NULL if the
 * file has no plan of this Heddle, or is cut off. */
bool sampling_write(const struct heddle_plan *p, FILE *out);
struct heddle_plan *sampling_read(FILE *in);
void sampling_clear(struct heddle_plan *p);
#endif
