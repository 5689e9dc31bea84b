/* Lowers warp matrix instructions. mma is one instruction; the other instructions expand to several:
 *   wmma.mma: becomes one or two mma.m16n8k*, each for half of d, as in ptxas. m8n32k16 is computed as the product of
 *     the transposed matrices
 *   wmma.load, wmma.store: become loads and stores by each lane, with the fragments of mma, or ldmatrix or #fragment
 *   ldmatrix, stmatrix, movmatrix: see lower_tile.c
 * A wmma fragment with more registers than mma needs (a and b of f16 always have eight) repeats them. An mma requires
 * that all lanes are active. An expansion without an mma begins with a #whole, which requires that, too. */
#include "lower_matrix.h"
#include <string.h>

/* A wmma fragment, which consists of one or two consecutive mma fragments. */
struct wmma_fragment {
    struct fragment_form form;
    enum type type;      /* type of an element in memory */
    uint8_t tiles, regs; /* number of mma fragments (1 or 2), and number of registers of each */
    uint8_t written;     /* registers in the operand */
    /* Steps from an element of the first mma fragment to the same element of the second one: quad_step is added to the
     * number of the quad, place_step to the position in the quad. */
    uint8_t quad_step, place_step;
    bool quad_is_row; /* true: the quad number selects the row; false: the position in the quad selects the row */
    uint16_t rows, columns;
};

/* ---- modifiers ---- */

/* Returns the location of modifier `text` in the opcode, or of the whole opcode if it cannot be found. */
static struct loc word_loc(const struct lower *l, const char *text) {
    struct loc loc = l->st->insn.opcode_loc;
    const char *at = strstr(opcode_text(l), text);
    if (!at || loc.end - loc.begin != l->st->insn.opcode->len)
        return loc;
    uint32_t begin = loc.begin + (uint32_t)(at - opcode_text(l));
    return (struct loc){begin, begin + (uint32_t)strlen(text)};
}

static bool is_aligned(struct lower *l) {
    enum { SINCE = 63 }; /* PTX 6.3 */
    unsigned version = 10u * l->module->version_major + l->module->version_minor;
    if (l->dec->hints & HINT_ALIGNED || version < SINCE)
        return true;
    diag_error(l->d, l->st->insn.opcode_loc, "'%s' is incomplete", opcode_text(l));
    diag_help(l->d, "add .aligned after .sync");
    return false;
}

static bool has_layouts(struct lower *l, unsigned n) {
    if (l->dec->n_layouts == n)
        return true;
    diag_error(l->d, l->st->insn.opcode_loc, "'%s' takes %s", opcode_text(l),
               n == 0   ? "neither .row nor .col"
               : n == 1 ? "one layout, .row or .col"
                        : "two layouts, those of a and b: .row or .col each");
    return false;
}

/* ---- operands ---- */

/* Returns the type of the registers that hold elements of type `t` in an mma: f16 values are in pairs, and 8-bit
 * integers in fours. */
static enum type register_type(enum type t) {
    switch (t) {
    case T_F16:
        return T_F16X2;
    case T_F32:
    case T_F64:
    case T_S32:
        return t;
    default:
        return T_B32;
    }
}

/* ---- mma ---- */

/* `more`: the metadata of a sparse a, and six operands of scaled blocks. */
struct product {
    const opnd_t *d, *a, *b, *c, *more;
    unsigned n_d, n_a, n_b, n_c, n_more;
    int64_t imm;
};

static void emit_mma(struct lower *l, const struct isa_row *row, const struct product *p) {
    struct ir *ir = l->ir;
    struct inst *in = matrix_emit(l, row);
    const opnd_t *from[] = {p->d, p->a, p->b, p->c, p->more};
    const unsigned n[] = {p->n_d, p->n_a, p->n_b, p->n_c, p->n_more};
    in->list = ir->n_lists;
    in->msize = (uint8_t)p->n_d;
    in->rsize = row->types[0] == T_F64 ? 8 : 4;
    in->imm = p->imm;
    for (int k = 0; k < 5; k++)
        for (unsigned i = 0; i < n[k]; i++)
            ir_list_add(ir, from[k][i]);
    in->n_list = (uint8_t)(ir->n_lists - in->list);
    emit_done(l);
}

