/* Textures and surfaces. The operands of the instruction are described in isa/exec_tex.h. */
#include "isa/exec_tex.h"
#include "lower.h"

enum { MAX_LIST = 16 };

struct tex {
    opnd_t list[MAX_LIST];
    unsigned n, written;
    unsigned bytes; /* of a destination or of an element stored */
    opnd_t handle;
};

static void add(struct tex *t, opnd_t o) {
    if (t->n < MAX_LIST)
        t->list[t->n++] = o;
}

/* A texture that is a parameter of the kernel: its handle is there. */
static opnd_t load_handle(struct lower *l, const struct symbol *s) {
    opnd_t d = temp_reg(l, RC_64) << 1;
    uint32_t guard = pause_guard(l);
    if (s->home == HOME_FRAME) {
        emit_frame_load(l, d, 8, s->offset);
    } else {
        struct inst *in = emit_op(l, OP_LD, T_B64, T_NONE, 0);
        in->d = d;
        in->dsize = in->msize = in->rsize = in->asize = 8;
        in->space = SPACE_PARAM;
        in->imm = (int64_t)s->offset;
        emit_done(l);
    }
    l->guard = guard;
    return d;
}

static bool find_handle(struct lower *l, const struct operand *o, struct tex *t) {
    struct symbol *s = find_symbol(l, o, 1u << SYM_REG | 1u << SYM_VARIABLE, "texture or register");
    if (!s)
        return false;
    if (s->kind == SYM_REG) {
        t->handle = source(l, o, T_B64);
        return true;
    }
    if (s->space == SPACE_PARAM && is_opaque(s->variable)) {
        t->handle = load_handle(l, s);
        return true;
    }
    if (s->space != SPACE_TEX) {
        diag_error(l->d, o->loc, "'%s' is a variable in .%s where '%s' takes a texture, a surface or a handle",
                   s->word->text, space_name(s->space), opcode_text(l));
        return false;
    }
    t->handle = ir_constant(l->ir, RC_64, l->img->variables[s->index].address, 0);
    return true;
}

/* [handle, coordinates] or [handle, sampler, coordinates]. */
static bool find_coordinates(struct lower *l, const struct operand *o, struct tex *t) {
    unsigned geometry = form_get(l->dec->form, CAT_GEOM), n = tex_coordinates(geometry);
    const struct isa_row *row = l->dec->row;
    struct operand list[8];
    if (o->kind != OPD_ADDRESS || (o->n != 2 && o->n != 3)) {
        bad_operand(l, o, "[texture, {coordinates}]");
        return false;
    }
    if (!find_handle(l, o->sub, t))
        return false;
    const struct operand *at = o->n == 3 ? o->sub->next->next : o->sub->next;
    unsigned written = (unsigned)elements(l, at, list, 8);
    if (written != n && !(written == 4 && n < 4)) { /* four are written for fewer: the last ones only pad */
        diag_error(l->d, at->loc, "'%s' takes %u coordinates, this has %u", opcode_text(l), n, written);
        return false;
    }
    bool layered = geometry == GEOM_A1D || geometry == GEOM_A2D || geometry == GEOM_ACUBE || geometry == GEOM_A2DMS;
    enum type type = row->op == OP_TEX || row->op == OP_TLD4 ? row->types[1] : T_S32;
    for (unsigned i = 0; i < n; i++)
        add(t, source(l, &list[i], layered && i == 0 ? T_U32 : type));
    return true;
}

static bool find_elements(struct lower *l, const struct operand *o, bool is_store, struct tex *t) {
    struct operand list[8];
    enum type type = l->dec->row->types[0];
    int n = elements(l, o, list, 8), want = l->dec->vec > 1 ? l->dec->vec : 1;
    t->bytes = type_bytes(type);
    if (n != want) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %d elements, this has %d", opcode_text(l), want, n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        unsigned bytes;
        add(t, is_store ? wide_source(l, &list[i], type, &bytes) : wide_dest(l, &list[i], type, &bytes));
        if (list[i].kind == OPD_NAME)
            t->bytes = bytes;
    }
    return true;
}

static void emit_texture(struct lower *l, const struct tex *t) {
    struct ir *ir = l->ir;
    struct inst *in = emit(l, l->dec->row);
    in->a = t->handle;
    in->asize = 8;
    in->space = SPACE_TEX;
    in->msize = (uint8_t)t->written;
    in->rsize = (uint8_t)t->bytes;
    in->dsize = in->d2size = 0;
    in->hints = l->dec->hints;
    in->cache_op = l->dec->cache_op;
    in->list = ir->n_lists;
    in->n_list = (uint8_t)t->n;
    for (unsigned i = 0; i < t->n; i++) {
        ir->lists = IR_ROOM(ir, ir->lists, ir->n_lists, ir->cap_lists);
        ir->lists[ir->n_lists++] = t->list[i];
    }
    emit_done(l);
}

/* txq.width.b32 d, [t]; suq likewise. */
static void lower_query(struct lower *l) {
    struct tex t = {.written = 1, .bytes = 4};
    if (!operand_count(l, 2, 2))
        return;
    const struct operand *o = l->st->insn.operands;
    add(&t, dest(l, o, l->dec->row->types[0]));
    if (o->next->kind != OPD_ADDRESS || o->next->n != 1)
        bad_operand(l, o->next, "[texture]");
    else if (find_handle(l, o->next->sub, &t))
        emit_texture(l, &t);
}

void lower_texture(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct operand *o = l->st->insn.operands;
    struct tex t = {.handle = OPND_ZERO};
    if (row->op == OP_TXQ || row->op == OP_SUQ) {
        lower_query(l);
        return;
    }
    bool stores = row->op == OP_SUST || row->op == OP_SURED;
    bool level = form_get(row->form, CAT_LEVEL) == LEVEL_LEVEL;
    int n = 2 + level;
    if (row->op == OP_TEX && l->st->insn.n_operands > n) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' with offsets or a depth to compare is not supported",
                   opcode_text(l));
        return;
    }
    if (!operand_count(l, n, n))
        return;
    if (stores) {
        if (!find_coordinates(l, o, &t) || !find_elements(l, o->next, true, &t))
            return;
    } else {
        /* tex d|p says in p whether the texel is there */
        if (o->kind == OPD_PAIR) {
            diag_error(l->d, o->loc, "the residency predicate of '%s' is not supported", opcode_text(l));
            return;
        }
        if (!find_elements(l, o, false, &t))
            return;
        t.written = t.n;
        if (!find_coordinates(l, o->next, &t))
            return;
        if (level)
            add(&t, source(l, o->next->next, T_F32));
    }
    emit_texture(l, &t);
}
