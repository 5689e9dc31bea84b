/* Lowers functions and statements, in order. Makes: instructions on virtual registers; targets are instruction
 * numbers. */
#include "isa/arith.h"
#include "isa/bulk.h"
#include "lower_matrix.h"
#include <string.h>

static void lower_statements(struct lower *l, const struct statement *st);

static void set_guard(struct lower *l) {
    const struct word *guard = l->st->insn.guard;
    l->guard = NO_GUARD;
    l->guard_not = l->st->insn.guard_not;
    if (!guard)
        return;
    struct operand o = {.kind = OPD_NAME, .loc = l->st->insn.guard_loc, .name = guard};
    const struct symbol *s = find_symbol(l, &o, 1u << SYM_REG, "predicate");
    if (s && s->type != T_PRED)
        diag_error(l->d, o.loc, "guard '%s' must be a predicate, but is a %s register", guard->text,
                   type_name(s->type));
    else if (s)
        l->guard = s->index;
}

static void report_opcode(struct lower *l) {
    const struct word *opcode = l->st->insn.opcode;
    struct decoded out;
    struct decode_error why = {.message = ""};
    if (isa_decode(opcode->text, opcode->len, &out, &why))
        return;
    struct loc loc = l->st->insn.opcode_loc;
    /* Error offsets refer to the opcode's text without white space. They are valid in the source, too, if the opcode
     * has the same length there. */
    if (loc.end - loc.begin == opcode->len && why.end <= opcode->len && why.begin < why.end) {
        loc.end = loc.begin + why.end;
        loc.begin += why.begin;
    }
    diag_error(l->d, loc, "%s", why.message);
    const struct module *m = l->module;
    if (why.help[0])
        diag_help(l->d, "%s", why.help);
    else if (10 * m->version_major + m->version_minor > NEWEST_VERSION)
        diag_help(l->d, "the text is PTX %d.%d, and Heddle knows PTX up to %d.%d: compile with an older CUDA",
                  m->version_major, m->version_minor, NEWEST_VERSION / 10, NEWEST_VERSION % 10);
}

static bool is_video(unsigned op) { return op >= OP_VABSDIFF && op <= OP_VSUB4; }

/* Lowers setmaxnreg, which only checks its count and the lanes of the warp: the number of registers is a hint to the
 * hardware. */
static void lower_register_count(struct lower *l) {
    enum { MIN_COUNT = 24, MAX_COUNT = 256, STEP = 8 }; /* PTX ISA, setmaxnreg */
    const struct operand *o = l->st->insn.operands;
    uint64_t n;
    if (!operand_count(l, 1, 1) || !immediate(l, o, T_U32, &n))
        return;
    if (n < MIN_COUNT || n > MAX_COUNT || n % STEP) {
        diag_error(l->d, o->loc, "'%s' takes a multiple of %d from %d to %d", opcode_text(l), STEP, MIN_COUNT,
                   MAX_COUNT);
        return;
    }
    l->ir->moves_registers = true;
    matrix_emit(l, l->dec->row);
    emit_done(l);
}

/* Returns true for fence.proxy.async of shared memory, or of all memory. */
static bool orders_async_proxy(const char *opcode) {
    const char *at = strstr(opcode, ".proxy.async");
    return at && (!at[12] || strncmp(at + 12, ".shared::", 9) == 0);
}

/* Lowers an instruction that has no result. Its operand is checked and not used. */
static void lower_without_result(struct lower *l) {
    unsigned op = l->dec->row->op;
    if ((op == OP_BARRIER || op == OP_GRIDDEPCONTROL || op == OP_MEMBAR) && !operand_count(l, 0, 0))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->hints = l->dec->hints;
    if (op == OP_FENCE && orders_async_proxy(opcode_text(l)))
        in->imm = FENCE_ASYNC;
    emit_done(l);
}

