#ifndef HOST_CLI_REQUEST_H
#define HOST_CLI_REQUEST_H
/* One launch of a kernel, as the options -k -g -b --shared --cluster -a --texture --sampler describe it. */
#include "cmd.h"
#include "host/program/args.h"
#include "host/program/own.h"
#include "triton.h"

struct request {
    const struct cli *c;
    const char *file, *kernel; /* as typed */
    /* path under which the file is opened: the file itself, or the copy of a pipe (input.h) */
    const char *path;
    struct heddle_dim grid, block;
    uint32_t shared;
    struct heddle_dim cluster; /* all 0: as the kernel declares */
    /* n_all elements: n_args kernel arguments, then the textures and samplers to bind to variables of the module */
    struct arg *args;
    int n_args, n_all;
    char **names;         /* index in `args` -> name of the variable to bind; NULL for a kernel argument */
    struct triton triton; /* with --triton; else all 0 */
    char scratch_spec[TRITON_MAX_SCRATCH][48]; /* buffers that Triton adds to the arguments, as values of -a */
};

/* Writes the name of args[i] for messages: "argument 2", "texture 1". */
void request_reader(const struct request *r, int i, char *out, size_t size);
/* Parses the options about `file`. Prints a message and returns false on an error. Call request_free() in either
 * case. */
bool request_parse(struct request *r, const struct cli *c, const char *file);
/* Loads the module, makes the buffers, and launches; a signal stops it, and messages and notes go to stderr. */
enum heddle_status request_guarded(const struct request *r, struct heddle *h);
void request_free(struct request *r);
/* Makes a benchmark of the launch of `file` that the options of `c` describe. Prints a message and returns NULL on an
 * error. */
struct own *request_own(const struct cli *c, const char *file);
/* Returns the name of a launch option that was given; NULL: no launch option was given. */
const char *request_option(const struct cli *c);
#endif
