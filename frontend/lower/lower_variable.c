/* Allocates variables: in frames, shared memory and parameters. */
#include "isa/arith.h"
#include "lower.h"
#include <string.h>

uint64_t allocate_in_frame(struct lower *l, uint64_t bytes, uint64_t align, struct loc loc) {
    uint64_t at = round_up(l->frame, align ? align : 1), end = at + bytes;
    if (end > MAX_LOCAL_BYTES) {
        if (l->frame <= MAX_LOCAL_BYTES)
            diag_error(l->d, loc, "function '%s' takes %llu bytes of local memory; the limit is %llu",
                       l->ir->functions[l->fn].name, (unsigned long long)end, (unsigned long long)MAX_LOCAL_BYTES);
        end = MAX_LOCAL_BYTES + 1;
    }
    l->frame = end;
    return at;
}

static void place_shared(struct lower *l, struct symbol *s) {
    const struct variable *v = s->variable;
    s->placed = true;
    l->ir->n_shared++;
    if (is_unsized(v)) {
        if (!v->linkage || strcmp(v->linkage->text, ".extern") != 0)
            diag_error(l->d, v->loc, "shared array '%s' has no size; dynamic shared memory is declared .extern",
                       s->word->text);
        s->home = HOME_DYNAMIC;
        if (variable_align(l->d, v, s->type, MAX_ALIGN, &s->align) && s->align > l->dynamic_align)
            l->dynamic_align = s->align;
        return;
    }
    if (!variable_bytes(l->d, v, s->type, UINT32_MAX, &s->bytes) ||
        !variable_align(l->d, v, s->type, MAX_ALIGN, &s->align))
        return;
    s->offset = round_up(l->shared, s->align);
    uint64_t before = l->shared;
    l->shared = s->offset + s->bytes;
    if (l->shared > MAX_SHARED_BYTES && before <= MAX_SHARED_BYTES)
        diag_error(l->d, v->loc, "kernel '%s' takes %llu bytes of static shared memory; the limit is %d", l->ir->kernel,
                   (unsigned long long)l->shared, MAX_SHARED_BYTES);
}

/* Allocates a .local variable of module scope. All functions share its memory, which precedes the kernel's frame. */
static void place_thread(struct lower *l, struct symbol *s) {
    const struct variable *v = s->variable;
    s->placed = true;
    if (!variable_bytes(l->d, v, s->type, MAX_LOCAL_BYTES, &s->bytes) ||
        !variable_align(l->d, v, s->type, MAX_THREAD_ALIGN, &s->align))
        return;
    s->offset = round_up(l->local, s->align);
    l->local = s->offset + s->bytes;
    if (l->local > MAX_LOCAL_BYTES)
        diag_error(l->d, v->loc, "the module takes %llu bytes of local memory; the limit is %llu",
                   (unsigned long long)l->local, (unsigned long long)MAX_LOCAL_BYTES);
}

struct symbol *place_symbol(struct lower *l, struct symbol *s) {
    if (s->placed || (s->home != HOME_SHARED && s->home != HOME_THREAD))
        return s;
    /* The symbols of module scope are shared by the lowering of all kernels. So the offset is stored in a copy of the
     * symbol, whose scope encloses all functions. */
    if (l->names.of_word[s->word->id] != s) {
        struct symbol *copy = arena_alloc(l->ir->tmp, sizeof *copy);
        *copy = *s;
        copy->outer = l->names.of_word[s->word->id];
        copy->level = 0;
        copy->next = l->names.levels[0];
        l->names.levels[0] = copy;
        l->names.of_word[s->word->id] = copy;
        s = copy;
    }
    if (s->home == HOME_SHARED)
        place_shared(l, s);
    else
        place_thread(l, s);
    return s;
}

