/* Processes module scope: device-memory variables, function ids, decoded opcodes. */
#include "image.h"
#include "frontend/analysis/ir.h"
#include <stdlib.h>
#include <string.h>

#define MAX_VARIABLE_BYTES    (16ull << 30)
#define MAX_INITIALISED_BYTES (1ull << 30)

static uint32_t new_variable(struct image *img, const struct variable *v, enum space space) {
    struct scope *s = img->names;
    if (img->n_variables == s->cap_variables)
        img->variables =
            ir_grow(img->arena, img->variables, img->n_variables, &s->cap_variables, sizeof *img->variables);
    struct image_variable *out = &img->variables[img->n_variables];
    *out = (struct image_variable){.space = space, .loc = v->loc};
    out->name = arena_strndup(img->arena, v->name->text, v->name->len);
    out->is_extern = v->linkage && strcmp(v->linkage->text, ".extern") == 0;
    out->managed = v->attribute && strstr(v->attribute->text, ".managed") != NULL;
    return img->n_variables++;
}

/* Sets size and alignment of a device variable. After an error, the size is 0. */
static void size_device_variable(struct image *img, const struct variable *v, enum type t, uint32_t index) {
    struct image_variable *out = &img->variables[index];
    struct diags *d = img->module->diags;
    struct variable sized = *v;
    if (is_unsized(v) && v->init)
        sized.dims[0] = initializer_count(v);
    else if (is_unsized(v) && !out->is_extern)
        diag_error(d, v->loc, "array '%s' has no size and no initialiser to take it from", v->name->text);
    if (!variable_bytes(d, &sized, t, v->init ? MAX_INITIALISED_BYTES : MAX_VARIABLE_BYTES, &out->bytes))
        out->bytes = 0;
    variable_align(d, v, t, MAX_ALIGN, &out->align);
}

/* Adds the image variable of a .global, .const or opaque declaration. Returns its index. */
static uint32_t add_device_variable(struct image *img, const struct variable *v, enum type *type) {
    if (is_opaque(v) || (v->space && strcmp(v->space->text, ".tex") == 0)) {
        uint32_t index = new_variable(img, v, SPACE_TEX);
        img->variables[index].bytes = img->variables[index].align = 8;
        image_reference(img, v, &img->variables[index].reference);
        *type = T_B64;
        return index;
    }
    uint32_t index = new_variable(img, v, space_named(v->space->text));
    *type = declared_type(img->module->diags, v);
    if (*type == T_PRED)
        diag_error(img->module->diags, v->loc, "'%s' is a predicate; predicates exist in registers only",
                   v->name->text);
    else if (*type != T_NONE)
        size_device_variable(img, v, *type, index);
    return index;
}

/* Returns true if `v` redeclares the variable `old`, which .extern allows. */
static bool redeclares(const struct symbol *old, const struct variable *v) {
    if (old->kind != SYM_VARIABLE || strcmp(old->variable->space->text, v->space->text) != 0)
        return false;
    const struct word *a = old->variable->linkage, *b = v->linkage;
    return (a && (strcmp(a->text, ".extern") == 0 || strcmp(a->text, ".common") == 0)) ||
           (b && (strcmp(b->text, ".extern") == 0 || strcmp(b->text, ".common") == 0));
}

/* Replaces an earlier .extern declaration of a variable by its definition. The definition's type is used, since
 * compilers declare tables of addresses as .extern arrays of bytes. */
static void redefine(struct image *img, struct symbol *s, const struct variable *v) {
    if (v->linkage && strcmp(v->linkage->text, ".extern") == 0)
        return;
    enum type t = declared_type(img->module->diags, v);
    s->variable = v;
    s->type = (uint8_t)t;
    if (s->home != HOME_DEVICE || t == T_NONE || t == T_PRED)
        return;
    img->variables[s->index].is_extern = false;
    size_device_variable(img, v, s->type, s->index);
}

