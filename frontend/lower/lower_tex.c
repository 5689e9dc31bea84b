/* Lowers texture and surface instructions. isa/exec/exec_tex.h describes their operands. */
#include "isa/exec/exec_tex.h"
#include "lower.h"

enum { MAX_LIST = 20 };

struct tex {
    opnd_t list[MAX_LIST];
    unsigned n, written;
    unsigned bytes; /* size in bytes of an element that the instruction fetches or stores */
    opnd_t handle, sampler, resident;
    unsigned flags; /* TEX_ of exec_tex.h */
};

static void add(struct tex *t, opnd_t o) {
    if (t->n < MAX_LIST)
        t->list[t->n++] = o;
}

/* Loads the handle of a texture that is a kernel parameter. */
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

static bool find_handle(struct lower *l, const struct operand *o, opnd_t *handle) {
    struct symbol *s = find_symbol(l, o, 1u << SYM_REG | 1u << SYM_VARIABLE, "texture or register");
    if (!s)
        return false;
    if (s->kind == SYM_REG) {
        *handle = source(l, o, T_B64);
        return true;
    }
    if (s->home == HOME_NONE)
        return false;
    if (s->space == SPACE_PARAM && is_opaque(s->variable)) {
        *handle = load_handle(l, s);
        return true;
    }
    if (s->space != SPACE_TEX) {
        diag_error(l->d, o->loc, "'%s' expects a texture, a surface or a handle, but '%s' is a variable in .%s",
                   opcode_text(l), s->word->text, space_name(s->space));
        return false;
    }
    *handle = ir_constant(l->ir, RC_64, l->img->variables[s->index].address, 0);
    return true;
}

/* Lowers [handle, coordinates] or [handle, sampler, coordinates]. */
static bool find_coordinates(struct lower *l, const struct operand *o, struct tex *t) {
    unsigned geometry = form_get(l->dec->form, CAT_GEOM), n = tex_coordinates(geometry);
    const struct isa_row *row = l->dec->row;
    struct operand list[8];
    if (o->kind != OPD_ADDRESS || (o->n != 2 && o->n != 3)) {
        bad_operand(l, o, "[texture, {coordinates}]");
        return false;
    }
    if (!find_handle(l, o->sub, &t->handle) || (o->n == 3 && !find_handle(l, o->sub->next, &t->sampler)))
        return false;
    if (o->n == 3)
        t->flags |= TEX_SAMPLER;
    const struct operand *at = o->n == 3 ? o->sub->next->next : o->sub->next;
    unsigned written = (unsigned)elements(l, at, list, 8);
    /* the coordinates may be in a vector of four elements, of which the last ones are padding */
    if (written != n && !(written == 4 && n < 4)) {
        diag_error(l->d, at->loc, "'%s' takes %u coordinates, found %u", opcode_text(l), n, written);
        return false;
    }
    enum type type = row->op == OP_TEX || row->op == OP_TLD4 ? row->types[1] : T_S32;
    for (unsigned i = 0; i < n; i++)
        add(t, source(l, &list[i], tex_has_layer(geometry) && i == 0 ? T_U32 : type));
    return true;
}

/* Returns the number of elements that a fetch returns. */
static int results(const struct isa_row *row) { return row->types[0] == T_F16X2 ? 2 : 4; }

static bool find_elements(struct lower *l, const struct operand *o, bool is_store, struct tex *t) {
    struct operand list[8];
    enum type type = l->dec->row->types[0];
    bool fetch = l->dec->row->op == OP_TEX || l->dec->row->op == OP_TLD4;
    int n = elements(l, o, list, 8), want = l->dec->vec > 1 ? l->dec->vec : 1;
    if (fetch && want != results(l->dec->row)) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' fetches %d elements: use .v%d", opcode_text(l),
                   results(l->dec->row), results(l->dec->row));
        return false;
    }
    t->bytes = type_bytes(type);
    if (n != want) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %d elements, found %d", opcode_text(l), want, n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        unsigned bytes;
        if (fetch)
            add(t, dest(l, &list[i], type));
        else
            add(t, is_store ? wide_source(l, &list[i], type, &bytes) : wide_dest(l, &list[i], type, &bytes));
        if (!fetch && list[i].kind == OPD_NAME)
            t->bytes = bytes;
    }
    return true;
}

static void emit_texture(struct lower *l, const struct tex *t) {
    struct ir *ir = l->ir;
    struct inst *in = emit(l, l->dec->row);
    in->a = t->handle;
    in->b = t->flags & TEX_SAMPLER ? t->sampler : OPND_ZERO;
    in->d2 = t->resident;
    in->imm = t->flags;
    in->asize = 8;
    in->space = SPACE_TEX;
    in->msize = (uint8_t)t->written;
    in->rsize = (uint8_t)t->bytes;
    in->dsize = in->d2size = 0;
    in->hints = l->dec->hints;
    in->cache_op = l->dec->cache_op;
    in->list = ir->n_lists;
    in->n_list = (uint8_t)t->n;
    for (unsigned i = 0; i < t->n; i++)
        ir_list_add(ir, t->list[i]);
    emit_done(l);
}

