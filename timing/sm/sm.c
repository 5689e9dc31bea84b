/* The SM's clock: which cycles are walked, what happens in one, and where the issue slots of all of them went. */
#include "sm_parts.h"
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct sm, status) == 0, "sm_status() looks there");
enum { PATH_STRIDE = MAX_PATHS + 1 };

static void init_part(struct sm *sm, struct exec_part *p, const struct config *cfg) {
    const struct sm_cfg *s = &cfg->sm;
    uint32_t n = sm->n_parts;
    regfile_init(&p->regfile, s->banks / n, s->operands, s->result_bus);
    for (int k = 0; k < N_PIPES; k++) {
        if (!s->pipe[k].units)
            continue;
        collector_init(&p->collector[k], &s->pipe[k], s->pipe[k].collectors / n, s->latch_collect);
        pipes_init(&p->pipes[k], k == PIPE_MEM ? 1 : s->pipe[k].units / n);
    }
    p->mem_collectors = s->pipe[PIPE_MEM].collectors / n;
}

static bool init_pools(struct sm *sm) {
    sm->inflight = calloc(MAX_INFLIGHT, sizeof *sm->inflight);
    sm->mem = calloc(MEM_QUEUE, sizeof *sm->mem);
    sm->path_memory = calloc((size_t)CFG_MAX_WARPS * PATH_STRIDE, sizeof(struct sm_path));
    if (!sm->inflight || !sm->mem || !sm->path_memory)
        return false;
    for (uint32_t i = 0; i < MAX_INFLIGHT; i++)
        sm->inflight[i].next_free = i + 1 < MAX_INFLIGHT ? i + 1 : NO_INFLIGHT;
    for (uint32_t i = 0; i < MEM_QUEUE; i++)
        sm->free_mem[sm->n_free_mem++] = (uint8_t)i;
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++) /* an odd stride keeps warps out of each other's cache sets */
        sm->warp[w].path = (struct sm_path *)sm->path_memory + (size_t)w * PATH_STRIDE;
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++)
        sm->warp[w].control = (struct warp_control){.ops = sm->ops, .held = sm->held_memory + (size_t)w * MAX_PATHS};
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++)
        sm->warp[w].await = sm->await_memory + (size_t)w * MAX_PATHS;
    return true;
}

static const struct scoreboard_ops *board_for(const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    switch (ops->board ? ops->board(cfg) : RECONV_BOARD_WARP) {
    case RECONV_BOARD_SIDES:
        return &scoreboard_shadow;
    case RECONV_BOARD_LANES:
        return &scoreboard_exact;
    case RECONV_BOARD_COUNTED:
        return &scoreboard_counted;
    case RECONV_BOARD_COUNTED_LANES:
        return &scoreboard_counted_lanes;
    default:
        return &scoreboard_warp;
    }
}

/* Instructions after which the model may want another path. */
static uint16_t heard_for(const struct reconv_wants *w) {
    if (w->rotates)
        return TIMED_MEMORY | TIMED_SLOW;
    if (!w->yields)
        return 0;
    return w->yield_after ? TIMED_YIELD | TIMED_LONG | TIMED_SLOW : TIMED_YIELD;
}

