#ifndef ISA_WORKERS_H
#define ISA_WORKERS_H
/* A pool of host threads for repeated short jobs, separated by barriers. Each thread first executes its own jobs. If
 * successive rounds have equal numbers of jobs, a thread keeps nearly the same jobs. After its own jobs it takes jobs
 * of other threads, so a thread that the host does not schedule does not delay the others. */
#include <stdbool.h>
#include <stdint.h>

struct workers;

/* Creates a pool of `threads` threads, at least 1, including the caller of workers_run(). Returns NULL if they cannot
 * be created. */
struct workers *workers_new(uint32_t threads);
/* Ends the threads and frees the pool. NULL is allowed. */
void workers_free(struct workers *w);
/* Returns the number of threads, including the caller. */
uint32_t workers_threads(const struct workers *w);
/* Pauses once. Call it in a loop that waits for another thread. `i` is the number of earlier calls in the loop. */
void workers_pause(uint32_t i);
/* Calls `job(ctx, i)` once for every i in [0, jobs) and returns when all have finished. jobs < 32768. Jobs start in
 * order of their numbers. */
void workers_run(struct workers *w, uint32_t jobs, void (*job)(void *ctx, uint32_t i), void *ctx);
#endif
