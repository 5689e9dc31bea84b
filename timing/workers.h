#ifndef TIMING_WORKERS_H
#define TIMING_WORKERS_H
/* Host threads that share small jobs again and again, between barriers. A job is taken by whoever is free, so a thread
 * that the machine does not run holds nobody up. */
#include <stdbool.h>
#include <stdint.h>

struct workers;

/* `job(ctx, i)` will be called for every i of [0, jobs) by one of `threads` threads, the caller of workers_run() among
 * them. NULL when the threads cannot be had. */
struct workers *workers_new(uint32_t threads, uint32_t jobs, void (*job)(void *ctx, uint32_t i), void *ctx);
void workers_free(struct workers *w);
/* Has all jobs done once. */
void workers_run(struct workers *w);
#endif