/* Checks the layouts of an mma: a must be .row and b must be .col, except in m8n8k4 on f16 (`old`). */
static bool mma_layouts(struct lower *l, bool old) {
    if (!has_layouts(l, 2))
        return false;
    if (old || (l->dec->layout[0] == LAYOUT_ROW && l->dec->layout[1] == LAYOUT_COL))
        return true;
    diag_error(l->d, word_loc(l, l->dec->layout[0] == LAYOUT_ROW ? ".row.row" : ".col"),
               "'%s': a is .row and b is .col in all but mma.m8n8k4 on f16", opcode_text(l));
    return false;
}

/* Lowers the operands of scaled blocks: scale_a, {byte, thread}, scale_b, {byte, thread}. */
static bool scale_operands(struct lower *l, const struct operand *o, opnd_t out[6]) {
    for (int i = 0; i < 2; i++, out += 3) {
        struct operand list[2];
        uint64_t value = 0;
        /* CUDA's headers write {%r1}; other programs write %r1 */
        const bool braces = o->kind == OPD_VECTOR && elements(l, o, list, 2) == 1;
        out[0] = source(l, braces ? list : o, T_B32);
        o = o->next;
        if (o->kind != OPD_VECTOR || elements(l, o, list, 2) != 2) {
            bad_operand(l, o, "two selectors, {byte, thread}");
            return false;
        }
        for (int k = 0; k < 2; k++) {
            const unsigned most = k == 0 ? 3 : i == 0 ? 1 : 3;
            if (list[k].kind == OPD_INT && immediate(l, &list[k], T_U16, &value) && value > most) {
                bad_operand(l, &list[k],
                            k == 0   ? "a byte from 0 to 3"
                            : i == 0 ? "thread pair 0 or 1"
                                     : "thread 0 to 3");
                return false;
            }
            const opnd_t narrow = source(l, &list[k], T_U16);
            out[1 + k] = ir_constant(l->ir, RC_32, value, 0);
            if (narrow & 1)
                continue;
            out[1 + k] = temp_reg(l, RC_32) << 1;
            emit_resize(l, out[1 + k], 4, narrow, 2, false);
        }
        o = o->next;
    }
    return true;
}

/* Lowers the metadata of a sparse a and their selector. */
static bool metadata_operands(struct lower *l, const struct operand *o, unsigned k, opnd_t *out, uint64_t *selector) {
    const struct isa_row *row = l->dec->row;
    const unsigned threads = matrix_sparsity(k, matrix_elements_of(row->types[1], row->form)).threads;
    *out = source(l, o, T_B32);
    if (o->next->kind != OPD_INT || !immediate(l, o->next, T_U32, selector) || *selector >= 4 / threads) {
        bad_operand(l, o->next,
                    threads == 1   ? "a sparsity selector from 0 to 3"
                    : threads == 2 ? "sparsity selector 0 or 1"
                                   : "sparsity selector 0");
        return false;
    }
    return true;
}

/* Returns operand number n, counted from 0. */
static const struct operand *nth(const struct operand *o, unsigned n) {
    while (n--)
        o = o->next;
    return o;
}

