/* Checks instructions with member masks: an executing thread must be in its mask, and a shuffle must read lanes that
 * execute it (PTX ISA 9.7.9.6). Also checks that the format of vprintf is not null. */
#include "check_state.h"
#include "isa/compound.h"
#include "isa/exec/exec_warp.h"
#include "isa/machine/warpsync.h"

static void report_not_member(struct check_cta *c, const struct warp *w, const struct inst *in, int lane,
                              rowmask_t mask) {
    struct finding *f = check_count(c, CHECK_NOT_MEMBER, check_pc(w, in), NO_PC);
    if (!f)
        return;
    f->thread = check_thread(w, lane);
    f->lanes = mask;
}

/* Reports a read of lane `from` if this lane is not in `there`, the set of executing lanes. The shuffle's
 * result is then undefined. */
static void report_source(struct check_cta *c, const struct warp *w, const struct inst *in, int lane, int from,
                          rowmask_t there) {
    struct finding *f = check_count(c, CHECK_SHUFFLE_SOURCE, check_pc(w, in), NO_PC);
    if (!f)
        return;
    f->thread = check_thread(w, lane);
    f->other_thread = check_thread(w, from);
    f->lanes = there;
    f->live = w->live;
}

/* Reports lanes that are not in their own member mask, and lanes that read from a lane which does not execute the
 * instruction. An instruction with a member mask executes only when all members that have not exited have arrived. So
 * these members count as executing the instruction. */
void check_members(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    const rowmask_t *masks = reg_ptr(w, in->e);
    bool has_mask = in->hints & HINT_MEMBERS, shuffles = check_opcode(in) == OP_SHFL;
    const struct program_compound *compound = compound_of(w->program, in);
    unsigned steps = compound ? compound->ops->steps : 1;
    for (rowmask_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        rowmask_t there = has_mask ? masks[l] & w->live : lanes;
        if (has_mask && !(masks[l] >> l & 1)) {
            report_not_member(c, w, in, l, masks[l]);
            continue;
        }
        for (unsigned k = 0; k < steps; k++) {
            int from = shuffles ? shuffle_lane(w, in, l) : compound ? compound->ops->source_lane(w, in, k, l) : l;
            if (!(there >> from & 1))
                report_source(c, w, in, l, from, there);
        }
    }
}

void check_format(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    const uint64_t *format = reg_ptr(w, in->a);
    for (; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        if (format[l])
            continue;
        struct finding *f = check_count(c, CHECK_NULL_FORMAT, check_pc(w, in), NO_PC);
        if (f)
            f->thread = check_thread(w, l);
    }
}
