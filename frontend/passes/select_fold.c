/* Folds instructions that need no machine instruction of their own into the instructions that use their results:
 * copies, loads of parameters, additions of constants to addresses, dead results. Requires: blocks. Keeps: results and
 * control flow. */
#include "edit.h"
#include "pass.h"
#include "select.h"
#include <string.h>

enum {
    OFFSET_BITS = 23, /* an address has a signed offset of 24 bits */
    MOST_WORDS = 256  /* special registers; each takes memory of the simulator */
};

uint32_t select_word_register(struct ir *ir, struct special_init word) {
    for (uint32_t i = 0; i < ir->n_specials; i++) {
        const struct special_init *s = &ir->specials[i];
        if (s->id == word.id && s->param == word.param && s->address == word.address && s->bytes == word.bytes)
            return s->offset;
    }
    const char *name = special_name(word.id);
    word.offset = ir_vreg(ir, class_of_bytes(word.bytes), 0, name, (uint32_t)strlen(name));
    ir->vregs[word.offset].special = true;
    ir->specials = IR_ROOM(ir, ir->specials, ir->n_specials, ir->cap_specials);
    ir->specials[ir->n_specials++] = word;
    return word.offset;
}

/* Returns the operand whose value the instruction copies, without a machine instruction. Returns false if there is
 * none. */
static bool copied(const struct select *s, uint32_t i, opnd_t *from) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    const struct isa_row *row = select_row(in);
    if (select_is_sum(row, in->dsize) && (in->a & 1) != (in->b & 1) &&
        !select_constant(ir, in->a & 1 ? in->a : in->b, in->dsize)) { /* a + 0 */
        *from = in->a & 1 ? in->b : in->a;
        return !ir->vregs[*from >> 1].special || select_is_parameter(ir, *from);
    }
    if (in->kind != K_LANE || (row->op != OP_MOV && row->op != OP_CVTA) || (in->dsize != 4 && in->dsize != 8))
        return false;
    if (row->op == OP_CVTA && form_get(row->form, CAT_SPACE) != SPACE_GLOBAL)
        return false;
    *from = in->a;
    if (select_is_parameter(ir, in->a) && !select_has_constants(ir))
        return false;
    return in->a & 1 || !ir->vregs[in->a >> 1].special || select_is_parameter(ir, in->a);
}

/* Returns true if an operand other than guard and address is the register. */
static bool reads(const struct ir *ir, const struct inst *in, uint32_t v) {
    for (unsigned k = inst_list_writes(in); k < in->n_list; k++)
        if (ir->lists[in->list + k] == v << 1)
            return true;
    return in->b == v << 1 || in->c == v << 1 || in->e == v << 1;
}

/* Returns true if an exchange between lanes can have a constant in place of a register: the distance, the bound, or the
 * mask of members. */
static bool exchange_accepts(const struct inst *in, uint32_t instead_of) {
    const uint16_t op = select_row(in)->op;
    const bool place = op == OP_SHFL && (in->b == instead_of << 1 || in->c == instead_of << 1);
    return in->kind == K_WARP && in->a != instead_of << 1 && !in->n_list &&
           (place || ((op == OP_SHFL || op == OP_VOTE || op == OP_REDUX) && in->e == instead_of << 1));
}

/* Returns true if operand `k` is the distance of a shift in the instruction, which has a place of its own. */
static bool is_distance(const struct inst *in, int k) {
    const struct isa_row *row = select_row(in);
    return (row->op == OP_LEA && k == 1) || (row->op == OP_LEA_HI && k == (row->d == T_B32 ? 2 : 1));
}

/* Returns true if the instruction can have the operand in place of a register. One operand of arithmetic can be a
 * constant or a parameter; the address of an access can be a parameter, unless the uniform datapath fetches it; a store
 * can store 0. */
