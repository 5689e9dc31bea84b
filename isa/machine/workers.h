#ifndef ISA_WORKERS_H
#define ISA_WORKERS_H
/* Host threads that share small jobs again and again, between barriers. Each has jobs of its own, the same in every
 * round of as many jobs, and takes others' when they are done: a thread that the machine does not run holds nobody up.
 */
#include <stdbool.h>
#include <stdint.h>

struct workers;

/* `threads` threads, the caller of workers_run() among them; at least 1. NULL when they cannot be had. */
struct workers *workers_new(uint32_t threads);
void workers_free(struct workers *w);
uint32_t workers_threads(const struct workers *w);
/* For who waits in a loop for what another thread does: the `i`th time, from 0. */
void workers_pause(uint32_t i);
/* Has `job(ctx, i)` called once for every i of [0, jobs), jobs < 65536, and returns when all have ended. Jobs begin in
 * the order of their numbers. */
void workers_run(struct workers *w, uint32_t jobs, void (*job)(void *ctx, uint32_t i), void *ctx);
#endif
