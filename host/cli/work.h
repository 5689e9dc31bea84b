#ifndef HOST_CLI_WORK_H
#define HOST_CLI_WORK_H
#include "cmd.h"
#include "host/results/results_queue.h"

enum { PROGRESS_LINE = 256 };
/* queue_progress.c: writes one line about the progress of a queue, without a newline. `estimate`: NULL, or the seconds
 * left of the previous line (negative: none); the line never has a larger estimate, and the call stores its own. */
void results_progress(const struct queue_state *q, double *estimate, char out[PROGRESS_LINE]);
/* Serves a web page about the queue `file` until no run is left (cmd_fleet.c). `where`: see host/live/live.h. */
enum heddle_status fleet_live(const struct cli *c, const char *file, const char *where);
#endif
