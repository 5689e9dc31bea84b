/* Reads configuration files in libconfig syntax, where each dot of a key stands for a group. A file included before
 * the first setting is read first, and later settings override single values of it. (libconfig itself would reject a
 * file in which a group appears twice.) */
#include "builtin.h"
#include "config_scan.h"
#include "config_text.h"
#include "places.h"
#include "ptx/spelling.h"
#include <dirent.h>
#include <errno.h>
#include <libconfig.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_INCLUDES = 8, MAX_FILE = 1 << 20 };
static const char built_in[] = "built-in:"; /* prefix of a preset that is read from the library itself */

struct reader {
    struct config *c;
    char *err;
    size_t err_size;
    int depth; /* nesting of includes */
    const struct config_notes *notes;
};

__attribute__((format(printf, 4, 5))) static bool fail(struct reader *r, const char *file, int line, const char *fmt,
                                                       ...) {
    int n = line ? snprintf(r->err, r->err_size, "%s:%d: ", file, line) : snprintf(r->err, r->err_size, "%s: ", file);
    va_list args;
    va_start(args, fmt);
    if (n >= 0 && (size_t)n < r->err_size)
        vsnprintf(r->err + n, r->err_size - (size_t)n, fmt, args);
    va_end(args);
    return false;
}

/* Converts a value to text for config_store(). The text of a string has no quotes: the kind of the option decides
 * whether a string is allowed. */
static bool setting_text(const config_setting_t *s, char *out, size_t size) {
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
        snprintf(out, size, "%d", config_setting_get_int(s));
        return true;
    case CONFIG_TYPE_INT64:
        snprintf(out, size, "%lld", config_setting_get_int64(s));
        return true;
    case CONFIG_TYPE_FLOAT:
        snprintf(out, size, "%.17g", config_setting_get_float(s));
        return true;
    case CONFIG_TYPE_BOOL:
        snprintf(out, size, "%s", config_setting_get_bool(s) ? "true" : "false");
        return true;
    case CONFIG_TYPE_STRING:
        snprintf(out, size, "%s", config_setting_get_string(s));
        return true;
    default:
        return false;
    }
}

/* Sets the options of a group. `key` begins with the dotted name of the group, which has `len` bytes including its
 * last dot. */
static bool apply_group(struct reader *r, const char *file, const config_setting_t *group, char *key, size_t len) {
    enum { KEY = 128 };
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        const char *from = config_setting_source_file(s) ? config_setting_source_file(s) : file;
        int line = (int)config_setting_source_line(s);
        int n = snprintf(key + len, KEY - len, "%s", config_setting_name(s));
        if (n < 0 || len + (size_t)n + 2 > KEY)
            return fail(r, from, line, "the name is too long");
        size_t end = len + (size_t)n;
        if (config_setting_is_group(s)) {
            key[end] = '.';
            key[end + 1] = 0;
            if (!apply_group(r, file, s, key, end + 1))
                return false;
            continue;
        }
        char text[256], why[256];
        const struct opt *o = config_find_noting(key, end, r->notes);
        if (!o) {
            config_unknown(key, end, why, sizeof why);
            return fail(r, from, line, "%s", why);
        }
        if (!setting_text(s, text, sizeof text))
            return fail(r, from, line, "%s takes one value, not a list", o->key);
        if (o->kind == OPT_KIND_U32 && config_setting_type(s) == CONFIG_TYPE_FLOAT)
            return fail(r, from, line, "%s takes a whole number, not one with a point or an exponent", o->key);
        if (!config_store(r->c, o, text, why, sizeof why))
            return fail(r, from, line, "%s", why);
    }
    return true;
}

static bool read_file(struct reader *r, const char *path);
static bool check_file(struct reader *r, const char *path);
static bool find_preset(const char *name, size_t len, char *out, size_t size);

/* Returns the preset of a path that begins with built_in, or NULL if there is none. */
static const struct builtin_preset *find_builtin(const char *path) {
    const struct builtin_preset *p = builtin_presets;
    if (strncmp(path, built_in, sizeof built_in - 1) != 0)
        return NULL;
    while (p->file && strcmp(p->file, path + sizeof built_in - 1) != 0)
        p++;
    return p->file ? p : NULL;
}

