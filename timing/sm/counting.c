/* Counts of instructions. The fast path only counts issues and lanes by PC; sm_take_tally() derives the rest. */
#include "counting.h"
#include "compound_timing.h"
#include "isa/compound.h"

/* Counts the lanes of a compound instruction with the instruction's own function. If it has no function, the lanes
 * count for its latency class. */
static void count_compound(struct sm *sm, const struct timed_inst *ti, uint32_t pc, uint32_t lanes) {
    const struct program *p = sm->program->program;
    const struct program_compound *c = compound_of(p, &p->code[pc]);
    if (c->ops->timing && c->ops->timing->count)
        c->ops->timing->count(c->what, &sm->fx, &sm->n);
    else
        sm->n.op_lanes[ti->op] += lanes;
}

/* Counts the lanes of a rare instruction. Returns false for instructions with TIMED_FREE, which have no other
 * counts. */
static bool count_special(struct sm *sm, const struct timed_inst *ti, uint32_t pc, uint32_t lanes) {
    if (ti->flags & TIMED_FREE)
        return false;
    if (ti->flags & TIMED_COMPOUND) {
        count_compound(sm, ti, pc, lanes);
    } else {
        sm->n.op_lanes[ti->op] += lanes;
        ++*(ti->kind == K_STORE ? &sm->n.registers.spilled_stores : &sm->n.registers.spilled_loads);
    }
    return true;
}

/* Adds the operations that `lanes` lanes did. */
static inline void count_operations(struct sm_counts *n, const struct timed_inst *ti, uint64_t lanes) {
    n->op_lanes[ti->op] += lanes;
    if (ti->expansion)
        timed_count_expansion(ti->expansion, lanes, n->machine_lanes);
}

/* Adds the counts of the pipe for `issued` executions of instruction `ti`. `lanes` is the sum of their executing
 * lanes. */
static inline void count_pipe(struct sm_counts *n, const struct timed_inst *ti, uint64_t issued, uint64_t lanes) {
    bool flops = ti->op == CLASS_F32_ADD || ti->op == CLASS_F32_MUL || ti->op == CLASS_F32_FMA;
    if (ti->pipe != PIPE_SP)
        return;
    n->sp_cycles += ti->initiation * issued;
    n->sp_lane_cycles += ti->initiation * lanes;
    n->sp_flop_cycles += flops ? ti->initiation * lanes : 0;
}

void sm_count_lanes(struct sm *sm, const struct timed_inst *ti, uint32_t pc, lanemask_t active) {
    uint32_t lanes = lanes_count(sm->fx.lanes);
    count_pipe(&sm->n, ti, 1, lanes);
    if (__builtin_expect(ti->flags & (TIMED_FREE | TIMED_COMPOUND | TIMED_SPILLED), 0)) {
        if (!count_special(sm, ti, pc, lanes))
            return;
    } else {
        count_operations(&sm->n, ti, ti->flags & TIMED_UNIFORM ? 1 : lanes);
    }
    sm->n.thread_instructions += lanes;
    if (sm->issue.profile)
        sm->issue.profile[pc].lanes += lanes_count(fx_executing(&sm->program->program->code[pc], &sm->fx, active));
}

/* Adds the counts of the registers and of the pipe for `issued` executions of instruction `ti`. */
static inline void count_kind(struct sm_counts *n, const struct timed_inst *ti, uint64_t issued) {
    n->pipe[ti->pipe] += issued;
    n->read_words += ti->read_words * issued;
    n->write_words += ti->write_words * issued;
}

void sm_count_issue(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path, const struct timed_inst *ti,
                    bool driven) {
    if (driven)
        sm->n.pipe[ti->pipe]++;
    else
        count_kind(&sm->n, ti, 1);
    if (sm->issue.profile)
        sm->issue.profile[path->pc].issued++;
    if (ti->flags & TIMED_FREE) {
        sm->n.free_instructions++;
        return;
    }
    sm->n.warp_instructions++;
    count_path(&sm->n, sw, path);
}

void sm_count_companion(struct sm *sm, uint32_t pc, lanemask_t active, bool own_pass, bool decoded) {
    const struct timed_inst *ti = &sm->program->inst[pc];
    uint32_t lanes = lanes_count(sm->fx.lanes);
    sm->n.pipe[ti->pipe] += own_pass;
    sm->n.read_words += ti->read_words;
    sm->n.write_words += ti->write_words;
    sm->n.active_lanes += lanes_count(active);
    sm->n.op_lanes[ti->op] += lanes;
    sm->n.thread_instructions += lanes;
    count_pipe(&sm->n, ti, own_pass, lanes_count(sm->fx.lanes & active));
    if (!sm->issue.profile)
        return;
    sm->issue.profile[pc].issued += decoded;
    sm->issue.profile[pc].lanes += lanes_count(fx_executing(&sm->program->program->code[pc], &sm->fx, active));
}

/* Derives, from the number of issues of each PC, all counts to which each issue of the PC adds the same value. */
void sm_take_tally(struct sm *sm) {
    struct sm_counts *n = &sm->n;
    for (uint32_t pc = 0; sm->issue.tally && pc < sm->program->program->n; pc++) {
        const struct timed_inst *ti = &sm->program->inst[pc];
        struct sm_tally *t = &sm->issue.tally[pc];
        if (!t->issued)
            continue;
        count_kind(n, ti, t->issued);
        count_pipe(n, ti, t->issued, t->lanes);
        n->warp_instructions += t->issued;
        count_operations(n, ti, t->lanes);
        n->thread_instructions += t->lanes;
        *t = (struct sm_tally){0, 0};
    }
}
