#ifndef ISA_PATHS_CONTROL_H
#define ISA_PATHS_CONTROL_H
/* The one driver of struct reconv_ops: what the control instructions, barriers and member masks of a program mean for
 * the paths of a warp. Interpreter and SM execute instructions and call this; neither tells a model by itself where
 * lanes go. The model knows branches and exits; who waits for whom at barriers of the CTA and in member masks
 * (warpsync.h) is kept here. There is no time here: a caller that has one looks at what changed (`events`, `released`,
 * the barrier that a call names) and asks ops->paths() again. */
#include "isa/exec/exec.h"
#include "reconv.h"

/* A path that the model was told of (STALL_) and must be told of again when its wait is over. */
enum wait_why { WAIT_BARRIER, WAIT_MEMBERS, WAIT_LOAD };
struct path_wait {
    uint32_t pc;
    lanemask_t lanes;
    uint16_t id;
    uint8_t board, why; /* enum wait_why; WAIT_LOAD is the SM's own */
};

/* What is known of a warp's paths beside the model's own state. */
struct warp_control {
    const struct reconv_ops *ops;
    void *model;            /* state of `ops`; memory of ops->size() bytes, the caller's */
    lanemask_t waiting;     /* lanes at a barrier of the CTA, or for others of their member mask */
    lanemask_t released;    /* lanes whose wait is over and whose path has not stepped over the instruction yet */
    unsigned events;        /* RECONV_ bits that the model returned, until the caller has heeded and cleared them */
    lanemask_t met;         /* lanes that have executed together what they waited for each other at, likewise */
    uint32_t depth;         /* most entries in use after a divergence, until the caller has noted and cleared it */
    uint32_t n_held;        /* entries of `held` */
    struct path_wait *held; /* MAX_PATHS, the caller's memory */
};

/* The paths of a warp that begins: all lanes that were launched, at `pc`. Requires ops, model and held. */
void control_start(struct warp_control *c, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes);
/* Is the model told of waits, so that another path may take the place of the one that waits? */
static inline bool control_sets_aside(const struct reconv_ops *ops) { return ops->stall && ops->wake; }
/* The path `id` has executed what is not control: it goes on at `next`. */
static inline void control_advance(struct warp_control *c, int id, uint32_t next) {
    c->events |= c->ops->advance(c->model, id, next);
}
/* The path `p` (id and all its lanes) has executed `in`, with effects `fx`: control, or the last of a block. The model
 * learns where the lanes go. Lanes that branch, return or part to where a thread only exits (inst_info.only_exits) exit
 * now, as if the instruction had been an exit with the same guard: fx->lanes counts them, and no exit does. Returns the
 * barriers of the CTA that this completes, bit i for barrier i: for each the caller then calls control_open() for every
 * warp of the CTA, and cta_barrier_reset(). */
uint32_t control_step(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                      struct effects *fx);
/* The path `p` stands before `in`, whose member mask names lanes that are elsewhere (warp_sync_together() said no): its
 * lanes arrive, and what is complete now is executed: c->met. Returns as control_step() does. */
uint32_t control_await(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                       struct effects *fx);
/* The model is told that paths of which it knows that they wait at a barrier go on: those of the lanes `freed`. */
void control_wake_held(struct warp_control *c, lanemask_t freed);
/* The barrier `b` of the warp's CTA is complete. Returns the lanes of the warp that go on. */
static inline lanemask_t control_open(struct warp_control *c, const struct warp *w, const struct cta_barrier *b) {
    lanemask_t freed = b->waiting[w->index];
    c->waiting &= ~freed;
    c->released |= freed;
    if (c->n_held && freed)
        control_wake_held(c, freed);
    return freed;
}
/* The schedulable paths, as ops->paths() says, once lanes whose wait is over have stepped over the instruction they
 * stand at, and lanes have given way to those that others wait for. Paths all of whose lanes wait are among them. */
int control_paths(struct warp_control *c, const struct warp *w, struct path out[MAX_PATHS]);
/* Of a warp of which control_paths() has returned `n` paths, those that are alive side by side: what gpu.avg_paths is
 * the mean of. Paths that wait are among them. */
static inline uint32_t control_concurrent(const struct warp_control *c, int n) {
    return (uint32_t)(c->ops->concurrent ? c->ops->concurrent(c->model) : n);
}
/* Rules of control_step() and control_paths() that stand here because a caller that knows the model can have them
 * inline: `advance` is the model's, or does the same to its state. */
typedef unsigned control_advance_fn(void *model, int id, uint32_t next);
/* All lanes of the path stop at the barrier `in` of the CTA, of which those `arriving` have not waited there yet: it
 * stands there. Returns as control_step() does. */
static inline uint32_t control_stop(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                                    lanemask_t arriving, struct effects *fx, control_advance_fn *advance) {
    c->events |= advance(c->model, p->id, (uint32_t)(in - w->program->code));
    c->waiting |= p->lanes;
    return cta_barrier_arrive(w->cta, w, in, arriving, fx) ? 1u << fx->barrier : 0;
}
/* All lanes of the path step over the instruction that they stand at, for their wait is over. False: it is not, of
 * some. */
static inline bool control_step_over(struct warp_control *c, const struct path *p, control_advance_fn *advance) {
    if (p->lanes & ~c->released)
        return false;
    c->released &= ~p->lanes;
    c->events |= advance(c->model, p->id, p->pc + 1);
    return true;
}
/* Does every lane wait? control_paths() has nothing to do then: none steps over, and there is nobody to give way. */
static inline bool control_all_wait(const struct warp_control *c, const struct warp *w) {
    return !c->released && c->waiting == w->live;
}
/* Lanes that may be scheduled without anybody else's doing. */
lanemask_t control_may_run(const struct warp_control *c);

/* Does the order of this instruction among CTAs and SMs show in results: atomics, volatile accesses and such past the
 * L1 that may leave the SM, printing, the heap? Plain accesses are not: programs whose results depend on these are
 * racy. */
bool inst_is_ordered(const struct inst *in);
#endif
