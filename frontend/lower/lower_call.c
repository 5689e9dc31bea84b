/* Lowers calls: of functions in the module, through pointers, and of the few functions that the simulator provides.
 * isa/machine/call.h describes the call instruction. */
#include "isa/machine/call.h"
#include "lower.h"
#include <string.h>

/* The parts of a call statement. */
struct call_site {
    const struct operand *results, *callee, *inputs, *proto; /* first element of each list; NULL for none */
    const struct function *signature;
    const struct symbol *function; /* the called function; NULL for a call through a pointer */
    opnd_t pointer;
    unsigned pointer_bytes;
};

static bool split_operands(struct lower *l, struct call_site *c) {
    const struct operand *o = l->st->insn.operands;
    if (o && o->kind == OPD_PARENS) {
        c->results = o->sub;
        o = o->next;
    }
    if (!o || o->kind != OPD_NAME) {
        diag_error(l->d, o ? o->loc : l->st->insn.opcode_loc, "'%s' takes the name of a function or a register",
                   opcode_text(l));
        return false;
    }
    c->callee = o;
    o = o->next;
    if (o && o->kind == OPD_PARENS) {
        c->inputs = o->sub;
        o = o->next;
    }
    if (o && o->kind == OPD_NAME) {
        c->proto = o;
        o = o->next;
    }
    if (o)
        diag_error(l->d, o->loc, "'%s' takes no further operand here", opcode_text(l));
    return !o;
}

/* Adds the functions whose addresses are stored in variables: any call through a pointer may call them. */
static void add_stored_functions(struct lower *l) {
    if (l->any_indirect)
        return;
    l->any_indirect = true;
    for (uint32_t i = 0; i < l->img->n_relocs; i++)
        if (l->img->relocs[i].symbol == UINT32_MAX) {
            uint32_t f = require_function(l, l->img->relocs[i].function_id);
            if (f != UINT32_MAX)
                l->ir->functions[f].address_taken = true;
        }
}

static bool same_formals(struct lower *l, const struct function *a, const struct function *b);

/* Adds one possible callee. All callees must have the signature of the first one. */
static bool add_target(struct lower *l, const struct operand *o, struct call_site *c) {
    const struct symbol *f = find_symbol(l, o, 1u << SYM_FUNCTION, "function");
    uint32_t index = f ? require_function(l, f->index) : UINT32_MAX;
    if (!f)
        return false;
    if (index == UINT32_MAX || f->function->is_entry) {
        diag_error(l->d, o->loc, "'%s' %s", f->word->text,
                   f->function->is_entry ? "is a kernel; kernels cannot be called" : "has no body");
        return false;
    }
    l->ir->functions[index].address_taken = true;
    if (!c->signature)
        c->signature = f->function;
    if (same_formals(l, c->signature, f->function))
        return true;
    diag_error(l->d, o->loc, "the same call may reach '%s' and '%s', but their arguments or results differ",
               f->word->text, c->signature->name->text);
    return false;
}

static bool find_targets(struct lower *l, const struct symbol *s, struct call_site *c) {
    for (const struct operand *o = s->statement->proto.names; o; o = o->next)
        if (!add_target(l, o, c))
            return false;
    return c->signature != NULL;
}

/* Adds the functions named in an initialiser. Recursion depth is the brace nesting, which the parser limits. */
static bool add_table(struct lower *l, const struct init *i, struct call_site *c) {
    for (; i; i = i->next) {
        if (i->kind == INIT_LIST) {
            if (!add_table(l, i->list, c))
                return false;
            continue;
        }
        if (!i->value || i->value->kind != OPD_NAME) {
            diag_error(l->d, i->loc, "a table of functions may contain only names of functions");
            return false;
        }
        if (!add_target(l, i->value, c))
            return false;
    }
    return true;
}

