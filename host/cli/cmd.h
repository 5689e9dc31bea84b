#ifndef HOST_CMD_H
#define HOST_CMD_H
/* Commands of the command line: their descriptors, option parsing, and helpers that several commands share. */
#include "host/heddle.h"
#include <stdbool.h>

/* One option. Letter 0: the option has a long form only. `value` NULL: the option takes no value; "[=X]": the value is
 * optional. `help` NULL: reserved and not shown. A table ends with name NULL. */
struct option_def {
    char letter;
    const char *name, *value, *help;
};

struct cli;
struct cli_input;
struct command {
    const char *name;
    const char *usage;   /* the arguments after the command's name */
    const char *summary; /* one line */
    const char *text;    /* the rest of the command's help: explanation, then examples */
    const struct option_def *options;
    enum heddle_status (*run)(const struct cli *c);
    /* true if the options end at the first word, and this word and all later ones are a program with its arguments */
    bool runs_program;
};
extern const struct command cmd_run, cmd_bench, cmd_compare, cmd_exec, cmd_inspect, cmd_list, cmd_sweep, cmd_results,
    cmd_reproduce, cmd_plot, cmd_report, cmd_validate, cmd_work, cmd_record, cmd_replay, cmd_resume, cmd_extract;

/* A parsed command line. */
struct cli {
    const struct command *command;
    int argc; /* argc and argv: the whole command line, which is stored in result files */
    char **argv;
    struct cli_option {
        const struct option_def *def;
        const char *value;
    } * options;
    int n_options;
    const char **words; /* arguments that are not options, in order */
    int n_words;
    bool help;
    struct cli_input *inputs; /* input.h */
};

/* Parses argv[2..]. Prints a message and returns false on an error. Call cli_free() in either case. */
bool cli_parse(struct cli *c, const struct command *command, int argc, char **argv);
void cli_free(struct cli *c);
/* Returns the option's last value; NULL: the option was not given. */
const char *cli_value(const struct cli *c, const char *name);
bool cli_has(const struct cli *c, const char *name);
/* Prints the message on stderr, after "heddle COMMAND: " and before a hint at 'heddle help COMMAND'. Returns
 * HEDDLE_USAGE. */
