#ifndef TIMING_VIEW_H
#define TIMING_VIEW_H
/* The progress of a running launch for an observer: statistics of an interval, for the GPU and for each SM. */
#include "timing/report/stat.h"

struct sm;

struct gpu_view {
    uint64_t from, to;            /* begin and end of the interval, in cycles from the start of the launch */
    uint64_t ctas_done, ctas;     /* number of CTAs of the launch that have ended; number of all its CTAs */
    const struct stats *interval; /* of the whole GPU */
    uint32_t n_sms;
    struct gpu_view_sm {
        uint32_t ctas, warps;  /* number of resident CTAs; number of warps that have not finished */
        struct stats interval; /* counts of the SM alone, without the counts of the L2 and memory */
    } * sm;
};

/* Allocates a view of `n_sms` SMs. Returns false if memory is out. Call view_free() in any case. */
bool view_init(struct gpu_view *v, uint32_t n_sms);
void view_free(struct gpu_view *v);
/* Adds sm_stats() of all SMs to `all`, and stores the part of each SM in the view. */
void view_collect(struct gpu_view *v, struct sm *const *sm, uint64_t to, struct stats *all);
#endif
