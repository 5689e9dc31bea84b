#ifndef HOST_JOB_H
#define HOST_JOB_H
/* A benchmark, or a program in the place of one, in a model, run to its end in a context of its own; many of
 * them in parallel processes. */
#include "host/program/own.h"
#include <cjson/cJSON.h>

struct job {
    const struct bench *bench;
    enum bench_size size;
    struct heddle_options options;
    enum heddle_status status; /* HEDDLE_STOPPED: it did not begin, or a signal ended it */
    bool limited;              /* with HEDDLE_DEADLOCK: the cycle limit was met */
    bool lost;                 /* with HEDDLE_FAULT: its process was ended from outside, or by a mistake of ours */
    char *message; /* why status is not HEDDLE_OK; one or more lines, without a newline at the end; NULL: nothing to say
                    */
    char *notes;   /* heddle_notes(); NULL: nothing */
    cJSON *result; /* as heddle_write_json() gives it, with "benchmark"; NULL when the run did not end */
};

/* `argc`, `argv`: the command, for the result. A signal (interrupt.h) stops it. */
void job_run(struct job *j, int argc, char *const *argv);
/* job_paths.c: for each kernel in the profile of a job that has run, the paths of its first warp, "paths" as
 * path_log_json() has them: of the first launches, one in which they part, if there is one. The job is run again for
 * that, in the functional model. `again` runs it in the context that it is given. */
void job_add_paths(struct job *j, void (*again)(struct job *j, struct heddle *h));
/* For a job that is not to be run. */
void job_skip(struct job *j);
/* Who looks on; each function may be NULL, and all are called in this process. */
struct jobs_watch {
    void *ctx;
    bool (*wanted)(void *ctx, int job);    /* just before it begins; false: it is not run, and ends without a result */
    void (*ended)(void *ctx, int job);     /* it ended, in whatever way, and was not stopped by a signal */
    void (*tick)(void *ctx, int finished); /* after each, and several times a second */
};
/* Runs all of them, up to `parallel` at a time; results do not depend on it. A signal stops those that run, and the
 * others are skipped; when this process is killed, those that run end, too. */
void jobs_run(struct job *jobs, int n, int parallel, int argc, char *const *argv, const struct jobs_watch *watch);
/* A statistic of the whole run; NAN when it did not end. */
double job_stat(const struct job *j, const char *name);
/* "pass", "ran" (it checks nothing), "WRONG", "fault", "deadlock", "limit", "stopped", "refused". */
const char *job_verdict(const struct job *j);
void job_free(struct job *j);
#endif