/* Calls `what` with the file that the @include line at `at` names. */
static bool include_line(struct reader *r, const char *path, const char *at, int line,
                         bool (*what)(struct reader *r, const char *path)) {
    const char *open = strchr(at, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    if (!open || !close || close > at + strcspn(at, "\n"))
        return fail(r, path, line, "@include takes a file name in quotes");
    char folder[PATH_MAX], file[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    bool absolute = *(open + 1) == '/',
         inside = find_builtin(path) != NULL; /* the files that a built-in preset includes are built-in presets, too */
    int n = snprintf(file, sizeof file, "%s%s%.*s",
                     absolute ? ""
                     : inside ? built_in
                              : dirname(folder),
                     absolute || inside ? "" : "/", (int)(close - open - 1), open + 1);
    if (n < 0 || (size_t)n >= sizeof file)
        return fail(r, path, line, "the file name is too long");
    /* the name is searched like the argument of --config: an include at the head of a file may name a preset in
     * another folder */
    size_t len = (size_t)(close - open - 1);
    if (what == read_file && !inside && !memchr(open + 1, '/', len) && access(file, F_OK) != 0 && len > 4 &&
        memcmp(close - 4, ".cfg", 4) == 0)
        find_preset(open + 1, len - 4, file, sizeof file);
    if (r->depth >= MAX_INCLUDES)
        return fail(r, path, line, "more than %d files include each other", MAX_INCLUDES);
    r->depth++;
    bool ok = what(r, file);
    r->depth--;
    return ok;
}

/* Handles the @include lines at the head of the text, which only comments and blank lines may precede. */
static bool leading_includes(struct reader *r, const char *path, char *text) {
    int line = 1;
    for (char *at = text; *at;) {
        at += strspn(at, " \t\r");
        if (*at == '@') {
            if (!include_line(r, path, at, line, read_file))
                return false;
            memset(at, ' ', strcspn(at, "\n")); /* keeps line numbers */
        } else if (at[0] == '/' && at[1] == '*') {
            char *close = strstr(at + 2, "*/");
            for (; close && at < close; at++)
                line += *at == '\n';
            if (!close)
                return true; /* the comment does not end; libconfig reports this error */
            at += 2;
            continue;
        } else if (*at != '\n' && *at != '#' && !(at[0] == '/' && at[1] == '/')) {
            return true;
        }
        at += strcspn(at, "\n");
        if (*at) {
            at++;
            line++;
        }
    }
    return true;
}

static char *read_text(const char *path) {
    enum { STEP = 16 * 1024 };
    const struct builtin_preset *inside = find_builtin(path);
    if (inside)
        return strdup(inside->text);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = NULL;
    size_t n = 0;
    int why = 0;
    while (!why && !feof(f)) {
        char *more = n < MAX_FILE ? realloc(text, n + STEP + 1) : NULL;
        if (more) {
            text = more;
            n += fread(text + n, 1, STEP, f);
            why = ferror(f) ? errno : 0;
        } else {
            why = n < MAX_FILE ? ENOMEM : EFBIG;
        }
    }
    fclose(f);
    if (why) {
        free(text);
        errno = why;
        return NULL;
    }
    text[n] = 0;
    return text;
}

/* Checks all numbers of a text, and of files that it includes after its first setting (libconfig reads these).
 * libconfig would silently truncate large numbers; no option accepts such a value. */
static bool check_numbers(struct reader *r, const char *path, const char *text) {
    struct config_scan s = {.at = text, .line = 1};
    enum config_token token;
    while ((token = config_scan(&s)) != CONFIG_TOKEN_END) {
        if (token == CONFIG_TOKEN_INCLUDE && !include_line(r, path, s.next, s.line, check_file))
            return false;
        if (token == CONFIG_TOKEN_NUMBER && config_number_is_large(&s))
            return fail(r, path, s.line, "%.*s is out of range: no option takes more than %d", (int)s.len, s.next,
                        INT32_MAX);
    }
    return true;
}

static bool check_file(struct reader *r, const char *path) {
    char *text = read_text(path);
    bool ok =
        text ? check_numbers(r, path, text) : fail(r, path, 0, "cannot read this configuration: %s", strerror(errno));
    free(text);
    return ok;
}

static bool read_file(struct reader *r, const char *path) {
    char *text = read_text(path);
    if (!text)
        return fail(r, path, 0, "cannot read this configuration: %s", strerror(errno));
    bool ok = leading_includes(r, path, text);
    config_drop_comments(text);
    if (!ok || !check_numbers(r, path, text)) {
        free(text);
        return false;
    }
    char folder[PATH_MAX], key[128] = "";
    snprintf(folder, sizeof folder, "%s", path);
    config_t file;
    config_init(&file);
    config_set_include_dir(&file, dirname(folder));
    ok = config_read_string(&file, text);
    if (!ok)
        fail(r, config_error_file(&file) ? config_error_file(&file) : path, config_error_line(&file), "%s",
             config_error_text(&file));
    else
        ok = apply_group(r, path, config_root_setting(&file), key, 0);
    config_destroy(&file);
    free(text);
    return ok;
}

/* Returns the n-th folder to search for presets, without a slash at its end. Returns false after the last folder. */
static bool config_path(int n, char *out, size_t size) {
    const char *env = getenv("HEDDLE_CONFIGS");
    if (n > 1)
        return data_place(n - 2, "configs", out, size);
    snprintf(out, size, "%s", n == 0 && env ? env : "configs");
    return true;
}

/* Finds the preset whose name is the first `len` bytes of `name`. `out` does not change if there is no such preset. */
static bool find_preset(const char *name, size_t len, char *out, size_t size) {
    char folder[PATH_MAX], path[PATH_MAX];
    for (int n = 0; config_path(n, folder, sizeof folder); n++) {
        int bytes = snprintf(path, sizeof path, "%s/%.*s.cfg", folder, (int)len, name);
        if (bytes > 0 && (size_t)bytes < sizeof path && (size_t)bytes < size && access(path, R_OK) == 0) {
            memcpy(out, path, (size_t)bytes + 1);
            return true;
        }
    }
    int bytes = snprintf(path, sizeof path, "%s%.*s.cfg", built_in, (int)len, name);
    bool known = bytes > 0 && (size_t)bytes < sizeof path && (size_t)bytes < size && find_builtin(path);
    if (known)
        memcpy(out, path, (size_t)bytes + 1);
    return known;
}

bool config_find_preset(const char *name, char *out, size_t size) { return find_preset(name, strlen(name), out, size); }

static bool is_path(const char *s) {
    size_t n = strlen(s);
    return strchr(s, '/') || (n > 4 && strcmp(s + n - 4, ".cfg") == 0);
}

static void unknown_preset(const char *name, char *err, size_t err_size) {
    char **names = config_presets();
    struct spelling near;
    spelling_begin(&near, name, strlen(name));
    for (int i = 0; names && names[i]; i++)
        spelling_try(&near, names[i]);
    int n = near.best
                ? snprintf(err, err_size, "there is no preset \"%s\"; did you mean \"%s\"? Known are:", name, near.best)
                : snprintf(err, err_size, "there is no preset \"%s\"; known are:", name);
    for (int i = 0; names && names[i] && n > 0 && (size_t)n < err_size; i++)
        n += snprintf(err + n, err_size - (size_t)n, " %s", names[i]);
    free(names);
}

bool config_load_noting(struct config *c, const char *name_or_path, const struct config_notes *notes, char *err,
                        size_t err_size) {
    struct reader r = {c, err, err_size, 0, notes};
    char path[PATH_MAX], why[256];
    config_default(c);
    if (is_path(name_or_path)) {
        snprintf(path, sizeof path, "%s", name_or_path);
    } else if (!find_preset(name_or_path, strlen(name_or_path), path, sizeof path)) {
        unknown_preset(name_or_path, err, err_size);
        return false;
    }
    if (!read_file(&r, path))
        return false;
    return config_check(c, why, sizeof why) || fail(&r, path, 0, "%s", why);
}

bool config_load(struct config *c, const char *name_or_path, char *err, size_t err_size) {
    return config_load_noting(c, name_or_path, NULL, err, err_size);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* A list of file names in one buffer, one after the other, each ended by a zero byte. */
struct names {
    char *text;
    size_t bytes, cap, n;
};

/* Adds the first `len` bytes of `name`. Returns false when memory runs out. */
static bool add_name(struct names *all, const char *name, size_t len) {
    if (all->bytes + len + 1 > all->cap) {
        size_t cap = 2 * all->cap + len + 256;
        char *more = realloc(all->text, cap);
        if (!more)
            return false;
        all->text = more;
        all->cap = cap;
    }
    memcpy(all->text + all->bytes, name, len);
    all->text[all->bytes + len] = 0;
    all->bytes += len + 1;
    all->n++;
    return true;
}

/* Adds the presets of a folder, which need not exist. Returns false when memory runs out. */
static bool add_folder(struct names *all, const char *folder) {
    DIR *d = opendir(folder);
    if (!d)
        return errno != ENOMEM;
    bool whole = true;
    for (const struct dirent *e; whole && (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        if (len > 4 && e->d_name[0] != '.' && strcmp(e->d_name + len - 4, ".cfg") == 0)
            whole = add_name(all, e->d_name, len - 4);
    }
    closedir(d);
    return whole;
}

/* Returns the names sorted and without duplicates, in one block: pointers, then text. Returns NULL when memory runs
 * out. */
static char **sorted(const struct names *all) {
    char **out = malloc((all->n + 1) * sizeof *out + all->bytes);
    if (!out)
        return NULL;
    char *text = (char *)(out + all->n + 1);
    if (all->bytes)
        memcpy(text, all->text, all->bytes);
    for (size_t i = 0; i < all->n; i++, text += strlen(text) + 1)
        out[i] = text;
    qsort(out, all->n, sizeof *out, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!kept || strcmp(out[kept - 1], out[i]) != 0)
            out[kept++] = out[i];
    out[kept] = NULL;
    return out;
}

char **config_presets(void) {
    struct names all = {0};
    char folder[PATH_MAX];
    bool whole = true;
    for (int n = 0; whole && config_path(n, folder, sizeof folder); n++)
        whole = add_folder(&all, folder);
    for (const struct builtin_preset *p = builtin_presets; whole && p->file; p++)
        whole = add_name(&all, p->file, strlen(p->file) - 4);
    char **names = whole ? sorted(&all) : NULL;
    free(all.text);
    return names;
}
