#ifndef CUDA_CORE_RUNNER_H
#define CUDA_CORE_RUNNER_H
/* Runs the work of streams beside the program, so that kernels can wait for the host and for each other. Threads of the
 * runner execute the jobs. One thread at a time has the turn: a job, or a thread of the program inside a call. A job
 * gives the turn away when its kernel stands: all CTAs repeat their states until another job or the host changes
 * memory. Does not know what a job is. */
#include "core_base.h"

/* The place of a job in the order of CUDA: it begins after all earlier jobs that it follows. */
struct cuda_order {
    const void *stream;       /* key of the stream */
    bool legacy;              /* the default stream that all threads share: waits for all blocking streams */
    bool blocking;            /* the default stream that all threads share waits for this stream */
    bool all;                 /* follows all earlier jobs */
    unsigned long long after; /* also follows the job with this ticket; 0: none */
};
struct cuda_job {
    /* Executes the job on a thread of the runner, which has the turn. `ctx` belongs to the job. */
    void (*run)(void *ctx);
    /* Appends lines about a job that has not ended to the message about the deadlock of another job; may be NULL. */
    void (*describe)(void *ctx, bool begun, bool same_stream);
    void *ctx;
};

/* Returns true if jobs are in flight: they have not ended. */
bool cuda_runner_busy(void);
/* Returns true if a job that `o` follows is in flight. */
bool cuda_runner_pending(const struct cuda_order *o);
/* Adds a job. Returns its ticket as soon as the job has ended, waits for an earlier job, stands, or is away
 * (cuda_runner_away()). Returns 0 if there is no thread; then the job has not run. The caller has the turn, and gets it
 * again. `o` is copied. */
unsigned long long cuda_runner_add(const struct cuda_job *job, const struct cuda_order *o);
/* Returns true if the job with this ticket is in flight. */
bool cuda_runner_has(unsigned long long ticket);
/* Waits until all jobs that `o` follows have ended. The caller has the turn, which is free while the function waits.
 * With `apart`, the lock of core is free, too. If every job stands for three seconds during waits, one job is a
 * deadlock. */
void cuda_runner_wait(const struct cuda_order *o, bool apart);
/* Waits until the job with this ticket has ended, as cuda_runner_wait() with `apart`. */
void cuda_runner_await(unsigned long long ticket);
/* cuda_runner_hold() waits until no job has the turn, and takes it. cuda_runner_release() gives it back, if the caller
 * has it. */
void cuda_runner_hold(void);
void cuda_runner_release(void);
/* Calls a function of the program. The caller is a job that has the turn, which is free during the call. The function
 * may call core; such a call does not wait for this job. */
void cuda_runner_away(void (*call)(void *), void *data);
/* Returns true if other jobs stand. The caller is a job that has the turn. */
bool cuda_runner_beside(void);
/* Calls `describe` of all jobs in flight except the caller's, a job that has the turn. */
void cuda_runner_describe_others(void);
/* The callback heddle_options.stands. */
bool cuda_runner_stands(void *ctx, bool first);
/* Forgets all jobs: the process is a forked child. */
void cuda_runner_forget(void);
#endif
