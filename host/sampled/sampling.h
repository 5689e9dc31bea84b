#ifndef HOST_SAMPLING_H
#define HOST_SAMPLING_H
/* A sample plan: the launches of a program, their groups, the launches that run in time, and their measurements
 * (docs/sampling.md). The first run of the program makes the plan and measures. The choice of launches depends on the
 * executed instructions and not on their time, so that models which execute the same measure the same launches. */
#include "host/sampled/estimate.h"
#include "host/sampled/survey.h"
#include "timing/gaps.h"

/* A launch of the program. */
struct planned {
    uint64_t key;  /* hash of the kernel's name, grid, block and shared memory */
    uint64_t kin;  /* the same without the grid */
    double ctas;   /* CTAs of the grid */
    double weight; /* gap_weight() */
    /* bytes of device memory that the launch touches, estimated from the observed CTAs; 0: not observed */
    double bytes;
    struct signature signature; /* unused if not observed */
    bool observed;              /* the functional model has observed CTAs */
    bool measured;
    uint32_t group, member; /* its group, and its number in the group, from 0 */
    /* after the first run, for a launch that was not measured: its position in the order in which further runs draw the
     * group's launches */
    uint32_t turn;
    /* for a measured launch: its statistics, and the contribution of its gaps to them */
    struct stats_kept stats;
    struct gap_result gaps;
    /* fraction of its cycles that followed a CTA without time: see heddle_plan.strayed. With gaps inside CTAs
     * the fraction is larger: see inexact_part() in sampled_launch.c. */
    double inexact;
    double stands_for; /* weight of the launches that sampling_estimate() estimates by this launch */
};

/* Launches that execute nearly the same code. */
struct sampling_group {
    uint32_t first, n;  /* number of its first launch; number of its launches */
    uint32_t latest;    /* number of its latest launch */
    bool resized;       /* its grids differ: cycles are interpolated by weight, and need not be proportional to it */
    uint32_t prototype; /* number of its first observed launch; its first launch if none was observed */
    uint32_t wanted;    /* further runs measure the launches with turn < wanted */
    double variance;    /* variance of the group's cycles, at the last sampling_estimate() */
    bool lacks;         /* has too few samples for an interval, at the last sampling_estimate() */
};

/* One of gap_stats[] for the whole program: its value, the half width of its 95 % interval, and the part of the value
 * that did not run in time, or ran in time after a CTA without time. */
struct sampling_interval {
    double value, half, inexact;
};

/* Intervals contain this fraction of the inexact part (sampling.c). */
extern const double sampling_allowance;

struct heddle_plan {
    double error;       /* wanted relative error of the cycles; 0: a fixed rate */
    double long_weight; /* launches of this weight or more are long: the first of a group is a sample of the others */
    bool surveyed;      /* the first run has ended */
    bool more;          /* another run is needed: heddle_plan_settle() */
    bool whole;         /* further runs simulate all launches as a whole: no sample can meet the wanted error */
    /* A CTA of the present run has run without time. From then on the state of the machine (caches, open rows, the
     * order of warps) is not that of the whole simulation. */
    bool strayed;
    struct planned *launch;
    uint32_t n, room;
    struct sampling_group *group;
    uint32_t n_groups, groups_room;
    uint32_t match; /* first run: number of the earlier launch that predicts the next launch; UINT32_MAX: none */
    uint32_t next;  /* a further run: number of the launch that the program launches next */
    bool other;     /* the program has launched other kernels or grids than in the first run */
    struct sampling_interval interval[GAP_STATS];
    uint64_t skipped_ctas, skipped_launches, measured_launches;
};

/* The number by which a launch is recognised in the next run of the program. */
uint64_t sampling_key(const char *kernel, const uint32_t dims[7]);
/* Begins a launch of the first run, whose key, kin and ctas are now known. Returns true if the launch is to be
 * measured. */
bool sampling_draws(struct heddle_plan *p, const struct planned *l);
/* For a launch of the first run that is not measured: returns the fraction of its CTAs that must warm the L2, of
 * `l2_bytes` bytes, for the next measured launch. The launches that follow are predicted: a program repeats the
 * sequence of launches that followed the most similar sequence before. */
double sampling_warms(const struct heddle_plan *p, double l2_bytes);
/* Adds a launch that has run in the first run: a copy of *l, in its group. The plan then owns l->stats. Returns false
 * if memory is out. */
bool sampling_add(struct heddle_plan *p, const struct planned *l);
/* Ends the first run: draws the order in which further runs measure launches. Returns false if memory is out. */
bool sampling_end_first(struct heddle_plan *p);
/* Returns true if a further run measures the launch. */
bool sampling_chosen(const struct heddle_plan *p, const struct planned *l);
/* Works like sampling_warms(), for launch `i` of a further run. */
double sampling_warms_again(const struct heddle_plan *p, uint32_t i, double l2_bytes);
/* Estimates the statistics of all launches that were not measured: calls fill() with the statistics of each launch i.
 * Sets the plan's intervals. Returns false if memory is out, or if fill() returned false. Groups with too few samples
 * are left out. */
bool sampling_estimate(struct heddle_plan *p, bool (*fill)(void *ctx, uint32_t i, const struct stats *s), void *ctx);
/* Chooses more launches if a group has too few samples, or if the wanted error is not met. Returns true if there are
 * any. */
bool sampling_grow(struct heddle_plan *p);
/* Write and read a plan, for another process on this machine with the same Heddle. sampling_read() returns NULL if the
 * file has no plan of this Heddle, or is cut off. */
bool sampling_write(const struct heddle_plan *p, FILE *out);
struct heddle_plan *sampling_read(FILE *in);
void sampling_clear(struct heddle_plan *p);
#endif