static void declare_module_variable(struct image *img, const struct variable *v) {
    struct diags *d = img->module->diags;
    const char *space = v->space ? v->space->text : "";
    if (!v->type || !v->name)
        return;
    if (strcmp(space, ".reg") == 0 || strcmp(space, ".param") == 0 || strcmp(space, ".sreg") == 0) {
        diag_error(d, v->loc, "'%s' is declared %s outside a function", v->name->text, space);
        return;
    }
    struct symbol *s = img->names->names.of_word[v->name->id];
    if (s && redeclares(s, v)) {
        redefine(img, s, v);
        return;
    }
    s = names_declare(&img->names->names, d, SYM_VARIABLE, v->name, v->loc);
    if (!s)
        return;
    s->variable = v;
    s->space = (uint8_t)space_named(space);
    if (s->space == SPACE_SHARED || s->space == SPACE_LOCAL) {
        s->home = s->space == SPACE_SHARED ? HOME_SHARED : HOME_THREAD;
        s->type = (uint8_t)declared_type(d, v);
        return;
    }
    enum type t;
    s->index = add_device_variable(img, v, &t);
    s->type = (uint8_t)t;
    s->space = (uint8_t)img->variables[s->index].space;
    s->home = HOME_DEVICE;
}

static int count_variables(const struct variable *v) {
    int n = 0;
    for (; v; v = v->next)
        n++;
    return n;
}

static uint32_t new_function_id(struct image *img, struct function *f) {
    struct scope *s = img->names;
    uint32_t cap = s->cap_functions;
    if (img->n_functions == s->cap_functions) {
        img->functions = ir_grow(img->arena, img->functions, img->n_functions, &cap, sizeof *img->functions);
        s->by_id = ir_grow(img->arena, s->by_id, img->n_functions, &s->cap_functions, sizeof *s->by_id);
    }
    img->functions[img->n_functions] = arena_strndup(img->arena, f->name->text, f->name->len);
    s->by_id[img->n_functions] = f;
    return img->n_functions++;
}

static void declare_function(struct image *img, struct function *f) {
    struct diags *d = img->module->diags;
    if (!f->name)
        return;
    struct symbol *s = img->names->names.of_word[f->name->id];
    if (!s || s->kind != SYM_FUNCTION || (s->function->has_body && f->has_body)) {
        s = names_declare(&img->names->names, d, SYM_FUNCTION, f->name, f->name_loc);
        if (!s)
            return;
        s->function = f;
        s->index = new_function_id(img, f);
        return;
    }
    if (count_variables(s->function->params) != count_variables(f->params) ||
        count_variables(s->function->results) != count_variables(f->results) || s->function->is_entry != f->is_entry) {
        diag_error(d, f->name_loc, "'%s' is declared differently than before", f->name->text);
        diag_note(d, s->loc, "'%s' is first declared here", f->name->text);
        return;
    }
    if (f->has_body) {
        s->function = f;
        img->names->by_id[s->index] = f;
    }
}

static void declare_alias(struct image *img, const struct statement *st) {
    struct names *names = &img->names->names;
    struct symbol *to = names->of_word[st->alias.aliasee->id], *s = names->of_word[st->alias.alias->id];
    if (!to || to->kind != SYM_FUNCTION) {
        diag_error(img->module->diags, st->loc, "'%s' is not a function", st->alias.aliasee->text);
        return;
    }
    if (!s) {
        s = names_declare(names, img->module->diags, SYM_FUNCTION, st->alias.alias, st->loc);
        s->index = to->index;
    }
    if (s->kind == SYM_FUNCTION) {
        s->function = to->function;
        img->names->by_id[s->index] = (struct function *)to->function;
    }
}

const struct opcode *image_opcode(const struct image *img, const struct word *word) {
    struct scope *s = img->names;
    struct opcode out = {.lacks = false};
    struct decode_error why;
    if (word->id < s->cap_opcodes && s->opcodes[word->id])
        return s->opcodes[word->id];
    if (!isa_decode(word->text, word->len, &out.decoded, &why))
        return NULL;
    out.lacks = !target_has(&s->unmet, word->text, &out.need);
    if (word->id >= s->cap_opcodes) {
        const struct opcode **more = arena_array(img->arena, img->module->n_words, sizeof *more);
        if (s->cap_opcodes)
            memcpy(more, s->opcodes, s->cap_opcodes * sizeof *more);
        s->opcodes = more;
        s->cap_opcodes = img->module->n_words;
    }
    struct opcode *kept = arena_alloc(img->arena, sizeof *kept);
    *kept = out;
    return s->opcodes[word->id] = kept;
}

