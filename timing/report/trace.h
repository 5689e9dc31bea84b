#ifndef TIMING_TRACE_H
#define TIMING_TRACE_H
/* A trace of events in the format of Chrome's trace viewer (chrome://tracing, ui.perfetto.dev). Each SM is a process
 * with these tracks:
 * - for each warp slot: bars of instructions from issue to write-back, and bars for the times in which each path waits.
 *   A warp has as many instruction tracks as it has instructions in flight at once, so that bars of a track do not
 *   overlap;
 * - for each CTA slot: a bar for each CTA, with marks where barriers complete;
 * - requests to memory, from the SM to the reply;
 * - the affine units of CAE;
 * - curves of values that units count, such as the length of their queues.
 * A microsecond in the viewer is one cycle. Each SM stores events in its own buffer, so that SMs can run on several
 * threads. Full buffers are written out between windows, in order of the SMs. */
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
    TRACE_UNIT /* an instruction on an execution unit with its own tracks */
};

struct trace_event {
    uint64_t from, to; /* cycles at which the event begins and ends, which are equal for a mark */
    /* for a request or write: its address; for a counter: its value from this cycle on; for a unit: the warp slot */
    uint64_t address;
    const char *name; /* name of a counter or unit; valid as long as the trace */
    uint32_t pc;      /* PC of the instruction, or of the waiting path */
    lanemask_t lanes; /* active lanes; for a CTA: its number in the grid; for a barrier: its number */
    uint32_t row;    /* warp slot; for a CTA or barrier: CTA slot; for a request or reply: tag; for a unit: its track */
    uint8_t kind;    /* enum trace_kind */
    uint8_t path;    /* for a wait, the path's index in the warp; for an instruction, its track in the warp */
    uint8_t what;    /* for a wait, enum path_state; for a request, enum mem_kind */
    bool missed;     /* true for a load that missed the L1 */
    bool unfinished; /* true if the launch ended before the event */
};

/* Tracks of an SM, in this order: the tracks of each warp slot, one track for each CTA slot, one track for requests,
 * and tracks of units whose work overlaps. */
enum {
    TRACE_CTA_SLOTS = 64,
    TRACE_INST_TRACKS = 256, /* instruction tracks of a warp */
    TRACE_WARP_TRACKS = TRACE_INST_TRACKS + MAX_PATHS,
    TRACE_FIRST_CTA = WARP_SLOTS * TRACE_WARP_TRACKS,
    TRACE_MEMORY = TRACE_FIRST_CTA + TRACE_CTA_SLOTS,
    TRACE_UNIT_TRACKS = 32,
    TRACE_FIRST_UNIT = TRACE_MEMORY + 1,
    TRACE_TRACKS = TRACE_FIRST_UNIT + TRACE_UNIT_TRACKS
};

/* Events of an SM that are written together. Large batches compress better. */
enum { TRACE_BATCH = 4096 };

/* A waiting path. */
struct trace_wait {
    uint64_t since;
    uint32_t pc;
    lanemask_t lanes;
    uint8_t state; /* enum path_state; values below N_PIPES mean that the path does not wait */
};

/* The last bar of each instruction track of a warp. */
struct trace_bars {
    struct trace_bar *row;
    uint32_t n;
};

/* Events of one SM that are not written yet, and what is needed to record the next events. */
struct trace {
    uint64_t from, to;      /* traced cycles: [from, to) */
    uint64_t shift;         /* number added to the cycles of events */
    uint32_t shortest_wait; /* cycles; shorter waits get no bar */