static bool accepts(const struct ir *ir, const struct inst *in, uint32_t instead_of, opnd_t from) {
    const opnd_t all[] = {in->a, in->b, in->c, in->e};
    const bool access = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM;
    unsigned places = 0;
    if (in->kind == K_CALL || in->kind == K_RET || in->kind == K_BRX || in->kind == K_COMPOUND || in->hints & HINT_DEQ)
        return false;
    if (!(from & 1) && !select_is_parameter(ir, from))
        return true;
    if (in->kind == K_TEX) /* its handle can be in constant memory */
        return !(from & 1) && select_has_constants(ir) && in->a == instead_of << 1 && !reads(ir, in, instead_of);
    if (from & 1 && exchange_accepts(in, instead_of))
        return from != OPND_ZERO || in->e != instead_of << 1;
    if (in->kind == K_STORE && !in->n_list && from == OPND_ZERO && in->a != instead_of << 1)
        return true;
    if (access && (from & 1 || in->a != instead_of << 1 || has_uniform_addresses(ir)))
        return false;
    if (!access && in->kind != K_LANE && (from & 1 || in->kind != K_CVT))
        return false;
    for (int k = 0; k < 4; k++)
        places += all[k] == instead_of << 1 || select_is_parameter(ir, all[k]) ||
                  (all[k] & 1 && all[k] != OPND_ZERO && !access && !is_distance(in, k));
    for (unsigned k = access ? inst_list_writes(in) : 0; k < in->n_list; k++)
        places += ir->lists[in->list + k] == instead_of << 1;
    return places == 1;
}

/* Returns true if the instruction of a use of a copy can read the operand that is copied. */
static bool takes_copy(const struct select *s, uint32_t i, const struct reg_use *use, opnd_t from) {
    return use->n == 1 && !use->start && accepts(s->ir, edit_inst(s->e, use->inst), use->vreg, from) &&
           select_keeps(s, from, i, use->inst);
}

/* Replaces a copy by what it copies, in all its uses or in none. A copy of a parameter stays for the uses that need a
 * register. */
static bool fold_copy(struct select *s, uint32_t i) {
    opnd_t from;
    const struct reg_def *d = select_only_result(s, i);
    if (!d || !copied(s, i, &from))
        return false;
    uint32_t n = 0;
    for (uint32_t k = d->first; k < d->first + d->n; k++)
        n += takes_copy(s, i, &s->du.uses[s->du.def_uses[k]], from);
    if (n < d->n && (!n || !select_is_parameter(s->ir, from)))
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        if (n == d->n || takes_copy(s, i, use, from))
            select_replace(s, use->inst, d->vreg, from);
    }
    select_keep_definitions(s, i, from);
    if (n == d->n)
        edit_remove(s->e, i);
    ir_note(s->ir, i, n == d->n ? "needs no machine instruction" : "is an operand of %u instructions", n);
    return true;
}

/* Returns true if the instruction converts an integer of `from` bytes to one of `to` bytes. */
static bool resizes(const struct inst *in, unsigned from, unsigned to) {
    const struct isa_row *row = select_row(in);
    return in->kind == K_LANE && row->op == OP_CVT && !row->form && in->guard == NO_GUARD &&
           type_class(row->a) != 'f' && type_class(row->d) != 'f' && type_bytes(row->a) == from &&
           type_bytes(row->d) == to;
}

/* Makes the lower half of a register that was extended from 32 bits a copy of these bits, if nothing needs the register
 * itself. */
static bool fold_half(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct reg_use *read = resizes(in, 8, 4) && !(in->a & 1) ? defuse_use(&s->du, i, in->a >> 1) : NULL;
    if (!read || read->n != 1 || read->start || !select_only_result(s, i))
        return false;
    const struct reg_def *d = &s->du.defs[s->du.use_defs[read->first]];
    const uint32_t from = d->inst;
    const struct inst *extension = &s->ir->code[from];
    const opnd_t bits = extension->a;
    for (uint32_t k = d->first; k < d->first + d->n; k++)
        if (!resizes(&s->ir->code[s->du.uses[s->du.def_uses[k]].inst], 8, 4))
            return false;
    if (s->touched[from] || !resizes(extension, 4, 8) || bits & 1 || !select_keeps(s, bits, from, i))
        return false;
    select_become(s, i, isa_find_row(OP_MOV, T_B32, T_NONE, 0),
                  (const opnd_t[]){bits, OPND_ZERO, OPND_ZERO, OPND_ZERO});
    select_keep_definitions(s, from, bits);
    return true;
}

/* Makes the sum of a shifted integer, which was extended with zeros, read the 32 bits. */
static bool fold_extension(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct isa_row *row = select_row(in);
    const struct reg_use *read =
        row->op == OP_LEA && row->a == T_U64 && !(in->a & 1) ? defuse_use(&s->du, i, in->a >> 1) : NULL;
    const struct reg_def *d = read ? defuse_only_def(&s->du, read) : NULL;
    if (!d || s->touched[d->inst] || !resizes(&s->ir->code[d->inst], 4, 8) || in->c == in->a)
        return false;
    const struct inst *extension = &s->ir->code[d->inst];
    if (select_row(extension)->a != T_U32 || extension->a & 1 || !select_keeps(s, extension->a, d->inst, i))
        return false;
    select_become(s, i, isa_find_row(OP_LEA, T_U64, T_U32, 0), (const opnd_t[]){extension->a, in->b, in->c, OPND_ZERO});
    select_keep_definitions(s, d->inst, extension->a);
    return true;
}

