/* Finds instructions for the uniform datapath of the modern core (core.kind=modern): integer instructions whose
 * result is the same in all lanes. The datapath computes them once for the warp, in uniform registers, which need
 * no ports of the register banks. Requires: blocks, `select`. Keeps: results and control flow. Makes: vregs[].uniform.
 *
 * A value that follows from parameters and the index of the CTA alone is uniform in divergent code, too.
 *
 * The machine limits the choice. A uniform instruction reads uniform registers, one immediate, or the index of the CTA.
 * It has no operand in constant memory: the pass adds a fetch of the word (ULDC) to each block that needs it. Any other
 * instruction can have one operand that is a uniform register, in place of an operand in constant memory; a store
 * cannot store one. A value is uniform if all its uses can read a uniform register, so no value is copied to a vector
 * register. Source: ptxas 13 for sm_75, sm_80, sm_86 and sm_90, in 330 kernels with one such value and one use.
 *
 * Values of 64 bits are parameters, extensions, sums and shifts. Only sums read them and, with core.uniform_addresses,
 * accesses to global memory. */
#include "frontend/analysis/affine.h"
#include "pass.h"
#include "select.h"

enum { MOST_UNIFORM = 63 };

struct copied {
    uint32_t word, block;
};

struct uniform {
    struct ir *ir;
    struct affine a;
    uint32_t *writers; /* register -> number of its definitions */
    /* register -> true if its only definition computes with parameters, the index of the CTA and constants alone */
    bool *fixed;
    struct copied *copied; /* words that a block copies to vector registers */
    uint32_t n_copied;
    /* register -> true if it is the extension of a word, which a vector instruction reads in one step */
    bool *extended;
    bool *from_word;  /* register -> true if the datapath fetches a word for its value */
    const char **why; /* register -> why it is no uniform register; NULL: it is one, or no instruction writes it */
};

static bool is_uniform(const struct uniform *u, opnd_t o) {
    return !(o & 1) && o >> 1 != SINK_VREG && u->ir->vregs[o >> 1].uniform;
}

static bool is_cta_index(const struct ir *ir, uint32_t v) {
    for (uint32_t i = 0; i < ir->n_specials; i++)
        if (ir->specials[i].offset == v)
            return ir->specials[i].id >= SPECIAL_CTAID_X && ir->specials[i].id <= SPECIAL_CTAID_Z;
    return false;
}

/* Returns true if the datapath can copy the special register: the index of the CTA, or a parameter that no other
 * instruction of the machine can read where it is needed. */
static bool is_source(const struct ir *ir, opnd_t o) {
    const bool wide = !(o & 1) && ir->vregs[o >> 1].cls == RC_64;
    return is_cta_index(ir, o >> 1) ||
           (select_is_parameter(ir, o) && (!select_has_constants(ir) || (wide && has_uniform_addresses(ir))));
}

/* Returns true if the operand is a word of 32 or 64 bits that the datapath must fetch. */
static bool is_word(const struct ir *ir, opnd_t o) { return select_has_constants(ir) && select_is_parameter(ir, o); }

/* Returns true if the uniform datapath has the operation. */
static bool has_operation(const struct isa_row *row) {
    switch (row->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_ADD3:
    case OP_ADD_SUB:
    case OP_SUB_SUB:
    case OP_NEG:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_LOP3:
    case OP_SHL:
    case OP_SHR:
    case OP_MOV:
    case OP_MIN:
    case OP_MAX:
    case OP_SELP:
    case OP_POPC:
    case OP_CVT:
        return !row->form;
    case OP_SETP:
        return true;
    case OP_MUL:
        return row->form == form_put(CAT_PART, PART_LO) || row->form == form_put(CAT_PART, PART_HI);
    case OP_MAD:
        return row->form == form_put(CAT_PART, PART_LO);
    default:
        return false;
    }
}

/* Returns true if the instruction extends an integer of 32 bits to 64. */
static bool extends(const struct isa_row *row) {
    return row->op == OP_CVT && !row->form && type_class(row->a) != 'f' && type_bytes(row->a) == 4 &&
           type_class(row->d) != 'f' && type_bytes(row->d) == 8;
}

