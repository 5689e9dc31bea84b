/* A file may have several modules, and names of C++ may be as the user wrote them. */
#include "module_arg.h"
#include <string.h>

static struct heddle_module *complain(const struct heddle *h) {
    fputs(heddle_error(h), stderr);
    return NULL;
}

static void list_kernels(struct heddle *h, const char *file) {
    struct heddle_module *m;
    const char *name;
    for (int n = 0; (m = heddle_module_part(h, file, n)); n++)
        for (int i = 0; (name = heddle_kernel(m, i)); i++) {
            char text[512];
            heddle_demangle(name, text, sizeof text);
            fprintf(stderr, "    %s%s%s\n", name, strcmp(name, text) == 0 ? "" : "    ",
                    strcmp(name, text) == 0 ? "" : text);
        }
}

/* The only kernel of all modules. */
static struct heddle_module *only_kernel(const struct cli *c, struct heddle *h, const char *file, const char **kernel) {
    struct heddle_module *m, *found = NULL;
    int count = 0;
    for (int n = 0; (m = heddle_module_part(h, file, n)); n++)
        for (int i = 0; heddle_kernel(m, i); i++, count++)
            if (!count) {
                found = m;
                *kernel = heddle_kernel(m, i);
            }
    if (heddle_status(h) != HEDDLE_OK)
        return complain(h);
    if (count == 0) {
        cli_error(c, "%s has no kernel (.entry)", file);
    } else if (count > 1) {
        fprintf(stderr, "heddle %s: %s has several kernels; choose one with -k:\n", c->command->name, file);
        list_kernels(h, file);
        found = NULL;
    }
    return found;
}

/* Notes what heddle_find() had to say of one more module: of a single one it is the message. */
static void no_kernel(const struct cli *c, const char *file, const char *wanted, const char *said, int modules) {
    if (modules == 1)
        fputs(said, stderr);
    else
        cli_error(c, "%s: none of its %d modules has a kernel '%s', or it may be several", file, modules, wanted);
}

struct heddle_module *cli_module(const struct cli *c, struct heddle *h, const char *file, const char **kernel) {
    const char *wanted = cli_value(c, "kernel"), *name;
    if (!wanted)
        return only_kernel(c, h, file, kernel);
    struct heddle_module *m, *found = NULL;
    char said[4096] = "";
    int n = 0;
    for (; (m = heddle_module_part(h, file, n)); n++) {
        if (!(name = heddle_find(h, m, wanted))) {
            snprintf(said, sizeof said, "%s", heddle_error(h));
        } else if (!found) {
            found = m;
            *kernel = name;
        } else if (strcmp(name, *kernel) != 0) {
            cli_error(c, "%s: '%s' may be %s or %s, of different modules", file, wanted, *kernel, name);
            return NULL;
        }
    }
    if (heddle_status(h) != HEDDLE_OK)
        return complain(h);
    if (!found)
        no_kernel(c, file, wanted, said, n);
    return found;
}
