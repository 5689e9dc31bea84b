/* Finds kernels that must not be decoupled. The affine warp runs ahead until queues are full, for all warps of its
 * CTAs. No warp may wait for another warp without the affine warp's knowledge. So all threads must reach every barrier,
 * the affine stream must know which threads execute the block of a barrier, and no loop may wait for writes of other
 * threads. */
#include "decouple.h"
#include <string.h>

static void leave_whole(struct plan *p, uint32_t at, const char *why) {
    if (p->whole)
        return;
    p->whole = why;
    p->whole_at = at;
}

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

/* Returns true if the instruction reads memory that other threads may write at the same time. */
static bool asks_others(const struct inst *in, const struct inst_info *info) {
    return in->kind == K_ATOM || (in->kind == K_LOAD && (in->hints & HINT_VOLATILE || in->cache_op == CACHE_CV ||
                                                         info->order & ORDER_STRONG));
}

static bool in_a_loop(const struct plan *p, uint32_t i) {
    uint32_t b = p->ir->info[i].block;
    return p->loops.of[b] != NO_LOOP || p->loops.irregular[b];
}

static void check_barrier(struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    const struct isa_row *row = row_of(in);
    if (p->ir->info[i].function != 0)
        leave_whole(p, i, "a barrier in a function that it calls");
    else if (form_get(row->form, CAT_MODE2) == MODE2_CLUSTER)
        leave_whole(p, i, "a barrier of a cluster");
    else if (form_get(row->form, CAT_MODE) == MODE_ARRIVE)
        leave_whole(p, i, "a barrier that some threads do not wait at");
    else if (in->rsize)
        leave_whole(p, i, "a barrier of some threads");
    else if (!plan_known(p, i))
        leave_whole(p, i, "a barrier to which threads come by what they have computed from data");
    else if (affine_guard(&p->a, i) == CLASS_VECTOR)
        leave_whole(p, i, "a barrier under a guard that depends on data");
}

static void check_inst(struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    const struct ir *ir = p->ir;
    bool called = ir->info[i].function != 0;
    if (in->kind == K_BARRIER)
        check_barrier(p, i);
    if (in->kind == K_CALL && in->target == UINT32_MAX)
        leave_whole(p, i, "a call through a pointer");
    if (row_of(in)->op == OP_MBARRIER)
        leave_whole(p, i, "a barrier object in shared memory");
    if (row_of(in)->op == OP_NANOSLEEP && in_a_loop(p, i))
        leave_whole(p, i, "a loop that waits for other threads");
    if (called && asks_others(in, &ir->info[i]) && in_a_loop(p, i))
        leave_whole(p, i, "a loop of a function that looks at what other threads write");
}

/* Returns the number of the outermost loop around a block; all blocks in irreducible cycles have one common number. */
static uint32_t cycle_of(const struct plan *p, uint32_t b) {
    uint32_t l = p->loops.of[b];
    if (p->loops.irregular[b])
        return p->loops.n;
    while (l != NO_LOOP && p->loops.list[l].parent != NO_LOOP)
        l = p->loops.list[l].parent;
    return l;
}

/* Finds cycles whose control flow depends on reads, inside the cycle, of memory that other threads may write. Marks
 * these reads and, within the cycle, everything that is computed from them. */
static void check_loops(struct plan *p) {
    const struct ir *ir = p->ir;
    const struct defuse *d = &p->a.defuse;
    uint32_t end = ir->functions[0].end, n = 0;
    uint32_t *list = arena_array(p->arena, (size_t)end + 1, sizeof *list);
    unsigned char *marked = arena_array(p->arena, (size_t)end + 1, 1);
    for (uint32_t i = 0; i < end; i++)
        if (asks_others(&ir->code[i], &ir->info[i]) && in_a_loop(p, i)) {
            marked[i] = 1;
            list[n++] = i;
        }
    while (n) {
        uint32_t i = list[--n], cycle = cycle_of(p, ir->info[i].block);
        if (plan_parts(p, i))
            leave_whole(p, i, "a loop that ends by what other threads write meanwhile");
        for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
            for (uint32_t u = d->defs[k].first; u < d->defs[k].first + d->defs[k].n; u++) {
                uint32_t to = d->uses[d->def_uses[u]].inst;
                if (marked[to] || cycle_of(p, ir->info[to].block) != cycle)
                    continue;
                marked[to] = 1;
                list[n++] = to;
            }
    }
}

void plan_whole(struct plan *p) {
    struct ir *ir = p->ir;
    if (p->a.control.stuck != NO_BLOCK) {
        leave_whole(p, ir->blocks[p->a.control.stuck].begin, "a loop that never ends");
        return;
    }
    if (ir->uses_stack)
        leave_whole(p, NO_INST, "memory taken from the stack (alloca)");
    for (uint32_t f = 0; f < ir->n_functions; f++)
        if (ir->functions[f].recursive)
            leave_whole(p, ir->functions[f].begin, "a function that calls itself");
    for (uint32_t i = 0; i < ir->n; i++)
        check_inst(p, i);
    check_loops(p);
}