static void lower_mma(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct matrix_size s = matrix_size(form_get(row->form, CAT_MODE2));
    const enum type d = row->types[0], a = row->types[1], b = row->types[2], c = row->types[3];
    const unsigned times = matrix_groups(s, a), in_register = WARP_LANES * matrix_elements_of(a, row->form),
                   sparse = form_get(row->form, CAT_SPARSE) ? 2 : 0;
    opnd_t list[4][8], more[7];
    uint64_t selector = 0;
    struct product p = {.d = list[0],
                        .a = list[1],
                        .b = list[2],
                        .c = list[3],
                        .more = more,
                        .n_d = matrix_registers(times * s.m * s.n, d),
                        .n_a = a == T_F64 ? s.m * s.k / WARP_LANES : times * s.m * s.k / (sparse ? 2 : 1) / in_register,
                        .n_b = times * s.n * s.k / in_register,
                        .n_c = matrix_registers(times * s.m * s.n, c),
                        .n_more = (sparse ? 1 : 0) + (l->dec->scale ? 6 : 0)};
    const struct operand *o = l->st->insn.operands;
    const int n = 4 + (int)sparse + (l->dec->scale ? 4 : 0);
    if (!mma_layouts(l, times > 1) || !operand_count(l, n, n))
        return;
    if (!matrix_operand(l, o, register_type(d), (int)p.n_d, MATRIX_RESULT, list[0]) ||
        !matrix_operand(l, nth(o, 1), register_type(a), (int)p.n_a, MATRIX_FACTOR, list[1]) ||
        !matrix_operand(l, nth(o, 2), register_type(b), (int)p.n_b, MATRIX_FACTOR, list[2]) ||
        !matrix_operand(l, nth(o, 3), register_type(c), (int)p.n_c, MATRIX_TERM, list[3]) ||
        (sparse && !metadata_operands(l, nth(o, 4), s.k, more, &selector)) ||
        (l->dec->scale && !scale_operands(l, nth(o, 4 + sparse), more + (sparse ? 1 : 0))))
        return;
    p.imm = mma_imm(l->dec->layout[0] | (unsigned)l->dec->layout[1] << 1, (unsigned)selector, l->dec->scale);
    emit_mma(l, row, &p);
}

/* ---- wmma ---- */

/* Returns true for types with less than a byte, which wmma loads in words. */
static bool in_words(enum type t) { return t == T_S4 || t == T_U4 || t == T_B1; }

/* Returns the fragment of operand `which`, 'a' to 'd'. The product of m8n32k16 is computed transposed, so that its
 * matrix a is the B of mma. */
static struct wmma_fragment fragment_of(unsigned shape, char which, enum type t) {
    struct matrix_size s = matrix_size(shape);
    const bool transposed = shape == MODE2_M8N32K16, small = s.m == 8 && s.n == 8;
    const bool square = s.m == 16 && s.n == 16, first = which == 'a', second = which == 'b';
    const uint8_t halves = small ? 1 : 2, elements = in_words(t) ? 1 : matrix_elements(t);
    if (small && shape != MODE2_M8N8K4) /* elements of 4 bits and 1 bit are loaded in words: a row has four */
        s.k = 4;
    struct wmma_fragment f = {.type = t, .tiles = small ? 1 : 2};
    f.rows = second ? s.k : s.m;
    f.columns = first ? s.k : s.n;
    if (first != transposed && (first || second)) {
        f.form = (struct fragment_form){FRAGMENT_A, halves, elements};
        f.tiles = square || small ? 1 : 2;
        f.quad_step = 16;
        f.regs = (uint8_t)(8u * halves * s.k / (WARP_LANES * elements));
    } else if (first || second) {
        f.form = (struct fragment_form){FRAGMENT_B, 1, elements};
        f.tiles = square ? 2 : 1;
        f.quad_step = 8;
        f.regs = (uint8_t)(8u * s.k / (WARP_LANES * elements));
    } else {
        f.form = (struct fragment_form){FRAGMENT_C, halves, elements};
        f.place_step = square ? 8 : 0;
        f.quad_step = square ? 0 : 16;
        f.regs = (uint8_t)matrix_registers(64u * halves, t);
    }
    f.quad_is_row = first || (!second && !transposed);
    f.written = (uint8_t)(t == T_F16 && (first || second) ? 8 : f.tiles * f.regs);
    return f;
}

/* Returns the position of element `i` of register `r`, relative to the lane's own position. */
static struct fragment_place place_of(const struct wmma_fragment *f, unsigned r, unsigned i) {
    struct fragment_place at = fragment_at(f->form, r % f->regs);
    bool second = r / f->regs % f->tiles == 1;
    at.quad = (uint8_t)(at.quad + (second ? f->quad_step : 0));
    at.place = (uint8_t)(at.place + (second ? f->place_step : 0) + i);
    return at;
}

/* ---- wmma.load, wmma.store ---- */

/* The addresses of a lane's elements. Elements are contiguous along a row or column; rows or columns are `stride`
 * apart. `along` is the contiguous coordinate, `across` the other. */
