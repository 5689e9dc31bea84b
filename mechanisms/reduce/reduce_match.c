/* Recognises single instructions of a sum. */
#include "frontend/passes/fuse.h"
#include "isa/decode.h"
#include "reduce_parts.h"

const struct isa_row *reduce_row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

bool reduce_is_register(opnd_t o) { return !(o & 1) && o != OPND_SINK; }

bool reduce_is_wide(const struct ir *ir, opnd_t o) { return reduce_is_register(o) && ir->vregs[o >> 1].cls == RC_64; }

bool reduce_is_move(const struct inst *in) {
    return in->kind == K_LANE && in->guard == NO_GUARD && reduce_row_of(in)->op == OP_MOV && in->dsize == 4;
}

bool reduce_adds(const struct inst *in) {
    const struct isa_row *row = reduce_row_of(in);
    unsigned rounding = form_get(row->form, CAT_RND);
    return fuse_units_of(in) == 1 && row->op == OP_ADD && (rounding == RND_NONE || rounding == RND_RN) &&
           !form_get(row->form, CAT_SAT) && in->guard == NO_GUARD;
}

bool reduce_is_addition(const struct inst *in) {
    return reduce_adds(in) && reduce_is_register(in->a) && reduce_is_register(in->b);
}