enum heddle_status cli_error(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints the message like cli_error(), but without the hint at the help. For errors other than mistakes on the command
 * line. */
enum heddle_status cli_fail(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_help(const struct command *command, FILE *out);
/* Reads the value of `option`, a number from `min` to `max`, to *out. If the option was not given, *out keeps its
 * value. Prints a message and returns false on an error. */
bool cli_number(const struct cli *c, const char *option, uint64_t min, uint64_t max, uint64_t *out);
/* Reports that the value `given` of option -v is not among the `n` names. Returns false. */
bool cli_unknown_value(const struct cli *c, const char *given, const char *const *names, int n);
/* Returns --size as an enum bench_size; the small size if the option was not given. */
bool cli_size(const struct cli *c, int *out);

/* Options that describe a launch (request.h). */
#define LAUNCH_OPTIONS                                                                                                 \
    {'k', "kernel", "KERNEL", "the kernel; not needed if the file has only one"},                                      \
        {'g', "grid", "X[,Y[,Z]]", "blocks of the grid"}, {'b', "block", "X[,Y[,Z]]", "threads of a block"},           \
        {0, "shared", "BYTES", "dynamic shared memory of a block"},                                                    \
        {0, "cluster", "X[,Y[,Z]]", "blocks of a cluster (default: as the kernel declares)"},                          \
        {'a', "arg", "SPEC", "an argument, in parameter order ('heddle help run')"},                                   \
        {0, "texture", "NAME=SPEC", "a texture of the module ('heddle help run')"}, {                                  \
        0, "sampler", "NAME=SPEC", "a sampler of the module ('heddle help run')"                                       \
    }
enum heddle_status cli_launch(const struct cli *c, struct heddle *h);

/* Options of every command that simulates. */
#define SIM_OPTIONS                                                                                                    \
    {'m', "model", "MODEL",                                                                                            \
     "the reconvergence model, or 'functional': no timing (default spe; 'heddle list models')"},                       \
        {'c', "config", "CONFIG", "the machine: a preset or a file (default fermi; 'heddle list configs')"},           \
        {'s', "set", "KEY=VALUE", "one option of the machine; may be repeated ('heddle list options')"},               \
        {0, "jit", "off|on", "functional: native code for hot blocks (default on)"}, {                                 \
        0, "cycle-limit", "N", "give up a launch after N cycles (functional: warp instructions)"                       \
    }

/* Options of commands that can simulate a sample. */
#define SAMPLED_OPTIONS                                                                                                \
    {0, "sampled", NULL, "simulate a sample of the launches and CTAs, with intervals (docs/sampling.md)"}, {           \
        0, "error", "PERCENT", "with --sampled: sample until the interval of the cycles is this narrow (e.g. 2%)"      \
    }
/* Reads these options. *error is a fraction; 0: not given. Prints a message and returns false on an error. */
bool cli_sampled(const struct cli *c, const char *model, bool *sampled, double *error);
/* Options of commands that run a whole program (docs/checkpoints.md). */
#define PROGRAM_OPTIONS                                                                                                \
    {0, "checkpoint", "FILE", "write the launches and their memory to FILE, for 'heddle resume' and 'heddle replay'"}, \
        {0, "checkpoint-at", "LAUNCH[:CTA]", "begin FILE before this launch, or after CTA blocks of it (default 0)"},  \
        {0, "time-launch", "WHICH", "simulate N, A:B, KERNEL or KERNEL@A:B with timing, other launches functionally"}, \
        {0, "device-memory", "BYTES", "size of device memory, as in 80G (default 16G)"}, {                             \
        0, "device-memory-dir", "DIR", "keep large buffers in files of DIR: device memory may exceed the host's"       \
    }
/* Reads PROGRAM_OPTIONS into the options of a context. Prints a message and returns false on an error. */
bool cli_program_options(const struct cli *c, struct heddle_options *o);
/* Completes the file of --checkpoint after a run, and prints a message if there is no file. Returns `status`, or
 * HEDDLE_USAGE if the file cannot be written. */
enum heddle_status cli_checkpoint_end(const struct cli *c, struct heddle *h, enum heddle_status status);

/* The option of commands that run a user's kernel. */
#define BOUNDS_OPTION                                                                                                  \
    {                                                                                                                  \
        0, "check-bounds", "exact|page",                                                                               \
            "exact (default): an access beside a buffer is a fault; page: up to 64 KiB beside it, as on a GPU"         \
    }
/* The option of commands that can show their runs in a browser. */
#define LIVE_OPTION                                                                                                    \
    {                                                                                                                  \
        0, "live", "WHERE",                                                                                            \
            "show the running simulation in a browser: a PORT of this machine, ADDRESS:PORT, or a socket's path"       \
    }
/* Starts the server that --live requests, and sets `o` so that contexts with these options connect to the server. *out
 * is NULL without --live. Prints a message and returns false on an error. End with cli_live_end(). */
struct live;
bool cli_live(const struct cli *c, struct heddle_options *o, struct live **out);
void cli_live_end(struct live *l);

/* The options of a context; o.set points to the array `set`. Free with sim_free(). */
struct sim {
    struct heddle_options o;
    const char **set;
};
bool sim_options(const struct cli *c, struct sim *out);
/* Reads BOUNDS_OPTION. Prints a message and returns false if the value is neither of the two valid ones. */
bool cli_bounds(const struct cli *c, struct sim *sim);
void sim_free(struct sim *s);
/* Checks that each assignment has an effect in at least one of the models (names joined by commas). A list of 64 or
 * more assignments is a whole configuration, which is not checked. Calls sim_note(). Returns false with a message. */
bool sim_effective(const struct cli *c, const char *models, const struct sim *sim);
/* Prints a note on stderr about each option of a memory model that the chosen machine does not use. This is no error,
 * because a user may give the same options for machines of both memory models. */
void sim_note(const struct cli *c, const struct sim *sim);
#endif
