#ifndef HOST_CMD_H
#define HOST_CMD_H
/* The command line's commands: what they take, and what they share. */
#include "host/heddle.h"
#include <stdbool.h>

/* One option. Rows with letter 0 have a long form only; `value` NULL: a switch, "[=X]": it may be left
 * out; `help` NULL: reserved, not shown. A table ends with name NULL. */
struct option_def {
    char letter;
    const char *name, *value, *help;
};

struct cli;
struct cli_input;
struct command {
    const char *name;
    const char *usage;   /* what follows the command's name */
    const char *summary; /* one line */
    const char *text;    /* the rest of its help: explanation, then examples */
    const struct option_def *options;
    enum heddle_status (*run)(const struct cli *c);
    bool runs_program; /* the first word ends the options: what follows is a program's */
};
extern const struct command cmd_run, cmd_bench, cmd_compare, cmd_exec, cmd_inspect, cmd_list, cmd_sweep, cmd_results,
    cmd_reproduce, cmd_plot, cmd_report;

/* A command line, taken apart. */
struct cli {
    const struct command *command;
    int argc; /* the whole of it, for the result files */
    char **argv;
    struct cli_option {
        const struct option_def *def;
        const char *value;
    } * options;
    int n_options;
    const char **words; /* what is no option, in order */
    int n_words;
    bool help;
    struct cli_input *inputs; /* input.h */
};

/* Takes argv[2..] apart. False after a message. Free with cli_free() in any case. */
bool cli_parse(struct cli *c, const struct command *command, int argc, char **argv);
void cli_free(struct cli *c);
/* The last value of the option, NULL when it was not given. */
const char *cli_value(const struct cli *c, const char *name);
bool cli_has(const struct cli *c, const char *name);
/* "heddle run: ..." and where to find help, on stderr. Returns HEDDLE_USAGE. */
enum heddle_status cli_error(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same without the pointer to help, for what is no mistake on the command line. */
enum heddle_status cli_fail(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_help(const struct command *command, FILE *out);
/* A number from `min` to `max`, or a message. Leaves *out alone when the option was not given. */
bool cli_number(const struct cli *c, const char *option, uint64_t min, uint64_t max, uint64_t *out);
/* "-v NAME=...": there is no such value among the `n` names. Returns false. */
bool cli_unknown_value(const struct cli *c, const char *given, const char *const *names, int n);
/* --size into an enum bench_size; small when not given. */
bool cli_size(const struct cli *c, int *out);

/* Options that describe a launch, and the launch they describe, in a context that is open: its results stay there. */
#define LAUNCH_OPTIONS                                                                                                 \
    {'k', "kernel", "KERNEL", "the kernel; not needed if the file has only one"},                                      \
        {'g', "grid", "X[,Y[,Z]]", "blocks of the grid"}, {'b', "block", "X[,Y[,Z]]", "threads of a block"},           \
        {0, "shared", "BYTES", "dynamic shared memory of a block"},                                                    \
        {'a', "arg", "SPEC", "an argument, in parameter order ('heddle help run')"},                                   \
        {0, "texture", "NAME=SPEC", "a texture of the module ('heddle help run')"}, {                                  \
        0, "sampler", "NAME=SPEC", "a sampler of the module ('heddle help run')"                                       \
    }
enum heddle_status cli_launch(const struct cli *c, struct heddle *h);

/* The options of every command that simulates. */
#define SIM_OPTIONS                                                                                                    \
    {'m', "model", "MODEL",                                                                                            \
     "the reconvergence model, or 'functional': no timing (default spe; 'heddle list models')"},                       \
        {'c', "config", "CONFIG", "the machine: a preset or a file (default fermi; 'heddle list configs')"},           \
        {'s', "set", "KEY=VALUE", "one option of the machine; may be repeated ('heddle list options')"},               \
        {0, "jit", "off|on", "functional: native code for hot blocks (default on)"}, {                                 \
        0, "cycle-limit", "N", "give up a launch after N cycles (functional: warp instructions)"                       \
    }

/* Of commands that run what a user wrote. */
#define BOUNDS_OPTION                                                                                                  \
    {                                                                                                                  \
        0, "check-bounds", "exact|page",                                                                               \
            "exact (default): an access beside a buffer is a fault; page: up to 64 KiB beside it, as on a GPU"         \
    }
/* Of commands whose runs can be looked at while they go on. */
#define LIVE_OPTION                                                                                                    \
    {                                                                                                                  \
        0, "live", "WHERE",                                                                                            \
            "show the running simulation in a browser: a PORT of this machine, ADDRESS:PORT, or a socket's path"       \
    }
/* Serves as --live says, and has the contexts of these options told of; *out is NULL without --live. False after a
 * message. End with cli_live_end(). */
struct live;
bool cli_live(const struct cli *c, struct heddle_options *o, struct live **out);
void cli_live_end(struct live *l);

/* The options of a context; `set` is an array for o.set. Free with sim_free(). */
struct sim {
    struct heddle_options o;
    const char **set;
};
bool sim_options(const struct cli *c, struct sim *out);
/* BOUNDS_OPTION; false, with a message, when it is neither of the two. */
bool cli_bounds(const struct cli *c, struct sim *sim);
void sim_free(struct sim *s);
/* False, with a message, when one of the assignments would change nothing in any of the models (joined by commas);
 * those of a whole configuration may. sim_note() is a part of it. */
bool sim_effective(const struct cli *c, const char *models, const struct sim *sim);
/* Notes, on stderr, options of a memory model that no machine has. That is no mistake: the same may be typed for
 * machines with the one model and with the other. */
void sim_note(const struct cli *c, const struct sim *sim);
#endif
