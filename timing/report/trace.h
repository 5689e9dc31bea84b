#ifndef TIMING_TRACE_H
#define TIMING_TRACE_H
/* What happened when, in the format of Chrome's trace viewer (chrome://tracing, ui.perfetto.dev): a process an SM; for
 * each warp slot tracks with a bar for each instruction from issue to write-back, on as many tracks as instructions are
 * in flight at once, so that no two bars of a track overlap; one for each of its paths with bars for what it waits
 * for; a track for each CTA slot, with marks where barriers open; requests to memory from the SM to the reply; tracks
 * for the affine units of CAE; curves of what units count (how full their queues are). A microsecond there is a cycle
 * here.
 * SMs note events in buffers of their own, so that they may run on several threads; buffers are written out between
 * windows, in order of SMs. */
#include "isa/paths/reconv.h"
#include "isa/program.h"
#include "timing/config/config.h"
#include "timing/config/warp_set.h"
#include <stdio.h>

enum trace_kind {
    TRACE_INST,
    TRACE_CTA,
    TRACE_WAIT,
    TRACE_BARRIER,
    TRACE_REQUEST,
    TRACE_REPLY,
    TRACE_WRITE,
    TRACE_COUNTER,
    TRACE_UNIT /* an instruction on an execution unit that has tracks of its own */
};

struct trace_event {
    uint64_t from, to; /* cycles; of marks the same */
    uint64_t address;  /* of a request or write; a counter's value from this cycle on; on a unit: the warp slot */
    const char *name;  /* of a counter, or a unit; it lives as long as the trace */
    uint32_t pc;       /* of the instruction, or the one that waits */
    lanemask_t lanes;  /* of a CTA: its number in the grid; of a barrier: the barrier's */
    uint32_t row;      /* warp slot; of a CTA or barrier: the CTA's slot; of a request and its reply: their tag; on
                          a unit: the track, below TRACE_UNIT_TRACKS */
    uint8_t kind;      /* enum trace_kind */
    uint8_t path;      /* of what waits: its place among the warp's; of an instruction: the track among the warp's */
    uint8_t what;      /* of what waits: enum path_state; of a request: enum mem_kind */
    bool missed;       /* a load that missed the L1 */
    bool unfinished;   /* the launch ended before it did */
};

/* Tracks of a process of the viewer: so many for each warp slot; then one for each CTA slot; then one for requests;
 * then those of a unit whose work overlaps. */
enum {
    TRACE_CTA_SLOTS = 64,
    TRACE_INST_TRACKS = 256, /* of a warp's instructions */
    TRACE_WARP_TRACKS = TRACE_INST_TRACKS + MAX_PATHS,
    TRACE_FIRST_CTA = WARP_SLOTS * TRACE_WARP_TRACKS,
    TRACE_MEMORY = TRACE_FIRST_CTA + TRACE_CTA_SLOTS,
    TRACE_UNIT_TRACKS = 32,
    TRACE_FIRST_UNIT = TRACE_MEMORY + 1,
    TRACE_TRACKS = TRACE_FIRST_UNIT + TRACE_UNIT_TRACKS
};

/* A path that waits. */
struct trace_wait {
    uint64_t since;
    uint32_t pc;
    lanemask_t lanes;
    uint8_t state; /* enum path_state; below N_PIPES: it does not wait */
};

/* The last bar of each track of a warp's instructions. */
struct trace_bars {
    struct trace_bar *row;
    uint32_t n;
};

/* Events of one SM that are not written yet. */
struct trace {
    uint64_t from, to; /* cycles [from, to) are of interest */
    uint64_t shift;    /* is added to the cycles of events */

    uint64_t cta_started[TRACE_CTA_SLOTS];         /* by CTA slot; UINT64_MAX: it is empty */
    uint32_t cta_id[TRACE_CTA_SLOTS];              /* its number in the grid */
    struct trace_bars bars[WARP_SLOTS];            /* by warp slot */
    struct trace_wait wait[WARP_SLOTS][MAX_PATHS]; /* by warp slot and place */
    const char *name[WARP_SLOTS];                  /* by warp slot: of one that is no CTA's; NULL: by its number */
    uint8_t paths[WARP_SLOTS];                     /* by warp slot: places that may hold one */
    bool begun;                                    /* something of it has been written */
    uint64_t named[(TRACE_TRACKS + 63) / 64];      /* tracks that have got their names */
    struct trace_event *event;
    uint32_t n, cap;
    uint64_t lost; /* events that there was no memory for */
};

/* The PTX text of a module, and where the statement of each instruction of a program stands in it. */
struct trace_names {
    const char *text; /* NULL: there is none */
    uint32_t *at;     /* by PC: of its first byte */
};
/* `text` may be NULL. False when memory is out. */
bool trace_names_init(struct trace_names *n, const struct program *p, const char *text);
void trace_names_free(struct trace_names *n);
/* The statement as written, with single spaces and without its semicolon; without a text the disassembly. */
void trace_name(const struct trace_names *n, const struct program *p, uint32_t pc, char *out, size_t size);

/* NULL when memory is out. */
struct trace *trace_new(uint64_t from, uint64_t to);
void trace_free(struct trace *t);
/* trace_note.c: notes an event if it begins in the range. */
void trace_note(struct trace *t, const struct trace_event *e);
/* The path at this place of the warp is in `state` from cycle `now` on. */
void trace_state(struct trace *t, uint32_t warp, uint32_t path, uint8_t state, uint32_t pc, lanemask_t lanes,
                 uint64_t now);
/* What follows the issue of an instruction: trace_written(), for all its lanes or with others of its member mask; or
 * nothing, as of a store without lanes. */
enum trace_issue { TRACE_ISSUE_GOES, TRACE_ISSUE_WAITS, TRACE_ISSUE_ENDS };
/* An instruction takes its issue slot in cycle `now`. */
void trace_issue(struct trace *t, uint32_t warp, uint32_t pc, lanemask_t lanes, uint64_t now, enum trace_issue how);
/* It ends, or will in cycle e->to: e->from, to, pc, lanes, missed. May be told just before its trace_issue(). */
void trace_written(struct trace *t, uint32_t warp, const struct trace_event *e);
/* Ends all open bars in cycle `now`, in which the launch ends, and marks them as unfinished. */
void trace_finish(struct trace *t, uint64_t now);
/* trace_bars.c: of one warp; of all. */
void trace_bars_end(struct trace *t, uint32_t warp, uint64_t now);
void trace_bars_free(struct trace *t);
/* How a launch ended that did not run to its end, as a mark over all tracks at cycle `now`. `why`: in a word;
 * `what`: in a sentence. `first`: nothing was written yet. */
void trace_write_end(FILE *out, bool first, uint64_t now, const char *why, const char *what);
/* Ends the array, with a metadata event "lost_events" when some are missing; `empty`: nothing was written. */
void trace_end(FILE *out, bool empty, uint64_t lost);
/* Appends the events of SM `sm` to `out` and forgets them; `first`: nothing was written yet. Returns whether something
 * has been written now. */
bool trace_write(struct trace *t, uint32_t sm, const struct program *p, const struct trace_names *names, FILE *out,
                 bool first);
#endif
