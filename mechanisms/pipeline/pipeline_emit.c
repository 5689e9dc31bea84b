/* Emits the code of a pipelined loop. Part j, from j = 0, executes stage s of iteration j - s, for each stage s, and
 * ends with the branch of iteration j. The parts before the last stage begins are the prologue. The next parts are the
 * kernel, one part per unrolled iteration. The last part of the kernel branches back to its first part. A lane that
 * leaves at the end of part j goes to epilogue j. The epilogue finishes the iterations in flight and moves the values
 * that are read after the loop into their registers. */
#include "pipeline.h"

struct emitter {
    struct edit *e;
    struct pipe_graph *g;
    const struct pipe_schedule *s;
    uint32_t *slot; /* instruction in each of the II issue slots; NO_INST: the slot is empty */
    uint32_t *part, *epilogue, n_parts;
};

/* Returns the register of a value in iteration i; i may be -1. */
static uint32_t reg_of(const struct pipe_value *v, uint32_t i) { return v->reg[(i + v->copies) % v->copies]; }

/* Assigns registers to each value. If a value lives from one iteration to the next, its last copy is the original
 * register, because this register holds the value from before the loop. */
static void name_registers(struct pipe_graph *g) {
    struct ir *ir = g->ir;
    for (uint32_t k = 0; k < g->n_values; k++) {
        struct pipe_value *v = &g->values[k];
        const struct vreg old = ir->vregs[v->vreg];
        for (uint32_t c = 0; c < v->copies; c++)
            v->reg[c] =
                v->last && c + 1 == v->copies ? v->vreg : ir_vreg(ir, old.cls, old.function, old.name, old.name_len);
    }
}

struct renaming {
    const struct pipe_graph *g;
    uint32_t op, iteration;
};

static void rename_operand(void *ctx, opnd_t *o, enum operand_role role) {
    const struct renaming *r = ctx;
    if (*o & 1 || *o >> 1 == SINK_VREG)
        return;
    const struct pipe_ref *ref = pipe_ref_of(r->g, r->op, *o >> 1, role == OPERAND_WRITE);
    if (ref)
        *o = reg_of(&r->g->values[ref->value], r->iteration - ref->distance) << 1;
}

/* Appends the instruction of one iteration to a block. */
static void add(struct emitter *m, uint32_t block, uint32_t op, uint32_t iteration) {
    uint32_t node = edit_copy_to_end(m->e, m->g->first + op, block);
    ir_operands(m->g->ir, edit_inst(m->e, node), rename_operand, &(struct renaming){m->g, op, iteration});
}

/* Appends the instructions of part j to the block, except those of iterations from `end` on. */
static void add_part(struct emitter *m, uint32_t block, uint32_t j, uint32_t end) {
    for (uint32_t r = 0; r < m->s->ii; r++) {
        uint32_t op = m->slot[r], stage = op == NO_INST ? 0 : m->s->time[op] / m->s->ii;
        if (op != NO_INST && op + 1 != m->g->n && stage <= j && j - stage < end)
            add(m, block, op, j - stage);
    }
}

static void add_epilogue(struct emitter *m, uint32_t j) {
    struct ir *ir = m->g->ir;
    for (uint32_t p = j + 1; p < j + m->s->stages; p++)
        add_part(m, m->epilogue[j], p, j + 1);
    for (uint32_t k = 0; k < m->g->n_values; k++) {
        const struct pipe_value *v = &m->g->values[k];
        if (!v->last || !v->live_out || reg_of(v, j) == v->vreg)
            continue;
        struct inst move = inst_of_row(pipe_move_row(ir->vregs[v->vreg].cls));
        move.d = v->vreg << 1;
        move.a = reg_of(v, j) << 1;
        edit_at_end(m->e, m->epilogue[j], &move);
    }
}

/* Appends the branch of iteration j, which continues or leaves. */
static void end_part(struct emitter *m, uint32_t j, uint32_t again) {
    struct inst jump = m->g->ir->code[m->g->first + m->g->n - 1];
    ir_operands(m->g->ir, &jump, rename_operand, &(struct renaming){m->g, m->g->n - 1, j});
    bool last = j + 1 == m->n_parts;
    jump.target = last ? again : m->epilogue[j];
    jump.guard_not ^= !last;
    edit_set_end(m->e, m->part[j], &jump, last ? m->epilogue[j] : m->part[j + 1]);
}

/* Creates the parts in order, then the epilogue after the kernel's end, then the other epilogues. */
static void make_blocks(struct emitter *m, uint32_t leaves_to) {
    struct edit *e = m->e;
    uint32_t after = m->g->block, function = m->g->ir->blocks[m->g->block].function;
    const struct inst_info near = m->g->ir->info[m->g->first];
    for (uint32_t j = 0; j < m->n_parts; j++)
        after = m->part[j] = edit_new_block(e, after, function, NO_BLOCK, &near);
    for (uint32_t k = 0; k < m->n_parts; k++) {
        uint32_t j = (k + m->n_parts - 1) % m->n_parts;
        after = m->epilogue[j] = edit_new_block(e, after, function, leaves_to, &near);
    }
}

static void empty(struct edit *e, uint32_t block, uint32_t to) {
    edit_set_end(e, block, NULL, to);
    while (e->blocks[block].first != NO_INST)
        edit_remove(e, e->blocks[block].first);
}

void pipe_emit(struct edit *e, struct pipe_graph *g, const struct pipe_schedule *s) {
    struct emitter m = {.e = e, .g = g, .s = s, .n_parts = s->stages - 1 + s->rounds};
    struct arena *tmp = g->ir->tmp;
    m.part = arena_array(tmp, m.n_parts, sizeof *m.part);
    m.epilogue = arena_array(tmp, m.n_parts, sizeof *m.epilogue);
    m.slot = arena_array(tmp, s->ii, sizeof *m.slot);
    for (uint32_t r = 0; r < s->ii; r++)
        m.slot[r] = NO_INST;
    for (uint32_t op = 0; op < g->n; op++)
        m.slot[s->time[op] % s->ii] = op;
    name_registers(g);
    make_blocks(&m, e->blocks[g->block].fall);
    for (uint32_t j = 0; j < m.n_parts; j++) {
        add_part(&m, m.part[j], j, j + 1);
        end_part(&m, j, m.part[s->stages - 1]);
        add_epilogue(&m, j);
    }
    empty(e, g->block, m.part[0]);
}
