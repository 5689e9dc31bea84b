/* Runs a launch, or a part of it, without time: in the interpreter or in native code. */
#include "context.h"
#include "isa/interp/late.h"
#include <stdlib.h>
#include <string.h>

static void on_interp_progress(void *ctx, uint64_t done, uint64_t total) {
    struct heddle *h = ctx;
    progress_update(&h->progress, done, total, "");
    if (watch_due(&h->watch))
        watch_ctas(&h->watch, done);
}

static void add_counts(struct stats *s, const struct interp_stats *n, uint32_t lanes) {
    stats_add(s, "gpu.warp_instructions", (double)n->warp_instructions);
    stats_add(s, "gpu.lane_slots", (double)n->warp_instructions * lanes);
    stats_add(s, "gpu.thread_instructions", (double)n->thread_instructions);
    stats_add(s, "gpu.barrier_instructions", (double)n->barrier_instructions);
    stats_add(s, "gpu.path_sum", (double)n->path_sum);
    stats_add(s, "gpu.ctas", (double)n->ctas);
    stats_add(s, "gpu.warps", (double)n->warps);
    stats_add(s, "gpu.max_stack_depth", (double)n->max_depth);
    stats_add_rounding_error(s, &n->rounding_error);
}

bool launch_forward(struct heddle *h, struct heddle_module *m, const struct launch *l, const struct launch_part *part,
                    struct stats *s, struct fault *f) {
    struct path_recorder *rec = h->recorder && h->recorder->wanted != HEDDLE_NO_WARP ? h->recorder : NULL;
    if (rec) {
        path_log_free(&rec->log);
        rec->base = h->config.reconv;
        rec->inner = h->reconv;
        rec->program = l->program;
        rec->started = 0;
    }
    struct interp_cfg cfg = {.model = rec             ? path_recorder_ops(rec)
                                      : h->runs_plain ? h->plain.base->ops
                                                      : h->reconv,
                             .reconv = rec ? &rec->base : &h->config.reconv,
                             .threads = 1,
                             .workers =
                                 rec || h->config.gpu.order == ORDER_STRICT || h->in_flight > 1 ? NULL : h->workers,
                             .progress = on_interp_progress,
                             .progress_ctx = h,
                             .turns = h->config.gpu.capability >= 7,
                             .native = rec || part->observer ? NULL : module_native(h, m, l->program),
                             .observer = part->observer,
                             .first_cta = part->first,
                             .n_ctas = part->n,
                             .resident = launch_room(h, l),
                             .check = h->check};
    struct interp_stats n = {0};
    const struct mechanism *e;
    const struct model_spec *model = h->runs_plain ? &h->plain : &h->model;
    for (const struct mechanism *const *at = h->mechanisms; (e = mechanism_next(&at, model));)
        if (e->interp)
            e->interp(&h->config, &cfg);
    const struct native_counts before = native_count(cfg.native);
    struct late late = {0};
    if (h->config.core.check && l->program->control)
        cfg.late = &late;
    bool ended = interp_run(l, &cfg, &n, f);
    if (late.n) { /* a read of a late result is the error to report, since it may have caused the fault */
        fault_free(f);
        *f = (struct fault){.kind = FAULT_ASSERT, .pc = late.pc, .text = strdup(late.text)};
        ended = false;
    }
    if (cfg.native) {
        struct native_counts after = native_count(cfg.native);
        stats_add(s, "host.jit_blocks", after.blocks - before.blocks);
        stats_add(s, "host.jit_seconds", after.seconds - before.seconds);
    }
    add_counts(s, &n, launch_lanes(l));
    for (const struct mechanism *const *at = h->mechanisms; (e = mechanism_next(&at, model));)
        if (e->interpreted)
            e->interpreted(&n, s);
    return ended;
}
