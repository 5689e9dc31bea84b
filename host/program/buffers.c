/* The buffers of a program: device memory under a name. */
#include "parts.h"
#include "ptx/diag.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int named_buffer(struct run *r, const config_setting_t *s) {
    const char *name = s && config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
    int i = name ? find_buffer(r, name, strlen(name)) : -1;
    if (i >= 0 || !name) {
        if (i < 0)
            run_fail(r, s, NULL, 0, "the name of a buffer, in quotes, is expected here");
        return i;
    }
    const char **known = calloc((size_t)r->n_buffers + 1, sizeof *known);
    for (int k = 0; known && k < r->n_buffers; k++)
        known[k] = r->buffers[k].name;
    const char *near = known ? diag_suggest(name, known, r->n_buffers) : NULL;
    free(known);
    run_fail(r, s, name, 0, near ? "there is no buffer '%s'; did you mean '%s'?" : "there is no buffer '%s'%s", name,
             near ? near : "");
    return -1;
}

/* Finds the module variable that the buffer's key `symbol` names. Sets *address to 0 if there is no such key, or in a
 * dry run. */
static bool find_symbol(struct run *r, const config_setting_t *s, uint64_t *address, uint64_t *bytes) {
    const char *symbol = NULL, *module = NULL;
    *address = 0;
    if (!read_text(r, s, "symbol", &symbol) || !read_text(r, s, "module", &module))
        return false;
    if (module && !symbol)
        return run_fail(r, config_setting_get_member(s, "module"), NULL, 0,
                        "a module only has to be named with symbol");
    for (int i = 0; r->h && symbol && i < r->n_modules; i++)
        if ((!module || strcmp(module, r->modules[i].name) == 0) &&
            (*address = heddle_symbol(r->h, r->modules[i].m, symbol, bytes)))
            return true;
    return !symbol || !r->h ||
           run_fail(r, config_setting_get_member(s, "symbol"), symbol, 0, "no module has a variable '%s'", symbol);
}

static bool place(struct run *r, const config_setting_t *s, struct script_buffer *b, const unsigned char *data,
                  bool zero) {
    uint64_t bytes = 0;
    const config_setting_t *kind = config_setting_get_member(s, "generate");
    bool nothing = kind && strcmp(config_setting_get_string(kind), "none") == 0 && !config_setting_get_member(s, "set");
    if (!find_symbol(r, s, &b->address, &bytes))
        return false;
    if (!r->h)
        return true;
    b->symbol = b->address;
    if (b->symbol && bytes != b->bytes)
        return run_fail(r, s, NULL, 0, "the variable has %llu bytes, and '%s' %llu", (unsigned long long)bytes, b->name,
                        (unsigned long long)b->bytes);
    if (!b->address)
        b->address = heddle_alloc(r->h, b->bytes);
    if (!b->address || (!nothing && (zero ? heddle_clear(r->h, b->address, b->bytes)
                                          : heddle_write(r->h, b->address, data, b->bytes)) != HEDDLE_OK))
        return run_library(r, s, b->name);
    return true;
}

/* Checks that the name of a buffer is valid in expressions and arguments, and that no value has the same name. */
static bool check_name(struct run *r, const config_setting_t *s) {
    const char *name = config_setting_name(s);
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return run_fail(r, s, NULL, 0, "a name has letters, digits and _ only");
    for (int i = 0; i < r->names.n; i++)
        if (strcmp(r->names.list[i].name, name) == 0)
            return run_fail(r, s, NULL, 0, "'%s' is a value already", name);
    return true;
}

static bool make(struct run *r, const config_setting_t *s, struct script_buffer *b) {
    const config_setting_t *type = config_setting_get_member(s, "type"), *count;
    const char *word = NULL;
    struct value v = {0};
    static const char *const keys[] = {"type", "count",  "generate", "file",      "graph",    "part",    "set",
                                       "save", "symbol", "module",   "value",     "start",    "step",    "low",
                                       "high", "seed",   "mean",     "deviation", "diagonal", "columns", NULL};
    b->name = config_setting_name(s);
    if (!config_setting_is_group(s))
        return run_fail(r, s, NULL, 0, "a buffer is a group: %s = { type = \"f32\"; count = 64; ... }", b->name);
    if (!check_name(r, s) || !check_keys(r, s, keys) || !read_text(r, s, "type", &word) ||
        !read_text(r, s, "save", &b->save))
        return false;
    if (!word)
        return run_fail(r, s, NULL, 0, "of what? type = \"f32\" or another is missing");
    if (!(b->type = value_type(word, strlen(word))))
        return run_fail(r, type, word, 0, "there is no type '%s'; known are u8 s8 u16 s16 u32 s32 u64 s64 f32 f64",
                        word);
    if ((count = config_setting_get_member(s, "count"))) {
        if (!read_value(r, count, &v) || !check_whole(r, count, "count", v, 1, (int64_t)1 << 40))
            return false;
        b->count = (uint64_t)v.i;
    }
    bool zero = false;
    unsigned char *data = fill_buffer(r, s, b, &zero);
    bool fine = data && place(r, s, b, data, zero);
    free(data);
    if (!fine)
        return r->status == HEDDLE_OK ? run_no_memory(r) : false;
    if (b->save && !r->h && !note_text(r, &r->open->outputs, b->save))
        return false;
    if (asprintf(&b->count_name, "%s.count", b->name) < 0) {
        b->count_name = NULL;
        return run_no_memory(r);
    }
    return run_add_name(r, b->count_name, (struct value){.i = (int64_t)b->count});
}

bool make_buffers(struct run *r) {
    const config_setting_t *group;
    if (!read_group(r, r->p->root, "buffers", &group) || !group)
        return r->status == HEDDLE_OK;
    int n = config_setting_length(group);
    r->buffers = calloc((size_t)n + 1, sizeof *r->buffers);
    if (!r->buffers)
        return run_no_memory(r);
    for (int i = 0; i < n; i++, r->n_buffers++)
        if (!make(r, config_setting_get_elem(group, (unsigned)i), &r->buffers[i])) {
            free(r->buffers[i].count_name);
            return false;
        }
    return true;
}
