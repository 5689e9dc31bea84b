#include "parts.h"
#include "ptx/diag.h"
#include "timing/config/config_scan.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Adds a module from a file in the program's folder. If there is no such file and the name has no slash, it is one of
 * Heddle's kernels. */
static bool add_module(struct run *r, const config_setting_t *s, const char *name) {
    const char *file = config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
    char kernel[PATH_MAX];
    if (!file || !*file)
        return run_fail(r, s, NULL, 0, "a module is a PTX file's name, in quotes");
    char *path = path_of(r, file);
    if (!path)
        return false;
    struct stat st;
    const char *found =
        access(path, F_OK) == 0 || strchr(file, '/') ? path : bench_kernel_path(file, kernel, sizeof kernel);
    bool fine = found && access(found, R_OK) == 0;
    if (!fine)
        run_fail(r, s, file, 0, "%s: %s", path, found ? strerror(errno) : "it is not there, and no kernel of Heddle");
    else if (stat(found, &st) == 0 && !S_ISREG(st.st_mode))
        fine =
            run_fail(r, s, file, 0, "%s: it is no regular file, and a program may read its files several times", path);
    else if (!r->h)
        fine = note_text(r, &r->open->inputs, found);
    else if ((r->modules[r->n_modules].m = heddle_module_file(r->h, found)))
        r->modules[r->n_modules++].name = name;
    else
        fine = run_library(r, s, file);
    if (fine && !r->h)
        r->modules[r->n_modules++].name = name;
    free(path);
    return fine;
}

static bool load_modules(struct run *r) {
    const config_setting_t *one = config_setting_get_member(r->p->root, "module"), *all;
    if (!read_group(r, r->p->root, "modules", &all))
        return false;
    if (!one == !all)
        return run_fail(r, one, NULL, 0, "which kernels? module = \"X.ptx\", or modules = { NAME = \"X.ptx\"; ... }");
    int n = all ? config_setting_length(all) : 1;
    r->modules = calloc((size_t)n + 1, sizeof *r->modules);
    if (!r->modules)
        return run_no_memory(r);
    if (one)
        return add_module(r, one, "");
    for (int i = 0; i < n; i++) {
        const config_setting_t *s = config_setting_get_elem(all, (unsigned)i);
        if (!add_module(r, s, config_setting_name(s)))
            return false;
    }
    return true;
}

static bool save_buffers(struct run *r) {
    bool fine = true;
    for (int i = 0; fine && r->h && !r->recording && r->host->save && i < r->n_buffers; i++) {
        const struct script_buffer *b = &r->buffers[i];
        unsigned char *data = b->save ? malloc(b->bytes) : NULL;
        if (!b->save)
            continue;
        if (!data)
            return run_no_memory(r);
        if (heddle_read(r->h, b->address, data, b->bytes) != HEDDLE_OK) {
            fine = run_library(r, NULL, b->name);
        } else if (!r->host->save(r->host->ctx, b->save, data, b->bytes, r->why, r->why_size)) {
            r->status = HEDDLE_USAGE;
            fine = false;
        }
        free(data);
    }
    return fine;
}

static bool script_go(struct run *r) {
    static const char *const keys[] = {"help",   "module",  "modules",  "values",   "ranges", "paper",
                                       "graphs", "buffers", "textures", "samplers", "steps",  NULL};
    const config_setting_t *root = r->p->root, *steps = config_setting_get_member(root, "steps");
    if (!check_keys(r, root, keys) || !make_values(r) || !load_modules(r) || !make_graphs(r) || !make_buffers(r) ||
        !make_textures(r))
        return false;
    if (!steps || !config_setting_is_list(steps))
        return run_fail(r, steps, NULL, 0, "what does it do? steps = ( { launch = \"KERNEL\"; ... }, ... ) is missing");
    return run_steps(r, steps) && save_buffers(r);
}

static bool slurp(struct script *p, char *err, size_t size) {
    enum { MAX_FILE = 1 << 20 };
    struct stat st;
    bool fine = stat(p->path, &st) == 0;
    /* not a FIFO, because fopen() would wait for a writer */
    FILE *f = fine && S_ISREG(st.st_mode) ? fopen(p->path, "rb") : NULL;
    const char *why = !fine                           ? strerror(errno)
                      : S_ISDIR(st.st_mode)           ? "it is a folder"
                      : !S_ISREG(st.st_mode)          ? "a program is a regular file, and this is none"
                      : !f                            ? strerror(errno)
                      : !(p->text = malloc(MAX_FILE)) ? "the host is out of memory"
                                                      : NULL;
    if (!why) {
        p->len = fread(p->text, 1, MAX_FILE - 1, f);
        p->text[p->len] = '\0';
        why = ferror(f) || !feof(f)       ? "it is too large for a program"
              : strlen(p->text) != p->len ? "it holds a zero byte: this is no program"
                                          : NULL;
    }
    if (f)
        fclose(f);
    if (why)
        snprintf(err, size, "%s: %s\n", p->path, why);
    return !why;
}