/* Handles call (r), %f, (a), table, where table is an initialised array of functions (PTX ISA, call). */
static bool find_table(struct lower *l, const struct symbol *s, struct call_site *c) {
    const struct init *i = s->home == HOME_DEVICE && s->variable->is_array ? s->variable->init : NULL;
    if (i && i->kind == INIT_LIST && i->list)
        return add_table(l, i->list, c) && c->signature;
    diag_error(l->d, c->proto->loc, "'%s' is not an array of functions", s->word->text);
    diag_help(l->d, "a table of functions is declared like '.global .u64 %s[] = {f, g};'", s->word->text);
    return false;
}

static bool find_callee(struct lower *l, struct call_site *c) {
    const struct symbol *s = find_symbol(l, c->callee, 1u << SYM_FUNCTION | 1u << SYM_REG, "function");
    if (!s)
        return false;
    if (s->kind == SYM_FUNCTION) {
        c->function = s;
        c->signature = s->function;
        if (s->function->is_entry)
            diag_error(l->d, c->callee->loc, "'%s' is a kernel; kernels cannot be called", s->word->text);
        return !s->function->is_entry;
    }
    if (type_class(s->type) == 'f' || (type_bytes(s->type) != 8 && type_bytes(s->type) != 4)) {
        diag_error(l->d, c->callee->loc, "'%s' is a %s register; a function's address takes 32 or 64 bits",
                   s->word->text, type_name(s->type));
        return false;
    }
    c->pointer = s->index << 1;
    c->pointer_bytes = type_bytes(s->type);
    if (!c->proto) {
        diag_error(
            l->d, c->callee->loc,
            "a call through a register needs a .callprototype, .calltargets or table of functions as its last operand");
        return false;
    }
    add_stored_functions(l);
    const struct symbol *p =
        find_symbol(l, c->proto, 1u << SYM_PROTOTYPE | 1u << SYM_TARGETS | 1u << SYM_VARIABLE, "call prototype");
    if (!p)
        return false;
    if (p->kind == SYM_TARGETS)
        return find_targets(l, p, c);
    if (p->kind == SYM_VARIABLE)
        return find_table(l, p, c);
    c->signature = p->function;
    return true;
}

enum { MAX_PARTS = 8 };

/* The transfer of one argument or result: byte offsets in the caller's and callee's frames, and its size. */
struct argument {
    uint64_t caller, callee, bytes;
    /* for a result: the registers that receive its parts, or OPND_SINK where no register receives a part */
    opnd_t reg[MAX_PARTS];
};

/* Emits a store of one register or constant to byte offset `at` in the caller's frame. */
static void store_argument(struct lower *l, const struct operand *o, enum type t, uint64_t at, unsigned bytes) {
    opnd_t value = source(l, o, t);
    if (t == T_PRED) { /* a predicate is passed as a number */
        opnd_t number = temp_reg(l, RC_32) << 1;
        struct inst *in = emit_op(l, OP_SELP, T_B32, T_NONE, 0);
        in->d = number;
        in->a = ir_constant(l->ir, RC_32, 1, 0);
        in->c = value;
        emit_done(l);
        value = number;
    }
    emit_frame_store(l, at, bytes, value);
}

/* Sets the location of an argument in the caller's frame: a .param variable, or a hidden one for registers and
 * constants. */
