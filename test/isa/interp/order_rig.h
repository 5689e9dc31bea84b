#ifndef TEST_ISA_ORDER_RIG_H
#define TEST_ISA_ORDER_RIG_H
/* Fixture for tests of the checker: CTAs of four warps, which execute the instructions that a test gives. So the tests
 * need no kernels. Each warp has its own time. Its first instruction has time 1, and each later instruction adds 1. */
#include "isa/interp/check_state.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

enum { RIG_CTAS = 3, RIG_WARPS = 4 };
struct order_rig {
    struct asm_program *a;
    struct memory mem;
    struct launch l;
    struct checker k;
    struct cta *cta[RIG_CTAS];
    struct check_cta *c[RIG_CTAS];
};

/* Starts the fixture with the program `a`, which must already have its registers and instructions. */
static inline void rig_begin(struct order_rig *r, struct asm_program *a) {
    *r = (struct order_rig){.a = a};
    mem_init(&r->mem, 0);
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    asm_end(a);
    r->a->p.shared_bytes = 1024;
    r->l = asm_launch(a, &r->mem, RIG_CTAS, RIG_WARPS * WARP_LANES);
    check_begin(&r->k, &r->l);
    for (uint32_t i = 0; i < RIG_CTAS; i++) {
        r->cta[i] = cta_new(&r->l);
        cta_start(r->cta[i], (struct dim3){i, 0, 0}, 0);
        r->c[i] = check_cta_new(&r->k, r->cta[i]);
        check_cta_start(r->c[i]);
    }
}

static inline void rig_end(struct order_rig *r) {
    for (int i = 0; i < RIG_CTAS; i++) {
        check_cta_free(r->c[i]);
        cta_free(r->cta[i]);
    }
    sync_forget(&r->k.places);
    mem_free_all(&r->mem);
    asm_free(r->a);
}

static inline struct warp_order *rig_order(struct order_rig *r, int cta, int warp) { return &r->c[cta]->warp[warp]; }

/* Makes `lanes` of the warp execute an instruction. Returns the time of this instruction. */
static inline uint32_t rig_step(struct order_rig *r, int cta, int warp, lanemask_t lanes) {
    order_path(r->c[cta], &r->cta[cta]->warps[warp], lanes);
    return rig_order(r, cta, warp)->now;
}

/* Returns the checker's input for the warp's current instruction, with the ORDER_ flags `words`. */
static inline struct now rig_now(struct order_rig *r, int cta, int warp, uint8_t words) {
    return (struct now){.c = r->c[cta],
                        .w = &r->cta[cta]->warps[warp],
                        .in = r->a->code,
                        .order = rig_order(r, cta, warp),
                        .words = words};
}

/* Returns true if the access of `lane` of warp `warp` at `time` is ordered before the current instruction of lane
 * `of_lane` of warp `of_warp`. */
static inline bool rig_before(struct order_rig *r, int cta, int warp, int lane, uint32_t time, enum strength strong,
                              int of_cta, int of_warp, int of_lane) {
    const struct now n = rig_now(r, of_cta, of_warp, 0);
    const struct access a = {.time = time,
                             .cta = r->c[cta]->serial,
                             .thread = (uint32_t)(warp * WARP_LANES + lane) & 1023,
                             .strong = (uint32_t)strong & 3};
    return order_is_before(&n, &a, of_lane);
}

/* Completes a barrier: of the whole CTA, or of the warps for which `waiting` has lanes. */
static inline void rig_barrier(struct order_rig *r, int cta, uint32_t barrier, bool whole,
                               const lanemask_t waiting[RIG_WARPS]) {
    struct cta_barrier *b = &r->cta[cta]->barriers[barrier];
    b->whole_cta = whole;
    for (int i = 0; i < RIG_WARPS; i++)
        b->waiting[i] = waiting[i];
    order_release(r->c[cta], barrier);
    memset(b->waiting, 0, RIG_WARPS * sizeof *b->waiting);
}
#endif
