/* Decouples as many instructions as the registers of the tuple file allow. The registers of an affine stream are known
 * only after register allocation. So the kernel is lowered again with fewer decoupled instructions until it fits.
 * Instructions in innermost loops have the highest priority. Among instructions at the same loop depth, earlier ones
 * have priority. */
#include "decouple.h"
#include "frontend/passes/pass.h"
#include <stdlib.h>
#include <string.h>

struct ranked {
    uint32_t inst, depth;
};

static int compare_worth(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? 1 : -1;
    return x->inst < y->inst ? -1 : x->inst > y->inst;
}

uint32_t *plan_ranks(const struct plan *p) {
    const struct ir *ir = p->ir;
    uint32_t n = ir->functions[0].end;
    if (ir->decouple_limit == UINT32_MAX)
        return NULL;
    struct ranked *list = arena_array(p->arena, (size_t)n + 1, sizeof *list);
    uint32_t *rank = arena_array(p->arena, (size_t)n + 1, sizeof *rank);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t loop = p->loops.of[ir->info[i].block];
        list[i] = (struct ranked){i, loop == NO_LOOP ? 0 : p->loops.list[loop].depth};
    }
    qsort(list, n, sizeof *list, compare_worth);
    for (uint32_t k = 0; k < n; k++)
        rank[list[k].inst] = k;
    return rank;
}

/* Returns a limit (a number of decoupled instructions) at which the kernel's affine stream fits into the tuple
 * registers of the machine (dac.tuples), while limit + 1 does not. Returns 0 if the kernel must not be decoupled,
 * UINT32_MAX if no limit is needed. `all` is the kernel lowered without a limit. */
static uint32_t limit_for(const struct image *img, const char *kernel, const struct lower_options *opt,
                          const struct program *all) {
    const uint32_t room = (uint32_t)pass_option(&opt->context, "dac.tuples", UINT32_MAX);
    /* in each iteration, the stream fits with limit `low` but not with limit `high` */
    uint32_t low = 0, high = all->coverage.instructions;
    if (all->coverage.tuples <= room)
        return UINT32_MAX;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        struct program *p = lower_with_limit(img, kernel, opt, middle);
        if (!p)
            return UINT32_MAX;
        *(p->coverage.tuples <= room ? &low : &high) = middle;
        program_free(p);
    }
    return low;
}

struct program *decouple_lower(const struct image *img, const char *kernel, const struct lower_options *opt) {
    if (!pass_extension(&opt->context, "dac"))
        return lower_with_limit(img, kernel, opt, UINT32_MAX);
    struct lower_options quiet = *opt; /* without dumps: only the final lowering prints one */
    quiet.dump_after = NULL;
    quiet.dump_to = NULL;
    struct program *p = lower_with_limit(img, kernel, &quiet, UINT32_MAX);
    if (!p)
        return NULL;
    const uint32_t all = p->coverage.tuples, limit = limit_for(img, kernel, &quiet, p);
    if (limit == UINT32_MAX && !opt->dump_after)
        return p;
    program_free(p);
    p = lower_with_limit(img, kernel, opt, limit);
    if (p)
        p->coverage.tuples_all = all;
    return p;
}
