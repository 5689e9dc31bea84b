#ifndef HOST_CLI_REQUEST_H
#define HOST_CLI_REQUEST_H
/* One launch of a PTX file's kernel, as the command line says it: -k -g -b --shared -a --texture --sampler. */
#include "cmd.h"
#include "host/program/args.h"
#include "host/program/own.h"

struct request {
    const struct cli *c;
    const char *file, *kernel; /* as the command line says them */
    const char *path;          /* of the file, or of the copy of a pipe (input.h) */
    struct heddle_dim grid, block;
    uint32_t shared;
    struct arg *args; /* n_args of the kernel, then those that the module's textures and samplers are bound to */
    int n_args, n_all;
    char **names; /* n_all: of the module's variable, NULL for the kernel's arguments */
};

/* The reader of the file of args[i], in messages: "argument 2", "texture 1". */
void request_reader(const struct request *r, int i, char *out, size_t size);
/* Reads the options about `file`. False after a message; request_free() in any case. */
bool request_parse(struct request *r, const struct cli *c, const char *file);
/* Loads the module, makes the buffers, and launches; a signal stops it, and messages and notes go to stderr. */
enum heddle_status request_guarded(const struct request *r, struct heddle *h);
void request_free(struct request *r);
/* The launch of `file` in the place of a benchmark: as the options of `c` say, which are looked at now. NULL after a
 * message. */
struct own *request_own(const struct cli *c, const char *file);
/* Whether one of these options was given: its name, or NULL. */
const char *request_option(const struct cli *c);
#endif
