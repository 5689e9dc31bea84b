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
    free(o);
}

struct own *own_script(const char *name, char *err, size_t err_size) {
    struct script *p = script_open(name, err, err_size);
    struct own *o = p ? calloc(1, sizeof *o) : NULL;
    if (p && !o) {
        snprintf(err, err_size, "the host is out of memory\n");
        script_free(p);
    }
    if (!o)
        return NULL;
    *o = (struct own){.checks = script_checks(p), .run = run, .file = file, .data = p, .free = free_script};
    o->bench.name = name;
    o->bench.help = script_help(p);
    o->bench.sets = "";
    return o;
}

void own_free(struct own *o) {
    if (o)
        o->free(o);
}