bool image_need_body(const struct image *img, const char *kernel) {
    uint32_t id;
    return !image_function(img, kernel, &id) || ptx_need_body(img->module, img->names->by_id[id]);
}

static void add_inner_variables(struct image *img, const struct variable *v) {
    for (; v; v = v->next) {
        enum type t;
        if (!v->name || !v->type || !v->space ||
            (strcmp(v->space->text, ".global") != 0 && strncmp(v->space->text, ".const", 6) != 0))
            continue;
        uint32_t index = add_device_variable(img, v, &t);
        struct scope *s = img->names;
        if (s->n_inner == s->cap_inner)
            s->inner = ir_grow(img->arena, s->inner, s->n_inner, &s->cap_inner, sizeof *s->inner);
        s->inner[s->n_inner++] = (struct inner_variable){v, index};
    }
}

/* Visits all statements of a body, blocks included: counts instructions and declares variables. The parser limits
 * nesting. */
static void scan_body(struct image *img, const struct statement *st) {
    for (; st; st = st->next) {
        img->names->n_instructions += st->kind == ST_INSTRUCTION;
        if (st->kind == ST_VARIABLE)
            add_inner_variables(img, st->variable);
        else if (st->kind == ST_BLOCK)
            scan_body(img, st->block.body);
    }
}

static int compare_inner(const void *a, const void *b) {
    const struct inner_variable *x = a, *y = b;
    return x->tree < y->tree ? -1 : x->tree > y->tree;
}

uint32_t image_inner(const struct image *img, const struct variable *v) {
    struct inner_variable key = {v, 0};
    const struct inner_variable *found =
        bsearch(&key, img->names->inner, img->names->n_inner, sizeof key, compare_inner);
    return found ? found->index : UINT32_MAX;
}

static int compare_functions(const void *a, const void *b, void *names) {
    const char *const *list = names;
    return strcmp(list[*(const uint32_t *)a], list[*(const uint32_t *)b]);
}

static void sort_functions(struct image *img) {
    struct scope *s = img->names;
    s->by_name = arena_array(img->arena, (size_t)img->n_functions + 1, sizeof *s->by_name);
    for (uint32_t i = 0; i < img->n_functions; i++)
        s->by_name[i] = i;
    qsort_r(s->by_name, img->n_functions, sizeof *s->by_name, compare_functions, img->functions);
}