struct sm *sm_new(const struct config *cfg, const struct reconv_ops *ops, const struct reconv_cfg *options,
                  struct memsys *mem, uint32_t id) {
    struct sm *sm = aligned_alloc(_Alignof(struct sm), sizeof *sm);
    if (!sm)
        return NULL;
    memset(sm, 0, sizeof *sm);
    sm->cfg = cfg;
    sm->ops = ops;
    sm->options = options;
    sm->sb = board_for(ops, options);
    sm->wants = reconv_wants(ops, options);
    sm->heard = heard_for(&sm->wants);
    sm->id = id;
    sm->polls = cfg->gpu.poll;
    sm->n_parts = cfg->sm.subcores ? cfg->sm.schedulers : 1;
    sm->status.lsu_due = sm->mem_due = sm->status.next = UINT64_MAX;
    for (uint32_t i = 0; i < sm->n_parts; i++)
        init_part(sm, &sm->part[i], cfg);
    for (uint32_t i = 0; i < cfg->sm.schedulers; i++) {
        sched_init(&sm->sched[i], &cfg->sm, i);
        sm->fetch_last[i] = 63;
    }
    sm->lsu = lsu_new(cfg, mem, id);
    if (sm->lsu && sm->wants.rotates)
        lsu_note_misses(sm->lsu);
    if (sm->lsu && sm->wants.splits)
        lsu_note_known(sm->lsu);
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++)
        sm->warp[w].loads = NO_INFLIGHT;
    if (!sm->lsu || !fetch_init(&sm->fetch, cfg, sm->lsu) || !init_pools(sm) ||
        !wheel_init(&sm->wheel, MAX_INFLIGHT + CFG_MAX_WARPS * MAX_PATHS * 2 + 64)) {
        sm_free(sm);
        return NULL;
    }
    sm->model_size = ops->size(options);
    sm->model_memory = calloc(cfg->sm.warps, sm->model_size);
    if (!sm->model_memory) {
        sm_free(sm);
        return NULL;
    }
    return sm;
}

void sm_free(struct sm *sm) {
    if (!sm)
        return;
    sm_launch_end(sm);
    if (sm->lsu)
        lsu_free(sm->lsu);
    fetch_free(&sm->fetch);
    wheel_free(&sm->wheel);
    sm_units_free(sm);
    held_free(&sm->held);
    free(sm->profile);
    free(sm->inflight);
    free(sm->mem);
    free(sm->path_memory);
    free(sm->model_memory);
    free(sm);
}

static inline uint64_t ready_warps(const struct sm *sm) {
    uint64_t ready = 0;
    for (int k = 0; k < N_PIPES; k++)
        ready |= sm->mask[PATH_READY + k];
    return ready;
}

/* What the slot of a scheduler waits for, when it issues nothing. Warps may differ; see enum slot for who is named. */
static enum slot idle_slot(const struct sm *sm, uint64_t mine) {
    const uint64_t *m = sm->mask;
    if (ready_warps(sm) & mine)
        return SLOT_PIPE;
    if ((m[PATH_LOAD] | m[PATH_FENCE] | m[PATH_ORDER]) & mine)
        return SLOT_LOAD;
    if (m[PATH_ARITH] & mine)
        return SLOT_ARITH;
    if ((m[PATH_FETCH] | m[PATH_FETCHING]) & mine)
        return SLOT_FETCH;
    if ((m[PATH_SWITCH] | m[PATH_BLOCKED]) & mine)
        return SLOT_RECONVERGENCE;
    if (m[PATH_QUEUE] & mine)
        return SLOT_QUEUE;
    return m[PATH_BARRIER] & mine ? SLOT_BARRIER : SLOT_NO_WARP;
}

/* States that give a slot its cause. */
static uint64_t warps_of(const struct sm *sm, enum slot slot) {
    const uint64_t *m = sm->mask;
    switch (slot) {
    case SLOT_PIPE:
        return ready_warps(sm);
    case SLOT_LOAD:
        return m[PATH_LOAD] | m[PATH_FENCE] | m[PATH_ORDER];
    case SLOT_ARITH:
        return m[PATH_ARITH];
    case SLOT_FETCH:
        return m[PATH_FETCH] | m[PATH_FETCHING];
    case SLOT_RECONVERGENCE:
        return m[PATH_SWITCH] | m[PATH_BLOCKED];
    case SLOT_QUEUE:
        return m[PATH_QUEUE];
    case SLOT_BARRIER:
        return m[PATH_BARRIER];
    default:
        return 0;
    }
}

/* `cycles` slots of a scheduler in which it issues nothing. */
static void count_idle_slot(struct sm *sm, uint64_t mine, uint64_t cycles) {
    enum slot slot = idle_slot(sm, mine);
    sm->n.slot[slot] += cycles;
    if (!sm->profile)
        return;
    uint64_t warps = warps_of(sm, slot) & mine;
    const struct sm_warp *sw = warps ? &sm->warp[__builtin_ctzll(warps)] : NULL;
    if (sw && sw->n_paths)
        sm->profile[sw->path[0].pc].stall[slot] += cycles;
}