/* Returns true if the instruction adds a constant to a register. */
static bool adds_constant(const struct ir *ir, const struct inst *in, opnd_t *base, int64_t *more) {
    const struct isa_row *row = select_row(in);
    const bool constant_first = in->a & 1;
    if (in->kind != K_LANE || (row->op != OP_ADD && row->op != OP_SUB) || row->form || type_class(row->d) == 'f' ||
        (in->dsize != 4 && in->dsize != 8) || (in->a & 1) == (in->b & 1) || (row->op == OP_SUB && constant_first))
        return false;
    *base = constant_first ? in->b : in->a;
    *more = select_constant(ir, constant_first ? in->a : in->b, in->dsize);
    if (row->op == OP_SUB)
        *more = wrap_add(0, -(uint64_t)*more);
    return true;
}

/* Returns true if the instruction uses the register as its address only. */
static bool is_address_of(const struct inst *in, uint32_t v, unsigned bytes, int64_t more, const struct ir *ir) {
    if ((in->kind != K_LOAD && in->kind != K_STORE && in->kind != K_ATOM) || in->hints & HINT_DEQ || in->a != v << 1 ||
        in->asize != bytes || reads(ir, in, v))
        return false;
    const int64_t sum = wrap_add(in->imm, (uint64_t)more);
    if (in->space == SPACE_CONST && bytes == 4) /* the offset of a variable in its memory */
        return sum >= 0 && sum <= INT32_MAX;
    return sum > -(1 << OFFSET_BITS) && sum < 1 << OFFSET_BITS;
}

static bool fold_offset(struct select *s, uint32_t i) {
    opnd_t base;
    int64_t more;
    const struct reg_def *d = select_only_result(s, i);
    if (!d || !adds_constant(s->ir, &s->ir->code[i], &base, &more))
        return false;
    uint32_t folds = 0;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        struct inst *in = edit_inst(s->e, use->inst);
        if (use->n != 1 || use->start || s->touched[use->inst] || !select_keeps(s, base, i, use->inst) ||
            !is_address_of(in, d->vreg, s->ir->code[i].dsize, more, s->ir))
            continue;
        in->imm = wrap_add(in->imm, (uint64_t)more);
        in->a = base;
        s->touched[use->inst] = true;
        folds++;
    }
    if (!folds)
        return false;
    if (folds == d->n)
        edit_remove(s->e, i);
    select_keep_definitions(s, i, base);
    ir_note(s->ir, i, "is the offset of %u addresses", folds);
    return true;
}

/* Makes an atomic whose result nothing uses a reduction, which has no result. */
static bool fold_result_of_atomic(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const unsigned operation = select_row(in)->op == OP_ATOM ? form_get(select_row(in)->form, CAT_OPN) : OPN_NONE;
    const uint32_t first = s->du.inst_defs[i];
    if (in->kind != K_ATOM || in->d == OPND_SINK || in->n_list || in->hints & HINT_DEQ || operation == OPN_EXCH ||
        operation == OPN_CAS || operation == OPN_NONE || s->du.inst_defs[i + 1] != first + 1 || s->du.defs[first].n)
        return false;
    edit_inst(s->e, i)->d = OPND_SINK;
    ir_note(s->ir, i, "needs no result");
    return true;
}

/* Removes an instruction whose results nothing uses. */
static bool fold_dead(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct defuse *du = &s->du;
    if ((in->kind != K_LANE && in->kind != K_CVT && !(in->kind == K_LOAD && in->space == SPACE_PARAM)) ||
        in->hints & HINT_DEQ || du->inst_defs[i] == du->inst_defs[i + 1])
        return false;
    for (uint32_t k = du->inst_defs[i]; k < du->inst_defs[i + 1]; k++)
        if (du->defs[k].n)
            return false;
    edit_remove(s->e, i);
    return true;
}