/* Returns true if the datapath has the instruction for operands of this width. */
static bool has_types(const struct isa_row *row) {
    const unsigned bytes = type_bytes(row->op == OP_SETP ? row->a : row->d);
    return ((bytes == 4 || (bytes == 8 && (row->op == OP_MOV || row->op == OP_SHL || select_is_sum(row, 8)))) &&
            type_class(row->a) != 'f' && type_bytes(row->a) == bytes) ||
           extends(row);
}

static opnd_t fourth_source(const struct inst *in) { return select_row(in)->op == OP_LOP3 ? OPND_ZERO : in->e; }

/* Returns true if the instruction loads a parameter that the datapath can fetch. */
static bool is_load(const struct ir *ir, const struct inst *in) {
    return in->kind == K_LOAD && in->space == SPACE_PARAM && !in->n_list && in->guard == NO_GUARD &&
           !(in->hints & (HINT_DEQ | HINT_VOLATILE)) && in->msize == in->rsize && (in->rsize == 4 || in->rsize == 8) &&
           in->a & 1 && !select_constant(ir, in->a, in->asize) && in->imm >= 0 && in->d != OPND_SINK;
}

/* Returns true if the datapath can execute the instruction wherever its sources are. */
static bool has_instruction(const struct ir *ir, const struct inst *in) {
    if (is_load(ir, in))
        return true;
    return in->kind == K_LANE && in->guard == NO_GUARD && !(in->hints & HINT_DEQ) && in->d2 == OPND_SINK &&
           has_operation(select_row(in)) && has_types(select_row(in));
}

static bool is_word_copy(const struct ir *ir, const struct inst *in) {
    return in->kind == K_LANE && select_row(in)->op == OP_MOV && is_word(ir, in->a);
}

/* Returns true if the block of instruction i copies the word to a vector register, so that i can read it there. */
static bool is_copied(const struct uniform *u, uint32_t i, opnd_t word) {
    for (uint32_t k = 0; k < u->n_copied; k++)
        if (u->copied[k].word == word >> 1 && u->copied[k].block == u->ir->info[i].block)
            return true;
    return false;
}

/* Returns true for a product by a power of two, and a sum. */
static bool is_shift_and_sum(const struct ir *ir, const struct inst *in) {
    const uint32_t factor = in->b & 1 ? (uint32_t)select_constant(ir, in->b, 4) : 0;
    return select_row(in)->op == OP_MAD && factor && !(factor & (factor - 1));
}

/* Returns why the uniform datapath cannot execute the instruction; NULL: it can. */
static const char *obstacle(const struct uniform *u, uint32_t i) {
    const struct ir *ir = u->ir;
    const struct inst *in = &ir->code[i];
    const struct isa_row *row = select_row(in);
    const opnd_t read[] = {in->a, in->b, in->c, fourth_source(in)};
    unsigned constants = 0;
    if (!has_instruction(ir, in))
        return "the uniform datapath lacks the operation";
    if (u->a.def_class[u->a.defuse.inst_defs[i]] != CLASS_SCALAR && !u->fixed[in->d >> 1])
        return "its value or execution depends on the lane";
    if (in->kind == K_LOAD)
        return NULL;
    for (int k = 0; k < 4; k++) {
        const bool special = !(read[k] & 1) && ir->vregs[read[k] >> 1].special;
        constants += read[k] & 1 && read[k] != OPND_ZERO;
        if (special && is_word(ir, read[k]) && row->op != OP_MOV && is_copied(u, i, read[k]))
            return "an instruction of the block needs the parameter in a vector register";
        if (special ? !is_word(ir, read[k]) && (row->op != OP_MOV || !is_source(ir, read[k]))
                    : !(read[k] & 1) && read[k] >> 1 != SINK_VREG && !is_uniform(u, read[k]))
            return "an operand is in no uniform register";
    }
    if (is_shift_and_sum(ir, in)) /* ULEA */
        return constants > 2 ? "an operand cannot be immediate" : NULL;
    if (constants > 1 || (row->op == OP_MAD && in->c & 1) || (row->op != OP_MOV && in->a & 1 && row->op != OP_MUL))
        return "an operand cannot be immediate";
    return NULL;
}

