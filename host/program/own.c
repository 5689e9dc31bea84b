#include "own.h"
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *word, const char *end) {
    size_t n = strlen(word), m = strlen(end);
    return n > m && strcmp(word + n - m, end) == 0;
}

bool own_is_program(const char *word) { return ends_in(word, ".heddle"); }
bool own_is_file(const char *word) { return strchr(word, '/') || own_is_program(word) || ends_in(word, ".ptx"); }

static enum heddle_status run(const struct own *o, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size) {
    return script_run(o->data, h, host, size, why, why_size);
}

static const char *file(const struct own *o, int n) { return n ? script_input(o->data, n - 1) : o->bench.name; }

static void free_script(struct own *o) {
    script_free((struct script *)o->data);
    free((char *)o->launch);
    free(o);
}

static const char *value(const struct own *o, int n) { return script_value(o->data, n); }
static const char *setting(const struct own *o, int n) { return script_setting(o->data, n); }

/* Returns the values that were set from outside as one text, with a line "values.NAME=NUMBER" for each; NULL if there
 * are none, or if memory ran out. */
static char *join(const struct script *p) {
    size_t len = 0;
    char *text = NULL;
    FILE *f = script_setting(p, 0) ? open_memstream(&text, &len) : NULL;
    for (int i = 0; f && script_setting(p, i); i++)
        fprintf(f, "values.%s\n", script_setting(p, i));
    if (f)
        fclose(f);
    return text;
}

struct own *own_script(const char *name, const char *const *given, char *err, size_t err_size) {
    struct script *p = script_open(name, given, err, err_size);
    struct own *o = p ? calloc(1, sizeof *o) : NULL;
    if (p && !o) {
        snprintf(err, err_size, "the host is out of memory\n");
        script_free(p);
    }
    if (!o)
        return NULL;
    *o = (struct own){.checks = script_checks(p),
                      .run = run,
                      .file = file,
                      .value = value,
                      .setting = setting,
                      .launch = join(p),
                      .data = p,
                      .free = free_script};
    o->bench.name = name;
    o->bench.help = script_help(p);
    o->bench.sets = "";
    if (o->launch || !script_setting(p, 0))
        return o;
    snprintf(err, err_size, "the host is out of memory\n");
    free_script(o);
    return NULL;
}

void own_free(struct own *o) {
    if (o)
        o->free(o);
}
