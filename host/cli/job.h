#ifndef HOST_JOB_H
#define HOST_JOB_H
/* A job: one benchmark, or a program in place of one, run in one model in its own context. Several jobs run in parallel
 * processes. */
#include "host/program/own.h"
#include "host/results/results_db.h"
#include <cjson/cJSON.h>

/* The members of the JSON of heddle_write_json() that a job's result has. A job with a profile has all members. */
enum job_needs {
    JOB_ALL,
    JOB_DATABASE, /* the members that a database stores: results_write_brief() with launches */
    JOB_TOTALS    /* the members for a table: results_write_brief() without launches */
};

struct job {
    const struct bench *bench;
    enum bench_size size;
    struct heddle_options options;
    const struct run_machine
        *machine; /* the machine that `options` describe, or NULL: heddle_open() reads the preset */
    bool sampled; /* sampled simulation, with the wanted error below; 0: none */
    double error;
    enum heddle_status status; /* outcome of the job; HEDDLE_STOPPED: the job did not begin, or a signal ended it */
    bool limited;              /* with HEDDLE_DEADLOCK: true if the reason is the cycle limit */
    bool lost;                 /* with HEDDLE_FAULT: true if the job's process was killed or crashed */
    char *message;             /* why status is not HEDDLE_OK: one or more lines, without a final newline; NULL: none */
    char *notes;               /* heddle_notes(); NULL: none */
    enum job_needs needs;
    cJSON *result; /* the JSON with "benchmark"; NULL: the run did not end */
    bool in_child; /* the job runs in a child process of jobs_run() */
    char *text;    /* in a child: the result as JSON text; NULL: `result` has the parsed result */
};

/* Runs the job. `argc`, `argv`: the command line, for the result. A signal (interrupt.h) stops it. */
void job_run(struct job *j, int argc, char *const *argv);
/* job_paths.c: adds to each kernel of the job's profile the member "paths", the paths of its first warp in the format
 * of path_log_json(). Among a kernel's first launches, the function prefers a launch in which the warp diverges. To
 * record the paths, the job runs again in the functional model. `again` runs the job in the given context. */
void job_add_paths(struct job *j, void (*again)(struct job *j, struct heddle *h));
/* Marks a job as skipped. */
void job_skip(struct job *j);
/* Callbacks of jobs_run(), called in this process. Each may be NULL. */
struct jobs_watch {
    void *ctx;
    bool (*wanted)(void *ctx, int job); /* called before a job begins; if it returns false, the job is skipped */
    void (*ended)(void *ctx, int job);  /* called after a job ended, unless a signal stopped the job */
    /* called after each job and several times a second; `finished`: number of jobs that ended or were skipped */
    void (*tick)(void *ctx, int finished);
};
/* Runs all jobs, up to `parallel` at a time; results do not depend on `parallel`. A signal stops the running jobs and
 * skips the rest. If this process is killed, its running jobs end, too. */
void jobs_run(struct job *jobs, int n, int parallel, int argc, char *const *argv, const struct jobs_watch *watch);
/* Returns a statistic of the whole run; NAN: the run did not end. */
double job_stat(const struct job *j, const char *name);
/* Returns "pass", "ran" (the program checks nothing), "WRONG", "fault", "deadlock", "limit", "stopped" or "refused". */
const char *job_verdict(const struct job *j);
void job_free(struct job *j);
#endif
