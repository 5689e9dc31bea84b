#ifndef ISA_PATHS_CONTROL_H
#define ISA_PATHS_CONTROL_H
/* The common driver of reconvergence models (struct reconv_ops). It turns control instructions, barriers and member
 * masks into calls of the model. The interpreter and the SM execute an instruction and then call this driver. Neither
 * of them decides where lanes continue. The model knows branches and exits. This driver knows which lanes wait at CTA
 * barriers and for their member mask (warpsync.h). It does not model time. A timed caller reads what changed (`events`,
 * `released`, and the barriers that a call returns) and then calls control_paths() again. */
#include "isa/exec/exec.h"
#include "reconv.h"

/* What a path waits for: a CTA barrier, lanes of its member mask, or a load. */
enum wait_why { WAIT_BARRIER, WAIT_MEMBERS, WAIT_LOAD };
/* A path that is set aside. The driver reported its stall to the model, and must report the end of its wait. */
struct path_wait {
    lanemask_t lanes;
    uint32_t pc;
    uint16_t id;
    uint8_t board, why; /* enum wait_why; only the SM sets WAIT_LOAD */
};

/* State of a warp's paths that is not part of the model's own state. */
struct warp_control {
    const struct reconv_ops *ops;
    void *model;        /* state of `ops`: ops->size() bytes, owned by the caller */
    lanemask_t waiting; /* lanes that wait at a CTA barrier or for lanes of their member mask */
    /* lanes that no longer wait, but whose PC has not yet moved past the instruction where they waited */
    lanemask_t released;
    lanemask_t met;  /* lanes that have executed an instruction with a member mask together; the caller clears them */
    uint16_t events; /* RECONV_ bits that the model returned; the caller handles and clears them */
    uint16_t depth;  /* maximum of the model's depth() after a divergence; the caller reads and clears it */
    uint32_t n_held; /* number of entries of `held` in use */
    struct path_wait *held; /* paths set aside: MAX_PATHS entries, owned by the caller */
};

/* Starts a warp: all launched lanes at `pc`. Requires that ops, model and held are set. `who` is for the model's
 * inform() and join(); it may be NULL if the model has neither. */
void control_start(struct warp_control *c, const struct reconv_cfg *cfg, const struct reconv_warp *who, uint32_t pc,
                   lanemask_t lanes);
/* Returns what a model may know about the warp. `clock` and `counts` are still NULL, and `sm` is 0. */
struct reconv_warp control_who(const struct warp *w);
/* Prepares the shared state of a CTA whose warps will start. Does nothing if `cta` is NULL. */
void control_cta_start(const struct reconv_ops *ops, const struct reconv_cfg *cfg, struct reconv_cta *cta,
                       uint32_t n_warps);
/* Lets the model change the paths of all warps of the CTA (reconv_ops.meet) if the model has set reconv_cta.due.
 * Returns false if it has not. `c` is any warp of the CTA. */
bool control_meet(struct warp_control *c, struct reconv_cta *cta);
/* Returns true if the driver reports waits to the model, so that the model may offer another path during the wait. */
static inline bool control_sets_aside(const struct reconv_ops *ops) { return ops->stall && ops->wake; }
/* Call this after path `id` has executed an instruction other than a control instruction. The path continues at
 * `next`. */
static inline void control_advance(struct warp_control *c, int id, uint32_t next) {
    c->events |= c->ops->advance(c->model, id, next);
}
/* Call this after path `p` (its id and all its lanes) has executed `in` with effects `fx`, if `in` is a control
 * instruction or the last instruction of a block. Tells the model where the lanes go. A path without lanes continues at
 * the next PC, whatever `in` is. Lanes whose target only exits
 * (inst_info.only_exits) exit at once, as if `in` were an exit with the same guard: fx->lanes includes them, and no
 * exit instruction is counted for them. Returns the CTA barriers that are now complete, bit i for barrier i. For each,
 * the caller then calls control_open() for every warp of the CTA, and cta_barrier_reset(). */
uint32_t control_step(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                      struct effects *fx);
/* Handles the arrival of path `p` at `in`, whose member mask names lanes on other paths (warp_sync_together() returned
 * false). If all lanes of a mask have now arrived, they execute `in`, and c->met names them. Returns barriers as
 * control_step() does. */
uint32_t control_await(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                       struct effects *fx);
/* Reports to the model that the wait has ended for the paths that were set aside at a barrier and have lanes in
 * `freed`. */
void control_wake_held(struct warp_control *c, lanemask_t freed);
/* Releases the lanes of the warp that wait at barrier `b` of its CTA, which is complete. Returns the lanes of the warp
 * that may continue. */
static inline lanemask_t control_open(struct warp_control *c, const struct warp *w, const struct cta_barrier *b) {
    lanemask_t freed = b->waiting[w->index];
    c->waiting &= ~freed;
    c->released |= freed;
    if (c->n_held && freed)
        control_wake_held(c, freed);
    return freed;
}
/* Fills `out` with the schedulable paths and returns their number. First moves lanes whose wait is over to the next
 * instruction, and lets the model's give_way() resolve deadlocks. `out` includes paths whose lanes all wait. */
int control_paths(struct warp_control *c, const struct warp *w, struct path out[MAX_PATHS]);
/* Returns how many of the `n` paths from control_paths() count for the statistic gpu.avg_paths. Waiting paths count,
 * too. */
static inline uint32_t control_concurrent(const struct warp_control *c, int n) {
    return (uint32_t)(c->ops->concurrent ? c->ops->concurrent(c->model) : n);
}
/* Inline parts of control_step() and control_paths(), for callers that know which model is used. `advance` must change
 * the model's state as ops->advance does. */
typedef unsigned control_advance_fn(void *model, int id, uint32_t next);
/* Stops all lanes of the path at the CTA barrier `in`. The lanes in `arriving` have not arrived at this barrier before.
 * Returns barriers as control_step() does. */
static inline uint32_t control_stop(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                                    lanemask_t arriving, struct effects *fx, control_advance_fn *advance) {
    c->events |= advance(c->model, p->id, (uint32_t)(in - w->program->code));
    c->waiting |= p->lanes;
    return cta_barrier_arrive(w->cta, w, in, arriving, fx) ? 1u << fx->barrier : 0;
}
/* Moves the path to the next instruction if the wait of all its lanes is over. Returns false if some lanes still
 * wait. */
static inline bool control_step_over(struct warp_control *c, const struct path *p, control_advance_fn *advance) {
    if (p->lanes & ~c->released)
        return false;
    c->released &= ~p->lanes;
    c->events |= advance(c->model, p->id, p->pc + 1);
    return true;
}
/* Returns true if every live lane waits. Then control_paths() can neither move a lane nor find another lane that can
 * run. */
static inline bool control_all_wait(const struct warp_control *c, const struct warp *w) {
    return !c->released && c->waiting == w->live;
}
/* Returns the lanes that can issue even if no other lane makes progress. */
lanemask_t control_may_run(const struct warp_control *c);

/* Returns true if results can show the order of this instruction among CTAs and SMs: atomics, volatile and other strong
 * accesses that may leave the SM, printing, the heap. Plain accesses do not count: programs that depend on their order
 * are racy. */
bool inst_is_ordered(const struct inst *in);
#endif