/* Replaces the negation of a predicate by negated guards, if all its uses are guards. */
static bool fold_negation(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct isa_row *row = select_row(in);
    const struct reg_def *d = row->op == OP_NOT && row->d == T_PRED ? select_only_result(s, i) : NULL;
    if (!d || !d->n || in->a & 1)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        const struct inst *user = edit_inst(s->e, use->inst);
        if (use->n != 1 || use->start || user->guard != d->vreg || user->hints & HINT_DEQ || user->a == d->vreg << 1 ||
            reads(s->ir, user, d->vreg) || !select_keeps(s, in->a, i, use->inst))
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        edit_inst(s->e, user)->guard = in->a >> 1;
        edit_inst(s->e, user)->guard_not ^= 1;
        s->touched[user] = true;
    }
    select_keep_definitions(s, i, in->a);
    edit_remove(s->e, i);
    ir_note(s->ir, i, "negates guards");
    return true;
}

/* Returns true if the instruction adds the 64-bit register to another value. */
static bool adds(const struct inst *in, uint32_t v) {
    return select_is_sum(select_row(in), 8) || (select_row(in)->op == OP_LEA && in->a != v << 1);
}

/* Returns true if all uses of a definition can read an operand in its place. */
static bool all_accept(const struct select *s, const struct reg_def *d, opnd_t from) {
    const bool wide = s->ir->vregs[d->vreg].cls == RC_64;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        const uint8_t kind = s->ir->code[use->inst].kind;
        if ((wide && !adds(&s->ir->code[use->inst], d->vreg)) || (kind != K_LANE && kind != K_CVT) || use->n != 1 ||
            use->start || !accepts(s->ir, edit_inst(s->e, use->inst), d->vreg, from))
            return false;
    }
    return d->n != 0;
}

/* Returns true if the bytes are in a .const variable of the module. */
static bool in_variable(const struct image *image, uint64_t address, unsigned bytes) {
    for (uint32_t i = 0; i < image->n_variables; i++) {
        const struct image_variable *v = &image->variables[i];
        if (v->space == SPACE_CONST && !v->is_extern && address >= v->address && v->bytes >= bytes &&
            address - v->address <= v->bytes - bytes)
            return true;
    }
    return false;
}

/* Returns true if instruction `i` loads a parameter, or a word of a .const variable from an immediate address. */
static bool loads_word(const struct select *s, uint32_t i, struct special_init *word) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    if (in->kind != K_LOAD || in->n_list || in->hints & (HINT_DEQ | HINT_VOLATILE) || in->msize != in->rsize ||
        (in->rsize != 4 && in->rsize != 8) || (in->space != SPACE_PARAM && in->space != SPACE_CONST))
        return false;
    const opnd_t base = in->space == SPACE_PARAM ? in->a : select_constant_operand(s, i, in->a);
    if (!(base & 1))
        return false;
    const int64_t from = in->asize == 4 ? (uint32_t)select_constant(ir, base, 4) : select_constant(ir, base, 8);
    *word = (struct special_init){.bytes = in->rsize};
    if (in->space == SPACE_PARAM) {
        word->id = SPECIAL_PARAM;
        word->param = (uint32_t)in->imm;
        return !from && in->imm >= 0;
    }
    word->id = SPECIAL_CONST;
    word->address = (uint64_t)wrap_add(in->imm, (uint64_t)from);
    return !(word->address % in->rsize) && in_variable(ir->image, word->address, in->rsize) &&
           ir->n_specials < MOST_WORDS;
}

/* Makes the load of a word a copy from constant memory. */
static bool copy_word(struct select *s, uint32_t i, const struct special_init *word) {
    const opnd_t from = select_word_register(s->ir, *word) << 1;
    select_become(s, i, isa_find_row(OP_MOV, word->bytes == 8 ? T_B64 : T_B32, T_NONE, 0),
                  (const opnd_t[]){from, OPND_ZERO, OPND_ZERO, OPND_ZERO});
    return true;
}

static bool fold_word(struct select *s, uint32_t i) {
    struct special_init word;
    return select_has_constants(s->ir) && loads_word(s, i, &word) && copy_word(s, i, &word);
}

bool select_fetch(struct select *s, uint32_t i) {
    struct special_init word;
    const struct ir *ir = s->ir;
    const struct reg_def *d = !select_has_constants(ir) && has_uniform_datapath(ir) && loads_word(s, i, &word)
                                  ? select_only_result(s, i)
                                  : NULL;
    return d && all_accept(s, d, select_word_register(s->ir, word) << 1) && copy_word(s, i, &word);
}

bool select_fold(struct select *s, uint32_t i) {
    return fold_word(s, i) || fold_copy(s, i) || fold_half(s, i) || fold_extension(s, i) || fold_offset(s, i) ||
           fold_negation(s, i) || fold_dead(s, i) || fold_result_of_atomic(s, i);
}
