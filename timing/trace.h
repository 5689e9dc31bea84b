#ifndef TIMING_TRACE_H
#define TIMING_TRACE_H
/* What happened when, in the format of Chrome's trace viewer (chrome://tracing, ui.perfetto.dev): a process an SM, a
 * thread a warp slot, a bar an instruction from issue to write-back. A microsecond there is a cycle here.
 * SMs note events in buffers of their own, so that they may run on several threads; buffers are written out between
 * windows, in order of SMs. */
#include "isa/program.h"
#include <stdio.h>

struct trace_event {
    uint64_t from, to; /* cycles */
    uint32_t pc;       /* PC_EXIT: a CTA, see `lanes` */
    lanemask_t lanes;  /* of a CTA: its number in the grid */
    uint32_t row;      /* warp slot; of a CTA: its slot */
    bool missed;       /* a load that missed the L1 */
};

/* Events of one SM that are not written yet. */
struct trace {
    uint64_t from, to; /* cycles [from, to) are of interest */

    uint64_t cta_started[64]; /* by CTA slot */
    struct trace_event *event;
    uint32_t n, cap;
    uint64_t lost; /* events that there was no memory for */
};

/* NULL when memory is out. */
struct trace *trace_new(uint64_t from, uint64_t to);
void trace_free(struct trace *t);
/* Notes an event if it begins in the range. */
void trace_note(struct trace *t, const struct trace_event *e);
/* Appends the events of SM `sm` to `out` and forgets them; `first`: nothing was written yet. Returns whether something
 * has been written now. */
bool trace_write(struct trace *t, uint32_t sm, const struct program *p, FILE *out, bool first);
#endif