/* Finds errors that libconfig misses: numbers that it would truncate, and @include. */
static bool scan(struct run *r) {
    struct config_scan s = {.at = r->p->text, .line = 1};
    enum config_token token;
    while ((token = config_scan(&s)) != CONFIG_TOKEN_END) {
        bool large = token == CONFIG_TOKEN_NUMBER && !memchr(s.next, 'L', s.len) && config_number_is_large(&s);
        if (token == CONFIG_TOKEN_NUMBER && !large)
            continue;
        snprintf(r->why, r->why_size, "%s:%d: error: ", r->p->path, s.line);
        size_t n = strlen(r->why);
        if (large)
            snprintf(r->why + n, r->why_size - n, "%.*s takes more than 31 bits: write it with an L at its end\n",
                     (int)s.len, s.next);
        else
            snprintf(r->why + n, r->why_size - n, "a program is one file: @include is not for it\n");
        return false;
    }
    return true;
}

/* Reports a syntax error. The message marks the whole line, because libconfig provides only the line number. */
static void say_syntax(const struct script *p, struct run *r) {
    struct diags d;
    const char *at = p->text, *why = config_error_text(&p->config);
    for (int line = config_error_line(&p->config); line > 1 && strchr(at, '\n'); line--)
        at = strchr(at, '\n') + 1;
    at += strspn(at, " \t");
    size_t from = (size_t)(at - p->text), len = strcspn(at, "\n");
    diags_init(&d, p->path, p->text, p->len);
    diag_error(&d, (struct loc){(uint32_t)from, (uint32_t)(from + len)}, "%s", why);
    if (strstr(why, "syntax"))
        diag_help(&d, "before or in it a ';' or a ',' is missing, a bracket or a quote is not closed, or an expression "
                      "or a name stands without quotes");
    else if (strstr(why, "duplicate"))
        diag_help(&d, "a name stands once in its group");
    FILE *f = fmemopen(r->why, r->why_size, "w");
    if (f)
        diags_print(&d, f);
    if (f)
        fclose(f);
    r->why[r->why_size - 1] = '\0';
    diags_free(&d);
}

static bool parse(struct script *p, struct run *r) {
    if (!scan(r))
        return false;
    if (!config_read_string(&p->config, p->text)) {
        say_syntax(p, r);
        return false;
    }
    p->root = config_root_setting(&p->config);
    p->help = "";
    return read_text(r, p->root, "help", &p->help) && script_go(r);
}

/* Copies the values that the caller set, since the program may outlive the caller's texts. */
static bool keep_given(struct run *r, const char *const *given) {
    bool fine = true;
    for (int i = 0; fine && given && given[i]; i++)
        fine = note_text(r, &r->open->given, given[i]);
    return fine;
}

struct script *script_open(const char *path, const char *const *given, char *err, size_t err_size) {
    struct script *p = calloc(1, sizeof *p);
    if (p)
        config_init(&p->config);
    const char *slash = strrchr(path, '/');
    struct run r = {.open = p, .p = p, .go = script_go, .why = err, .why_size = err_size};
    snprintf(err, err_size, "the host is out of memory\n");
    bool fine = p && (p->path = strdup(path)) && (p->folder = strndup(path, slash ? (size_t)(slash + 1 - path) : 0)) &&
                keep_given(&r, given) && slurp(p, err, err_size) && parse(p, &r);
    run_free(&r);
    if (fine)
        return p;
    script_free(p);
    return NULL;
}

static void strings_free(struct strings *s) {
    for (int i = 0; i < s->n; i++)
        free(s->list[i]);
    free(s->list);
}

void script_free(struct script *p) {
    if (!p)
        return;
    config_destroy(&p->config);
    strings_free(&p->inputs);
    strings_free(&p->outputs);
    strings_free(&p->given);
    strings_free(&p->settings);
    free(p->path);
    free(p->folder);
    free(p->text);
    free(p);
}

const char *script_help(const struct script *p) { return p->help; }
bool script_checks(const struct script *p) { return p->checks; }
const char *script_setting(const struct script *p, int n) { return n < p->settings.n ? p->settings.list[n] : NULL; }
const char *script_input(const struct script *p, int n) { return n < p->inputs.n ? p->inputs.list[n] : NULL; }
const char *script_output(const struct script *p, int n) { return n < p->outputs.n ? p->outputs.list[n] : NULL; }

enum heddle_status script_run(const struct script *p, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size) {
    struct run r = {.p = p, .go = script_go, .h = h, .host = host, .size = size, .why = why, .why_size = why_size};
    if (why_size)
        *why = '\0';
    script_go(&r);
    run_free(&r);
    return r.status;
}
