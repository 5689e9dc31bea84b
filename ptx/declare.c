/* Declarations and the module's header. Errors are detected here, during parsing, while the location of each specifier
 * is known. */
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

void decl_begin(struct parser *ps) {
    ps->decl = (struct variable){0};
    ps->decl_bad = false;
}

void decl_space(struct parser *ps, struct loc loc, const struct word *space) {
    if (ps->decl.is_ptr && !ps->decl.ptr_space)
        ps->decl.ptr_space = space;
    else if (ps->decl.space)
        diag_error(ps->diags, loc, "'%s' after '%s': a declaration has one state space", space->text,
                   ps->decl.space->text);
    else
        ps->decl.space = space;
}

void decl_align(struct parser *ps, const struct operand *bytes) {
    uint64_t n = bytes->integer;
    if (n == 0 || (n & (n - 1)) != 0) {
        diag_error(ps->diags, bytes->loc, "alignment must be a power of two");
        n = 1;
    }
    *(ps->decl.is_ptr ? &ps->decl.ptr_align : &ps->decl.align) = n;
}

void decl_type(struct parser *ps, struct loc loc, const struct word *type) {
    if (ps->decl.type)
        diag_error(ps->diags, loc, "'%s' after '%s': a declaration has one type", type->text, ps->decl.type->text);
    ps->decl.type = type;
}

/* Handles a dotted word that has no token of its own: .generic after .ptr, or an unknown type. */
void decl_other(struct parser *ps, struct loc loc, const struct word *word) {
    if (ps->decl.is_ptr && !ps->decl.ptr_space && strcmp(word->text, ".generic") == 0) {
        ps->decl.ptr_space = word;
        return;
    }
    const char *types[128];
    int n = words_known((const int[]){TYPE, VECTOR, ALIGN, PTR}, 4, types, 128);
    const char *near = diag_suggest(word->text, types, n);
    diag_error(ps->diags, loc, "unknown type '%s'", word->text);
    if (near)
        diag_help(ps->diags, "did you mean '%s'?", near);
    ps->decl_bad = true;
}

/* Returns true if `text` is a type without its leading dot. */
static bool lacks_dot(const char *text) {
    const char *types[128];
    int n = words_known((const int[]){TYPE, VECTOR}, 2, types, 128);
    for (int i = 0; i < n; i++)
        if (strcmp(types[i] + 1, text) == 0)
            return true;
    return false;
}

struct variable *decl_name(struct parser *ps, struct loc loc, const struct word *name) {
    if (!ps->decl.type && !ps->decl_bad) {
        diag_error(ps->diags, loc, "missing type before '%s'", name ? name->text : "_");
        if (name && lacks_dot(name->text))
            diag_help(ps->diags, "a type begins with a dot: '.%s'", name->text);
        ps->decl_bad = true;
    }
    if (!ps->decl.space && !ps->decl_bad) {
        diag_error(ps->diags, loc, "missing state space before '%s'", name ? name->text : "_");
        ps->decl_bad = true;
    }
    struct variable *v = arena_alloc(ps->arena, sizeof *v);
    *v = ps->decl;
    v->loc = loc;
    v->name = name;
    return v;
}

void decl_range(struct parser *ps, struct variable *v, const struct operand *range) {
    if (range->integer == 0 || range->integer > INT32_MAX)
        diag_error(ps->diags, range->loc, "number of names must be 1 to 2147483647");
    else
        v->range = (uint32_t)range->integer;
}

/* Replaces `v`, declared as name<n> outside of .reg, by the n variables name0, name1... Registers keep the short form,
 * because compilers declare thousands and use few. */
static struct variable *expand_range(struct parser *ps, struct variable *v) {
    enum { MOST = 65536, DIGITS = 10 };
    const uint32_t n = v->range;
    if (n > MOST) {
        diag_error(ps->diags, v->loc, "'%s<%u>' declares %u variables; outside of .reg the limit is %d", v->name->text,
                   n, n, MOST);
        return v;
    }
    const size_t size = v->name->len + DIGITS + 1;
    char *text = arena_alloc(ps->arena, size);
    struct variable *last = v;
    const struct variable whole = *v;
    for (uint32_t i = 0; i < n; i++) {
        struct variable *one = i ? arena_alloc(ps->arena, sizeof *one) : v;
        *one = whole;
        one->range = 0;
        one->name = &words_intern(ps, text, (size_t)snprintf(text, size, "%s%u", whole.name->text, i))->word;
        if (i)
            last->next = one;
        last = one;
    }
    last->next = whole.next;
    return last;
}

void decl_expand(struct parser *ps, struct variable *list) {
    for (struct variable *v = list; v; v = v->next)
        if (v->range && v->space && strcmp(v->space->text, ".reg") != 0)
            v = expand_range(ps, v);
}

/* Adds a dimension to `v`. `elements` is NULL for []. */
void decl_dim(struct parser *ps, struct variable *v, struct loc loc, struct operand *elements) {
    const int max = (int)(sizeof v->dims / sizeof *v->dims);
    v->is_array = true;
    struct operand *c = elements ? fold_constant(ps, elements) : NULL;
    uint64_t n = c ? c->integer : 0;
    if (elements && (!c || c->kind != OPD_INT || (!c->is_unsigned && (int64_t)n < 0))) {
        diag_error(ps->diags, elements->loc, "array size must be a non-negative constant");
        n = 1;
    } else if (n == 0 && v->n_dims > 0) {
        diag_error(ps->diags, loc, "only the first array size may be empty");
        n = 1;
    }
    if (v->n_dims < max)
        v->dims[v->n_dims++] = n;
    else if (!ps->decl_bad) {
        diag_error(ps->diags, loc, "an array has at most %d dimensions", max);
        ps->decl_bad = true;
    }
}

void header_version(struct parser *ps, struct loc loc, struct loc number) {
    struct module *m = ps->module;
    if (m->version_major) {
        diag_error(ps->diags, loc, "duplicate .version");
        return;
    }
    char *text = arena_strndup(ps->arena, ps->diags->text + number.begin, number.end - number.begin);
    int used = 0;
    if (number.end - number.begin > 6 || sscanf(text, "%2d.%2d%n", &m->version_major, &m->version_minor, &used) != 2 ||
        text[used] || m->version_major < 1) {
        diag_error(ps->diags, number, "malformed version, expected a number such as 9.0");
        m->version_major = 1;
    }
}

/* Returns true for "sm_" and a number, which 'a' or 'f' may follow. */
static bool is_sm(const char *name) {
    const size_t digits = strspn(name + 3, "0123456789");
    const char *letter = name + 3 + digits;
    return digits && strspn(letter, "af") == strlen(letter) && strlen(letter) <= 1;
}

void header_target(struct parser *ps, struct loc loc, const struct word *name) {
    if (strncmp(name->text, "sm_", 3) == 0 && !is_sm(name->text))
        diag_error(ps->diags, loc, "unknown target '%s', expected a name such as sm_75 or sm_90a", name->text);
    struct suffix *s = arena_alloc(ps->arena, sizeof *s);
    s->word = name;
    s->loc = loc;
    if (ps->last_target)
        ps->last_target->next = s;
    else
        ps->module->targets = s;
    ps->last_target = s;
}

void header_address_size(struct parser *ps, const struct operand *bits) {
    if (bits->integer != 32 && bits->integer != 64)
        diag_error(ps->diags, bits->loc, "address size must be 32 or 64");
    else
        ps->module->address_size = (int)bits->integer;
}
