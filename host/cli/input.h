#ifndef HOST_INPUT_H
#define HOST_INPUT_H
/* Input files that can be read only once: stdin, pipes, FIFOs, `<(command)`. Each is copied to its end into memory when
 * the command line is read. Runs, and the processes of parallel runs, then open the copy as often as they need. */
#include "cmd.h"

/* Returns the path under which runs open an input file. For a regular file, and for a path without a file, this is
 * `path` itself. A pipe, FIFO, terminal or "-" (stdin) is copied first, until its writers close it. A signal during the
 * copy ends the process. The result lives as long as `c`. On failure, the function returns NULL with the reason in
 * `err`: a device without an end, a pipe that was read before, or a pipe with more data than half of this machine's
 * memory.
 *   `place`: the place in the command line that names the file; a second call with the same place returns the copy of
 *   the first call
 *   `who`: the reader in messages ("argument 2") */
const char *cli_input(const struct cli *c, const char *place, const char *path, const char *who, char *err,
                      size_t err_size);
/* Returns true if the word names a file that cli_input() would copy. */
bool cli_input_is_pipe(const char *path);
/* Returns true if cli_input() has copied an input. A job that Slurm starts later cannot read the copy. */
bool cli_input_copied(const struct cli *c);
void cli_input_free(struct cli_input *list);
#endif