/* Returns true if the instruction, which does not run on the uniform datapath, can read uniform register v. */
static bool accepts(const struct uniform *u, uint32_t i, uint32_t v) {
    const struct ir *ir = u->ir;
    const struct inst *in = &ir->code[i];
    const struct isa_row *row = select_row(in);
    const opnd_t read[] = {in->a, in->b, in->c, fourth_source(in)};
    unsigned places = 0;
    if (ir->vregs[v].cls == RC_PRED || u->extended[v] || (extends(row) && type_class(row->a) == 's'))
        return false; /* the extension of a sign is a shift by an immediate */
    if (in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM)
        return in->a == v << 1 && in->b != v << 1 && in->c != v << 1 && in->e != v << 1 &&
               (in->asize == 4 ? !u->from_word[v] : in->space == SPACE_GLOBAL && has_uniform_addresses(ir));
    if ((in->kind != K_LANE && in->kind != K_CVT) || in->hints & HINT_DEQ ||
        (select_expansion(ir, in) && !select_is_sum(row, 8) && row->op != OP_ADD3) ||
        (ir->vregs[v].cls == RC_64 && !select_is_sum(row, 8) && row->op != OP_ADD3) ||
        ((row->op == OP_SHL || row->op == OP_SHR) && in->a == v << 1))
        return false;
    for (int k = 0; k < 4; k++)
        places += (is_uniform(u, read[k]) && !u->extended[read[k] >> 1]) || select_outside(ir, read[k]);
    return places == 1;
}

static const char *use_needs(const struct uniform *u, const struct reg_def *d) {
    const struct defuse *du = &u->a.defuse;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &du->uses[du->def_uses[k]];
        const struct inst *in = &u->ir->code[use->inst];
        if (use->start)
            return "it may be read before it is written";
        if (!is_uniform(u, in->d) && !accepts(u, use->inst, d->vreg))
            return "an instruction needs it in a vector register";
    }
    return NULL;
}

/* Finds the registers whose value no lane and no path changes: begins with all registers that have one definition, and
 * drops registers. Returns false if there was none to drop. */
static bool drop_unfixed(struct uniform *u) {
    const struct ir *ir = u->ir;
    bool dropped = false;
    for (uint32_t i = 0; i < ir->functions[0].end; i++) {
        const struct inst *in = &ir->code[i];
        const opnd_t read[] = {in->a, in->b, in->c, fourth_source(in)};
        const uint32_t v = in->d >> 1;
        if (!u->fixed[v])
            continue;
        for (int k = 0; k < 4 && has_instruction(ir, in); k++)
            u->fixed[v] &= read[k] & 1 || read[k] == OPND_SINK || u->fixed[read[k] >> 1] ||
                           select_is_parameter(ir, read[k]) || is_cta_index(ir, read[k] >> 1);
        u->fixed[v] &= has_instruction(ir, in);
        dropped |= !u->fixed[v];
    }
    return dropped;
}

static void find_extended(struct uniform *u) {
    for (uint32_t i = 0; i < u->ir->functions[0].end; i++)
        if (u->ir->code[i].kind == K_LANE && extends(select_row(&u->ir->code[i])))
            u->extended[u->ir->code[i].d >> 1] = true;
}

static void find_fixed(struct uniform *u) {
    const struct defuse *du = &u->a.defuse;
    const uint32_t end = du->inst_defs[u->ir->functions[0].end];
    for (uint32_t k = 0; k < end; k++)
        u->fixed[du->defs[k].vreg] = u->writers[du->defs[k].vreg] == 1;
    while (drop_unfixed(u))
        ;
}

/* Finds the registers for whose values the datapath fetches words. */
static void find_words(struct uniform *u) {
    const struct ir *ir = u->ir;
    for (bool changed = select_has_constants(ir); changed;) {
        changed = false;
        for (uint32_t i = 0; i < ir->functions[0].end; i++) {
            const struct inst *in = &ir->code[i];
            const opnd_t read[] = {in->a, in->b, in->c, fourth_source(in)};
            bool from = false;
            for (int k = 0; k < 4; k++)
                from |= !(read[k] & 1) && (is_word(ir, read[k]) || u->from_word[read[k] >> 1]);
            if (from && has_instruction(ir, in) && !u->from_word[in->d >> 1])
                changed = u->from_word[in->d >> 1] = true;
        }
    }
}

/* The definitions that choose() must check again: one bit for each. */
struct open_defs {
    uint64_t *word;
    uint32_t n;
    uint32_t *first, *next; /* lists of the definitions of each register; n: end of the list */
};

