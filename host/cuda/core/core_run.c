/* Runs a launch now. */
#include "core_graph_parts.h"
#include "core_launch.h"
#include "core_module.h"
#include "core_reference.h"
#include "core_report.h"
#include "core_runner.h"
#include "core_signals.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if kernels may run beside each other. The checker, samples and checkpoints handle one at a time. */
bool cuda_overlaps(void) {
    const struct cuda_core *r = &cuda_core;
    return !r->check && !r->plan && !r->options.checkpoint;
}

static enum cuda_error fault_error(enum heddle_status status) {
    if (status != HEDDLE_FAULT)
        return status == HEDDLE_DEADLOCK ? CUDA_ErrorLaunchTimeout : CUDA_ErrorLaunchFailure;
    switch (heddle_fault(cuda_core.h)) {
    case HEDDLE_FAULT_ADDRESS:
        return CUDA_ErrorIllegalAddress;
    case HEDDLE_FAULT_ALIGNMENT:
        return CUDA_ErrorMisalignedAddress;
    case HEDDLE_FAULT_ASSERT:
        return CUDA_ErrorAssert;
    default:
        return CUDA_ErrorLaunchFailure;
    }
}

/* Returns the error of a launch that ran or was refused. A fault is not returned by the launch itself but, as on a GPU,
 * by later calls. A checked kernel that ran to its end has no fault, whatever the checker found. `before` is the number
 * of launches with statistics before this one. */
static enum cuda_error ended(const char *kernel, enum heddle_status status, int before) {
    struct cuda_core *r = &cuda_core;
    bool whole = heddle_launches(r->h) > before && !heddle_incomplete(r->h, before);
    if (r->check && (status == HEDDLE_OK || status == HEDDLE_FAULT) && whole) {
        cuda_print_new_findings(kernel, heddle_error(r->h));
        if (status == HEDDLE_FAULT && r->worst == HEDDLE_OK)
            r->worst = HEDDLE_FAULT;
        return CUDA_Success;
    }
    if (status == HEDDLE_OK)
        return CUDA_Success;
    /* refuses, because without this kernel the results of the program will be wrong */
    if (status == HEDDLE_USAGE && heddle_fault(r->h) == HEDDLE_FAULT_UNSUPPORTED)
        return cuda_refuse(kernel, heddle_error(r->h), CUDA_ErrorNotSupported);
    if (status == HEDDLE_USAGE) /* a GPU refuses this launch too, and the program may handle the error */
        return cuda_complain(kernel, cuda_invalid_launch());
    r->sticky = cuda_failed(kernel, status, fault_error(status));
    if (status == HEDDLE_DEADLOCK && cuda_in_job)
        cuda_runner_describe_others();
    if (status == HEDDLE_DEADLOCK && !cuda_overlaps() && cuda_streams_overlap())
        fputs("  help: kernels of several streams can wait for each other only without --check, --sampled and "
              "--checkpoint\n",
              stderr);
    return CUDA_Success;
}

/* Ends the process by the signal that stopped the launch, after the output of the end of a program. The CUDA lock may
 * belong to a thread of the program that waits for this launch. But only the thread with the turn, this thread, uses
 * the context. */
static void end_by_signal(const char *kernel, enum heddle_status status) {
    const int number = cuda_stopped_by();
    if (!number)
        return;
    if (status == HEDDLE_STOPPED)
        cuda_failed(kernel, status, CUDA_ErrorLaunchFailure);
    cuda_report_now(128 + number);
    signal(number, SIG_DFL);
    raise(number);
}

/* Says once that a kernel runs without time: a timing model simulates one launch at a time. */
static void note_untimed(const struct cuda_kernel *k) {
    static bool said; /* only threads that have the turn come here */
    char name[256];
    if (said || !cuda_in_job || cuda_core.functional || !cuda_runner_beside())
        return;
    heddle_demangle(k->name, name, sizeof name);
    fprintf(stderr, "heddle: %s: runs without time and statistics, because another kernel waits meanwhile\n", name);
    said = true;
}

/* Runs a launch on this thread, which has the turn. */
enum cuda_error cuda_run(const struct cuda_launch *l) {
    enum { FEW = 32 };
    const struct cuda_kernel *k = l->kernel;
    enum cuda_error e = k->in->unloaded ? CUDA_ErrorInvalidResourceHandle : cuda_references_bind();
    if (e)
        return e;
    struct heddle_arg few[FEW], *list = k->n_params <= FEW ? few : calloc((size_t)k->n_params, sizeof *list);
    if (!list)
        return CUDA_ErrorMemoryAllocation;
    for (int i = 0; i < k->n_params; i++)
        list[i] = (struct heddle_arg){l->args[i], k->param_bytes[i]};
    note_untimed(k);
    const int before = heddle_launches(cuda_core.h);
    cuda_set_clusters(k, l->cluster);
    struct heddle_dim grid = {l->grid.x, l->grid.y, l->grid.z}, block = {l->block.x, l->block.y, l->block.z};
    uint32_t shared = l->shared > UINT32_MAX ? UINT32_MAX : (uint32_t)l->shared;
    cuda_signals_stop(true);
    enum heddle_status status = (l->cooperative ? heddle_launch_cooperative : heddle_launch)(
        cuda_core.h, k->in->module, k->name, grid, block, shared, list, k->n_params);
    if (list != few)
        free(list);
    cuda_signals_stop(false);
    end_by_signal(k->name, status);
    return ended(k->name, status, before);
}

void cuda_call(void (*call)(void *), void *data) {
    const bool in_job = cuda_in_job;
    cuda_in_job = false;
    if (in_job)
        cuda_runner_away(call, data);
    else
        call(data);
    cuda_in_job = in_job;
}

bool cuda_launch_own(struct cuda_launch *l) {
    const struct cuda_kernel *k = l->kernel;
    size_t bytes = (size_t)k->n_params * sizeof(void *);
    for (int i = 0; i < k->n_params; i++)
        bytes += (k->param_bytes[i] + 15u) / 16 * 16;
    void **args = malloc(bytes + 1);
    char *at = args ? (char *)(args + k->n_params) : NULL;
    for (int i = 0; args && i < k->n_params; i++) {
        args[i] = memcpy(at, l->args[i], k->param_bytes[i]);
        at += (k->param_bytes[i] + 15u) / 16 * 16;
    }
    l->args = args;
    return args != NULL;
}