static bool locate_argument(struct lower *l, const struct operand *o, const struct variable *formal, bool is_result,
                            struct argument *a) {
    enum type t = formal_type(formal);
    struct operand parts[MAX_PARTS] = {*o};
    unsigned n = formal_parts(formal), bytes = (unsigned)a->bytes / n;
    for (int i = 0; i < MAX_PARTS; i++)
        a->reg[i] = OPND_SINK;
    const struct symbol *s = o->kind == OPD_NAME ? names_find(&l->names, o->name) : NULL;
    if (s && s->kind == SYM_VARIABLE && s->home == HOME_FRAME && s->space == SPACE_PARAM) {
        if (s->bytes != a->bytes) {
            diag_error(l->d, o->loc, "'%s' has %llu bytes, but '%s' has %llu", s->word->text,
                       (unsigned long long)s->bytes, formal->name ? formal->name->text : "the parameter",
                       (unsigned long long)a->bytes);
            diag_note(l->d, formal->loc, "it is declared here");
            return false;
        }
        a->caller = s->offset;
        return true;
    }
    if (formal->is_array) {
        bad_operand(l, o, "a .param variable here");
        return false;
    }
    if (n > 1 && elements(l, o, parts, MAX_PARTS) != (int)n) {
        bad_operand(l, o, n == 2 ? "a vector register of 2 elements" : "a vector register of 4 elements");
        return false;
    }
    a->caller = allocate_in_frame(l, a->bytes, a->bytes, o->loc);
    for (unsigned i = 0; i < n; i++)
        if (is_result)
            a->reg[i] = dest(l, &parts[i], t);
        else
            store_argument(l, &parts[i], t, a->caller + i * bytes, bytes);
    return true;
}

static int count_operands(const struct operand *o) {
    int n = 0;
    for (; o; o = o->next)
        n++;
    return n;
}

static int count_formals(const struct variable *v) {
    int n = 0;
    for (; v; v = v->next)
        n++;
    return n;
}

static bool check_counts(struct lower *l, const struct call_site *c) {
    int inputs = count_operands(c->inputs), results = count_operands(c->results);
    int want_inputs = count_formals(c->signature->params), want_results = count_formals(c->signature->results);
    const char *name = c->callee->name->text;
    if (inputs != want_inputs)
        diag_error(l->d, c->callee->loc, "'%s' takes %d argument%s, this call has %d", name, want_inputs,
                   want_inputs == 1 ? "" : "s", inputs);
    else if (results != want_results)
        diag_error(l->d, c->callee->loc, "'%s' has %d result%s, this call takes %d", name, want_results,
                   want_results == 1 ? "" : "s", results);
    else
        return true;
    if (c->function)
        diag_note(l->d, c->signature->name_loc, "'%s' is declared here", name);
    return false;
}

/* Fills one struct argument for each input, then one for each result. */
static bool locate_arguments(struct lower *l, const struct call_site *c, struct argument *args) {
    struct formals f;
    if (!formal_layout(l, c->signature, &f))
        return false;
    bool good = true;
    const struct operand *o = c->inputs;
    int i = 0;
    for (const struct variable *v = c->signature->params; v; v = v->next, o = o->next, i++) {
        args[i] = (struct argument){.callee = f.offset[i], .bytes = f.bytes[i]};
        good &= locate_argument(l, o, v, false, &args[i]);
    }
    o = c->results;
    for (const struct variable *v = c->signature->results; v; v = v->next, o = o->next, i++) {
        args[i] = (struct argument){.callee = f.offset[i], .bytes = f.bytes[i]};
        good &= locate_argument(l, o, v, true, &args[i]);
    }
    return good;
}

static void note_call(struct lower *l, const struct call_site *c, uint32_t callee, uint32_t inst) {
    struct ir *ir = l->ir;
    if (callee != CALL_INDIRECT) {
        ir->calls = IR_ROOM(ir, ir->calls, ir->n_calls, ir->cap_calls);
        ir->calls[ir->n_calls++] = (struct ir_call){.caller = l->fn, .callee = callee, .inst = inst};
        return;
    }
    if (l->n_indirect == l->cap_indirect)
        l->indirect = ir_grow(ir->tmp, l->indirect, l->n_indirect, &l->cap_indirect, sizeof *l->indirect);
    l->indirect[l->n_indirect].caller = l->fn;
    l->indirect[l->n_indirect].inst = inst;
    l->indirect[l->n_indirect].proto = c->signature;
    l->indirect[l->n_indirect++].loc = l->st->loc;
}

