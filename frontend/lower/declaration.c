/* Reads the declaration of a variable: type, size, alignment and state space. */
#include "image.h"
#include <string.h>

bool is_opaque(const struct variable *v) {
    return v->type && (strcmp(v->type->text, ".texref") == 0 || strcmp(v->type->text, ".samplerref") == 0 ||
                       strcmp(v->type->text, ".surfref") == 0);
}

enum space space_named(const char *text) {
    static const struct {
        const char *text;
        enum space space;
    } spaces[] = {{".global", SPACE_GLOBAL}, {".shared", SPACE_SHARED}, {".local", SPACE_LOCAL},
                  {".const", SPACE_CONST},   {".param", SPACE_PARAM},   {".tex", SPACE_TEX}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strncmp(text, spaces[i].text, strlen(spaces[i].text)) == 0)
            return spaces[i].space;
    return SPACE_GENERIC;
}

enum type declared_type(struct diags *d, const struct variable *v) {
    enum type t = v->type ? type_named(v->type->text) : T_NONE;
    if (t == T_NONE && v->type)
        diag_error(d, v->loc, "'%s' is declared with type '%s', which variables cannot have",
                   v->name ? v->name->text : "_", v->type->text);
    return t;
}

bool is_unsized(const struct variable *v) { return v->is_array && v->n_dims && v->dims[0] == 0; }

static unsigned vector_size(const struct variable *v) { return v->vector ? (unsigned)(v->vector->text[2] - '0') : 1; }

bool variable_bytes(struct diags *d, const struct variable *v, enum type t, uint64_t limit, uint64_t *bytes) {
    uint64_t size = (uint64_t)type_bytes(t) * vector_size(v);
    bool overflow = false;
    for (int i = 0; i < v->n_dims && v->is_array; i++)
        overflow |= __builtin_mul_overflow(size, v->dims[i], &size);
    *bytes = size;
    if (!overflow && size <= limit)
        return true;
    if (overflow)
        diag_error(d, v->loc, "the size of '%s' overflows", v->name ? v->name->text : "_");
    else
        diag_error(d, v->loc, "'%s' takes %llu bytes; the limit is %llu", v->name ? v->name->text : "_",
                   (unsigned long long)size, (unsigned long long)limit);
    return false;
}

bool variable_align(struct diags *d, const struct variable *v, enum type t, uint64_t limit, uint64_t *align) {
    *align = v->align ? v->align : (uint64_t)type_bytes(t) * vector_size(v);
    if (*align == 0)
        *align = 1;
    if ((*align & (*align - 1)) == 0 && *align <= limit)
        return true;
    diag_error(d, v->loc, "the alignment of '%s' is %llu; it must be a power of two up to %llu",
               v->name ? v->name->text : "_", (unsigned long long)*align, (unsigned long long)limit);
    return false;
}