struct walk {
    const struct wmma_fragment *f;
    /* address of the matrix; after walk_begin(), at.base is the address of the lane's first element */
    struct address at;
    /* true: `along` is the position in the quad and `across` the quad number; false: the reverse */
    bool along_is_place;
    bool known;            /* true if the stride is a constant */
    uint64_t stride_bytes; /* the constant stride */
    opnd_t stride;         /* the variable stride in elements */
    unsigned size;         /* bytes per element */
    /* With a variable stride, across[i] is the lane's address plus i rows or columns; OPND_SINK: not computed. */
    opnd_t across[64];
};

static opnd_t word(struct lower *l, uint64_t value) { return ir_constant(l->ir, RC_32, value, 0); }

/* Computes the address of the lane's first element: the address of the matrix + along * size + across * stride. */
static void walk_begin(struct lower *l, struct walk *w) {
    const unsigned width = fragment_width(w->f->form), bytes = w->at.asize;
    const opnd_t quad = lane_quad(l), place = lane_place(l);
    const unsigned across_step = w->along_is_place ? 1 : width, along_step = w->along_is_place ? width : 1;
    opnd_t across = w->along_is_place ? quad : place, along = w->along_is_place ? place : quad, base = w->at.base;
    if (w->known && w->stride_bytes * across_step <= UINT32_MAX) {
        base = matrix_multiply_add(l, bytes, across, word(l, w->stride_bytes * across_step), base);
    } else {
        opnd_t step = matrix_multiply_add(l, 4, across, word(l, across_step * w->size), OPND_ZERO);
        base = matrix_multiply_add(l, bytes, step, w->stride, base);
    }
    w->at.base = matrix_multiply_add(l, bytes, along, word(l, along_step * w->size), base);
    for (unsigned i = 0; i < 64; i++)
        w->across[i] = OPND_SINK;
    w->across[0] = w->at.base;
}

static unsigned across_of(const struct walk *w, unsigned r, unsigned i) {
    struct fragment_place at = place_of(w->f, r, i);
    return w->along_is_place ? at.quad : at.place;
}

/* Computes all addresses before the first access, since a load may overwrite the stride's register. */
static void walk_addresses(struct lower *l, struct walk *w) {
    for (unsigned r = 0; r < (unsigned)w->f->tiles * w->f->regs && !w->known; r++)
        for (unsigned i = 0; i < w->f->form.elements; i++) {
            unsigned n = across_of(w, r, i);
            if (w->across[n] == OPND_SINK)
                w->across[n] = matrix_multiply_add(l, w->at.asize, w->stride, word(l, n * w->size), w->at.base);
        }
}

static struct address walk_at(const struct walk *w, unsigned r, unsigned i) {
    struct address a = w->at;
    struct fragment_place at = place_of(w->f, r, i);
    unsigned across = w->along_is_place ? at.quad : at.place, along = w->along_is_place ? at.place : at.quad;
    a.imm = wrap_add(a.imm, (uint64_t)along * w->size + (w->known ? across * w->stride_bytes : 0));
    if (!w->known)
        a.base = w->across[across];
    return a;
}

/* Accesses the elements of a register one by one, since they are not adjacent in memory. */
static void access_elements(struct lower *l, const struct walk *w, bool store, unsigned r, opnd_t reg) {
    opnd_t part[4];
    const unsigned n = w->f->form.elements;
    if (store)
        matrix_unpack(l, part, reg); /* n is 2, because only d is stored, and d packs only f16 elements */
    for (unsigned i = 0; i < n; i++) {
        const struct address a = walk_at(w, r, i);
        if (!store)
            part[i] = temp_reg(l, RC_16) << 1;
        matrix_access(l, store, &a, w->size, &part[i], 1);
    }
    if (!store)
        matrix_pack(l, reg, part, n);
}