static void load_result(struct lower *l, enum type t, opnd_t reg, uint64_t at, unsigned bytes) {
    if (reg == OPND_SINK)
        return;
    if (t != T_PRED) {
        emit_frame_load(l, reg, bytes, at);
        return;
    }
    opnd_t number = temp_reg(l, RC_32) << 1;
    emit_frame_load(l, number, 4, at);
    struct inst *in = emit_op(l, OP_SETP, T_B32, T_NONE, form_put(CAT_CMP, CMP_NE));
    in->d = reg;
    in->a = number;
    emit_done(l);
}

static void load_results(struct lower *l, const struct call_site *c, const struct argument *args, int from, int n) {
    const struct variable *v = c->signature->results;
    for (int i = from; i < n; i++, v = v->next) {
        unsigned parts = formal_parts(v), bytes = (unsigned)args[i].bytes / parts;
        for (unsigned k = 0; k < parts; k++)
            load_result(l, formal_type(v), args[i].reg[k], args[i].caller + k * bytes, bytes);
    }
}

static void emit_call(struct lower *l, const struct call_site *c, uint32_t callee, const struct argument *args,
                      int inputs, int results) {
    struct ir *ir = l->ir;
    uint32_t first = ir->n_lists;
    ir_list_add(ir, callee);
    ir_list_add(ir, (uint64_t)inputs);
    ir_list_add(ir, (uint64_t)results);
    for (int i = 0; i < inputs + results; i++) {
        ir_list_add(ir, args[i].caller);
        ir_list_add(ir, args[i].callee);
        ir_list_add(ir, args[i].bytes);
    }
    struct inst *in = emit(l, l->dec->row);
    in->list = first;
    in->target = callee;
    in->hints = l->dec->hints;
    if (callee == CALL_INDIRECT) {
        in->a = c->pointer;
        in->asize = (uint8_t)c->pointer_bytes;
    }
    note_call(l, c, callee, ir->n - 1);
    emit_done(l);
    load_results(l, c, args, inputs, inputs + results);
}

/* Functions that CUDA's libraries expect from the system. */
static const struct {
    const char *name;
    enum op_id op;
    uint8_t result, inputs[4]; /* enum type */
    uint8_t n_inputs;          /* number of inputs that are used; the others are ignored */
} provided[] = {
    {"vprintf", OP_VPRINTF, T_B32, {T_B64, T_B64}, 2},
    {"malloc", OP_MALLOC, T_B64, {T_B64}, 1},
    {"free", OP_FREE, T_NONE, {T_B64}, 1},
    {"__assertfail", OP_ASSERTFAIL, T_NONE, {T_B64, T_B64, T_B32, T_B64}, 4},
};

static bool call_provided(struct lower *l, const struct call_site *c, const struct argument *args, int inputs,
                          int results) {
    const char *name = c->function->word->text;
    size_t k = 0, n = sizeof provided / sizeof *provided;
    while (k < n && strcmp(provided[k].name, name) != 0)
        k++;
    if (k == n)
        return false;
    if (inputs < provided[k].n_inputs || results > 1) {
        diag_error(l->d, c->callee->loc, "'%s' takes %d arguments, this call has %d", name, provided[k].n_inputs,
                   inputs);
        return true;
    }
    opnd_t from[4] = {OPND_ZERO, OPND_ZERO, OPND_ZERO, OPND_ZERO}, d = OPND_SINK;
    for (int i = 0; i < provided[k].n_inputs; i++) {
        unsigned bytes = type_bytes(provided[k].inputs[i]), have = (unsigned)args[i].bytes;
        from[i] = temp_reg(l, class_of_bytes(have)) << 1;
        emit_frame_load(l, from[i], have, args[i].caller);
        if (have != bytes) {
            opnd_t wide = temp_reg(l, class_of_bytes(bytes)) << 1;
            emit_resize(l, wide, bytes, from[i], have, false);
            from[i] = wide;
        }
    }
    if (provided[k].result != T_NONE)
        d = temp_reg(l, class_of_bytes(type_bytes(provided[k].result))) << 1;
    struct inst *in = emit_op(l, provided[k].op, T_NONE, T_NONE, 0);
    in->d = d;
    in->dsize = (uint8_t)type_bytes(provided[k].result);
    in->a = from[0];
    in->b = from[1];
    in->c = from[2];
    in->e = from[3];
    emit_done(l);
    if (results && d != OPND_SINK)
        emit_frame_store(l, args[inputs].caller, in->dsize, d);
    load_results(l, c, args, inputs, inputs + results);
    return true;
}