/* Lowers txq.width.b32 d, [t]; txq.level.width.b32 d, [t], level; suq has the operands d, [t]. */
static void lower_query(struct lower *l) {
    struct tex t = {.written = 1, .bytes = 4};
    bool level = form_get(l->dec->row->form, CAT_LEVEL) == LEVEL_LEVEL;
    if (!operand_count(l, 2 + level, 2 + level))
        return;
    const struct operand *o = l->st->insn.operands;
    add(&t, dest(l, o, l->dec->row->types[0]));
    if (o->next->kind != OPD_ADDRESS || o->next->n != 1)
        bad_operand(l, o->next, "[texture]");
    else if (find_handle(l, o->next->sub, &t.handle)) {
        if (level)
            add(&t, source(l, o->next->next, T_S32));
        emit_texture(l, &t);
    }
}

/* Lowers a vector of `n` elements. If n is 3, the vector may have a fourth element as padding. */
static bool find_vector(struct lower *l, const struct operand *o, unsigned n, enum type type, const char *what,
                        struct tex *t) {
    struct operand list[8];
    unsigned written = (unsigned)elements(l, o, list, 8);
    if (written != n && !(written == 4 && n == 3)) {
        diag_error(l->d, o->loc, "'%s' takes %u %s, found %u", opcode_text(l), n, what, written);
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        add(t, source(l, &list[i], type));
    return true;
}

/* Returns true if `o` is an offset operand: a vector, a constant, or an integer register. A floating-point register is
 * a depth operand instead. */
static bool is_offset(struct lower *l, const struct operand *o) {
    const struct symbol *s = o->kind == OPD_NAME ? names_find(&l->names, o->name) : NULL;
    return o->kind == OPD_VECTOR || o->kind == OPD_INT ||
           (s && (s->kind == SYM_VECTOR || (s->kind == SYM_REG && type_class(s->type) != 'f')));
}

/* Lowers the optional operands after the coordinates: {, level} {, derivatives by x, by y} {, offset} {, depth}. */
static bool find_options(struct lower *l, const struct operand *o, struct tex *t) {
    const struct isa_row *row = l->dec->row;
    unsigned geometry = form_get(row->form, CAT_GEOM), n = tex_dimensions(geometry),
             level = form_get(row->form, CAT_LEVEL);
    bool cube = geometry == GEOM_CUBE || geometry == GEOM_ACUBE;
    if (level == LEVEL_LEVEL) {
        add(t, source(l, o, row->types[1]));
        o = o->next;
    } else if (level == LEVEL_GRAD) {
        if (!find_vector(l, o, n, T_F32, "derivatives by x", t) ||
            !find_vector(l, o->next, n, T_F32, "derivatives by y", t))
            return false;
        o = o->next->next;
    }
    if (o && is_offset(l, o)) {
        if (cube) {
            diag_error(l->d, o->loc, "'%s' takes no offsets", opcode_text(l));
            return false;
        }
        if (!find_vector(l, o, n, T_S32, "offsets", t))
            return false;
        t->flags |= TEX_OFFSET;
        o = o->next;
    }
    if (o && geometry == GEOM_3D) {
        diag_error(l->d, o->loc, "'%s' has no depth comparison", opcode_text(l));
        return false;
    }
    if (o) {
        add(t, source(l, o, T_F32));
        t->flags |= TEX_COMPARE;
        o = o->next;
    }
    if (o)
        bad_operand(l, o, "nothing more");
    return !o;
}

/* Lowers tex and tld4: d or d|p, [texture {, sampler}, coordinates], options. */
static void lower_fetch(struct lower *l) {
    const struct operand *o = l->st->insn.operands, *to = o;
    unsigned level = form_get(l->dec->row->form, CAT_LEVEL);
    int n = level == LEVEL_GRAD ? 4 : level == LEVEL_LEVEL ? 3 : 2;
    struct tex t = {.handle = OPND_ZERO, .resident = OPND_SINK};
    if (!operand_count(l, n, n + 2))
        return;
    if (o->kind == OPD_PAIR) { /* p is a predicate that tells whether the texel is resident */
        to = o->sub;
        t.resident = dest(l, to->next, T_PRED);
    }
    if (!find_elements(l, to, false, &t))
        return;
    t.written = t.n;
    if (find_coordinates(l, o->next, &t) && find_options(l, o->next->next, &t))
        emit_texture(l, &t);
}

void lower_texture(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct operand *o = l->st->insn.operands;
    struct tex t = {.handle = OPND_ZERO, .resident = OPND_SINK};
    if (row->op == OP_TXQ || row->op == OP_SUQ) {
        lower_query(l);
        return;
    }
    if (row->op == OP_TEX || row->op == OP_TLD4) {
        lower_fetch(l);
        return;
    }
    if (!operand_count(l, 2, 2))
        return;
    if (row->op == OP_SUST || row->op == OP_SURED) {
        if (!find_coordinates(l, o, &t) || !find_elements(l, o->next, true, &t))
            return;
    } else {
        if (!find_elements(l, o, false, &t))
            return;
        t.written = t.n;
        if (!find_coordinates(l, o->next, &t))
            return;
    }
    emit_texture(l, &t);
}