/* `cycles` cycles in which nothing issues and nothing changes. */
static void account_idle(struct sm *sm, uint64_t cycles) {
    uint64_t loads = sm->mask[PATH_LOAD] | sm->mask[PATH_ORDER]; /* an atomic's old value is loaded, too */
    if (!sm->live)
        return;
    sm->n.idle_cycles += cycles;
    sm->n.exposed_load += loads ? cycles : 0;
    sm->n.exposed_load_divergent += loads & sm->divergent ? cycles : 0;
}

void sm_account(struct sm *sm, uint64_t to) {
    if (to <= sm->accounted)
        return;
    uint64_t cycles = to - sm->accounted;
    sm->accounted = to;
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++)
        count_idle_slot(sm, sm->sched[s].mine, cycles);
    sm->n.warp_cycles += cycles * (unsigned)__builtin_popcountll(sm->live);
    account_idle(sm, cycles);
}

static inline __attribute__((always_inline)) void take_events(struct sm *sm, uint64_t now) {
    uint32_t what;
    while (wheel_take(&sm->wheel, now, &what)) {
        uint32_t value = what / EVENT_KINDS;
        switch (what % EVENT_KINDS) {
        case EVENT_WRITEBACK:
            sm_complete(sm, value, now);
            break;
        case EVENT_FETCHED:
            sm_fetched(sm, value, now);
            break;
        case EVENT_SWITCHED:
            sm_evaluate_all(sm, value, now);
            break;
        case EVENT_START:
            sm_warps_start(sm, value, now);
            break;
        }
    }
}

/* Warps of a scheduler whose next instruction's pipe takes one now. */
static uint64_t issuable(const struct sm *sm, uint32_t s, uint64_t now) {
    uint64_t mine = sm->sched[s].mine, out = 0;
    if (!(ready_warps(sm) & mine))
        return 0;
    uint32_t part = sm->n_parts > 1 ? s : 0;
    for (uint32_t k = 0; k < N_PIPES; k++) {
        uint64_t ready = sm->mask[PATH_READY + k] & mine;
        if (ready && sm_pipe_accepts(sm, part, k, now))
            out |= ready;
    }
    return out;
}

/* The path of warp `w` to issue: the next one in turn whose pipe takes it. */
static uint32_t pick_path(const struct sm *sm, uint32_t s, uint32_t w, uint64_t now) {
    const struct sm_warp *sw = &sm->warp[w];
    uint32_t part = sm->n_parts > 1 ? s : 0;
    if (sw->n_paths == 1)
        return 0;
    for (uint32_t i = 1; i <= sw->n_paths; i++) {
        uint32_t p = (sw->last_path + i) % sw->n_paths;
        if (sw->path[p].state < N_PIPES && sm_pipe_accepts(sm, part, sw->path[p].state, now))
            return p;
    }
    assert(!"a ready path of a ready warp");
    return 0;
}

static void issue_stage(struct sm *sm, uint64_t now) {
    bool any = false;
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers && !sm->status.stopped; s++) {
        uint64_t ready = issuable(sm, s, now);
        int w = ready ? sched_pick(&sm->sched[s], ready, sm->age) : -1;
        if (w < 0) {
            count_idle_slot(sm, sm->sched[s].mine, 1);
            continue;
        }
        any = true;
        sched_issued(&sm->sched[s], w);
        bool issued = sm_issue(sm, (uint32_t)w, pick_path(sm, s, (uint32_t)w, now), now);
        sm->n.slot[issued ? SLOT_ISSUED : SLOT_RECONVERGENCE]++;
    }
    if (!any)
        account_idle(sm, 1);
}