/* Returns true for a function of CUDA's device runtime, by which kernels launch kernels. The host's loader adds the
 * body of each function that Heddle has (host/load/device_runtime.c). */
static bool is_device_runtime(const char *name) {
    return strncmp(name, "__cuda_syscall_cnp", 18) == 0 || strncmp(name, "cuda", 4) == 0 ||
           strncmp(name, "__cudaCDP2", 10) == 0 || strncmp(name, "cnp", 3) == 0;
}

static void report_missing_function(struct lower *l, const struct call_site *c) {
    const char *name = c->function->word->text;
    diag_error(l->d, c->callee->loc, "function '%s' has no body in this module", name);
    if (is_device_runtime(name))
        diag_note(l->d, c->callee->loc,
                  "of the runtime for kernels that launch kernels, Heddle has launches, streams, events, GetDevice, "
                  "GetDeviceCount and GetLastError; call other functions from the host");
    else
        diag_note(l->d, c->function->loc, "'%s' is declared here", name);
}

void lower_call(struct lower *l) {
    struct call_site c = {0};
    if (!split_operands(l, &c) || !find_callee(l, &c) || !check_counts(l, &c))
        return;
    int inputs = count_operands(c.inputs), results = count_operands(c.results);
    struct argument *args = arena_array(l->ir->tmp, (size_t)inputs + (size_t)results + 1, sizeof *args);
    if (!locate_arguments(l, &c, args))
        return;
    if (!c.function) {
        emit_call(l, &c, CALL_INDIRECT, args, inputs, results);
        return;
    }
    uint32_t callee = require_function(l, c.function->index);
    if (callee != UINT32_MAX)
        emit_call(l, &c, callee, args, inputs, results);
    else if (!call_provided(l, &c, args, inputs, results))
        report_missing_function(l, &c);
}

static bool same_formals(struct lower *l, const struct function *a, const struct function *b) {
    struct formals fa, fb;
    if (count_formals(a->params) != count_formals(b->params) ||
        count_formals(a->results) != count_formals(b->results) || !formal_layout(l, a, &fa) ||
        !formal_layout(l, b, &fb))
        return false;
    for (uint32_t i = 0; i < fa.n; i++)
        if (fa.bytes[i] != fb.bytes[i])
            return false;
    return true;
}

void resolve_indirect_calls(struct lower *l) {
    struct ir *ir = l->ir;
    for (uint32_t i = 0; i < l->n_indirect; i++) {
        if (count_formals(l->indirect[i].proto->params) + count_formals(l->indirect[i].proto->results) > 16) {
            diag_error(l->d, l->indirect[i].loc, "a call through a pointer has at most 16 arguments and results");
            continue;
        }
        for (uint32_t f = 1; f < ir->n_functions; f++) {
            if (!ir->functions[f].address_taken || !same_formals(l, l->indirect[i].proto, ir->functions[f].tree))
                continue;
            ir->calls = IR_ROOM(ir, ir->calls, ir->n_calls, ir->cap_calls);
            ir->calls[ir->n_calls++] =
                (struct ir_call){.caller = l->indirect[i].caller, .callee = f, .inst = l->indirect[i].inst};
        }
    }
}
