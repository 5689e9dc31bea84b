/* CTAs on an SM: who fits, how warps begin and end, barriers. */
#include "isa/arith.h"
#include "sm_plain.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Local memory of warps in the timing model's address space: far above everything a program can name. */
#define LOCAL_TIMING_BASE   (1ull << 44)
#define CONTEXT_TIMING_BASE (1ull << 45) /* likewise of contexts, however their words lie */
#define CONTEXT_TIMING_STEP (1ull << 30)

struct footprint {
    uint32_t warps, registers, shared;
};

static struct footprint footprint_of(const struct config *cfg, const struct launch *l) {
    const struct sm_cfg *s = &cfg->sm;
    uint32_t warps = launch_warps(l);
    uint32_t resident = s->in_turn && s->in_turn < warps ? s->in_turn : warps; /* whose registers are in the SM */
    uint32_t shared = launch_shared_bytes(l),
             each = s->thread_registers ? s->thread_registers : l->program->thread_regs;
    return (struct footprint){
        .warps = warps,
        .registers = (uint32_t)(resident * round_up(each * WARP_LANES, s->register_unit)),
        .shared = shared > UINT32_MAX - s->shared_unit ? shared : (uint32_t)round_up(shared, s->shared_unit),
    };
}

static uint32_t at_most(uint32_t n, uint32_t have, uint32_t need) { return need && have / need < n ? have / need : n; }

/* Registers that CTAs may have. */
static uint32_t registers_left(const struct config *cfg, uint32_t taken) {
    return cfg->sm.registers > taken ? cfg->sm.registers - taken : 0;
}

uint32_t sm_occupancy(const struct config *cfg, const struct launch *l, uint32_t taken) {
    struct footprint f = footprint_of(cfg, l);
    uint32_t n = at_most(cfg->sm.ctas, cfg->sm.warps, f.warps);
    n = at_most(n, registers_left(cfg, taken), f.registers);
    return at_most(n, cfg->sm.shared_bytes, f.shared);
}

bool sm_fits(const struct config *cfg, const struct launch *l, uint32_t taken, char *why, size_t size) {
    const struct sm_cfg *s = &cfg->sm;
    struct footprint f = footprint_of(cfg, l);
    uint32_t threads = dim3_count(l->block);
    const struct {
        const char *what, *key;
        uint32_t need, have;
    } rows[] = {{"warps", "sm.warps", f.warps, s->warps},
                {"registers", taken ? "sm.registers, less what extensions take" : "sm.registers", f.registers,
                 registers_left(cfg, taken)},
                {"bytes of shared memory", "sm.shared_bytes", f.shared, s->shared_bytes}};
    int n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].need <= rows[i].have)
            continue;
        if (!n)
            n = snprintf(why, size, "a CTA of %u threads does not fit on an SM:", threads);
        if (n > 0 && (size_t)n < size)
            n += snprintf(why + n, size - (size_t)n, "%s it needs %u %s, and an SM has %u (%s)",
                          why[n - 1] == ':' ? "" : ";", rows[i].need, rows[i].what, rows[i].have, rows[i].key);
    }
    return n == 0;
}

/* Counts by instruction start from nothing. */
static bool begin_counts(struct sm *sm, bool wanted) {
    free(sm->profile);
    sm->profile = wanted ? calloc(sm->program->program->n + 1, sizeof *sm->profile) : NULL;
    sm->tally = calloc(sm->program->program->n + 1, sizeof *sm->tally);
    return sm->tally && (sm->profile || !wanted);
}

/* Scoreboards with nothing pending. */
static bool place_boards(struct sm *sm) {
    sm->board_size = sm->sb->size(sm->program->program->n_regs);
    bool small = sm->board_size <= SMALL_BOARD;
    sm->board_memory = small ? NULL : calloc(sm->slots, sm->board_size);
    if (!small && !sm->board_memory)
        return false;
    for (uint32_t w = 0; w < sm->slots; w++) {
        unsigned char *in_line = sm->path_memory[w].board;
        if (small)
            memset(in_line, 0, SMALL_BOARD);
        sm->warp[w].board = small ? in_line : (unsigned char *)sm->board_memory + w * sm->board_size;
    }
    return true;
}

