#ifndef HOST_PATHS_H
#define HOST_PATHS_H
/* Draws one warp's execution as the papers do: time downwards, paths side by side. A recorder wraps a
 * reconvergence model and records what the interpreter schedules. Each instruction takes one step of an ideal
 * machine that issues from every schedulable path at once. The drawing therefore shows what the model allows,
 * without caches and pipelines. */
#include "isa/paths/reconv.h"
#include "isa/program.h"
#include <stdio.h>

/* A sequence of instructions that one path executes consecutively. */
struct path_segment {
    uint32_t begin, end; /* steps [begin, end) */
    /* step number to print for the first step: the number that it had before path_log_read() removed empty steps */
    uint32_t step;
    uint32_t first_pc, last_pc, first_line, last_line;
    /* number of consecutive loop iterations that the segment stands for (path_log_fold()); 0 before
     * path_log_arrange() */
    uint32_t rounds;
    lanemask_t lanes;
    int column; /* column of the drawing, from 0 */
    /* splits: true if the lanes diverge after the segment; joins: true if the lanes come from several segments */
    bool splits, joins;
};

struct path_log {
    struct path_segment *list; /* the segments, sorted by `begin` after path_log_arrange() */
    uint32_t n, cap;
    bool truncated; /* true if segments beyond the limit were dropped */
    int columns;
};
void path_log_free(struct path_log *log);
/* Sorts the segments, assigns columns and PTX lines, and marks splits and joins. The log is then "arranged". */
void path_log_arrange(struct path_log *log, const struct program *p);
/* Merges the iterations of a loop into one segment, if each iteration is one segment. Requires an arranged log. */
void path_log_fold(struct path_log *log);
/* Draw an arranged log. */
void path_log_text(const struct path_log *log, FILE *out);
void path_log_svg(const struct path_log *log, const char *title, FILE *out);
/* paths_json.c: returns the first `most` segments of an arranged log as JSON, or NULL when memory runs out. */
struct cJSON *path_log_json(const struct path_log *log, uint32_t most);
/* Returns true if lanes diverge in this JSON of path_log_json(). An early exit of some lanes counts as divergence, a
 * jump of all lanes does not. */
bool paths_part(const struct cJSON *o);
/* Reads JSON of path_log_json() into an arranged log, without the steps in which no segment begins or ends. Returns
 * false if the JSON has another form or memory runs out. The caller frees the log in every case. */
bool path_log_read(const struct cJSON *o, struct path_log *log);

/* A reconvergence model that forwards all calls to another model, `inner`, and records them. The interpreter gets this
 * model in place of `inner`. `base` must hold the options of `inner`. */
struct path_recorder {
    struct reconv_cfg base; /* must be the first member, since the calls get the recorder from the options pointer */
    const struct reconv_ops *inner;
    struct reconv_ops ops; /* set by path_recorder_ops() */
    const struct program *program;
    uint32_t wanted;  /* number of the recorded warp in the order of starts, counted from 0 */
    uint32_t started; /* warps started so far */
    struct path_log log;
};
/* Returns a model that behaves as `r->inner` and records it. Its options are &r->base. */
const struct reconv_ops *path_recorder_ops(struct path_recorder *r);
#endif
