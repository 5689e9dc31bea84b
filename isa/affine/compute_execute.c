/* Executes one operation of the affine stream: puts operands into lanes, runs the executor of the instruction, and
 * writes the results. */
#include "compute_parts.h"

static void put_pred(struct affine_engine *e, const struct affine_source *s, uint32_t lane, bool v) {
    rowmask_t m;
    memcpy(&m, e->bank + (s->at >> 1), sizeof m);
    m = v ? m | (rowmask_t)1 << lane : m & ~((rowmask_t)1 << lane);
    memcpy(e->bank + (s->at >> 1), &m, sizeof m);
}

void compute_put_operands(struct affine_engine *e, const struct affine_op *op, uint32_t lane,
                          const struct affine_operands *o) {
    for (int i = 0; i < op->n_sources; i++) {
        if (op->source[i].reg == NO_REG)
            continue;
        if (o->t[i])
            put_lane(e, &op->source[i], lane, o->t[i]->base);
        else
            put_pred(e, &op->source[i], lane, o->pred[i]);
    }
}

bool compute_execute(struct affine_engine *e, const struct affine_op *op, rowmask_t lanes) {
    struct warp *w = &e->warp;
    const struct inst *in = &op->in;
    /* A lane function computes all lanes, not only `lanes`. This does no harm: it has no side effects, and nothing
     * reads the results of the other lanes. */
    if (in->kind == K_LANE) {
        in->fn.lane(reg_ptr(w, in->d), reg_ptr(w, in->d2), reg_ptr(w, in->a), reg_ptr(w, in->b), reg_ptr(w, in->c),
                    reg_ptr(w, in->e));
        return true;
    }
    exec_row(w, in, lanes, &e->fx);
    return e->fx.fault == FAULT_NONE;
}

bool compute_write(struct affine_engine *e, const struct affine_dest *d, uint32_t c, const rowmask_t *lanes,
                   const struct affine_tuple *t, struct affine_step *step) {
    bool expanded = false;
    if (!cell_write(&e->regs[d->reg].cells[c], d->bits, &e->shape, lanes, of_cta(e, e->live, c), t, &expanded)) {
        e->out_of_memory = true;
        return false;
    }
    step->fallbacks += expanded;
    return true;
}

enum affine_compare compute_costliest(const struct affine_engine *e, const struct affine_op *op, uint32_t c,
                                      uint32_t w) {
    enum affine_compare most = COMPARE_CTA;
    for (int i = 0; i < op->n_sources; i++) {
        const struct affine_source *s = &op->source[i];
        if (!s->bits && s->reg != NO_REG && e->regs[s->reg].compare[c * e->shape.n_warps + w] > most)
            most = e->regs[s->reg].compare[c * e->shape.n_warps + w];
    }
    return most;
}