static void open_def(struct open_defs *o, uint32_t k) { o->word[k / 64] |= 1ull << k % 64; }

/* Takes the first definition from number `from` on. Returns o->n if there is none. */
static uint32_t take_def(struct open_defs *o, uint32_t from) {
    for (uint32_t k = from; k < o->n; k = (k / 64 + 1) * 64) {
        const uint64_t rest = o->word[k / 64] >> k % 64;
        if (!rest)
            continue;
        k += (uint32_t)__builtin_ctzll(rest);
        o->word[k / 64] &= ~(1ull << k % 64);
        return k;
    }
    return o->n;
}

static struct open_defs open_all(const struct uniform *u, uint32_t n) {
    struct arena *tmp = u->ir->tmp;
    struct open_defs o = {.word = arena_array(tmp, n / 64 + 1, sizeof *o.word),
                          .n = n,
                          .first = arena_array(tmp, (size_t)u->ir->n_vregs + 1, sizeof *o.first),
                          .next = arena_array(tmp, (size_t)n + 1, sizeof *o.next)};
    for (uint32_t v = 0; v < u->ir->n_vregs; v++)
        o.first[v] = n;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t v = u->a.defuse.defs[k].vreg;
        o.next[k] = o.first[v];
        o.first[v] = k;
        open_def(&o, k);
    }
    return o;
}

/* Register v is no uniform register any more: opens the definitions that it depends on or that depend on it. */
static void open_neighbours(const struct uniform *u, struct open_defs *o, uint32_t v) {
    const struct defuse *du = &u->a.defuse;
    for (uint32_t k = o->first[v]; k < o->n; k = o->next[k]) {
        const struct reg_def *d = &du->defs[k];
        for (uint32_t r = du->inst_uses[d->inst]; r < du->inst_uses[d->inst + 1]; r++)
            for (uint32_t j = 0; j < du->uses[r].n; j++)
                open_def(o, du->use_defs[du->uses[r].first + j]);
        for (uint32_t j = d->first; j < d->first + d->n; j++) {
            const uint32_t user = du->uses[du->def_uses[j]].inst;
            for (uint32_t r = du->inst_defs[user]; r < du->inst_defs[user + 1]; r++)
                open_def(o, r);
        }
    }
}

/* Opens the definitions of the block of instruction i. */
static void open_block(const struct uniform *u, struct open_defs *o, uint32_t i) {
    const struct ir *ir = u->ir;
    uint32_t first = i, end = i + 1;
    while (first && ir->info[first - 1].block == ir->info[i].block)
        first--;
    while (end < ir->functions[0].end && ir->info[end].block == ir->info[i].block)
        end++;
    for (uint32_t k = u->a.defuse.inst_defs[first]; k < u->a.defuse.inst_defs[end]; k++)
        open_def(o, k);
}

/* Drops the register of definition k if an instruction prevents a uniform register. */
static void check_definition(struct uniform *u, struct open_defs *open, uint32_t k) {
    struct ir *ir = u->ir;
    const struct reg_def *d = &u->a.defuse.defs[k];
    if (!ir->vregs[d->vreg].uniform)
        return;
    const char *why = obstacle(u, d->inst);
    why = why ? why : use_needs(u, d);
    u->why[d->vreg] = why;
    if (!why)
        return;
    ir->vregs[d->vreg].uniform = false;
    open_neighbours(u, open, d->vreg);
    if (is_word_copy(ir, &ir->code[d->inst])) {
        u->copied[u->n_copied++] = (struct copied){ir->code[d->inst].a >> 1, ir->info[d->inst].block};
        open_block(u, open, d->inst);
    }
}

/* Begins with all registers that the kernel writes, and drops registers until the rest fit together. */
static void choose(struct uniform *u) {
    const struct defuse *du = &u->a.defuse;
    struct open_defs open = open_all(u, du->inst_defs[u->ir->functions[0].end]);
    for (uint32_t k = 0; k < open.n; k++)
        u->ir->vregs[du->defs[k].vreg].uniform = has_instruction(u->ir, &u->ir->code[du->defs[k].inst]);
    for (bool found = true; found;) {
        found = false;
        for (uint32_t k = 0; (k = take_def(&open, k)) < open.n; k++) {
            check_definition(u, &open, k);
            found = true;
        }
    }
}

