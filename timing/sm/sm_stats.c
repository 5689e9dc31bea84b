/* What an SM has counted, under the names of the statistics. */
#include "counting.h"
#include "issue_slots.h"
#include "stages.h"
#include <string.h>

static void pipe_stats(const struct sm *sm, struct stats *s) {
    static const char *const names[N_PIPES] = {
#define PIPE(id, name, text, units, collectors, in, out, instead) "pipe." name,
#include "timing/config/pipes.def"
#undef PIPE
    };
    for (int k = 0; k < N_PIPES; k++)
        stats_add(s, names[k], (double)sm->n.pipe[k]);
    stats_add(s, "pipe.sp_cycles", (double)sm->n.sp_cycles);
    stats_add(s, "pipe.sp_lane_cycles", (double)sm->n.sp_lane_cycles);
    stats_add(s, "pipe.sp_flop_lane_cycles", (double)sm->n.sp_flop_cycles);
    for (int i = 0; i < N_OP_CLASSES; i++)
        stats_add(s, op_class_stat((enum op_class)i), (double)sm->n.op_lanes[i]);
    for (uint32_t i = 0; i < sm->operands.n_parts; i++) {
        const struct regfile *f = &sm->operands.part[i].regfile;
        stats_add(s, "collector.reads", (double)f->n.reads);
        stats_add(s, "collector.writes", (double)f->n.writes);
        stats_add(s, "collector.bank_conflicts", (double)f->n.read_waits);
        stats_add(s, "collector.write_conflicts", (double)f->n.write_waits);
    }
    stats_add(s, "collector.read_words", (double)sm->n.read_words);
    stats_add(s, "collector.write_words", (double)sm->n.write_words);
}

static void issue_stats(const struct sm *sm, struct stats *s) {
    static const char *const names[N_SLOTS] = {
        "issue.issued",        "issue.pipe_busy", "issue.scoreboard_load", "issue.scoreboard_arith", "issue.fetch",
        "issue.reconvergence", "issue.queue",     "issue.barrier",         "issue.no_warp"};
    for (int i = 0; i < N_SLOTS; i++) {
        stats_add(s, names[i], (double)sm->n.slot[i]);
        stats_add(s, "issue.slots", (double)sm->n.slot[i]);
    }
    stats_add(s, "issue.pipe_busy_memory", (double)sm->n.busy_memory);
}

/* Bits a warp: of the deepest stack or fullest table seen, and of the scoreboard. */
static void storage_stats(const struct sm *sm, struct stats *s) {
    struct reconv_storage bits = sm->model.ops->storage(sm->model.options);
    stats_add(s, "storage.entry_bits", bits.entry);
    uint32_t deepest = sm->n.max_depth;
    if (sm->model.wants.stack_entries && deepest > sm->model.wants.stack_entries)
        deepest = sm->model.wants.stack_entries;
    stats_add(s, "storage.path_bits", bits.fixed + (double)bits.entry * deepest);
    stats_add(s, "storage.scoreboard_bits", sm->program ? sm->model.sb->bits(sm->program->program->n_regs) : 0);
}

void sm_stats(struct sm *sm, uint64_t to, struct stats *s) {
    const struct sm_counts *n = &sm->n;
    sm_account(sm, to);
    sm_take_tally(sm);
    stats_add(s, "gpu.warp_instructions", (double)n->warp_instructions);
    stats_add(s, "gpu.thread_instructions", (double)n->thread_instructions);
    stats_add(s, "gpu.active_lanes", (double)n->active_lanes);
    stats_add(s, "gpu.barrier_instructions", (double)n->free_instructions);
    stats_add(s, "gpu.lane_slots", (double)n->warp_instructions * WARP_LANES);
    stats_add(s, "gpu.path_sum", (double)n->path_sum);
    stats_add(s, "gpu.idle_cycles", (double)n->idle_cycles);
    stats_add(s, "gpu.max_stack_depth", n->max_depth);
    stats_add(s, "gpu.max_resident_warps", n->max_warps);
    storage_stats(sm, s);
    stats_add(s, "gpu.ctas", (double)n->ctas);
    stats_add(s, "gpu.warps", (double)n->warps);
    stats_add(s, "sm.exposed_load_stalls", (double)n->exposed_load);
    stats_add(s, "sm.exposed_load_stalls_divergent", (double)n->exposed_load_divergent);
    stats_add(s, "sm.warp_cycles", (double)n->warp_cycles);
    stats_add(s, "sm.context_cycles", (double)n->context_cycles);
    stats_add(s, "sm.context_instructions", (double)n->context_instructions);
    stats_add(s, "sm.path_switches", (double)n->path_switches);
    stats_add(s, "sm.path_turns", (double)n->path_turns);
    stats_add(s, "sm.stack_spills", (double)n->stack_spills);
    stats_add(s, "sm.stack_fills", (double)n->stack_fills);
    stats_add(s, "sm.stack_bytes", (double)n->stack_bytes);
    stats_add(s, "sm.memory_splits", (double)n->splits);
    stats_add(s, "sm.turns", (double)n->turns);
    stats_add(s, "sm.turn_stored", (double)n->turn_stored);
    stats_add(s, "sm.turn_loaded", (double)n->turn_loaded);
    stats_add(s, "sm.turn_cycles", (double)n->turn_cycles);
    stats_add(s, "fetch.fetches", (double)sm->fetch.n.fetches);
    stats_add(s, "fetch.l0_misses", (double)sm->fetch.n.l0_misses);
    stats_add(s, "fetch.misses", (double)sm->fetch.n.misses);
    stats_add(s, "fetch.l0_accesses", (double)sm->fetch.n.l0_accesses);
    stats_add(s, "fetch.l1_accesses", (double)sm->fetch.n.l1_accesses);
    stats_add(s, "fetch.prefetches", (double)sm->fetch.n.prefetches);
    stats_add(s, "fetch.prefetch_misses", (double)sm->fetch.n.prefetch_misses);
    stats_add(s, "fetch.prefetch_useful", (double)sm->fetch.n.prefetch_useful);
    stats_add(s, "fetch.prefetch_late", (double)sm->fetch.n.prefetch_late);
    stats_add(s, "fetch.prefetch_unused", (double)sm->fetch.n.prefetch_unused);
    issue_stats(sm, s);
    pipe_stats(sm, s);
    lsu_account(sm->lsu, sm->clock.accounted);
    lsu_stats(sm->lsu, s);
    for (uint32_t i = 0; i < sizeof sm->ctas.slot / sizeof sm->ctas.slot[0]; i++)
        if (sm->ctas.slot[i].cta) {
            chain_error_add(&sm->n.chain.error, &sm->ctas.slot[i].cta->chain_error);
            sm->ctas.slot[i].cta->chain_error = (struct chain_error){0};
        }
    sm_chain_stats(sm, s);
    stats_add(s, "regs.spill_loads", (double)sm->n.spills[0]);
    stats_add(s, "regs.spill_stores", (double)sm->n.spills[1]);
    sm_reduce_stats(sm, s);
    sm_units_stats(sm, s);
    memset(&sm->n, 0, sizeof sm->n);
    memset(&sm->fetch.n, 0, sizeof sm->fetch.n);
    for (uint32_t i = 0; i < sm->operands.n_parts; i++)
        memset(&sm->operands.part[i].regfile.n, 0, sizeof sm->operands.part[i].regfile.n);
}
