/* Records the machine that a test opened last and the kernel that it launched last, for the message when the test
 * fails. The Makefile links the tests so that they call these functions, which then call the library's functions. */
#include "host/context.h"
#include "test.h"
#include <stdio.h>

static void note_machine(const struct heddle_options *o) {
    int n = snprintf(test_tried.machine, sizeof test_tried.machine, "%s%s on %s",
                     o && o->model ? o->model : model_meant(NULL, o && o->check), o && o->check ? " --check" : "",
                     o && o->config ? o->config : "fermi");
    for (const char *const *s = o ? o->set : NULL; s && *s && n < (int)sizeof test_tried.machine; s++)
        n += snprintf(test_tried.machine + n, sizeof test_tried.machine - (size_t)n, " %s", *s);
    *test_tried.kernel = '\0';
}

struct heddle *__real_heddle_open(const struct heddle_options *o, char *err, size_t err_size);
struct heddle *__wrap_heddle_open(const struct heddle_options *o, char *err, size_t err_size);
struct heddle *__wrap_heddle_open(const struct heddle_options *o, char *err, size_t err_size) {
    note_machine(o);
    return __real_heddle_open(o, err, err_size);
}

struct heddle *__real_context_open(const struct heddle_options *o, const struct context_parts *parts, char *err,
                                   size_t err_size);
struct heddle *__wrap_context_open(const struct heddle_options *o, const struct context_parts *parts, char *err,
                                   size_t err_size);
struct heddle *__wrap_context_open(const struct heddle_options *o, const struct context_parts *parts, char *err,
                                   size_t err_size) {
    note_machine(o);
    return __real_context_open(o, parts, err, err_size);
}

enum heddle_status __real_heddle_launch(struct heddle *h, struct heddle_module *m, const char *name,
                                        struct heddle_dim grid, struct heddle_dim block, uint32_t dynamic_shared,
                                        const struct heddle_arg *args, int n_args);
enum heddle_status __wrap_heddle_launch(struct heddle *h, struct heddle_module *m, const char *name,
                                        struct heddle_dim grid, struct heddle_dim block, uint32_t dynamic_shared,
                                        const struct heddle_arg *args, int n_args);
enum heddle_status __wrap_heddle_launch(struct heddle *h, struct heddle_module *m, const char *name,
                                        struct heddle_dim grid, struct heddle_dim block, uint32_t dynamic_shared,
                                        const struct heddle_arg *args, int n_args) {
    snprintf(test_tried.kernel, sizeof test_tried.kernel, ", kernel %s", name ? name : "NULL");
    return __real_heddle_launch(h, m, name, grid, block, dynamic_shared, args, n_args);
}
