#ifndef CUDA_CORE_RUNNER_H
#define CUDA_CORE_RUNNER_H
/* A thread that runs kernels, so that a launch can return to the program while its kernel waits for the host. A kernel
 * waits for the host if all its CTAs repeat their states, and memory that they share with the host may still change. */
#include "host/heddle.h"

/* Runs `run(ctx)`, a launch, on the thread. Returns true when it has ended, with its result in *status; false as soon
 * as its kernel waits for the host. Then cuda_runner_wait() must follow before the next launch. If there is no thread,
 * runs the launch on the caller's thread. */
bool cuda_runner_run(enum heddle_status (*run)(void *ctx), void *ctx, enum heddle_status *status);
/* Waits until the launch has ended, and returns its result. During this call, a kernel may wait for the host for
 * three seconds at a time; then its launch is a deadlock. */
enum heddle_status cuda_runner_wait(void);
/* The callback heddle_options.stands. */
bool cuda_runner_stands(void *ctx, bool first);
#endif