static void declare_one(struct lower *l, const struct variable *v) {
    const char *space = v->space ? v->space->text : "";
    if (!v->name || !v->type)
        return;
    if (strcmp(space, ".reg") == 0) {
        enum type t = declared_type(l->d, v);
        if (t != T_NONE)
            names_declare_regs(&l->names, l->d, v, t);
        return;
    }
    enum type t = is_opaque(v) ? T_B64 : declared_type(l->d, v);
    if (t == T_PRED)
        diag_error(l->d, v->loc, "'%s' is a predicate; predicates exist in registers only", v->name->text);
    struct symbol *s = names_declare(&l->names, l->d, SYM_VARIABLE, v->name, v->loc);
    if (!s)
        return;
    s->variable = v;
    s->type = (uint8_t)t;
    s->space = (uint8_t)space_named(space);
    if (t == T_NONE || t == T_PRED)
        return;
    switch (s->space) {
    case SPACE_SHARED:
        s->home = HOME_SHARED;
        place_shared(l, s);
        break;
    case SPACE_GLOBAL:
    case SPACE_CONST:
        s->home = HOME_DEVICE;
        s->index = image_inner(l->img, v);
        break;
    case SPACE_LOCAL:
    case SPACE_PARAM:
        s->home = HOME_FRAME;
        if (is_unsized(v))
            diag_error(l->d, v->loc, "array '%s' has no size", v->name->text);
        else if (variable_bytes(l->d, v, t, MAX_LOCAL_BYTES, &s->bytes) &&
                 variable_align(l->d, v, t, MAX_THREAD_ALIGN, &s->align))
            s->offset = allocate_in_frame(l, s->bytes, s->align, v->loc);
        break;
    default:
        diag_error(l->d, v->loc, "'%s' cannot be declared %s in a function", v->name->text, space);
    }
    if (v->init && s->home != HOME_DEVICE)
        diag_error(l->d, v->loc, "'%s' is in %s, which cannot be initialised", v->name->text, space);
}

void declare_variables(struct lower *l, const struct variable *v) {
    for (; v; v = v->next)
        declare_one(l, v);
}

/* Computes the type, size and alignment of a formal parameter. Returns false after an error. */
static bool parameter_shape(struct lower *l, const struct variable *v, enum type *t, uint64_t *bytes, uint64_t *align) {
    *t = is_opaque(v) ? T_B64 : declared_type(l->d, v);
    if (*t == T_NONE)
        return false;
    if (*t == T_PRED && strcmp(v->space->text, ".reg") != 0) {
        diag_error(l->d, v->loc, "'%s' is a predicate; predicates exist in registers only",
                   v->name ? v->name->text : "_");
        return false;
    }
    if (is_unsized(v)) {
        diag_error(l->d, v->loc, "parameter '%s' has no size; variable argument lists are not supported",
                   v->name ? v->name->text : "_");
        return false;
    }
    if (*t == T_PRED) {
        *align = 4;
        *bytes = 4ull * formal_parts(v);
        return true;
    }
    return variable_bytes(l->d, v, *t, MAX_PARAM_BYTES, bytes) && variable_align(l->d, v, *t, MAX_THREAD_ALIGN, align);
}

/* Declares a parameter of `bytes` bytes at `offset`. Returns false if the name is already declared. */
static bool declare_parameter(struct lower *l, const struct variable *v, enum type t, enum home home, uint64_t offset,
                              uint64_t bytes) {
    struct symbol *s = names_declare(&l->names, l->d, SYM_VARIABLE, v->name, v->loc);
    if (!s)
        return false;
    s->variable = v;
    s->type = (uint8_t)t;
    s->space = SPACE_PARAM;
    s->home = (uint8_t)home;
    s->offset = offset;
    s->bytes = bytes;
    return true;
}

