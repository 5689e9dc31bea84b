#ifndef TIMING_GAPS_H
#define TIMING_GAPS_H
/* Sampling inside a launch (docs/sampling.md). A part of the launch runs in time. Between two such parts lies a gap,
 * which runs functionally while the clock stands still. The first units run in time until their cycles per instruction
 * are stable. Then sampled units alternate with gaps.
 *
 * Gaps lie between CTAs if there are many waves of CTAs. A unit then consists of consecutive CTAs, sampled units are
 * spread evenly over the grid, and the SMs keep their CTAs during a gap. The last CTAs, which leave SMs empty, always
 * run in time. In a launch of fewer waves, gaps lie inside CTAs, or between CTAs of mixed ages. A unit then consists of
 * consecutive cycles.
 *
 * This file decides where gaps are, and estimates the statistics of the gaps. It runs nothing. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stdint.h>

struct fault;
struct interp_observer;

/* The statistics that get an interval. GAP_CYCLES is the index of gpu.cycles. */
enum { GAP_CYCLES, GAP_STATS = 8 };
extern const char *const gap_stats[GAP_STATS];
/* gap_exact() returns the names of the statistics that the functional model counts exactly; the list ends with NULL.
 * gap_weight() returns the name of the one to which the cycles of launches and units are related. `regroups`: as in
 * struct gap_orders. */
const char *const *gap_exact(bool regroups);
const char *gap_weight(bool regroups);

/* The caller's choices for sampling inside a launch. */
struct gap_orders {
    double error; /* wanted relative error of the cycles, as a fraction; 0: 3 % */
    /* Runs `n` CTAs from CTA number `first` on without time, and warms the caches with the CTAs from `warm_from` on
     * (gpu_warm()). Adds the exact statistics of these CTAs to `exact`. Returns false with `fault` if a CTA fails. */
    bool (*forward)(void *ctx, uint64_t first, uint64_t n, uint64_t warm_from, struct stats *exact,
                    struct fault *fault);
    /* The number of warp instructions depends on time, so thread instructions are the weight. Gaps inside CTAs would
     * change the groups of threads, so the launch has none. */
    bool regroups;
    /* A launch of few waves may have gaps inside CTAs (inside.h). */
    bool inside;
    double cta_length; /* warp instructions of a CTA in an earlier launch of the kernel; 0: unknown */
    /* Returns the observer of CTA `cta` in a gap inside CTAs, whose accesses warm the caches (gpu_warm()). */
    const struct interp_observer *(*observer)(void *ctx, uint64_t cta);
    void *ctx;
};

/* A unit that ran in time, for the comparison of models. */
struct gap_unit {
    /* number of its first CTA, as planned; the unit may begin a few CTAs later. Gaps inside CTAs: number of warp
     * instructions before the unit */
    double first;
    double cycles, instructions; /* instructions: gap_weight() */
};
enum { GAP_UNITS = 64, GAP_STABLE = 3 }; /* most sampled units; stable units before a gap */

/* Why a launch that runs in time has no gaps. gaps_reason() returns it as text. */
enum no_gaps {
    GAPS_ARE, /* the launch has gaps */
    NO_GAPS_ORDER,
    NO_GAPS_ERROR,
    NO_GAPS_WAVES,
    NO_GAPS_UNITS,
    NO_GAPS_SHORT,
    NO_GAPS_UNEVEN,
    NO_GAPS_VARIES,
    N_NO_GAPS
};
const char *gaps_reason(enum no_gaps why);

/* The contribution of the gaps to the statistics. All zero but `why` if the launch had no gap. */
struct gap_result {
    enum no_gaps why;
    uint64_t skipped;    /* CTAs that ran without time */
    double instructions; /* their weight: gap_weight() */
    double after;        /* fraction of the launch's CTAs that began after the first gap */
    /* gaps inside CTAs: the relative difference of cycles per instruction in sampled units after and before the first
     * gap */
    double drift;
    bool inside;                /* the launch had gaps inside CTAs, or between CTAs of mixed ages */
    double variance[GAP_STATS]; /* variances of the estimated values, in the squared unit of each statistic */
    double freedom;             /* degrees of freedom of these variances */
    uint32_t n;                 /* sampled units */
    struct gap_unit unit[GAP_UNITS];
};

struct gaps;
/* Plans the gaps of a launch of `total` CTAs, if `wave` CTAs run at the same time: between CTAs if there are enough
 * waves; otherwise inside CTAs (gaps_are_inside()). A CTA has `cta_warps` warps. Returns NULL if memory is out. Also
 * returns NULL, and sets *whole, if the launch is too short for gaps, or may have none inside CTAs. */
struct gaps *gaps_new(const struct gap_orders *o, uint64_t total, uint64_t wave, uint32_t cta_warps, bool *whole);
void gaps_free(struct gaps *g);
/* Returns the statistics of the present unit, to which the caller adds all statistics that it collects. */
struct stats *gaps_unit(struct gaps *g);
/* Returns true if a unit ends at cycle `now`. `begun` CTAs have begun. A unit ends at the first call at least `settle`
 * cycles after its last CTA has begun. gaps_settles() returns true from the begin of the last CTA to this call: SMs
 * and memory must then stop at the same cycle. `issued`: instructions issued in the unit, for gaps inside CTAs. */
bool gaps_due(struct gaps *g, uint64_t begun, uint64_t issued, uint64_t now, uint64_t settle);
bool gaps_settles(const struct gaps *g);
/* Ends a unit, whose statistics are complete. Returns the number of CTAs that the caller must now run without time, and
 * sets *warm_from. */
uint64_t gaps_next(struct gaps *g, uint64_t begun, uint64_t *warm_from);
/* Works like gaps_next() at cycle `now`, for gaps inside CTAs. Returns the instructions of the gap over the
 * instructions of the unit that has ended; 0: no gap. `part`: the fraction of the launch that has begun, if the gap may
 * lie between CTAs of mixed ages; 1: the gap may lie inside CTAs; 0: none may follow. */
bool gaps_are_inside(const struct gaps *g);
double gaps_next_inside(struct gaps *g, uint64_t now, double part);
/* How a gap ended: as requested; when warps came to code that no unit has issued; when warps ended. After the last
 * two, the unit before the gap estimates the whole gap, and the next gap waits for stable units. */
enum gap_end { GAP_FULL, GAP_NEW_CODE, GAP_ENDING };
/* Adds the exact statistics of a gap that gaps_next() or gaps_next_inside() requested. `ctas`: number of CTAs that ran
 * as a whole in it. */
void gaps_passed(struct gaps *g, uint64_t ctas, const struct stats *exact, enum gap_end end);
/* The launch has no further gap inside CTAs: its CTAs advance unevenly. */
void gaps_stop(struct gaps *g);
/* The present unit is no sample, because many warps have ended or begun in it. The next gap waits until the last
 * GAP_STABLE units are stable and `units` of them have run after this call. If `units` is GAP_STABLE, warps have ended,
 * and the length of the gap depends only on the instructions that the others execute after this call. */
void gaps_restart(struct gaps *g, uint32_t units);
/* Ends the launch: adds the estimated statistics of all gaps to `s`, and fills in `r`. */
void gaps_finish(const struct gaps *g, struct stats *s, struct gap_result *r);
#endif