static void lower_computation(struct lower *l, const struct isa_row *row) {
    if (row->op == OP_MOV)
        lower_mov(l);
    else if (row->op == OP_LOP3 && row->kind == K_WARP)
        lower_lop3(l);
    else if (row->op == OP_BULK || row->op == OP_BULK_COMMIT || row->op == OP_BULK_WAIT)
        lower_bulk(l);
    else if (row->op == OP_ALLOCA || row->op == OP_STACKSAVE || row->op == OP_STACKRESTORE)
        lower_stack(l);
    else if (is_video(row->op))
        lower_video(l);
    else if (row->op == OP_SETMAXNREG)
        lower_register_count(l);
    else
        lower_row(l);
}

static void lower_update(struct lower *l, const struct isa_row *row) {
    if (row->op == OP_MBARRIER)
        lower_mbarrier(l);
    else if (row->op == OP_CP)
        lower_copy(l);
    else
        lower_atomic(l);
}

static void lower_kind(struct lower *l, const struct isa_row *row) {
    switch (row->kind) {
    case K_LANE:
    case K_CVT:
    case K_WARP:
        lower_computation(l, row);
        break;
    case K_LOAD:
        lower_load(l);
        break;
    case K_STORE:
        lower_store(l);
        break;
    case K_ATOM:
        lower_update(l, row);
        break;
    case K_TEX:
        lower_texture(l);
        break;
    case K_PREFETCH:
        lower_prefetch(l);
        break;
    case K_COPY:
    case K_COMMIT:
    case K_COLLECT:
        lower_copy(l);
        break;
    case K_BRANCH:
        lower_branch(l);
        break;
    case K_BRX:
        lower_brx(l);
        break;
    case K_CALL:
        lower_call(l);
        break;
    case K_RET:
        lower_return(l);
        break;
    case K_EXIT:
    case K_TRAP:
        if (operand_count(l, 0, 0))
            lower_without_result(l);
        break;
    case K_BARRIER:
    case K_WARPSYNC:
        lower_barrier(l);
        break;
    default:
        lower_without_result(l);
        break;
    }
}

static void lower_instruction(struct lower *l, const struct statement *st) {
    l->st = st;
    const struct opcode *opcode = image_opcode(l->img, st->insn.opcode);
    l->dec = opcode ? &opcode->decoded : NULL;
    set_guard(l);
    if (!opcode) {
        report_opcode(l);
        return;
    }
    const struct isa_row *row = l->dec->row;
    if (row->last_version && 10 * l->module->version_major + l->module->version_minor > row->last_version) {
        diag_error(l->d, st->insn.opcode_loc, "'%s' was removed after PTX %d.%d: it now needs a modifier",
                   opcode_text(l), row->last_version / 10, row->last_version % 10);
        return;
    }
    if (!instruction_exists(l, opcode))
        return;
    check_instruction_size(l);
    if (l->dec->op->takes & TAKES_MATRIX)
        lower_matrix(l);
    else if (l->dec->op->takes & TAKES_GROUP)
        lower_wgmma(l);
    else if (l->dec->op->takes & TAKES_TMEM)
        lower_tcgen05(l);
    else if (l->dec->op->takes & TAKES_LAUNCH)
        lower_launch(l);
    else if (row->op == OP_CREATEPOLICY)
        lower_policy(l);
    else
        lower_kind(l, row);
}

/* Declares all labels of a block before its statements: a label is visible in the whole block. */
static void declare_labels(struct lower *l, const struct statement *st) {
    for (; st; st = st->next) {
        if (st->kind == ST_LABEL) {
            struct symbol *s = names_declare(&l->names, l->d, SYM_LABEL, st->label.name, st->loc);
            if (s)
                s->index = new_label(l);
        } else if (st->kind == ST_PROTOTYPE && st->proto.label) {
            struct symbol *s = names_declare(&l->names, l->d, SYM_PROTOTYPE, st->proto.label, st->loc);
            if (s)
                s->function = st->proto.proto;
        } else if (st->kind == ST_TARGETS && st->proto.label) {
            struct symbol *s = names_declare(&l->names, l->d, SYM_TARGETS, st->proto.label, st->loc);
            if (s)
                s->statement = st;
        }
    }
}