    uint64_t cta_started[TRACE_CTA_SLOTS];         /* by CTA slot; UINT64_MAX if the slot is empty */
    uint32_t cta_id[TRACE_CTA_SLOTS];              /* by CTA slot: number of the CTA in the grid */
    struct trace_bars bars[WARP_SLOTS];            /* by warp slot */
    struct trace_wait wait[WARP_SLOTS][MAX_PATHS]; /* by warp slot and path index: the path's present wait */
    const char *name[WARP_SLOTS]; /* by warp slot: name of a context; if NULL, the warp's number is used */
    /* by warp slot: number of paths in the last cycle that was noted; path indices below it may have an open wait */
    uint8_t paths[WARP_SLOTS];
    uint64_t level[RECONV_LEVELS];            /* levels of the model in the last cycle that was noted */
    bool begun;                               /* true if some events of this SM have been written */
    uint64_t named[(TRACE_TRACKS + 63) / 64]; /* tracks whose names have been written */
    struct trace_event *event;
    uint32_t n, cap;
    uint64_t lost; /* events lost because memory ran out */
};

/* The PTX text of a module, and for each instruction the offset of its statement in the text. */
struct trace_names {
    const char *text; /* NULL: no text */
    uint32_t *at;     /* by PC: offset of the statement */
};
/* Initialises names. `text` may be NULL. Returns false if out of memory. */
bool trace_names_init(struct trace_names *n, const struct program *p, const char *text);
void trace_names_free(struct trace_names *n);
/* Stores in `out` the statement as written, with single spaces and without its semicolon. Without a PTX text, stores
 * the disassembly. */
void trace_name(const struct trace_names *n, const struct program *p, uint32_t pc, char *out, size_t size);

/* Allocates a trace of cycles [from, to). Returns NULL if out of memory. */
struct trace *trace_new(uint64_t from, uint64_t to);
void trace_free(struct trace *t);
/* Adds an event to the buffer if it begins in the traced cycles. (Defined in trace_note.c.) */
void trace_note(struct trace *t, const struct trace_event *e);
/* Records that a path of the warp is in `state` from cycle `now` on. */
void trace_state(struct trace *t, uint32_t warp, uint32_t path, uint8_t state, uint32_t pc, lanemask_t lanes,
                 uint64_t now);
/* How the bar of an instruction will end. GOES: trace_written() follows for all lanes of the instruction. WAITS:
 * trace_written() follows later, for these lanes together with other lanes of the member mask. ENDS: trace_written()
 * does not follow, for example because a store has no active lanes. */
enum trace_issue { TRACE_ISSUE_GOES, TRACE_ISSUE_WAITS, TRACE_ISSUE_ENDS };
/* Records that an instruction uses its issue slot in cycle `now`. */
void trace_issue(struct trace *t, uint32_t warp, uint32_t pc, lanemask_t lanes, uint64_t now, enum trace_issue how);
/* Records the end of an instruction, at cycle e->to, which may be in the future. Uses e->from, to, pc, lanes and
 * missed. May be called just before trace_issue() for this instruction. */
void trace_written(struct trace *t, uint32_t warp, const struct trace_event *e);
/* Ends all open bars in cycle `now`, at the end of a launch, and marks them as unfinished. */
void trace_finish(struct trace *t, uint64_t now);
/* trace_bars_end() ends the bars of one warp. trace_bars_free() frees the memory of all bars. (Both are in
 * trace_bars.c.) */
void trace_bars_end(struct trace *t, uint32_t warp, uint64_t now);
void trace_bars_free(struct trace *t);
/* Writes how an incomplete launch ended, as a mark over all tracks at cycle `now`. `why` is one word for the cause,
 * and `what` a sentence that describes it. `first` means that no event was written yet. */
void trace_write_end(FILE *out, bool first, uint64_t now, const char *why, const char *what);
/* Ends the JSON array, with a metadata event "lost_events" if events are missing. `empty` means that no event was
 * written. */
void trace_end(FILE *out, bool empty, uint64_t lost);
/* Appends the events of SM `sm` to `out` and removes them from the buffer. `first` means that no event was written
 * yet. Returns whether the file has any event now. */
bool trace_write(struct trace *t, uint32_t sm, const struct program *p, const struct trace_names *names, FILE *out,
                 bool first);
#endif