/* When may something issue, if no event comes first? */
static uint64_t next_issue(const struct sm *sm, uint64_t now) {
    uint64_t next = UINT64_MAX, ready = ready_warps(sm);
    for (uint32_t s = 0; ready && s < sm->cfg->sm.schedulers; s++) {
        const struct exec_part *part = &sm->part[sm->n_parts > 1 ? s : 0];
        for (uint32_t k = 0; k < N_PIPES; k++) {
            if (!(sm->mask[PATH_READY + k] & sm->sched[s].mine))
                continue;
            uint64_t c = k == PIPE_MEM ? (part->n_latch < sm->cfg->sm.pipe[k].in_ports ? 0 : UINT64_MAX)
                                       : collector_free(&part->collector[k]);
            if (c <= now + 1)
                return now + 1;
            if (c < next)
                next = c;
        }
    }
    return next;
}

static bool wants_fetch(const struct sm *sm) {
    uint64_t m = sm->mask[PATH_FETCH];
    for (; m; m &= m - 1) {
        const struct sm_warp *sw = &sm->warp[__builtin_ctzll(m)];
        for (uint32_t p = 0; p < sw->n_paths; p++)
            if (sw->path[p].state == PATH_FETCH && !sw->path[p].refused)
                return true;
    }
    return false;
}

static inline __attribute__((always_inline)) uint64_t next_cycle(const struct sm *sm, uint64_t now) {
    uint64_t next = next_issue(sm, now);
    if (next > now + 1 && (sm->fetch.n_ready || wants_fetch(sm)))
        next = now + 1;
    if (next == now + 1)
        return next;
    uint64_t event = wheel_next(&sm->wheel, now);
    next = event < next ? event : next;
    next = sm->status.lsu_due < next ? sm->status.lsu_due : next;
    return sm->mem_due < next ? sm->mem_due : next;
}

/* Warps none of whose paths will issue soon. One with a path that waits long and another that can go on is not. */
static uint64_t parked_warps(const struct sm *sm) {
    const uint64_t *m = sm->mask;
    uint64_t waits = m[PATH_LOAD] | m[PATH_FENCE] | m[PATH_ORDER] | m[PATH_BARRIER] | m[PATH_BLOCKED] | m[PATH_QUEUE];
    return waits & ~(ready_warps(sm) | m[PATH_ARITH] | m[PATH_FETCH] | m[PATH_FETCHING] | m[PATH_SWITCH]);
}

/* A cycle without CTAs, in which replies come that nobody waits for. It is accounted when a CTA comes, or at the end of
 * the launch. */
static __attribute__((noinline)) void empty_cycle(struct sm *sm, uint64_t now) {
    take_events(sm, now);
    if (sm->polls || sm->status.lsu_due <= now)
        sm_lsu_tick(sm, now);
    sm->status.next = next_cycle(sm, now);
}

static void cycle(struct sm *sm, uint64_t now) {
    if (!sm->status.ctas && !sm_hooked(sm, HOOK_TICK)) { /* units may have work of their own */
        empty_cycle(sm, now);
        return;
    }
    sm_account(sm, now);
    sm->accounted = now + 1;
    take_events(sm, now);
    if (sm->polls || sm->status.lsu_due <= now)
        sm_lsu_tick(sm, now);
    if (sm->polls || sm->mem_due <= now)
        sm_mem_tick(sm, now);
    if (sm_hooked(sm, HOOK_TICK))
        sm_units_tick(sm, now);
    sm->n.warp_cycles += (unsigned)__builtin_popcountll(sm->live);
    issue_stage(sm, now);
    sm_fetch(sm, now);
    bool again = sm->wants.interleaves && sm->mask[PATH_LOAD] && sm_select(sm, now);
    uint64_t parked = parked_warps(sm);
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++)
        sched_update(&sm->sched[s], sm->live, parked);
    again |= sm->n_split_look && sm_split(sm, now);
    sm->status.next = again ? now + 1 : next_cycle(sm, now);
    if (sm_hooked(sm, HOOK_NEXT)) {
        uint64_t unit = sm_units_next(sm, now);
        sm->status.next = unit < sm->status.next ? unit : sm->status.next;
    }
    if (sm_hooked(sm, HOOK_LOOK))
        sm_units_look(sm, now);
    assert(sm->status.next > now);
}

