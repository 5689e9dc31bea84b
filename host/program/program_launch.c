/* Performs a launch step of a program: kernel, grid, block and arguments. */
#include "parts.h"
#include "ptx/diag.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 1024 };

/* A launch under construction. */
struct launch {
    const config_setting_t *s;
    const char *kernel;
    struct heddle_module *m;
    struct heddle_param *params;
    int n_params, n;
    struct arg *args;
};

/* Reads the size of the grid or block, in one of these forms: grid = 4, grid = "n / 16", grid = (4, "n"). */
static bool read_dim(struct run *r, const config_setting_t *launch, const char *key, struct heddle_dim *out) {
    const config_setting_t *s = config_setting_get_member(launch, key);
    uint32_t *const to[] = {&out->x, &out->y, &out->z};
    struct value v;
    *out = (struct heddle_dim){1, 1, 1};
    if (!s)
        return run_fail(r, launch, NULL, 0, "%s is missing: %s = NUMBER or %s = (X, Y, Z)", key, key, key);
    bool list = config_setting_is_list(s) || config_setting_is_array(s);
    int n = list ? config_setting_length(s) : 1;
    if (n < 1 || n > 3)
        return run_fail(r, s, NULL, 0, "%s has one to three dimensions", key);
    for (int i = 0; i < n; i++) {
        const config_setting_t *one = list ? config_setting_get_elem(s, (unsigned)i) : s;
        if (!read_value(r, one, &v) || !check_whole(r, one, key, v, 1, UINT32_MAX))
            return false;
        *to[i] = (uint32_t)v.i;
    }
    return true;
}

/* Finds the module that has the kernel: the module that the step names, or the only one with this kernel. */
static bool find_kernel(struct run *r, struct launch *l) {
    const char *module = NULL;
    int found = 0, all = 0;
    if (!read_text(r, l->s, "launch", &l->kernel) || !read_text(r, l->s, "module", &module))
        return false;
    bool named = !module;
    for (int i = 0; i < r->n_modules; i++)
        named = named || strcmp(r->modules[i].name, module) == 0;
    if (!named)
        return run_fail(r, config_setting_get_member(l->s, "module"), module, 0, "there is no module '%s'", module);
    if (!r->h)
        return true;
    const char *known[256], *name;
    for (int i = 0; i < r->n_modules; i++) {
        if (module && strcmp(r->modules[i].name, module) != 0)
            continue;
        for (int k = 0; (name = heddle_kernel(r->modules[i].m, k)); k++) {
            if (all < 256)
                known[all++] = name;
            if (strcmp(name, l->kernel) == 0) {
                l->m = r->modules[i].m;
                found++;
            }
        }
    }
    const config_setting_t *s = config_setting_get_member(l->s, "launch");
    const char *near = diag_suggest(l->kernel, known, all);
    if (!found)
        return run_fail(r, s, l->kernel, 0,
                        near ? "there is no kernel '%s'; did you mean '%s'?" : "there is no kernel '%s'%s", l->kernel,
                        near ? near : "");
    return found == 1 ||
           run_fail(r, s, l->kernel, 0, "several modules have a kernel '%s': module = \"NAME\" says which", l->kernel);
}

static bool take_buffer(struct run *r, const config_setting_t *s, const char *text, const struct script_buffer *b,
                        size_t name, struct arg *a) {
    struct value v = {0};
    uint64_t address = b->address;
    a->kind = ARG_IN;
    if (text[name]) { /* NAME[INDEX] */
        size_t len = strlen(text);
        char *index = text[len - 1] == ']' ? strndup(text + name + 1, len - name - 2) : NULL;
        struct expr_error e = {.at = 0, .why = "a ']' is missing at the end"};
        bool fine = index && (expr_eval(index, &r->names, &v, &e) || (e.numeric && !r->h));
        free(index);
        if (!fine)
            return run_fail(r, s, text, name + 1 + e.at, "%s", e.why);
        if (r->h && (v.real || v.i < 0 || (uint64_t)v.i >= b->count))
            return run_fail(r, s, text, name + 1, "element %lld of '%s', which has %llu", (long long)v.i, b->name,
                            (unsigned long long)b->count);
        address += (uint64_t)v.i * b->type->bytes;
    }
    memcpy(a->value, &address, sizeof address);
    return true;
}