static void walk_access(struct lower *l, const struct walk *w, bool store, opnd_t *regs) {
    const struct wmma_fragment *f = w->f;
    const unsigned n = (unsigned)f->tiles * f->regs, per = f->form.elements;
    const bool pairs = w->along_is_place && f->form.role == FRAGMENT_C && per == 1;
    for (unsigned r = 0; r < n; r += pairs ? 2 : 1) {
        const struct address a = walk_at(w, r, 0);
        if (per > 1 && !w->along_is_place)
            access_elements(l, w, store, r, regs[r]);
        else
            matrix_access(l, store, &a, per * w->size, regs + r, pairs ? 2 : 1);
    }
}

/* Copies the n registers of mma to further registers of the fragment. */
static void repeat_registers(struct lower *l, const struct wmma_fragment *f, const opnd_t *regs) {
    const unsigned n = (unsigned)f->tiles * f->regs;
    for (unsigned r = n; r < f->written; r++)
        emit_move(l, regs[r], regs[r % n], RC_32);
}

/* Returns true if the fragment is loaded as four matrices of 8 rows and columns. */
static bool loads_tiles(const struct lower *l, const struct walk *w) {
    return l->fragment_loads && w->f->form.role != FRAGMENT_C && w->at.space == SPACE_SHARED && w->size == 2 &&
           w->f->rows == 16 && w->f->columns == 16;
}

/* Returns the instruction that loads `n` of the matrices. */
static const struct isa_row *tile_row(const struct lower *l, const struct walk *w, unsigned n) {
    const uint64_t form = form_put(CAT_SYNC, 1) | (w->along_is_place ? 0 : form_put(CAT_OPN, OPN_TRANS));
    if (l->fragment_copies)
        return isa_find_row(OP_FRAGMENT, T_B16, T_NONE,
                            form | form_put(CAT_MODE, w->f->form.role == FRAGMENT_A ? MODE_A : MODE_B));
    return isa_find_row(OP_LDMATRIX, T_B16, T_NONE,
                        form | form_put(CAT_MODE2, MODE2_M8N8) | form_put(CAT_NUM, n == 4 ? NUM_X4 : NUM_X2));
}

/* Loads a fragment by ldmatrix or #fragment. Matrix number q is `across` from 8 (q % 2), `along` from 8 (q / 2). Lane r
 * has the address of row r % 16, in ldmatrix.x4 of half r / 16 of the row. */
static void load_tiles(struct lower *l, const struct walk *w, const opnd_t *regs) {
    enum { TILES = 4, HALF_BYTES = 16 };
    const bool second_first = (w->f->form.role == FRAGMENT_A) != w->along_is_place;
    const unsigned n = l->fragment_copies ? w->along_is_place ? 2 : 1 : TILES / l->fragment_loads;
    const uint32_t guard = pause_guard(l);
    struct address a = w->at, below;
    a.base = matrix_multiply_add(l, a.asize, read_special(l, SPECIAL_TILE_ROW, 4, OPND_SINK), w->stride, a.base);
    if (n == TILES)
        a.base = matrix_multiply_add(l, a.asize, read_special(l, SPECIAL_TILE_HALF, 4, OPND_SINK), word(l, HALF_BYTES),
                                     a.base);
    below = a;
    if (n == 1 && w->known)
        below.imm = wrap_add(below.imm, 8 * w->stride_bytes);
    else if (n == 1)
        below.base = matrix_multiply_add(l, a.asize, w->stride, word(l, 8 * w->size), a.base);
    l->guard = guard;
    for (unsigned q = 0; q < TILES; q += n) {
        struct address at = q % 2 ? below : a;
        opnd_t to[TILES];
        at.imm = wrap_add(at.imm, q / 2 * HALF_BYTES);
        for (unsigned i = 0; i < n; i++)
            to[i] = regs[second_first ? (q + i) % 2 * 2 + (q + i) / 2 : q + i];
        matrix_load(l, tile_row(l, w, n), &at, to, n);
    }
}

/* Finds the stride: the value of operand `o`, in elements, or without this operand the stride of a matrix without
 * gaps. */