void sm_run(struct sm *sm, uint64_t from, uint64_t to) {
    sm_lsu_due(sm, from - 1);
    if (sm->status.lsu_due < sm->status.next)
        sm->status.next = sm->status.lsu_due;
    uint64_t now = sm->polls || sm->status.next < from ? from : sm->status.next;
    while (now < to && !sm->status.stopped && (sm->status.ctas || sm->status.next != UINT64_MAX)) {
        cycle(sm, now);
        now = sm->polls ? now + 1 : sm->status.next;
    }
}

uint64_t sm_next(struct sm *sm, uint64_t now) {
    sm_lsu_due(sm, now - 1);
    uint64_t next = sm->status.next < sm->status.lsu_due ? sm->status.next : sm->status.lsu_due;
    return next > now ? next : now;
}

static void pipe_stats(const struct sm *sm, struct stats *s) {
    static const char *const names[N_PIPES] = {
#define PIPE(id, name, text, units, collectors, in, out, instead) "pipe." name,
#include "timing/config/pipes.def"
#undef PIPE
    };
    for (int k = 0; k < N_PIPES; k++)
        stats_add(s, names[k], (double)sm->n.pipe[k]);
    for (int i = 0; i < N_OP_CLASSES; i++)
        stats_add(s, op_class_stat((enum op_class)i), (double)sm->n.op_lanes[i]);
    for (uint32_t i = 0; i < sm->n_parts; i++) {
        const struct regfile *f = &sm->part[i].regfile;
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
}

/* Bits a warp: of the deepest stack or fullest table seen, and of the scoreboard. */
static void storage_stats(const struct sm *sm, struct stats *s) {
    struct reconv_storage bits = sm->ops->storage(sm->options);
    stats_add(s, "storage.entry_bits", bits.entry);
    uint32_t deepest = sm->n.max_depth;
    if (sm->wants.stack_entries && deepest > sm->wants.stack_entries)
        deepest = sm->wants.stack_entries;
    stats_add(s, "storage.path_bits", bits.fixed + (double)bits.entry * deepest);
    stats_add(s, "storage.scoreboard_bits", sm->program ? sm->sb->bits(sm->program->program->n_regs) : 0);
}

void sm_flush(struct sm *sm) { lsu_flush(sm->lsu); }

uint64_t sm_issue_count(const struct sm *sm) { return sm->n.slot[SLOT_ISSUED]; }

const struct gpu_profile *sm_profile(const struct sm *sm) { return sm->profile; }

void sm_stats(struct sm *sm, uint64_t to, struct stats *s) {
    const struct sm_counts *n = &sm->n;
    sm_account(sm, to);
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
    stats_add(s, "sm.path_switches", (double)n->path_switches);
    stats_add(s, "sm.path_turns", (double)n->path_turns);
    stats_add(s, "sm.stack_spills", (double)n->stack_spills);
    stats_add(s, "sm.stack_fills", (double)n->stack_fills);
    stats_add(s, "sm.stack_bytes", (double)n->stack_bytes);
    stats_add(s, "sm.memory_splits", (double)n->splits);
    stats_add(s, "fetch.fetches", (double)sm->fetch.n.fetches);
    stats_add(s, "fetch.l0_misses", (double)sm->fetch.n.l0_misses);
    stats_add(s, "fetch.misses", (double)sm->fetch.n.misses);
    stats_add(s, "fetch.l0_accesses", (double)sm->fetch.n.l0_accesses);
    stats_add(s, "fetch.l1_accesses", (double)sm->fetch.n.l1_accesses);
    issue_stats(sm, s);
    pipe_stats(sm, s);
    lsu_account(sm->lsu, sm->accounted);
    lsu_stats(sm->lsu, s);
    sm_units_stats(sm, s);
    memset(&sm->n, 0, sizeof sm->n);
    memset(&sm->fetch.n, 0, sizeof sm->fetch.n);
    for (uint32_t i = 0; i < sm->n_parts; i++)
        memset(&sm->part[i].regfile.n, 0, sizeof sm->part[i].regfile.n);
}
