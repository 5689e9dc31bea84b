/* What a test tries when a signal ends it: the machine that it opened last, and the kernel that it launched last. The
 * Makefile links the tests so that these functions stand between them and the library's. */
#include "host/context.h"
#include "test.h"
#include <stdio.h>

static _Thread_local char machine[512], kernel[128];
static const char *first_machine, *first_kernel; /* of the thread that runs the tests */

static void note_machine(const struct heddle_options *o) {
    int n = snprintf(machine, sizeof machine, "%s%s on %s", o && o->model ? o->model : model_meant(NULL, o && o->check),
                     o && o->check ? " --check" : "", o && o->config ? o->config : "fermi");
    for (const char *const *s = o ? o->set : NULL; s && *s && n < (int)sizeof machine; s++)
        n += snprintf(machine + n, sizeof machine - (size_t)n, " %s", *s);
    *kernel = '\0';
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
    snprintf(kernel, sizeof kernel, ", kernel %s", name ? name : "NULL");
    return __real_heddle_launch(h, m, name, grid, block, dynamic_shared, args, n_args);
}

/* Threads of the simulator have opened nothing themselves. */
static void say(char *out, size_t size) {
    const char *on = *machine ? machine : first_machine, *of = *machine ? kernel : first_kernel;
    snprintf(out, size, "    a signal came while this was tried last: %s%s\n", *on ? on : "no machine", of);
}

/* A constructor, so that test/main.c can be linked without the library. */
__attribute__((constructor)) static void offer(void) {
    first_machine = machine;
    first_kernel = kernel;
    test_say_tried = say;
}