static bool find_stride(struct lower *l, const struct operand *o, struct walk *w, bool row_major) {
    uint64_t n = row_major ? w->f->columns : w->f->rows;
    w->known = !o || o->kind == OPD_INT;
    if (o && w->known && !immediate(l, o, T_U32, &n))
        return false;
    if (o && in_words(w->f->type))
        n /= matrix_elements(w->f->type);
    w->stride_bytes = n * w->size;
    w->stride = w->known ? word(l, n) : source(l, o, T_U32);
    if (!w->known && in_words(w->f->type)) {
        struct inst *in = emit_op(l, OP_SHR, T_U32, T_NONE, 0);
        in->a = w->stride;
        in->b = word(l, w->f->type == T_B1 ? 5 : 3);
        in->d = w->stride = temp_reg(l, RC_32) << 1;
        emit_done(l);
    }
    return w->stride != OPND_ZERO || w->known;
}

static void lower_wmma_access(struct lower *l, bool store) {
    const struct isa_row *row = l->dec->row;
    const unsigned mode = form_get(row->form, CAT_MODE);
    const char which = mode == MODE_A ? 'a' : mode == MODE_B ? 'b' : 'c';
    const struct wmma_fragment f = fragment_of(form_get(row->form, CAT_MODE2), which, row->types[0]);
    struct walk w = {.f = &f, .size = in_words(row->types[0]) ? 4 : type_bytes(row->types[0])};
    opnd_t regs[8];
    const struct operand *o = l->st->insn.operands;
    if (!has_layouts(l, 1) || !operand_count(l, 2, 3))
        return;
    const struct operand *at = store ? o : o->next, *value = store ? o->next : o;
    const bool row_major = l->dec->layout[0] == LAYOUT_ROW;
    if (in_words(f.type) && row_major != (which == 'a')) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s': with elements of 4 bits and 1 bit, a is .row and b is .col",
                   opcode_text(l));
        return;
    }
    if (!matrix_operand(l, value, register_type(f.type), f.written, store ? MATRIX_TERM : MATRIX_RESULT, regs) ||
        !address_of(l, at, l->dec->space, &w.at) || !find_stride(l, o->next->next, &w, row_major))
        return;
    w.along_is_place = f.quad_is_row == row_major;
    for (unsigned r = 0; r < f.written && !store; r++) /* `_`: loaded and discarded */
        if (regs[r] == OPND_SINK)
            regs[r] = temp_reg(l, class_of_bytes(type_bytes(register_type(f.type)))) << 1;
    if (!store && loads_tiles(l, &w)) {
        load_tiles(l, &w, regs);
    } else {
        require_all_lanes(l);
        uint32_t guard = pause_guard(l);
        walk_begin(l, &w);
        walk_addresses(l, &w);
        l->guard = guard;
        walk_access(l, &w, store, regs);
    }
    if (!store)
        repeat_registers(l, &f, regs);
}

/* ---- wmma.mma ---- */

static bool contains(const opnd_t *list, unsigned n, opnd_t o) {
    for (unsigned i = 0; i < n; i++)
        if (list[i] == o)
            return true;
    return false;
}

static const struct isa_row *row_of_half(struct lower *l, const enum type t[4]) {
    const struct isa_row *row = l->dec->row;
    static const uint8_t shapes[] = {
        [MODE2_M16N16K16] = MODE2_M16N8K16, [MODE2_M32N8K16] = MODE2_M16N8K16, [MODE2_M8N32K16] = MODE2_M16N8K16,
        [MODE2_M16N16K8] = MODE2_M16N8K8,   [MODE2_M8N8K4] = MODE2_M8N8K4,     [MODE2_M8N8K32] = MODE2_M8N8K32,
        [MODE2_M8N8K128] = MODE2_M8N8K128,
    };
    const uint64_t form = form_put(CAT_MODE2, shapes[form_get(row->form, CAT_MODE2)]) | form_put(CAT_SYNC, 1) |
                          form_put(CAT_RND, form_get(row->form, CAT_RND)) |
                          form_put(CAT_KIND, form_get(row->form, CAT_KIND)) |
                          form_put(CAT_SATFINITE, form_get(row->form, CAT_SATFINITE));
    const uint8_t types[ISA_MAX_TYPES] = {(uint8_t)t[0], (uint8_t)t[1], (uint8_t)t[2], (uint8_t)t[3]};
    const struct isa_row *plain = isa_find_row_of(OP_MMA, types, form);
    return plain ? plain : isa_find_row_of(OP_MMAMIX, types, form);
}

