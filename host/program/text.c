/* Reads values from a program's settings, and prints messages about them. */
#include "parts.h"
#include "ptx/diag.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *find_token(const char *text, size_t len, const char *token, bool quoted) {
    size_t n = strlen(token);
    const char *at = text, *end = text + len;
    while (n && (at = memmem(at, (size_t)(end - at), token, n))) {
        if (!quoted || (at > text && at[-1] == '"' && at + n < end && at[n] == '"'))
            return at;
        at++;
    }
    return NULL;
}

/* Returns the place in the file that a message marks: `token_len` bytes, from `offset` bytes into `token` on, in the
 * line of setting `s`. If `token_len` is 0, marks one byte, or the whole token if `offset` is 0. Without a token, marks
 * the name of the setting. */
static struct loc locate(const struct script *p, const config_setting_t *s, const char *token, size_t offset,
                         size_t token_len) {
    size_t at = 0, len;
    for (unsigned line = s ? (unsigned)config_setting_source_line(s) : 1; line > 1 && at < p->len; line--) {
        const char *nl = memchr(p->text + at, '\n', p->len - at);
        at = nl ? (size_t)(nl - p->text) + 1 : p->len;
    }
    const char *end = memchr(p->text + at, '\n', p->len - at), *name = s ? config_setting_name(s) : NULL;
    size_t to = end ? (size_t)(end - p->text) : p->len, from = at + strspn(p->text + at, " \t");
    const char *found = name ? memmem(p->text + at, to - at, name, strlen(name)) : NULL;
    if (found)
        from = (size_t)(found - p->text);
    len = found ? strlen(name) : to > from ? to - from : 0;
    const char *own = s && config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
    /* if the token is the whole text of the setting, the search includes the quotes, since an earlier text may contain
     * the token */
    bool quoted = own && token && strcmp(own, token) == 0;
    const char *in = token ? find_token(p->text + from, to - from, token, quoted) : NULL;
    if (in) {
        from = (size_t)(in - p->text) + offset;
        len = token_len ? token_len : offset ? 1 : strlen(token);
    }
    return (struct loc){(uint32_t)from, (uint32_t)(from + len)};
}

static bool tell(struct run *r, const config_setting_t *s, struct loc loc, const char *message) {
    struct diags d;
    r->status = HEDDLE_USAGE;
    diags_init(&d, r->p->path, r->p->text, r->p->len);
    diag_error(&d, loc, "%s", message);
    FILE *f = s && r->why_size ? fmemopen(r->why, r->why_size, "w") : NULL;
    if (f && d.n) {
        diags_print(&d, f);
        fclose(f);
        r->why[r->why_size - 1] = '\0';
    } else {
        if (f)
            fclose(f);
        snprintf(r->why, r->why_size, "%s: error: %s\n", r->p->path, message);
    }
    diags_free(&d);
    return false;
}

bool run_fail(struct run *r, const config_setting_t *s, const char *token, size_t offset, const char *fmt, ...) {
    if (r->status != HEDDLE_OK)
        return false;
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return tell(r, s, locate(r->p, s, token, offset, 0), message);
}

bool run_no_memory(struct run *r) {
    if (r->status != HEDDLE_OK)
        return false;
    r->status = HEDDLE_USAGE;
    snprintf(r->why, r->why_size, "the host is out of memory\n");
    return false;
}

bool run_library(struct run *r, const config_setting_t *s, const char *doing) {
    enum heddle_status status = heddle_status(r->h);
    if (r->status != HEDDLE_OK)
        return false;
    snprintf(r->why, r->why_size, "%s:%u: %s%s%s", r->p->path, s ? config_setting_source_line(s) : 1u,
             doing ? doing : "", doing ? ": " : "", heddle_error(r->h));
    r->status = status != HEDDLE_OK ? status : HEDDLE_USAGE;
    return false;
}

bool run_add_name(struct run *r, const char *name, struct value v) {
    if (r->names.n == r->cap_names) {
        int cap = r->cap_names ? 2 * r->cap_names : 16;
        struct named_value *more = realloc(r->names.list, (size_t)cap * sizeof *more);
        if (!more)
            return run_no_memory(r);
        r->names.list = more;
        r->cap_names = cap;
    }
    r->names.list[r->names.n++] = (struct named_value){name, v};
    return true;
}

bool check_keys(struct run *r, const config_setting_t *group, const char *const *known) {
    int n_known = 0;
    while (known[n_known])
        n_known++;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(s);
        bool there = false;
        for (int k = 0; name && k < n_known; k++)
            there = there || strcmp(known[k], name) == 0;
        if (there)
            continue;
        const char *near = diag_suggest(name, known, n_known);
        if (near)
            return run_fail(r, s, NULL, 0, "there is no '%s' here; did you mean '%s'?", name, near);
        char all[512] = "";
        for (int k = 0; k < n_known; k++)
            snprintf(all + strlen(all), sizeof all - strlen(all), " %s", known[k]);
        return run_fail(r, s, NULL, 0, "there is no '%s' here; known are%s", name, all);
    }
    return true;
}

bool read_group(struct run *r, const config_setting_t *in, const char *key, const config_setting_t **out) {
    *out = config_setting_get_member(in, key);
    return !*out || config_setting_is_group(*out) ||
           run_fail(r, *out, NULL, 0, "'%s' is a group: %s = { NAME = ...; }", key, key);
}

