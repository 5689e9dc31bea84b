/* The line about the progress of a queue, for heddle results, heddle work and the web page of a queue. */
#include "work.h"
#include <stdio.h>

void results_progress(const struct queue_state *q, double *estimate, char out[PROGRESS_LINE]) {
    double left = q->rate > 0 ? (double)q->left / q->rate : -1;
    if (estimate && left >= 0) {
        left = *estimate >= 0 && *estimate < left ? *estimate : left;
        *estimate = left;
    }
    int n = snprintf(out, PROGRESS_LINE, "%lld of %lld runs done", q->done, q->done + q->left + q->given_up);
    if (q->bad)
        n += snprintf(out + n, PROGRESS_LINE - (size_t)n, ", %lld of them failed", q->bad);
    if (q->given_up)
        n += snprintf(out + n, PROGRESS_LINE - (size_t)n, ", %lld given up", q->given_up);
    if (q->processes)
        n += snprintf(out + n, PROGRESS_LINE - (size_t)n, ", %lld process%s", q->processes,
                      q->processes == 1 ? "" : "es");
    if (q->left && left >= 0)
        snprintf(out + n, PROGRESS_LINE - (size_t)n, ", %.3g a second, %.0f %s left", q->rate,
                 left < 120 ? left : left / 60, left < 120 ? "s" : "minutes");
}
