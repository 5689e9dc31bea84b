/* Reads the options --sampled and --error. */
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

/* Returns an option of the command that records single cycles or instructions, and so needs every CTA with timing.
 * Returns NULL if there is none. */
static const char *whole_option(const struct cli *c) {
    static const char *const names[] = {"trace", "sample", "profile", "check", "live", "cycle-limit", NULL};
    for (const char *const *name = names; *name; name++)
        if (cli_has(c, *name))
            return *name;
    return NULL;
}

bool cli_sampled(const struct cli *c, const char *model, bool *sampled, double *error) {
    const char *text = cli_value(c, "error"), *other;
    char *end = NULL;
    *sampled = cli_has(c, "sampled");
    *error = 0;
    if (text && !*sampled) {
        cli_error(c, "--error does nothing without --sampled");
        return false;
    }
    if (*sampled && model && strncmp(model, "functional", strlen("functional")) == 0) {
        cli_error(c, "--sampled: model '%s' has no time, so there is nothing to sample; choose a timing model", model);
        return false;
    }
    if (*sampled && (other = whole_option(c))) {
        cli_error(c, "--%s needs every CTA with timing, and --sampled skips most of them: leave out one of the two",
                  other);
        return false;
    }
    for (int i = 0; *sampled && i < 2; i++) {
        static const char *const names[] = {"checkpoint", "time-launch"};
        if (!cli_has(c, names[i]))
            continue;
        cli_error(c, "--%s selects launches, and --sampled does so, too: leave out one of the two", names[i]);
        return false;
    }
    if (!text)
        return true;
    *error = strtod(text, &end) / 100;
    if (end == text || strcmp(*end == '%' ? end + 1 : end, "") != 0 || !(*error >= 0.001 && *error <= 0.5)) {
        cli_error(c, "--error takes a percentage from 0.1%% to 50%%, not '%s'", text);
        return false;
    }
    return true;
}