bool sm_launch(struct sm *sm, const struct launch *l, const struct timed_program *p, bool profile, uint64_t now) {
    struct footprint f = footprint_of(sm->cfg, l);
    uint32_t taken = 0;
    assert(!sm->status.ctas);
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        taken += sm_unit_registers(sm->units.all[i].ops, sm->units.all[i].ctx, sm->cfg, l);
    sm->launch = l;
    sm->program = p;
    sm->cta_warps = f.warps;
    sm->hold_stores = sm->cfg->sm.hold_stores;
    sm->local_stride = 4 * WARP_LANES;
    if (sm->cfg->lsu.local_map == LOCAL_BY_WORD)
        sm->local_stride *= (uint64_t)f.warps * sm_occupancy(sm->cfg, l, taken) * sm->cfg->gpu.sms;
    sm->spent = sm->reclaimed = (struct warp_set){.word = {0}};
    sm->cta_registers = f.registers;
    sm->cta_shared = f.shared;
    sm->accounted = now;
    sm->status.finished_at = now;
    sm->status.stopped = false;
    sm->asleep = true;
    bool ok = place_boards(sm) && begin_counts(sm, profile) && sm_copies_begin(sm) && sm_units_launch(sm, now);
    sm_find_plain(sm);
    return ok;
}

void sm_launch_end(struct sm *sm) {
    if (sm->launch) {
        sm_units_launch_end(sm);
        sm_take_tally(sm);
    }
    free(sm->tally);
    sm->tally = NULL;
    sm_contexts_end(sm);
    for (uint32_t i = 0; i < sizeof sm->cta / sizeof sm->cta[0]; i++) {
        cta_free(sm->cta[i].cta);
        sm->cta[i].cta = NULL;
    }
    free(sm->board_memory);
    sm->board_memory = NULL;
    sm_copies_end(sm);
    sm->launch = NULL;
    sm->program = NULL;
}

bool sm_cta_start(struct sm *sm, struct dim3 id, uint64_t cycle) {
    uint32_t slot = 0;
    while (warp_set_any(&sm->cta[slot].warps, WARP_WORDS))
        slot++;
    struct sm_cta *c = &sm->cta[slot];
    if (!c->cta)
        c->cta = cta_new(sm->launch);
    if (!c->cta)
        return false;
    c->cta->held = &sm->held;
    c->cta->copies_take_time = true;
    c->id = id;
    uint32_t w = 0;
    for (uint32_t i = 0; i < sm->cta_warps; i++, w++) {
        while (sm->warp[w].w)
            w++;
        sm->warp[w].w = &c->cta->warps[i];
        sm->warp[w].cta = (uint8_t)slot;
        warp_set_add(&c->warps, w);
    }
    sm->status.ctas++;
    sm->warps_used += sm->cta_warps;
    sm->registers_used += sm->cta_registers;
    sm->shared_used += sm->cta_shared;
    wheel_add(&sm->wheel, cycle, event_make(EVENT_START, slot));
    sm_wake(sm, cycle);
    return true;
}

void sm_warp_start(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    sw->inflight = sw->accesses = sw->atomics = 0;
    sw->ordered = 0;
    sw->n_paths = sw->last_path = sw->n_await = 0;
    sw->finished = false;
    warp_set_drop(&sm->spent, w);
    warp_set_drop(&sm->reclaimed, w);
    sw->selected = sw->gave_way = false;
    sw->stack_depth = sw->stack_resident = 0;
    control_start(&sw->control, sm->options, pc, sw->w->launched);
    sm->sb->start(sw->board, sm->program->program->n_regs);
    sm->age[w] = sm->next_age++;
    warp_set_add(&sm->live, w);
    sm_heed_control(sm, sw);
    sm_refresh(sm, w, now);
    if (sm->cfg->sm.in_turn && !sw->context)
        sm_turn_await(sm, w, now);
}

