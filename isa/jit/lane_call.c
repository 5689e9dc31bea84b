/* Compiles pure instructions without a rule as calls of their lane functions, which compute all lanes. If only some
 * lanes execute, the results go to the frame, and the code merges them. */
#include "jit_rule.h"

/* Returns true if the code can merge the results of some lanes: results of 32 or 64 bits, and predicates that are not
 * the guard. */
static bool can_merge(const struct inst *in) {
    const bool fits = in->d == OPND_SINK || in->dsize == 0 || in->dsize == 4 || in->dsize == 8;
    return fits && (in->d2 == OPND_SINK || in->d2size == 0) && (in->guard == NO_GUARD || in->d != in->guard << 1);
}

bool lane_call_is_possible(const struct compiler *c, const struct inst *in) {
    const bool is_pure = in->kind == K_LANE ||
                         (in->kind == K_CVT && in->asize == in->msize && in->rsize == in->dsize && in->d2 == OPND_SINK);
    return is_pure && !(in->hints & HINT_DEQ) && (!writes_some_lanes(c, in) || can_merge(in));
}

static void merge_results(struct compiler *c, const struct inst *in) {
    struct emit *e = &c->e;
    const size_t d = offsetof(struct jit_frame, result), d2 = offsetof(struct jit_frame, result2);
    for (unsigned i = 0; in->d != OPND_SINK && in->dsize && i < lines_of(c, in->dsize); i++, lines_unpin(c)) {
        const unsigned v = destination(c, in, i, false);
        emit_vector_mem(e, V_LOAD, v, 0, frame_at(d + (size_t)i * line_bytes(c)), WHOLE);
        merge_guarded(c, in, i, v, false);
    }
    if (in->d != OPND_SINK && !in->dsize) {
        emit_load(e, false, RAX, frame_at(d));
        put_predicate(c, in, in->d, RAX);
    }
    if (in->d2 != OPND_SINK) {
        emit_load(e, false, RAX, frame_at(d2));
        put_predicate(c, in, in->d2, RAX);
    }
}

void compile_lane_call(struct compiler *c) {
    static const enum gpr order[] = {RDI, RSI, RDX, RCX, R8, R9};
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const opnd_t operands[] = {in->d, in->d2, in->a, in->b, in->c, in->e};
    const bool merges = writes_some_lanes(c, in);
    if (in->guard != NO_GUARD)
        count_guarded(c);
    else
        c->done.lanes += WARP_LANES;
    lanes_zero_upper(e);
    for (int i = 0; i < 6; i++)
        emit_lea(e, order[i], operand_at(operands[i], 0));
    if (merges && in->d != OPND_SINK)
        emit_lea(e, RDI, frame_at(offsetof(struct jit_frame, result)));
    if (merges && in->d2 != OPND_SINK)
        emit_lea(e, RSI, frame_at(offsetof(struct jit_frame, result2)));
    emit_constant(e, RAX, (uintptr_t)in->fn.lane);
    emit_call(e, RAX);
    if (merges)
        merge_results(c, in);
}
