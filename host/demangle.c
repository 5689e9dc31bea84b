/* Converts C++ names between their mangled form in PTX and their form in the source. */
#include "context.h"
#include "handles.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A function of libstdc++ (Itanium C++ ABI, 3.4). It returns malloc'ed text, or NULL if `name` is not mangled. */
typedef char *demangle_fn(const char *name, char *buffer, size_t *size, int *status);

/* Returns the name in its form in the source as malloc'ed text; NULL if it is not mangled, or without libstdc++. The
 * library is loaded here, because it would double the time in which the command starts. It stays loaded. */
static char *demangled(const char *name) {
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return NULL;
    int status;
    demangle_fn *demangle = (demangle_fn *)dlsym(library, "__cxa_demangle");
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    dlclose(library);
    return text;
}

void heddle_demangle(const char *name, char *out, size_t size) {
    char *text = name ? demangled(name) : NULL;
    if (out && size)
        snprintf(out, size, "%s", text ? text : name ? name : "");
    free(text);
}

/* Returns the index of the "(" that begins the parameters, as in "void ns::f<(int)3>(int)". Returns the length of the
 * text if there are no parameters. */
static size_t before_parameters(const char *text) {
    size_t len = strlen(text);
    int depth = 0;
    for (size_t i = len; i-- > 0;) {
        depth += (text[i] == ')') - (text[i] == '(');
        if (depth == 0)
            return text[i] == '(' ? i : len;
    }
    return len;
}

/* Returns the index at which the name begins: for templates, the result type precedes the name, as in "void
 * fill<int>(int*)". */
static size_t after_result(const char *text, size_t end) {
    int depth = 0;
    for (size_t i = end; i-- > 0;) {
        depth += (text[i] == '>' || text[i] == ')') - (text[i] == '<' || text[i] == '(');
        if (depth == 0 && text[i] == ' ')
            return i + 1;
    }
    return 0;
}

/* Returns true if `wanted` is the demangled form of the name `mangled`, with or without its result type, parameters and
 * template arguments. */
static bool means(const char *mangled, const char *wanted) {
    char *text = demangled(mangled);
    if (!text)
        return false;
    size_t end = before_parameters(text), begin = after_result(text, end), len = strlen(wanted);
    size_t bare = begin + strcspn(text + begin, "<(");
    bool is = strcmp(text, wanted) == 0 || strcmp(text + begin, wanted) == 0 ||
              (len == end - begin && strncmp(text + begin, wanted, len) == 0) ||
              (len == bare - begin && strncmp(text + begin, wanted, len) == 0);
    free(text);
    return is;
}

static void several(struct heddle *h, const struct heddle_module *m, const char *name) {
    struct error_text e;
    error_begin(&e);
    fprintf(e.stream, "%s: '%s' may be several:", m->name, name);
    for (int i = 0; i < m->n_kernels + m->n_functions; i++) {
        char text[512];
        if (!means(m->lowered[i].name, name))
            continue;
        heddle_demangle(m->lowered[i].name, text, sizeof text);
        fprintf(e.stream, "\n    %s, %s", m->lowered[i].name, text);
    }
    fputc('\n', e.stream);
    error_end(h, &e, HEDDLE_USAGE);
}

const char *heddle_find(struct heddle *h, struct heddle_module *m, const char *name) {
    if (!module_enter(h, m) || !given(h, name, "the kernel's name"))
        return NULL;
    for (int i = 0; i < m->n_kernels + m->n_functions; i++)
        if (strcmp(m->lowered[i].name, name) == 0)
            return m->lowered[i].name;
    const char *found = NULL;
    for (int i = 0; i < m->n_kernels + m->n_functions; i++) {
        if (!means(m->lowered[i].name, name))
            continue;
        if (found) {
            several(h, m, name);
            return NULL;
        }
        found = m->lowered[i].name;
    }
    if (!found)
        module_no_kernel(h, m, name);
    return found;
}
