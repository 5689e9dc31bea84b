/* Checks convergence barriers: no thread returns from a function while it is in one of its barriers, and at every
 * instruction a barrier number belongs to only one region. */
#include "verify.h"
#include <string.h>

enum { N_BARRIERS = 32 };

/* The barriers in which threads may take part at one point of the program. A guarded BREAK takes effect at the
 * branch with the same guard. */
struct barrier_state {
    bool reached;
    uint32_t in;               /* bit set of barrier numbers */
    uint32_t join[N_BARRIERS]; /* barrier number -> target of its BSSY */
    /* barriers that guarded BREAKs left so far: left[0] by threads where predicate `guard` is true, left[1] by threads
     * where predicate `guard` is false */
    uint32_t guard, left[2];
};

struct barrier_check {
    struct verdict *r;
    const struct ir *ir;
    struct barrier_state *at; /* block -> state at its begin */
    uint32_t *stack, top;
    unsigned char *queued; /* block -> true if it is on the stack */
};

static void leave_barrier(struct barrier_state *s, const struct inst *in) {
    if (in->guard == NO_GUARD) {
        s->in &= ~(1u << in->imm);
        return;
    }
    if (s->guard != in->guard)
        s->left[0] = s->left[1] = 0;
    s->guard = in->guard;
    s->left[in->guard_not] |= 1u << in->imm;
}

static void step(struct barrier_check *c, uint32_t i, struct barrier_state *s) {
    const struct inst *in = &c->ir->code[i];
    const struct inst_info *info = &c->ir->info[i];
    if (in->kind == K_BREAK) {
        leave_barrier(s, in);
    } else if (in->kind == K_BSYNC) {
        /* threads remain members of a soft barrier, which does not wait for all of them (specrecon) */
        s->in &= in->msize ? s->in : ~(1u << in->imm);
    } else if (in->kind == K_BSSY) {
        if (s->in >> in->rpc & 1 && s->join[in->rpc] != in->target)
            wrong(c->r, "instruction %u: threads take part in barrier %u already", i, in->rpc);
        s->in |= 1u << in->rpc;
        s->join[in->rpc] = in->target;
        s->left[0] &= ~(1u << in->rpc);
        s->left[1] &= ~(1u << in->rpc);
    } else if (in->kind == K_RET && s->in && !info->only_exits) {
        wrong(c->r, "instruction %u: threads return that take part in barrier %d", i, __builtin_ctz(s->in));
    }
    for (unsigned k = 0; k < info->n_writes; k++)
        if (c->ir->regs[info->regs + info->n_reads + k] == s->guard)
            s->left[0] = s->left[1] = 0;
}

/* Merges state `s` into that of block `b`. */
static void merge_into(struct barrier_check *c, uint32_t b, const struct barrier_state *s) {
    struct barrier_state *at = &c->at[b], before = *at;
    for (uint32_t m = s->in & at->in; m && !c->ir->info[c->ir->blocks[b].begin].only_exits; m &= m - 1)
        if (s->join[__builtin_ctz(m)] != at->join[__builtin_ctz(m)])
            wrong(c->r, "block %u: barrier %d means two regions", b, __builtin_ctz(m));
    if (!before.reached) {
        *at = *s;
        at->reached = true;
    } else {
        for (uint32_t m = s->in & ~at->in; m; m &= m - 1)
            at->join[__builtin_ctz(m)] = s->join[__builtin_ctz(m)];
        at->in |= s->in;
        for (int k = 0; k < 2; k++)
            at->left[k] &= s->guard == at->guard ? s->left[k] : 0;
    }
    bool same = before.reached && at->in == before.in && at->left[0] == before.left[0] && at->left[1] == before.left[1];
    if (!same && !c->queued[b]) {
        c->queued[b] = 1;
        c->stack[c->top++] = b;
    }
}

static void leave_block(struct barrier_check *c, uint32_t b) {
    const struct cfg *g = &c->ir->cfg;
    struct barrier_state s = c->at[b];
    uint32_t end = c->ir->blocks[b].end;
    const struct inst *last = &c->ir->code[end - 1];
    for (uint32_t i = c->ir->blocks[b].begin; i < end; i++)
        step(c, i, &s);
    for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
        struct barrier_state out = s;
        if (last->kind == K_BRANCH && last->guard != NO_GUARD && last->guard == s.guard)
            out.in &= ~s.left[last->guard_not ^ (e != g->succ_first[b])];
        merge_into(c, g->succ[e], &out);
    }
}

void verify_barriers(struct verdict *r, const struct ir *ir) {
    struct barrier_check c = {.r = r, .ir = ir};
    bool any = false;
    for (uint32_t i = 0; i < ir->n; i++)
        any |= ir->code[i].kind == K_BSSY;
    if (!any)
        return;
    c.at = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *c.at);
    c.stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *c.stack);
    c.queued = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        merge_into(&c, ir->functions[f].block, &(struct barrier_state){.guard = NO_GUARD});
    while (c.top && !r->wrong) {
        uint32_t b = c.stack[--c.top];
        c.queued[b] = 0;
        leave_block(&c, b);
    }
}