static void drop_all(struct uniform *u, const char *why) {
    for (uint32_t v = 1; v < u->ir->n_vregs; v++)
        if (u->ir->vregs[v].uniform) {
            u->ir->vregs[v].uniform = false;
            u->why[v] = why;
        }
}

static void note(const struct uniform *u) {
    for (uint32_t i = 0; i < u->ir->functions[0].end; i++) {
        const uint32_t first = u->a.defuse.inst_defs[i];
        const struct inst *in = &u->ir->code[i];
        if (first == u->a.defuse.inst_defs[i + 1] || in->kind != K_LANE)
            continue;
        const uint32_t v = u->a.defuse.defs[first].vreg;
        if (u->ir->vregs[v].uniform)
            ir_note(u->ir, i, "runs on the uniform datapath");
        else if (u->why[v] && u->a.def_class[first] == CLASS_SCALAR && has_operation(select_row(in)))
            ir_note(u->ir, i, "is the same in all lanes, but %s", u->why[v]);
    }
}

/* Adds the fetch of a word before instruction i, which reads the word, for this and later instructions of the block.
 * Returns the register. */
static uint32_t add_fetch(struct uniform *u, struct edit *e, uint32_t i, opnd_t word) {
    const enum reg_class cls = (enum reg_class)u->ir->vregs[word >> 1].cls;
    struct inst in = inst_of_row(isa_find_row(OP_MOV, cls == RC_64 ? T_B64 : T_B32, T_NONE, 0));
    const uint32_t v = ir_vreg(u->ir, cls, u->ir->info[i].function, NULL, 0);
    u->ir->vregs[v].written = u->ir->vregs[v].uniform = true;
    in.a = word;
    in.d = v << 1;
    edit_before(e, i, &in);
    ir_note(u->ir, i, "needs a word of constant memory, which the uniform datapath fetches");
    return v;
}

/* Returns a number that two words share if one instruction fetches both: parameters in the same 8 bytes. */
static uint64_t fetch_of(const struct ir *ir, uint32_t v) {
    for (uint32_t k = 0; k < ir->n_specials; k++)
        if (ir->specials[k].offset == v && ir->specials[k].id == SPECIAL_PARAM)
            return UINT64_MAX - ir->specials[k].param / 8;
    return v;
}

/* The fetches of a block: for each word that is fetched first, the register of the datapath. */
struct fetch {
    uint32_t word, vreg, block;
};

/* Replaces the word that instruction i reads by the register of the datapath that holds it. If the block has fetched
 * the other word of the same 8 bytes, the operand stays as it is. */
static void fetch_operand(struct uniform *u, struct edit *e, uint32_t i, opnd_t *o, struct fetch *last, uint32_t *n) {
    const uint32_t block = u->ir->info[i].block;
    for (uint32_t k = 0; k < *n; k++) {
        if (last[k].block != block || fetch_of(u->ir, last[k].word) != fetch_of(u->ir, *o >> 1))
            continue;
        if (last[k].word == *o >> 1)
            *o = last[k].vreg << 1;
        return;
    }
    const uint32_t word = *o >> 1;
    last[*n] = (struct fetch){word, add_fetch(u, e, i, *o), block};
    *o = last[(*n)++].vreg << 1;
}

/* Adds the fetches of all words that the instructions of the datapath read. */
static bool fetch_words(struct uniform *u) {
    struct ir *ir = u->ir;
    struct edit *e = edit_begin(ir);
    struct fetch *all = arena_array(ir->tmp, 3 * MOST_UNIFORM + ir->n + 1, sizeof *all);
    uint32_t n = 0;
    const uint32_t end = ir->functions[0].end;
    for (uint32_t i = 0; i < end; i++) {
        if (!is_uniform(u, ir->code[i].d))
            continue;
        if (is_word_copy(ir, &ir->code[i])) { /* fetches the word itself */
            if (u->writers[ir->code[i].d >> 1] == 1)
                all[n++] = (struct fetch){ir->code[i].a >> 1, ir->code[i].d >> 1, ir->info[i].block};
            continue;
        }
        opnd_t read[] = {ir->code[i].a, ir->code[i].b, ir->code[i].c};
        for (int k = 0; k < 3; k++)
            if (is_word(ir, read[k]))
                fetch_operand(u, e, i, &read[k], all, &n);
        struct inst *in = edit_inst(e, i);
        in->a = read[0], in->b = read[1], in->c = read[2];
    }
    return edit_end(e);
}

