/* The option --live. */
#include "cmd.h"
#include "host/live/live.h"
#include "host/report/interrupt.h"
#include <stdlib.h>

/* Returns the command line as text, or NULL if memory runs out. The caller frees the text. */
static char *command_of(const struct cli *c) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    for (int i = 0; f && i < c->argc; i++)
        fprintf(f, "%s%s", i ? " " : "", i ? c->argv[i] : "heddle");
    if (f && fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

bool cli_live(const struct cli *c, struct heddle_options *o, struct live **out) {
    const char *where = cli_value(c, "live");
    char err[1024] = "the host is out of memory", *command = where ? command_of(c) : NULL;
    *out = NULL;
    if (!where)
        return true;
    if (command)
        *out = live_open(where, command, err, sizeof err);
    free(command);
    if (!*out) {
        cli_fail(c, "--live: %s", err);
        return false;
    }
    if (live_socket(*out))
        interrupt_remember(live_socket(*out));
    fprintf(stderr, "heddle %s: live at %s until the run ends\n", c->command->name, live_address(*out));
    live_watch(*out, o);
    return true;
}

void cli_live_end(struct live *l) {
    if (live_socket(l))
        interrupt_forget(live_socket(l));
    live_close(l);
}
