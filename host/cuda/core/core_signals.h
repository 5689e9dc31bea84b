#ifndef CUDA_SIGNALS_H
#define CUDA_SIGNALS_H
/* SIGINT, SIGTERM and SIGHUP during a launch stop this launch, so that Heddle can say where its warps are. A second
 * signal ends the process at once. Signals that the program handles or ignores stay as they are. */
#include <stdbool.h>

/* Handles the signals whose action is the default. Requires that cuda_core.h is open. */
void cuda_catch_signals(void);
/* Call these when a launch begins and when it has ended. Only the thread that has the turn may call them. */
void cuda_signals_stop(bool begin);
/* Returns the signal that stopped a launch, or 0. */
int cuda_stopped_by(void);
#endif
