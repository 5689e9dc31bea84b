#include "toy.h"
#include "mechanisms/frontiers/priority.h"

uint32_t toy_hash(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ h >> 13;
}

bool toy_takes(const struct toy *t, uint32_t pc, uint32_t lane, uint32_t visit) {
    if (t->code[pc].takers)
        return t->code[pc].takers >> lane & 1;
    if (t->code[pc].target <= pc)
        return visit < toy_hash(t->seed, pc, lane) % (t->code[pc].trips + 1);
    return toy_hash(t->seed + visit, pc, lane) & 1;
}

struct toy toy_random(uint32_t seed) {
    struct toy t = {.n = 8 + toy_hash(seed, 1, 1) % 40, .seed = seed};
    for (uint32_t i = 0; i + 1 < t.n; i++) {
        uint32_t h = toy_hash(seed, 2, i);
        if (h % 4 == 0 && i > 0)
            t.code[i] = (struct toy_inst){.kind = BRANCH, .target = (h >> 8) % t.n, .trips = 1 + (h >> 20) % 3};
        if (h % 19 == 1)
            t.code[i].kind = EXIT;
    }
    t.code[t.n - 1].kind = EXIT;
    t.exits_early = seed & 1;
    toy_find_rpcs(&t);
    return t;
}

uint64_t toy_walk_alone(const struct toy *t, uint32_t lane) {
    uint32_t visits[MAX_CODE] = {0}, pc = 0;
    uint64_t trace = 0;
    while (t->code[pc].kind != EXIT) {
        trace = trace * 1000003 + pc;
        pc = t->code[pc].kind == BRANCH && toy_takes(t, pc, lane, visits[pc]++) ? t->code[pc].target : pc + 1;
    }
    return trace * 1000003 + pc;
}

/* Computes immediate post-dominators with sets of post-dominators. The immediate post-dominator of `i` is the strict
 * post-dominator whose own set equals the set of `i` without `i`. */
void toy_find_rpcs(struct toy *t) {
    uint64_t pdom[MAX_CODE];
    for (uint32_t i = 0; i < t->n; i++)
        pdom[i] = t->code[i].kind == EXIT ? 1ull << i : ~0ull;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = (int)t->n - 1; i >= 0; i--) {
            if (t->code[i].kind == EXIT)
                continue;
            uint64_t all = pdom[i + 1];
            if (t->code[i].kind == BRANCH)
                all &= pdom[t->code[i].target];
            all |= 1ull << i;
            changed |= all != pdom[i];
            pdom[i] = all;
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->code[i].rpc = PC_EXIT;
        for (uint32_t k = 0; k < t->n; k++)
            if (k != i && pdom[i] >> k & 1 && pdom[k] == (pdom[i] & ~(1ull << i)))
                t->code[i].rpc = k;
    }
}

static bool leader(const struct toy *t, uint32_t pc) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->code[i].kind == BRANCH && t->code[i].target == pc)
            return true;
    return pc >= t->n || (pc > 0 && (t->code[pc - 1].kind == BRANCH || t->code[pc - 1].kind == EXIT));
}

uint32_t toy_block_length(const struct toy *t, uint32_t pc) {
    uint32_t n = 1;
    while (!leader(t, pc + n))
        n++;
    return n;
}

/* Finds the facts of the program that models ask for. */
static void find_facts(struct program *p, struct program_fact facts[2], uint32_t of_block[2][MAX_CODE]) {
    struct arena *a = arena_new(1 << 20);
    struct cfg_edge edges[2 * MAX_CODE];
    uint32_t n = 0, root = 0;
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (int k = 0; k < 2; k++)
            if (p->blocks[b].succ[k] != UINT32_MAX)
                edges[n++] = (struct cfg_edge){b, p->blocks[b].succ[k]};
    struct cfg g = cfg_from_edges(a, p->n_blocks, edges, n);
    struct frontier_sets f = find_frontiers(a, &g, find_priorities(a, &g, &root, 1));
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        of_block[0][b] = f.priority[b];
        of_block[1][b] = frontier_first(&f, b);
    }
    facts[0] = (struct program_fact){"priority", of_block[0]};
    facts[1] = (struct program_fact){"frontier", of_block[1]};
    p->facts = facts;
    p->n_facts = 2;
    arena_free(a);
}

void toy_inform(const struct toy *t, const struct reconv_ops *ops, void *st, uint64_t *counts) {
    static struct inst_info info[MAX_CODE];
    static struct block blocks[MAX_CODE];
    static struct program_fact facts[2];
    static uint32_t of_block[2][MAX_CODE];
    static struct program p;
    if (!ops->inform)
        return;
    p = (struct program){.n = t->n, .info = info, .blocks = blocks};
    for (uint32_t pc = 0; pc < t->n; pc += toy_block_length(t, pc)) {
        struct block *b = &blocks[p.n_blocks];
        *b = (struct block){.begin = pc, .end = pc + toy_block_length(t, pc), .succ = {UINT32_MAX, UINT32_MAX}};
        for (uint32_t i = b->begin; i < b->end; i++)
            info[i].block = p.n_blocks;
        p.n_blocks++;
    }
    for (uint32_t b = 0; b < p.n_blocks; b++) {
        const struct toy_inst *last = &t->code[blocks[b].end - 1];
        if (last->kind == BRANCH)
            blocks[b].succ[1] = info[last->target].block;
        if (last->kind != EXIT)
            blocks[b].succ[0] = b + 1;
    }
    find_facts(&p, facts, of_block);
    ops->inform(st, &(struct reconv_warp){.program = &p, .counts = counts});
}

