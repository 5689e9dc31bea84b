/* Refuses kernels that depend on warps of 32 lanes, for machines whose warps have another size. */
#include "isa/decode.h"
#include "isa/machine/warpsync.h"
#include "lower.h"

static bool special_depends(enum special s) {
    switch (s) {
    case SPECIAL_LANEID:
    case SPECIAL_WARPID:
    case SPECIAL_NWARPID:
    case SPECIAL_LANEMASK_EQ:
    case SPECIAL_LANEMASK_LE:
    case SPECIAL_LANEMASK_LT:
    case SPECIAL_LANEMASK_GE:
    case SPECIAL_LANEMASK_GT:
        return true;
    default:
        return false;
    }
}

/* Reports the first place where the kernel depends on warps of 32 lanes. Setting warp_size to 32 suppresses further
 * reports. */
static void refuse(struct lower *l, struct loc loc, const char *what, const char *why) {
    diag_error(l->d, loc, "kernel '%s' depends on warps of %d lanes: '%s' %s. It cannot run with sm.warp_size=%u",
               l->ir->kernel, WARP_LANES, what, why, l->warp_size);
    l->warp_size = WARP_LANES;
}

void check_special_size(struct lower *l, struct loc loc, const struct symbol *s) {
    if (l->warp_size != WARP_LANES && special_depends(s->index))
        refuse(l, loc, s->word->text, "is a place in a warp");
}

void check_constant_size(struct lower *l, struct loc loc) {
    if (l->warp_size != WARP_LANES)
        refuse(l, loc, "WARP_SZ", "is the size of a warp");
}

void check_instruction_size(struct lower *l) {
    const struct inst in = inst_of_row(l->dec->row);
    if (l->warp_size != WARP_LANES &&
        (l->dec->op->takes & (TAKES_MATRIX | TAKES_GROUP | TAKES_TMEM) || warp_sync_hints(&in)))
        refuse(l, l->st->loc, opcode_text(l), "acts on the lanes of a warp together");
}