bool read_text(struct run *r, const config_setting_t *group, const char *key, const char **out) {
    const config_setting_t *s = config_setting_get_member(group, key);
    if (s && config_setting_type(s) != CONFIG_TYPE_STRING)
        return run_fail(r, s, NULL, 0, "'%s' takes a text in quotes", key);
    *out = s ? config_setting_get_string(s) : *out;
    return true;
}

bool read_word(struct run *r, const config_setting_t *s, const char *what, const char *const *words, int *out) {
    const char *word = config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
    int n = 0;
    for (; words[n]; n++)
        if (word && strcmp(words[n], word) == 0) {
            *out = n;
            return true;
        }
    const char *near = word ? diag_suggest(word, words, n) : NULL;
    if (near)
        return run_fail(r, s, word, 0, "there is no %s '%s'; did you mean '%s'?", what, word, near);
    char all[256] = "";
    for (int i = 0; i < n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), " %s", words[i]);
    return run_fail(r, s, word, 0, word ? "there is no %s '%s'; known are%s" : "a %s is one of these, in quotes:%.0s%s",
                    what, word ? word : "", all);
}

const char *setting_text(const config_setting_t *s, char spare[40]) {
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        snprintf(spare, 40, "%lld", (long long)config_setting_get_int64(s));
        return spare;
    case CONFIG_TYPE_FLOAT:
        snprintf(spare, 40, "%.17g", config_setting_get_float(s));
        return spare;
    case CONFIG_TYPE_STRING:
        return config_setting_get_string(s);
    default:
        return NULL;
    }
}

bool read_value(struct run *r, const config_setting_t *s, struct value *out) {
    struct expr_error e;
    *out = (struct value){0};
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        out->i = config_setting_get_int64(s);
        return true;
    case CONFIG_TYPE_FLOAT:
        *out = (struct value){.real = true, .r = config_setting_get_float(s)};
        return true;
    case CONFIG_TYPE_STRING:
        break;
    default:
        return run_fail(r, s, NULL, 0, "a number, or an expression in quotes, is expected here");
    }
    const char *text = config_setting_get_string(s);
    if (expr_eval(text, &r->names, out, &e) || (e.numeric && !r->h))
        return true; /* in a dry run, values are not known, so an error that depends on them is ignored */
    if (e.name[0])
        explain_unknown(r, s, e.name, e.why, sizeof e.why);
    return r->status == HEDDLE_OK ? tell(r, s, locate(r->p, s, text, e.at, e.len), e.why) : false;
}

bool read_real(struct run *r, const config_setting_t *group, const char *key, double *out) {
    const config_setting_t *s = config_setting_get_member(group, key);
    struct value v;
    if (!s)
        return true;
    if (!read_value(r, s, &v))
        return false;
    *out = value_real(v);
    return true;
}

bool check_whole(struct run *r, const config_setting_t *s, const char *what, struct value v, int64_t min, int64_t max) {
    char spare[40];
    const char *text = setting_text(s, spare);
    if (!r->h && config_setting_type(s) == CONFIG_TYPE_STRING)
        return true;
    if (v.real)
        return run_fail(r, s, text, 0, "'%s' is %g, and must be a whole number", what, v.r);
    return (v.i >= min && v.i <= max) || run_fail(r, s, text, 0, "'%s' is %lld, and must be from %lld to %lld", what,
                                                  (long long)v.i, (long long)min, (long long)max);
}

bool read_integer(struct run *r, const config_setting_t *group, const char *key, int64_t min, int64_t max,
                  int64_t *out) {
    const config_setting_t *s = config_setting_get_member(group, key);
    struct value v;
    if (!s)
        return true;
    if (!read_value(r, s, &v) || !check_whole(r, s, key, v, min, max))
        return false;
    /* limits the number to the range, because check_whole() accepts every expression in a dry run */
    *out = v.i < min ? min : v.i > max ? max : v.i;
    return true;
}

char *path_of(struct run *r, const char *file) {
    char *path = NULL;
    if (asprintf(&path, "%s%s", *file == '/' ? "" : r->p->folder, file) < 0) {
        run_no_memory(r);
        return NULL;
    }
    return path;
}

bool note_text(struct run *r, struct strings *list, const char *text) {
    char **more = realloc(list->list, (size_t)(list->n + 1) * sizeof *more);
    if (!more)
        return run_no_memory(r);
    list->list = more;
    more[list->n] = strdup(text);
    return more[list->n] ? (list->n++, true) : run_no_memory(r);
}

char *read_whole_file(struct run *r, const config_setting_t *s, const char *path, size_t *len) {
    const char *token = config_setting_get_string(s);
    struct stat st;
    bool there = stat(path, &st) == 0;
    /* not a FIFO, because fopen() would wait for a writer */
    FILE *f = there && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!f) {
        run_fail(r, s, token, 0, "%s: %s", path,
                 !there || S_ISREG(st.st_mode) ? strerror(errno)
                 : S_ISDIR(st.st_mode)         ? "it is a folder"
                                       : "it is no regular file, and a program may read its files several times");
        return NULL;
    }
    if (!r->h) { /* a dry run only checks that the file is readable */
        fclose(f);
        note_text(r, &r->open->inputs, path);
        return NULL;
    }
    char *data = malloc((size_t)st.st_size + 1);
    *len = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
    bool whole = data && *len == (size_t)st.st_size;
    fclose(f);
    if (whole) {
        data[*len] = '\0';
        return data;
    }
    if (!data)
        run_no_memory(r);
    else
        run_fail(r, s, token, 0, "%s: it cannot be read", path);
    free(data);
    return NULL;
}