/* Lets the lanes whose target is an EXIT exit, as the driver does at code that only exits. Returns the number of groups
 * with the other lanes. */
static int exit_early(const struct toy *t, const struct reconv_ops *ops, void *st, int id, struct target *g, int n,
                      struct toy_run *r) {
    lanemask_t out = 0;
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (t->exits_early && t->code[g[i].pc].kind == EXIT) {
            out |= g[i].lanes;
            for (lanemask_t m = g[i].lanes; m; m &= m - 1)
                r->trace[__builtin_ctz(m)] = r->trace[__builtin_ctz(m)] * 1000003 + g[i].pc;
        } else
            g[kept++] = g[i];
    if (out)
        ops->leave(st, id, out, PC_NOWHERE);
    return kept;
}

void toy_issue(const struct toy *t, const struct reconv_ops *ops, void *st, struct path p, struct toy_run *r) {
    const struct toy_inst *in = &t->code[p.pc];
    lanemask_t taken = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        if (!(p.lanes >> l & 1))
            continue;
        r->trace[l] = r->trace[l] * 1000003 + p.pc;
        if (in->kind == BRANCH)
            taken |= (lanemask_t)toy_takes(t, p.pc, l, r->visits[p.pc][l]++) << l;
    }
    if (!p.lanes)
        ops->advance(st, p.id, p.pc + 1);
    else if (in->kind == BSSY && ops->bssy)
        ops->bssy(st, p.id, in->bar, in->rpc, p.pc + 1);
    else if (in->kind == BSYNC && ops->bsync)
        ops->bsync(st, p.id, in->bar, 0, p.pc + 1);
    else if (in->kind == EXIT)
        ops->leave(st, p.id, p.lanes, p.pc + 1);
    else if (in->kind != BRANCH)
        ops->advance(st, p.id, p.pc + 1);
    else {
        struct target g[2];
        int n = 0;
        if (taken)
            g[n++] = (struct target){in->target, taken};
        if (p.lanes & ~taken)
            g[n++] = (struct target){p.pc + 1, p.lanes & ~taken};
        struct branch_site site = {.pc = p.pc,
                                   .rpc = in->rpc,
                                   .rpc_block = in->rpc == PC_EXIT ? 0 : toy_block_length(t, in->rpc),
                                   .taken_pc = in->target,
                                   .conditional = true};
        if (n == 2 && g[0].pc == g[1].pc) {
            g[0].lanes = p.lanes;
            n = 1;
        }
        if ((n = exit_early(t, ops, st, p.id, g, n, r)) > 0)
            ops->branch(st, p.id, g, n, &site);
    }
}

struct reconv_cta *toy_cta(const struct reconv_ops *ops, const struct reconv_cfg *cfg, void *st) {
    if (!ops->cta_size)
        return NULL;
    struct reconv_cta *cta = calloc(1, ops->cta_size(cfg, 1));
    cta->n_warps = 1;
    ops->join(st, cfg, cta, 0);
    return cta;
}

void toy_meet(const struct reconv_ops *ops, struct reconv_cta *cta) {
    if (!cta || !cta->due)
        return;
    cta->due = false;
    ops->meet(cta);
}

void toy_run(const struct toy *t, const struct reconv_ops *ops, const struct reconv_cfg *cfg, struct toy_run *r) {
    memset(r, 0, sizeof *r);
    void *st = calloc(1, ops->size(cfg, MAX_WARP_LANES));
    struct reconv_cta *cta = toy_cta(ops, cfg, st);
    ops->start(st, cfg, 0, LANES_ALL);
    toy_inform(t, ops, st, r->counts);
    for (uint64_t step = 0; step < 200000 && !(r->finished = ops->finished(st)); step++) {
        struct path p[MAX_PATHS];
        int n = ops->paths(st, p, MAX_PATHS);
        ck_assert_msg(n > 0, "%s: seed %u: no path to issue", ops->name, t->seed);
        lanemask_t seen = 0;
        for (int i = 0; i < n; i++) {
            ck_assert_msg(p[i].lanes || ops->flags & RECONV_EMPTY, "%s: a path has no lanes", ops->name);
            ck_assert_msg(!(p[i].lanes & seen), "%s: paths overlap", ops->name);
            seen |= p[i].lanes;
        }
        struct path *next = &p[step % (uint64_t)n];
        ck_assert_uint_lt(next->pc, t->n);
        enum toy_kind kind = t->code[next->pc].kind;
        r->barriers += kind == BSSY || kind == BSYNC;
        r->issued += kind != BSSY && kind != BSYNC;
        r->max_paths = n > r->max_paths ? n : r->max_paths;
        int depth = ops->depth(st);
        r->max_depth = depth > r->max_depth ? depth : r->max_depth;
        toy_issue(t, ops, st, *next, r);
        toy_meet(ops, cta);
    }
    free(cta);
    free(st);
}