/* Makes a minimum or maximum two instructions, a comparison and a selection: the datapath has no other. */
static void split_minimum(struct uniform *u, struct edit *e, uint32_t i) {
    struct ir *ir = u->ir;
    const struct isa_row *row = select_row(&ir->code[i]);
    const uint16_t less = form_put(CAT_CMP, row->op == OP_MIN ? CMP_LT : CMP_GT);
    struct inst compare = inst_of_row(isa_find_row(OP_SETP, row->d, T_NONE, less));
    const uint32_t p = ir_vreg(ir, RC_PRED, ir->info[i].function, NULL, 0);
    ir->vregs[p].written = ir->vregs[p].uniform = true;
    compare.a = ir->code[i].a;
    compare.b = ir->code[i].b;
    compare.d = p << 1;
    edit_before(e, i, &compare);
    struct inst *in = edit_inst(e, i);
    inst_set_row(in, isa_find_row(OP_SELP, row->d, T_NONE, 0));
    in->c = p << 1;
}

/* Adds the instruction for the upper words of a sum or shift of 64 bits. Nothing uses its result. */
static void add_upper(struct uniform *u, struct edit *e, uint32_t i) {
    struct inst in = inst_of_row(isa_find_row(OP_MOV, T_B32, T_NONE, 0));
    const uint32_t v = ir_vreg(u->ir, RC_32, u->ir->info[i].function, NULL, 0);
    u->ir->vregs[v].written = u->ir->vregs[v].uniform = true;
    in.a = OPND_ZERO;
    in.d = v << 1;
    edit_before(e, i, &in);
}

/* Makes the load of a parameter a fetch by the datapath. */
static void fetch(struct uniform *u, struct edit *e, uint32_t i) {
    const struct inst *load = &u->ir->code[i];
    const struct special_init word = {.id = SPECIAL_PARAM, .bytes = load->rsize, .param = (uint32_t)load->imm};
    struct inst in = inst_of_row(isa_find_row(OP_MOV, word.bytes == 8 ? T_B64 : T_B32, T_NONE, 0));
    in.a = select_word_register(u->ir, word) << 1;
    in.d = load->d;
    *edit_inst(e, i) = in;
}

/* Makes loads of parameters fetches, and an instruction two where the datapath needs two. */
static bool split(struct uniform *u) {
    struct edit *e = edit_begin(u->ir);
    for (uint32_t i = 0, end = u->ir->functions[0].end; i < end; i++) {
        const enum op_id op = select_row(&u->ir->code[i])->op;
        if (u->ir->code[i].kind == K_LOAD && is_uniform(u, u->ir->code[i].d))
            fetch(u, e, i);
        else if (is_uniform(u, u->ir->code[i].d) && (op == OP_MIN || op == OP_MAX))
            split_minimum(u, e, i);
        else if (is_uniform(u, u->ir->code[i].d) && u->ir->code[i].dsize == 8 && (op == OP_ADD || op == OP_SHL))
            add_upper(u, e, i);
    }
    return edit_end(e);
}

bool pass_uniform(struct ir *ir) {
    struct uniform u = {.ir = ir, .a = find_uniform(ir->tmp, ir)};
    uint32_t n = 0;
    u.why = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.why);
    u.writers = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.writers);
    u.fixed = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.fixed);
    u.copied = arena_array(ir->tmp, (size_t)u.a.defuse.n_defs + 1, sizeof *u.copied);
    u.extended = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.extended);
    u.from_word = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.from_word);
    for (uint32_t k = 0; k < u.a.defuse.n_defs; k++)
        u.writers[u.a.defuse.defs[k].vreg]++;
    find_extended(&u);
    find_fixed(&u);
    find_words(&u);
    choose(&u);
    for (uint32_t i = 0; i < ir->functions[0].end; i++)
        n += is_uniform(&u, ir->code[i].d) &&
             (select_row(&ir->code[i])->op != OP_MOV || !select_is_parameter(ir, ir->code[i].a));
    if (n > MOST_UNIFORM)
        drop_all(&u, "there are too many uniform registers");
    note(&u);
    return split(&u) && fetch_words(&u);
}
