/* As much decoupled as the tuple file has registers for. How many an affine stream needs is known when registers have
 * been allocated, so the kernel is lowered again with less, until it fits: instructions in the innermost loops are
 * worth most, of these the earlier ones. */
#include "decouple.h"
#include "pass.h"
#include <stdlib.h>
#include <string.h>

struct count {
    const struct ir *ir;
    unsigned char *seen; /* place in bank 0 -> */
    uint32_t n;
};

static void count_operand(void *ctx, opnd_t *o, enum operand_role role) {
    struct count *c = ctx;
    (void)role;
    if (*o & 1 || *o >> 1 == SINK_VREG || c->ir->vregs[*o >> 1].cls == RC_PRED) /* predicates are masks */
        return;
    uint32_t at = c->ir->vregs[*o >> 1].offset / (uint32_t)sizeof(lanemask_t);
    c->n += !c->seen[at];
    c->seen[at] = 1;
}

uint32_t ir_tuple_registers(const struct ir *ir) {
    struct count c = {.ir = ir};
    for (uint32_t k = 0; k < ir->n_streams; k++) {
        const struct ir_function *f = &ir->functions[ir->streams[k].function];
        if (strcmp(ir->streams[k].name, AFFINE_STREAM) != 0)
            continue;
        c.seen = arena_array(ir->tmp, ir->reg_bytes / sizeof(lanemask_t) + 1, 1);
        for (uint32_t i = f->begin; i < f->end; i++)
            if (ir->code[i].kind != K_BARRIER) { /* a mark */
                struct inst in = ir->code[i];
                ir_operands(ir, &in, count_operand, &c);
            }
    }
    return c.n;
}

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

uint32_t decouple_limit(const struct image *img, const char *kernel, const struct lower_options *opt,
                        const struct program *all) {
    const uint32_t room = (uint32_t)pass_option(&opt->context, "dac.tuples", UINT32_MAX);
    uint32_t low = 0, high = all->coverage.instructions; /* with `low` it fits, with `high` it does not */
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
