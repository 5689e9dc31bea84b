#include "passes.h"
#include "isa/arith.h"
#include "isa/machine/workers.h"
#include "timing/mem/memsys.h"
#include <stdlib.h>

/* Cycles of a shared pass. In this time few partitions run out of room for replies. */
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

void passes_help(struct passes *p, uint32_t first) {
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
    passes_help(p, 0);
    for (uint32_t i = 0; atomic_load_explicit(&p->left, memory_order_acquire); i++)
        workers_pause(i);
    memsys_lead(p->mem, to);
    windows_tell(p->watch, WINDOWS_LEAD);
}

void passes_run(struct passes *p, uint64_t to, bool shared) {
    for (uint64_t at = memsys_led(p->mem); at < to;) {
        at = shared && to - at > STEP ? at + STEP : to;
        run_pass(p, at);
    }
}
