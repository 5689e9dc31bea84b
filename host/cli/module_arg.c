/* Finds the module and kernel that the user names: a file may have several modules, and a C++ name may be demangled. */
#include "module_arg.h"
#include "host/context.h"
#include "input.h"
#include <stdarg.h>
#include <string.h>

static struct heddle_module *complain(const struct heddle *h, FILE *say) {
    fputs(heddle_error(h), say);
    return NULL;
}

/* Prints a message on `say`. If `say` is stderr, the name of the command precedes the message. */
__attribute__((format(printf, 3, 4))) static void tell(const struct cli *c, FILE *say, const char *fmt, ...) {
    va_list args;
    if (say == stderr)
        fprintf(say, "heddle %s: ", c->command->name);
    va_start(args, fmt);
    vfprintf(say, fmt, args);
    va_end(args);
    fputc('\n', say);
}

static void list_kernels(const struct heddle_module *m, FILE *say) {
    const char *name;
    for (int i = 0; (name = heddle_kernel(m, i)); i++) {
        char text[512];
        heddle_demangle(name, text, sizeof text);
        fprintf(say, "    %s%s%s\n", name, strcmp(name, text) == 0 ? "" : "    ", strcmp(name, text) == 0 ? "" : text);
    }
}

/* Loads the n-th module of a file or pipe. Messages use the name from the command line. */
struct heddle_module *cli_module_part(const struct cli *c, struct heddle *h, const char *file, int n) {
    char err[512];
    const char *path = cli_input(c, file, file, "this command", err, sizeof err);
    if (path)
        return module_part_as(h, path, strcmp(file, "-") == 0 ? "stdin" : file, n);
    fail(h, HEDDLE_USAGE, "%s", err);
    return NULL;
}

/* Finds the kernel of a file that has exactly one kernel in all its modules. Otherwise prints a message and returns
 * NULL. */
static struct heddle_module *only_kernel(const struct cli *c, struct heddle *h, const char *file, const char **kernel,
                                         FILE *say) {
    struct heddle_module *m, *found = NULL;
    int count = 0, first = 0;
    for (int n = 0; (m = cli_module_part(c, h, file, n)); n++)
        for (int i = 0; heddle_kernel(m, i); i++, count++)
            if (!count) {
                found = m;
                first = n;
                *kernel = heddle_kernel(m, i);
            }
    if (heddle_status(h) != HEDDLE_OK)
        return complain(h, say);
    if (count == 0) {
        tell(c, say, "%s has no kernel (.entry)", file);
    } else if (count > 1) {
        tell(c, say, "%s has several kernels; choose one with -k:", file);
        list_kernels(found, say);
        for (int n = 0; (m = cli_module_part(c, h, file, n)); n++)
            if (n > first)
                list_kernels(m, say);
        found = NULL;
    }
    return found;
}

/* Reports that no module has the kernel. If the file has a single module, prints `said`, the message of
 * heddle_find(), instead. */
static void no_kernel(const struct cli *c, const char *file, const char *wanted, const char *said, int modules,
                      FILE *say) {
    if (modules == 1)
        fputs(said, say);
    else
        tell(c, say, "%s: none of its %d modules has a kernel '%s', or it may be several", file, modules, wanted);
}

struct heddle_module *cli_module(const struct cli *c, struct heddle *h, const char *file, const char **kernel,
                                 FILE *say) {
    const char *wanted = cli_value(c, "kernel"), *name;
    if (!wanted)
        return only_kernel(c, h, file, kernel, say);
    struct heddle_module *m, *found = NULL;
    char said[4096] = "";
    int n = 0;
    for (; (m = cli_module_part(c, h, file, n)); n++) {
        if (!(name = heddle_find(h, m, wanted))) {
            snprintf(said, sizeof said, "%s", heddle_error(h));
        } else if (!found) {
            found = m;
            *kernel = name;
        } else if (strcmp(name, *kernel) != 0) {
            tell(c, say, "%s: '%s' may be %s or %s, of different modules", file, wanted, *kernel, name);
            return NULL;
        }
    }
    if (heddle_status(h) != HEDDLE_OK)
        return complain(h, say);
    if (!found)
        no_kernel(c, file, wanted, said, n, say);
    return found;
}
