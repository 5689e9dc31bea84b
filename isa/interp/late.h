#ifndef ISA_LATE_H
#define ISA_LATE_H
/* Tests control bits (isa/control_bits.h) by running a program with them (core.check=on). Each warp issues its
 * instructions as early as their bits allow. A fixed-latency result arrives after exactly its latency. A
 * variable-latency instruction reads its operands and writes its result only when another instruction waits for its
 * counter. A register that is read too early has its old value. A register of the uniform datapath has one value for
 * all lanes. */
#include "isa/exec/exec.h"

/* Findings of a launch. */
struct late {
    uint64_t n;     /* number of uses that came too early */
    uint32_t pc;    /* of the first one */
    char text[256]; /* about the first one */
};
struct late_cta;

/* Makes the state of a CTA, which late_cta_start() prepares for another CTA. NULL if memory is out. */
struct late_cta *late_cta_new(struct late *l, const struct cta *c);
void late_cta_start(struct late_cta *c);
void late_cta_free(struct late_cta *c);
/* Must be called before and after each instruction that the path `lanes` of `w` executes, unless it faults. */
void late_before(struct late_cta *c, struct warp *w, const struct inst *in, lanemask_t lanes);
void late_after(struct late_cta *c, struct warp *w, const struct inst *in, const struct effects *fx);
#endif
