/* Reads axes (options with several values, axes.h) from a command line. */
#include "axes.h"
#include <stdlib.h>
#include <string.h>

static const struct option_def *def_of(const struct cli *c, const char *option) {
    const struct option_def *o = c->command->options;
    while (o->name && strcmp(o->name, option) != 0)
        o++;
    return o;
}

/* Appends an axis. */
static bool append(struct axes *a, const struct cli *c, const struct option_def *def, const char *text) {
    char err[512];
    int len = (int)strcspn(text, "=");
    for (int i = 0; i < a->n; i++)
        if (strncmp(a->axis[i].values[0], text, (size_t)len) == 0 && a->axis[i].values[0][len] == '=') {
            cli_error(c, "-%c %s: %.*s is given twice; a sweep takes several values in one: %.*s=VALUE,VALUE",
                      def->letter, text, len, text, len, text);
            return false;
        }
    /* the axis is counted even on failure, so that axes_free() frees it */
    if (axis_read(&a->axis[a->n++], text, err, sizeof err))
        return true;
    cli_error(c, "-%c %s", def->letter, err);
    return false;
}

bool axes_read(struct axes *a, const struct cli *c, const char *option) {
    const struct option_def *def = def_of(c, option);
    *a = (struct axes){.axis = calloc((size_t)c->n_options + 1, sizeof *a->axis)};
    if (!a->axis) {
        cli_fail(c, "the host is out of memory");
        return false;
    }
    bool fine = true;
    for (int i = 0; fine && i < c->n_options; i++)
        fine = c->options[i].def != def || append(a, c, def, c->options[i].value);
    return fine;
}

bool axes_single(const struct axes *a, const struct cli *c, const char *option) {
    for (int i = 0; i < a->n; i++)
        if (a->axis[i].n > 1) {
            cli_error(c, "-%c %s and %d more: several values are for heddle sweep", def_of(c, option)->letter,
                      a->axis[i].values[0], a->axis[i].n - 1);
            return false;
        }
    return true;
}
