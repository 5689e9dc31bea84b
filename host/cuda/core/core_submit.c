/* Submits work to streams. Work runs at once, or as a job of the runner. */
#include "core_graph_parts.h"
#include "core_launch.h"
#include "core_module.h"
#include "core_runner.h"
#include <stdio.h>
#include <stdlib.h>

struct job {
    struct cuda_work work;
    enum cuda_error *error; /* place for the error of the call; NULL once the call has returned */
    bool owned;             /* the arguments of a launch belong to the job */
};

/* Frees what a task owns. */
static void end_task(const struct cuda_work *w) {
    if (w->kind == NODE_TASK && w->task.free)
        w->task.free(w->task.data);
}

static void run_job(void *ctx) {
    struct job *j = ctx;
    cuda_in_job = true;
    enum cuda_error e = cuda_core.sticky;
    e = e ? e : cuda_work_run(&j->work);
    if (j->error)
        *j->error = e;
    else if (e)
        cuda_core.sticky = e;
    if (j->owned)
        free(j->work.launch.args);
    end_task(&j->work);
    free(j);
    cuda_in_job = false;
}

static void describe_job(void *ctx, bool begun, bool same_stream) {
    const struct job *j = ctx;
    char name[256];
    if (j->work.kind != NODE_KERNEL)
        return;
    heddle_demangle(j->work.launch.kernel->name, name, sizeof name);
    if (begun)
        fprintf(stderr, "  kernel '%s' of another stream waits too\n", name);
    else if (same_stream)
        fprintf(stderr,
                "  kernel '%s' begins after this kernel has ended, because of the order of streams\n"
                "  help: a kernel cannot wait for a later launch of its own stream\n",
                name);
}

/* Waits for what the call follows, and takes the turn. Forgets the runner when no job is left. */
static void begin_call(void) {
    struct cuda_order o = {.all = true};
    if (cuda_waits.kind == WAIT_STREAM && cuda_overlaps())
        o = cuda_stream_order(cuda_waits.stream);
    cuda_runner_hold();
    if (cuda_waits.kind != WAIT_NOTHING || !cuda_overlaps())
        cuda_runner_wait(&o, true);
    if (!cuda_runner_busy()) {
        cuda_core.begin = cuda_core.end = NULL;
        cuda_runner_release();
    }
}

/* Makes the work a job of the runner. If the job has ended, returns the error of the work, else CUDA_Success. Sets
 * *ticket to the ticket of the job. */
static enum cuda_error add_job(const struct cuda_work *w, const struct cuda_order *o, unsigned long long *ticket) {
    const bool queued = cuda_runner_pending(o);
    enum cuda_error e = CUDA_Success;
    struct job *j = malloc(sizeof *j);
    if (j)
        *j = (struct job){*w, queued ? NULL : &e, queued && w->kind == NODE_KERNEL};
    if (!j || (j->owned && !cuda_launch_own(&j->work.launch))) {
        free(j);
        end_task(w);
        return CUDA_ErrorMemoryAllocation;
    }
    if (!cuda_core.begin)
        cuda_runner_hold();
    cuda_core.begin = begin_call;
    cuda_core.end = cuda_runner_release;
    *ticket = cuda_runner_add(&(struct cuda_job){run_job, describe_job, j}, o);
    if (!*ticket) /* there is no thread */
        run_job(j);
    else if (cuda_runner_has(*ticket))
        j->error = NULL;
    return e;
}

static struct cuda_order order_of(const struct cuda_stream *s) {
    return cuda_overlaps() ? cuda_stream_order(s) : (struct cuda_order){.all = true};
}

bool cuda_pends(const struct cuda_stream *s) {
    const struct cuda_order o = order_of(s);
    return cuda_runner_pending(&o);
}

void cuda_follow(const struct cuda_stream *s) {
    const struct cuda_order o = order_of(s);
    if (cuda_runner_pending(&o))
        cuda_runner_wait(&o, true);
}

/* Returns true if the work may wait for the program, or for other work. */
static bool may_wait(const struct cuda_work *w) {
    if (w->kind == NODE_TASK && w->task.waits)
        return true;
    return (w->kind == NODE_KERNEL || w->kind == NODE_TASK) && (cuda_core.shares || cuda_streams_overlap());
}

enum cuda_error cuda_submit(const struct cuda_work *w, const struct cuda_stream *s, unsigned long long after,
                            unsigned long long *ticket) {
    struct cuda_order o = order_of(s);
    unsigned long long unused = 0;
    ticket = ticket ? ticket : &unused;
    o.after = after;
    *ticket = 0;
    return may_wait(w) || cuda_runner_pending(&o) ? add_job(w, &o, ticket) : cuda_work_run(w);
}