/* Handles pragmas that begin with "heddle"; others are ignored. */
static void lower_pragma(struct lower *l, const struct statement *st) {
    static const char prefix[] = "heddle ";
    if (strncmp(st->raw.text, prefix, sizeof prefix - 1) != 0)
        return;
    if (strcmp(st->raw.text, "heddle yield") == 0)
        l->next_yields = true;
    else
        diag_error(l->d, st->loc, "unknown pragma \"%s\"; the only pragma of Heddle is \"heddle yield\"", st->raw.text);
}

/* Lowers an instruction. If the statement becomes several instructions, a pragma that precedes the statement applies to
 * the last of them. */
static void lower_with_pragma(struct lower *l, const struct statement *st) {
    struct ir *ir = l->ir;
    uint32_t before = ir->n;
    lower_instruction(l, st);
    if (l->next_yields && ir->n > before)
        ir->info[ir->n - 1].yields = true;
    l->next_yields = false;
}

static void lower_block(struct lower *l, const struct statement *body) {
    names_push(&l->names);
    declare_labels(l, body);
    lower_statements(l, body);
    names_pop(&l->names);
}

/* Lowers a list of statements. The recursion depth is the block nesting, which the parser limits. */
static void lower_statements(struct lower *l, const struct statement *st) {
    for (; st && !diags_full(l->d); st = st->next)
        switch (st->kind) {
        case ST_INSTRUCTION:
            lower_with_pragma(l, st);
            break;
        case ST_PRAGMA:
            lower_pragma(l, st);
            break;
        case ST_VARIABLE:
            declare_variables(l, st->variable);
            break;
        case ST_BLOCK:
            lower_block(l, st->block.body);
            break;
        case ST_LABEL: {
            const struct symbol *s = names_find(&l->names, st->label.name);
            if (s && s->kind == SYM_LABEL)
                bind_label(l, s->index);
            break;
        }
        case ST_LOC:
            l->src_file = st->at.file;
            l->src_line = st->at.line;
            break;
        default:
            break;
        }
}

/* Copies one register of a formal parameter or result that is declared .reg: from its frame slot if `load` is true,
 * else to the slot. */
static void move_formal(struct lower *l, enum type t, opnd_t reg, uint64_t at, unsigned bytes, bool load) {
    opnd_t number = t == T_PRED ? temp_reg(l, RC_32) << 1 : reg;
    if (load) {
        emit_frame_load(l, number, bytes, at);
        if (t == T_PRED) {
            struct inst *in = emit_op(l, OP_SETP, T_B32, T_NONE, form_put(CAT_CMP, CMP_NE));
            in->d = reg;
            in->a = number;
            emit_done(l);
        }
        return;
    }
    if (t == T_PRED) {
        struct inst *in = emit_op(l, OP_SELP, T_B32, T_NONE, 0);
        in->d = number;
        in->a = ir_constant(l->ir, RC_32, 1, 0);
        in->c = reg;
        emit_done(l);
    }
    emit_frame_store(l, at, bytes, number);
}

static void move_formals(struct lower *l, const struct variable *v, uint32_t index, const struct formals *f,
                         bool load) {
    for (; v; v = v->next, index++) {
        unsigned n = formal_parts(v), bytes = (unsigned)f->bytes[index] / n;
        if (strcmp(v->space->text, ".reg") != 0 || !v->name)
            continue;
        const struct symbol *s = names_find(&l->names, v->name);
        if (!s || (s->kind != SYM_REG && s->kind != SYM_VECTOR))
            continue;
        for (uint32_t i = 0; i < n; i++)
            move_formal(l, formal_type(v), (s->index + i) << 1, f->offset[index] + i * bytes, bytes, load);
    }
}

/* Sets the source location for instructions that belong to no statement. */
static void set_location(struct lower *l, struct loc loc) {
    struct statement *st = arena_alloc(l->ir->tmp, sizeof *st);
    st->kind = ST_INSTRUCTION;
    st->loc = loc;
    l->st = st;
    l->dec = NULL;
}

/* Returns true if the last instruction is the branch that replaces a ret at the end of the function. The caller drops
 * this branch, because the return instruction comes next anyway. */
static bool ends_in_return(const struct lower *l, uint32_t begin) {
    const struct inst *last = &l->ir->code[l->ir->n - 1];
    return l->ir->n > begin && last->kind == K_BRANCH && last->guard == NO_GUARD && last->target == l->ret_label &&
           l->ret_label != UINT32_MAX;
}