static bool take_bytes(struct run *r, const config_setting_t *s, const char *file, struct arg *a) {
    size_t len = 0;
    char *path = path_of(r, file);
    a->kind = ARG_BYTES;
    a->data = path ? (unsigned char *)read_whole_file(r, s, path, &len) : NULL;
    a->bytes = len;
    free(path);
    return a->data || (!r->h && r->status == HEDDLE_OK);
}

static bool take_object(struct run *r, const config_setting_t *s, const char *name, enum arg_object object,
                        struct arg *a) {
    int i = find_texture(r, name);
    if (i < 0 || r->textures[i].is_sampler != (object == ARG_SAMPLER))
        return run_fail(r, s, name, 0, "there is no %s '%s'", object == ARG_SAMPLER ? "sampler" : "texture", name);
    a->object = object;
    a->kind = ARG_IN;
    return !r->h || texture_handle(r, s, &r->textures[i], object, &a->handle);
}

/* Evaluates an expression and converts the result to type `t`, or to the type of parameter `p` if `t` is NULL. */
static bool take_value(struct run *r, const config_setting_t *s, const char *expression, const struct value_type *t,
                       const struct heddle_param *p, struct arg *a) {
    struct value v;
    struct expr_error e;
    char spare[40];
    const char *text = setting_text(s, spare);
    if (!expr_eval(expression, &r->names, &v, &e) && (!e.numeric || r->h))
        return run_fail(r, s, text, (size_t)(expression - text) + e.at, "%s", e.why);
    a->kind = ARG_VALUE;
    if (!r->h)
        return true;
    bool real = p && (p->type[1] == 'f' || (p->type[1] == 'b' && v.real));
    if (!t && p && p->bytes <= 8) {
        char name[8];
        snprintf(name, sizeof name, "%c%u", real ? 'f' : v.i < 0 ? 's' : 'u', 8 * p->bytes);
        t = value_type(name, strlen(name));
    }
    t = t ? t : value_type("u64", 3); /* no type fits the parameter: args_match() will report this */
    a->type = t->name;
    a->bytes = t->bytes;
    return store_value(r, s, text, t, v, a->value);
}

/* Checks that an argument, which is not the name of a buffer, is the name of a value. A message suggests a buffer or
 * value with a similar name. */
static bool known_value(struct run *r, const config_setting_t *s, const char *name) {
    int n = r->names.n + r->n_buffers;
    const char **known = calloc((size_t)n + 1, sizeof *known), *near = NULL;
    char why[256];
    bool there = false;
    for (int i = 0; i < r->names.n; i++)
        there = there || strcmp(r->names.list[i].name, name) == 0;
    for (int i = 0; known && i < n; i++)
        known[i] = i < r->names.n ? r->names.list[i].name : r->buffers[i - r->names.n].name;
    if (known)
        near = diag_suggest(name, known, n);
    free(known);
    if (there)
        return true;
    if (explain_unknown(r, s, name, why, sizeof why))
        return run_fail(r, s, name, 0, "%s", why);
    return near ? run_fail(r, s, name, 0, "there is no buffer or value '%s'; did you mean '%s'?", name, near)
                : run_fail(r, s, name, 0, "there is no buffer or value '%s'", name);
}

static bool take_arg(struct run *r, const config_setting_t *s, const struct heddle_param *p, struct arg *a) {
    static const char *const objects[] = {[ARG_TEXTURE] = "tex:", [ARG_SURFACE] = "surf:", [ARG_SAMPLER] = "sampler:"};
    char spare[40], why[192];
    const char *text = setting_text(s, spare);
    size_t name = 0, prefix = text ? strcspn(text, ":") : 0;
    if (!text)
        return run_fail(r, s, NULL, 0, "an argument is a number, or a text in quotes");
    a->spec = config_setting_type(s) == CONFIG_TYPE_STRING ? text : "a number";
    if (strncmp(text, "bytes:", 6) == 0)
        return take_bytes(r, s, text + 6, a);
    for (int i = ARG_TEXTURE; i <= ARG_SAMPLER; i++)
        if (strncmp(text, objects[i], strlen(objects[i])) == 0)
            return take_object(r, s, text + strlen(objects[i]), (enum arg_object)i, a);
    while (isalnum((unsigned char)text[name]) || text[name] == '_')
        name++;
    int b = text[name] && text[name] != '[' ? -1 : find_buffer(r, text, name);
    if (b >= 0)
        return take_buffer(r, s, text, &r->buffers[b], name, a);
    if (!text[prefix])
        return (text[name] || !isalpha((unsigned char)*text) || known_value(r, s, text)) &&
               take_value(r, s, text, NULL, p, a);
    const struct value_type *t = value_type(text, prefix);
    if (!t)
        return run_fail(r, s, text, 0,
                        "an argument is a buffer, an expression, or begins with one of u8: s8: u16: s16: u32: s32: "
                        "u64: s64: f32: f64: bytes: tex: surf: sampler:");
    return (arg_parse(text, a, why, sizeof why)) || take_value(r, s, text + prefix + 1, t, p, a);
}

