/* What a model and its configuration tell the passes: extensions, facts and options. */
#include "frontend/frontend.h"
#include "pass.h"
#include <string.h>

static bool has_name(const char *const *list, const char *name) {
    while (list && *list && strcmp(*list, name) != 0)
        list++;
    return list && *list;
}

bool pass_extension(const struct pass_context *c, const char *name) { return has_name(c->extensions, name); }
bool pass_fact(const struct pass_context *c, const char *name) { return has_name(c->facts, name); }

double pass_option(const struct pass_context *c, const char *key, double otherwise) {
    double value;
    return c->option && c->option(c->config, key, &value) ? value : otherwise;
}

bool assembles(const struct ir *ir) {
    return pass_option(&ir->context, "core.kind", 0) != 0 && pass_option(&ir->context, "core.assembly", 1) != 0;
}

bool has_uniform_datapath(const struct ir *ir) {
    return pass_option(&ir->context, "core.uniform", 0) != 0 && pass_option(&ir->context, "pipe.affine.units", 0) != 0;
}

bool has_uniform_addresses(const struct ir *ir) {
    return has_uniform_datapath(ir) && pass_option(&ir->context, "core.uniform_addresses", 0) != 0;
}