void sm_warps_start(struct sm *sm, uint32_t cta, uint64_t now) {
    struct sm_cta *c = &sm->cta[cta];
    cta_start(c->cta, c->id, sm->id);
    sm->n.ctas++;
    uint32_t w;
    for (struct warp_set m = c->warps; warp_set_take(&m, &w); sm->n.warps++)
        sm_warp_start(sm, w, program_entry(sm->program->program, 0), now);
    sm_contexts_sleep(sm, false, now);
    uint32_t live = warp_set_count(&sm->live, sm->words) - sm_contexts_awake(sm);
    if (sm->cfg->sm.in_turn) /* they are here, if not on the lanes */
        live = sm->warps_used;
    if (live > sm->n.max_warps)
        sm->n.max_warps = live;
    if (sm_hooked(sm, HOOK_CTA_START))
        sm_units_cta_start(sm, cta, now);
}

uint64_t sm_local_base(const struct sm *sm, uint32_t w) {
    uint64_t bytes = round_up(sm->warp[w].w->local_bytes, 4) * (uint64_t)WARP_LANES;
    if (sm->warp[w].context)
        return CONTEXT_TIMING_BASE + ((uint64_t)sm->id * MAX_CONTEXTS + w - sm->cfg->sm.warps) * CONTEXT_TIMING_STEP;
    if (sm->cfg->lsu.local_map == LOCAL_BY_WORD) /* CTAs of all SMs side by side, then the next one of each */
        return LOCAL_TIMING_BASE +
               4ull * WARP_LANES * sm->cta_warps * (sm->id + (uint64_t)sm->cfg->gpu.sms * sm->warp[w].cta) +
               4ull * WARP_LANES * sm->warp[w].w->index;
    return LOCAL_TIMING_BASE + ((uint64_t)sm->id * round_up(sm->cfg->sm.warps, 64) + w) * round_up(bytes, 4096);
}

static void cta_done(struct sm *sm, struct sm_cta *c, uint64_t now) {
    if (sm_hooked(sm, HOOK_CTA_END))
        sm_units_cta_end(sm, (uint32_t)(c - sm->cta), now);
    if (!--sm->status.ctas)
        sm_contexts_sleep(sm, true, now);
    sm->warps_used -= sm->cta_warps;
    sm->registers_used -= sm->cta_registers;
    sm->shared_used -= sm->cta_shared;
    sm->status.finished_at = now + 1;
}

/* The warp has ended, and nothing of it is under way. */
static bool warp_over(const struct sm *sm, uint32_t w) {
    const struct sm_warp *sw = &sm->warp[w];
    return sw->w && sw->finished && !sw->inflight && !sw->ordered && !(sm->hold_stores && lsu_stores(sm->lsu, w));
}

static bool warp_gone(const struct sm *sm, uint32_t w) {
    return warp_over(sm, w) && (!sm->cfg->sm.fetch_reclaims || warp_set_has(&sm->reclaimed, w));
}

/* Warps of a CTA leave together. */
void sm_warp_check_done(struct sm *sm, uint32_t w, uint64_t now) {
    if (!warp_over(sm, w))
        return;
    if (sm->warp[w].context) {
        sm_context_gone(sm, w, now);
        return;
    }
    if (!warp_gone(sm, w)) {
        warp_set_add(&sm->spent, w);
        return;
    }
    struct sm_cta *c = &sm->cta[sm->warp[w].cta];
    for (struct warp_set m = c->warps; warp_set_take(&m, &w);)
        if (!warp_gone(sm, w))
            return;
    while (warp_set_take(&c->warps, &w))
        sm->warp[w].w = NULL;
    cta_done(sm, c, now);
}

/* The barrier is complete: its lanes go on. */
void sm_barrier_open(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now) {
    struct sm_cta *c = &sm->cta[cta];
    const struct cta_barrier *b = &c->cta->barriers[barrier];
    struct warp_set freed = {.word = {0}};
    uint32_t w;
    if (sm_hooked(sm, HOOK_BARRIER) && cta < SM_CTA_SLOTS)
        sm_units_barrier(sm, cta, barrier, now);
    for (struct warp_set m = c->warps; warp_set_take(&m, &w);)
        if (control_open(&sm->warp[w].control, sm->warp[w].w, b))
            warp_set_add(&freed, w);
    cta_barrier_reset(c->cta, barrier);
    for (struct warp_set m = freed; warp_set_take(&m, &w);) /* another path may be in the middle of a block */
        sm_tell_all(sm, &sm->warp[w]);
    while (warp_set_take(&freed, &w))
        if (!sm->jumps || !sm_step_over(sm, w))
            sm_refresh(sm, w, now);
}
