#ifndef HOST_PATHS_H
#define HOST_PATHS_H
/* One warp's execution as the papers draw it: time downwards, paths side by side. A recorder stands between the
 * interpreter and a reconvergence model; each instruction takes one step of an ideal machine that issues from every
 * schedulable path at once, so what is drawn is what the model allows, without caches and pipelines. */
#include "isa/paths/reconv.h"
#include "isa/program.h"
#include <stdio.h>

/* A run of consecutive instructions of one path. */
struct path_segment {
    uint32_t begin, end; /* steps [begin, end) */
    uint32_t step;       /* the first of them, as it is called where steps are left out (path_log_read()) */
    uint32_t first_pc, last_pc, first_line, last_line;
    uint32_t rounds; /* so many times one after the other: a loop (path_log_fold()); 0 before path_log_arrange() */
    lanemask_t lanes;
    int column;         /* where it is drawn, from 0 */
    bool splits, joins; /* its lanes part after it; it gathers lanes of several segments */
};

struct path_log {
    struct path_segment *list; /* in order of begin, once path_log_arrange() is done */
    uint32_t n, cap;
    bool truncated; /* the limit of segments was met */
    int columns;
};
void path_log_free(struct path_log *log);
/* Sorts, gives columns and the lines of PTX, marks splits and joins. */
void path_log_arrange(struct path_log *log, const struct program *p);
/* Makes one segment of those of a loop's rounds, where these are one segment each. Of a log that is arranged. */
void path_log_fold(struct path_log *log);
/* Of a log that is arranged. */
void path_log_text(const struct path_log *log, FILE *out);
void path_log_svg(const struct path_log *log, const char *title, FILE *out);
/* paths_json.c: the first `most` segments of a log that is arranged, for a result; NULL when memory is out. */
struct cJSON *path_log_json(const struct path_log *log, uint32_t most);
/* Of what path_log_json() wrote: whether lanes part, be it that some have ended; jumps of all of them are none. */
bool paths_part(const struct cJSON *o);
/* What path_log_json() wrote, arranged; steps in which no segment begins or ends are left out. False when it is
 * something else, or memory is out; free in any case. */
bool path_log_read(const struct cJSON *o, struct path_log *log);

/* What the interpreter is given in place of a model and its options: `base` must be the model's options. */
struct path_recorder {
    struct reconv_cfg base; /* first: the recorder finds itself by it */
    const struct reconv_ops *inner;
    struct reconv_ops ops; /* set by path_recorder_ops() */
    const struct program *program;
    uint32_t wanted;  /* the how many-th warp that starts, from 0, is recorded */
    uint32_t started; /* warps so far */
    struct path_log log;
};
/* The model that records what `r->inner` schedules: it has the calls that the inner one has. Its options are &r->base.
 */
const struct reconv_ops *path_recorder_ops(struct path_recorder *r);
#endif
