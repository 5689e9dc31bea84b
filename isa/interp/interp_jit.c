#include "interp_jit.h"
#include "interp_affine.h"
#include "isa/machine/warpsync.h"

/* One instruction of a block, by itself: what run_block() does of anything but control. */
static uint32_t step(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    const struct inst *in = &f->first[i];
    struct warp *w = r->jit_warp;
    if (in->hints & HINT_DEQ && !cta_affine_take(r, w, in, LANES_ALL))
        return r->fx.fault ? JIT_STOPPED : JIT_WAITS;
    if (in->hints & HINT_MEMBERS && !warp_sync_together(w, in, guard_lanes(w, in, f->active)))
        return JIT_WAITS;
    if (!cta_execute(r, w, in, f->active, f->clock + f->executed + i + 1))
        return JIT_STOPPED;
    f->threads += (unsigned)__builtin_popcount(r->fx.lanes);
    return JIT_WENT_ON;
}

static uint32_t row(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    const struct inst *in = &f->first[i];
    if (!cta_affine_wait(r, r->jit_warp, in))
        return r->fx.fault ? JIT_STOPPED : JIT_WAITS;
    if (!cta_affine_row(r, r->jit_warp, in))
        return step(f, i);
    f->threads += WARP_LANES;
    f->loads += in->kind == K_LOAD;
    return JIT_WENT_ON;
}

static uint32_t take(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    if (!cta_affine_take(r, r->jit_warp, &f->first[i], LANES_ALL))
        return r->fx.fault ? JIT_STOPPED : JIT_WAITS;
    f->taken = &f->first[i];
    return JIT_WENT_ON;
}

void cta_jit_start(struct cta_run *r) {
    const struct launch *l = r->cta->launch;
    r->frame = (struct jit_frame){.bank = {NULL, r->cta->warps[0].bank[1]},
                                  .tables = &jit_tables,
                                  .memory = l->memory,
                                  .shared = r->cta->shared,
                                  .shared_bytes = r->cta->shared_bytes,
                                  .params = l->params,
                                  .param_bytes = l->program->param_bytes,
                                  .step = step,
                                  .row = row,
                                  .take = take,
                                  .jit = r->jit,
                                  .fx = &r->fx,
                                  .ctx = r};
}

uint32_t cta_jit_run(struct cta_run *r, const struct inst *in, jit_code *code, lanemask_t lanes, uint64_t clock) {
    struct jit_frame *f = &r->frame;
    f->active = lanes;
    f->inactive = ~lanes;
    f->n_active = (unsigned)__builtin_popcount(lanes);
    f->threads = f->loads = f->executed = 0;
    f->first = in;
    f->clock = clock;
    uint32_t done = code(f);
    if ((done & JIT_REASON) == JIT_LEFT) {
        uint32_t i = done & ~(uint32_t)JIT_REASON;
        jit_left(r->jit, f, (uint32_t)(f->first - r->jit_warp->program->code), i);
        return i | JIT_WAITS;
    }
    return done;
}