static void declare_entry_parameters(struct lower *l, const struct function *f) {
    struct ir *ir = l->ir;
    uint32_t n = 0;
    uint64_t end = 0;
    for (const struct variable *v = f->params; v; v = v->next)
        n++;
    ir->params = arena_array(ir->keep, (size_t)n + 1, sizeof *ir->params);
    for (const struct variable *v = f->params; v; v = v->next) {
        enum type t;
        uint64_t bytes, align;
        if (!v->name || !parameter_shape(l, v, &t, &bytes, &align))
            continue;
        end = round_up(end, align);
        if (!declare_parameter(l, v, t, HOME_PARAM, end, bytes))
            continue;
        ir->params[ir->n_params++] = (struct program_param){
            .name = arena_strndup(ir->keep, v->name->text, v->name->len),
            .type = t,
            .offset = (uint32_t)end,
            .bytes = (uint32_t)bytes,
            .align = (uint32_t)align,
            .is_pointer = v->is_ptr,
        };
        end += bytes;
        if (end > MAX_PARAM_BYTES) {
            diag_error(l->d, v->loc, "the parameters of kernel '%s' take more than %d bytes", f->name->text,
                       MAX_PARAM_BYTES);
            return;
        }
    }
    ir->param_bytes = (uint32_t)end;
    if (f->results)
        diag_error(l->d, f->results->loc, "kernel '%s' has a result; kernels return nothing", f->name->text);
}

enum type formal_type(const struct variable *v) {
    return is_opaque(v) ? T_B64 : v->type ? type_named(v->type->text) : T_NONE;
}

unsigned formal_parts(const struct variable *v) {
    return v->vector && !v->is_array ? (unsigned)(v->vector->text[2] - '0') : 1;
}

bool formal_layout(struct lower *l, const struct function *f, struct formals *out) {
    uint32_t n = 0;
    for (const struct variable *v = f->params; v; v = v->next)
        n++;
    for (const struct variable *v = f->results; v; v = v->next)
        n++;
    *out = (struct formals){.n = n};
    out->offset = arena_array(l->ir->tmp, (size_t)n + 1, sizeof *out->offset);
    out->bytes = arena_array(l->ir->tmp, (size_t)n + 1, sizeof *out->bytes);
    uint32_t i = 0;
    const struct variable *v = f->params ? f->params : f->results;
    for (bool results = !f->params; v; i++) {
        enum type t;
        uint64_t align;
        if (!parameter_shape(l, v, &t, &out->bytes[i], &align))
            return false;
        out->offset[i] = round_up(out->end, align);
        out->end = out->offset[i] + out->bytes[i];
        v = v->next;
        if (!v && !results) {
            results = true;
            v = f->results;
        }
    }
    return true;
}

/* Declares a formal parameter or result: a variable in the frame, or a register (.reg) that lower_function() loads from
 * or stores to the frame. */
static void declare_formal(struct lower *l, const struct variable *v, uint64_t offset, uint64_t bytes) {
    enum type t = formal_type(v);
    if (!v->name)
        return;
    if (strcmp(v->space->text, ".reg") == 0) {
        names_declare_regs(&l->names, l->d, v, t);
        return;
    }
    declare_parameter(l, v, t, HOME_FRAME, offset, bytes);
}

void declare_parameters(struct lower *l, const struct function *f) {
    struct ir_function *fn = &l->ir->functions[l->fn];
    struct formals formals;
    if (f->is_entry) {
        declare_entry_parameters(l, f);
        return;
    }
    if (!formal_layout(l, f, &formals))
        return;
    allocate_in_frame(l, formals.end, 1, f->name_loc);
    uint32_t i = 0;
    for (const struct variable *v = f->params; v; v = v->next, i++)
        declare_formal(l, v, formals.offset[i], formals.bytes[i]);
    fn->n_params = i;
    for (const struct variable *v = f->results; v; v = v->next, i++)
        declare_formal(l, v, formals.offset[i], formals.bytes[i]);
    fn->n_results = i - fn->n_params;
    for (uint32_t k = 0; k < i && k < sizeof fn->param_offset / sizeof *fn->param_offset; k++)
        fn->param_offset[k] = (uint32_t)formals.offset[k];
}
