#include "passes.h"
#include "isa/arith.h"
#include "isa/machine/workers.h"
#include "timing/mem/memsys.h"
#include <stdlib.h>

/* Cycles of a shared pass, and of a step of the requests. In this time few partitions run out of room for replies. */
enum { STEP = 32 };

bool passes_init(struct passes *p, struct memsys *mem) {
    *p = (struct passes){.mem = mem, .partitions = memsys_partitions(mem)};
    p->took = calloc(p->partitions + 1, sizeof *p->took);
    return p->took != NULL;
}

void passes_free(struct passes *p) {
    free(p->took);
    p->took = NULL;
}

/* Takes partition `i` in pass `pass`. Returns false if a thread has taken it in this pass, or if the pass is over. Each
 * pass takes every partition, so a partition that is free was taken last in the pass before. */
static bool take(struct passes *p, uint32_t i, uint32_t pass) {
    uint32_t before = pass - 1;
    return atomic_load_explicit(&p->took[i], memory_order_relaxed) == before &&
           atomic_compare_exchange_strong_explicit(&p->took[i], &before, pass, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

void passes_begin(struct passes *p, uint64_t follows) {
    const uint64_t followed = memsys_followed(p->mem);
    p->follows = follows;
    atomic_store_explicit(&p->followed, followed, memory_order_relaxed);
    atomic_store_explicit(&p->moving, follows > followed ? PASSES_WAIT_FOR_THREAD : PASSES_MOVED, memory_order_relaxed);
}

/* Moves requests up to cycle `to` or later, unless another thread moves them. */
static void move_requests(struct passes *p, uint64_t to) {
    uint32_t waits = PASSES_WAIT_FOR_THREAD;
    if (atomic_load_explicit(&p->moving, memory_order_relaxed) != waits ||
        !atomic_compare_exchange_strong_explicit(&p->moving, &waits, PASSES_MOVE, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    uint64_t at = atomic_load_explicit(&p->followed, memory_order_relaxed);
    while (at < to) {
        at = min64(at + STEP, p->follows);
        memsys_follow_beside(p->mem, at);
        windows_tell(p->watch, WINDOWS_FOLLOW);
        atomic_store_explicit(&p->followed, at, memory_order_release);
    }
    atomic_store_explicit(&p->moving, at < p->follows ? PASSES_WAIT_FOR_THREAD : PASSES_MOVED, memory_order_release);
}

/* Waits until requests have moved up to cycle `to`. Moves them if no other thread does. */
static void await_requests(struct passes *p, uint64_t to) {
    for (uint32_t i = 0; atomic_load_explicit(&p->followed, memory_order_acquire) < to; i++) {
        move_requests(p, to);
        workers_pause(i);
    }
}

/* Runs partitions of the present pass, beginning with number `first`, until none is left. */
static void run_partitions(struct passes *p, uint32_t first) {
    uint32_t pass = atomic_load_explicit(&p->open, memory_order_acquire);
    if (!atomic_load_explicit(&p->left, memory_order_relaxed))
        return;
    for (uint32_t k = 0, i = first; k < p->partitions; k++, i++) {
        i = i < p->partitions ? i : 0;
        if (!take(p, i, pass))
            continue;
        memsys_lead_partition(p->mem, i, p->to);
        windows_tell(p->watch, WINDOWS_PARTITION);
        atomic_fetch_sub_explicit(&p->left, 1, memory_order_acq_rel);
    }
}

void passes_help(struct passes *p, uint32_t first) {
    move_requests(p, p->follows);
    run_partitions(p, first);
}

void passes_help_all(struct passes *p, uint32_t first) {
    for (uint32_t i = 0; !atomic_load_explicit(&p->over, memory_order_acquire); i++) {
        passes_help(p, first);
        workers_pause(i);
    }
}

/* Runs one pass. Threads that are late may still read `open`, so all other fields are set before it. */
static void run_pass(struct passes *p, uint64_t to) {
    p->to = to;
    atomic_store_explicit(&p->left, p->partitions, memory_order_relaxed);
    atomic_store_explicit(&p->open, ++p->number, memory_order_release);
    run_partitions(p, 0);
    for (uint32_t i = 0; atomic_load_explicit(&p->left, memory_order_acquire); i++)
        workers_pause(i);
    memsys_lead(p->mem, to);
    windows_tell(p->watch, WINDOWS_LEAD);
}

void passes_run(struct passes *p, uint64_t to, bool shared) {
    const uint64_t slack = memsys_slack(p->mem);
    for (uint64_t at = memsys_led(p->mem); at < to;) {
        at = shared && to - at > STEP ? at + STEP : to;
        await_requests(p, min64(p->follows, at - min64(at, slack)));
        run_pass(p, at);
    }
    await_requests(p, p->follows);
}
