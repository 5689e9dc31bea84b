/* The modern core: the issue of instructions without a memory access. */
#include "isa/expansions.h"
#include "modern_due.h"
#include "stages.h"

enum {
    CONSTANT_LINE = 64, /* bytes; assumed */
    CONSTANT_MISS = 79, /* cycles that a constant operand delays its instruction if the L0 cache misses */
    CONSTANT_WAIT = 4   /* cycles that the scheduler waits for a constant operand before it takes another warp */
};

bool modern_may_issue(struct sm *sm, uint32_t s, uint32_t w, uint32_t p, uint64_t now) {
    const struct sm_path *path = &sm->warps.slot[w].path[p];
    const struct control_bits *c = modern_control(sm->modern, path->pc);
    struct modern_part *part = &sm->modern->part[s];
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    const uint64_t room = ti->flags & TIMED_PRODUCT ? max64(part->product_free, modern_queue_free(sm, s, ti))
                                                    : modern_queue_free(sm, s, ti);
    if (room > now) {
        modern_stall_until(sm, w, path->lanes, room);
        sm_evaluate(sm, w, p, now);
        return false;
    }
    if (!c || c->constant == CONTROL_NO_CONSTANT || ti->flags & TIMED_MEMORY)
        return true;
    uint32_t line = c->constant / CONSTANT_LINE, i = 0;
    while (i < part->n_constant && part->constant[i].line != line)
        i++;
    uint64_t ready = i < part->n_constant ? part->constant[i].ready : now + CONSTANT_MISS;
    sm->modern->n.constant_misses += i == part->n_constant;
    if (i == part->n_constant && part->n_constant < MODERN_CONSTANT_LINES)
        part->n_constant++;
    for (i = i < MODERN_CONSTANT_LINES ? i : MODERN_CONSTANT_LINES - 1; i > 0; i--)
        part->constant[i] = part->constant[i - 1];
    part->constant[0].line = line;
    part->constant[0].ready = ready;
    if (ready <= now)
        return true;
    modern_stall_until(sm, w, path->lanes, ready);
    modern_hold(&sm->operands.part[s], now + min64(CONSTANT_WAIT, ready - now));
    sm_evaluate(sm, w, p, now);
    return false;
}

void modern_execute(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti,
                    const struct sm_form *form, uint64_t now) {
    const uint32_t part = operands_part(&sm->operands, w);
    const struct control_bits *c = modern_control(sm->modern, path->pc);
    const struct timed_part t = {.pipe = ti->pipe, .op = ti->op, .latency = ti->latency, .initiation = ti->initiation};
    const bool expands = c && expansion_is_several(c->expansion),
               variable = expands ? modern_expands_variable(sm, c) : modern_is_variable(ti),
               raises = c && (c->raise_read < CONTROL_COUNTERS || c->raise_write < CONTROL_COUNTERS);
    const bool own_file = (form && form->file) || ti->flags & TIMED_UNIFORM;
    modern_issues(sm, w, path, now);
    if (ti->flags & TIMED_WIDE)
        sm->modern->part[part].product_free = now + (uint64_t)ti->initiation * sm->cfg->core.wide_products;
    if (!variable && !raises && !expands && !ti->regs.n_write) {
        uint64_t waits = modern_fixed(sm, part, w, path->pc, &t, own_file, now);
        sm_units_written(
            sm, &(struct sm_written){
                    .from = now, .to = now + t.latency + waits, .warp = w, .pc = path->pc, .lanes = path->lanes});
        return;
    }
    if (!variable && !raises && !expands && modern_has_due_room(sm, w)) {
        sm->model.sb->issue(sm->warps.slot[w].board, path->board, path->lanes, &ti->regs, false);
        const uint64_t done = now + t.latency + modern_fixed(sm, part, w, path->pc, &t, own_file, now);
        modern_due_add(sm, w, path, max64(done, now + 1));
        return;
    }
    uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    modern_flies(sm, i, variable, now);
    if (ti->regs.n_write)
        sm->model.sb->issue(sm->warps.slot[w].board, path->board, path->lanes, &ti->regs, false);
    if (expands)
        modern_expand_begin(sm, i, now);
    else
        modern_finish(sm, i, &t, own_file, now);
}