static bool match(struct run *r, struct launch *l) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return run_no_memory(r);
    bool fine = args_match(l->args, l->n, l->params, l->n_params, l->kernel, heddle_address_size(l->m), "", f);
    fclose(f);
    if (!fine && r->status == HEDDLE_OK) {
        r->status = HEDDLE_USAGE;
        snprintf(r->why, r->why_size, "%s:%u: %s", r->p->path, config_setting_source_line(l->s), text ? text : "");
    }
    free(text);
    for (int i = 0; fine && i < l->n; i++)
        if (l->args[i].kind == ARG_BYTES && l->args[i].bytes != l->params[i].bytes)
            fine = run_fail(r, l->s, l->args[i].spec, 0, "'%s' has %llu bytes, and parameter '%s' %u", l->args[i].spec,
                            (unsigned long long)l->args[i].bytes, l->params[i].name, l->params[i].bytes);
    return fine;
}

static bool take_args(struct run *r, struct launch *l) {
    const config_setting_t *args = config_setting_get_member(l->s, "args");
    if (args && !config_setting_is_list(args) && !config_setting_is_array(args))
        return run_fail(r, args, NULL, 0, "args is a list: args = (\"a\", \"n\", 3)");
    int n = args ? config_setting_length(args) : 0;
    l->args = calloc((size_t)n + 1, sizeof *l->args);
    l->params = calloc(MAX_PARAMS, sizeof *l->params);
    if (!l->args || !l->params)
        return run_no_memory(r);
    if (r->h && (l->n_params = heddle_params(r->h, l->m, l->kernel, l->params, MAX_PARAMS)) < 0)
        return run_library(r, l->s, NULL);
    if (l->n_params > MAX_PARAMS)
        return run_fail(r, l->s, NULL, 0, "kernel '%s' has more than %d parameters", l->kernel, MAX_PARAMS);
    for (; l->n < n; l->n++)
        if (!take_arg(r, config_setting_get_elem(args, (unsigned)l->n), l->n < l->n_params ? &l->params[l->n] : NULL,
                      &l->args[l->n])) {
            l->n++; /* counts the argument that failed, too, so that its memory is freed */
            return false;
        }
    return !r->h || match(r, l);
}

static bool start(struct run *r, struct launch *l) {
    struct heddle_dim grid, block;
    int64_t shared = 0;
    if (!find_kernel(r, l) || !read_dim(r, l->s, "grid", &grid) || !read_dim(r, l->s, "block", &block) ||
        !read_integer(r, l->s, "shared", 0, UINT32_MAX, &shared) || !take_args(r, l) || !bind_textures(r))
        return false;
    if (!r->h)
        return true;
    struct heddle_arg *args = calloc((size_t)l->n + 1, sizeof *args);
    if (!args)
        return run_no_memory(r);
    for (int i = 0; i < l->n; i++) {
        const struct arg *a = &l->args[i];
        if (a->object)
            args[i] = (struct heddle_arg){&a->handle, sizeof a->handle};
        else if (a->kind == ARG_IN)
            args[i] = (struct heddle_arg){a->value, (size_t)heddle_address_size(l->m) / 8};
        else
            args[i] = (struct heddle_arg){a->kind == ARG_BYTES ? a->data : a->value, a->bytes};
    }
    enum heddle_status status = heddle_launch(r->h, l->m, l->kernel, grid, block, (uint32_t)shared, args, l->n);
    free(args);
    return status == HEDDLE_OK || run_library(r, l->s, NULL);
}

bool run_launch(struct run *r, const config_setting_t *s) {
    static const char *const keys[] = {"launch", "module", "grid", "block", "shared", "args", "when", NULL};
    struct launch l = {.s = s};
    bool fine = check_keys(r, s, keys) && start(r, &l);
    for (int i = 0; i < l.n; i++)
        arg_free(&l.args[i]);
    free(l.args);
    free(l.params);
    return fine;
}