static void end_function(struct lower *l, const struct function *f, const struct formals *formals) {
    struct ir *ir = l->ir;
    struct ir_function *fn = &ir->functions[l->fn];
    set_location(l, f->end);
    l->guard = NO_GUARD;
    if (f->is_entry) {
        bool open = ir->n == fn->begin || !inst_never_falls_through(&ir->code[ir->n - 1]);
        for (uint32_t k = 0; k < l->n_labels && !open; k++)
            open = l->label_at[k] == ir->n;
        if (open) {
            emit_op(l, OP_EXIT, T_NONE, T_NONE, 0);
            emit_done(l);
        }
        return;
    }
    if (ir->n > fn->begin && ends_in_return(l, fn->begin)) {
        bool open = false;
        for (uint32_t k = 0; k < l->n_labels && !open; k++)
            open = l->label_at[k] == ir->n;
        if (!open)
            ir->n--;
    }
    bind_label(l, l->ret_label);
    uint32_t n = 0;
    for (const struct variable *v = f->params; v; v = v->next)
        n++;
    move_formals(l, f->results, n, formals, false);
    struct inst *in = emit_op(l, OP_RET, T_NONE, T_NONE, 0);
    in->rpc = PC_EXIT;
    in->target = PC_EXIT;
    emit_done(l);
}

/* Replaces label numbers in branches by instruction numbers. */
static void resolve_labels(struct lower *l, uint32_t from) {
    struct ir *ir = l->ir;
    for (uint32_t i = from; i < ir->n; i++) {
        struct inst *in = &ir->code[i];
        if (in->kind == K_BRANCH)
            in->target = l->label_at[in->target];
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            ir->lists[in->list + t] = l->label_at[ir->lists[in->list + t]];
    }
}

static void lower_function(struct lower *l, uint32_t index) {
    struct ir *ir = l->ir;
    const struct function *f = ir->functions[index].tree;
    struct formals formals = {0};
    l->fn = index;
    l->frame = 0;
    l->carry = 0;
    l->n_labels = 0;
    l->ret_label = UINT32_MAX;
    l->src_file = l->src_line = 0;
    l->next_yields = false;
    l->guard = NO_GUARD;
    l->st = NULL;
    ir->functions[index].begin = ir->n;
    names_push(&l->names);
    declare_parameters(l, f);
    if (!f->is_entry) {
        l->ret_label = new_label(l);
        if (!formal_layout(l, f, &formals))
            return;
        set_location(l, f->name_loc);
        move_formals(l, f->params, 0, &formals, true);
    }
    declare_labels(l, f->body);
    lower_statements(l, f->body);
    if (l->d->errors == 0) {
        end_function(l, f, &formals);
        resolve_labels(l, ir->functions[index].begin);
    }
    names_pop(&l->names);
    struct ir_function *fn = &ir->functions[index];
    fn->end = ir->n;
    fn->frame_bytes = (uint32_t)round_up(l->frame, 16);
}

/* Returns the three dimensions of an attribute such as .maxntid 16,16; missing ones are 1. */
static struct dim3 dimensions(struct lower *l, const struct attribute *a) {
    uint32_t d[3] = {1, 1, 1};
    int i = 0;
    for (const struct operand *v = a->values; v; v = v->next, i++) {
        if (i >= 3 || v->kind != OPD_INT || v->integer == 0 || v->integer > UINT32_MAX) {
            diag_error(l->d, v->loc, "'%s' takes up to three positive numbers", a->name->text);
            break;
        }
        d[i] = (uint32_t)v->integer;
    }
    return (struct dim3){d[0], d[1], d[2]};
}

static void note_registers(struct lower *l, const struct attribute *a) {
    uint32_t n = dimensions(l, a).x;
    l->ir->maxnreg = l->ir->maxnreg && l->ir->maxnreg < n ? l->ir->maxnreg : n;
}

