#ifndef ISA_INTERP_LENT_H
#define ISA_INTERP_LENT_H
/* Runs warps of CTAs that another driver has begun, and continues later. The driver lends a CTA: its registers,
 * memories and barriers, and the paths of its warps. The interpreter changes nothing else. */
#include "interp.h"
#include "isa/paths/control.h"

/* A CTA in the middle of its execution. */
struct lent_cta {
    struct cta *cta;
    struct reconv_cta *shared; /* state of the model that the warps share; NULL: none */
    /* by warp of the CTA: its paths. The model knows the present PC of each path. */
    struct warp_control *control[MAX_CTA_WARPS];
};

struct lent_run;
/* Prepares to run CTAs of a launch under the model. `like`: any CTA of the launch. Returns NULL if memory is out. */
struct lent_run *lent_run_new(const struct cta *like, const struct reconv_ops *model, const struct reconv_cfg *cfg);
void lent_run_free(struct lent_run *r);
/* Takes a CTA. `clock` is its %clock. Nobody else may use the CTA before lent_give_back(). Native code runs no lent
 * warps, because at a barrier it would continue with the next warp. */
void lent_take(struct lent_run *r, const struct lent_cta *c, uint64_t clock, const struct interp_observer *observer);
void lent_give_back(struct lent_run *r);
/* Makes warps stop before blocks whose PC is not `known`, which must outlive the run. lent_stopped() returns true if a
 * warp has stopped since the last call of lent_know(). */
void lent_know(struct lent_run *r, const bool *known);
bool lent_stopped(const struct lent_run *r);

enum lent_end { LENT_SPENT, LENT_WAITS, LENT_ENDED, LENT_FAULT };
/* Runs a warp of the CTA until it has executed `budget` warp instructions and the rest of a block, until it waits for
 * other warps, or until it ends. Sets *executed. */
enum lent_end lent_warp(struct lent_run *r, uint32_t warp, uint64_t budget, uint64_t *executed);
/* Returns the PC of a path of the warp; UINT32_MAX if it has ended. */
uint32_t lent_pc(struct lent_run *r, uint32_t warp);
/* Works as lent_warp(), for instructions one by one, until lent_pc() returns `pc`. */
enum lent_end lent_warp_to(struct lent_run *r, uint32_t warp, uint32_t pc, uint64_t budget, uint64_t *executed);
/* Returns the counts since lent_run_new(). */
const struct interp_stats *lent_stats(const struct lent_run *r);
/* After LENT_FAULT: the effects of the instruction at *pc. */
const struct effects *lent_fault(const struct lent_run *r, uint32_t *pc);
#endif