const struct function *image_function(const struct image *img, const char *name, uint32_t *id) {
    const struct scope *s = img->names;
    uint32_t low = 0, high = img->n_functions;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(name, img->functions[s->by_name[middle]]);
        if (order == 0) {
            *id = s->by_name[middle];
            return s->by_id[*id];
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static void declare_all(struct image *img) {
    for (const struct statement *st = img->module->statements; st; st = st->next)
        if (st->kind == ST_VARIABLE)
            for (const struct variable *v = st->variable; v; v = v->next)
                declare_module_variable(img, v);
        else if (st->kind == ST_FUNCTION)
            declare_function(img, st->function);
    struct scope *s = img->names;
    s->place = arena_array(img->arena, (size_t)img->n_functions + 1, sizeof *s->place);
    for (const struct statement *st = img->module->statements; st; st = st->next)
        if (st->kind == ST_ALIAS) {
            declare_alias(img, st);
        } else if (st->kind == ST_FUNCTION && st->function->has_body) {
            const struct symbol *f = s->names.of_word[st->function->name->id];
            if (f && f->kind == SYM_FUNCTION && f->index < img->n_functions)
                s->place[f->index] = s->n_instructions;
            s->n_instructions += st->function->skipped_instructions;
            scan_body(img, st->function->body);
        }
    if (img->names->n_inner)
        qsort(img->names->inner, img->names->n_inner, sizeof *img->names->inner, compare_inner);
}

static void initialize_all(struct image *img) {
    const struct scope *s = img->names;
    for (const struct symbol *v = s->names.levels[0]; v; v = v->next)
        if (v->kind == SYM_VARIABLE && v->variable->init && v->home == HOME_DEVICE &&
            img->variables[v->index].space != SPACE_TEX)
            image_initialize(img, v->variable, v->type, v->index);
        else if (v->kind == SYM_VARIABLE && v->variable->init && v->home != HOME_DEVICE)
            diag_error(img->module->diags, v->variable->loc, "'%s' is in %s, which cannot be initialised",
                       v->variable->name->text, v->variable->space->text);
    for (uint32_t i = 0; i < s->n_inner; i++)
        if (s->inner[i].tree->init)
            image_initialize(img, s->inner[i].tree, type_named(s->inner[i].tree->type->text), s->inner[i].index);
}

static int compare_files(const void *a, const void *b) {
    const struct statement *x = *(const struct statement *const *)a, *y = *(const struct statement *const *)b;
    if (x->file.index != y->file.index)
        return x->file.index < y->file.index ? -1 : 1;
    return x->loc.begin < y->loc.begin ? -1 : x->loc.begin > y->loc.begin;
}

static void list_files(struct image *img) {
    struct scope *s = img->names;
    uint32_t n = 0;
    for (const struct statement *st = img->module->statements; st; st = st->next)
        n += st->kind == ST_FILE;
    s->files = arena_array(img->arena, (size_t)n + 1, sizeof *s->files);
    for (const struct statement *st = img->module->statements; st; st = st->next)
        if (st->kind == ST_FILE)
            s->files[s->n_files++] = st;
    qsort(s->files, n, sizeof *s->files, compare_files);
}

/* Finds the offset of each line, for line numbers of instructions. */
static void find_lines(struct image *img) {
    const char *text = img->module->diags->text, *end = text + img->module->diags->len;
    struct scope *s = img->names;
    uint32_t n = 1;
    for (const char *at = text; at < end; at++)
        n += *at == '\n';
    s->lines = arena_array(img->arena, (size_t)n + 1, sizeof *s->lines);
    s->n_lines = 1;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at)));)
        s->lines[s->n_lines++] = (uint32_t)(++at - text);
    s->lines[n] = UINT32_MAX;
}

static void build(struct image *img) {
    struct scope *s = img->names = arena_alloc(img->arena, sizeof *s);
    names_init(&s->names, img->arena, img->module->n_words, NULL);
    target_find_unmet(&s->unmet, target_of(img->module),
                      10u * (unsigned)img->module->version_major + (unsigned)img->module->version_minor);
    find_lines(img);
    list_files(img);
    img->address_size = address_size(img->module);
    declare_all(img);
    sort_functions(img);
    initialize_all(img);
}

void diags_fork(struct diags *own, const struct diags *to) {
    diags_init(own, to->file, to->text, to->len);
    own->max_errors = to->max_errors;
}

void diags_merge(struct diags *own, struct diags *to) {
    for (int i = 0; i < own->n; i++) {
        const struct diag *d = &own->list[i];
        switch (d->kind) {
        case DIAG_ERROR:
            diag_error(to, d->loc, "%s", d->message);
            break;
        case DIAG_WARNING:
            diag_warning(to, d->loc, "%s", d->message);
            break;
        case DIAG_NOTE:
            diag_note(to, d->loc, "%s", d->message);
            break;
        case DIAG_HELP:
            diag_help(to, "%s", d->message);
            break;
        }
    }
    diags_free(own);
}

struct image *frontend_image(const struct module *m) {
    jmp_buf out_of_memory;
    struct diags own;
    struct arena *a = arena_new(4ull << 30);
    struct image *volatile built = NULL;
    diags_fork(&own, m->diags);
    if (!a || setjmp(out_of_memory)) {
        diag_error(&own, (struct loc){0, 0}, "out of memory while reading the module's variables");
    } else {
        arena_on_full(a, &out_of_memory);
        struct image *img = arena_alloc(a, sizeof *img);
        struct module *local = arena_alloc(a, sizeof *local); /* a copy of the module with our own list of messages */
        *local = *m;
        local->diags = &own;
        img->module = local;
        img->arena = a;
        build(img);
        img->module = m;
        arena_on_full(a, NULL);
        if (!own.errors)
            built = img;
    }
    diags_merge(&own, m->diags);
    if (!built)
        arena_free(a);
    return built;
}

void frontend_image_free(struct image *img) {
    if (img)
        arena_free(img->arena);
}