static void note_attributes(struct lower *l, const struct function *f) {
    for (const struct attribute *a = f->attributes; a; a = a->next)
        if (strcmp(a->name->text, ".reqntid") == 0)
            l->ir->reqntid = dimensions(l, a);
        else if (strcmp(a->name->text, ".maxntid") == 0)
            l->ir->maxntid = dimensions(l, a);
        else if (strcmp(a->name->text, ".reqnctapercluster") == 0)
            l->ir->cluster = dimensions(l, a);
        else if (strcmp(a->name->text, ".maxclusterrank") == 0)
            l->ir->max_cluster_rank = dimensions(l, a).x;
        else if (strcmp(a->name->text, ".explicitcluster") == 0)
            l->ir->explicit_cluster = true;
        else if (strcmp(a->name->text, ".blocksareclusters") == 0)
            l->ir->blocks_are_clusters = true;
        else if (strcmp(a->name->text, ".minnctapersm") == 0)
            l->ir->min_ctas = dimensions(l, a).x;
        else if (strcmp(a->name->text, ".maxnreg") == 0)
            note_registers(l, a);
}

static void report_missing_kernel(struct lower *l, const char *kernel) {
    const char *names[64];
    char list[400] = "";
    int n = 0;
    for (const struct function *f; n < 64 && (f = ptx_entry(l->module, n)); n++) {
        size_t used = strlen(list);
        names[n] = f->name->text;
        if (used + f->name->len + 8 < sizeof list)
            snprintf(list + used, sizeof list - used, "%s'%s'", n ? ", " : "", f->name->text);
        else if (used + 5 < sizeof list && list[used - 1] != '.')
            strcat(list, " ...");
    }
    const char *near = diag_suggest(kernel, names, n);
    diag_error(l->d, (struct loc){0, 0}, "there is no kernel '%s' in this module", kernel);
    if (near)
        diag_help(l->d, "did you mean '%s'?", near);
    else if (n)
        diag_help(l->d, "its kernels are %s", list);
    else
        diag_help(l->d, "it has no kernels");
}

static uint32_t make_regs(void *ctx, const struct variable *v, enum type type, unsigned n, const char *name,
                          uint32_t len) {
    struct lower *l = ctx;
    uint32_t first = l->ir->n_vregs;
    (void)v;
    for (unsigned i = 0; i < n; i++) {
        uint32_t r = ir_vreg(l->ir, class_of_bytes(type_bytes(type)), l->fn, name, len);
        l->ir->vregs[r].component = n > 1 ? (uint8_t) "xyzw4567"[i] : 0;
    }
    return first;
}

bool lower_kernel(struct lower *l, const char *kernel) {
    struct ir *ir = l->ir;
    uint32_t id = 0;
    const struct function *f = image_function(l->img, kernel, &id);
    if (!f || !f->has_body) {
        report_missing_kernel(l, kernel);
        return false;
    }
    ir->files = l->img->names->files;
    ir->n_files = l->img->names->n_files;
    l->names.make_regs = make_regs;
    l->names.ctx = l;
    ir_vreg(ir, RC_128, 0, "_", 1); /* SINK_VREG */
    ir_constant(ir, RC_32, 0, 0);   /* creates OPND_ZERO */
    ir->regs = IR_ROOM(ir, ir->regs, ir->n_regs, ir->cap_regs);
    ir->lists = IR_ROOM(ir, ir->lists, ir->n_lists, ir->cap_lists);
    l->fn_of_id = arena_array(ir->tmp, (size_t)l->img->n_functions + 1, sizeof *l->fn_of_id);
    require_function(l, id);
    ir->place = l->img->names->place[id];
    note_attributes(l, f);
    if (l->module->warp_sz.end)
        check_constant_size(l, l->module->warp_sz);
    for (uint32_t i = 0; i < ir->n_functions && !diags_full(l->d); i++)
        lower_function(l, i);
    resolve_indirect_calls(l);
    /* dynamic shared memory follows at a multiple of 16, so only larger alignments need space */
    ir->shared_bytes = (uint32_t)(l->dynamic_align > 16 ? round_up(l->shared, l->dynamic_align) : l->shared);
    /* Local variables of module scope precede the kernel's frame. */
    ir->functions[0].frame_base = (uint32_t)round_up(l->local, 16);
    return l->d->errors == 0;
}