static void emit_halves(struct lower *l, const enum type t[4], opnd_t list[4][8], const struct wmma_fragment f[4]) {
    const bool transposed = f[0].form.role == FRAGMENT_C && !f[0].quad_is_row;
    const int a = transposed ? 2 : 1, b = transposed ? 1 : 2;
    const struct isa_row *row = row_of_half(l, t);
    opnd_t early[8];
    unsigned n_d = f[0].regs;
    bool moved = false;
    for (unsigned k = 0; k < f[0].tiles; k++) {
        opnd_t *d = list[0] + k * n_d;
        if (k == 0 && f[0].tiles == 2) /* the first half must not overwrite registers that the second half reads */
            for (unsigned i = 0; i < n_d; i++)
                moved |= d[i] != OPND_SINK && (contains(list[1], 8, d[i]) || contains(list[2], 8, d[i]) ||
                                               contains(list[3] + f[3].regs, f[3].regs, d[i]));
        for (unsigned i = 0; i < n_d && k == 0; i++)
            early[i] = moved ? temp_reg(l, RC_32) << 1 : d[i];
        struct product p = {.d = k == 0 ? early : d,
                            .a = list[a] + (f[a].tiles == 2 ? k * f[a].regs : 0),
                            .b = list[b] + (f[b].tiles == 2 ? k * f[b].regs : 0),
                            .c = list[3] + k * f[3].regs,
                            .n_d = n_d,
                            .n_a = f[a].regs,
                            .n_b = f[b].regs,
                            .n_c = f[3].regs,
                            .imm = mma_imm(l->dec->layout[0] | (unsigned)l->dec->layout[1] << 1, 0, 0)};
        emit_mma(l, row, &p);
    }
    for (unsigned i = 0; i < n_d && moved; i++)
        emit_move(l, list[0][i], early[i], RC_32);
}

static void lower_wmma_mma(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const unsigned shape = form_get(row->form, CAT_MODE2);
    const bool of_f16 = row->types[2] == T_NONE; /* the opcode-table row then has only the types of d and c */
    const enum type t[4] = {row->types[0], of_f16 ? T_F16 : row->types[1], of_f16 ? T_F16 : row->types[2],
                            row->types[of_f16 ? 1 : 3]};
    static const enum matrix_use use[] = {MATRIX_RESULT, MATRIX_FACTOR, MATRIX_FACTOR, MATRIX_TERM};
    struct wmma_fragment f[4];
    opnd_t list[4][8] = {{OPND_SINK}};
    const struct operand *o = l->st->insn.operands;
    if (!has_layouts(l, 2) || !operand_count(l, 4, 4) || (in_words(t[1]) && !mma_layouts(l, false)))
        return;
    for (int k = 0; k < 4; k++, o = o->next) {
        f[k] = fragment_of(shape, k == 1 ? 'a' : k == 2 ? 'b' : 'c', t[k]);
        if (!matrix_operand(l, o, register_type(t[k]), f[k].written, use[k], list[k]))
            return;
    }
    emit_halves(l, t, list, f);
}

/* ---- all ---- */

static bool space_is_right(struct lower *l, bool shared_only) {
    const enum space s = l->dec->space;
    if (s == SPACE_GENERIC || (s == SPACE_SHARED && !strstr(opcode_text(l), ".shared::cluster")) ||
        (s == SPACE_GLOBAL && !shared_only))
        return true;
    diag_error(l->d, l->st->insn.opcode_loc, "'%s' accesses %s memory", opcode_text(l),
               shared_only ? ".shared" : ".global or .shared");
    return false;
}

void lower_matrix(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    if (!is_aligned(l) || !space_is_right(l, row->op != OP_WMMA))
        return;
    switch (row->op) {
    case OP_MMA:
        lower_mma(l);
        break;
    case OP_WMMA:
        if (form_get(row->form, CAT_OPN) == OPN_MMA)
            lower_wmma_mma(l);
        else
            lower_wmma_access(l, form_get(row->form, CAT_OPN) == OPN_STORE);
        break;
    default:
        if (has_layouts(l, 0))
            lower_tiles(l);
    }
}
